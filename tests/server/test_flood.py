#!/usr/bin/python3
"""Crowds of clients that send requests and never read a reply: what they may take of the server's
memory is bounded for each connection, whatever the protocol, and other clients are served."""

import os
import select
import socket
import ssl
import subprocess
import unittest

import outside
import sluiced
from outside import MIB, request

CROWD = 60
# Requests and replies that one connection may keep: the buffers of the allowance double as they
# grow, and each connection has its own structures, those of TLS with a record each way.
PLAIN_MAX = 256 << 10
TLS_MAX = 384 << 10
SENT_MAX = MIB


def grows(server):
    """A function that gives the bytes of memory that the server has taken since."""
    before = outside.resident(server)
    return lambda: outside.resident(server) - before


class Flood:
    """Connections that send the same requests as long as the server takes them, and read nothing."""

    def __init__(self, port, data, count=CROWD, context=None):
        self.data = data * (SENT_MAX // len(data))
        self.sockets = []
        for _ in range(count):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(sluiced.LIMIT_S)
            one.connect(("127.0.0.1", port))
            if context:
                one = context.wrap_socket(one, server_hostname="localhost")
            one.setblocking(False)
            self.sockets.append(one)
        self.sent = dict.fromkeys(self.sockets, 0)

    def send(self):
        """Sends what can be sent now; a connection that is closed sends no more."""
        open_ = [one for one, sent in self.sent.items() if sent < len(self.data)]
        for one in select.select([], open_, [], 0.01)[1]:
            try:
                # OpenSSL wants the same bytes again when they did not fit.
                piece = self.data[self.sent[one]:self.sent[one] + (16 << 10)]
                self.sent[one] += one.send(piece)
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                pass
            except OSError:
                self.sent[one] = len(self.data)

    def close(self):
        for one in self.sockets:
            one.close()


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=server",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", folder + "/server.key",
                    "-out", folder + "/server.pem"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Case(unittest.TestCase):
    def serve(self, *flags):
        # Freed memory must not be kept by a sanitizer, as it would be taken for the server's.
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        server = sluiced.Server("--segment-size", "1M", "--reserve-size", "1M",
                                *flags, ASAN_OPTIONS=options)
        certificate(server.folder)
        server.flags += ("--tls-cert", server.path("server.pem"), "--tls-key",
                         server.path("server.key"), "--tls-listen", "127.0.0.1:0",
                         "--tls-http", "127.0.0.1:0")
        server.__enter__()
        self.addCleanup(server.__exit__)
        self.context = ssl.create_default_context(cafile=server.path("server.pem"))
        for line in server.log:
            if "tls=yes" in line:
                port = int(line.split("127.0.0.1:")[1].split()[0])
                setattr(server, "tls_http_port" if " http=" in line else "tls_port", port)
        return server

    def client(self, server, password=None):
        client = sluiced.Client(server)
        self.addCleanup(client.close)
        if password:
            client.expect(f"AUTH {password}", "+OK")
        return client

    def hold(self, server, other, flood, each_max):
        """The flood sends until each of its connections is held up or closed; then another client is
        served, and the server's memory has not grown by more than `each_max` a connection."""
        self.addCleanup(flood.close)
        grown = grows(server)

        def settled():
            flood.send()
            clients = outside.figure(other, "clients", "connected_clients")
            return outside.figure(other, "clients", "held_clients") == clients - 1
        sluiced.until(settled, "that every connection of the flood is held up")
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        other.expect("Q.LENGTH app mail", ":1")
        taken = grown() // len(flood.sockets)
        print(f"# {taken >> 10} KiB for each of {len(flood.sockets)} connections")
        self.assertLess(taken, each_max * (2 if outside.SANITIZED else 1))
        self.assertGreaterEqual(outside.figure(other, "stats", "unread_replies_holds"),
                                outside.figure(other, "clients", "held_clients"))


class Unauthenticated(Case):
    HELLO = request("HELLO", "3")
    GET = b"GET /v1/ns HTTP/1.1\r\nHost: x\r\n\r\n"

    def test_requests_of_resp_that_are_refused_and_not_read(self):
        server = self.serve("--password", "secret", "--auth-timeout", "1h")
        other = self.client(server, "secret")
        self.hold(server, other, Flood(server.port, self.HELLO), PLAIN_MAX)

    def test_requests_of_http_that_are_refused_and_not_read(self):
        server = self.serve("--password", "secret")
        other = self.client(server, "secret")
        self.hold(server, other, Flood(server.http_port, self.GET), PLAIN_MAX)

    def test_the_same_under_tls(self):
        server = self.serve("--password", "secret", "--auth-timeout", "1h")
        other = self.client(server, "secret")
        self.hold(server, other, Flood(server.tls_http_port, self.GET, context=self.context),
                  TLS_MAX)

    def test_credentials_of_an_earlier_request_do_not_count_for_the_next(self):
        """A request with credentials is served, those behind it without are refused; their client
        has the small allowance again."""
        server = self.serve("--password", "secret")
        other = self.client(server, "secret")
        good = b"GET /v1/ns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n\r\n"
        flood = Flood(server.http_port, self.GET)
        flood.data = good + flood.data
        self.hold(server, other, flood, PLAIN_MAX)

    def test_requests_that_are_never_complete(self):
        server = self.serve("--password", "secret", "--auth-timeout", "1h")
        other = self.client(server, "secret")
        grown = grows(server)
        floods = [Flood(server.port, b"*2\r\n$4\r\nAUTH\r\n$4000\r\nx", 20),
                  Flood(server.http_port, b"GET / HTTP/1.1\r\nX: y\r\n" + b"X: y\r\n" * 90, 20),
                  Flood(server.http_port, b"POST /v1/ns/app/pop HTTP/1.1\r\nHost: x\r\n"
                        b"Content-Length: 1000000\r\n\r\n" + b"x" * 100000, 20)]
        for flood in floods:
            self.addCleanup(flood.close)
            flood.send()
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        self.assertLess(grown() // 60, PLAIN_MAX * (2 if outside.SANITIZED else 1))

    def test_requests_without_end_are_ended(self):
        """Empty ones have no reply that could hold them up; others are read by their client."""
        server = self.serve("--password", "secret", "--auth-timeout", "1h")
        for block in (b"\r\n", b"*0\r\n", b"*-1\r\n", b"PING\r\n", request("HELLO", "3")):
            with self.subTest(block):
                sent, block = 0, block * (65536 // len(block))
                with socket.create_connection(("127.0.0.1", server.port), sluiced.LIMIT_S) as one:
                    one.settimeout(sluiced.LIMIT_S)
                    try:
                        while True:
                            self.assertLess(sent, 64 * MIB, "it is not ended")
                            one.sendall(block)
                            sent += len(block)
                            while select.select([one], [], [], 0)[0]:
                                if not one.recv(65536):
                                    raise ConnectionError
                    except ConnectionError:
                        pass
        server.hear("too much sent before authentication")
        # A client that has authenticated may.
        other = self.client(server, "secret")
        other.send_raw(b"\r\n" * (4 * MIB))
        other.expect("PING", "+PONG")

    def test_handshakes_that_stall(self):
        server = self.serve("--password", "secret", "--auth-timeout", "2s")
        other = self.client(server, "secret")
        grown = grows(server)
        greeting = ssl.MemoryBIO()
        shake = self.context.wrap_bio(ssl.MemoryBIO(), greeting, server_hostname="localhost")
        try:
            shake.do_handshake()
        except ssl.SSLWantReadError:
            pass
        hello = greeting.read()
        crowd = []
        for i in range(CROWD):
            port = (server.tls_port, server.tls_http_port)[i % 2]
            crowd.append(socket.create_connection(("127.0.0.1", port), sluiced.LIMIT_S))
            self.addCleanup(crowd[-1].close)
            # A few bytes, half of a greeting, a whole one, or the start of a huge one.
            crowd[-1].sendall((hello[:4], hello[:len(hello) // 2], hello,
                               b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(16000))[i // 2 % 4])
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        self.assertLess(grown() // CROWD, TLS_MAX * (2 if outside.SANITIZED else 1))
        # All of them are closed, those with nothing wrong after auth-timeout.
        outside.until(other, "clients", "connected_clients", 1)
        self.assertGreater(outside.figure(other, "stats", "auth_timeout_disconnections"), 0)


class Authenticated(Case):
    UNREAD_MAX = 256 << 10
    # Replies and requests that are held, in buffers that double.
    EACH_MAX = 6 * UNREAD_MAX

    def test_pipelined_replies_that_are_not_read_stop_the_requests(self):
        server = self.serve("--max-unread", str(self.UNREAD_MAX))
        other = self.client(server)
        data = b'"' + b"x" * 2000 + b'"'
        other.expect(("Q.PUT", "app", "big", "Send", data, "JID", "big"), '"big"')
        self.hold(server, other, Flood(server.port, request("Q.GET", "app", "big"), 20),
                  self.EACH_MAX)

    def test_the_same_over_http(self):
        server = self.serve("--max-unread", str(self.UNREAD_MAX))
        other = self.client(server)
        data = b'"' + b"x" * 2000 + b'"'
        other.expect(("Q.PUT", "app", "big", "Send", data, "JID", "big"), '"big"')
        get = b"GET /v1/ns/app/jobs/big HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.hold(server, other, Flood(server.http_port, get, 20), self.EACH_MAX)

    def test_one_large_reply_is_allowed_up_to_max_output(self):
        server = self.serve("--max-unread", "16K")
        client = self.client(server)
        data = '"' + "x" * 900000 + '"'
        for i in range(5):
            client.expect(("Q.PUT", "app", "big", "Send", data, "JID", f"j{i}"), f'"j{i}"')
        client.send_raw(request("Q.PEEK", "app", "big", 5) + request("PING"))
        self.assertEqual(client.read().count(data[1:-1]), 5)
        client.hear("+PONG")


if __name__ == "__main__":
    sluiced.main()
