#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Workers that work as qless's do: processes of their own that pop, heartbeat, complete, retry and
fail through EVALSHA, and hear on ql:w:NAME that they lost a job.

    SLUICE_ADDRESS=host:port test_worker.py

The time is what the workers say it is, so no test waits for a lease to run out. The server may
have other jobs in it: each test has names of its own.
"""

import collections
import concurrent.futures
import json
import multiprocessing
import os
import signal
import unittest

import redis

from test_face import SCRIPT, name, options_of

LEASE_S = 60  # what qless's configuration says unless it is set
GRACE_S = 10
WORKERS = 4
JOBS = 1000


class Client:
    """Calls the script by its SHA-1 and loads it when it has to, as qless's clients do."""

    def __init__(self, options, worker):
        self.redis = redis.Redis(**options)
        self.script = self.redis.register_script(SCRIPT)
        self.worker = worker

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.redis.close()

    def call(self, *words):
        return self.script(args=words)

    def pop(self, now, queue, count=1):
        # What is empty is {} to qless.
        return list(json.loads(self.call("pop", now, queue, self.worker, count)))

    def complete(self, now, job, *words):
        return self.call("complete", now, job["jid"], self.worker, job["queue"], job["data"],
                         *words)


def work(client, now, job):
    """Does what the job's klass says; whether it is done now."""
    if client.call("heartbeat", now, job["jid"], client.worker, job["data"]) != now + LEASE_S:
        raise AssertionError(f"no heartbeat of {job}")
    if job["klass"] == "Flaky" and job["remaining"] > 3:
        client.call("retry", now, job["jid"], job["queue"], client.worker, 0, "flaky", "again")
        return False
    if job["klass"] == "Fails" and not job["failure"]:
        client.call("fail", now, job["jid"], client.worker, job["queue"] + "-Error", "not today")
        return False
    return client.complete(now, job) == "complete"


def drain(options, worker, queue, now):
    """A worker's life: until the queue is empty. Gives the jids of what it has done."""
    with Client(options, worker) as client:
        done = []
        while jobs := client.pop(now, queue, 3):
            done += [job["jid"] for job in jobs if work(client, now, job)]
        return done


def hold(options, worker, queue, now, pipe):
    """Pops jobs, tells which, and never ends by itself."""
    with Client(options, worker) as client:
        pipe.send([job["jid"] for job in client.pop(now, queue, 5)])
        pipe.recv()


class Workers(unittest.TestCase):
    def setUp(self):
        self.options = options_of(self)
        self.queue = name("queue")

    def client(self, worker=None):
        client = Client(self.options, worker or name("worker"))
        self.addCleanup(client.redis.close)
        return client

    def listen(self, client, worker):
        pubsub = client.redis.pubsub()
        self.addCleanup(pubsub.close)
        pubsub.subscribe("ql:w:" + worker)
        self.assertEqual(pubsub.get_message(timeout=30)["type"], "subscribe")
        return pubsub

    def lost(self, pubsub, count):
        """The jids of the next messages, all of which say that a lock was lost."""
        messages = [pubsub.get_message(timeout=30) for _ in range(count)]
        self.assertNotIn(None, messages)
        heard = [json.loads(message["data"]) for message in messages]
        self.assertEqual({message["event"] for message in heard}, {"lock_lost"})
        return {message["jid"] for message in heard}

    def run_workers(self, now):
        """Several processes at once, until the queue is empty; what they have done."""
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
            lives = [pool.submit(drain, self.options, name("worker"), self.queue, now)
                     for _ in range(WORKERS)]
            return [jid for life in lives for jid in life.result(timeout=60)]

    def start_victim(self, worker, now):
        """A process that holds jobs, and their jids."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        victim = context.Process(target=hold, daemon=True,
                                 args=(self.options, worker, self.queue, now, theirs))
        victim.start()
        self.addCleanup(victim.join)
        self.addCleanup(victim.kill)
        self.assertTrue(ours.poll(30))
        return victim, ours.recv()

    def put_all(self, client):
        """Jobs of several kinds and priorities, some of which depend on others."""
        self.assertEqual(client.call("length", 0, self.queue), 0)  # the script is loaded
        pipeline = client.redis.pipeline(transaction=False)
        jids = [f"{self.queue}-{number}" for number in range(JOBS)]
        for number, jid in enumerate(jids):
            klass = {0: "Flaky", 1: "Fails"}.get(number % 10, "Work")
            priority = number % 7 if klass == "Work" else 0
            depends = jids[number - 1:number] if number % 10 == 5 else []
            pipeline.evalsha(client.script.sha, 0, "put", 0, client.worker, self.queue, jid, klass,
                             "{}", 0, "priority", priority, "retries", 5,
                             "depends", json.dumps(depends), "tags", '["many"]')
        self.assertEqual(pipeline.execute(), jids)
        return jids

    def test_every_job_is_done_once_though_a_worker_is_killed(self):
        client, victim_name = self.client(), name("victim")
        jids = self.put_all(client)
        pubsub = self.listen(client, victim_name)
        victim, held = self.start_victim(victim_name, 1)
        self.assertEqual(len(held), 5)

        done = self.run_workers(now=2)
        group = self.queue + "-Error"
        self.assertEqual(json.loads(client.call("failed", 2))[group], JOBS // 10)
        self.assertFalse(set(done) & set(held))

        os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        self.assertEqual(client.call("unfail", 3, self.queue, group, JOBS), JOBS // 10)
        # The first to look makes the server tell the dead worker, and then waits for it a while.
        now = 1 + LEASE_S + 1
        done += self.run_workers(now)
        self.assertEqual(self.lost(pubsub, len(held)), set(held))
        now += GRACE_S + 1
        done += self.run_workers(now)

        counts = collections.Counter(done)
        self.assertEqual(set(counts), set(jids))
        self.assertEqual(set(counts.values()), {1})
        states = {job["state"] for job in json.loads(client.call("multiget", now, *jids))}
        self.assertEqual(states, {"complete"})
        self.assertEqual(client.call("length", now, self.queue), 0)

    def test_worker_that_lost_its_job_hears_of_it_and_has_no_say_any_more(self):
        slow, quick = self.client(), self.client()
        pubsub = self.listen(slow, slow.worker)
        jid = quick.call("put", 0, quick.worker, self.queue, name("jid"), "K", "{}", 0)
        [job] = slow.pop(0, self.queue)
        self.assertEqual(quick.pop(LEASE_S, self.queue), [])
        self.assertEqual(self.lost(pubsub, 1), {jid})
        now = LEASE_S + GRACE_S
        [again] = quick.pop(now, self.queue)
        self.assertEqual((again["jid"], again["remaining"]), (jid, 4))
        for words in (("heartbeat", now, jid, slow.worker, "{}"),
                      ("complete", now, jid, slow.worker, self.queue, "{}"),
                      ("fail", now, jid, slow.worker, "group", "message"),
                      ("retry", now, jid, self.queue, slow.worker, 0)):
            with self.assertRaisesRegex(redis.ResponseError, quick.worker):
                slow.call(*words)
        self.assertEqual(quick.complete(now, again), "complete")
        with self.assertRaisesRegex(redis.ResponseError, "not currently running: complete"):
            slow.complete(now, job)

    def test_worker_that_comes_back_in_time_keeps_its_job(self):
        slow, quick = self.client(), self.client()
        quick.call("put", 0, quick.worker, self.queue, name("jid"), "K", "{}", 0)
        [job] = slow.pop(0, self.queue)
        self.assertEqual(quick.pop(LEASE_S, self.queue), [])
        now = LEASE_S + GRACE_S - 1
        beat = slow.call("heartbeat", now, job["jid"], slow.worker, "{}")
        self.assertEqual(beat, now + LEASE_S)
        self.assertEqual(quick.pop(LEASE_S + GRACE_S, self.queue), [])
        self.assertEqual(slow.complete(now, job), "complete")

    def test_worker_whose_job_is_canceled_or_moved_is_told(self):
        worker, other = self.client(), self.client()
        pubsub = self.listen(other, worker.worker)
        for words in (["cancel", 1], ["put", 1, other.worker, self.queue]):
            jid = other.call("put", 0, other.worker, self.queue, name("jid"), "K", "{}", 0)
            [job] = worker.pop(0, self.queue)
            self.assertEqual(job["jid"], jid)
            other.call(*words, jid, *(["K", "{}", 0] if words[0] == "put" else []))
            message = json.loads(pubsub.get_message(timeout=30)["data"])
            event = "canceled" if words[0] == "cancel" else "lock_lost"
            self.assertEqual((message["event"], message["jid"]), (event, jid))
            with self.assertRaises(redis.ResponseError):
                worker.complete(1, job)

    def test_worker_resumes_what_it_had_when_it_went_down(self):
        worker = name("worker")
        before = self.client(worker)
        jids = {before.call("put", 0, worker, self.queue, name("jid"), "K", "{}", 0)
                for _ in range(3)}
        before.pop(0, self.queue, 3)
        after = self.client(worker)
        held = json.loads(after.call("workers", 1, worker))
        self.assertEqual((set(held["jobs"]), list(held["stalled"])), (jids, []))
        for job in json.loads(after.call("multiget", 1, *held["jobs"])):
            self.assertEqual(after.call("heartbeat", 1, job["jid"], worker, "{}"), 1 + LEASE_S)
            self.assertEqual(after.complete(1, job), "complete")


if __name__ == "__main__":
    unittest.main()
