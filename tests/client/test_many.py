#!/usr/bin/python3
"""Calls for many jobs: the same results on a server and in the process, however many there are."""

import unittest

from both import both
from fake import Fake, SILENT
from real import PUT, TestCase, sluiced
from shell import Shell

COUNT = 20000
MEGABYTE = "x" * 1000000


@both
class Many:
    def test_more_than_a_request_can_have(self):
        self.open()
        answer = self.shell.ask("put_numbered", "q", COUNT, 1000, False)
        self.assertEqual(answer["status"], "invalid")
        self.assertIn("data is not JSON", answer["message"])
        self.assertEqual(answer["tally"], {"ok": COUNT - COUNT // 1000, "invalid": COUNT // 1000})
        self.assertTrue(answer["own"])
        self.assertEqual(self.call("Q.LENGTH", "q"), COUNT - COUNT // 1000)
        self.assertEqual(self.field("n-0", "state"), "waiting")
        self.assertEqual(self.field(f"n-{COUNT - 2}", "state"), "waiting")
        self.assertEqual(self.shell.status("get", "q", "n-999"), "not_found")

    def test_without_room_for_results(self):
        self.open()
        answer = self.shell.ask("put_numbered", "q", COUNT, COUNT, True)
        self.assertEqual(answer["status"], "invalid")
        self.assertEqual(self.call("Q.LENGTH", "q"), COUNT - 1)

    def test_more_bytes_than_a_request_can_have(self):
        self.open()
        data = [f'"{i}{MEGABYTE}"' for i in range(20)]
        data[7] = f'"{MEGABYTE}{MEGABYTE}"'  # more than a word can have
        answer = self.shell.ask("put_many", "q", [{**PUT, "jid": f"j{i}", "data": text}
                                                  for i, text in enumerate(data)])
        self.assertEqual([status for status, _, _ in answer["results"]],
                         ["ok"] * 7 + ["too_large"] + ["ok"] * 12)
        self.assertEqual(answer["status"], "too_large")
        self.assertEqual(self.call("Q.LENGTH", "q"), 19)

    def test_many_words_each(self):
        self.open()
        tags = [f"tag-{i}" for i in range(90)]
        answer = self.shell.ask("put_many", "q", [{**PUT, "jid": f"j{i}", "tags": tags}
                                                  for i in range(300)])
        self.assertEqual(answer["status"], "ok")
        self.assertEqual(self.call("Q.LENGTH", "q"), 300)
        self.assertEqual(self.field("j299", "tags"), tags)


class Strict(TestCase):
    """A server that accepts less than others."""

    flags = ("--max-arguments", "100", "--max-payload", "4096", "--max-request", "64k")

    def test_requests_are_divided(self):
        self.open()
        answer = self.shell.ask("put_numbered", "q", 2000, 100, False)
        self.assertEqual(answer["tally"], {"ok": 1980, "invalid": 20})
        self.assertTrue(answer["own"])
        self.assertEqual(self.call("Q.LENGTH", "q"), 1980)

    def test_settlings_too(self):
        self.open()
        self.assertEqual(self.shell.status("put_numbered", "q", 60, 1000, True), "ok")
        for i in range(0, 60, 10):
            self.shell.ok("take", "q", {"queues": ["q"], "count": 10}, f"job-{i}-")
        names = [f"job-{i}-{j}" for i in range(0, 60, 10) for j in range(10)]
        answer = self.shell.ok("settle_many", names, [{"verdict": "done"}] * 60)
        self.assertEqual({status for status, *_ in answer["results"]}, {"ok"})
        self.assertEqual(self.call("Q.COUNT", "STATE", "complete"), 60)
        for name in names:
            self.shell.ok("free", name)


class Gone(unittest.TestCase):
    def test_a_server_that_goes_away_ends_the_call(self):
        """Its time limit is not waited for again with each request."""
        with Fake(otherwise=SILENT) as fake, Shell() as shell:
            shell.open("q", fake.url, timeout=0.5)
            answer = shell.ask("put_numbered", "q", 5000, 10000, False)
            self.assertEqual(answer["status"], "unknown")
            self.assertEqual(answer["tally"], {"unknown": 1000, "unreachable": 4000})
            shell.ok("close", "q")


if __name__ == "__main__":
    sluiced.main()
