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
