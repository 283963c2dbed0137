#!/usr/bin/python3
"""libsluice and a real sluiced."""

import unittest

from proxy import Proxy
from real import PUT, TestCase, sluiced
from shell import LIMIT_S, Shell
from tls import TlsTestCase

FOREVER = -1
BACKOFF = -1
NONE = -2**62


class Calls(TestCase):
    def setUp(self):
        super().setUp()
        self.open(ns="app", worker="w")

    def test_a_job_from_its_put_to_its_result(self):
        self.put("a", data='{"to": "ann"}', priority=-3, retries=2, tags=["x", "y"],
                 domain="lane", timeout=100, result_ttl=50, max_crashes=3,
                 backoff="exponential:1:60:10", deadline=4e9)
        job = self.shell.ok("get", "q", "a")["value"]
        self.assertEqual(job["data"], {"to": "ann"})
        self.assertEqual([job[key] for key in ("klass", "queue", "state", "priority", "retries",
                                               "tags", "domain", "deadline")],
                         ["k", "q", "waiting", -3, 2, ["x", "y"], "lane", 4e9])
        waiting = self.shell.begin("wait", "q", "a", FOREVER)
        self.take("a")
        shown = self.shell.ok("show", "a")
        self.assertEqual([shown[key] for key in ("jid", "klass", "queue", "data", "checkpoint",
                                                 "worker", "token", "lost")],
                         ["a", "k", "q", '{"to": "ann"}', None, "w", 1, "kept"])
        self.assertEqual(shown["value"]["jid"], "a")
        self.shell.ok("start", "a", 4711)
        self.shell.ok("progress", "a", 0.25, "page 1")
        self.shell.ok("checkpoint", "a", '{"page":1}')
        self.shell.ok("log", "a", "a line")
        expires = self.shell.ok("heartbeat", "a")["expires"]
        self.assertGreaterEqual(expires, shown["expires"])
        self.assertEqual(self.shell.ok("show", "a")["expires"], expires)
        self.assertEqual(self.field("a", "progress"), {"fraction": 0.25, "message": "page 1"})
        self.assertEqual(len(self.call("Q.LOGS", "a")), 1)
        self.assertEqual(self.shell.status("wait", "q", "a", 0), "timed_out")
        self.shell.ok("done", "a", '{"sent":true}')
        result = {"state": "complete", "result": {"sent": True}, "group": None,
                  "message": None}
        self.assertEqual(waiting.result(LIMIT_S)["value"], result)
        self.assertEqual(self.shell.ok("wait", "q", "a", 0)["value"], result)
        # Again it is answered the same, and the first result stays.
        self.shell.ok("done", "a", '{"sent":false}')
        self.assertEqual(self.field("a", "result"), {"sent": True})
        self.assertEqual(self.shell.status("fail", "a", "group", "why"), "stale")
        self.assertEqual(self.shell.status("heartbeat", "a"), "state")
        self.assertEqual(self.shell.ok("show", "a")["lost"], "lost")

    def test_jids_are_made(self):
        jids = {self.put(None) for _ in range(100)}
        self.assertEqual({len(jid) for jid in jids}, {36})
        self.assertEqual(len(jids), 100)

    def test_delays_and_dependencies(self):
        self.put("later", delay=1000)
        self.put("then", at=4e9)
        self.put("child", depends=["later"])
        self.assertEqual([self.field(jid, "state") for jid in ("later", "then", "child")],
                         ["scheduled", "scheduled", "depends"])
        self.assertEqual(self.shell.status("next", "q", "q", 0, "x"), "timed_out")
        self.assertEqual(self.shell.status("next", "q", "q", 0.01, "x"), "timed_out")

    def test_keys_that_one_job_holds(self):
        self.put("a", unique="key")
        self.assertEqual(self.put("b", unique="key"), "a")
        self.assertEqual(self.shell.status("put", "q", {**PUT, "unique": "key",
                                                        "on_conflict": "refuse"}), "exists")
        self.assertEqual(self.put("c", unique="key", on_conflict="replace"), "c")
        self.put("d", klass="other", unique_contents=True, unique_until="time", unique_for=100)
        self.assertEqual(self.put("e", klass="other", unique_contents=True), "d")

    def test_the_other_ends_of_a_job(self):
        self.put("a", retries=1)
        self.take("a", "1")
        self.assertEqual(self.shell.ok("retry", "1", 0, "net", "no route")["remaining"], 0)
        self.take("a", "2")
        self.assertEqual(self.shell.ok("retry", "1", 0, None, None)["remaining"], 0)
        self.assertEqual(self.shell.status("return", "1"), "stale")
        self.assertEqual(self.shell.ok("retry", "2", BACKOFF, None, None)["remaining"], -1)
        self.assertEqual(self.field("a", "state"), "failed")
        self.put("b")
        self.take("b")
        self.shell.ok("fail", "b", "group", "message")
        self.assertEqual(self.field("b", "failure")["group"], "group")
        self.put("c")
        self.take("c")
        self.shell.ok("advance", "c", "next", '{"part":2}', 0)
        self.assertEqual((self.field("c", "queue"), self.field("c", "data")), ("next", {"part": 2}))
        self.take("c", "c2", "next")
        self.shell.ok("advance", "c2", "last", None, 1000)
        self.assertEqual((self.field("c", "state"), self.field("c", "data")),
                         ("scheduled", {"part": 2}))
        self.put("d", retries=NONE)
        self.take("d")
        self.assertEqual(self.shell.ok("retry", "d", 0, None, None)["remaining"], -1)

    def test_a_job_is_attached_in_another_process(self):
        self.put("a", data='{"to": "ann"}')
        self.take("a", "1")
        token = self.shell.ok("show", "1")["token"]
        other = self.enterContext(Shell())
        other.open("q", self.url, ns="app", worker="other")
        other.ok("attach", "q", "a", "w", token, "here")
        shown = other.ok("show", "here")
        self.assertEqual([shown[key] for key in ("jid", "klass", "queue", "data", "worker",
                                                 "token", "lost")],
                         ["a", "k", "q", '{"to": "ann"}', "w", token, "kept"])
        self.assertEqual(shown["expires"], self.shell.ok("show", "1")["expires"])
        self.assertEqual(self.field("a", "stage"), "reserved")
        other.ok("start", "here", 4711)
        self.assertEqual(self.field("a", "lease")["pid"], 4711)
        self.assertEqual(self.field("a", "stage"), "started")
        other.ok("keepalive", "here")
        other.ok("done", "here", '"sent"')
        self.assertEqual(self.field("a", "result"), "sent")
        run = self.field("a", "last-run")
        self.assertEqual((run["worker"], run["pid"]), ("w", 4711))
        self.shell.ok("done", "1", '"late"')
        self.assertEqual(self.field("a", "result"), "sent")
        self.assertEqual(other.status("attach", "q", "a", "w", token, "x"), "state")

    def test_a_given_job_is_taken(self):
        for jid in ("a", "b", "c"):
            self.put(jid, lease=40 if jid == "c" else 0)
        self.shell.ok("take_job", "q", "b", None, "b")
        shown = self.shell.ok("show", "b")
        self.assertEqual([shown[key] for key in ("jid", "worker", "token")], ["b", "w", 1])
        self.assertEqual(self.shell.status("take_job", "q", "b", None, "x"), "state")
        self.assertEqual(self.shell.status("take_job", "q", "nobody", None, "x"), "not_found")
        self.assertEqual(self.shell.status("take_job", "q", "a", {"lease": 0.0001}, "x"), "invalid")
        self.shell.ok("take_job", "q", "a", {"worker": "other", "lease": 300}, "a")
        lease = self.field("a", "lease")
        self.assertEqual((lease["worker"], lease["length"]), ("other", 300))
        self.shell.ok("done", "a", None)
        self.shell.ok("done", "b", None)
        self.assertEqual(self.call("Q.OPTIONS", "c")["given"]["lease"], 40)
        take = {"queues": ["q"], "count": 1, "lease": 20}
        self.assertEqual(self.shell.ok("take", "q", take, "c")["taken"], 1)
        self.assertEqual(self.field("c", "lease")["length"], 20)

    def test_what_is_not_held_is_not_attached(self):
        self.put("a")
        self.assertEqual(self.shell.status("attach", "q", "a", "w", 1, "x"), "state")
        self.assertEqual(self.shell.status("attach", "q", "nobody", "w", 1, "x"), "not_found")
        self.take("a", "1")
        token = self.shell.ok("show", "1")["token"]
        self.assertEqual(self.shell.status("attach", "q", "a", "w", token + 1, "x"), "stale")
        self.assertEqual(self.shell.status("attach", "q", "a", "v", token, "x"), "stale")
        for jid, worker, bad in (("a", "w", 0), ("a", "w", -1), ("", "w", token), ("a", "", token),
                                 (None, "w", token), ("a", None, token), ("a" * 300, "w", token)):
            self.assertEqual(self.shell.status("attach", "q", jid, worker, bad, "x"), "invalid")
        self.assertEqual(self.field("a", "state"), "running")

    def test_a_job_is_given_back(self):
        self.put("a", retries=1)
        self.take("a", "1")
        self.shell.ok("return", "1")
        self.assertEqual((self.field("a", "state"), self.field("a", "remaining")), ("stalled", 1))
        self.take("a", "2")
        self.shell.ok("return", "1")
        self.assertEqual(self.shell.status("done", "1", None), "stale")
        self.assertEqual(self.field("a", "state"), "running")
        self.shell.ok("done", "2", None)

    def test_a_checkpoint_goes_to_the_next_run(self):
        self.put("a")
        self.take("a", "1")
        self.shell.ok("checkpoint", "1", "[1,2]")
        self.shell.ok("retry", "1", 0, None, None)
        self.take("a", "2")
        self.assertEqual(self.shell.ok("show", "2")["checkpoint"], "[1,2]")

    def test_what_is_not_there(self):
        self.assertEqual(self.shell.status("get", "q", "nobody"), "not_found")
        self.assertEqual(self.shell.status("cancel", "q", "nobody"), "not_found")
        self.assertEqual(self.shell.status("wait", "q", "nobody", 0), "not_found")
        self.assertEqual(self.shell.status("call", "q", ["Q.NOTHING"]), "invalid")
        self.put("a")
        self.shell.ok("cancel", "q", "a")
        self.assertEqual(self.shell.status("get", "q", "a"), "not_found")

    def test_what_is_malformed(self):
        for put in ({}, {"queue": "q"}, {"queue": "q", "klass": "k"}, {**PUT, "data": "oops"},
                    {**PUT, "jid": ""}, {**PUT, "jid": "x" * 300}, {**PUT, "queue": "x" * 300},
                    {**PUT, "delay": -1}, {**PUT, "delay": 1e300}, {**PUT, "priority": 1 << 40},
                    {**PUT, "backoff": "x"}, {**PUT, "unique_until": "x"}):
            answer = self.shell.ask("put", "q", put)
            self.assertIn(answer["status"], ("invalid", "too_large"), put)
            self.assertTrue(answer["message"])
        self.assertEqual(self.shell.status("take", "q", {"queues": [], "count": 1}, "x"), "invalid")
        self.assertEqual(self.shell.status("take", "q", {"queues": ["q"], "count": 0}, "x"),
                         "invalid")
        self.assertEqual(self.shell.status("take", "q", {"queues": ["q"], "count": 1,
                                                         "worker": "w" * 300}, "x"), "invalid")
        self.assertEqual(self.shell.status("call", "q", []), "invalid")

    def test_many_puts_of_which_some_are_refused(self):
        answer = self.shell.ask("put_many", "q", [
            {**PUT, "jid": "a", "retries": 7}, {**PUT, "data": "oops", "jid": "b"},
            {"queue": "q", "data": "{}", "jid": "c"}, {**PUT, "jid": "d"}, PUT])
        self.assertEqual(answer["status"], "invalid")
        self.assertIn("data is not JSON", answer["message"])
        results = answer["results"]
        self.assertEqual([result[0] for result in results], ["ok", "invalid", "invalid", "ok", "ok"])
        self.assertIn("klass", results[2][2])
        self.assertEqual((results[0][1], results[3][1], len(results[4][1])), ("a", "d", 36))
        self.assertEqual(self.call("Q.LENGTH", "q"), 3)
        self.assertEqual(self.field("a", "retries"), 7)
        self.assertEqual(self.shell.status("put_many", "q", [PUT, {}], True), "invalid")
        self.shell.ok("put_many", "q", [PUT] * 1000, True)
        self.assertEqual(self.call("Q.LENGTH", "q"), 1004)
        self.shell.ok("put_many", "q", [])

    def test_the_best_of_all_queues_is_taken(self):
        for queue, priority in (("a", 3), ("b", 1), ("c", 2)):
            self.put(queue, queue=queue, priority=priority)
        take = {"queues": ["a", "b", "c"], "count": 2, "best": True}
        self.assertEqual(self.shell.ok("take", "q", take, "best-")["jobs"], ["b", "c"])
        take["round_robin"] = True
        self.assertEqual(self.shell.status("take", "q", take, "x-"), "invalid")

    def test_many_jobs_are_taken_at_once(self):
        self.shell.ok("put_many", "q", [{**PUT, "jid": f"{queue}{i}", "queue": queue}
                                        for queue in "ab" for i in range(3)])
        take = {"queues": ["a", "b"], "count": 2, "round_robin": True, "worker": "other"}
        answer = self.shell.ok("take", "q", take, "turn-")
        self.assertEqual(answer["jobs"], ["a0", "b0"])
        self.assertEqual(self.shell.ok("show", "turn-1")["worker"], "other")
        answer = self.shell.ok("take", "q", {"queues": ["a", "b"], "count": 100}, "all-")
        self.assertEqual(answer["jobs"], ["a1", "a2", "b1", "b2"])
        for name in ("turn-0", "turn-1", "all-0", "all-1", "all-2", "all-3"):
            self.shell.ok("done", name, None)
            self.shell.ok("free", name)

    def test_any_command(self):
        self.assertEqual(self.call("Q.PAUSE", "q"), "OK")
        self.assertEqual(self.call("q.length", "q"), 0)
        self.assertEqual(self.call("PING"), "PONG")
        self.assertEqual(self.call("Q.POP", "w", "1", "q"), [])
        self.assertEqual(self.call("Q.POP", "w", "1", "WAIT", "0.01", "q"), [])
        answer = self.call("Q.MPUT", "3", "q", "k", "{}", "3", "q", "k", "oops")
        self.assertEqual(answer[1]["error"], "invalid")
        self.assertEqual(self.shell.ok("version")["version"], "0.1.0")

    def test_namespaces(self):
        self.open("url", self.url + "/other")
        self.open("both", self.url + "/other?ns=third")
        self.open("option", self.url + "/other", ns="app")
        self.open("redis", self.url.replace("sluice:", "redis:"))
        self.put("a")
        for name, status in (("url", "not_found"), ("both", "not_found"), ("option", "ok"),
                             ("redis", "not_found")):
            self.assertEqual(self.shell.status("get", name, "a"), status, name)
        self.shell.ok("put", "url", {**PUT, "jid": "a", "klass": "another"})
        self.assertEqual(self.field("a", "klass"), "k")
        self.assertEqual(self.shell.ok("get", "url", "a")["value"]["klass"], "another")
        self.assertEqual(self.call("Q.LENGTH", "q", handle="both"), 0)

    def test_many_threads_share_a_queue(self):
        """Each job is done once, by whichever thread."""
        count = 60
        puts = [self.shell.begin("put", "q", {**PUT, "jid": f"j{i}"}) for i in range(count)]
        takes = [self.shell.begin("next", "q", "q", LIMIT_S, f"job-{i}") for i in range(count)]
        self.assertEqual({put.result(LIMIT_S)["status"] for put in puts}, {"ok"})
        jids = [take.result(LIMIT_S)["jobs"][0] for take in takes]
        self.assertEqual(sorted(jids), sorted(f"j{i}" for i in range(count)))
        for i in range(count):
            self.shell.ok("keepalive", f"job-{i}")
        ends = [self.shell.begin("done", f"job-{i}", "1") for i in range(count)]
        self.assertEqual({end.result(LIMIT_S)["status"] for end in ends}, {"ok"})
        for i in range(count):
            self.shell.ok("free", f"job-{i}")

    def test_a_job_is_never_lost_by_an_interruption(self):
        for i in range(40):
            call = self.shell.begin("next", "q", "q", FOREVER, f"job-{i}")
            put = self.shell.begin("put", "q", {**PUT, "jid": f"j{i}"})
            self.shell.ok("interrupt", "q", True)
            answer = call.result(LIMIT_S)
            self.assertEqual(put.result(LIMIT_S)["status"], "ok")
            self.shell.ok("interrupt", "q", False)
            if answer["status"] == "interrupted":
                answer = self.shell.ok("next", "q", "q", 0, f"job-{i}")
            self.assertEqual(answer["jobs"], [f"j{i}"])
            self.shell.ok("done", f"job-{i}", None)
            self.shell.ok("free", f"job-{i}")

    def test_events(self):
        self.shell.ok("listen", "q", "log", "log")
        self.addCleanup(self.shell.ask, "unlisten", "log")
        self.shell.ok("listen", "q", "worker:w", "worker")
        self.addCleanup(self.shell.ask, "unlisten", "worker")
        self.shell.ok("listen", "q", "tracked", "tracked")
        self.addCleanup(self.shell.ask, "unlisten", "tracked")
        self.put("a")
        event = self.shell.ok("event", "log", LIMIT_S)["event"]
        self.assertEqual((event["event"], event["jid"]), ("put", "a"))
        self.take("a")
        self.shell.ok("cancel", "q", "a")
        event = self.shell.ok("event", "worker", LIMIT_S)["event"]
        self.assertEqual((event["event"], event["jid"]), ("canceled", "a"))
        self.assertEqual(self.shell.status("event", "tracked", 0), "timed_out")


MIB = 1 << 20
# Within and beyond what a server discards of a request that it refuses.
OVERSIZE = (MIB + 1, 17 * MIB, 100 * MIB)


def oversize(case, handle):
    """Whatever is too large is refused by the same status and with the limit."""
    for size in OVERSIZE:
        data = '"' + "x" * (size - 2) + '"'
        answer = case.shell.ask("put", handle, {**PUT, "jid": "large", "data": data})
        case.assertEqual((answer["status"], answer["message"]),
                         ("too_large", f"a word of {size} bytes; at most {MIB} are allowed"))
    large = case.shell.ask("call", handle, ["Q.TAG", "a", *["t" * 1000000] * 17])
    case.assertEqual(large["status"], "too_large")
    case.assertIn("bytes; at most 16777216 are allowed", large["message"])
    case.assertTrue(case.shell.log.empty(), "it was tried again")
    case.shell.ok("put", handle, {**PUT, "jid": "fits", "data": '"' + "x" * (MIB - 2) + '"'})


class Oversize(TestCase):
    def test_on_a_server(self):
        self.open()
        oversize(self, "q")

    def test_in_process(self):
        self.open("f", "file:" + self.server.path("folder"))
        oversize(self, "f")

    def test_in_process_with_another_limit(self):
        self.open("f", "file:" + self.server.path("folder") + "?max-payload=20000000")
        data = '"' + "x" * (20000000 - 2) + '"'
        self.shell.ok("put", "f", {**PUT, "jid": "fits", "data": data})
        answer = self.shell.ask("put", "f", {**PUT, "jid": "large", "data": data + " "})
        self.assertEqual((answer["status"], answer["message"]),
                         ("too_large", "a word of 20000001 bytes; at most 20000000 are allowed"))


class Killing(TestCase):
    def test_calls_that_are_under_way_go_on(self):
        self.open()
        take = self.shell.begin("next", "q", "q", FOREVER, "job")
        wait = self.shell.begin("wait", "q", self.put("a", "elsewhere"), FOREVER)
        self.server.kill()
        self.server.start_again()
        self.put("b")
        self.assertEqual(take.result(LIMIT_S)["jobs"], ["b"])
        self.shell.ok("done", "job", None)
        self.shell.ok("free", "job")
        self.take("a", queue="elsewhere")
        self.shell.ok("done", "a", "7")
        self.assertEqual(wait.result(LIMIT_S)["value"]["result"], 7)

    def test_nothing_that_was_put_is_lost_or_there_twice(self):
        self.open()
        self.put("first")
        puts = [self.shell.begin("put", "q", {**PUT, "jid": f"j{i}"}) for i in range(60)]
        many = [self.shell.begin("put_many", "q", [{**PUT, "jid": f"m{n}-{i}"} for i in range(20)])
                for n in range(5)]
        puts[5].result(LIMIT_S)
        self.server.kill()
        self.server.start_again()
        self.assertEqual({put.result(LIMIT_S)["status"] for put in puts + many}, {"ok"})
        self.assertEqual(self.call("Q.LENGTH", "q"), 1 + 60 + 5 * 20)

    def test_what_was_done_is_done_once(self):
        self.open()
        count = 40
        self.shell.ok("put_many", "q", [{**PUT, "jid": f"j{i}"} for i in range(count)])
        self.shell.ok("take", "q", {"queues": ["q"], "count": count}, "job-")
        ends = [self.shell.begin("done", f"job-{i}", str(i)) for i in range(count)]
        ends[3].result(LIMIT_S)
        self.server.kill()
        self.server.start_again()
        self.assertEqual([end.result(LIMIT_S)["status"] for end in ends], ["ok"] * count)
        for i in range(count):
            self.assertEqual(self.field(f"j{i}", "result"), i)
            self.shell.ok("free", f"job-{i}")

    def test_events_have_a_gap(self):
        self.open()
        self.shell.ok("listen", "q", "log", "events")
        self.addCleanup(self.shell.ask, "unlisten", "events")
        self.server.kill()
        self.server.start_again()
        self.assertEqual(self.shell.ok("event", "events", LIMIT_S)["event"], {"event": "gap"})
        self.put("a")
        self.assertEqual(self.shell.ok("event", "events", LIMIT_S)["event"]["event"], "put")

    def test_a_server_that_ends_by_itself(self):
        self.open()
        self.put("a")
        take = self.shell.begin("next", "q", "empty", FOREVER, "job")
        self.server.stop()
        self.server.start_again()
        self.put("b", "empty")
        self.assertEqual(take.result(LIMIT_S)["jobs"], ["b"])
        self.shell.ok("free", "job")


class Lost(TestCase):
    """Connections that break at one command, before the server has heard it or after."""

    def setUp(self):
        super().setUp()
        self.open()

    def broken(self, name, heard, before_end=lambda: None, **options):
        """The proxy, and under its address a handle whose first command of that name meets it."""
        proxy = Proxy(self.server.port, name, heard, before_end)
        self.addCleanup(proxy.__exit__)
        self.open(proxy.url, proxy.url, **options)
        return proxy

    def put_through(self, put, heard, before_end=lambda: None):
        proxy = self.broken("Q.PUT", heard, before_end)
        answer = self.shell.ask("put", proxy.url, put)
        self.assertTrue(proxy.cut.is_set())
        return answer

    def test_a_put_over_a_job_that_is_complete_is_not_lost(self):
        for heard in (False, True):
            self.put("a")
            self.take("a")
            self.shell.ok("done", "a", None)
            self.free("a")
            status = self.put_through({**PUT, "jid": "a"}, heard)["status"]
            self.assertEqual(status, "ok")
            self.assertEqual(self.field("a", "state"), "waiting")

    def test_a_new_job_is_put_once(self):
        for heard in (False, True):
            for jid in (f"chosen-{heard}", None):
                answer = self.put_through({**PUT, "jid": jid}, heard)
                self.assertEqual(answer["status"], "ok")
                history = self.call("Q.HISTORY", answer["jid"])
                self.assertEqual([entry["what"] for entry in history], ["put"])

    def test_a_job_is_not_taken_from_the_worker_that_has_popped_it_meanwhile(self):
        popped = self.shell.begin("next", "q", "q", LIMIT_S, "job")
        answer = self.put_through({**PUT, "jid": "a"}, True, lambda: popped.result(LIMIT_S))
        self.assertEqual(answer["status"], "ok")
        self.assertEqual(popped.result(LIMIT_S)["jobs"], ["a"])
        self.shell.ok("done", "job", None)
        self.shell.ok("free", "job")

    def settle_through(self, name, heard, *words, meanwhile=lambda: None):
        """Takes the job `a` and settles it; the answer of the call."""
        proxy = self.broken(name, heard, worker="me")
        self.put("a")
        self.take("a", handle=proxy.url)
        meanwhile()
        answer = self.shell.ask(words[0], "a", *words[1:])
        self.assertTrue(proxy.cut.is_set())
        self.free("a")
        return answer

    def test_what_settles_a_job_is_done_once(self):
        for heard in (False, True):
            for name, words, found in (
                    ("Q.COMPLETE", ("done", "7"), ("state", "complete")),
                    ("Q.COMPLETE", ("advance", "next", None, 0), ("queue", "next")),
                    ("Q.FAIL", ("fail", "group", "why"), ("state", "failed")),
                    ("Q.RETRY", ("retry", 100, None, None), ("state", "scheduled")),
                    ("Q.RETURN", ("return",), ("state", "stalled"))):
                answer = self.settle_through(name, heard, *words)
                self.assertEqual((words, answer["status"]), (words, "ok"))
                self.assertEqual(self.field("a", found[0]), found[1])
                self.shell.ok("cancel" if found[1] != "complete" else "get", "q", "a")

    def test_a_job_that_another_has_done_meanwhile_is_not_ours(self):
        def by_another():
            self.put("a")
            self.take("a", "taken")
            self.shell.ok("done", "taken", "8")
            self.free("taken")
        for heard in (False, True):
            answer = self.settle_through("Q.COMPLETE", heard, "done", "7", meanwhile=by_another)
            self.assertEqual(answer["status"], "stale")
            self.assertEqual(self.field("a", "result"), 8)


class Rights(TestCase):
    flags = ("--password", "s3cr%t", "--user", "ann pa@ss app:write reports:read")

    def at(self, user, path="/app"):
        return f"redis://{user}127.0.0.1:{self.server.port}{path}"

    def test_passwords_and_users(self):
        for name, user, path, status in (
                ("right", ":s3cr%25t@", "/any", "ok"), ("named", "default:s3cr%25t@", "", "ok"),
                ("ann", "ann:pa%40ss@", "/app", "ok"), ("raw", "ann:pa@ss@", "/app", "ok"),
                ("none", "", "/app", "denied"), ("wrong", ":x@", "/app", "denied"),
                ("nobody", "bob:pa%40ss@", "/app", "denied"), ("bare", "ann@", "/app", "denied"),
                ("reader", "ann:pa%40ss@", "/reports", "denied"),
                ("elsewhere", "ann:pa%40ss@", "/other", "denied")):
            self.open(name, self.at(user, path))
            answer = self.shell.ask("put", name, PUT)
            self.assertEqual(answer["status"], status, name)
            self.assertNotIn("pa@ss", answer.get("message", ""))
        self.assertEqual(self.shell.status("call", "reader", ["Q.LENGTH", "q"]), "ok")

    def test_leases_are_kept_under_a_users_name(self):
        self.open("q", self.at("ann:pa%40ss@"))
        self.open("root", self.at(":s3cr%25t@"))
        self.set_lease(6, handle="root")
        self.put("a")
        self.take("a")
        self.outlive_the_lease("a")
        self.shell.ok("cancel", "root", "a")
        self.assertEqual(self.shell.lost.get(timeout=LIMIT_S), {"jid": "a", "why": "canceled"})


class Tls(TlsTestCase):
    def test_trust(self):
        port = self.start()
        trusted = {"ca_file": self.path("authority.pem")}
        for name, url, options, status in (
                ("name", f"sluices://localhost:{port}", trusted, "ok"),
                ("address", f"rediss://127.0.0.1:{port}", trusted, "ok"),
                ("stranger", f"sluices://localhost:{port}",
                 {"ca_file": self.path("stranger.pem")}, "denied"),
                ("system", f"sluices://localhost:{port}", {}, "denied"),
                ("other name", f"sluices://127.0.0.2:{port}", trusted, "unreachable"),
                ("plain there", f"sluices://127.0.0.1:{self.server.port}", trusted, "unreachable"),
                ("plain here", f"sluice://127.0.0.1:{port}", {}, "unreachable")):
            timeout = 0.5 if status == "unreachable" else LIMIT_S
            self.open(name, url, timeout=timeout, **options)
            self.assertEqual(self.shell.status("call", name, ["Q.LENGTH", "q"]), status, name)

    def test_a_certificate_for_another_name(self):
        self.certificate("else", "authority", "DNS:elsewhere")
        port = self.start(certificate="else")
        self.open(url=f"sluices://localhost:{port}", ca_file=self.path("authority.pem"))
        answer = self.shell.ask("get", "q", "a")
        self.assertEqual(answer["status"], "denied")
        self.assertIn("localhost", answer["message"])

    def test_large_data_and_waits(self):
        port = self.start()
        self.open(url=f"sluices://localhost:{port}", ca_file=self.path("authority.pem"))
        data = '"' + "x" * 900_000 + '"'
        take = self.shell.begin("next", "q", "q", FOREVER, "job")
        self.put("a", data=data)
        self.assertEqual(take.result(LIMIT_S)["jobs"], ["a"])
        self.assertEqual(self.shell.ok("show", "job")["data"], data)
        self.shell.ok("keepalive", "job")
        self.shell.ok("done", "job", data)
        self.shell.ok("free", "job")
        take = self.shell.begin("next", "q", "q", FOREVER, "job")
        self.shell.ok("interrupt", "q", True)
        self.assertEqual(take.result(LIMIT_S)["status"], "interrupted")

    def test_what_is_too_large(self):
        port = self.start()
        self.open(url=f"sluices://localhost:{port}", ca_file=self.path("authority.pem"))
        oversize(self, "q")

    def test_both_sides_show_who_they_are(self):
        for name, authority in (("client", "authority"), ("intruder", "stranger")):
            self.certificate(name, authority)
        port = self.start("--tls-ca", self.path("authority.pem"))
        for name, status in (("client", "ok"), ("intruder", "denied"), (None, "denied")):
            files = {"cert_file": self.path(f"{name}.pem"),
                     "key_file": self.path(f"{name}.key")} if name else {}
            self.open(str(name), f"sluices://localhost:{port}", ca_file=self.path("authority.pem"),
                      **files)
            self.assertEqual(self.shell.status("get", str(name), "a"),
                             "not_found" if status == "ok" else status, name)

    def test_files_that_cannot_be_used(self):
        for options in ({"ca_file": "/nothing.pem"}, {"ca_file": self.path("authority.key")},
                        {"cert_file": "/nothing.pem"},
                        {"cert_file": self.path("server.pem"),
                         "key_file": self.path("authority.key")}):
            answer = self.shell.ask("open", "x", "sluices://localhost", options)
            self.assertEqual(answer["status"], "invalid")
            self.assertIn("_file", answer["message"])


class Opening(unittest.TestCase):
    def test_what_cannot_be_opened(self):
        with Shell() as shell:
            for url, options in (("", {}), ("host:7711", {}), ("sluice://host:x", {}),
                                 ("sluice://host", {"ns": ""}),
                                 ("sluice://host", {"worker": "w" * 256})):
                answer = shell.ask("open", "x", url, options)
                self.assertEqual(answer["status"], "invalid", url)
                self.assertTrue(answer["message"])

    def test_names(self):
        with Shell() as shell:
            answer = shell.ok("open", "a", "sluice://host/app")
            self.assertEqual(answer["ns"], "app")
            other = shell.ok("open", "b", "sluice://host")
            self.assertEqual(other["ns"], "default")
            self.assertIn(str(shell.process.pid), answer["worker"])
            self.assertNotEqual(answer["worker"], other["worker"])
            self.assertEqual(shell.open("c", "sluice://host", worker="me")["worker"], "me")
            for name in "abc":
                shell.ok("close", name)


if __name__ == "__main__":
    sluiced.main()
