#!/usr/bin/python3
"""The machine's clock is set while the server runs, and while it does not."""

import contextlib
import http.client
import json
import mmap
import os
import re
import struct
import tempfile
import time

import outside
import sluiced
import test_push
from sluiced import until

HOUR = 3600.0
WAIT = 31.0  # longer than a step has to last


class Clock:
    """What a process sees of the clocks: how far the wall clock was set, what time has passed."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="sluice-clock-")
        self.file.write(bytes(16))
        self.file.flush()
        self.map = mmap.mmap(self.file.fileno(), 16)
        self.wall = self.passed = 0.0

    def write(self):
        self.map[:] = struct.pack("=qq", int(self.wall * 1e6), int(self.passed * 1e6))

    def set(self, wall):
        self.wall = wall
        self.write()

    def wait(self, seconds):
        """Time passes, for both clocks."""
        self.passed += seconds
        self.write()

    @property
    def environment(self):
        return {"LD_PRELOAD": os.environ["SET_CLOCK_LIBRARY"], "SET_CLOCK": self.file.name}

    def now(self):
        return time.time() + self.wall + self.passed


class ClockTest(sluiced.unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.clock = Clock()
        self.server = self.stack.enter_context(
            sluiced.Server("--segment-size", "1M", "--reserve-size", "1M", *self.FLAGS,
                           **self.clock.environment))
        self.client = self.stack.enter_context(sluiced.Client(self.server))
        self.client.ask("HELLO", "3")

    FLAGS = ()

    def figure(self, name):
        return outside.figure(self.client, "server", name)

    def step(self, wall):
        """Sets the wall clock, and waits until the server has seen it."""
        seen = self.figure("clock_steps")
        self.clock.set(wall)
        until(lambda: self.figure("clock_steps") > seen, "the step")

    def take_back(self):
        ignored = self.figure("clock_steps_ignored")
        self.clock.set(0)
        until(lambda: self.figure("clock_steps_ignored") > ignored, "the end of the step")

    def follow(self, wall):
        """The same, and it lasts until the server follows it."""
        self.step(wall)
        followed = self.figure("clock_steps_followed")
        self.clock.wait(WAIT)
        until(lambda: self.figure("clock_steps_followed") > followed, "the step to be followed")

    def ahead(self):
        """How far the server's time is ahead of where it would be had no clock been set."""
        said = self.figure("server_time_usec") / 1e6
        return said - (self.clock.now() - self.clock.wall)

    def ns_ahead(self):
        return float(self.member("ahead", "Q.CLOCK", "app"))

    def call(self, *words):
        reply = self.client.ask(*words)
        self.assertFalse(reply.startswith("-"), reply)
        return reply

    def member(self, name, *words):
        """What a map in the reply says, as it stands there."""
        return re.search(f'"{name}": ([:,]?)([^,}}]*)', self.call(*words)).group(2)

    def state(self, jid):
        return self.member("state", "Q.GET", "app", jid).strip('"')

    def until_state(self, jid, wanted):
        until(lambda: self.state(jid) == wanted, f"{jid} {wanted}")

    def put(self, jid, *more):
        self.call("Q.PUT", "app", "mail", "Send", "{}", "JID", jid, *more)

    def pop(self, jid):
        self.assertIn(f'"jid": "{jid}"', self.call("Q.POP", "app", "w1", "1", "mail"))

    def restart(self):
        self.client.close()
        self.server.restart()
        self.client = self.stack.enter_context(sluiced.Client(self.server))
        self.client.ask("HELLO", "3")


class Steps(ClockTest):
    def check_that_time_passes(self):
        """A delay, a lease and a recurring job, each of ten minutes."""
        self.call("Q.CONFIG.SET", "app", "heartbeat", "600")
        self.call("Q.CONFIG.SET", "app", "grace-period", "0")
        self.put("leased", "PRIORITY", "-1")
        self.pop("leased")
        self.put("delayed", "DELAY", "600")
        self.call("Q.RECUR", "app", "each", "chores", "Poll", "{}", "INTERVAL", "600")
        until(lambda: self.call("Q.LENGTH", "app", "chores") == ":1", "the first run")
        self.assertEqual(self.state("leased"), "running")
        self.assertEqual(self.state("delayed"), "scheduled")
        self.clock.wait(601)
        self.until_state("delayed", "waiting")
        self.until_state("leased", "stalled")
        until(lambda: self.call("Q.LENGTH", "app", "chores") == ":2", "the second run")

    def test_a_step_that_is_taken_back_has_no_effect_and_is_logged(self):
        for wall, text in ((HOUR, "wall=+3600.0s"), (-HOUR, "wall=-3600.0s")):
            self.put("before", "DELAY", "600")
            self.step(wall)
            self.put("during", "DELAY", "600")
            self.take_back()
            self.assertAlmostEqual(self.ahead(), 0, delta=5)
            self.assertEqual(self.state("before"), "scheduled")
            self.assertEqual(self.state("during"), "scheduled")
            self.clock.wait(601)
            self.until_state("before", "waiting")
            self.until_state("during", "waiting")
            self.assertIn("action=waiting", self.server.hear(text))
            self.server.hear(f"clock step {text} action=ignored")
            self.call("Q.CANCEL", "app", "before", "during")
        self.assertEqual(self.figure("clock_steps_followed"), 0)
        self.check_that_time_passes()

    def test_nothing_is_frozen_after_a_restart_either(self):
        self.step(HOUR)
        self.put("during", "DELAY", "600")
        self.restart()  # the clock is still ahead, and the server begins with it
        self.assertAlmostEqual(self.ahead(), HOUR, delta=5)
        self.put("wrong")
        self.clock.set(0)
        self.restart()
        # What was stored lies an hour ahead now. It is logged, and ends by itself.
        self.server.hear("its time lies ahead of the clock")
        self.assertGreater(self.ns_ahead(), HOUR - 600)
        self.clock.wait(WAIT)
        self.server.hear("its time was set back")
        until(lambda: self.ns_ahead() == 0, "the time to be right")
        self.check_that_time_passes()

    def test_an_administrator_repairs_a_namespace_that_is_ahead_at_once(self):
        self.clock.set(HOUR)
        self.restart()
        self.put("wrong")
        self.clock.set(0)
        self.restart()
        self.assertGreater(self.ns_ahead(), HOUR - 600)
        self.assertTrue(self.call("Q.CLOCK.REPAIR", "app").startswith(",3"))
        self.assertEqual(self.ns_ahead(), 0)
        self.check_that_time_passes()
        # And it is stored: after a restart it stays right.
        self.restart()
        self.assertEqual(self.call("Q.CLOCK.REPAIR", "app"), ",0")

    def test_the_repair_is_there_over_http(self):
        self.clock.set(HOUR)
        self.restart()
        self.put("wrong")
        self.clock.set(0)
        self.restart()
        web = http.client.HTTPConnection("127.0.0.1", self.server.http_port)
        self.addCleanup(web.close)
        web.request("GET", "/v1/ns/app/clock")
        said = json.load(web.getresponse())
        self.assertGreater(said["ahead"], HOUR - 600)
        web.request("POST", "/v1/ns/app/clock/repair", "{}",
                    {"Content-Type": "application/json"})
        said = json.load(web.getresponse())
        self.assertGreater(said["ahead"], HOUR - 600)
        web.request("GET", "/v1/ns/app/clock")
        self.assertEqual(json.load(web.getresponse())["ahead"], 0)

    def test_a_lasting_step_is_followed_in_both_directions(self):
        for wall in (HOUR, 0.0, -HOUR, 0.0):
            self.follow(wall)
            self.assertAlmostEqual(self.ahead(), wall, delta=5)
            self.server.hear("action=followed")
        self.check_that_time_passes()

    def test_leases_keep_the_time_that_they_have_left(self):
        self.call("Q.CONFIG.SET", "app", "heartbeat", "1000")
        for wall in (HOUR, 0.0):
            jid = f"leased-{wall}"
            self.put(jid)
            self.pop(jid)
            self.follow(wall)
            self.assertEqual(self.state(jid), "running")
            self.clock.wait(1000)  # the grace period too
            self.until_state(jid, "stalled")
            self.pop(jid)
            self.call("Q.COMPLETE", "app", jid, "w1")

    def test_a_recurring_job_makes_no_flood_of_jobs(self):
        self.call("Q.RECUR", "app", "each", "chores", "Poll", "{}", "INTERVAL", "1")
        self.call("Q.RECUR", "app", "cron", "chores", "Poll", "{}", "CRON", "* * * * * *")
        until(lambda: self.call("Q.LENGTH", "app", "chores") not in (":0", ":1"), "the first runs")
        self.follow(HOUR)
        until(lambda: '"each' in self.call("Q.PEEK", "app", "chores", "1"), "a run")
        # A step lasts for WAIT seconds, in which runs are due, and tests take their time too.
        self.assertLess(int(self.call("Q.LENGTH", "app", "chores")[1:]), 1000)

        def runs(name):
            return self.member("count", "Q.RECUR.GET", "app", name)

        self.follow(0.0)
        for name in ("each", "cron"):
            before = runs(name)
            until(lambda: runs(name) != before, f"the next run of {name}")

    def test_jobs_keep_their_order_when_the_time_goes_back(self):
        self.follow(HOUR)
        self.put("first")
        self.follow(0.0)
        self.put("second")
        self.restart()
        self.put("third")
        for jid in ("first", "second", "third"):
            self.pop(jid)

    def test_rates_go_on_when_the_time_goes_back(self):
        self.follow(HOUR)
        self.call("Q.LIMIT.SET", "app", "QUEUE", "mail", "RATE", "1", "PERIOD", "600", "BURST", "1")
        self.put("first")
        self.put("second")
        self.pop("first")
        self.call("Q.COMPLETE", "app", "first", "w1")
        self.follow(0.0)
        self.assertEqual(self.call("Q.POP", "app", "w1", "1", "mail"), "[]")
        self.clock.wait(600)
        until(lambda: '"second"' in self.call("Q.POP", "app", "w1", "1", "mail"), "a token")

    def test_metrics_and_info_show_the_step(self):
        self.step(HOUR)
        self.assertGreater(self.figure("clock_wall_offset_usec"), 3.5e9)
        web = http.client.HTTPConnection("127.0.0.1", self.server.http_port)
        self.addCleanup(web.close)
        web.request("GET", "/metrics")
        page = web.getresponse().read().decode()
        self.assertIn("sluice_clock_wall_offset_seconds 3", page)
        self.assertIn('sluice_clock_steps_total{action="followed"} 0', page)
        self.assertEqual(self.member("step_pending", "Q.CLOCK", "app"), "#t")

    def test_connections_are_not_closed_by_a_step(self):
        self.follow(24 * HOUR)
        self.follow(0.0)
        self.call("PING")


class Push(ClockTest):
    """What the server waits for while it pushes jobs comes when it would have come."""

    FLAGS = ("--push-allow-private", "yes")

    def worker(self, answer):
        worker = test_push.Worker(answer)
        self.addCleanup(worker.__exit__)
        return worker

    def test_a_breaker_opens_again_after_its_time_whatever_the_clock_does(self):
        answers = [500]
        worker = self.worker(lambda _: (answers[0], b"", {}))
        self.call("Q.PUSH.SET", "app", "Send", worker.href, "FAILURES", "1", "COOLDOWN", "600",
                  "BACKOFF", "1")
        self.follow(HOUR)
        self.put("pushed")
        until(lambda: self.member("breaker", "Q.PUSHES", "app") == '"open"', "the breaker")
        sent = len(worker.requests)
        self.follow(0.0)
        self.assertEqual(self.member("breaker", "Q.PUSHES", "app"), '"open"')
        self.assertEqual(len(worker.requests), sent)
        answers[0] = 200
        # The retry is a delay, and keeps its moment.
        self.call("Q.BULK", "app", "retry", "STATE", "scheduled")
        self.clock.wait(600)
        self.until_state("pushed", "complete")

    def test_a_worker_that_has_answered_202_has_its_time_whatever_the_clock_does(self):
        worker = self.worker(lambda _: (202, b"", {}))
        # The loop's own timers, which renew a lease, know nothing of the time that passes here.
        self.call("Q.CONFIG.SET", "app", "heartbeat", "3600")
        self.call("Q.PUSH.SET", "app", "Send", worker.href, "REPORT-WITHIN", "1800")
        self.put("pushed")
        for wall in (HOUR, 0.0):
            until(lambda: self.member("waiting-for-report", "Q.PUSHES", "app") == "1", "the 202")
            self.follow(wall)
            self.assertEqual(self.state("pushed"), "running")
        self.assertEqual(len(worker.requests), 1)
        self.call("Q.COMPLETE", "app", "pushed", "@push")
        self.until_state("pushed", "complete")


class Logins(ClockTest):
    FLAGS = ("--password", "sesame")

    def setUp(self):
        super().setUp()
        self.client.expect("AUTH sesame", "+OK")
        self.client.ask("HELLO", "3")

    def test_a_step_neither_ends_a_lock_out_nor_prolongs_it(self):
        guesser = self.stack.enter_context(sluiced.Client(self.server))

        def guess():
            return guesser.ask("AUTH", "wrong")

        for wall in (24 * HOUR, -24 * HOUR):
            refused = until(lambda: re.search("try again in ([0-9]+) seconds", guess()), "it")
            began, seconds = time.monotonic(), int(refused.group(1))
            self.clock.set(wall)
            said = guess()
            # A lock-out is a matter of seconds, which may be over on a machine that is busy.
            if "too many failed logins" not in said:
                self.assertGreaterEqual(time.monotonic() - began + 1, seconds)
            until(lambda: not guess().startswith("-ERR too many"), "the end of the lock-out")
            self.clock.set(0)


if __name__ == "__main__":
    sluiced.main()
