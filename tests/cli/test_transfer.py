#!/usr/bin/python3
"""Namespaces out of a queue into a file and back, over a server and in a folder: nothing is lost."""

import json
import random
import subprocess
import tempfile
import urllib.request

import tool

EVERYTHING = """
config set heartbeat 120
config set x-own value
limit set --queue mail --domain d-* --rate 10 --period 60 --burst 5
limit set --concurrency 700
policy set klass Send --backoff exponential:1:300:20
put mail Send {"to":"ann"} --jid waits --priority 3 --retries 2 --tag x,y --domain d-1 --unique k
put mail Send {"to":"bob"} --jid later --at 2100-01-01 --deadline 2100-01-02
put mail Send {} --jid depends --depends waits,later
put other Send {} --jid chain --depends depends --on-dependency-failure run
put fails Send {} --jid fails
pop fails --worker w1
log fails --worker w1 tried
fail fails smtp refused --worker w1
put fails Send {} --jid holds --depends fails
put done Send {} --jid done
pop done --worker w1
complete done --worker w1 --result {"ok":true}
put runs Send {} --jid runs
put runs Send {} --jid retried --retries 7
pop runs --worker w1 --count 2
retry retried --worker w1 --delay 3600 --group net --message again
note waits looked --data {"by":"me"}
recur add tick mail Tick {} --interval 3600
recur add night other Report {} --cron 0_3_*_*_* --zone Europe/Berlin --tag nightly
track waits
pause other
put mail Send {} --jid unicode --tag grün
config set max-jobs 2
config set mail-max-jobs 1
"""


class Transfers:
    """What holds for a server and for a folder."""

    def at(self, ns):
        """The same queue, another namespace."""
        return self.url.replace(self._testMethodName[:100], ns + self._testMethodName[:90])

    def do(self, url, *words, text="", code=0):
        done = tool.run("--url", url, *words, text=text)
        self.assertEqual(done.returncode, code, (words, done.stderr))
        return done.stdout

    def make_everything(self, url):
        for line in EVERYTHING.strip().splitlines():
            self.do(url, *(word.replace("_", " ") if "*" in word else word
                           for word in line.split(" ")))

    def export(self, url):
        return self.do(url, "export")

    def check(self, url):
        done = tool.run("--url", url, "call", "Q.CHECK", "FORCE")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"broken":0', done.stdout.replace(" ", ""))

    def assert_same(self, one, two):
        self.assertEqual(one.splitlines(), two.splitlines())

    def test_a_copy_is_the_same(self):
        self.make_everything(self.url)
        exported = self.export(self.url)
        kinds = [next(iter(json.loads(line))) for line in exported.splitlines()]
        self.assertEqual(set(kinds), {"namespace", "option", "limit", "policy", "queue", "recurring",
                                      "job", "tracked", "number"})
        states = {item["job"]["jid"]: item["job"]["state"]
                  for item in map(json.loads, exported.splitlines()) if "job" in item}
        self.assertEqual(states, {
            "waits": "waiting", "later": "scheduled", "depends": "depends", "chain": "depends",
            "fails": "failed", "holds": "depends", "done": "complete", "runs": "stalled",
            "retried": "scheduled", "unicode": "waiting", "tick-1": "waiting"})
        said = self.do(self.at("copy-"), "import", "-", text=exported)
        self.assertEqual(said, f"{len(kinds) - 2} restored, 0 there already, 0 refused\n")
        self.assert_same(self.export(self.at("copy-")), exported)
        self.check(self.at("copy-"))
        job = json.loads(self.do(self.at("copy-"), "--json", "get", "retried"))
        self.assertEqual((job["remaining"], job["attempts"], job["failure"]["group"]), (6, 1, "net"))

    def test_it_is_taken_up_where_it_was_broken_off(self):
        self.make_everything(self.url)
        exported = self.export(self.url)
        lines = exported.splitlines(keepends=True)
        for count in range(1, len(lines), 5):
            url = self.at(f"copy{count}-")
            # The rest of the line that was being written is missing too.
            done = tool.run("--url", url, "import", "-",
                            text="".join(lines[:count]) + lines[count][:20])
            self.assertEqual(done.returncode, 1, done.stderr)
            self.do(url, "import", "-", text=exported)
            self.assert_same(self.export(url), exported)
            self.assertIn("0 restored", self.do(url, "import", "-", text=exported))

    def test_jobs_may_stand_in_any_order(self):
        self.do(self.url, "import", "-", text="".join(
            json.dumps({"queue": "q", "klass": "K", "jid": f"j{n}",
                        **({"depends": [f"j{n - 1}"]} if n else {})}) + "\n"
            for n in range(700)))
        exported = self.export(self.url).splitlines(keepends=True)
        jobs = [line for line in exported if line.startswith('{"job"')]
        others = [line for line in exported if not line.startswith('{"job"')]
        orders = {"back": jobs[::-1], "random": random.Random(5).sample(jobs, len(jobs))}
        for name, order in orders.items():
            said = self.do(self.at(name), "import", "-", text="".join(others + order))
            self.assertEqual(said, "701 restored, 0 there already, 0 refused\n")
            again = self.export(self.at(name)).splitlines(keepends=True)
            self.assertEqual(sorted(again), sorted(exported))
            self.check(self.at(name))

    def test_what_is_missing_is_named(self):
        text = ('{"namespace":{"format":1}}\n'
                '{"job":{"jid":"a","klass":"K","queue":"q","state":"depends","depends":["b"]}}\n'
                '{"job":{"jid":"b","klass":"K","queue":"q","state":"depends","depends":["no"]}}\n'
                '{"job":{"jid":"c","klass":"K","queue":"q","state":"asleep"}}\n'
                '{"job":{"jid":"d","klass":"K",\n'
                '{"job":{"jid":"e","klass":"K","queue":"q","state":"waiting"}}\n')
        done = tool.run("--url", self.url, "import", "-", text=text)
        self.assertEqual((done.returncode, done.stdout),
                         (1, "1 restored, 0 there already, 4 refused\n"))
        self.assertEqual(sorted(line[:31] for line in done.stderr.splitlines()),
                         [f"sluice: standard input:{line}: {word}" for line, word in
                          ((2, "job b"), (3, "job n"), (4, "job: "), (5, "Q.RES"))])

    def test_a_dry_run_lists_what_does_not_fit_and_changes_nothing(self):
        self.make_everything(self.url)
        exported = self.export(self.url)
        url = self.at("copy-")
        said = self.do(url, "import", "--dry-run", "-", text=exported)
        self.assertEqual(said, f"{exported.count(chr(10)) - 2} would be restored, "
                               "0 are there already, 0 would be refused\n")
        self.assertNotIn("copy-" + self._testMethodName[:90], self.do(url, "namespaces"))
        self.do(url, "put", "mail", "Other", "{}", "--jid", "waits")
        self.do(url, "config", "set", "max-jobs", "5")
        self.do(url, "config", "set", "max-tags", "1")
        before = self.export(url)
        lines = exported + ('{"job":{"jid":"lost","klass":"K","queue":"mail","state":"depends",'
                            '"depends":["nobody"]}}\n')
        done = tool.run("--url", url, "import", "-n", "-", text=lines)
        self.assertEqual(done.returncode, 1)
        self.assertIn("job waits is there already and would stay as it is", done.stderr)
        self.assertIn("it depends on a job that is neither in the namespace nor in the file: nobody",
                      done.stderr)
        self.assertRegex(done.stderr, "as a whole does not fit: the namespace has 1 jobs")
        self.assert_same(self.export(url), before)

    def test_one_queue_is_exported(self):
        self.make_everything(self.url)
        lines = [json.loads(line) for line in self.do(self.url, "export", "runs").splitlines()]
        self.assertEqual([next(iter(item)) for item in lines],
                         ["namespace", "queue", "job", "job"])


class OverServer(Transfers, tool.ServerCase):
    def test_many_jobs_come_page_by_page(self):
        self.good("import", "-", text="".join(
            json.dumps({"queue": f"q{n % 7}", "klass": "K", "jid": f"j{n}", "data": {"n": n}}) + "\n"
            for n in range(10000)))
        exported = self.export(self.url)
        self.assertEqual(exported.count('{"job"'), 10000)
        self.do(self.at("copy-"), "import", "-", text=exported)
        self.assert_same(self.export(self.at("copy-")), exported)

    def test_changes_during_an_export_are_said(self):
        self.good("import", "-", text="".join(
            json.dumps({"queue": "q", "klass": "K", "jid": f"j{n}", "data": "x" * 100}) + "\n"
            for n in range(5000)))
        # Until its output is read it cannot go on.
        process = subprocess.Popen([tool.SLUICE, "export", "--url", self.url], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(process.stdout.readline())
        self.good("cancel", "j4999")
        output = process.stdout.read()
        errors = process.stderr.read()
        self.assertEqual((process.wait(), output.count('{"job"')), (1, 4999))
        self.assertRegex(errors, "^sluice: [0-9]+ changes of jobs while they were exported")
        process.stdout.close()
        process.stderr.close()

    def test_a_server_that_goes_away_ends_an_import_that_can_be_done_again(self):
        self.make_everything(self.url)
        exported = self.export(self.url)
        jobs = "".join('{"job":{"jid":"m%d","klass":"K","queue":"q","state":"waiting"}}\n' % n
                       for n in range(1000))
        with tool.sluiced.Server() as server:
            url = f"sluice://127.0.0.1:{server.port}/app"
            process = tool.start("import", "-", "--url", url)
            process.stdin.write('{"namespace":{"format":1}}\n' + jobs)
            process.stdin.flush()
            tool.eventually(lambda: int(tool.run("count", "--url", url).stdout) >= 600)
            server.stop()
            output, errors = process.communicate(exported)
            self.assertNotEqual(process.returncode, 0)
            self.assertIn("importing it again restores the rest", errors)
            server.start()
            url = f"sluice://127.0.0.1:{server.port}/app"
            self.do(url, "import", "-", text='{"namespace":{"format":1}}\n' + jobs)
            self.assertEqual(tool.run("count", "--url", url).stdout, "1000\n")

    def test_from_a_server_to_a_folder_and_back(self):
        self.make_everything(self.url)
        exported = self.export(self.url)
        with tempfile.TemporaryDirectory() as scratch:
            folder = f"file:{scratch}/jobs?ns=app&durability=never"
            self.do(folder, "import", "-", text=exported)
            self.assert_same(self.export(folder), exported)
            self.do(self.at("back-"), "import", "-", text=self.export(folder))
        self.assert_same(self.export(self.at("back-")), exported)

    def test_a_namespace_with_the_client_clock_stays_one(self):
        ns = self._testMethodName[:100]
        self.good("namespaces", "create", ns, "--clock", "client")
        self.put("a")
        self.put("b", "mail", "--delay", "100")
        exported = self.export(self.url)
        url = self.at("copy-")
        self.do(url, "import", "--dry-run", "-", text=exported)
        self.do(url, "import", "-", text=exported)
        self.assert_same(self.export(url), exported)
        clocks = {ns["name"]: ns["clock"] for ns in self.lines("namespaces", "list")}
        self.assertEqual(clocks["copy-" + self._testMethodName[:90]], "client")
        self.do(self.at("other-"), "put", "q", "K", "{}")
        done = tool.run("--url", self.at("other-"), "import", "-", text=exported)
        self.assertIn("the namespace has the server clock", done.stderr)

    def ask(self, method, path, body=None):
        url = f"http://127.0.0.1:{self.server.http_port}/v1/ns/{self._testMethodName[:100]}{path}"
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(url, method=method, data=data,
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def test_http_restores_and_dumps_too(self):
        item = {"job": {"jid": "a", "klass": "K", "queue": "q", "state": "failed", "attempts": 3,
                        "data": {"x": [1]}, "failure": {"group": "g", "message": "m"}}}
        self.assertEqual(self.ask("POST", "/restore/check", {"items": [item]})["outcomes"][0],
                         {"kind": "job", "name": "a", "outcome": "fits", "queue": "q", "bytes": 10,
                          "missing": []})
        outcomes = self.ask("POST", "/restore", {"items": [item, item, {"job": {}}]})["outcomes"]
        self.assertEqual(outcomes[:2], ["restored", "exists"])
        self.assertIn("jid is missing", json.dumps(outcomes[2]))
        items = [json.loads(line) for line in self.export(self.url).splitlines()]
        self.assertEqual(self.ask("GET", "/dump?count=1000")["items"], items)


class InFolder(Transfers, tool.FileCase):
    pass


if __name__ == "__main__":
    tool.main()
