#!/usr/bin/python3
"""Calls that do not block, and the descriptor that says when they have ended: on a server and in the
process."""

from both import both
from real import PUT, TestCase, sluiced
from shell import LIMIT_S

FOREVER = -1


class Opened:
    def setUp(self):
        super().setUp()
        self.open(worker="w")
        self.shell.ok("async_new", "q", "async")
        self.addCleanup(self.shell.ask, "async_free", "async")

    def readable(self, seconds=LIMIT_S, handle="async"):
        return self.shell.ok("async_poll", handle, seconds)["readable"]

    def finish(self, handle="async"):
        self.assertTrue(self.readable(handle=handle))
        return self.shell.ask("async_finish", handle)

    def forget(self, *names):
        for name in names:
            self.shell.ok("free", name)


@both
class Calls(Opened):
    def test_a_job_that_comes_later(self):
        self.shell.ok("async_take", "async", ["q", "other"], 2, FOREVER)
        self.assertFalse(self.readable(0.05))
        self.assertEqual(self.shell.status("async_finish", "async"), "busy")
        self.put("a")
        answer = self.finish()
        self.assertEqual((answer["status"], answer["jobs"]), ("ok", ["a"]))
        self.assertFalse(self.readable(0))
        self.assertEqual(self.shell.status("async_finish", "async"), "state")
        self.shell.ok("async_settle", "async", ["a"], [{"verdict": "done", "result": "7"}])
        answer = self.finish()
        self.assertEqual((answer["status"], answer["results"]), ("ok", [["ok", "a", ""]]))
        self.assertEqual(self.field("a", "result"), 7)
        self.forget("a")

    def test_jobs_that_are_there(self):
        for jid in ("a", "b", "c"):
            self.put(jid)
        self.shell.ok("async_take", "async", ["q"], 10, 0)
        self.assertEqual(self.finish()["jobs"], ["a", "b", "c"])
        self.shell.ok("async_take", "async", ["q"], 10, 0)
        self.assertEqual(self.finish()["status"], "timed_out")
        self.forget("a", "b", "c")

    def test_the_handle_may_go_before_its_jobs(self):
        self.put("a")
        self.shell.ok("async_new", "q", "short")
        self.shell.ok("async_take", "short", ["q"], 1, 0)
        self.assertEqual(self.finish("short")["jobs"], ["a"])
        self.shell.ok("async_free", "short")
        self.shell.ok("keepalive", "a")
        self.shell.ok("done", "a", "1")
        self.forget("a")

    def test_a_result_that_comes_later(self):
        self.put("a")
        self.shell.ok("async_wait", "async", "a", FOREVER)
        self.assertFalse(self.readable(0.05))
        self.take("a")
        self.shell.ok("fail", "a", "g", "why")
        answer = self.finish()
        self.assertEqual(answer["value"], {"state": "failed", "result": None, "group": "g",
                                           "message": "why"})

    def test_any_call(self):
        self.shell.ok("async_put", "async", {**PUT, "jid": "a"})
        self.assertEqual(self.finish()["jid"], "a")
        self.shell.ok("async_call", "async", ["Q.LENGTH", "q"])
        self.assertEqual(self.finish()["value"], 1)
        self.shell.ok("async_call", "async", ["Q.NOTHING"])
        answer = self.finish()
        self.assertEqual(answer["status"], "invalid")
        self.assertIn("Q.NOTHING", answer["message"])

    def test_one_call_at_a_time(self):
        self.shell.ok("async_take", "async", ["q"], 1, FOREVER)
        self.assertEqual(self.shell.status("async_call", "async", ["Q.LENGTH", "q"]), "busy")
        self.shell.ok("async_cancel", "async")
        self.assertEqual(self.finish()["status"], "interrupted")
        # And it can be used again.
        self.put("a")
        self.shell.ok("async_take", "async", ["q"], 1, FOREVER)
        self.assertEqual(self.finish()["jobs"], ["a"])
        self.forget("a")

    def test_an_interrupt_of_the_queue_is_not_for_it(self):
        self.shell.ok("async_take", "async", ["q"], 1, FOREVER)
        self.shell.ok("interrupt", "q", True)
        self.assertFalse(self.readable(0.05))
        self.shell.ok("interrupt", "q", False)
        self.put("a")
        self.assertEqual(self.finish()["jobs"], ["a"])
        self.forget("a")

    def test_no_job_is_lost_when_it_is_canceled(self):
        for i in range(30):
            self.shell.ok("async_take", "async", ["q"], 1, FOREVER)
            putting = self.shell.begin("put", "q", {**PUT, "jid": f"j{i}"})
            self.shell.ok("async_cancel", "async")
            answer = self.finish()
            putting.result(LIMIT_S)
            if answer["status"] == "ok":
                self.shell.ok("done", f"j{i}", None)
                self.forget(f"j{i}")
            else:
                self.assertEqual(answer["status"], "interrupted")
                self.take(f"j{i}")
                self.shell.ok("done", f"j{i}", None)

    def test_what_a_freed_handle_has_taken_is_given_back(self):
        self.put("a")
        self.shell.ok("async_new", "q", "short")
        self.shell.ok("async_take", "short", ["q"], 1, 0)
        self.assertTrue(self.readable(handle="short"))
        self.shell.ok("async_free", "short")
        self.take("a")
        self.assertEqual(self.shell.ok("about", "a")["remaining"], 5)

    def test_a_handle_is_freed_while_it_waits(self):
        self.shell.ok("async_new", "q", "short")
        self.shell.ok("async_wait", "short", self.put("a"), FOREVER)
        self.shell.ok("async_free", "short")
        self.shell.ok("async_new", "q", "idle")
        self.shell.ok("async_free", "idle")


class Broken(Opened, TestCase):
    def test_a_server_that_goes_while_a_job_is_waited_for(self):
        self.shell.ok("async_take", "async", ["q"], 1, FOREVER)
        self.assertFalse(self.readable(0.05))
        self.server.kill()
        self.server.start_again()
        self.put("a")
        self.assertEqual(self.finish()["jobs"], ["a"])
        self.forget("a")

    def test_events_through_a_kill(self):
        self.shell.ok("listen", "q", "log", "events")
        self.assertFalse(self.shell.ok("poll_events", "events", 0)["readable"])
        self.server.kill()
        self.server.start_again()
        while True:
            self.assertTrue(self.shell.ok("poll_events", "events", LIMIT_S)["readable"])
            answer = self.shell.ask("event", "events", 0)
            if answer["status"] == "ok":
                break
        self.assertEqual(answer["event"], {"event": "gap"})
        self.put("a")
        self.assertEqual(self.shell.ok("event", "events", LIMIT_S)["event"]["jid"], "a")
        self.shell.ok("unlisten", "events")


if __name__ == "__main__":
    sluiced.main()
