#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a qless client sees over a socket: scripts, calls, errors and messages.

    SLUICE_ADDRESS=host:port test_face.py

The server may have other jobs in it: each test has names of its own.
"""

import hashlib
import json
import os
import unittest
import uuid

import redis

# A script is qless's when it has these classes, and the whole of it when it has QlessAPI and ARGV
# too. This one stands in for qless.lua; no server is to run it.
CLASSES = """
local Qless = {ns = 'ql:'}
Qless.config = {}
local QlessQueue, QlessWorker, QlessJob, QlessRecurringJob = {}, {}, {}, {}
"""
SCRIPT = CLASSES + "local QlessAPI = {} return QlessAPI[ARGV[1]]()"
SHA = hashlib.sha1(SCRIPT.encode()).hexdigest()


def name(kind):
    return f"{kind}-{uuid.uuid4().hex}"


def options_of(test):
    """How to reach the server; a test that has none is skipped."""
    address = os.environ.get("SLUICE_ADDRESS")
    if not address:
        test.skipTest("SLUICE_ADDRESS is not set")
    host, port = address.rsplit(":", 1)
    return {"host": host, "port": int(port), "decode_responses": True, "socket_timeout": 30}


class Closing:
    """A bare connection, for what a client would hide."""

    def __init__(self, options):
        self.connection = redis.Connection(**options)

    def __enter__(self):
        self.connection.connect()
        return self.connection

    def __exit__(self, kind, value, traceback):
        self.connection.disconnect()


class Face(unittest.TestCase):
    def setUp(self):
        self.options = options_of(self)
        self.redis = redis.Redis(**self.options)
        self.addCleanup(self.redis.close)
        self.queue = name("queue")
        self.jid = name("jid")
        self.worker = name("worker")

    def call(self, *words):
        return self.redis.eval(SCRIPT, 0, *words)

    def refused(self, pattern, *words):
        with self.assertRaisesRegex(redis.ResponseError, pattern) as context:
            self.redis.execute_command(*words)
        return str(context.exception)

    def put(self, jid=None, now=0):
        return self.call("put", now, self.worker, self.queue, jid or self.jid, "K", "{}", 0)


class Scripts(Face):
    def test_loaded_script_has_its_sha1_and_is_known_until_scripts_are_flushed(self):
        self.assertEqual(self.redis.script_load(SCRIPT), SHA)
        self.assertEqual(self.redis.script_exists(SHA, "0" * 40), [True, False])
        self.assertEqual(self.redis.evalsha(SHA, 0, "length", 0, self.queue), 0)
        self.redis.script_flush()
        self.assertEqual(self.redis.script_exists(SHA), [False])
        with self.assertRaises(redis.exceptions.NoScriptError):
            self.redis.evalsha(SHA, 0, "length", 0, self.queue)

    def test_script_that_is_not_known_is_refused_in_the_words_that_clients_compare(self):
        sha = hashlib.sha1(b"no such script").hexdigest()
        # The client takes the first word away.
        words = "^No matching script. Please use EVAL.$"
        with self.assertRaisesRegex(redis.exceptions.NoScriptError, words):
            self.redis.evalsha(sha, 0)

    def test_script_that_was_given_to_eval_is_known(self):
        self.redis.script_flush()
        self.assertEqual(self.redis.eval(SCRIPT, 0, "length", 0, self.queue), 0)
        self.assertEqual(self.redis.evalsha(SHA, 0, "length", 0, self.queue), 0)

    def test_sha1_may_be_written_in_capitals(self):
        self.redis.script_load(SCRIPT)
        self.assertEqual(self.redis.evalsha(SHA.upper(), 0, "length", 0, self.queue), 0)

    def test_client_that_loads_when_it_has_to_is_served(self):
        self.redis.script_flush()
        script = self.redis.register_script(SCRIPT)
        self.assertEqual(script(args=["length", 0, self.queue]), 0)

    def test_script_that_is_none_of_qless_s_is_refused(self):
        self.refused(".", "SCRIPT", "LOAD", "return 1")
        self.refused(".", "EVAL", "return 1", 0)

    def test_library_without_the_calls_does_not_answer_them(self):
        self.refused(".", "EVAL", CLASSES, 0, "length", 0, self.queue)


class Calls(Face):
    def test_job_goes_its_way(self):
        self.assertEqual(self.put(), self.jid)
        self.assertEqual(self.call("length", 0, self.queue), 1)
        [job] = json.loads(self.call("pop", 1, self.queue, self.worker, 10))
        self.assertEqual(job, {
            "jid": self.jid, "klass": "K", "state": "running", "queue": self.queue,
            "worker": self.worker, "tracked": False, "priority": 0, "expires": 61, "retries": 5,
            "remaining": 5, "data": "{}", "tags": {}, "failure": {},
            "history": [{"q": self.queue, "what": "put", "when": 0},
                        {"worker": self.worker, "what": "popped", "when": 1}],
            "spawned_from_jid": False, "dependents": {}, "dependencies": {},
        })
        self.assertEqual(self.call("heartbeat", 2.5, self.jid, self.worker), 62)
        answer = self.call("complete", 3, self.jid, self.worker, self.queue, "{}")
        self.assertEqual(answer, "complete")
        self.assertIn(self.jid, self.call("jobs", 3, "complete", 0, 0))
        self.assertIsNone(self.call("get", 3, name("jid")))
        self.assertEqual(self.call("pop", 4, self.queue, self.worker, 10), "{}")

    def test_time_is_the_client_s_and_may_go_back(self):
        self.put(now=1000)
        [job] = json.loads(self.call("pop", 500, self.queue, self.worker, 1))
        self.assertEqual(job["expires"], 560)

    def test_error_is_one_of_a_script_s_at_the_place_where_clients_look_for_it(self):
        text = self.refused("does not exist", "EVAL", SCRIPT, 0, "complete", 0, self.jid,
                            self.worker, self.queue, "{}")
        wanted = r"user_script:\d+:\s*Complete\(\): Job " + self.jid + " does not exist$"
        self.assertRegex(text, wanted)

    def test_error_begins_with_err(self):
        with Closing(self.options) as connection:
            connection.send_command("EVAL", SCRIPT, 0)
            # Of all that are general a client takes only this first word away.
            with self.assertRaisesRegex(redis.ResponseError, "^user_script:"):
                connection.read_response()

    def test_keys_are_refused(self):
        self.refused("No Keys should be provided",
                     "EVAL", SCRIPT, 1, "key", "length", 0, self.queue)

    def test_call_that_is_unknown_is_refused(self):
        self.refused("Unknown command nothing", "EVAL", SCRIPT, 0, "nothing", 0)

    def test_calls_in_a_pipeline_are_answered_in_order(self):
        pipeline = self.redis.pipeline(transaction=False)
        for number in range(100):
            pipeline.eval(SCRIPT, 0, "put", number, self.worker, self.queue,
                          f"{self.jid}-{number}", "K", "{}", 0)
        pipeline.eval(SCRIPT, 0, "length", 0, self.queue)
        jids = [f"{self.jid}-{number}" for number in range(100)]
        self.assertEqual(pipeline.execute(), jids + [100])


class Keys(Face):
    """What clients read by themselves, past the script."""

    def test_queue_s_length_is_the_sum_of_its_sets(self):
        for number in range(4):
            self.put(f"{self.jid}-{number}")
        self.call("pop", 0, self.queue, self.worker, 1)
        self.call("put", 0, self.worker, self.queue, name("jid"), "K", "{}", 60)
        self.call("put", 0, self.worker, self.queue, name("jid"), "K", "{}", 0,
                  "depends", json.dumps([self.jid + "-3"]))
        pipeline = self.redis.pipeline(transaction=True)
        for suffix in "locks", "work", "scheduled", "depends", "recur":
            pipeline.zcard(f"ql:q:{self.queue}-{suffix}")
        self.assertEqual(pipeline.execute(), [1, 3, 1, 1, 0])

    def test_recurring_job_says_when_it_runs_next(self):
        self.call("recur", 1000, self.queue, self.jid, "K", "{}", "interval", 60, 5)
        key = f"ql:q:{self.queue}-recur"
        self.assertEqual(self.redis.zcard(key), 1)
        self.assertEqual(self.redis.zscore(key, self.jid), 1005)
        self.call("pop", 1006, self.queue, self.worker, 1)
        self.assertEqual(self.redis.zscore(key, self.jid), 1065)
        self.assertIsNone(self.redis.zscore(key, name("jid")))
        self.assertIsNone(self.redis.zscore(f"ql:q:{name('queue')}-recur", self.jid))

    def test_database_that_nobody_wrote_to_is_empty(self):
        options = dict(self.options, db=15)
        with Closing(options) as connection:
            connection.send_command("ZCARD", f"ql:q:{self.queue}-work")
            self.assertEqual(connection.read_response(), 0)
            connection.send_command("ZSCORE", f"ql:q:{self.queue}-recur", self.jid)
            self.assertIsNone(connection.read_response())

    def test_other_keys_are_refused(self):
        for key in "ql:q:-work", "ql:q:q-stats", "ql:workers", "other":
            self.refused("UNSUPPORTED", "ZCARD", key)
        self.refused("UNSUPPORTED", "ZSCORE", f"ql:q:{self.queue}-work", self.jid)


class Messages(Face):
    def listen(self, subscribe, *channels):
        pubsub = self.redis.pubsub()
        self.addCleanup(pubsub.close)
        getattr(pubsub, subscribe)(*channels)
        for _ in channels:
            self.assertEqual(pubsub.get_message(timeout=30)["type"], subscribe)
        return pubsub

    def heard(self, pubsub, count):
        """The next messages that are about this test's job."""
        found = []
        while len(found) < count:
            message = pubsub.get_message(timeout=30)
            self.assertIsNotNone(message, f"only {found}")
            if self.jid in str(message["data"]):
                found.append((message["channel"], message["data"]))
        return found

    def test_log_tells_what_happens(self):
        pubsub = self.listen("subscribe", "ql:log")
        self.put()
        self.call("pop", 1, self.queue, self.worker, 1)
        self.call("complete", 2, self.jid, self.worker, self.queue, "{}")
        self.assertEqual(self.heard(pubsub, 2), [
            ("ql:log", f'{{"jid":"{self.jid}","event":"put","queue":"{self.queue}"}}'),
            ("ql:log", f'{{"jid":"{self.jid}","event":"completed","queue":"{self.queue}"}}'),
        ])

    def test_worker_is_told_that_it_lost_its_job(self):
        pubsub = self.listen("subscribe", "ql:w:" + self.worker)
        self.put()
        self.call("pop", 1, self.queue, self.worker, 1)
        self.call("timeout", 2, self.jid)
        self.assertEqual(self.heard(pubsub, 1), [
            ("ql:w:" + self.worker,
             f'{{"jid":"{self.jid}","event":"lock_lost","worker":"{self.worker}"}}'),
        ])

    def test_tracked_job_is_followed_by_channel(self):
        pubsub = self.listen("psubscribe", "ql:[^lw]*")
        self.put()
        self.assertEqual(self.call("track", 0, "track", self.jid), "1")
        self.call("pop", 1, self.queue, self.worker, 1)
        self.call("fail", 2, self.jid, self.worker, "group", "message")
        self.put(now=3)
        self.call("pop", 4, self.queue, self.worker, 1)
        self.call("complete", 5, self.jid, self.worker, self.queue, "{}")
        self.call("track", 6, "untrack", self.jid)
        channels = ["track", "popped", "failed", "put", "popped", "completed", "untrack"]
        self.assertEqual(self.heard(pubsub, len(channels)),
                         [("ql:" + channel, self.jid) for channel in channels])

    def test_client_may_publish_to_itself(self):
        channel = name("channel")
        pubsub = self.listen("subscribe", channel)
        self.assertEqual(self.redis.publish(channel, self.jid), 1)
        self.assertEqual(self.heard(pubsub, 1), [(channel, self.jid)])


if __name__ == "__main__":
    unittest.main()
