#!/usr/bin/python3
"""Looking at jobs and queues, changing them, finding them."""

import tool

JOBS = "JID  KLASS  QUEUE  STATE  STAGE  PRIORITY  ATTEMPTS  MOVED  DUE  DATA\n"


class Jobs(tool.ServerCase):
    def test_a_job_is_a_line_a_field(self):
        self.put("ann", "mail", "--tag", "a,b")
        text = self.good("get", "ann")
        self.assertRegex(text, r"(?m)^jid +ann$")
        self.assertRegex(text, r'(?m)^data +\{"to":"ann"\}$')
        self.assertRegex(text, r"(?m)^tags +a,b$")
        self.assertRegex(text, r"(?m)^created +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \((now|\w+ ago)\)$")
        self.assertNotIn("deadline", text)

    def test_jobs_that_are_not_there_are_named(self):
        self.put("ann")
        self.put("bob")
        self.assertEqual([job["jid"] for job in self.lines("get", "ann", "bob")], ["ann", "bob"])
        printed = self.refused(3, "there is no job nobody", "get", "ann", "nobody", "--json")
        self.assertEqual(len(printed.splitlines()), 1)

    def test_a_text_cannot_move_the_cursor(self):
        # Names are any bytes there.
        self.good("namespaces", "create", self._testMethodName[:100], "--clock", "client")
        self.good("put", "mail", "Send", '{"a":1}', "--tag", "\033[2Jx\ny\u009b31m")
        self.assertNotIn("\033", self.good("get", self.lines("jobs")[0]["jid"]))
        self.assertIn(r"\x1b[2Jx\ny\xc2\x9b31m", self.good("get", self.lines("jobs")[0]["jid"]))

    def test_a_peek_takes_nothing(self):
        self.put("ann")
        self.put("bob", "mail", "--priority", "-1")
        self.says(JOBS + 'bob  Send  mail  waiting  -  -1  0  TIME  -  {"to":"bob"}\n'
                  'ann  Send  mail  waiting  -  0  0  TIME  -  {"to":"ann"}\n', "peek", "mail")
        self.assertEqual([job["jid"] for job in self.lines("peek", "mail", "1")], ["bob"])
        self.good("cancel", "ann", "bob")
        done = self.run_tool("peek", "mail")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", "sluice: there is nothing to pop\n"))

    def test_an_explanation_is_a_sentence(self):
        self.put("ann", "mail", "--at", "2100-01-01")
        self.says("Job ann is scheduled for 2100-01-01T00:00:00.000Z.\n", "explain", "ann")
        self.assertEqual(self.json("explain", "ann")["reason"], "scheduled")
        self.refused(3, "job nobody does not exist", "explain", "nobody")

    def test_a_history_is_a_table(self):
        self.take("ann")
        self.says("WHEN  WHAT  QUEUE  WORKER  GROUP  MESSAGE  DATA\n"
                  "TIME  put  mail  -  -  -  -\n"
                  "TIME  popped  -  w1  -  -  -\n", "history", "ann")
        self.assertEqual([entry["what"] for entry in self.lines("history", "ann")],
                         ["put", "popped"])

    def test_a_job_is_changed(self):
        self.put("ann")
        self.says("priority of ann, -10\n", "priority", "ann", "-10")
        self.says("data of ann, {\"n\":1}\n", "data", "ann", '{"n":1}')
        self.says("data of ann, -\n", "data", "ann", "-", text='{"n":2}')
        self.says("noted in ann, approved\n", "note", "ann", "approved", "--data", '{"by":"joe"}')
        job = self.json("get", "ann")
        self.assertEqual((job["priority"], job["data"]), (-10, {"n": 2}))
        self.assertEqual(self.lines("history", "ann")[-1]["what"], "approved")
        self.assertRegex(self.good("options", "ann"), r"^(given|in-effect)?")

    def test_jobs_are_removed(self):
        for jid in ("a", "b", "c"):
            self.put(jid)
        self.says("2 canceled\n", "cancel", "a", "b", "nobody")
        self.refused(3, "none of them is there to be canceled", "cancel", "a")
        self.assertEqual(self.run_tool("cancel", "a", "--json").returncode, 3)
        self.take("done")
        self.good("complete", "done")
        self.says("deleted done\n", "delete", "done")
        self.refused(1, "job c is waiting; only a finished job can be deleted", "delete", "c")
        for jid in ("d1", "d2"):
            self.take(jid)
            self.good("complete", jid)
        done = self.run_tool("delete", "d1", "c", "d2", "nope")
        self.assertEqual((done.returncode, done.stdout), (1, "deleted d1\ndeleted d2\n"))
        self.assertEqual(done.stderr, "sluice: job c is waiting; only a finished job can be deleted\n"
                                      "sluice: job nope does not exist\n")

    def test_jobs_are_found_by_what_is_in_them(self):
        for jid in ("ann", "bob", "cat"):
            self.put(jid)
        self.put("other-ann", "other")
        self.assertEqual({job["jid"] for job in self.lines("find", "ANN")}, {"ann", "other-ann"})
        self.says(JOBS + 'ann  Send  mail  waiting  -  0  0  TIME  -  {"to":"ann"}\n', "find", "ann",
                  "-q", "mail")
        self.assertEqual([job["jid"] for job in self.lines("find", "--jid", "other", "--data", "to")],
                         ["other-ann"])
        self.refused(3, "no job has that", "find", "ann", "--state", "failed")
        self.refused(3, "there is no queue nope", "find", "ann", "-q", "nope")
        self.refused(3, "there is no namespace typo", "find", "ann", "--ns", "typo")
        done = self.run_tool("find", "to", "--count", "1")
        self.assertEqual(done.stderr, "sluice: 1 of 4 shown; --count shows more\n")

    def test_a_worker_begins(self):
        self.take("ann")
        self.says("started ann, 4711\n", "start", "ann", "4711")
        job = self.json("get", "ann")
        self.assertEqual((job["stage"], job["lease"]["pid"]), ("started", 4711))

    def test_a_lease_is_taken_away(self):
        self.take("ann")
        self.says("timed out ann\n", "timeout", "ann")
        self.assertIsNone(self.json("get", "ann")["lease"])

    def test_dependencies_come_and_go(self):
        for jid in ("a", "b"):
            self.put(jid)
        self.put("c", "mail", "--depends", "a")
        self.says("depends: c, b\n", "depends", "on", "c", "b")
        self.assertEqual(self.json("get", "c")["depends"], ["a", "b"])
        self.says("depends no more: c, a\n", "depends", "off", "c", "a")
        self.says("depends on nothing: c\n", "depends", "clear", "c")
        self.assertEqual(self.json("get", "c")["state"], "waiting")

    def test_tags_find_jobs(self):
        self.put("ann")
        self.put("bob")
        self.says("urgent\npaid\n", "tag", "ann", "urgent", "paid")
        self.says("urgent\n", "tag", "bob", "urgent")
        self.says("urgent\n", "untag", "ann", "paid")
        self.says("TAG  COUNT\nurgent  2\n", "tags")
        self.says(JOBS + 'ann  Send  mail  waiting  -  0  0  TIME  -  {"to":"ann"}\n'
                  'bob  Send  mail  waiting  -  0  0  TIME  -  {"to":"bob"}\n', "tags", "urgent")
        done = self.run_tool("tags", "urgent", "--count", "1")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "sluice: 1 of 2 shown; --offset 1 shows the next\n"))
        self.assertEqual(self.lines("tags", "urgent", "--offset", "1")[0]["jid"], "bob")

    def test_jobs_are_tracked(self):
        self.put("ann")
        self.refused(3, "that job was not tracked", "untrack", "ann")
        self.says("tracked ann\n", "track", "ann")
        self.says(JOBS + 'ann  Send  mail  waiting  -  0  0  TIME  -  {"to":"ann"}\n', "tracked")
        self.says("not tracked ann\n", "untrack", "ann")
        self.assertEqual(self.run_tool("tracked", "--json").stdout, "")
        done = self.run_tool("untrack", "ann", "--json")
        self.assertEqual((done.returncode, done.stdout), (3, "false\n"))


class Queues(tool.ServerCase):
    def test_queues_have_counts(self):
        self.refused(3, f"there is no namespace {self._testMethodName[:100]}", "queues")
        self.good("namespaces", "create", self._testMethodName[:100])
        done = self.run_tool("queues")
        self.assertEqual((done.returncode, done.stderr), (0, "sluice: there are no queues\n"))
        self.put("ann")
        self.put("bob", "mail", "--delay", "1h")
        self.take("cat", "reports")
        self.assertEqual(
            self.good("queues"),
            "QUEUE    WAITING  RUNNING  STALLED  SCHEDULED  DEPENDS  FAILED  RECURRING  LISTENERS  PAUSED\n"
            "mail           1        0        0          1        0       0          0          0  no\n"
            "reports        0        1        0          0        0       0          0          0  no\n")
        self.assertEqual([queue["queue"] for queue in self.lines("queues")], ["mail", "reports"])
        self.assertRegex(self.good("queue", "mail"), r"(?m)^waiting +1$")
        self.says("2\n", "count", "--queue", "mail")
        self.says("1\n", "count", "--state", "running")
        self.says("PRIORITY  COUNT\n-1000  1\n0  2\n", "priorities")
        self.assertEqual(self.json("lane", "mail")["waiting"], 1)

    def test_queues_are_paused(self):
        self.put("ann")
        self.says("paused mail, reports\n", "pause", "mail", "reports")
        self.refused(3, "there is nothing to pop", "pop", "mail")
        self.assertTrue(self.json("queue", "mail")["paused"])
        self.says("unpaused mail, reports\n", "unpause", "mail", "reports")
        self.assertEqual(self.json("pop", "mail")["jid"], "ann")
        self.put("bob", "reports")
        self.good("cancel", "bob")
        self.says("forgotten reports\n", "forget", "reports")
        self.refused(1, "queue mail has 1 jobs that are not complete", "forget", "mail")
        self.assertIn("mail", self.good("queues"))

    def test_jobs_are_listed_whatever_their_state(self):
        self.take("run")
        self.put("a")
        self.put("b", "other")
        self.put("later", "mail", "--delay", "1h")
        self.says(JOBS + 'run  Send  mail  running  reserved  -1000  1  TIME  -  {"to":"run"}\n'
                  'a  Send  mail  waiting  -  0  0  TIME  -  {"to":"a"}\n'
                  'later  Send  mail  scheduled  -  0  0  TIME  TIME  {"to":"later"}\n', "jobs", "mail")
        self.assertEqual({job["jid"] for job in self.lines("jobs")}, {"run", "a", "b", "later"})
        self.assertEqual([job["jid"] for job in self.lines("jobs", "-s", "waiting")], ["a", "b"])
        self.good("complete", "run")
        self.assertEqual([job["jid"] for job in self.lines("jobs", "-s", "complete")], ["run"])
        self.assertEqual([(job["jid"], job["queue"]) for job in self.lines("jobs", "mail", "-s", "complete")],
                         [("run", "mail")])
        self.assertEqual(self.run_tool("jobs", "other", "-s", "complete").stdout, "")
        self.refused(3, "there is no queue nothing", "jobs", "nothing")
        self.refused(2, "--state is one of running|waiting|stalled|scheduled|depends|failed|complete,"
                     " not done", "jobs", "--state", "done")

    def test_jobs_are_listed_page_by_page(self):
        for number in range(3):
            self.put(f"a{number}", "a")
            self.put(f"b{number}", "b")
        wanted = ["a0", "a1", "a2", "b0", "b1", "b2"]
        seen = []
        for offset in range(0, 6, 2):
            done = self.run_tool("jobs", "--json", "--count", 2, "--offset", offset)
            seen += [line.split('"')[3] for line in done.stdout.splitlines()]
        self.assertEqual(seen, wanted)
        done = self.run_tool("jobs", "--count", 4)
        self.assertEqual(done.stderr, "sluice: 4 of 6 shown; --offset 4 shows the next\n")

    def test_failures_are_listed_and_undone(self):
        self.put("well", "elsewhere")
        self.assertEqual(self.run_tool("failed").stderr, "sluice: nothing has failed\n")
        self.refused(3, "nothing has failed in that group", "failed", "smtp")
        self.refused(3, "no job matches", "unfail", "smtp")
        for jid, queue in (("a", "mail"), ("b", "mail"), ("c", "other")):
            self.take(jid, queue)
            self.good("fail", jid, "smtp", "refused")
        self.says("GROUP  COUNT  MESSAGE\nsmtp  3  refused\n", "failed")
        self.says("JID  KLASS  QUEUE  ATTEMPTS  WHEN  WORKER  MESSAGE\n"
                  "c  Send  other  1  TIME  w1  refused\n"
                  "b  Send  mail  1  TIME  w1  refused\n"
                  "a  Send  mail  1  TIME  w1  refused\n", "failed", "smtp")
        self.assertEqual([job["jid"] for job in self.lines("jobs", "mail", "-s", "failed", "-n", 1)],
                         ["b"])
        self.assertEqual([job["jid"] for job in
                          self.lines("jobs", "mail", "-s", "failed", "-n", 1, "-o", 1)], ["a"])
        self.says("1 put\n", "unfail", "smtp", "elsewhere", "--count", "1")
        self.assertEqual(self.json("get", "a")["queue"], "elsewhere")
        self.says("2 matched, 2 changed\n", "unfail", "smtp")
        self.assertEqual(self.json("get", "c")["queue"], "other")
        self.refused(3, "nothing has failed in that group", "unfail", "smtp", "mail")
        self.refused(2, "--count needs a QUEUE to put them into", "unfail", "smtp", "-n", "1")

    def test_a_day_is_told_in_figures(self):
        self.take("ann")
        self.good("complete", "ann")
        self.assertRegex(self.good("stats", "mail"), r"(?m)^run\.count +1$")
        self.assertNotIn("histogram", self.good("stats", "mail"))
        self.assertEqual(len(self.json("stats", "mail")["run"]["histogram"]), 148)
        self.assertEqual(self.json("stats", "mail", "--date", "2020-02-02")["run"]["count"], 0)
        metrics = self.good("metrics", "mail")
        self.assertRegex(metrics, r"(?m)^TOOK +COUNT +MEAN +P50 +P90 +P99 +P999 +MAX$")
        self.assertRegex(metrics, r"(?m)^attempts +1 +1 +1$")
        self.assertRegex(metrics, r"(?m)^PER-SECOND +1S +1M +15M$")
        self.assertEqual(self.json("metrics")["runtime"]["count"], 1)

    def test_what_happened_is_told_by_period_and_day(self):
        self.take("ann")
        self.good("complete", "ann")
        self.assertRegex(tool.shape(self.good("totals")), r"(?m)^jobs.complete  1\n")
        self.assertRegex(self.good("totals"), r"(?m)^rates.popped +\d")
        self.assertRegex(tool.shape(self.good("series", "mail", "--step", "1", "-n", "3")),
                         r"^FROM  PUT  POPPED  COMPLETED  FAILED  RETRIED  LOST  WAITING  RUNNING  "
                         r"WAIT-P99  RUN-P99\n(TIME  .*\n){3}$")
        self.assertEqual(self.json("series", "-n", "3")["step"], 60)
        day, = self.lines("days", "mail")
        self.assertEqual((day["queue"], day["run"]["count"]), ("mail", 1))
        self.assertRegex(tool.shape(self.good("days")), r"(?m)^mail  \d{4}-\d\d-\d\d  1  ")

    def test_lanes_are_listed_and_a_queue_is_explained(self):
        self.put("ann", "mail", "--domain", "a")
        self.put("bob", "mail", "--domain", "b")
        self.good("limit", "set", "-q", "mail", "--domain", "a", "--concurrency", "3")
        self.assertEqual([(lane["domain"], lane["waiting"], lane["concurrency"])
                          for lane in self.lines("lanes", "mail")],
                         [(None, 0, 0), ("a", 1, 3), ("b", 1, 0)])
        self.says("Queue mail has a job to hand out, and no worker listens.\n", "explain-queue", "mail")

    def test_workers_are_listed(self):
        self.put("bob", "other")
        self.assertEqual(self.run_tool("workers").stderr, "sluice: there are no workers\n")
        self.refused(3, "worker w1 is not known", "workers", "w1")
        self.take("ann")
        # It popped on a connection that is closed by now.
        self.says("WORKER  SEEN  RUNNING  EXPIRED  OFFLINE  HOST  STARTED\n"
                  "w1  TIME  1  0  yes  127.0.0.1  TIME\n", "workers")
        self.assertEqual(self.run_tool("listeners", "mail").stderr,
                         "sluice: no worker listens to that queue\n")
        self.says("JID  KLASS  QUEUE  STATE  STAGE  EXPIRES  FRACTION  DATA\n"
                  'ann  Send  mail  running  reserved  TIME  -  {"to":"ann"}\n', "workers", "w1")
        self.says("offline: w1\n", "worker", "offline", "w1")
        self.assertTrue(self.lines("workers")[0]["offline"])
        self.says("deregistered w1\n", "worker", "deregister", "w1")
        self.assertEqual(self.run_tool("workers", "--json").stdout, "")


class Nothing(tool.ServerCase):
    """What is named and does not exist is said, and has an exit code of its own."""

    def test_an_act_on_nothing_is_no_success(self):
        self.put("ann")
        for words, sentence in (
                (["recur", "remove", "nope"], "recurring job nope does not exist"),
                (["limit", "unset", "-q", "nope"],
                 "there is no limit for queue nope and domain (all)"),
                (["policy", "unset", "klass", "nope"], "there is no policy for klass nope"),
                (["config", "unset", "mail-heartbeat"], "option mail-heartbeat is not set"),
                (["forget", "nope"], "there is no queue nope"),
                (["unpause", "nope"], "there is no queue nope"),
                (["worker", "offline", "nope"], "worker nope is not known"),
                (["worker", "deregister", "nope"], "worker nope is not known"),
                (["push", "unset", "nope"], 'there is no push of "nope"'),
                (["namespaces", "delete", "nope", "--yes"], 'there is no namespace "nope"'),
                (["bulk", "start", "cancel", "--tagged", "nope", "--yes"], "no job matches"),
                (["bulk", "start", "cancel", "--tagged", "nope", "--dry-run"], "no job matches"),
                (["unfail", "nope"], "no job matches"),
                (["kick", "nope"], "job nope does not exist"),
                (["delete", "nope"], "job nope does not exist")):
            with self.subTest(words):
                self.assertEqual(self.refused(3, sentence, *words), "")

    def test_a_look_at_nothing_is_not_an_empty_list(self):
        self.put("ann")
        for words in (["queue"], ["lane"], ["stats"], ["metrics"], ["listeners"], ["priorities"],
                      ["peek"], ["jobs"], ["recur", "list"], ["export"], ["count", "--queue"]):
            with self.subTest(words):
                printed = self.refused(3, "there is no queue nope", *words, "nope")
                self.assertEqual(printed if words[0] == "count" else "0\n", "0\n")
        for words in (["queues"], ["jobs"], ["count"], ["failed"], ["workers"], ["limit"],
                      ["policy"], ["recur"], ["tags"], ["tracked"], ["bulk"], ["priorities"],
                      ["metrics"], ["export"], ["count", "--json"], ["queues", "--json"]):
            with self.subTest(words):
                self.refused(3, "there is no namespace typo", *words, "--ns", "typo")

    def test_a_queue_that_is_paused_before_its_first_job_exists(self):
        self.good("pause", "early")
        self.assertRegex(self.good("queue", "early"), r"(?m)^paused +yes$")
        self.says("unpaused early\n", "unpause", "early")


class Settings(tool.ServerCase):
    def test_options_are_set_and_unset(self):
        self.says("set mail-heartbeat, 300\n", "config", "set", "mail-heartbeat", "300")
        self.says("heartbeat  60\nmail-heartbeat  300\nmail-fair  -\n", "config", "get",
                  "heartbeat", "mail-heartbeat", "mail-fair")
        self.assertEqual(self.json("config")["mail-heartbeat"], "300")
        self.says("unset mail-heartbeat\n", "config", "unset", "mail-heartbeat")
        self.assertNotIn("mail-heartbeat", self.json("config"))
        self.assertEqual(self.run_tool("config", "set", "heartbeat", "soon").returncode, 1)

    def test_limits_are_set_and_unset(self):
        self.put("ann")
        self.assertEqual(self.run_tool("limit").stderr, "sluice: there are no limits\n")
        self.good("limit", "set", "-q", "mail", "--domain", "customer-*", "--rate", "10",
                  "--period", "1m", "--burst", "5")
        self.good("limit", "set", "--concurrency", "3", "--weight", "2")
        self.says("QUEUE  DOMAIN  RATE  PERIOD  BURST  CONCURRENCY  WEIGHT  WAITING  RUNNING  HELD\n"
                  "mail  customer-*  10  1m  5  -  -  0  0  0\n"
                  "-  -  -  -  -  3  2  1  0  0\n", "limit", "list")
        self.good("limit", "unset")
        self.assertEqual(len(self.lines("limit")), 1)

    def test_policies_are_set_and_unset(self):
        self.says("set klass, Send\n", "policy", "set", "klass", "Send", "--backoff",
                  "exponential:1:300:20", "--run-timeout", "10m", "--lease", "5m", "--result-ttl", "2h",
                  "--max-crashes", "3", "--on-dependency-failure", "fail")
        self.says("SCOPE  NAME  BACKOFF  TIMEOUT  LEASE  RESULT-TTL  MAX-CRASHES  ON-DEPENDENCY-FAILURE\n"
                  "klass  Send  exponential:1:300:20  10m  5m  2h  3  fail\n", "policy")
        self.says("unset klass, Send\n", "policy", "unset", "klass", "Send")
        self.assertEqual(self.run_tool("policy", "list", "--json").stdout, "")

    def test_recurring_jobs(self):
        self.good("namespaces", "create", self._testMethodName)
        self.assertEqual(self.run_tool("recur").stderr, "sluice: there are no recurring jobs\n")
        self.says("recurring: nightly, reports, Nightly\n", "recur", "add", "nightly", "reports",
                  "Nightly", "--cron", "0 3 * * *", "--zone", "Europe/Berlin", "--overlap", "skip",
                  "--tag", "report", "--missed", "one")
        self.good("recur", "add", "poll", "mail", "Poll", '{"n":1}', "--interval", "5m", "--delay",
                  "1m", "--backlog", "2", "--priority", "3", "--retries", "1")
        self.says("JID  QUEUE  KLASS  INTERVAL  CRON  ZONE  NEXT  COUNT  DATA\n"
                  "nightly  reports  Nightly  -  0 3 * * *  Europe/Berlin  TIME  0  {}\n"
                  'poll  mail  Poll  5m  -  -  TIME  0  {"n":1}\n', "recur", "list")
        self.assertEqual([job["jid"] for job in self.lines("recur", "list", "mail")], ["poll"])
        self.says("updated poll\n", "recur", "update", "poll", "--interval", "10m", "-k", "Look",
                  "--queue", "inbox", "--data", "[2]")
        job = self.json("recur", "get", "poll")
        self.assertEqual((job["interval"], job["klass"], job["queue"], job["data"]),
                         (600, "Look", "inbox", [2]))
        self.assertRegex(self.good("recur", "get", "poll"), r"(?m)^interval +10m$")
        self.good("recur", "update", "nightly", "--cron", "0 4 * * *", "--zone", "Asia/Tokyo",
                  "--missed", "all", "--overlap", "allow", "--domain", "lane", "--run-timeout", "5m",
                  "--backoff", "fixed:3", "--max-crashes", "2")
        job = self.json("recur", "get", "nightly")
        self.assertEqual([job[key] for key in ("cron", "zone", "missed", "overlap", "domain")],
                         ["0 4 * * *", "Asia/Tokyo", "all", "allow", "lane"])
        self.assertEqual([job["options"][key] for key in ("timeout", "backoff", "max_crashes")],
                         [300, "fixed:3", 2])
        self.says("paused nightly\n", "recur", "pause", "nightly")
        self.assertTrue(self.json("recur", "get", "nightly")["paused"])
        self.says("nightly-1\n", "recur", "run", "nightly")
        self.says("resumed nightly\n", "recur", "resume", "nightly")
        self.assertIn("Europe/Berlin", self.good("zones"))
        self.says("a\nb\n", "recur", "tag", "poll", "a", "b")
        self.says("b\n", "recur", "untag", "poll", "a")
        self.assertEqual(len(self.lines("recur", "runs", "poll", "-n", "3")), 3)
        self.says("removed poll\n", "recur", "remove", "poll")
        self.assertEqual(self.run_tool("recur", "get", "poll").returncode, 3)

    def test_more_recurring_jobs_than_a_page_are_listed(self):
        with tool.sluiced.Client(self.server) as client:
            for number in range(1100):
                client.send("Q.RECUR", self.url.rsplit("/", 1)[1], f"r{number}", "mail", "K", "{}",
                            "INTERVAL", "60", "DELAY", "3600")
            for number in range(1100):
                client.hear("+OK")
        self.assertEqual(len(self.lines("recur", "list")), 1100)

    def test_a_cron_expression_is_tried(self):
        text = self.good("cron", "30 9 * * mon-fri", "--zone", "Europe/Berlin", "-n", "2",
                         "--after", "2100-01-01")
        self.assertRegex(text, r"^2100-01-01 09:30:00 CET \(in \d+d(\d+h)?\)\n"
                               r"2100-01-04 09:30:00 CET \(in \d+d(\d+h)?\)\n$")
        self.assertRegex(self.good("cron", "30 9 * * mon-fri", "-n", "1", "--after", "2100-01-01"),
                         r"^2100-01-01 09:30:00Z ")
        self.good("recur", "add", "nightly", "reports", "Nightly", "--cron", "0 3 * * *", "--zone",
                  "Asia/Tokyo")
        self.assertRegex(self.good("recur", "runs", "nightly", "-n", "1"),
                         r"^\d{4}-\d\d-\d\d 03:00:00 JST \(in \w+\)\n$")
        self.assertEqual(self.run_tool("cron", "never").returncode, 1)

    def test_times_are_relative_or_not(self):
        self.put("ann", "mail", "--at", "2100-06-01T12:00:00Z")
        self.assertRegex(self.good("jobs"), r"(?m)^ann .* in \d+d(\d+h)?  \{")
        self.assertRegex(self.good("jobs", "--times", "utc"), r" 2100-06-01 12:00:00Z  \{")
        # The tests' own zone is Europe/Berlin.
        self.assertRegex(self.good("jobs", "--times", "local"), r" 2100-06-01 14:00:00 CEST  \{")
        self.assertRegex(self.good("get", "ann", "--times", "local"),
                         r"(?m)^scheduled +2100-06-01 14:00:00 CEST \(in ")
        self.refused(2, "--times is one of relative|utc|local, not soon", "jobs", "--times", "soon")


if __name__ == "__main__":
    tool.main()
