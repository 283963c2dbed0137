#!/usr/bin/python3
"""HTTP from those who mean harm, or have gone: requests inside requests, bytes one by one, crowds of
slow ones, and workers that vanish while they wait."""

import http.client
import json
import os
import re
import resource
import select
import socket
import time
import unittest

import outside
import sluiced

HOST = b"Host: localhost\r\n"
POST = b"POST /v1/ns/app/queues/q/jobs HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
SECRET = b"GET /v1/ns/hidden/queues HTTP/1.1\r\n" + HOST + b"\r\n"
JOB = b'{"klass":"K","data":1}'


def connect(server):
    return socket.create_connection(("127.0.0.1", server.http_port), sluiced.LIMIT_S)


def talk(server, *pieces):
    """All that is answered, up to the end of the connection."""
    got = b""
    with connect(server) as s:
        try:
            for piece in pieces:
                s.sendall(piece)
            s.shutdown(socket.SHUT_WR)
            while more := s.recv(1 << 16):
                got += more
        except ConnectionError:
            pass
    return got


def server(*flags):
    return sluiced.Server("--segment-size", "1M", "--reserve-size", "1M", *flags)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server("--max-request", "1M").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def refused(self, request, *statuses):
        """It is answered once, with a problem, and closed; nothing behind it is read."""
        got = talk(self.server, request)
        head, _, body = got.partition(b"\r\n\r\n")
        self.assertIn(int(head.split(b" ")[1]), statuses, got)
        self.assertIn(b"Connection: close", head)
        self.assertEqual(len(re.findall(rb"HTTP/1\.1 \d", got)), 1, got)
        self.assertEqual(json.loads(body)["status"], int(head.split(b" ")[1]))

    def test_no_request_hides_in_another(self):
        size = b"Content-Length: %d\r\n" % len(JOB)
        chunked = b"Transfer-Encoding: chunked\r\n"
        body = b"16\r\n" + JOB + b"\r\n0\r\n\r\n"
        cases = {
            "a length and chunks": (POST + size + chunked + b"\r\n" + body, 400),
            "chunks and a length": (POST + chunked + size + b"\r\n" + body, 400),
            "two lengths": (POST + size + size + b"\r\n" + JOB, 400),
            "two different lengths": (POST + b"Content-Length: 0\r\n" + size + b"\r\n" + JOB, 400),
            "a list of lengths": (POST + b"Content-Length: 22, 22\r\n\r\n" + JOB, 400),
            "a length with a sign": (POST + b"Content-Length: +22\r\n\r\n" + JOB, 400),
            "a length in hexadecimal": (POST + b"Content-Length: 0x16\r\n\r\n" + JOB, 400),
            "a length with a blank before the colon": (POST + b"Content-Length : 22\r\n\r\n" + JOB, 400),
            "a folded header": (POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + body, 400, 501),
            "lines without CR": (POST.replace(b"\r\n", b"\n") + b"\n", 400),
            "a CR alone": (POST + b"X: a\rTransfer-Encoding: chunked\r\n\r\n" + body, 400),
            "a zero": (POST + b"X: a\0b\r\n\r\n", 400),
            "an unknown coding": (POST + b"Transfer-Encoding: xchunked\r\n\r\n" + body, 501),
            "identity": (POST + b"Transfer-Encoding: identity\r\n" + size + b"\r\n" + JOB, 400, 501),
            "chunked twice": (POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + body, 400),
            "gzip behind chunked": (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + body, 400),
            "chunks in HTTP/1.0": (POST.replace(b"1.1", b"1.0") + chunked + b"\r\n" + body, 400),
            "no host": (b"GET /v1/ns HTTP/1.1\r\n\r\n", 400),
            "two hosts": (b"GET /v1/ns HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400),
            "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 505),
            "HTTP/0.9": (b"GET /\r\n\r\n", 400),
            "RESP": (b"*1\r\n$4\r\nPING\r\n", 400),
            "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50) + b"\r\n\r\n", 400),
            "an empty name": (b"GET /v1/ns HTTP/1.1\r\n: x\r\n" + HOST + b"\r\n", 400),
        }
        for name, (request, *statuses) in cases.items():
            with self.subTest(name):
                self.refused(request + SECRET, *statuses)

    def test_chunks_that_lie(self):
        head = POST + b"Transfer-Encoding: chunked\r\n\r\n"
        for name, body, *statuses in (
                ("too short", b"10\r\n" + JOB + b"\r\n0\r\n\r\n", 400),
                ("no number", b"xyz\r\n" + JOB, 400),
                ("a sign", b"-16\r\n" + JOB, 400),
                ("a prefix", b"0x16\r\n" + JOB, 400),
                ("a blank", b" 16\r\n" + JOB, 400),
                ("only LF", b"16\n" + JOB + b"\n0\n\n", 400),
                ("more than any number", b"f" * 17 + b"\r\n", 400, 413),
                ("more than allowed", b"100001\r\n", 413),
                ("an endless extension", b"16;" + b"x" * 20000 + b"\r\n", 413),
                ("very small ones", b"1;" + b"x" * 4000 + b"\r\n \r\n" * 60, 400, 413),
                ("a bad trailer", b"16\r\n" + JOB + b"\r\n0\r\nX Y\r\n\r\n", 400),
                ("endless trailers", b"16\r\n" + JOB + b"\r\n0\r\n" + b"X: y\r\n" * 5000, 431)):
            with self.subTest(name):
                self.refused(head + body + SECRET, *statuses)

    def test_what_is_too_large_is_refused_early(self):
        for name, request, *statuses in (
                ("a line", b"GET /" + b"x" * 100000, 414),
                ("a header", b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"x" * 100000, 431),
                ("headers", b"GET / HTTP/1.1\r\n" + HOST + (b"X: " + b"x" * 1000 + b"\r\n") * 100, 431),
                ("many headers", b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 500, 431),
                ("a body", POST + b"Content-Length: 1048577\r\n\r\n", 413),
                ("a huge body", POST + b"Content-Length: 99999999999999999999999\r\n\r\n", 413),
                ("a body that expects", POST + b"Expect: 100-continue\r\nContent-Length: 1048577\r\n\r\n", 413),
                ("an expectation", POST + b"Expect: more\r\n\r\n", 417)):
            with self.subTest(name):
                self.refused(request, *statuses)

    def test_a_url_is_as_good_as_a_path(self):
        got = talk(self.server, b"GET http://localhost/v1/ns HTTP/1.1\r\n" + HOST + b"\r\n"
                   b"GET /v1/n%73 HTTP/1.1\r\n" + HOST + b"\r\n")
        self.assertEqual(got.count(b"HTTP/1.1 200 "), 2, got)
        for path in (b"/v1/ns/a%00b/queues", b"/v1/%zz", b"/v1/ns/..", b"//v1/ns", b"/v1/ns/"):
            got = talk(self.server, b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"\r\n")
            self.assertIn(int(got.split(b" ")[1]), (400, 404), got)

    def test_pieces_of_any_size_make_the_same_request(self):
        request = POST + b"Transfer-Encoding: chunked\r\n\r\n8\r\n" + JOB[:8] + b"\r\nE;x=y\r\n" + JOB[8:] + \
            b"\r\n0\r\nTrailer: x\r\n\r\n"
        with connect(self.server) as s:
            for i in range(len(request)):
                s.sendall(request[i:i + 1])
            self.assertTrue(s.recv(1000).startswith(b"HTTP/1.1 201 "))


class Slow(unittest.TestCase):
    def test_who_takes_too_long_is_told_and_closed(self):
        # A request takes its time from its first byte on, which must come before a connection is idle.
        with server("--http-request-timeout", "1s", "--http-idle-timeout", "5s") as s:
            slow = [connect(s) for _ in range(5)]
            slow[0].sendall(b"GET /healthz HT")
            slow[1].sendall(b"GET /healthz HTTP/1.1\r\n" + HOST)
            slow[2].sendall(POST + b"Content-Length: 100000\r\n\r\n{")
            slow[3].sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{")
            end = time.monotonic() + sluiced.LIMIT_S
            answers = {}
            while len(answers) < 5:
                self.assertLess(time.monotonic(), end)
                # They go on sending, bit by bit.
                for one in (slow[1], slow[2]):
                    try:
                        one.send(b"X: y\r\n")
                    except OSError:
                        pass
                for one in select.select(slow, [], [], 0.2)[0]:
                    try:
                        answers.setdefault(one, one.recv(1000))
                    except ConnectionError:
                        answers.setdefault(one, b"reset")
            for index in (0, 1, 2, 3):
                self.assertTrue(answers[slow[index]].startswith(b"HTTP/1.1 408 "), answers[slow[index]])
            self.assertEqual(answers[slow[4]], b"")
            for one in slow:
                one.close()

    def test_who_never_reads_is_closed(self):
        with server("--http-idle-timeout", "3s") as s, sluiced.Client(s) as client:
            client.expect(("Q.PUT", "app", "q", "K", json.dumps("x" * 500000), "JID", "large"), '"large"')
            with connect(s) as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.sendall((b"GET /v1/ns/app/queues/q/peek HTTP/1.1\r\n" + HOST + b"\r\n") * 40)
                outside.until(client, "clients", "connected_clients", 1)


def raise_limit(needed):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < needed:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return True


class Crowd(unittest.TestCase):
    class Slow:
        """A process with connections that send a byte each every second."""

        def __init__(self, s, count):
            reader, self.writer = os.pipe()
            self.pid = os.fork()
            if self.pid == 0:
                os.close(self.writer)
                self.drip(s, count, reader)
                os._exit(0)
            os.close(reader)

        @staticmethod
        def drip(s, count, until):
            crowd = [connect(s) for _ in range(count)]
            for byte in POST + b"Content-Length: 100000\r\n\r\n" + b" " * 100000:
                for i, one in enumerate(crowd):
                    one.send(bytes([byte]))
                    if i % 50 == 0 and select.select([until], [], [], 50 / count)[0]:
                        return

        def end(self):
            os.close(self.writer)
            os.waitpid(self.pid, 0)

    COUNT = 500 if outside.SANITIZED else 5000
    ROUNDS = 200 if outside.SANITIZED else 1000

    def measure(self, s):
        """Times of a good client's requests, each of which is served."""
        times = []
        good = http.client.HTTPConnection("127.0.0.1", s.http_port, timeout=sluiced.LIMIT_S)
        for _ in range(self.ROUNDS):
            began = time.perf_counter()
            good.request("POST", "/v1/ns/app/queues/good/jobs", JOB, {"Content-Type": "application/json"})
            response = good.getresponse()
            self.assertEqual(response.status, 201)
            response.read()
            times.append(time.perf_counter() - began)
        good.close()
        times.sort()
        return times[len(times) // 2] * 1e6, times[len(times) * 99 // 100] * 1e6

    def test_slow_ones_hold_nobody_up(self):
        if not raise_limit(self.COUNT + 500):
            self.skipTest("the hard limit of open files is too low")
        with server("--durability", "never", "--http-request-timeout", "1h") as s, sluiced.Client(s) as client:
            hard = resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE)[1]
            resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (self.COUNT + 500, hard))
            alone = self.measure(s)
            crowd = Crowd.Slow(s, self.COUNT)
            outside.until(client, "clients", "connected_clients", self.COUNT + 1)
            beside = self.measure(s)
            # They were there all the time.
            outside.until(client, "clients", "connected_clients", self.COUNT + 1)
            crowd.end()
            print(f"# p50, p99 in us: alone {alone[0]:.0f}, {alone[1]:.0f}; beside {self.COUNT} slow ones "
                  f"{beside[0]:.0f}, {beside[1]:.0f}")

    def test_workers_that_vanish_lose_no_job(self):
        kills = 100 if outside.SANITIZED else 1000
        pop = json.dumps({"queues": ["q"], "worker": "w", "wait": 60}).encode()
        request = b"POST /v1/ns/app/pop HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" \
            b"Content-Length: %d\r\n\r\n%s" % (len(pop), pop)
        with server("--durability", "never") as s, sluiced.Client(s) as client:
            client.expect("Q.CONFIG.SET app heartbeat 1", "+OK")
            for i in range(kills):
                gone = connect(s)
                gone.sendall(request)
                # Some go while they wait, some while a job is on its way to them.
                if i % 2:
                    outside.until(client, "clients", "blocked_clients", 1)
                if i % 3:
                    client.expect(f"Q.PUT app q K {{}} JID j{i}", f'"j{i}"')
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                gone.close()
                outside.until(client, "clients", "connected_clients", 1)
            put = {f"j{i}" for i in range(kills) if i % 3}
            found = set()
            end = time.monotonic() + sluiced.LIMIT_S
            with connect(s) as worker:
                file = worker.makefile("rb")
                while found != put:
                    self.assertLess(time.monotonic(), end, f"{len(put - found)} are lost")
                    worker.sendall(request)
                    self.assertIn(b"200", file.readline())
                    size = int(http.client.parse_headers(file)["Content-Length"])
                    for job in json.loads(file.read(size))["jobs"]:
                        found.add(job["jid"])
                        client.expect(f"Q.COMPLETE app {job['jid']} w", '"complete"')
                file.close()
            client.expect("Q.LENGTH app q", ":0")


if __name__ == "__main__":
    sluiced.main()
