#!/usr/bin/python3
"""libsluice with a queue in its own process and with one on a server: the same calls have the same
effects."""

import functools
import tempfile

from real import PUT, TestCase, sluiced
from shell import LIMIT_S

ZERO = -2**63
NONE = -2**62
BACKOFF = -1


def both(test):
    """Runs a test once with each kind of queue."""
    @functools.wraps(test)
    def run(self):
        for handle in ("local", "remote"):
            with self.subTest(handle):
                test(self, handle)
    return run


class Both(TestCase):

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.open("remote", worker="w")
        self.open("local", f"file:{folder}/jobs", worker="w")

    def put(self, handle, jid="a", **more):
        return self.shell.ok("put", handle, {**PUT, "jid": jid, **more})

    def job(self, handle, jid="a"):
        return self.shell.ok("get", handle, jid)["value"]

    def options(self, handle, names, jid="a"):
        given = self.call("Q.OPTIONS", jid, handle=handle)["given"]
        return {name: given[name] for name in names}

    def refused(self, handle, status, sentence, *words):
        answer = self.shell.ask(words[0], handle, *words[1:])
        self.assertEqual((answer["status"], answer["message"]), (status, sentence))

    @both
    def test_zero_none_and_the_default_are_told_apart_on_a_first_put(self, handle):
        self.put(handle, "default")
        self.put(handle, "zero", priority=ZERO, retries=ZERO, delay=ZERO)
        self.put(handle, "none", retries=NONE, deadline=NONE, timeout=NONE, result_ttl=NONE,
                 max_crashes=NONE, lease=NONE)
        self.assertEqual([self.job(handle, jid)["retries"] for jid in ("default", "zero", "none")],
                         [5, 0, 0])
        self.assertEqual([self.job(handle, jid)["priority"] for jid in ("default", "zero")],
                         [0, 0])

    @both
    def test_zero_none_and_the_default_are_told_apart_on_a_second_put(self, handle):
        given = {"priority": 7, "retries": 3, "deadline": 4e9, "timeout": 100, "result_ttl": 200,
                 "max_crashes": 4, "lease": 30}
        options = {"timeout": 100, "lease": 30, "result-ttl": 200, "max-crashes": 4}
        self.put(handle, delay=1000, **given)
        self.put(handle)  # keeps everything
        job = self.job(handle)
        self.assertEqual((job["state"], job["priority"], job["retries"], job["deadline"]),
                         ("scheduled", 7, 3, 4e9))
        self.assertEqual(self.options(handle, options), options)
        self.put(handle, priority=ZERO, retries=ZERO, delay=ZERO, deadline=NONE, timeout=NONE,
                 result_ttl=NONE, max_crashes=NONE, lease=NONE)
        job = self.job(handle)
        self.assertEqual((job["state"], job["priority"], job["retries"], job["deadline"]),
                         ("waiting", 0, 0, None))
        self.assertEqual(self.options(handle, options), {key: 0 for key in options})

    @both
    def test_numbers_without_a_meaning_are_refused_in_words_of_c(self, handle):
        for name in ("delay", "at", "retries", "deadline", "timeout", "lease", "result_ttl",
                     "max_crashes", "unique_for"):
            self.refused(handle, "invalid", f"{name} must not be negative, and is -7",
                         "put", {**PUT, name: -7})
        for name in ("deadline", "timeout", "lease", "result_ttl", "max_crashes"):
            self.refused(handle, "invalid",
                         f"{name} cannot be SLUICE_ZERO; SLUICE_NONE is none",
                         "put", {**PUT, name: ZERO})
        self.refused(handle, "invalid", "priority cannot be SLUICE_NONE; SLUICE_ZERO is zero",
                     "put", {**PUT, "priority": NONE})
        self.refused(handle, "invalid", "unique_for cannot be SLUICE_ZERO",
                     "put", {**PUT, "unique_for": ZERO})
        self.refused(handle, "invalid", "retries must be from 0 to 2147483647, not 2147483648",
                     "put", {**PUT, "retries": 2**31})
        self.refused(handle, "invalid", "either delay or at, not both",
                     "put", {**PUT, "delay": ZERO, "at": 4e9})
        self.refused(handle, "invalid",
                     'on_conflict must be one of existing, replace, refuse, once, not "x"',
                     "put", {**PUT, "unique": "u", "on_conflict": "x"})
        answer = self.shell.ask("put_many", handle, [PUT, {**PUT, "retries": -1},
                                                     {**PUT, "tags": [""]}])
        self.assertEqual([result[::2] for result in answer["results"]],
                         [["ok", ""], ["invalid", "retries must not be negative, and is -1"],
                          ["invalid", "tags must not be empty"]])
        self.refused(handle, "invalid", "lease must not be negative, and is -1",
                     "take", {"queues": ["q"], "count": 1, "lease": -1}, "x")

    @both
    def test_numbers_of_calls_about_a_job(self, handle):
        self.put(handle, retries=3)
        self.shell.ok("next", handle, "q", LIMIT_S, "held")
        for words, sentence in (
                (("start", "held", -1), "pid must not be negative, and is -1"),
                (("advance", "held", "next", None, -2), "delay must not be negative, and is -2"),
                (("retry", "held", -2, None, None), "delay must not be negative, and is -2"),
                (("retry", "held", NONE, None, None), "delay cannot be SLUICE_NONE"),
                (("progress", "held", 2, None), "fraction must be a number from 0 to 1, not \"2\"")):
            answer = self.shell.ask(*words)
            self.assertEqual((answer["status"], answer["message"]), ("invalid", sentence))
        self.assertEqual(self.shell.ok("retry", "held", BACKOFF, None, None)["remaining"], 2)
        self.shell.ok("free", "held")


if __name__ == "__main__":
    sluiced.main()
