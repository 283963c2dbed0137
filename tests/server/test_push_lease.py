#!/usr/bin/python3
"""The leases under which the server pushes jobs: how they end, and what the pusher makes of that."""

import signal
import threading
import time
import unittest

import outside
import sluiced
from test_push import PushTest, Talk, Worker, until


class Ends(PushTest):
    """The pusher hears of every end of its lease, whatever the cause."""

    def setUp(self):
        super().setUp()
        # Longer than a test waits: what is not heard of is not made good by time.
        self.client.do("Q.CONFIG.SET", "app", "heartbeat", "3600")

    def accepted(self, jid="j1"):
        """A worker that answers 202 has the one job that may be under way; its token."""
        self.worker_of = self.worker(lambda _: (202, b"", {}))
        self.push(self.worker_of, "CONCURRENCY", "1")
        self.client.put(jid)
        until(lambda: self.client.push()["waiting-for-report"] == 1, "the worker's 202")
        return self.worker_of.requests[0].task["token"]

    def test_a_job_that_its_worker_retries_after_202_is_pushed_again_at_once(self):
        token = self.accepted()
        self.client.do("Q.RETRY", "app", "j1", "@push", "TOKEN", token)
        until(lambda: len(self.worker_of.requests) == 2, "the second request")
        second = self.worker_of.requests[1].task["token"]
        self.assertNotEqual(second, token)
        until(lambda: self.client.push()["waiting-for-report"] == 1, "the second 202")
        self.client.do("Q.COMPLETE", "app", "j1", "@push", "TOKEN", second)
        until(lambda: self.client.push()["running"] == 0, "its end")
        self.assertNotIn("no memory", "".join(self.server.log))

    def test_a_job_that_is_retried_while_its_request_is_open_is_pushed_again_at_once(self):
        gone = threading.Event()

        def answer(request):
            if request.task["attempts"] > 1:
                return 200, b"2", {}
            self.assertEqual(request.handler.connection.recv(1), b"")
            gone.set()

        worker = self.worker(answer)
        self.push(worker, "CONCURRENCY", "1")
        self.client.put("j1")
        until(lambda: worker.requests, "the request")
        self.client.do("Q.RETRY", "app", "j1", "@push", "TOKEN", worker.requests[0].task["token"])
        self.assertEqual(self.client.until_state("j1", "complete")["result"], "2")
        self.assertTrue(gone.wait(sluiced.LIMIT_S))
        self.assertEqual(self.client.push()["running"], 0)

    def test_whatever_ends_a_lease_gives_its_place_to_the_next_job(self):
        token = self.accepted("j0")
        ends = (
            ("Q.RETRY", "app", "j0", "@push", "TOKEN", token, "DELAY", 3600),
            ("Q.FAIL", "app", "j1", "@push", "group", "why"),
            ("Q.COMPLETE", "app", "j2", "@push", "NEXT", "elsewhere", "DELAY", 3600),
            ("Q.CANCEL", "app", "j3"),
            ("Q.PUT", "app", "work", "Work", "{}", "JID", "j4", "DELAY", 3600, "WORKER", "@push"),
            ("Q.REQUEUE", "app", "j5", "work", "Work", "{}", "DELAY", 3600),
            ("Q.BULK", "app", "cancel", "KLASS", "Work", "STATE", "running"),
        )
        for i, words in enumerate(ends):
            self.client.put(f"j{i + 1}")
            self.client.do(*words)
            until(lambda jid=f"j{i + 1}": self.worker_of.seen(jid), f"the job after {words[0]}")
            self.assertEqual(self.client.push()["running"], 1)

    def test_a_job_that_is_timed_out_is_pushed_again(self):
        self.accepted()
        self.client.do("Q.TIMEOUT", "app", "j1")
        until(lambda: len(self.worker_of.requests) == 2, "the second request")
        self.assertEqual(self.client.push()["running"], 1)


class Stall(PushTest):
    def test_a_server_that_stood_still_renews_leases_that_are_in_grace(self):
        go = threading.Event()
        self.addCleanup(go.set)
        worker = self.worker(lambda _: go.wait() and (200, b"1", {}))
        self.client.do("Q.CONFIG.SET", "app", "heartbeat", "0.5")
        self.client.do("Q.CONFIG.SET", "app", "grace-period", "3600")
        self.push(worker)
        self.client.put("j1")
        until(lambda: worker.requests, "the request")
        self.server.process.send_signal(signal.SIGSTOP)
        over = time.time() + 1
        until(lambda: time.time() > over, "the lease to run out")
        self.server.process.send_signal(signal.SIGCONT)
        until(lambda: self.client.job("j1")["lease"]["expires"] > over, "the lease to be renewed")
        go.set()
        self.assertEqual(self.client.until_state("j1", "complete")["result"], "1")
        self.assertEqual(len(worker.requests), 1)
        self.assertEqual(self.client.push()["counts"]["lost"], 0)


class Begun(PushTest):
    def test_a_task_is_running_while_its_request_is_made(self):
        go = threading.Event()
        self.addCleanup(go.set)
        worker = self.worker(lambda _: go.wait() and (200, b"1", {}))
        self.push(worker)
        number = self.client.do("T.PUT", "app", "Work", "[1]")["id"]
        until(lambda: worker.requests, "the request")
        task = self.client.do("T.GET", "app", number)
        self.assertEqual((task["state"], task["attempts"], task["lastRunBy"]),
                         ("running", 1, "@push"))
        self.assertEqual({task[name] for name in ("firstRunAt", "lastRunAt")}, {task["reservedAt"]})
        self.assertIsNotNone(task["reservedAt"])


class Restart(unittest.TestCase):
    """What a server that was killed knows of the jobs that it was pushing."""

    def setUp(self):
        self.server = outside.server("--push-allow-private", "yes")
        self.server.__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)

    def kill(self):
        self.server.process.kill()
        self.server.wait()
        self.server.start()

    def test_a_job_whose_worker_has_begun_but_not_answered_is_sent_again(self):
        end = threading.Event()
        self.addCleanup(end.set)

        def answer(_):
            if len(worker.requests) == 1:
                end.wait()
            return 200, b"1", {}

        with Worker(answer) as worker:
            with Talk(self.server) as client:
                client.do("Q.PUSH.SET", "app", "Work", worker.href)
                client.put("j1")
                until(lambda: worker.requests, "the request")
                client.do("Q.START", "app", "j1", "@push", 4711, "TOKEN",
                          worker.requests[0].task["token"])
            self.kill()
            with Talk(self.server) as client:
                client.until_state("j1", "complete")
            self.assertEqual(len({request.task["token"] for request in worker.requests}), 1)
            self.assertEqual(len(worker.requests), 2)
            end.set()

    def test_a_job_that_was_accepted_is_waited_for_whatever_its_worker_says_of_it(self):
        with Worker(lambda _: (202, b"", {})) as worker:
            with Talk(self.server) as client:
                client.do("Q.PUSH.SET", "app", "Work", worker.href)
                client.put("j1")
                until(lambda: client.push()["waiting-for-report"] == 1, "the worker's 202")
                token = worker.requests[0].task["token"]
                client.do("Q.START", "app", "j1", "@push", 4711, "TOKEN", token)
                client.do("Q.NOTE", "app", "j1", "accepted")
            self.kill()
            with Talk(self.server) as client:
                self.assertEqual(client.push()["waiting-for-report"], 1)
                client.put("j2")
                until(lambda: worker.seen("j2"), "another request")
                self.assertEqual(len(worker.seen("j1")), 1)
                client.do("Q.COMPLETE", "app", "j1", "@push", "TOKEN", token)

    def test_that_another_run_was_accepted_does_not_count(self):
        end = threading.Event()
        self.addCleanup(end.set)

        def answer(request):
            if request.task["attempts"] == 1:
                return 202, b"", {}
            if len(worker.requests) == 2:
                end.wait()
            return 200, b"1", {}

        with Worker(answer) as worker:
            with Talk(self.server) as client:
                client.do("Q.PUSH.SET", "app", "Work", worker.href)
                client.put("j1")
                until(lambda: client.push()["waiting-for-report"] == 1, "the worker's 202")
                client.do("Q.RETRY", "app", "j1", "@push", "TOKEN",
                          worker.requests[0].task["token"])
                until(lambda: len(worker.requests) == 2, "the second request")
            self.kill()
            with Talk(self.server) as client:
                client.until_state("j1", "complete")
            self.assertEqual(len(worker.requests), 3)
            end.set()


if __name__ == "__main__":
    sluiced.main()
