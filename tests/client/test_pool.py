#!/usr/bin/python3
"""Pools of threads that run jobs: with a queue on a server and with one in their own process."""

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import unittest

from real import RealServer, sluiced
from shell import LIMIT_S


class Pool:
    """The program of pool.c."""

    def __init__(self, url, **options):
        self.process = subprocess.Popen(
            [os.environ["CLIENT_POOL"], url, json.dumps({"queues": ["q"], **options})],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.events = {}
        self.mutex = threading.Lock()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _queue(self, name):
        with self.mutex:
            return self.events.setdefault(name, queue.Queue())

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            self._queue(event.pop("event")).put(event)

    def next(self, name):
        return self._queue(name).get(timeout=LIMIT_S)

    def heard(self, name):
        return not self._queue(name).empty()

    def say(self, *words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def call(self, *words):
        self.say(*words)
        answer = self.next("answer")
        if answer["status"] != "ok":
            raise AssertionError(f"{words}: {answer}")
        return answer["value"]

    def put(self, klass, jid, data="{}", where="q", *more):
        self.call("Q.PUT", where, klass, data, "JID", jid, *more)

    def job(self, jid):
        return self.call("Q.GET", jid)[0]

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def over(self):
        """What it says at its end."""
        return self.next("over")

    def end(self):
        """Ends the program, also one that fails a test."""
        try:
            self.process.stdin.close()
            code = self.process.wait(LIMIT_S)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            code = self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        return code


def tally(**given):
    return {"done": 0, "failed": 0, "retried": 0, "returned": 0, "lost": 0, "unsettled": 0, **given}


class TestCase(unittest.TestCase):
    maxDiff = None

    def start(self, **options):
        pool = Pool(self.url, **options)
        self.addCleanup(lambda: pool.process.poll() is None and pool.process.kill())
        return pool

    def assert_over(self, pool, status="ok", **counts):
        over = pool.over()
        self.assertEqual((over["status"], over["tally"]), (status, tally(**counts)))

    def assert_ends(self, pool):
        self.assertEqual(pool.end(), 0)


class Tests:
    def test_jobs_end_as_their_handlers_say(self):
        pool = self.start(concurrency=3, idle=1)
        for klass in ("echo", "quiet", "fail", "retry", "again", "back", "bad", "unknown"):
            pool.put(klass, klass, '{"n": 1}')
        self.assert_over(pool, done=4, failed=3, retried=3, returned=2)
        self.assertEqual({jid: pool.job(jid)["state"] for jid in
                          ("echo", "quiet", "fail", "retry", "again", "back", "bad", "unknown")},
                         {"echo": "complete", "quiet": "complete", "fail": "failed",
                          "retry": "scheduled", "again": "complete", "back": "complete",
                          "bad": "failed", "unknown": "failed"})
        self.assertEqual(pool.job("echo")["result"], {"n": 1})
        self.assertEqual(pool.job("fail")["failure"]["group"], "group")
        self.assertEqual(pool.job("bad")["failure"]["group"], "bad-outcome")
        self.assertEqual(pool.job("unknown")["failure"]["group"], "no-handler")
        self.assertIn("unknown", pool.job("unknown")["failure"]["message"])
        self.assertEqual([pool.job(jid)["attempts"] for jid in ("retry", "again", "back")],
                         [1, 3, 3])
        self.assertEqual(pool.job("retry")["remaining"], 4)
        self.assert_ends(pool)

    def test_as_many_at_a_time_as_it_has_threads(self):
        pool = self.start(concurrency=6, idle=1)
        for i in range(6):
            pool.put("meet", f"j{i}", "6")
        self.assert_over(pool, done=6)
        self.assert_ends(pool)

    def test_many_jobs_of_several_queues(self):
        pool = self.start(queues=["q", "r"], concurrency=4, round_robin=True)
        for i in range(200):
            pool.put("quiet", f"j{i}", "{}", "qr"[i % 2])
        pool.put("hold", "last", '"go"')
        pool.next("running")
        sluiced.until(lambda: pool.call("Q.JOBS", "complete", "COUNT", "0")["total"] == 200,
                      "200 jobs that are done")
        pool.say("go")
        pool.next("ended")
        pool.say("stop")
        self.assert_over(pool, done=201)
        self.assert_ends(pool)

    def test_a_signal_lets_the_running_job_end(self):
        pool = self.start()
        pool.put("hold", "a", '"draining"')
        pool.next("running")
        pool.put("quiet", "b")
        pool.signal()
        self.assertEqual(pool.next("ended"), {"jid": "a", "lost": "kept", "draining": True})
        self.assert_over(pool, done=1)
        self.assertEqual([pool.job(jid)["state"] for jid in "ab"], ["complete", "waiting"])
        self.assert_ends(pool)

    def test_a_handler_sees_that_the_pool_drains(self):
        pool = self.start(concurrency=2)
        pool.put("hold", "a", '"draining"')
        pool.put("hold", "b", '"draining"')
        pool.next("running")
        pool.next("running")
        pool.signal(signal.SIGINT)
        self.assertTrue(pool.next("ended")["draining"])
        self.assert_over(pool, done=2)
        self.assert_ends(pool)

    def give_back(self, pool):
        self.assertEqual(pool.next("lost"), {"jid": "a", "why": "returned"})
        self.assertEqual(pool.next("ended"), {"jid": "a", "lost": "returned", "draining": True})
        self.assert_over(pool, returned=1)
        job = pool.job("a")
        self.assertEqual((job["lease"], job["remaining"], job["attempts"]), (None, 5, 1))
        self.assertFalse(pool.heard("lost"))
        self.assert_ends(pool)

    def test_what_runs_longer_than_the_grace_time_is_given_back(self):
        pool = self.start(grace=0.2)
        pool.put("hold", "a", '"lost"')
        pool.next("running")
        pool.signal()
        self.give_back(pool)

    def test_there_may_be_no_grace_time(self):
        pool = self.start(no_grace=True)
        pool.put("hold", "a", '"lost"')
        pool.next("running")
        pool.say("stop")
        self.give_back(pool)

    def test_a_second_signal_ends_the_grace_time(self):
        pool = self.start(grace=3600)
        pool.put("hold", "a", '"lost"')
        pool.next("running")
        pool.signal()
        pool.signal(signal.SIGINT)
        self.give_back(pool)

    def test_a_handler_that_never_returns(self):
        pool = self.start(no_grace=True)
        pool.put("hold", "a", '"never"')
        pool.next("running")
        pool.signal()
        self.assertEqual(pool.next("lost"), {"jid": "a", "why": "returned"})
        over = pool.over()
        self.assertEqual((over["status"], over["message"], over["tally"]),
                         ("busy", "1 handlers have not returned", tally(returned=1)))
        self.assertIsNone(pool.job("a")["lease"])
        self.assert_ends(pool)

    def test_a_canceled_job_is_told_of(self):
        pool = self.start(idle=1)
        pool.put("hold", "a", '"lost"')
        pool.next("running")
        pool.call("Q.CANCEL", "a")
        self.assertEqual(pool.next("lost"), {"jid": "a", "why": "canceled"})
        self.assertEqual(pool.next("ended")["lost"], "canceled")
        self.assert_over(pool, lost=1)
        self.assert_ends(pool)

    def test_a_job_that_is_taken_away_is_told_of(self):
        pool = self.start(concurrency=1, idle=1)
        pool.put("hold", "a", '"lost"')
        pool.next("running")
        pool.call("Q.PUT", "elsewhere", "hold", '"go"', "JID", "a")
        self.assertEqual(pool.next("lost"), {"jid": "a", "why": "lost"})
        self.assert_over(pool, lost=1)
        self.assert_ends(pool)

    def test_leases_are_renewed(self):
        pool = self.start()
        pool.call("Q.CONFIG.SET", "heartbeat", "6")
        pool.put("renewed", "a")
        sluiced.until(lambda: pool.job("a")["state"] == "complete", "a job that is done")
        self.assertEqual(pool.job("a")["attempts"], 1)
        pool.signal()
        self.assert_over(pool, done=1)
        self.assert_ends(pool)

    def test_what_cannot_be_taken_from(self):
        pool = self.start(queues=["a\x01b"])
        self.assert_over(pool, "invalid")
        self.assert_ends(pool)

    def test_options_that_make_no_sense(self):
        for options in ({"concurrency": 1001}, {"concurrency": -1}, {"queues": []},
                        {"best": True, "round_robin": True}, {"grace": -3}, {"idle": -3}):
            pool = self.start(**options)
            self.assertEqual(pool.over()["status"], "invalid", options)
            self.assertEqual(pool.end(), 1)

    def test_signals_do_again_what_they_did(self):
        pool = self.start()
        pool.put("hold", "a", '"draining"')
        pool.next("running")
        pool.signal()
        self.assert_over(pool, done=1)
        pool.signal()
        self.assertEqual(pool.process.wait(LIMIT_S), -signal.SIGTERM)
        pool.end()

    def test_signals_may_be_left_alone(self):
        pool = self.start(no_signals=True)
        pool.put("hold", "a", '"draining"')
        pool.next("running")
        pool.signal()
        self.assertEqual(pool.process.wait(LIMIT_S), -signal.SIGTERM)
        pool.end()


class Process(Tests, TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.url = f"file:{folder.name}/jobs?durability=never"


class Server(Tests, TestCase):
    def setUp(self):
        self.server = RealServer().__enter__()
        self.addCleanup(self.server.__exit__)
        self.url = f"sluice://127.0.0.1:{self.server.port}"

    def test_a_server_that_is_killed_while_jobs_run(self):
        pool = self.start(concurrency=2)
        pool.put("hold", "a", '"go"')
        pool.put("hold", "b", '"go"')
        pool.next("running")
        pool.next("running")
        self.server.kill()
        pool.say("go")
        pool.next("ended")
        pool.next("ended")
        self.server.start_again()
        pool.put("quiet", "c")
        sluiced.until(lambda: pool.call("Q.JOBS", "complete", "COUNT", "0")["total"] == 3,
                      "three jobs that are done")
        self.assertEqual([pool.job(jid)["attempts"] for jid in "abc"], [1, 1, 1])
        pool.signal()
        self.assert_over(pool, done=3)
        self.assert_ends(pool)

    def test_a_server_that_is_killed_while_the_pool_waits(self):
        pool = self.start()
        pool.put("quiet", "a")
        sluiced.until(lambda: pool.job("a")["state"] == "complete", "a job that is done")
        for i in range(3):
            self.server.kill()
            self.server.start_again()
            pool.put("quiet", f"j{i}")
            sluiced.until(lambda: pool.job(f"j{i}")["state"] == "complete", "a job that is done")
        pool.signal()
        self.assert_over(pool, done=4)
        self.assert_ends(pool)

    def test_a_pool_without_its_server_ends_nevertheless(self):
        pool = self.start(grace=0.2, timeout=1, concurrency=2)
        pool.put("hold", "a", '"lost"')
        pool.put("hold", "b", '"lost"')
        pool.next("running")
        pool.next("running")
        self.server.kill()
        pool.signal()
        self.assertEqual({pool.next("lost")["why"] for _ in "ab"}, {"returned"})
        self.assert_over(pool, unsettled=2)
        self.assert_ends(pool)
        self.server.start_again()

    def test_a_job_that_ended_without_its_server(self):
        pool = self.start(grace=0.2, timeout=1)
        pool.put("hold", "a", '"go"')
        pool.next("running")
        self.server.kill()
        pool.say("go")
        pool.next("ended")
        pool.signal()
        self.assert_over(pool, unsettled=1)
        self.assert_ends(pool)
        self.server.start_again()


if __name__ == "__main__":
    sluiced.main()
