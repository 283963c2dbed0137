#!/usr/bin/python3
"""Leases that a helper thread of libsluice renews, at a real sluiced."""

from real import PUT, TestCase, sluiced
from shell import LIMIT_S


class Keeping(TestCase):
    """Leases without a grace, and long enough for a slow disk and a machine that is busy: a third of
    one may pass before a heartbeat is sent, and the rest is for it to arrive."""

    LEASE_S = 6

    def setUp(self):
        super().setUp()
        self.open()
        self.open("other", worker="other")
        self.set_lease(self.LEASE_S)

    def keep(self, jid):
        self.put(jid)
        self.take(jid)
        self.shell.ok("keepalive", jid)

    def assert_lost(self, jid, why):
        self.assertEqual(self.shell.lost.get(timeout=LIMIT_S), {"jid": jid, "why": why})
        self.assertEqual(self.shell.ok("show", jid)["lost"], why)

    def test_without_it_a_lease_runs_out(self):
        self.put("a")
        self.take("a", "1")
        self.take("a", "2", handle="other")
        self.assertEqual(self.shell.status("heartbeat", "1"), "stale")
        self.assertEqual(self.shell.ok("show", "1")["lost"], "lost")
        self.assertEqual(self.shell.status("done", "1", None), "stale")
        self.shell.ok("done", "2", None)

    def test_with_it_the_jobs_are_ours_longer_than_a_lease(self):
        names = [f"j{i}" for i in range(20)]
        self.shell.ok("put_many", "q", [{**PUT, "jid": name} for name in names])
        self.shell.ok("take", "q", {"queues": ["q"], "count": len(names)}, "j")
        self.outlive_the_lease(*names)
        self.assertTrue(self.shell.lost.empty())
        for name in names:
            self.shell.ok("done", name, None)
            self.shell.ok("free", name)
            self.assertEqual(self.field(name, "attempts"), 1)

    def test_it_ends_with_the_job(self):
        self.keep("a")
        self.free("a")
        self.take("a", "again", handle="other")
        self.shell.ok("keepalive", "again")
        self.shell.ok("retry", "again", 0, None, None)
        self.take("a", "third", handle="other")
        self.assertTrue(self.shell.lost.empty())

    def test_canceled(self):
        self.keep("a")
        self.shell.ok("cancel", "other", "a")
        self.assert_lost("a", "canceled")
        self.assertEqual(self.shell.status("done", "a", None), "not_found")

    def test_taken_away(self):
        self.keep("a")
        self.shell.ok("put", "other", {**PUT, "jid": "a", "queue": "elsewhere"})
        self.assert_lost("a", "lost")
        self.keep("b")
        self.shell.ok("put", "other", {**PUT, "jid": "b", "delay": 100})
        self.assert_lost("b", "lost")

    def test_it_ran_too_long(self):
        self.put("a", timeout=1)
        self.take("a")
        self.shell.ok("keepalive", "a")
        self.assert_lost("a", "lost")

    def test_one_of_many(self):
        for jid in ("a", "b", "c"):
            self.keep(jid)
        self.shell.ok("cancel", "other", "b")
        self.assert_lost("b", "canceled")
        for jid in ("a", "c"):
            self.shell.ok("done", jid, None)
        self.assertTrue(self.shell.lost.empty())

    def test_under_several_names(self):
        for worker in ("w1", "w2"):
            self.put(worker)
            self.shell.ok("take", "q", {"queues": ["q"], "count": 1, "worker": worker}, worker)
            self.addCleanup(self.shell.ask, "free", worker + "0")
        self.outlive_the_lease("w10", "w20")
        self.shell.ok("cancel", "other", "w2")
        self.assertEqual(self.shell.lost.get(timeout=LIMIT_S), {"jid": "w2", "why": "canceled"})
        self.shell.ok("done", "w10", None)

    def test_it_is_asked_for_while_it_is_settled(self):
        """Heartbeats that come after the end say nothing of a loss."""
        for i in range(50):
            self.keep(f"j{i}")
            self.shell.ok("done", f"j{i}", None)
        self.assertTrue(self.shell.lost.empty())
        self.assertEqual({self.shell.ok("show", f"j{i}")["lost"] for i in range(50)}, {"kept"})

    def test_through_a_kill(self):
        """Attempts to find a server that is gone come up to two seconds after one another."""
        self.set_lease(10)
        self.put("a")
        self.take("a")
        self.shell.ok("keepalive", "a")
        self.server.kill()
        self.server.start_again()
        self.outlive_the_lease("a")
        self.shell.ok("done", "a", "1")
        self.assertEqual(self.field("a", "attempts"), 1)
        self.assertTrue(self.shell.lost.empty())


if __name__ == "__main__":
    sluiced.main()
