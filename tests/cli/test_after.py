#!/usr/bin/python3
"""Looking after a server or a folder: events, bulk, import, backups, the doctor."""

import json
import os
import signal
import tempfile

import tool
from person import on_terminal


class Events(tool.ServerCase):
    def follow(self, *words):
        process = tool.start("events", *words, "--url", self.url)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)

        def listens():
            self.assertIsNone(process.poll())
            with tool.sluiced.Client(self.server) as client:
                return client.ask("PUBSUB CHANNELS *") != "[]"

        # A listener hears of what is put from then on.
        tool.eventually(listens)
        return process

    def test_events_are_followed(self):
        process = self.follow()
        self.put("ann")
        self.assertRegex(process.stdout.readline(),
                         r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  put +ann queue=mail$")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(), ("", ""))
        self.assertEqual(process.returncode, 0)

    def test_events_are_json_for_programs(self):
        process = self.follow("--json", "--count", "2")
        self.put("ann")
        self.good("cancel", "ann")
        events = [json.loads(line) for line in process.communicate()[0].splitlines()]
        self.assertEqual([(event["event"], event["jid"]) for event in events],
                         [("put", "ann"), ("canceled", "ann")])
        self.assertEqual(process.returncode, 0)

    def test_events_are_those_of_tracked_jobs_or_of_a_worker(self):
        self.put("ann")
        self.put("bob")
        self.good("track", "bob")
        process = self.follow("--tracked", "--json", "--count", "1")
        self.good("cancel", "ann")
        self.good("cancel", "bob")
        self.assertEqual(json.loads(process.communicate()[0])["jid"], "bob")
        self.take("cat")
        process = self.follow("--worker", "w1", "--json", "--count", "1")
        self.good("cancel", "cat")
        self.assertEqual(json.loads(process.communicate()[0])["event"], "canceled")
        self.refused(2, "--tracked and --worker do not go together", "events", "--tracked",
                     "--worker", "w1")


class Bulk(tool.ServerCase):
    def test_one_thing_is_done_to_many_jobs(self):
        for number in range(3):
            self.put(f"a{number}", "mail", "--tag", "news")
        self.assertRegex(self.good("bulk", "start", "cancel", "--tagged", "news", "--dry-run"),
                         r"^3 matched, 3 would be changed; --as \d+ changes them\n$")
        self.says("3 matched, 3 changed\n", "bulk", "start", "move", "-q", "mail", "--to", "out")
        self.refused(2, "bulk start needs --yes when standard input is not a terminal", "bulk", "start",
                     "cancel", "-q", "out")
        bulk = self.json("bulk", "start", "cancel", "-q", "out", "--yes")
        self.assertEqual((bulk["act"], bulk["changed"], bulk["done"]), ("cancel", 3, True))
        self.assertRegex(tool.shape(self.good("bulk")),
                         r"^ID  ACT  DRY-RUN  DONE  STOPPED  BEGAN  LOOKED-AT  MATCHED  CHANGED\n"
                         r"\d+  cancel  yes  yes  no  TIME  3  3  3\n"
                         r"\d+  move  no  yes  no  TIME  3  3  3\n"
                         r"\d+  cancel  no  yes  no  TIME  3  3  3\n$")
        self.assertRegex(self.good("bulk", "get", bulk["id"]), r"(?m)^act +cancel$")
        self.assertEqual(self.run_tool("bulk", "stop", bulk["id"]).returncode, 3)
        self.assertEqual(self.run_tool("bulk", "get", "999999").returncode, 3)

    def test_what_a_dry_run_has_found_is_done_exactly(self):
        for number in range(3):
            self.put(f"a{number}")
        dry = self.json("bulk", "start", "cancel", "-q", "mail", "--dry-run")
        self.put("later")
        self.says("3 matched, 3 changed\n", "bulk", "start", "cancel", "--as", dry["id"], "--yes")
        self.assertEqual([job["jid"] for job in self.lines("jobs")], ["later"])

    def test_jobs_are_named_one_by_one_or_in_a_file(self):
        for number in range(4):
            self.put(f"a{number}")
        self.says("2 matched, 2 changed\n", "bulk", "start", "priority", "--priority", "7", "--jid",
                  "a0", "--jid", "a1")
        self.says("1 matched, 1 changed\n", "bulk", "start", "tag", "--tag", "x", "--jids", "-",
                  text="a2\n\nnope\n")
        self.assertEqual([job["priority"] for job in self.lines("get", "a0", "a1", "a2")], [7, 7, 0])
        self.assertEqual(self.json("get", "a2")["tags"], ["x"])
        # An empty list is no job, and not all of them.
        self.refused(3, "standard input names no job", "bulk", "start", "cancel", "--yes", "--jids", "-")
        self.refused(2, "/nothing/there cannot be read: No such file or directory", "bulk", "start",
                     "cancel", "--yes", "--jids", "/nothing/there")
        self.assertEqual(len(self.lines("jobs")), 4)

    def test_finished_and_running_jobs_are_acted_upon(self):
        self.take("done")
        self.good("complete", "done")
        self.take("run")
        self.put("wait")
        self.refused(2, "bulk start needs --yes when standard input is not a terminal", "bulk", "start",
                     "delete", "--state", "complete")
        self.says("1 matched, 1 changed\n", "bulk", "start", "timeout", "--worker", "w1")
        self.assertIsNone(self.json("get", "run")["lease"])
        self.says("1 matched, 1 changed\n", "bulk", "start", "delete", "-s", "complete", "-s", "failed",
                  "--yes")
        self.assertEqual({job["jid"] for job in self.lines("jobs")}, {"run", "wait"})

    def test_thousands_are_waited_for(self):
        text = "".join('{"queue":"q","klass":"K"}\n' for _ in range(2500))
        self.good("put", "--bulk", text=text)
        self.says("2500 matched, 2500 changed\n", "bulk", "start", "cancel", "-y")
        self.says("0\n", "count")


class Import(tool.ServerCase):
    def write(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".jsonl")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def test_an_import_can_be_done_again(self):
        path = self.write("".join('{"queue":"q","klass":"K","jid":"j%d"}\n' % n
                                  for n in range(1100)))
        self.take("j3", "q")
        self.says("1099 put, 1 there already, 0 refused\n", "import", path)
        self.assertEqual(self.json("get", "j3")["state"], "running")
        self.assertEqual(self.json("import", path),
                         {"put": 0, "existing": 1100, "refused": 0, "lines": 1100})

    def test_an_import_names_what_it_refuses_and_goes_on(self):
        path = self.write('{"queue":"q","klass":"K","jid":"a"}\n{"queue":"q"}\n'
                          '{"queue":"q","klass":"K","data":{,}}\n{"queue":"q","klass":"K"}\n')
        done = self.run_tool("import", path)
        self.assertEqual((done.returncode, done.stdout),
                         (1, "2 put, 0 there already, 2 refused\n"))
        self.assertEqual(done.stderr, f"sluice: {path}:2: klass is missing\n"
                                      f"sluice: {path}:3: malformed JSON\n")
        self.says("1 put, 0 there already, 0 refused\n", "import", "--from", "4", path)
        self.refused(2, "/nothing cannot be read: No such file or directory", "import", "/nothing")

    def test_a_server_that_goes_away_ends_an_import(self):
        with tool.sluiced.Server() as server:
            url = f"sluice://127.0.0.1:{server.port}/app"
            process = tool.start("import", "-", "--url", url)
            for number in range(500):
                process.stdin.write('{"queue":"q","klass":"K","jid":"j%d"}\n' % number)
            process.stdin.flush()
            tool.eventually(lambda: tool.run("count", "--url", url).stdout == "500\n")
            server.stop()
            output, errors = process.communicate('{"queue":"q","klass":"K","jid":"last"}\n')
            self.assertEqual(output, "500 put, 0 there already, 0 refused\n")
            self.assertEqual(errors.splitlines()[-1],
                             "sluice: stopped behind line 500 of standard input")
            self.assertEqual(process.returncode, 4)
            server.start()


class Namespaces(tool.ServerCase):
    def test_namespaces_are_made_and_deleted(self):
        self.says("created one\n", "namespaces", "create", "one", "--clock", "client")
        self.refused(1, 'there is a namespace "one" already', "namespaces", "create", "one")
        self.assertRegex(tool.shape(self.good("namespaces")),
                         r"^NAME  CLOCK  QUEUES  CLIENTS_WAITING  SCHEDULED  DEPENDS  WAITING  "
                         r"RUNNING  STALLED  COMPLETE  FAILED\n(.*\n)*one  client  0  0")
        self.refused(2, "namespaces delete needs --yes when standard input is not a terminal",
                     "namespaces", "delete", "one")
        self.says("deleted one\n", "namespaces", "delete", "one", "--yes")
        self.assertNotIn("one", [ns["name"] for ns in self.lines("namespaces", "list")])

    def test_the_time_is_shown_and_set_right(self):
        self.put("ann")
        shown = self.json("clock")
        self.assertEqual((shown["clock"], shown["ahead"]), ("server", 0))
        self.assertEqual(shown["time"], shown["host_time"])
        self.assertRegex(self.good("clock", "show"), r"(?m)^step_pending +(no|false)$")
        self.says("0\n", "clock", "repair")

    def test_a_person_is_asked(self):
        self.good("namespaces", "create", "two")
        shown, code = on_terminal("namespaces", "delete", "two", "-u", self.url, answer=b"n\n")
        self.assertIn("Delete the namespace two with all that is in it? [y/N]", shown)
        self.assertIn("nothing was done", shown)
        self.assertEqual(code, 1)
        shown, code = on_terminal("namespaces", "delete", "two", "-u", self.url, answer=b"y\n")
        self.assertIn("deleted two", shown)
        self.assertEqual(code, 0)


class Doctor(tool.ServerCase):
    def test_a_server_is_examined(self):
        self.put("ann")
        text = self.good("doctor")
        self.assertRegex(text, r"(?m)^sluice_version +\d+\.\d+\.\d+$")
        self.assertRegex(text, r"(?m)^the namespace \w+ is sound$")
        self.assertEqual(self.json("doctor"), {"broken": 0, "repair": False, "sentences": []})
        self.assertTrue(self.json("doctor", "--repair", "--yes")["repair"])
        self.assertEqual(self.json("doctor", "--force")["broken"], 0)
        self.assertTrue(self.json("doctor", "--force", "--repair", "--yes")["repair"])
        self.refused(2, "doctor needs --yes when standard input is not a terminal", "doctor", "--repair")

    def test_a_backup_can_be_opened(self):
        self.put("ann")
        path = self.server.path("backup")
        self.says(f"backed up to {path}\n", "backup", path)
        self.assertEqual(self.run_tool("backup", path).returncode, 1)
        self.refused(2, "PATH is on the server's machine, and so must be absolute: rel", "backup",
                     "rel")
        ns = self.url.rsplit("/", 1)[1]
        done = tool.run("get", "ann", "--json", "--url", f"file:{path}", "--ns", ns)
        self.assertEqual(json.loads(done.stdout)["jid"], "ann")
        done = tool.run("doctor", path)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, f"{path} is sound"))


class Folder(tool.FileCase):
    def test_a_folder_is_backed_up_and_examined(self):
        self.put("ann")
        path = os.path.join(self.scratch.name, "backup")
        self.says(f"backed up to {path}\n", "backup", path)
        from_here = os.path.relpath(self.scratch.name) + "/another"
        self.says(f"backed up to {from_here}\n", "backup", from_here)
        self.assertTrue(os.path.isdir(os.path.join(self.scratch.name, "another")))
        self.assertEqual(self.good("doctor").splitlines()[-1], f"{self.folder} is sound")
        findings = self.json("doctor")
        self.assertEqual((findings["path"], findings["sound"]), (self.folder, True))
        done = self.run_tool("doctor", "/nothing/here")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nothing/here", done.stderr)

    def test_a_damaged_folder_is_repaired(self):
        self.url = self.url.replace("/jobs?", "/damaged?")
        folder = os.path.join(self.scratch.name, "damaged")
        self.put("ann")
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.path.getsize(path) > 8192:
                with open(path, "r+b") as file:
                    file.seek(100)
                    file.write(b"damage" * 100)
        done = self.run_tool("doctor")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("sluice: "), done.stderr)
        self.refused(2, "doctor needs --yes when standard input is not a terminal", "doctor", "--repair")
        done = self.run_tool("doctor", "--repair", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.isdir(folder + ".damaged"))
        self.assertEqual(self.good("doctor").splitlines()[-1], f"{folder} is sound")


class Bench:
    def test_lives_are_counted(self):
        text = self.good("bench", "--jobs", "200", "--threads", "4", "--payload", "50")
        self.assertRegex(text, r"^200 lives in [\d.e-]+ s: \d+ a second "
                               r"\(threads 4, payload 50 bytes\)\n\n"
                               r"STEP +P50 +P99 +MAX\n(put|take|done|life)")
        result = self.json("bench", "--jobs", "50", "--threads", "2")
        self.assertEqual(result["lives"], 50)
        self.assertEqual(set(result["life"]), {"p50", "p99", "max"})
        self.assertNotIn("bench", str(self.json("namespaces")))

    def test_any_command_can_be_called(self):
        self.put("ann")
        self.says("1\n", "call", "Q.LENGTH", "mail")
        self.assertEqual(json.loads(self.good("call", "q.get", "ann"))[0]["jid"], "ann")
        self.says("OK\n", "call", "--", "Q.PAUSE", "--odd")
        self.assertEqual(self.run_tool("call", "NOTHING").returncode, 1)


class BenchOnServer(Bench, tool.ServerCase):
    pass


class BenchInFolder(Bench, tool.FileCase):
    pass


if __name__ == "__main__":
    tool.main()
