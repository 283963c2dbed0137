#!/usr/bin/python3
"""/metrics: figures against what was done, in both forms; and that there are never too many."""

import json
import os
import re
import shutil
import socket
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

    def promtool(self, *words, text=None):
        found = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "get-promtool"),
                                os.environ["PROMTOOL"]], text=True, capture_output=True, check=False)
        if found.returncode:
            self.skipTest("no promtool: " + found.stderr.strip().splitlines()[-1])
        checked = subprocess.run([found.stdout.strip(), *words], input=text, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return checked.returncode, checked.stdout

    def check(self, text):
        return self.promtool("check", "metrics", text=text)


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

    def test_how_jobs_ended(self):
        server = self.serve()
        client = self.client(server)
        client.expect("Q.CONFIG.SET app grace-period 0", "+OK")
        for i in range(6):
            client.expect(f"Q.PUT app mail Send {{}} JID m{i} RETRIES 2", f'"m{i}"')
        client.ask("Q.POP app w 5 mail")
        client.expect("Q.COMPLETE app m0 w", '"complete"')
        client.ask("Q.COMPLETE app m1 w NEXT fax")
        client.ask("Q.FAIL app m2 w broken bad")
        client.ask("Q.RETRY app m3 w")
        client.expect("Q.CANCEL app m5", ":1")
        client.expect("Q.TIMEOUT app m4", "+OK")
        mail = {"namespace": "app", "queue": "mail"}
        page = self.page(server)
        for name, count in (("completed", 1), ("failed", 1), ("retried", 1), ("canceled", 1)):
            self.assertEqual(page.value(f"sluice_jobs_{name}_total", **mail), count, name)
            self.assertEqual(page.total(f"sluice_jobs_{name}_total"), count, name)
        self.assertEqual(page.value("sluice_jobs_completed_total", namespace="app", queue="fax"), 0)
        client.expect("Q.PUT app tel Send {} JID lost LEASE 0.01", '"lost"')
        client.ask("Q.POP app w 1 tel")
        sluiced.until(lambda: self.page(server).value("sluice_jobs_lost_total", namespace="app",
                                                      queue="tel") == 1)

    def test_pauses_workers_and_ages(self):
        server = self.serve()
        client = self.client(server)
        for queue in ("mail", "fax"):
            client.ask(f"Q.PUT app {queue} Send {{}}")
        client.expect("Q.PAUSE app fax", "+OK")
        client.ask("Q.POP app w1 1 mail")
        client.ask("Q.POP app w2 1 mail tel")
        page = self.page(server)
        for name, mail, fax in (("paused", 0, 1), ("workers", 2, 0)):
            for queue, wanted in (("mail", mail), ("fax", fax)):
                self.assertEqual(page.value(f"sluice_queue_{name}", namespace="app", queue=queue),
                                 wanted, (name, queue))
        self.assertEqual(page.value("sluice_queues", namespace="app"), 2)
        self.assertEqual(page.value("sluice_queues_paused", namespace="app"), 1)
        self.assertEqual(page.value("sluice_workers", namespace="app"), 2)
        age = "sluice_queue_oldest_waiting_seconds"
        self.assertEqual(page.value(age, namespace="app", queue="mail"), 0)
        sluiced.until(lambda: self.page(server).value(age, namespace="app", queue="fax") > 0)
        page = self.page(server)
        self.assertEqual(page.value("sluice_oldest_waiting_seconds", namespace="app"),
                         page.value(age, namespace="app", queue="fax"))

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
        self.assertEqual(self.check(text), (0, ""))
        self.assertEqual(self.check(text + "wrong 1 2 3 4\n")[0], 1)
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
        self.assertEqual(self.check(self.text(server)[0]), (0, ""))
        client.do("Q.PUSH.UNSET", "app", "Good")
        self.assertEqual({labels["pattern"] for labels, _ in
                          self.page(server).rows("sluice_push_running")}, {"Bad"})

    def test_those_beyond_the_limit_are_added_up(self):
        server, _ = self.push("--metrics-queues", "1")
        page = self.page(server)
        self.assertEqual(page.rows("sluice_push_requests_total"),
                         [({"namespace": "app", "pattern": "Good"}, 3),
                          ({"namespace": "", "pattern": ""}, 1)])


class Reader(web.Connection):
    """A client that takes little at a time, so that a page is not in the system's buffers."""

    def prepare(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)


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

    def test_a_page_that_is_larger_than_a_reply_is_sent_in_chunks(self):
        server = self.serve("--max-output", "64K")
        self.fill(server, 100, 0)
        with web.Connection(server) as connection:
            answer = connection.ask("GET", "/metrics", Accept=OPEN)
            self.assertEqual((answer.status, answer.headers["transfer-encoding"]), (200, "chunked"))
            page = Page(answer.body(), True)
            self.assertEqual(page.total("sluice_jobs"), 100)
            # The connection goes on.
            self.assertEqual(connection.get("/healthz"), (200, "ok\n"))
            status, body = connection.get("/metrics")
            self.assertEqual((status, Page(body, False).total("sluice_jobs")), (200, 100))

    def test_a_page_of_ten_thousand_queues_is_sent_while_others_are_served(self):
        queues = 1000 if outside.SANITIZED else 10000
        server = self.serve("--metrics-queues", "10000", "--slow-command", "0")
        client = self.fill(server, queues, 0)
        before = self.text(server)[0].count("\n")
        self.assertGreater(before, queues * 16)
        with web.Connection(server) as slow:
            # It asks and does not read: the page waits for it, and the others do not.
            slow.send("GET", "/metrics")
            for _ in range(20):
                client.expect("Q.LENGTH app q0", ":1")
            answer = web.Answer(slow.file)
            page = Page(answer.body(), False)
        self.assertEqual(len(page.rows("sluice_queue_paused")), queues)
        self.assertEqual(page.total("sluice_jobs"), queues)
        self.assertLessEqual(len({labels["queue"] for labels, _ in
                                  page.rows("sluice_job_latency_seconds_count")}), 101)

    def test_what_changes_while_a_page_is_sent_is_not_in_it(self):
        server = self.serve("--max-output", "64K", "--metrics-queues", "10000")
        client = self.fill(server, 3000, 0)
        with Reader(server) as reader:
            reader.send("GET", "/metrics")
            answer = web.Answer(reader.file)
            client.send_raw(b"".join(outside.request("Q.PUT", "app", f"q{i}", "k", "{}")
                                     for i in range(3000)))
            for _ in range(3000):
                client.read()
            page = Page(answer.body(), False)
        self.assertEqual(page.total("sluice_jobs"), 3000)
        self.assertEqual(page.total("sluice_jobs_queued_total"), 3000)

    def test_only_some_clients_are_sent_large_pages_at_a_time(self):
        server = self.serve("--max-output", "64K", "--max-unread", "16K", "--metrics-queues", "10000")
        client = self.fill(server, 3000, 0)
        readers = [Reader(server) for _ in range(4)]
        for reader in readers:
            self.addCleanup(reader.close)
            reader.send("GET", "/metrics")
            self.assertEqual(web.Answer(reader.file).status, 200)
        with web.Connection(server) as another:
            status, body = another.get("/metrics")
            self.assertEqual(status, 503, body)
            self.assertIn("4 clients are being sent metrics", body)
            readers[0].close()
            sluiced.until(lambda: another.get("/metrics")[0] == 200)
        client.expect("PING", "+PONG")

    def test_details_are_of_the_first_queues(self):
        server = self.serve("--metrics-details", "1")
        client = self.fill(server, 3, 0)
        for i in range(3):
            self.assertIn('"jid"', client.ask(f"Q.POP app w 1 q{i}"))
        client.send_raw(b"".join(outside.request("Q.PUT", "app", f"q{i}", "k", "{}", "PRIORITY", n)
                                 for i in range(3) for n in range(-8, 8)))
        for _ in range(48):
            client.read()
        page = self.page(server)
        self.assertEqual({labels["queue"]: value for labels, value in
                          page.rows("sluice_job_latency_seconds_count")}, {"q0": 1, "": 2})
        self.assertEqual({labels["queue"] for labels, _ in page.rows("sluice_jobs_run_total")},
                         {"q0", "q1", "q2", ""})
        self.assertEqual(page.total("sluice_jobs_by_priority"), 51)
        self.assertEqual(page.total("sluice_jobs_by_priority", queue="q0"), 17)
        self.assertEqual(page.total("sluice_jobs_by_priority", queue="", priority="-8"), 2)
        self.assertEqual(page.total("sluice_jobs_by_priority", state="running"), 3)


class Monitoring(Case):
    """docs/monitoring: rules and a dashboard that use what there is."""

    FOLDER = os.path.join(os.environ["TEST_SOURCE"], "docs", "monitoring")
    # Those that are there once something has happened, and no server has by itself.
    VARIABLES = {"datasource", "instance", "namespace", "queue", "__rate_interval"}

    def read(self, name):
        with open(os.path.join(self.FOLDER, name), encoding="utf-8") as file:
            return file.read()

    def expressions(self):
        """Of the dashboard."""
        found = []
        for panel in json.loads(self.read("grafana.json"))["panels"]:
            found += [target["expr"] for target in panel.get("targets", [])]
        self.assertGreater(len(found), 30)
        return found

    def write(self, name, text):
        folder = tempfile.mkdtemp(prefix="sluice-rules-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_all_metrics_that_they_name_are_there(self):
        server = self.serve("--push-allow-private", "yes")
        client = self.client(server)
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        client.ask("Q.PUSH.SET app Other http://127.0.0.1:9/")
        names = {name for name, _ in self.page(server).samples} | {"up"}
        for text in [self.read("alerts.yml"), *self.expressions()]:
            used = set(re.findall(r"\b(?:sluice|process)_[a-z_]+", text))
            self.assertLessEqual(used, names, text)
        self.assertGreater(len(set(re.findall(r"\bsluice_[a-z_]+", self.read("alerts.yml")))), 10)

    def test_labels_that_they_select_by_are_there(self):
        server = self.serve()
        self.client(server).expect("Q.PUT app mail Send {} JID a", '"a"')
        labels = {}
        for name, pairs in self.page(server).samples:
            labels.setdefault(name, set()).update(key for key, _ in pairs)
        for text in [self.read("alerts.yml"), *self.expressions()]:
            for name, selector in re.findall(r"\b(sluice_[a-z_]+)\{([^}]*)\}", text):
                if name in labels:
                    used = set(re.findall(r"([a-z]+)(?:=~|!=|=)", selector))
                    self.assertLessEqual(used, labels[name] | {"instance"}, f"{name} {selector}")

    def test_the_dashboard_has_the_variables_that_it_uses(self):
        text = self.read("grafana.json")
        dashboard = json.loads(text)
        known = {variable["name"] for variable in dashboard["templating"]["list"]}
        self.assertEqual(known | {"__rate_interval"}, self.VARIABLES)
        used = {name.strip("{}") for name in re.findall(r"\$(\{?[a-z_]+\}?)", text)}
        self.assertLessEqual(used, self.VARIABLES | {"__all"})
        ids = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_promtool_finds_nothing_wrong_with_the_rules(self):
        path = os.path.join(self.FOLDER, "alerts.yml")
        code, said = self.promtool("check", "rules", path)
        self.assertEqual(code, 0, said)
        self.assertIn(f"{self.read('alerts.yml').count('- alert:')} rules found", said)
        wrong = self.write("wrong.yml", self.read("alerts.yml").replace("== 0", "=="))
        self.assertNotEqual(self.promtool("check", "rules", wrong)[0], 0)

    def test_promtool_finds_nothing_wrong_with_the_dashboard(self):
        rules = "groups:\n  - name: dashboard\n    rules:\n"
        for number, expression in enumerate(self.expressions()):
            expression = re.sub(r"\$[a-z]+\b", "x", expression.replace("$__rate_interval", "5m"))
            rules += f"      - record: panel:{number}\n        expr: {json.dumps(expression)}\n"
        code, said = self.promtool("check", "rules", self.write("dashboard.yml", rules))
        self.assertEqual(code, 0, said)

    def test_rules_fire_when_they_should(self):
        queue = 'instance="a",namespace="app",queue="mail"'
        cases = (("SluiceQueueHasNoWorkers", "20m", True,
                  (f'sluice_jobs{{{queue},state="waiting"}}', "5x30"),
                  (f"sluice_queue_workers{{{queue}}}", "0x30"),
                  (f"sluice_queue_paused{{{queue}}}", "0x30")),
                 ("SluiceQueueHasNoWorkers", "20m", False,
                  (f'sluice_jobs{{{queue},state="waiting"}}', "5x30"),
                  (f"sluice_queue_workers{{{queue}}}", "1x30"),
                  (f"sluice_queue_paused{{{queue}}}", "0x30")),
                 ("SluiceJobsWait", "20m", False,
                  (f"sluice_queue_oldest_waiting_seconds{{{queue}}}", "1000x30"),
                  (f"sluice_queue_paused{{{queue}}}", "1x30")),
                 ("SluiceJobsWait", "20m", True,
                  (f"sluice_queue_oldest_waiting_seconds{{{queue}}}", "1000x30"),
                  (f"sluice_queue_paused{{{queue}}}", "0x30")),
                 ("SluiceStoreNotReady", "5m", True,
                  ('sluice_store_state{instance="a",state="full"}', "1x30")),
                 ("SluiceStoreNotReady", "5m", False,
                  ('sluice_store_state{instance="a",state="ready"}', "1x30")),
                 ("SluiceJobsFail", "30m", True,
                  (f"sluice_jobs_failed_total{{{queue}}}", "0+1x60"),
                  (f"sluice_jobs_run_total{{{queue}}}", "0+10x60")),
                 ("SluiceJobsFail", "30m", False,
                  (f"sluice_jobs_failed_total{{{queue}}}", "0+1x60"),
                  (f"sluice_jobs_run_total{{{queue}}}", "0+100x60")),
                 ("SluiceConnectionsNearLimit", "10m", True,
                  ('sluice_connections{instance="a",protocol="resp"}', "50x30"),
                  ('sluice_connections{instance="a",protocol="http"}', "40x30"),
                  ('sluice_connections_limit{instance="a"}', "100x30")))
        rules = os.path.join(self.FOLDER, "alerts.yml")
        for name, when, fires, *series in cases:
            with self.subTest(f"{name} {series}"):
                # Which alerts fire; of those that do, promtool would also compare the sentences.
                text = json.dumps({"rule_files": [rules], "evaluation_interval": "1m", "tests": [{
                    "interval": "1m",
                    "input_series": [{"series": series_name, "values": values}
                                     for series_name, values in series],
                    "alert_rule_test": [{"eval_time": when, "alertname": name, "exp_alerts": []}]}]})
                code, said = self.promtool("test", "rules", self.write("test.yml", text))
                self.assertEqual(code != 0, fires, said)
                if fires:
                    self.assertIn(f'alertname="{name}"', said)


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
