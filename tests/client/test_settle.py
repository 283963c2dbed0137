#!/usr/bin/python3
"""Calls for many jobs, lists, and events as values: on a server and in the process."""

from both import both
from real import PUT, sluiced
from shell import LIMIT_S


class Opened:
    def setUp(self):
        super().setUp()
        self.open(worker="w")

    def put_and_take(self, names, **more):
        self.shell.ok("put_many", "q", [{**PUT, "jid": name, **more} for name in names])
        for name in names:
            self.take(name)


@both
class Settling(Opened):
    def test_each_job_ends_as_its_element_says(self):
        names = ["a", "b", "c", "d", "e", "f"]
        self.put_and_take(names)
        answer = self.shell.ok("settle_many", names, [
            {"verdict": "done", "result": '{"n":1}'},
            {"verdict": "fail", "group": "g", "message": "why"},
            {"verdict": "retry", "delay": 1000, "group": "g2", "message": "later"},
            {"verdict": "return"},
            {"verdict": "done"},
            {"verdict": "retry", "now": True},
        ])
        self.assertEqual(answer["results"], [["ok", name, ""] for name in names])
        self.assertEqual([self.field(name, "state") for name in "abcef"],
                         ["complete", "failed", "scheduled", "complete", "waiting"])
        self.assertEqual(self.call("Q.LENGTH", "q"), 3)
        self.assertEqual(self.field("a", "result"), {"n": 1})
        self.assertEqual(self.field("b", "failure")["message"], "why")
        self.assertEqual([self.field(name, "remaining") for name in "cdf"], [4, 5, 4])
        self.assertEqual([self.shell.ok("about", name)["remaining"] for name in "cdf"], [4, 5, 4])

    def test_a_refused_element_does_not_affect_the_others(self):
        names = ["a", "b", "c", "d", "e"]
        self.put_and_take(names)
        self.shell.ok("cancel", "q", "c")
        answer = self.shell.ask("settle_many", [*names, None], [
            {"verdict": "done"},
            {"verdict": "done", "result": "no JSON"},
            {"verdict": "done"},
            {"verdict": "fail", "group": "g"},
            {"verdict": "nothing"},
            {"verdict": "done"},
        ])
        self.assertEqual([status for status, _, _ in answer["results"]],
                         ["ok", "invalid", "not_found", "invalid", "invalid", "invalid"])
        self.assertEqual((answer["status"], answer["message"]), ("invalid",
                                                                 answer["results"][1][2]))
        self.assertIn("group and a message", answer["results"][3][2])
        self.assertEqual([self.shell.ok("show", name)["lost"] for name in names],
                         ["kept", "kept", "canceled", "kept", "kept"])
        self.assertEqual([self.field(name, "state") for name in "abde"],
                         ["complete", "running", "running", "running"])

    def test_a_settling_is_answered_again_as_the_first_time(self):
        self.put_and_take(["a", "b"])
        for _ in range(2):
            self.shell.ok("settle_many", ["a", "b"], [{"verdict": "done", "result": "1"}] * 2)
        self.assertEqual(self.field("a", "result"), 1)

    def test_more_jobs_than_one_command_takes(self):
        count = 2300
        names = [f"j{i}" for i in range(count)]
        taken = 0
        for i in range(0, count, 500):
            self.shell.ok("put_many", "q",
                          [{**PUT, "jid": name} for name in names[i:i + 500]])
        while taken < count:
            taken += self.shell.ok("take", "q", {"queues": ["q"], "count": 1000},
                                   f"t{taken}-")["taken"]
        held = [f"t{i}-{k}" for i in range(0, count, 1000) for k in range(min(1000, count - i))]
        answer = self.shell.ok("heartbeat_many", held)
        self.assertEqual({status for status, _, _ in answer["results"]}, {"ok"})
        self.assertEqual({jid for _, jid, _ in answer["results"]}, set(names))
        answer = self.shell.ok("settle_many", held, [{"verdict": "done"}] * count)
        self.assertEqual({status for status, _, _ in answer["results"]}, {"ok"})
        for name in held:
            self.shell.ok("free", name)
        self.assertEqual(self.call("Q.JOBS", "complete", "q", "COUNT", "0")["total"], count)

    def test_more_bytes_than_one_command_takes(self):
        names = [f"j{i}" for i in range(24)]
        self.put_and_take(names)
        result = '"' + "x" * 1000000 + '"'
        answer = self.shell.ok("settle_many", names,
                               [{"verdict": "done", "result": result}] * len(names))
        self.assertEqual({status for status, _, _ in answer["results"]}, {"ok"})

    def test_heartbeats_move_the_ends_of_leases(self):
        self.call("Q.CONFIG.SET", "heartbeat", "1000")
        self.put_and_take(["a", "b"])
        before = [self.shell.ok("show", name)["expires"] for name in "ab"]
        self.call("Q.CONFIG.SET", "heartbeat", "2000")
        self.shell.ok("heartbeat_many", ["a", "b"])
        after = [self.shell.ok("show", name)["expires"] for name in "ab"]
        for old, new in zip(before, after):
            self.assertGreater(new, old + 500)

    def test_one_at_a_time_and_without_results(self):
        self.put_and_take(["a", "b"])
        self.shell.ok("settle", "a", {"verdict": "retry", "delay": 5})
        self.assertEqual(self.field("a", "state"), "scheduled")
        self.assertEqual(self.shell.status("settle", "b", {"verdict": "done", "delay": 5}),
                         "invalid")
        self.shell.ok("settle_many", ["b"], [{"verdict": "done"}], True)
        self.assertEqual(self.field("b", "state"), "complete")
        self.shell.ok("settle_many", [], [])


@both
class Looking(Opened):
    def test_what_is_known_of_a_job(self):
        self.put("a", priority=-3, retries=2, tags=["x", "y"], domain="lane")
        self.take("a")
        self.assertEqual(self.shell.ok("about", "a"),
                         {"status": "ok", "attempts": 1, "priority": -3, "remaining": 2,
                          "domain": "lane", "tags": ["x", "y"]})
        self.put("b")
        self.take("b")
        about = self.shell.ok("about", "b")
        self.assertEqual((about["domain"], about["tags"]), (None, []))
        self.assertEqual([entry["what"] for entry in self.shell.ok("history", "q", "a")["value"]],
                         ["put", "popped"])
        self.assertEqual(self.shell.status("history", "q", "nobody"), "not_found")

    def test_how_a_job_has_finished(self):
        self.put("a")
        self.take("a")
        self.shell.ok("settle", "a", {"verdict": "done", "result": "[1]"})
        self.put("b")
        self.take("b")
        self.shell.ok("settle", "b", {"verdict": "fail", "group": "smtp", "message": "refused"})
        self.assertEqual(self.shell.ok("finish", "q", "a", 0),
                         {"status": "ok", "state": "complete", "result": "[1]", "group": None,
                          "why": None})
        self.assertEqual(self.shell.ok("finish", "q", "b", 0),
                         {"status": "ok", "state": "failed", "result": None, "group": "smtp",
                          "why": "refused"})

    def list(self, what, limit=100000, **options):
        self.shell.ok("list_open", "q", what, options, "list")
        answer = self.shell.ok("list_next", "list", limit)
        self.shell.ok("list_free", "list")
        return answer["items"]

    def test_every_job_once_over_many_pages(self):
        names = [f"j{i:03}" for i in range(250)]
        self.shell.ok("put_many", "q", [{**PUT, "jid": name, "tags": ["even"] if i % 2 == 0 else []}
                                        for i, name in enumerate(names)])
        for page in (0, 1, 7, 250, 1000):
            self.assertEqual(self.list("jobs", jids=True, page=page), names)
        self.assertEqual([job["jid"] for job in self.list("jobs", page=100)], names)
        self.assertEqual(self.list("jobs", tag="even", jids=True, page=10), names[::2])
        self.assertEqual(self.list("jobs", state="running"), [])

    def test_a_page_at_a_time_while_jobs_go(self):
        names = [f"j{i}" for i in range(30)]
        self.shell.ok("put_many", "q", [{**PUT, "jid": name} for name in names])
        self.shell.ok("list_open", "q", "jobs", {"state": "waiting", "queue": "q", "page": 10,
                                                 "jids": True}, "list")
        seen = self.shell.ok("list_next", "list", 10)["items"]
        for name in seen:
            self.shell.ok("cancel", "q", name)
        rest = self.shell.ok("list_next", "list", 100)
        self.assertEqual((seen + rest["items"], rest["end"]), (names, True))
        self.assertEqual(self.shell.ok("list_next", "list", 1)["items"], [])
        self.shell.ok("list_free", "list")

    def test_filters_of_jobs(self):
        self.put("a", queue="one", klass="K")
        self.put("b", queue="two", klass="L", domain="d")
        self.put("c", queue="two", klass="K", delay=1000)
        for options, jids in (({"queue": "two"}, "bc"), ({"klass": "K"}, "ac"),
                              ({"queue": "two", "klass": "K"}, "c"), ({"domain": "d"}, "b"),
                              ({"state": "scheduled"}, "c")):
            self.assertEqual(sorted(self.list("jobs", jids=True, **options)), list(jids), options)
        self.take("a", queue="one")
        self.assertEqual(self.list("jobs", worker="w", jids=True), ["a"])
        self.shell.ok("settle", "a", {"verdict": "fail", "group": "g", "message": "m"})
        self.assertEqual(self.list("jobs", state="failed", group="g", jids=True), ["a"])
        self.assertEqual(self.list("jobs", data_max=1, klass="L")[0]["data"], "{")

    def test_other_lists(self):
        names = [f"q{i:02}" for i in range(25)]
        for i, name in enumerate(names):
            self.put(name, queue=name)
            self.take(name, queue=name)
            self.shell.ok("settle", name,
                          {"verdict": "fail", "group": f"g{i:02}", "message": "m"})
        for page in (0, 4, 5):
            self.assertEqual([item["queue"] for item in
                              self.list("queues", sort="name", page=page)], names)
            self.assertEqual([item["group"] for item in self.list("failures", page=page)],
                             [f"g{i:02}" for i in range(25)])
        for i in range(7):
            self.put(f"x{i}")
            self.shell.ok("take", "q", {"queues": ["q"], "count": 1, "worker": f"w{i}"}, f"x{i}-")
            self.addCleanup(self.shell.ask, "free", f"x{i}-0")
        for page in (0, 1, 3, 4, 8):
            self.assertEqual(sorted(item["worker"] for item in self.list("workers", page=page)),
                             ["w", *(f"w{i}" for i in range(7))])
        for i in range(5):
            self.call("Q.RECUR", f"r{i}", "poll", "Poll", "{}", "INTERVAL", "1000", "DELAY",
                      str(1000 + i))
        for page in (0, 1, 2, 5):
            for options in ({}, {"queue": "poll"}):
                self.assertEqual([item["jid"] for item in
                                  self.list("recurring", page=page, **options)],
                                 [f"r{i}" for i in range(5)])

    def test_queues_with_the_names_of_options(self):
        for name in ("JIDS", "COUNT", "any"):
            self.put(name, queue=name)
            self.assertEqual(self.list("jobs", queue=name, jids=True), [name])

    def test_what_makes_no_sense_is_refused(self):
        for what, options, part in (
                ("nothing", {}, "cannot be listed"),
                ("queues", {"klass": "K"}, "klass is no option of a list of queues"),
                ("workers", {"jids": True}, "jids is only"),
                ("jobs", {"sort": "name"}, "sort is no option"),
                ("jobs", {"page": 1001}, "page is 1001"),
                ("jobs", {"page": -1}, "page is -1"),
                ("jobs", {"data_max": -1}, "data_max is -1")):
            answer = self.shell.ask("list_open", "q", what, options, "list")
            self.assertEqual(answer["status"], "invalid", options)
            self.assertIn(part, answer["message"])
        self.shell.ok("list_open", "q", "jobs", {"state": "asleep"}, "list")
        for _ in range(2):
            self.assertEqual(self.shell.status("list_next", "list", 1), "invalid")
        self.shell.ok("list_free", "list")


@both
class Events(Opened):
    def setUp(self):
        super().setUp()
        self.shell.ok("listen", "q", "log", "events")
        self.addCleanup(self.shell.ask, "unlisten", "events")

    def readable(self, seconds):
        return self.shell.ok("poll_events", "events", seconds)["readable"]

    def test_events_are_values(self):
        self.put("a", data='{"deep": [1, [2.5, null, true]]}')
        event = self.shell.ok("event_value", "events", LIMIT_S)["value"]
        self.assertEqual((event["event"], event["jid"], event["queue"]), ("put", "a", "q"))
        self.assertIsInstance(event["when"], float)
        self.assertEqual(self.shell.status("event_value", "events", 0), "timed_out")

    def test_the_descriptor_is_readable_while_there_is_something_to_hear(self):
        self.assertFalse(self.readable(0))
        self.assertEqual(self.shell.status("event", "events", 0), "timed_out")
        for jid in ("a", "b", "c"):
            self.put(jid)
        heard = []
        while len(heard) < 3:
            self.assertTrue(self.readable(LIMIT_S))
            heard.append(self.shell.ok("event_value", "events", 0)["value"]["jid"])
        self.assertEqual(heard, ["a", "b", "c"])
        self.assertFalse(self.readable(0))
        self.assertEqual(self.shell.status("event", "events", 0), "timed_out")

    def test_one_may_still_wait(self):
        self.assertFalse(self.readable(0))
        self.assertEqual(self.shell.status("event", "events", 0.05), "timed_out")
        waiting = self.shell.begin("event", "events", LIMIT_S)
        self.put("a")
        self.assertEqual(waiting.result(LIMIT_S)["event"]["jid"], "a")

    def test_an_interrupt_makes_it_readable(self):
        self.assertFalse(self.readable(0))
        self.shell.ok("interrupt", "q", True)
        self.assertTrue(self.readable(LIMIT_S))
        self.assertEqual(self.shell.status("event", "events", 0), "interrupted")
        self.shell.ok("interrupt", "q", False)
        self.put("a")
        while self.shell.status("event", "events", LIMIT_S) == "interrupted":
            pass

    def test_many_events_in_order(self):
        """More than the helper thread keeps."""
        self.assertFalse(self.readable(0))
        names = [f"j{i}" for i in range(3000)]
        for i in range(0, len(names), 500):
            self.shell.ok("put_many", "q", [{**PUT, "jid": name} for name in names[i:i + 500]])
        heard = [self.shell.ok("event", "events", LIMIT_S)["event"]["jid"] for _ in names]
        self.assertEqual(heard, names)


if __name__ == "__main__":
    sluiced.main()
