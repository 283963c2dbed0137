#!/usr/bin/python3
"""The tool in a namespace of qless: jobs that clients of qless put, delay, take and cancel."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients"))
import sluiced  # noqa: E402
from test_work import WorkCase, gone  # noqa: E402

# As little as makes a script one of qless's: the unified one, and those that make one call.
UNIFIED = ("local Qless = {} Qless.config = {} local QlessQueue, QlessWorker, QlessJob, "
           "QlessRecurringJob = {}, {}, {}, {} local QlessAPI = {} return ARGV")


def split(script):
    return f"error('{script}(): not to be run') redis.call('zrevrange', 'ql:' .. ARGV[1])"


class Qless(WorkCase):
    def setUp(self):
        super().setUp()
        self.url = f"sluice://127.0.0.1:{self.server.port}/qless"

    def call(self, name, *words):
        return self.c.ask("EVAL", UNIFIED, 0, name, repr(time.time()), *words)

    def put(self, jid, delay=0, *_words, **_options):
        return self.call("put", "client", self.queue, jid, "Do", "{}", delay)

    def finished(self, jid):
        self.assertIsNotNone(self.c.ask("Q.WAIT", "qless", jid, "TIMEOUT", sluiced.LIMIT_S), jid)
        return json.loads(self.call("get", jid))

    def test_a_worker_does_what_falls_due(self):
        worker = self.shell("exit 0")
        self.put("at-once")
        self.put("later", 0.3)
        self.c.ask("EVAL", split("Put"), 1, self.queue, "split", "Do", "{}", repr(time.time()), 0.3)
        self.call("recur", self.queue, "every", "Do", "{}", "interval", 60, 0.3)
        for jid in "at-once", "later", "split", "every-1":
            self.assertEqual(self.finished(jid)["state"], "complete")
        self.call("unrecur", "every")
        worker.signal(signal.SIGTERM)
        worker.wait()

    def test_a_worker_does_what_a_client_of_qless_lost(self):
        for option in "heartbeat", "grace-period":
            self.call("config.set", option, 0.3)
        self.put("lost")
        self.assertEqual(len(json.loads(self.call("pop", self.queue, "dead", 1))), 1)
        self.call("config.set", "heartbeat", 60)
        worker = self.shell("exit 0")
        self.assertEqual(self.finished("lost")["remaining"], 5)
        self.call("config.unset", "grace-period")
        worker.signal(signal.SIGTERM)
        worker.wait()

    def test_a_job_that_a_client_of_qless_cancels_is_ended(self):
        for number, cancel in enumerate((lambda jid: self.call("cancel", jid),
                                         lambda jid: self.c.ask("EVAL", split("Cancel"), 0, jid))):
            out = f"out-{number}"
            self.put(out)
            worker = self.shell('echo $$ >"$OUT"; exec sleep 1000', "--count", 1,
                                env={"OUT": self.path(out)}, state=f"state-{number}")
            pid = self.pid(out)
            cancel(out)
            gone(pid)
            worker.wait()

    def test_events_tell_of_the_jobs(self):
        self.call("length", self.queue)
        with subprocess.Popen([os.environ["SLUICE"], "events", "--url", self.url, "--json"],
                              stdout=subprocess.PIPE, text=True) as events:
            try:
                log = "sluice:qless:log"
                sluiced.until(lambda: self.c.ask("PUBSUB", "NUMSUB", log)[log])
                self.put("told")
                event = json.loads(events.stdout.readline())
                self.assertEqual((event["event"], event["jid"]), ("put", "told"))
            finally:
                events.terminate()


if __name__ == "__main__":
    sluiced.main()
