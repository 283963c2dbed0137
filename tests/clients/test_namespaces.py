#!/usr/bin/python3
"""Namespaces, and what is left of everything after a restart."""

import os
import re
import signal
import time

import sluiced


class Namespaces(sluiced.TestCase):
    def names(self, client):
        reply = client.ask("KEYS *")
        return reply.strip("[]").replace('"', "").split(", ") if reply != "[]" else []

    def test_one_comes_to_be_with_the_first_change_and_not_by_reading(self):
        c = self.client()
        c.expect("Q.GET reads a", "[nil]")
        c.expect("Q.QUEUES reads", '["total", :0, "queues", [], "next", nil]')
        self.assertNotIn("reads", self.names(c))
        c.expect("Q.PUT writes q k {} JID a", '"a"')
        self.assertIn("writes", self.names(c))

    def test_a_refused_command_creates_none(self):
        c = self.client()
        before = self.names(c)
        for command in ("Q.PUT n0 q K not-json", "Q.PUT n1", "Q.PUT n2 q K {} PRIORITY x",
                        "Q.FAIL n3 a w g m", "Q.COMPLETE n4 a w", "Q.HEARTBEAT n5 a w",
                        "Q.CONFIG.SET n6 hartbeat 3", "Q.TAG n7 a t", "Q.RECUR n8 q r K {} CRON x",
                        "Q.CANCEL n9 a", "Q.BULK n10 explode", "Q.LIMIT.SET n11 q RATE x"):
            c.ask(command)
        for i in range(1500):  # more than max-namespaces
            c.send("Q.FAIL", f"refused{i}", "a", "w", "g", "m")
        for i in range(1500):
            c.hear('-NOT_FOUND job a does not exist')
        self.assertEqual(self.names(c), before)
        c.expect("Q.PUT accepted q K {} JID a", '"a"')
        self.assertEqual(self.names(c), [*before, "accepted"])

    def test_nothing_crosses(self):
        c = self.client()
        c.expect("Q.PUT one q k {} JID a", '"a"')
        c.expect("Q.PUT two q k [] JID a", '"a"')
        c.expect("Q.CANCEL one a", ":1")
        c.expect("Q.CANCEL one a", ":0")
        c.expect("Q.CANCEL two a", ":1")

    def test_a_deleted_one_is_gone_and_its_name_can_be_used_again(self):
        c = self.client()
        for i in range(3000):
            c.send("Q.PUT", "old", "q", "k", "{}", "JID", f"job-{i}")
        for i in range(3000):
            c.hear(f'"job-{i}"')
        c.expect("Q.NAMESPACE.DELETE old", "+OK")
        self.assertNotIn("old", self.names(c))
        c.expect("Q.GET old job-1", "[nil]")
        c.expect("Q.NAMESPACE.DELETE old", "-NOT_FOUND ...")
        c.expect("Q.PUT old q k {} JID new", '"new"')
        c.expect("Q.LENGTH old q", ":1")
        self.server.restart()
        c = self.client()
        c.expect("Q.LENGTH old q", ":1")
        c.expect("Q.GET old job-1", "[nil]")
        c.expect("Q.CANCEL old new", ":1")

    def test_the_holder_of_a_lease_in_a_deleted_one_holds_none_in_the_next(self):
        c = self.client()
        tokens = []
        for _ in range(3):
            c.expect("Q.PUT leases q k {} JID a", '"a"')
            popped = c.ask("Q.POP leases w 1 q")
            tokens.append(int(re.search(r'"token", :(\d+)', popped).group(1)))
            for old in tokens[:-1]:
                c.expect(f"Q.COMPLETE leases a w TOKEN {old}", "-STALE ...")
            c.expect("Q.NAMESPACE.DELETE leases", "+OK")
            if len(tokens) == 2:
                self.server.restart()
                c = self.client()
        self.assertEqual(tokens, sorted(set(tokens)))

    def test_a_name_must_be_one(self):
        c = self.client()
        c.expect(("Q.PUT", "", "q", "k", "{}"), "-INVALID Q.PUT: its first argument is a ...")
        c.expect(("Q.PUT", "n" * 256, "q", "k", "{}"), "-INVALID Q.PUT: its first argument is a ...")
        c.expect("Q.PUT", "-INVALID Q.PUT: its first argument is a ...")


class Guarded(sluiced.TestCase):
    flags = ("--create-namespaces", "no", "--max-namespaces", "2")

    def test_a_setting_forbids_new_ones(self):
        c = self.client()
        c.expect("Q.PUT app q k {} JID a", '-NOT_FOUND there is no namespace "app", and ...')
        c.expect("Q.NAMESPACE.CREATE app", "+OK")
        c.expect("Q.NAMESPACE.CREATE app", "-EXISTS ...")
        c.expect("Q.PUT app q k {} JID a", '"a"')
        c.expect("Q.NAMESPACE.CREATE other CLOCK client", "+OK")
        c.expect("Q.NAMESPACE.CREATE third", "-TOO_LARGE ...")
        c.expect("FLUSHALL", "-...")


class Restart(sluiced.TestCase):
    flags = ("--durability", "interval:50")

    def kill(self):
        self.server.process.send_signal(signal.SIGKILL)
        self.assertEqual(self.server.wait(), -signal.SIGKILL)

    def lease(self, c, ns, heartbeat):
        c.expect(f"Q.CONFIG.SET {ns} heartbeat {heartbeat}", "+OK")
        c.expect(f"Q.CONFIG.SET {ns} grace-period 0", "+OK")
        c.expect(f"Q.PUT {ns} q k {{}} JID a", '"a"')
        self.assertIn('"a"', c.ask(f"Q.POP {ns} w 1 q"))

    def test_time_without_a_server_costs_nobody_a_lease(self):
        c = self.client()
        self.lease(c, "leases", 3)
        self.kill()
        time.sleep(3.1)  # the lease has run out by then: time itself is what is tested
        self.server.start()
        c = self.client()
        c.expect("Q.POP leases thief 1 q", "[]")
        c.expect("Q.COMPLETE leases a w", '"complete"')

    def test_a_lease_that_is_not_used_after_it_is_lost(self):
        c = self.client()
        self.lease(c, "lost", 0.2)
        self.kill()
        self.server.start()
        c = self.client()
        self.assertIn('"a"', c.ask("Q.POP lost next 1 WAIT 60 q"))
        c.expect("Q.COMPLETE lost a w", "-STALE ...")

    def test_all_that_is_known_is_known_again(self):
        c = self.client()
        c.expect("Q.PUT all q k {} JID a TAG t PRIORITY 7 DELAY 1000", '"a"')
        c.expect("Q.RECUR all r q k {} INTERVAL 3600", "+OK")
        c.expect("Q.LIMIT.SET all QUEUE q CONCURRENCY 3", "+OK")
        c.expect("Q.TRACK all a", ":1")
        asks = ["Q.GET all a", "Q.RECUR.GET all r", "Q.LIMITS all", "Q.TRACKED all",
                "Q.CONFIG.GET all", "Q.TAGGED all t"]
        before = [c.ask(request) for request in asks]
        self.server.restart()
        c = self.client()
        self.assertEqual([c.ask(request) for request in asks], before)
        self.kill()
        self.server.start()
        c = self.client()
        self.assertEqual([c.ask(request) for request in asks], before)

    def test_a_second_server_is_told_who_has_the_folder(self):
        second = sluiced.Server("--data", self.server.path("data"))
        with self.assertRaisesRegex(AssertionError, "is open in process"):
            second.start()
        self.assertEqual(second.process.wait(), 1)
        second.process.stderr.close()
        os.rmdir(second.folder)


if __name__ == "__main__":
    sluiced.main()
