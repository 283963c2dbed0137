#!/usr/bin/python3
"""A queue in a process that other programs can look at while it runs."""

import os
import socket
import stat
import tempfile
import threading
import unittest

from both import Local
from real import TestCase, sluiced
from shell import LIMIT_S, Shell


class Serving(Local):
    def setUp(self):
        super().setUp()
        self.open(worker="w")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/sock"
        self.shell.ok("serve", "q", "unix:" + self.path, "server")
        self.serving = True
        self.addCleanup(self.end)

    def end(self):
        if self.serving:
            self.shell.ok("serve_end", "server")
            self.serving = False

    def client(self):
        client = sluiced.Client(None, unix=self.path)
        self.addCleanup(client.close)
        return client

    def test_both_see_the_same_queue(self):
        client = self.client()
        self.put("a", data='{"n": 1}')
        client.expect("Q.LENGTH default q", ":1")
        client.expect(("Q.PUT", "default", "q", "k", "{}", "JID", "b"), '"b"')
        self.assertEqual(self.field("b", "state"), "waiting")
        self.take("a")
        client.expect("Q.WORKERS default COUNT 0", "[...")
        client.expect("Q.GET default nobody", "[nil]")
        client.expect("Q.LENGTH default", "-...")
        client.expect("Q.NOTHING default", "-...")
        client.expect("q.length default q", ":2")

    def test_another_program_with_libsluice(self):
        with Shell() as other:
            other.open("q", f"unix:{self.path}")
            self.put("a")
            job = other.ok("next", "q", "q", LIMIT_S, "job")
            self.assertEqual(job["jobs"], ["a"])
            self.assertEqual(self.field("a", "state"), "running")
            other.ok("done", "job", "7")
            other.ok("free", "job")
            other.ok("listen", "q", "log", "events")
            self.put("b")
            self.assertEqual(other.ok("event", "events", LIMIT_S)["event"]["jid"], "b")
            other.ok("unlisten", "events")
            other.ok("close", "q")
        self.assertEqual(self.field("a", "state"), "complete")

    def test_the_protocol(self):
        client = self.client()
        client.expect("PING", "+PONG")
        client.expect("PING hello", '"hello"')
        client.expect("HELLO 4", "-NOPROTO ...")
        client.expect("Q.JOBS default any COUNT 0", '["total", ...')
        client.expect("HELLO 3 AUTH default secret", '{"server": ...')
        client.expect("Q.JOBS default any COUNT 0", '{"total": ...')
        client.expect("CLIENT SETNAME me", "+OK")
        client.expect("TIME", "[...")
        client.send_raw(b"PING\r\nPING\r\n*1\r\n$4\r\nPING\r\n")  # at once, some without an array
        for _ in range(3):
            client.hear("+PONG")
        client.expect("QUIT", "+OK", None)

    def test_requests_in_pieces_and_large_ones(self):
        client = self.client()
        for byte in b"*3\r\n$8\r\nQ.LENGTH\r\n$7\r\ndefault\r\n$1\r\nq\r\n":
            client.send_raw(bytes([byte]))
        client.hear(":0")
        data = '"' + "x" * 1000000 + '"'
        client.expect(("Q.PUT", "default", "q", "k", data, "JID", "a"), '"a"')
        self.assertEqual(self.field("a", "data"), "x" * 1000000)
        client.send_raw(b"*5\r\n$5\r\nQ.PUT\r\n$7\r\ndefault\r\n$1100000\r\n")
        client.hear("-TOO_LARGE ...")
        self.assertIsNone(client.read())

    def test_what_makes_no_sense_ends_the_connection(self):
        for data in (b"*x\r\n", b"*1\r\n:1\r\n", b"*99999999\r\n"):
            client = self.client()
            client.send_raw(data)
            client.hear("-...")
            self.assertIsNone(client.read())
        self.client().expect("PING", "+PONG")

    def test_one_that_waits_for_a_job(self):
        client = self.client()
        client.send(*"Q.POP default other 1 WAIT 0 q".split())
        self.client().expect("PING", "+PONG")
        self.put("a")
        self.assertIn('"a"', client.read())
        self.assertEqual(self.field("a", "lease")["worker"], "other")

    def test_one_that_goes_while_it_waits_gets_no_job(self):
        client = self.client()
        client.send(*"Q.POP default gone 1 WAIT 0 q".split())
        sluiced.until(lambda: any(worker["worker"] == "gone" for worker in
                                  self.call("Q.WORKERS")["workers"]), "a worker that listens")
        client.close()
        sluiced.until(lambda: all(worker["offline"] for worker in
                                  self.call("Q.WORKERS")["workers"]), "a worker that is gone")
        self.put("a")
        self.take("a")

    def test_events(self):
        client = self.client()
        client.send("HELLO", "3")
        client.read()
        client.expect("SUBSCRIBE sluice:default:log", '>["subscribe", "sluice:default:log", :1]')
        self.put("a")
        self.assertIn('"jid":"a"', client.read())
        client.expect("PING", "+PONG")
        self.put("b")
        self.assertIn('"jid":"b"', client.read())
        other = self.client()
        for channel in ("log", "sluice:default:what", "sluice::log"):
            other.expect("SUBSCRIBE " + channel, "-INVALID ...")
        other.expect("PING", "+PONG")

    def test_a_subscriber_that_goes(self):
        for _ in range(5):
            client = self.client()
            client.expect("SUBSCRIBE sluice:default:log", "[...")
            client.close()
        self.put("a")
        self.client().expect("Q.LENGTH default q", ":1")

    def test_many_at_the_same_time(self):
        def put(number):
            client = sluiced.Client(None, unix=self.path)
            for i in range(50):
                client.expect(("Q.PUT", "default", "q", "k", "{}", "JID", f"{number}-{i}"),
                              f'"{number}-{i}"')
            client.close()
        threads = [threading.Thread(target=put, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for i in range(50):
            self.put(f"own-{i}")
        for thread in threads:
            thread.join()
        self.client().expect("Q.LENGTH default q", ":550")

    def test_too_many(self):
        clients = [self.client() for _ in range(64)]
        for client in clients:
            client.expect("PING", "+PONG")
        client = self.client()
        client.hear("-ERR max number of clients...")
        self.assertIsNone(client.read())
        clients[0].close()
        def accepted():
            client = self.client()
            try:
                return client.ask("PING") == "+PONG"
            except ConnectionError:
                return False
        sluiced.until(accepted, "room for another client")

    def test_the_socket_is_for_this_user(self):
        mode = os.stat(self.path)
        self.assertEqual((stat.S_IMODE(mode.st_mode), mode.st_uid), (0o600, os.geteuid()))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_another_user_is_refused(self):
        os.chmod(self.path, 0o666)
        os.chmod(os.path.dirname(self.path), 0o755)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            with socket.socket(socket.AF_UNIX) as other:
                other.connect(self.path)
                os.write(writing, other.recv(100))
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reading, 100)[:8], b"-NOPERM ")
        os.close(reading)
        os.close(writing)

    def test_its_end(self):
        waiting, listening, idle = self.client(), self.client(), self.client()
        waiting.send(*"Q.POP default gone 1 WAIT 0 q".split())
        listening.expect("SUBSCRIBE sluice:default:log", "[...")
        idle.expect("PING", "+PONG")
        self.end()
        for client in (waiting, listening, idle):
            self.assertIsNone(client.read())
        self.assertFalse(os.path.exists(self.path))
        self.put("a")
        self.take("a")

    def test_addresses(self):
        for address, status in (("tcp:1", "invalid"), ("unix:", "invalid"), ("", "invalid"),
                                ("unix:" + "x" * 200, "invalid"),
                                ("unix:/nowhere/at/all", "io"),
                                ("unix:" + self.path, "exists")):
            self.assertEqual(self.shell.status("serve", "q", address, "other"), status, address)
        with open(self.path + "-file", "w", encoding="utf-8"):
            pass
        self.assertEqual(self.shell.status("serve", "q", f"unix:{self.path}-file", "other"),
                         "exists")

    def test_a_socket_that_was_left_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(self.path + "-left")
        self.shell.ok("serve", "q", f"unix:{self.path}-left", "other")
        sluiced.Client(None, unix=self.path + "-left").expect("PING", "+PONG")
        self.shell.ok("serve_end", "other")


class Remote(TestCase):
    def test_a_queue_on_a_server_is_not_served(self):
        self.open()
        self.assertEqual(self.shell.status("serve", "q", "unix:/tmp/none", "x"), "unsupported")


if __name__ == "__main__":
    sluiced.main()
