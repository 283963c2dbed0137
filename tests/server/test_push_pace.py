#!/usr/bin/python3
"""How fast the server pushes when it should not: what it waits for, and what it says meanwhile."""

import threading
import time

import outside
import sluiced
from test_push import PushTest, until


class Pace(PushTest):
    def test_who_asks_to_be_asked_again_at_once_is_asked_a_second_later(self):
        answers = iter(["0", "Sun, 06 Nov 1994 08:49:37 GMT"])

        def answer(_):
            value = next(answers, None)
            return (429, b"", {"Retry-After": value}) if value else (200, b"", {})

        worker = self.worker(answer)
        self.push(worker, "BACKOFF", "0")
        self.client.put("j1", retries=0)
        self.client.until_state("j1", "complete")
        whens = [request.when for request in worker.requests]
        self.assertEqual(len(whens), 3)
        for before, after in zip(whens, whens[1:]):
            self.assertGreaterEqual(after - before, 0.99)

    def test_a_job_that_cannot_be_sent_does_not_keep_the_server_busy(self):
        go = threading.Event()
        self.addCleanup(go.set)
        slow = self.worker(lambda _: go.wait() and (200, b"", {}))
        self.push(slow, "CONCURRENCY", "1", pattern="Slow")
        self.push(self.worker(), pattern="Idle")
        for jid in ("s1", "s2"):
            self.client.put(jid, klass="Slow")
        until(lambda: slow.requests, "the request")
        before = self.wakeups()
        # A second, by the server's clock.
        self.assertEqual(self.client.do("Q.POP", "app", "w", 1, "WAIT", 1, "nothing"), [])
        self.assertLess(self.wakeups() - before, 200)
        go.set()
        self.client.until_state("s2", "complete")

    def wakeups(self):
        """How often the server's first thread has waited for something."""
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file
                        if line.startswith("voluntary_ctxt_switches"))

    def test_a_flight_that_ends_lets_others_go_at_once_that_stand_behind_jobs_that_cannot(self):
        go = threading.Event()
        self.addCleanup(go.set)
        slow = self.worker(lambda _: go.wait() and (200, b"", {}))
        self.push(slow, "CONCURRENCY", "1", pattern="Slow")
        self.push(self.worker(), "CONCURRENCY", "1", pattern="Fast")
        self.push(self.worker(), pattern="Idle")
        count = 50 if outside.SANITIZED else 200
        for i in range(50):
            self.client.put(f"s{i}", klass="Slow")
        for i in range(count):
            self.client.put(f"f{i}", klass="Fast")
        began = time.monotonic()
        for i in range(count):
            self.client.until_state(f"f{i}", "complete")
        print(f"# {count} jobs behind others in {time.monotonic() - began:.2f} s")
        self.assertEqual(len(slow.requests), 1)


class Delays(PushTest):
    """Workers that answer with 429 and Retry-After."""

    def test_a_job_that_is_always_delayed_does_not_hold_up_the_others(self):
        worker = self.worker(lambda request: (429, b"", {"Retry-After": "1"})
                             if request.task["id"] == "first" else (200, b"", {}))
        self.push(worker, "CONCURRENCY", "1")
        self.client.put("first", priority=10)
        until(lambda: worker.requests, "the first request")
        for jid in ("b", "c", "d", "e"):
            self.client.put(jid)
        for jid in ("b", "c", "d", "e"):
            self.client.until_state(jid, "complete")

    def test_a_long_delay_of_one_job_holds_the_others_no_longer_than_the_cooldown(self):
        worker = self.worker(lambda request: (429, b"", {"Retry-After": "600000"})
                             if request.task["id"] == "first" else (200, b"", {}))
        self.push(worker, "CONCURRENCY", "1", "COOLDOWN", "0.1")
        self.client.put("first", priority=10)
        until(lambda: worker.requests, "the first request")
        self.client.put("b")
        self.client.until_state("b", "complete")
        self.assertEqual(self.client.state("first"), "scheduled")

    def test_a_job_that_only_ever_gets_429_ends_when_its_free_attempts_are_used_up(self):
        worker = self.worker(lambda _: (429, b"slow down", {"Retry-After": "0"}))
        self.push(worker, "FREE-ATTEMPTS", "1")
        self.assertEqual(self.client.push()["free-attempts"], 1)
        self.client.put("j1", retries=0)
        job = self.client.until_state("j1", "failed")
        self.assertEqual(job["failure"]["group"], "push:429")
        self.assertEqual(len(worker.requests), 2)


class Health(PushTest):
    def test_a_push_that_is_always_refused_says_so(self):
        worker = self.worker(lambda _: (400, b"no such thing", {}))
        self.push(worker, "BACKOFF", "0.01")
        self.client.put("j1", retries=1)
        self.client.until_state("j1", "failed")
        entry = self.client.push()
        self.assertEqual(entry["last-error"], "HTTP status 400: no such thing")
        self.assertEqual(entry["breaker"], "closed")
        worker.answer = lambda _: (200, b"", {})
        self.client.put("j2")
        self.client.until_state("j2", "complete")
        self.assertIsNone(self.client.push()["last-error"])


if __name__ == "__main__":
    sluiced.main()
