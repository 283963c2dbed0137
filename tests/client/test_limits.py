#!/usr/bin/python3
"""Calls that are ended: by the deadline of a thread, and by an interrupt of all calls."""

import socket
import time
import unittest

from both import both
from fake import SILENT, Fake, encode, free_port
from real import PUT, sluiced
from shell import LIMIT_S, Shell

FOREVER = -1
FOUND = encode([{"jid": "a"}])


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.shell = self.enterContext(Shell())

    def begin(self, fake, *words):
        self.shell.open("q", fake.url, timeout=FOREVER)
        self.addCleanup(self.shell.ask, "close", "q")
        call = self.shell.begin(*words)
        fake.calls.get(timeout=LIMIT_S)
        return call

    def ended(self, call):
        self.shell.ok("interrupt_all", "q", True)
        return call.result(LIMIT_S)["status"]

    def test_a_put_whose_answer_did_not_come(self):
        with Fake(otherwise=SILENT) as fake:
            self.assertEqual(self.ended(self.begin(fake, "put", "q", PUT)), "unknown")

    def test_a_call_that_reads(self):
        with Fake(otherwise=SILENT) as fake:
            self.assertEqual(self.ended(self.begin(fake, "get", "q", "a")), "interrupted")

    def test_a_wait(self):
        with Fake(otherwise=SILENT) as fake:
            call = self.begin(fake, "next", "q", "q", FOREVER, "job")
            self.assertEqual(self.ended(call), "interrupted")

    def test_while_there_is_no_server(self):
        holder, port = free_port()
        with holder:
            self.shell.open("q", f"sluice://127.0.0.1:{port}", timeout=FOREVER)
            call = self.shell.begin("put", "q", PUT)
            self.shell.log.get(timeout=LIMIT_S)
            self.assertEqual(self.ended(call), "interrupted")
            self.shell.ok("close", "q")

    def test_a_request_that_is_not_read(self):
        """It was not sent as a whole: the server cannot run it."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            self.shell.open("q", f"sluice://127.0.0.1:{port}", timeout=FOREVER)
            call = self.shell.begin("put", "q", {**PUT, "data": '"' + "x" * (64 << 20) + '"'})
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"%1\r\n+server\r\n+fake\r\n")
                connection.recv(1)  # of the request
                self.assertEqual(self.ended(call), "interrupted")
            self.shell.ok("close", "q")

    def test_it_holds_until_it_is_off(self):
        with Fake(otherwise=FOUND) as fake:
            self.shell.open("q", fake.url)
            self.shell.ok("interrupt_all", "q", True)
            for words in (("put", "q", PUT), ("get", "q", "a"), ("next", "q", "q", 0, "job"),
                          ("next", "q", "q", 1, "job")):
                self.assertEqual(self.shell.status(*words), "interrupted", words)
            self.assertEqual(fake.heard, [])
            self.shell.ok("interrupt_all", "q", False)
            self.shell.ok("get", "q", "a")
            self.shell.ok("interrupt", "q", True)
            self.shell.ok("get", "q", "a")  # an interrupt of waits alone
            self.shell.ok("close", "q")


@both
class Process:
    """What a folder and a server have in common."""

    def test_all_calls_are_refused_meanwhile(self):
        self.open()
        self.shell.ok("interrupt_all", "q", True)
        for words in (("put", "q", PUT), ("get", "q", "a"), ("next", "q", "q", 0, "job"),
                      ("next", "q", "q", FOREVER, "job")):
            self.assertEqual(self.shell.status(*words), "interrupted", words)
        self.shell.ok("interrupt_all", "q", False)
        self.put("a")

    def test_a_deadline_ends_a_wait(self):
        self.open()
        begun = time.monotonic()
        answer = self.shell.ask("within", 0.4, "next", "q", "q", FOREVER, "job")
        self.assertEqual(answer["status"], "timed_out")
        self.assertEqual(answer["before"], FOREVER)
        self.assertLess(time.monotonic() - begun, LIMIT_S)
        self.put("a")
        answer = self.shell.ask("within", 0.4, "wait", "q", "a", FOREVER)
        self.assertEqual(answer["status"], "timed_out")

    def test_a_deadline_ends_the_wait_for_events(self):
        self.open()
        self.shell.ok("listen", "q", "log", "events")
        answer = self.shell.ask("within", 0.2, "event", "events", FOREVER)
        self.assertEqual(answer["status"], "timed_out")
        self.shell.ok("unlisten", "events")

    def test_a_deadline_that_is_over(self):
        self.open()
        self.put("a")
        for words in (("put", "q", {**PUT, "jid": "b"}), ("get", "q", "a"), ("cancel", "q", "a"),
                      ("next", "q", "q", 0, "job")):
            answer = self.shell.ask("within", 0, *words)
            self.assertEqual(answer["status"], "timed_out", words)
            self.assertEqual(answer["left"], 0)
        self.assertEqual(self.field("a", "state"), "waiting")
        self.assertEqual(self.shell.status("get", "q", "b"), "not_found")

    def test_a_deadline_that_is_far(self):
        self.open()
        answer = self.shell.ask("within", LIMIT_S, "put", "q", {**PUT, "jid": "a"})
        self.assertEqual(answer["status"], "ok")
        self.assertTrue(0 < answer["left"] < LIMIT_S)
        answer = self.shell.ask("within", LIMIT_S, "next", "q", "q", 0.05, "job")
        self.assertEqual(answer["jobs"], ["a"])
        self.shell.ok("free", "job")


class Deadlines(unittest.TestCase):
    def test_a_server_that_does_not_answer(self):
        with Fake(otherwise=SILENT) as fake, Shell() as shell:
            shell.open("q", fake.url, timeout=FOREVER)
            self.assertEqual(shell.ask("within", 0.2, "get", "q", "a")["status"], "unreachable")
            self.assertEqual(shell.ask("within", 0.2, "put", "q", PUT)["status"], "unknown")
            shell.ok("close", "q")

    def test_no_server(self):
        holder, port = free_port()
        with holder, Shell() as shell:
            shell.open("q", f"sluice://127.0.0.1:{port}", timeout=FOREVER)
            self.assertEqual(shell.ask("within", 0.2, "put", "q", PUT)["status"], "unreachable")
            shell.ok("close", "q")


if __name__ == "__main__":
    sluiced.main()
