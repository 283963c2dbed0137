#!/usr/bin/python3
"""/metrics: figures against what was done, in both forms; and that there are never too many."""

import os
import re
import subprocess
import tempfile
import time

import case
import outside
import sluiced
import test_push
import web

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"
SUFFIXES = {"gauge": ("",), "counter": ("_total",), "summary": ("_count", "_sum"),
            "histogram": ("_bucket", "_count", "_sum")}
SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (-?[0-9]+(?:\.[0-9]+)?)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')


class Page:
    """The page, read strictly: what is not as the form has it is an error."""

    def __init__(self, text, is_open):
        self.families, self.samples = {}, {}
        self.is_open = is_open
        assert text.endswith("\n")
        lines = text[:-1].split("\n")
        if is_open:
            assert lines.pop() == "# EOF"
        assert "# EOF" not in lines
        family = None
        for line in lines:
            if line.startswith("# "):
                family = self.comment(line, family)
            else:
                self.sample(line, family)
        for name in self.families:
            if self.families[name]["TYPE"] == "histogram":
                self.check_histogram(name)

    def comment(self, line, family):
        what, name, words = line[2:].split(" ", 2)
        assert re.fullmatch("[a-z_]+", name), name
        if what == "HELP":
            assert name not in self.families, f"{name} comes twice"
            assert words.endswith("."), line
            self.families[name] = {"HELP": words}
            return name
        assert name == family and what not in self.families[name], line
        self.families[name][what] = words
        if what == "UNIT":
            assert self.is_open and name.endswith("_" + words), line
        else:
            assert what == "TYPE" and words in SUFFIXES, line
            assert words != "counter" or name.endswith("_total") != self.is_open, line
        return family

    def sample(self, line, family):
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, labels, value = match.groups()
        kind = self.families[family]["TYPE"]
        suffixes = ("",) if kind == "counter" and not self.is_open else SUFFIXES[kind]
        assert name in [family + suffix for suffix in suffixes], line
        pairs, position = [], 0
        while labels and position < len(labels):
            label = LABEL.match(labels, position)
            assert label, line
            pairs.append((label[1], re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label[2])))
            position = label.end()
        key = (name, tuple(sorted(pairs)))
        assert len(dict(pairs)) == len(pairs), line
        assert key not in self.samples, f"{line} comes twice"
        self.samples[key] = float(value)

    def check_histogram(self, family):
        rows = {}
        for (name, labels), value in self.samples.items():
            if name.startswith(family + "_"):
                key = tuple(pair for pair in labels if pair[0] != "le")
                row = rows.setdefault(key, {"le": []})
                if name == family + "_bucket":
                    row["le"].append((float(dict(labels)["le"]), value))
                else:
                    row[name] = value
        for row in rows.values():
            assert row["le"] == sorted(row["le"]), family
            assert [value for _, value in row["le"]] == sorted(value for _, value in row["le"])
            assert row["le"][-1] == (float("inf"), row[family + "_count"])
            assert 10 <= len(row["le"]) <= 20

    def value(self, name, **labels):
        return self.samples[(name, tuple(sorted(labels.items())))]

    def rows(self, name):
        """The labels and values of a sample's name."""
        return [(dict(labels), value) for (given, labels), value in self.samples.items()
                if given == name]

    def total(self, name, **wanted):
        return sum(value for labels, value in self.rows(name)
                   if wanted.items() <= labels.items())


class Case(case.Case):
    def text(self, server, accept="*/*", **headers):
        with web.Connection(server) as connection:
            answer = connection.ask("GET", "/metrics", Accept=accept, **headers)
            body = answer.body()
            self.assertEqual(answer.status, 200, body)
            return body, answer.headers["content-type"]

    def page(self, server):
        body, given = self.text(server, "application/openmetrics-text")
        self.assertEqual(given, OPEN)
        return Page(body, True)

    def promtool(self, text):
        """What the tool of Prometheus finds wrong."""
        folder = os.environ.get("PROMTOOL") or os.path.join(tempfile.gettempdir(), "promtool")
        here = os.path.dirname(os.path.abspath(__file__))
        found = subprocess.run([os.path.join(here, "get-promtool"), folder],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if found.returncode:
            self.skipTest("no promtool: " + found.stderr.strip().splitlines()[-1])
        checked = subprocess.run([found.stdout.strip(), "check", "metrics"], input=text, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return checked.returncode, checked.stdout


class Figures(Case):
    def work(self, server):
        """Jobs of which it is known what became of them."""
        client = self.client(server)
        for i in range(10):
            client.expect(f"Q.PUT app mail Send {{}} JID m{i} PRIORITY {i % 3}", f'"m{i}"')
        client.expect("Q.PUT app fax Send {} JID later DELAY 3600", '"later"')
        client.expect("Q.PUT app fax Send {} JID after DEPENDS later", '"after"')
        popped = client.ask("Q.POP app w 4 mail")
        taken = re.findall(r'"jid", "(m[0-9])"', popped)
        self.assertEqual(len(taken), 4, popped)
        client.expect(f"Q.COMPLETE app {taken[0]} w", '"complete"')
        client.expect(f"Q.COMPLETE app {taken[1]} w", '"complete"')
        client.ask(f"Q.FAIL app {taken[2]} w broken bad")
        client.expect("Q.PUT other mail Send {} JID x", '"x"')
        return client

    def test_jobs_by_queue_and_state(self):
        server = self.serve()
        self.work(server)
        page = self.page(server)
        states = {state: page.total("sluice_jobs", namespace="app", state=state)
                  for state in ("scheduled", "depends", "waiting", "running", "stalled", "complete",
                                "failed")}
        self.assertEqual(states, {"scheduled": 1, "depends": 1, "waiting": 6, "running": 1,
                                  "stalled": 0, "complete": 2, "failed": 1})
        self.assertEqual(page.value("sluice_jobs", namespace="app", queue="mail", state="waiting"), 6)
        self.assertEqual(page.value("sluice_jobs", namespace="app", queue="fax", state="depends"), 1)
        self.assertEqual(page.value("sluice_jobs", namespace="app", queue="mail", state="complete"), 2)
        self.assertEqual(page.total("sluice_jobs", namespace="other"), 1)
        self.assertEqual(page.total("sluice_jobs"), 13)
        self.assertEqual(page.total("sluice_jobs_by_priority"), 13)
        self.assertEqual(page.total("sluice_jobs_by_priority", queue="mail", namespace="app",
                                    priority="0", state="waiting"), 0)
        self.assertEqual(page.total("sluice_jobs_by_priority", queue="mail", namespace="app",
                                    priority="2", state="waiting"), 3)

    def test_with_the_client_clock_a_job_is_running_until_a_pop_sees_the_end_of_its_lease(self):
        server = self.serve()
        client = self.client(server)
        client.expect("Q.NAMESPACE.CREATE app CLOCK client", "+OK")
        client.expect("Q.CONFIG.SET app heartbeat 0.01", "+OK")
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        client.ask("Q.POP app w 1 mail")
        sluiced.until(lambda: '"total", :1' in client.ask("Q.JOBS app expired mail JIDS"))
        page = self.page(server)
        for queue, state, count in ("mail", "stalled", 0), ("mail", "running", 1), ("", "running", 0):
            self.assertEqual(page.value("sluice_jobs", namespace="app", queue=queue, state=state),
                             count, (queue, state))

    def test_what_was_measured(self):
        server = self.serve()
        self.work(server)
        page = self.page(server)
        mail = {"namespace": "app", "queue": "mail"}
        self.assertEqual(page.value("sluice_jobs_queued_total", **mail), 10)
        self.assertEqual(page.value("sluice_jobs_run_total", **mail), 4)
        self.assertEqual(page.value("sluice_job_latency_seconds_count", **mail), 4)
        self.assertEqual(page.value("sluice_job_runtime_seconds_count", **mail), 2)
        self.assertEqual(page.value("sluice_job_lifetime_seconds_count", **mail), 2)
        self.assertEqual(page.value("sluice_job_time_to_completion_seconds_count", **mail), 2)
        self.assertEqual(page.value("sluice_job_time_to_failure_seconds_count", **mail), 1)
        self.assertEqual(page.value("sluice_job_attempts_bucket", le="1.0", **mail), 2)
        self.assertEqual(page.value("sluice_job_attempts_sum", **mail), 2)
        self.assertGreater(page.value("sluice_job_lifetime_seconds_sum", **mail), 0)
        self.assertEqual(page.value("sluice_job_latency_seconds_count", namespace="app", queue=""), 0)
        self.assertEqual(page.total("sluice_jobs_queued_total"), 13)

    def test_the_server_itself(self):
        server = self.serve()
        client = self.work(server)
        with web.Listener(server, "/v1/ns/app/events") as listener, self.client(server) as waiting, \
                self.client(server) as subscriber:
            listener.started()
            subscriber.ask("SUBSCRIBE x")
            waiting.send("Q.POP", "app", "w", 1, "WAIT", 0, "nothing")
            outside.until(client, "clients", "blocked_clients", 1)
            self.assertEqual(outside.figure(client, "clients", "pubsub_clients"), 2)
            page = self.page(server)
        self.assertEqual(page.value("sluice_connections", protocol="resp"), 3)
        self.assertEqual(page.value("sluice_connections", protocol="http"), 2)
        self.assertEqual(page.value("sluice_connections_blocked"), 1)
        self.assertEqual(page.value("sluice_subscribers", to="channels"), 1)
        self.assertEqual(page.value("sluice_subscribers", to="events"), 1)
        self.assertEqual(page.value("sluice_namespaces"), 2)
        self.assertEqual(page.value("sluice_store_state", state="ready"), 1)
        self.assertEqual(page.total("sluice_store_state"), 1)
        self.assertGreater(page.value("sluice_store_groups_total"), 10)
        self.assertGreater(page.value("sluice_store_sync_seconds_count"), 10)
        self.assertGreater(page.value("sluice_store_sync_seconds_sum"), 0)
        self.assertGreater(page.value("sluice_loop_turn_seconds_count"), 10)
        self.assertGreaterEqual(page.value("sluice_commands_total"), 20)
        self.assertGreater(page.value("process_resident_memory_bytes"), 1 << 20)
        self.assertEqual(page.rows("sluice_build_info")[0][1], 1)
        later = self.page(server)
        self.assertGreater(later.value("sluice_network_sent_bytes_total"),
                           page.value("sluice_network_sent_bytes_total"))

    def test_both_forms_say_the_same(self):
        server = self.serve()
        self.work(server)
        plain, given = self.text(server)
        self.assertEqual(given, PLAIN)
        plain, opened = Page(plain, False), self.page(server)
        self.assertEqual({key for key in plain.samples if key[0].startswith("sluice")},
                         {key for key in opened.samples if key[0].startswith("sluice")})
        self.assertEqual(opened.families["sluice_job_runtime_seconds"]["UNIT"], "seconds")
        self.assertEqual(opened.families["sluice_store_base_bytes"]["UNIT"], "bytes")

    def test_promtool_finds_nothing(self):
        server = self.serve()
        self.work(server)
        client = self.client(server)
        # As qless has it, names are any bytes.
        client.expect("Q.NAMESPACE.CREATE any CLOCK client", "+OK")
        for name in ('a "name"\\\n\xff', b"not\xffutf-8", b"a\0b\x1b[2J"):
            self.assertEqual(client.ask("Q.PUT", "any", name, "k", "{}")[0], '"')
        text = self.text(server)[0]
        self.assertEqual(self.promtool(text), (0, ""))
        self.assertEqual(self.promtool(text + "wrong 1 2 3 4\n")[0], 1)
        page = self.page(server)
        self.assertEqual(page.total("sluice_jobs", queue='a "name"\\\n\xff'), 1)
        self.assertEqual(page.total("sluice_jobs", queue="not\\xFFutf-8"), 1)
        self.assertEqual(page.total("sluice_jobs", queue="a\\x00b\\x1B[2J"), 1)
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class Pushes(Case):
    def push(self, *flags):
        """Of two pushes what became of their jobs."""
        server = self.serve("--push-allow-private", "yes", *flags)
        worker = test_push.Worker(lambda request: (404 if request.task["class"] == "Bad" else 200,
                                                   b"", {}))
        self.addCleanup(worker.__exit__)
        client = test_push.Talk(server)
        self.addCleanup(client.close)
        for pattern in ("Good", "Bad"):
            client.do("Q.PUSH.SET", "app", pattern, worker.href, "FAIL-4XX")
        for i in range(3):
            client.put(f"good-{i}", klass="Good")
            client.until_state(f"good-{i}", "complete")
        client.put("bad", klass="Bad")
        client.until_state("bad", "failed")
        return server, client

    def test_how_they_ended_by_pattern(self):
        server, client = self.push()
        page = self.page(server)
        good = {"namespace": "app", "pattern": "Good"}
        self.assertEqual(page.value("sluice_push_outcomes_total", outcome="completed", **good), 3)
        self.assertEqual(page.value("sluice_push_outcomes_total", outcome="failed", **good), 0)
        self.assertEqual(page.value("sluice_push_outcomes_total", outcome="failed",
                                    namespace="app", pattern="Bad"), 1)
        self.assertEqual(page.value("sluice_push_requests_total", **good), 3)
        self.assertEqual(page.value("sluice_push_running", **good), 0)
        self.assertEqual(page.value("sluice_push_breakers_open", **good), 0)
        self.assertEqual(self.promtool(self.text(server)[0]), (0, ""))
        client.do("Q.PUSH.UNSET", "app", "Good")
        self.assertEqual({labels["pattern"] for labels, _ in
                          self.page(server).rows("sluice_push_running")}, {"Bad"})

    def test_those_beyond_the_limit_are_added_up(self):
        server, _ = self.push("--metrics-queues", "1")
        page = self.page(server)
        self.assertEqual(page.rows("sluice_push_requests_total"),
                         [({"namespace": "app", "pattern": "Good"}, 3),
                          ({"namespace": "", "pattern": ""}, 1)])


class Bounds(Case):
    def fill(self, server, queues, priorities):
        client = self.client(server)
        client.send_raw(b"".join(outside.request("Q.PUT", "app", f"q{i}", "k", "{}")
                                 for i in range(queues)))
        for _ in range(queues):
            client.read()
        client.send_raw(b"".join(outside.request("Q.PUT", "app", "q0", "k", "{}", "PRIORITY", i)
                                 for i in range(priorities)))
        for _ in range(priorities):
            client.read()
        return client

    def test_there_are_never_more_rows_than_allowed_and_the_sums_are_right(self):
        queues, priorities = (2000 if outside.SANITIZED else 10000), 50
        server = self.serve("--metrics-queues", "20")
        client = self.fill(server, queues, priorities)
        for _ in range(5):
            self.assertIn('"jid"', client.ask("Q.POP", "app", "w", 1, f"q{queues - 1}", "q0"))
        began = time.monotonic()
        page = self.page(server)
        print(f"# read in {(time.monotonic() - began) * 1000:.0f} ms")
        names = {labels["queue"] for labels, _ in page.rows("sluice_jobs")}
        self.assertEqual(names, {f"q{i}" for i in range(20)} | {""})
        self.assertEqual(page.total("sluice_jobs"), queues + priorities)
        self.assertEqual(page.total("sluice_jobs", queue=""), queues - 20)
        self.assertEqual(page.total("sluice_jobs", queue="", state="running"), 1)
        self.assertEqual(page.total("sluice_jobs_queued_total"), queues + priorities)
        self.assertEqual(page.total("sluice_jobs_run_total"), 5)
        self.assertEqual(page.value("sluice_job_latency_seconds_count", namespace="app", queue=""), 1)
        self.assertEqual(page.total("sluice_jobs_by_priority"), queues + priorities)
        told = {labels["priority"] for labels, _ in page.rows("sluice_jobs_by_priority")
                if labels["queue"] == "q0"}
        self.assertEqual(told, {str(i) for i in range(10)} | {""})

    def test_no_queue_by_name_at_all(self):
        server = self.serve("--metrics-queues", "0")
        self.fill(server, 5, 5)
        page = self.page(server)
        self.assertEqual({labels["queue"] for labels, _ in page.rows("sluice_jobs")}, {""})
        self.assertEqual(page.total("sluice_jobs"), 10)

    def test_namespaces_are_added_up_too(self):
        server = self.serve("--metrics-namespaces", "2")
        client = self.client(server)
        for i in range(5):
            client.ask(f"Q.PUT n{i} mail k {{}}")
            client.ask(f"Q.POP n{i} w 1 mail")
        page = self.page(server)
        self.assertEqual({labels["namespace"] for labels, _ in page.rows("sluice_jobs")},
                         {"n0", "n1", ""})
        self.assertEqual(page.total("sluice_jobs", namespace="", queue=""), 3)
        self.assertEqual(page.value("sluice_jobs_run_total", namespace="", queue=""), 3)
        self.assertEqual(page.value("sluice_job_latency_seconds_count", namespace="", queue=""), 3)
        self.assertEqual(page.total("sluice_jobs"), 5)

    def test_a_page_that_does_not_fit_is_refused_by_name(self):
        server = self.serve("--max-output", "64K")
        self.fill(server, 100, 0)
        with web.Connection(server) as connection:
            status, body = connection.get("/metrics")
        self.assertNotEqual(status, 200)
        self.assertIn("lower metrics-queues or metrics-namespaces", body)


class Rights(Case):
    FLAGS = ("--user", "ann secret *:read", "--user", "bob secret app:admin")

    def ask(self, server, **headers):
        with web.Connection(server) as connection:
            return connection.get("/metrics", **headers)

    def test_it_needs_somebody_who_may_read_everything(self):
        server = self.serve(*self.FLAGS)
        self.assertEqual(self.ask(server)[0], 401)
        status, body = self.ask(server, Authorization="Bearer bob:secret")
        self.assertEqual(status, 403)
        self.assertIn("user bob may not read every namespace", body)
        self.assertEqual(self.ask(server, Authorization="Bearer ann:secret")[0], 200)

    def test_unless_it_is_for_everybody(self):
        server = self.serve(*self.FLAGS, "--metrics-open", "yes")
        self.assertEqual(self.ask(server)[0], 200)


if __name__ == "__main__":
    sluiced.main()
