#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What clients of qless from before mid-2013 see over a socket: they load a script for each call.

    SLUICE_ADDRESS=host:port test_split.py

Database 1 is theirs; other tests use the namespaces of other databases.
"""

import json
import os
import unittest
import uuid

import redis

# A script is known by the name that its error messages begin with, by a key of qless's and by ARGV;
# pop and peek take jobs from the high end. These texts stand in for the scripts; no server is to
# run them.
NAMES = {
    "cancel": "Cancel", "complete": "Complete", "config": "Config", "depends": "Depends",
    "deregister_workers": "DeregisterWorkers", "fail": "Fail", "failed": "Failed", "get": "Get",
    "heartbeat": "Heartbeat", "jobs": "Jobs", "pause": "Pause", "peek": "Peek", "pop": "Pop",
    "priority": "Priority", "put": "Put", "queues": "Queues", "recur": "Recur", "retry": "Retry",
    "stats": "Stats", "tag": "Tag", "track": "Track", "unfail": "Unfail", "unpause": "Pause",
    "workers": "Workers",
}


def text_of(script):
    command = {"unpause": "srem", "pop": "zrevrange", "peek": "zrevrange"}.get(script, "get")
    return (f"-- {script}\n"
            f"if #ARGV < 0 then error('{NAMES[script]}(): not to be run') end\n"
            f"return redis.call('{command}', 'ql:' .. ARGV[1])\n")


def name(kind):
    return f"{kind}-{uuid.uuid4().hex}"


class Split(unittest.TestCase):
    def setUp(self):
        address = os.environ.get("SLUICE_ADDRESS")
        if not address:
            self.skipTest("SLUICE_ADDRESS is not set")
        host, port = address.rsplit(":", 1)
        self.options = {"host": host, "port": int(port), "decode_responses": True,
                        "socket_timeout": 30, "db": 1}
        self.redis = redis.Redis(**self.options)
        self.addCleanup(self.redis.close)
        self.shas = {}
        self.queue, self.jid, self.worker = name("queue"), name("jid"), name("worker")

    def call(self, script, keys, *words):
        """As such clients do: load the script when it is not known, then call it by its SHA-1."""
        if script not in self.shas:
            self.shas[script] = self.redis.script_load(text_of(script))
        return self.redis.evalsha(self.shas[script], len(keys), *keys, *words)

    def put(self, jid=None, now=0, *options):
        return self.call("put", [self.queue], jid or self.jid, "K", "{}", now, 0, *options)

    def pop(self, now, count=1, worker=None):
        jobs = self.call("pop", [self.queue], worker or self.worker, count, now)
        return [json.loads(job) for job in jobs]

    def get(self, jid=None):
        job = self.call("get", [], jid or self.jid)
        return job and json.loads(job)

    def refused(self, pattern, script, keys, *words):
        with self.assertRaisesRegex(redis.ResponseError, pattern):
            self.call(script, keys, *words)


class Scripts(Split):
    def test_every_script_is_known(self):
        for script in NAMES:
            sha = self.redis.script_load(text_of(script))
            self.assertEqual(self.redis.script_exists(sha), [True])

    def test_script_of_the_time_when_low_priorities_came_first_is_refused(self):
        for script in "pop", "peek":
            text = text_of(script).replace("zrevrange", "zrange")
            with self.assertRaisesRegex(redis.ResponseError, "not a script of qless"):
                self.redis.script_load(text)

    def test_script_may_be_given_to_eval(self):
        self.assertEqual(self.redis.eval(text_of("put"), 1, self.queue, self.jid, "K", "{}", 0, 0),
                         self.jid)
        self.assertEqual(self.get()["state"], "waiting")


class Calls(Split):
    def test_job_goes_its_way(self):
        self.assertEqual(self.put(None, 1000.5, "tags", '["t"]', "retries", 3), self.jid)
        [job] = self.pop(1001)
        self.assertEqual(job, {
            "jid": self.jid, "klass": "K", "state": "running", "queue": self.queue,
            "worker": self.worker, "tracked": False, "priority": 0, "expires": 1061, "retries": 3,
            "remaining": 3, "data": {}, "tags": ["t"], "failure": {}, "dependents": {},
            "dependencies": {},
            "history": [{"q": self.queue, "put": 1000, "popped": 1001, "worker": self.worker}],
        })
        self.assertEqual(
            self.call("heartbeat", [], self.jid, self.worker, 1002, '{"n": 1}'), 1062)
        other = name("queue")
        self.assertEqual(self.call("complete", [], self.jid, self.worker, self.queue, 1003,
                                   '{"n": 2}', "next", other, "delay", 0, "depends", "[]"),
                         "waiting")
        job = self.get()
        self.assertEqual(job["data"], {"n": 2})
        self.assertEqual(job["history"], [
            {"q": self.queue, "put": 1000, "popped": 1001, "worker": self.worker, "done": 1003},
            {"q": other, "put": 1003},
        ])

    def test_worker_that_lost_its_job_is_answered_with_nil(self):
        self.put()
        self.pop(0)
        [job] = self.pop(61, worker="another")
        self.assertEqual((job["worker"], job["remaining"]), ("another", 4))
        self.assertIsNone(self.call("heartbeat", [], self.jid, self.worker, 62))
        self.assertIsNone(self.call("complete", [], self.jid, self.worker, self.queue, 62, "{}"))
        self.assertIsNone(self.call("retry", [], self.jid, self.queue, self.worker, 62))
        self.assertEqual(self.call("complete", [], self.jid, "another", self.queue, 63, "{}"),
                         "complete")
        self.assertIsNone(self.call("fail", [], self.jid, "another", "g", "m", 64))

    def test_failed_jobs_are_shown_whole(self):
        group = name("group")
        self.put()
        self.pop(0)
        self.assertEqual(self.call("fail", [], self.jid, self.worker, group, "no", 5), self.jid)
        failed = json.loads(self.call("failed", [], group, 0, 25))
        self.assertEqual(failed["total"], 1)
        [job] = failed["jobs"]
        self.assertEqual(job["failure"], {"group": group, "message": "no", "when": 5,
                                          "worker": self.worker})
        self.assertEqual(self.call("unfail", [], 6, group, self.queue, 500), 1)
        self.assertEqual(self.get()["state"], "waiting")

    def test_what_is_wrong_is_refused(self):
        self.refused("KEYS", "put", [], self.jid, "K", "{}", 0, 0)
        self.refused("now", "put", [self.queue], self.jid, "K", "{}")
        self.refused("data", "put", [self.queue], self.jid, "K", "[}", 0, 0)
        self.refused("together", "put", [self.queue], self.jid, "K", "{}", 0, 5,
                     "depends", '["x"]')
        self.refused("KEYS", "get", ["key"], self.jid)
        self.put()
        dependent = name("jid")
        self.put(dependent, 0, "depends", json.dumps([self.jid]))
        self.refused(r"Cancel\(\)", "cancel", [], self.jid)
        self.assertIsNone(self.call("cancel", [], dependent))
        self.assertIsNone(self.call("cancel", [], self.jid))
        self.assertIsNone(self.get())

    def test_both_generations_work_in_one_namespace(self):
        unified = ("local Qless = {} Qless.config = {} local QlessQueue, QlessWorker, QlessJob, "
                   "QlessRecurringJob = {}, {}, {}, {} local QlessAPI = {} return ARGV")
        self.put()
        job = json.loads(self.redis.eval(unified, 0, "get", 0, self.jid))
        self.assertEqual(job["history"], [{"q": self.queue, "what": "put", "when": 0}])


class Keys(Split):
    def test_complete_jobs_are_counted_and_jobs_listed_as_keys(self):
        options = dict(self.options, db=2)
        self.redis = redis.Redis(**options)
        self.addCleanup(self.redis.close)
        self.call("config", [], "set", "jobs-history-count", 10)
        for number in range(20):
            self.put(f"{self.jid}-{number}")
        for job in self.pop(0, 20):
            self.call("complete", [], job["jid"], self.worker, self.queue, 1, "{}")
        self.assertEqual(self.redis.zcard("ql:completed"), 10)
        keys = sorted(f"ql:j:{self.jid}-{number}" for number in range(10, 20))
        self.assertEqual(sorted(self.redis.keys("ql:j:*")), keys)
        self.assertEqual(self.redis.keys("ql:j:*-12"), [f"ql:j:{self.jid}-12"])
        self.assertEqual(self.redis.keys("ql:j:nothing"), [])
        self.redis.flushdb()
        self.assertEqual(self.redis.keys("ql:j:*"), [])


class Messages(Split):
    def heard(self, pubsub, count):
        found = []
        while len(found) < count:
            message = pubsub.get_message(timeout=30)
            self.assertIsNotNone(message, f"only {found}")
            if message["type"] == "message" and self.jid in str(message["data"]):
                found.append((message["channel"], message["data"]))
        return found

    def test_tracked_job_is_followed_by_channels_without_a_prefix(self):
        channels = ["canceled", "completed", "failed", "popped", "stalled", "put", "track",
                    "untrack"]
        pubsub = self.redis.pubsub()
        self.addCleanup(pubsub.close)
        pubsub.subscribe(*channels)
        self.put()
        self.assertEqual(self.call("track", [], "track", self.jid, 0), 1)
        self.pop(1)
        self.pop(100)
        self.call("fail", [], self.jid, self.worker, "g", "m", 101)
        self.put(None, 102)
        self.pop(103)
        self.call("complete", [], self.jid, self.worker, self.queue, 104, "{}")
        self.call("track", [], "untrack", self.jid, 105)
        self.assertEqual(self.heard(pubsub, 9), [(channel, self.jid) for channel in (
            "track", "popped", "stalled", "popped", "failed", "put", "popped", "completed",
            "untrack")])

    def test_worker_is_told_on_the_channel_of_its_name(self):
        pubsub = self.redis.pubsub()
        self.addCleanup(pubsub.close)
        pubsub.subscribe(self.worker, "ql:w:" + self.worker)
        self.put()
        self.pop(0)
        self.pop(100, worker="another")
        told = [(channel, json.loads(data)) for channel, data in self.heard(pubsub, 2)]
        self.assertEqual(told, [
            ("ql:w:" + self.worker,
             {"jid": self.jid, "event": "lock_lost", "worker": self.worker}),
            (self.worker, {"jid": self.jid, "event": "lock lost", "worker": self.worker}),
        ])


if __name__ == "__main__":
    unittest.main()
