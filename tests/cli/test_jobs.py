#!/usr/bin/python3
"""Putting jobs in, taking them out, settling them; the same on a server and in a folder."""

import tempfile

import tool


class Work:
    """What is the same in both."""

    def test_a_put_prints_the_jid(self):
        self.assertRegex(self.good("put", "mail", "Send", '{"to":"ann"}'), r"^[0-9a-f-]{36}\n$")
        self.says("ann\n", "put", "mail", "Send", "--jid", "ann")
        self.assertEqual(self.json("put", "mail", "Send", "--jid", "bob"), {"jid": "bob"})
        self.assertEqual(self.json("get", "bob")["data"], {})

    def test_many_jobs_come_from_lines_of_json(self):
        text = ('{"queue":"mail","klass":"Send","data":{"n":1},"jid":"a","tags":["x"]}\n'
                '\n'
                '{"queue":"mail","klass":"Send","jid":"b","priority":3}\n')
        self.says("a\nb\n", "put", "--bulk", text=text)
        self.assertEqual(self.json("get", "a")["data"], {"n": 1})
        self.assertEqual(self.json("get", "b")["priority"], 3)
        self.assertEqual(self.lines("put", "--bulk", text=text), [{"jid": "a"}, {"jid": "b"}])

    def test_a_pop_shows_the_jobs(self):
        self.put("ann")
        self.put("bob")
        table = tool.shape(self.good("pop", "mail"))
        self.assertRegex(table, r"^JID  KLASS  QUEUE  TOKEN  EXPIRES  DATA\n"
                                r'ann  Send  mail  \d+  TIME  {"to":"ann"}\n$')
        jobs = self.lines("pop", "mail", "--count", "5", "--worker", "w7")
        token = int(table.splitlines()[1].split()[3])
        self.assertEqual([(job["jid"], job["token"]) for job in jobs], [("bob", token + 1)])
        self.assertEqual(self.json("get", "bob")["lease"]["worker"], "w7")
        self.refused(3, "there is nothing to pop", "pop", "mail")
        self.refused(3, "there is nothing to pop", "pop", "mail", "other", "--wait", "10ms")

    def test_a_person_completes_a_job_without_its_lease_at_hand(self):
        self.take("ann")
        self.says("complete\n", "complete", "ann", "--result", '{"sent":true}')
        self.assertEqual(self.json("get", "ann")["result"], {"sent": True})
        self.refused(1, "job ann is not running: complete", "complete", "ann")
        self.refused(3, "job nobody does not exist", "complete", "nobody")

    def test_a_job_fails_in_a_group(self):
        self.take("ann")
        self.says("failed ann, smtp, connection refused\n", "fail", "ann", "smtp",
                  "connection refused")
        failure = self.json("get", "ann")["failure"]
        self.assertEqual((failure["group"], failure["message"]), ("smtp", "connection refused"))

    def test_an_operator_fails_a_job_that_is_not_running(self):
        self.good("put", "mail", "Send", "--jid", "idle")
        self.refused(1, "job idle is not running: waiting", "fail", "idle", "old", "obsolete")
        self.says("failed idle, old, obsolete\n", "fail", "--force", "idle", "old", "obsolete")
        failure = self.json("get", "idle")["failure"]
        self.assertEqual((failure["group"], failure["worker"]), ("old", "operator"))

    def test_a_heartbeat_says_when_the_lease_ends(self):
        self.take("ann")
        self.assertRegex(self.good("heartbeat", "ann"),
                         r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(in \d+[ms]\d*s?\)\n$")
        self.assertIsInstance(self.json("heartbeat", "ann", "--data", '{"n":3}'), float)
        self.assertEqual(self.json("get", "ann")["data"], {"n": 3})

    def test_a_running_job_says_how_far_it_is(self):
        self.take("ann")
        self.says("progress of ann, 0.5\n", "progress", "ann", "0.5", "-m", "half")
        self.says("checkpoint of ann, page-4\n", "checkpoint", "ann", "page-4")
        self.says("logged to ann, hello\n", "log", "ann", "hello")
        job = self.json("get", "ann")
        self.assertEqual(job["progress"], {"fraction": 0.5, "message": "half"})
        self.assertEqual(job["checkpoint"], "page-4")
        self.assertRegex(self.good("logs", "ann"), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  hello\n$")
        self.assertEqual([line["line"] for line in self.lines("logs", "ann")], ["hello"])
        self.refused(3, "job nobody does not exist", "logs", "nobody")

    def test_waiting_for_a_job_shows_how_it_ended(self):
        self.take("ann")
        self.refused(3, "job ann has not finished", "wait", "ann", "--for", "10ms")
        self.refused(3, "job ann has not finished", "wait", "ann", "--for", "0")
        self.good("complete", "ann", "--result", '{"sent":true}')
        self.says('{"sent":true}\n', "wait", "ann")
        self.assertEqual(self.json("wait", "ann"), {"state": "complete", "result": {"sent": True},
                                                    "group": None, "message": None})
        self.take("bob")
        self.good("complete", "bob")
        self.says("complete\n", "wait", "bob")
        self.take("cat")
        self.good("fail", "cat", "smtp", "refused")
        self.refused(1, "job cat has failed: smtp: refused", "wait", "cat")


class OnServer(Work, tool.ServerCase):
    def test_data_comes_from_standard_input_or_a_file(self):
        self.good("put", "mail", "Send", "-", "-j", "a", text='{"from":"stdin"}\n')
        self.assertEqual(self.json("get", "a")["data"], {"from": "stdin"})
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"from":"file"}')
            file.flush()
            self.good("put", "mail", "Send", "@" + file.name, "-j", "b")
        self.assertEqual(self.json("get", "b")["data"], {"from": "file"})
        self.refused(2, "/nothing/here cannot be read: No such file or directory",
                     "put", "mail", "Send", "@/nothing/here")
        self.refused(2, "standard input has a byte of value 0, which JSON does not have",
                     "put", "mail", "Send", "-", text='{"a":\0}')

    def test_every_option_of_a_put_arrives(self):
        self.put("first")
        self.good("put", "mail", "Send", "{}", "-j", "all", "--priority", "7", "--retries", "0",
                  "--tag", "a,b", "--tag", "c", "--domain", "d", "--deadline", "2100-01-01",
                  "--backoff", "fixed:3", "--run-timeout", "10m", "--lease", "0", "--result-ttl", "1d",
                  "--max-crashes", "2", "--on-dependency-failure", "cancel",
                  "--unique", "key", "--unique-until", "started", "--on-conflict", "refuse",
                  "--depends", "first")
        job = self.json("get", "all")
        wanted = {"priority": 7, "retries": 0, "tags": ["a", "b", "c"], "domain": "d",
                  "deadline": 4102444800.0, "depends": ["first"], "state": "depends"}
        self.assertEqual({key: job[key] for key in wanted}, wanted)
        self.assertEqual(job["unique"]["key"], "key")
        self.assertEqual(self.json("options", "all")["given"],
                         {"backoff": "fixed:3", "timeout": 600, "lease": 0, "result_ttl": 86400,
                          "max_crashes": 2, "on_dependency_failure": "cancel"})
        self.refused(1, "job all holds the lock and is depends", "put", "mail", "Send",
                     "--unique", "key", "--on-conflict", "refuse")
        self.good("put", "mail", "Send", "-j", "later", "--at", "2100-01-01T00:00:30Z")
        self.assertEqual(self.json("get", "later")["scheduled"], 4102444830.0)
        self.good("put", "mail", "Send", '{"x":1}', "-j", "one", "--unique-contents")
        self.says("one\n", "put", "mail", "Send", '{"x":1}', "--unique-contents")

    def test_a_cancel_takes_the_dependents_along_when_asked_to(self):
        self.put("first")
        self.put("second", "mail", "--depends", "first")
        self.put("third", "mail", "--depends", "second")
        self.refused(1, "job first is a dependency of second, which is not to be canceled",
                     "cancel", "first")
        self.says("3 canceled\n", "cancel", "--dependents", "first")
        self.refused(3, "there is no job third", "get", "third")

    def test_a_job_may_have_the_name_of_an_option(self):
        self.put("dependents")
        self.says("1 canceled\n", "cancel", "dependents")

    def test_bytes_go_in_and_come_out_as_they_were(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/body"
            for number, body in enumerate((b"\xff\x00\r\n", b"hello\n", b'{"a":1}', b'"quoted"', b"")):
                with open(path, "wb") as file:
                    file.write(body)
                jid = f"raw-{number}"
                self.good("put", "bytes", "Send", "--raw", f"@{path}", "--jid", jid)
                done = tool.subprocess.run([tool.SLUICE, "get", jid, "--raw", "--url", self.url],
                                           capture_output=True, env=tool.environment(), check=True)
                self.assertEqual(done.stdout, body)
        self.assertEqual(self.json("get", "raw-0")["data"], {"$base64": "/wANCg=="})
        self.assertEqual(self.json("get", "raw-1")["data"], "hello\n")
        self.assertEqual(self.json("get", "raw-2")["data"], {"a": 1})
        self.good("put", "bytes", "Send", "oops", "--raw", "--jid", "text")
        self.assertEqual(self.json("get", "text")["data"], "oops")
        self.refused(2, "--raw needs DATA", "put", "bytes", "Send", "--raw")
        self.refused(2, "--bulk and --raw do not go together", "put", "--bulk", "--raw")
        self.refused(3, "there is no job nope", "get", "nope", "--raw")

    def test_zero_and_none_can_be_said(self):
        self.good("put", "mail", "Send", "--jid", "ann", "--priority", "5", "--deadline",
                  "2100-01-01", "--run-timeout", "20", "--lease", "30", "--result-ttl", "40",
                  "--max-crashes", "3", "--retries", "7", "--delay", "1h")
        job = self.json("get", "ann")
        self.assertEqual((job["priority"], job["retries"], job["state"]), (5, 7, "scheduled"))
        self.good("put", "mail", "Send", "--jid", "ann")
        self.assertEqual(self.json("get", "ann")["priority"], 5)
        self.good("put", "mail", "Send", "--jid", "ann", "--priority", "0", "--deadline", "0",
                  "--run-timeout", "0", "--lease", "0", "--result-ttl", "0", "--max-crashes", "0",
                  "--retries", "0", "--delay", "0")
        job = self.json("get", "ann")
        self.assertEqual((job["priority"], job["retries"], job["deadline"], job["state"]),
                         (0, 0, None, "waiting"))
        given = self.json("options", "ann")["given"]
        self.assertEqual([given[name] for name in ("timeout", "lease", "result_ttl", "max_crashes")],
                         [0, 0, 0, 0])
        self.good("put", "--bulk", text='{"queue":"mail","klass":"Send","jid":"bob","retries":0,'
                                        '"priority":0,"timeout":0,"result_ttl":0}')
        self.assertEqual(self.json("get", "bob")["retries"], 0)

    def test_a_wait_of_zero_does_not_wait_and_forever_has_a_word(self):
        self.put("ann")
        self.refused(3, "job ann has not finished", "wait", "ann", "--for", "0")
        self.refused(3, "there is nothing to pop", "pop", "nothing", "--wait", "0")
        done = self.run_tool("put", "mail", "Send", "--jid", "bob", "--wait", "--for", "0")
        self.assertEqual((done.returncode, done.stderr), (3, "sluice: job bob has not finished\n"))
        self.assertEqual(self.json("pop", "mail", "--wait", "forever")["jid"], "ann")
        self.good("complete", "ann", "--result", "1")
        self.says("1\n", "wait", "ann", "--for", "forever")
        self.assertEqual(self.run_tool("wait", "ann", "--for", "ever").returncode, 2)

    def test_data_that_is_no_json_is_refused(self):
        self.refused(1, "data is not JSON: invalid JSON at byte 0: expected a value",
                     "put", "mail", "Send", "oops")
        self.refused(2, "put needs QUEUE KLASS [DATA]", "put", "mail")

    def test_what_is_refused_of_many_is_said_by_its_line(self):
        text = ('{"queue":"mail","klass":"Send","jid":"a"}\n'
                'oops\n'
                '{"queue":"mail","klass":"Send","data":flase}\n'
                '{"queue":"mail","klass":"Send","colour":1}\n'
                '{"queue":"mail","klass":"Send","jid":"b"}\n')
        done = self.run_tool("put", "--bulk", text=text)
        self.assertEqual((done.returncode, done.stdout), (1, "a\nb\n"))
        lines = done.stderr.splitlines()
        self.assertIn("sluice: standard input:2: not a JSON object", lines)
        self.assertTrue(any(line.startswith("sluice: standard input:3: ") for line in lines), lines)
        self.assertIn("sluice: standard input:4: there is no such key: colour", lines)
        self.assertEqual(len(lines), 3)

    def test_round_robin_takes_from_each_queue(self):
        for jid, queue in (("a1", "a"), ("a2", "a"), ("b1", "b")):
            self.put(jid, queue)
        jobs = self.lines("pop", "a", "b", "-n", "2", "--round-robin")
        self.assertEqual({job["queue"] for job in jobs}, {"a", "b"})

    def test_the_best_of_all_queues_is_popped(self):
        for queue, priority in (("a", 3), ("b", 1), ("c", 2)):
            self.put(queue, queue, "--priority", priority)
        jobs = self.lines("pop", "a", "b", "c", "-n", "2", "--best")
        self.assertEqual([job["jid"] for job in jobs], ["b", "c"])
        self.refused(1, "either round_robin or best, not both", "pop", "a", "--best",
                     "--round-robin")

    def test_a_program_passes_its_lease_on(self):
        self.take("ann")
        token = self.json("get", "ann")["lease"]["token"]
        done = self.run_tool("complete", "ann", "--worker", "w1", "--token", token + 1)
        self.assertEqual(done.returncode, 1)
        done = self.run_tool("complete", "ann", "--worker", "somebody")
        self.assertEqual(done.returncode, 1)
        self.says("complete\n", "complete", "ann", "--worker", "w1", "--token", token)

    def test_a_completion_may_go_on_to_another_queue(self):
        self.take("ann")
        self.says("scheduled\n", "complete", "ann", "--next", "archive", "--delay", "1h",
                  "--data", '{"n":2}')
        job = self.json("get", "ann")
        self.assertEqual((job["queue"], job["data"]), ("archive", {"n": 2}))

    def test_there_can_be_no_limits_whatever_a_policy_says(self):
        self.good("policy", "set", "klass", "Send", "--run-timeout", "1m", "--lease", "2m",
                  "--result-ttl", "3m", "--max-crashes", "4")
        self.put("ann", "mail", "--run-timeout", "0", "--lease", "0", "--result-ttl", "0",
                 "--max-crashes", "0")
        options = self.json("options", "ann")["in_effect"]
        self.assertEqual([options[key] for key in ("timeout", "lease", "result_ttl", "max_crashes")],
                         [0, 0, 0, 0])

    def test_a_given_job_is_taken(self):
        self.put("ann")
        self.put("bob")
        job = self.json("take", "bob", "--worker", "w1", "--lease", "1h")
        self.assertEqual(job["jid"], "bob")
        lease = self.json("get", "bob")["lease"]
        self.assertEqual((lease["worker"], lease["length"]), ("w1", 3600))
        self.good("heartbeat", "bob", "--lease", "30s")
        self.assertEqual(self.json("get", "bob")["lease"]["length"], 30)
        self.refused(1, "job bob cannot be taken now: running", "take", "bob")
        self.assertEqual(self.run_tool("take", "eve").returncode, 3)
        self.good("pop", "mail", "--lease", "2m")
        self.assertEqual(self.json("get", "ann")["lease"]["length"], 120)

    def test_a_kick_runs_what_failed_or_is_scheduled(self):
        self.take("ann")
        self.good("fail", "ann", "smtp", "refused")
        self.put("bob", "mail", "--delay", "1h")
        self.says("2 kicked\n", "kick", "ann", "bob")
        self.refused(1, "job bob is neither failed nor scheduled: waiting", "kick", "bob")

    def test_a_retry_need_not_count(self):
        self.put("ann", "mail", "--retries", "0")
        self.good("pop", "mail")
        self.says("0\n", "retry", "ann", "--uncounted")

    def test_a_retry_says_how_many_remain(self):
        self.take("ann")
        self.says("4\n", "retry", "ann", "--delay", "1h", "--group", "smtp", "--message", "later")
        self.assertEqual(self.json("get", "ann")["state"], "scheduled")

    def until_somebody_waits(self, process):
        name = self.url.rsplit("/", 1)[1]

        def waits():
            self.assertIsNone(process.poll())
            return any(ns["name"] == name and ns["clients_waiting"]
                       for ns in self.lines("namespaces"))

        tool.eventually(waits)

    def test_a_put_can_wait_for_the_result(self):
        waiting = tool.start("put", "mail", "Send", "--wait", "--for", "60s", "--url", self.url)
        job = self.json("pop", "mail", "--wait", "60s")
        self.good("complete", job["jid"], "--result", "[1]")
        self.assertEqual(waiting.communicate(), ("[1]\n", ""))
        self.assertEqual(waiting.returncode, 0)

    def test_a_job_that_is_gone_has_no_result(self):
        self.put("ann")
        waiting = tool.start("wait", "ann", "--url", self.url)
        self.until_somebody_waits(waiting)
        self.good("cancel", "ann")
        self.assertEqual(waiting.communicate(), ("", "sluice: job ann is gone: canceled\n"))
        self.assertEqual(waiting.returncode, 3)

    def test_a_log_is_followed_until_the_job_is_done(self):
        self.take("ann")
        self.good("log", "ann", "one")
        following = tool.start("logs", "ann", "--follow", "--url", self.url)
        self.assertRegex(following.stdout.readline(), "one")
        self.good("log", "ann", "two")
        self.assertRegex(following.stdout.readline(), "two")
        self.good("complete", "ann")
        self.assertEqual(following.communicate(), ("", ""))
        self.assertEqual(following.returncode, 0)

    def test_more_jobs_than_one_group_are_put(self):
        text = "".join('{"queue":"q","klass":"K","jid":"j%d"}\n' % n for n in range(1234))
        self.assertEqual(self.good("put", "--bulk", text=text).split(),
                         [f"j{n}" for n in range(1234)])
        self.says("1234\n", "count", "--queue", "q")


class InFolder(Work, tool.FileCase):
    def test_a_folder_that_is_open_elsewhere_is_busy(self):
        self.take("ann")
        self.good("log", "ann", "one")
        holder = tool.start("logs", "ann", "--follow", "--url", self.url)
        self.assertRegex(holder.stdout.readline(), "one")  # it has it open
        done = self.run_tool("queues")
        holder.kill()
        holder.communicate()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^sluice: .*jobs")


if __name__ == "__main__":
    tool.main()
