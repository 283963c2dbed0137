#!/usr/bin/python3
"""What a page about the server stands on: totals, series, ticks and events, over HTTP."""

import json
import os
import subprocess

import case
import outside
import sluiced
import web

STATES = {"scheduled", "depends", "waiting", "running", "stalled", "complete", "failed"}
THINGS = {"put", "popped", "completed", "failed", "retried", "lost"}


class Case(case.Case):
    def get(self, server, path, status=200, **headers):
        with web.Connection(server) as connection:
            given, body = connection.get(path, **headers)
            self.assertEqual(given, status, body)
            return json.loads(body)

    def listen(self, server, path):
        listener = web.Listener(server, path)
        self.addCleanup(listener.close)
        return listener.started()


class Faces(Case):
    def test_a_stalled_job_is_stalled_on_every_face(self):
        """Three jobs: `lost` has lost its lease, the lease of `late` has expired, `other` waits."""
        server = self.serve()
        client = self.client(server)
        client.expect("Q.CONFIG.SET app heartbeat 0.01", "+OK")
        client.expect("Q.CONFIG.SET app grace-period 0", "+OK")
        client.expect("Q.PUT app mail Send {} JID lost", '"lost"')
        client.ask("Q.POP app w 1 mail")
        sluiced.until(lambda: ":1" in client.ask("Q.COUNT app STATE stalled"))
        client.expect("Q.CONFIG.SET app grace-period 3600", "+OK")
        client.expect("Q.PUT app mail Send {} JID late", '"late"')
        client.expect("Q.PUT app mail Send {} JID other", '"other"')
        client.ask("Q.TAKE app late w")
        sluiced.until(lambda: '"total", :1' in self.spaced(client.ask("Q.JOBS app expired mail JIDS")))
        states = {"waiting": "other", "running": "late", "stalled": "lost"}
        for state, jid in states.items():
            with self.subTest(state=state):
                self.check_commands(client, state, jid)
                self.check_http(server, state, jid)
                self.check_tool(server, state, jid)
        with web.Connection(server) as connection:
            _, page = connection.get("/metrics")
        for state in states:
            self.assertIn(f'sluice_jobs{{namespace="app",queue="mail",state="{state}"}} 1\n', page)
        # What a worker holds is running; its expired leases are told apart.
        for answer in (client.ask("Q.WORKERS app"), client.ask("Q.LISTENERS app mail")):
            self.assertIn('"running", :1, "expired", :1', self.spaced(answer))
        self.assertIn('"jids", ["late"]], "expired", :1',
                      self.spaced(client.ask("Q.WORKER app w JIDS")))
        for worker in (self.get(server, "/v1/ns/app/workers")["workers"][0],
                       self.tool(server, "workers"),
                       self.tool(server, "top", "--once")["workers"][0]):
            self.assertEqual((worker["running"], worker["expired"]), (1, 1))
            self.assertNotIn("stalled", worker)
        held = self.get(server, "/v1/ns/app/workers/w")
        self.assertEqual(([job["jid"] for job in held["running"]["jobs"]], held["expired"]),
                         (["late"], 1))

    @staticmethod
    def spaced(answer):
        return answer.replace('": ', '", ')

    def run_tool(self, server, *words):
        return subprocess.run(
            [os.environ["SLUICE"], "--url", f"sluice://127.0.0.1:{server.port}/app", *words],
            check=True, capture_output=True, text=True).stdout

    def tool(self, server, *words):
        return json.loads(self.run_tool(server, *words, "--json").splitlines()[0])

    def check_commands(self, client, state, jid):
        self.assertIn(f'"state", "{state}"', self.spaced(client.ask(f"Q.GET app {jid}")))
        for command in (f"Q.COUNT app STATE {state}", f"Q.COUNT app QUEUE mail STATE {state}",
                        f"Q.COUNT app STATE {state} PRIORITY 0"):
            client.expect(command, ":1")
        for command in ("Q.QUEUE app mail", "Q.QUEUES app", f"Q.QUEUES app SORT {state}",
                        "Q.TOTALS app", "Q.NAMESPACES"):
            self.assertIn(f'"{state}", :1', self.spaced(client.ask(command)), command)
        self.assertIn(f"{state}=1", client.ask("INFO namespaces"))
        for command in (f"Q.JOBS app {state} JIDS", f"Q.JOBS app {state} mail JIDS"):
            self.assertIn(f'"total", :1, "jids", ["{jid}"]', self.spaced(client.ask(command)))
        for command in (f"Q.JOBS app {state} mail KLASS Send JIDS",
                        f"Q.JOBS app {state} KLASS Send JIDS"):
            self.assertIn(f'"jids", ["{jid}"]', self.spaced(client.ask(command)))
        self.assertIn('"matched", :1', self.spaced(
            client.ask(f"Q.BULK app cancel STATE {state} DRY-RUN")))
        self.assertIn('"found", :1', self.spaced(client.ask(f"Q.FIND app STATE {state}")))

    def check_http(self, server, state, jid):
        namespaces = self.get(server, "/v1/ns")["namespaces"][0]["jobs"]
        for face in (self.get(server, "/v1/ns/app/queues/mail"),
                     self.get(server, "/v1/ns/app/queues")["queues"][0],
                     self.get(server, "/v1/ns/app")["jobs"], namespaces):
            self.assertEqual(face[state], 1)
        for path in (f"/v1/ns/app/jobs?state={state}", f"/v1/ns/app/jobs?state={state}&queue=mail"):
            listed = self.get(server, path)["jobs"]
            self.assertEqual([(job["jid"], job["state"]) for job in listed], [(jid, state)])
        self.assertEqual(self.get(server, f"/v1/ns/app/jobs/{jid}")["state"], state)

    def check_tool(self, server, state, jid):
        for words in (["jobs", "-s", state], ["jobs", "-s", state, "mail"]):
            listed = self.run_tool(server, *words)
            self.assertEqual({"lost", "late", "other"} & set(listed.split()), {jid})
        self.assertEqual(self.tool(server, "queues")[state], 1)
        self.assertEqual(self.tool(server, "top", "--once")["totals"][state], 1)

    def test_totals_queues_series_and_days(self):
        server = self.serve()
        client = self.client(server)
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        client.expect("Q.PUT app mail Send {} JID b", '"b"')
        client.expect("Q.PUT app fax Send {} JID c", '"c"')
        client.ask("Q.POP app w 1 mail")
        client.expect("Q.COMPLETE app a w", '"complete"')
        client.expect("Q.PAUSE app fax", "+OK")
        totals = self.get(server, "/v1/ns/app")
        self.assertEqual(set(totals["jobs"]), STATES)
        self.assertEqual((totals["queues"], totals["paused"], totals["workers"]), (2, 1, 1))
        self.assertEqual(totals["oldest"]["queue"], "mail")
        self.assertEqual(set(totals["rates"]), THINGS)
        page = self.get(server, "/v1/ns/app/queues?sort=waiting&count=1")
        self.assertEqual((page["total"], len(page["queues"])), (2, 1))
        page = self.get(server, "/v1/ns/app/queues?sort=waiting&count=1&cursor=" + page["next"])
        self.assertEqual((page["queues"][0]["queue"], page["next"]), ("fax", None))
        self.assertGreater(page["queues"][0]["paused_since"], 1.7e9)
        sluiced.until(lambda: sum(self.get(server, "/v1/ns/app/series")["completed"]) == 1)
        for path, puts in ("/v1/ns/app/series", 3), ("/v1/ns/app/queues/mail/series", 2):
            series = self.get(server, path)
            self.assertEqual((series["step"], series["count"], sum(series["put"])), (1, 60, puts))
            self.assertEqual(series["run"]["window"]["count"], 1)
            self.assertEqual(set(series["depth"]), STATES - {"complete"})
        self.assertEqual(series["depth"]["waiting"][-1], 1)
        days = self.get(server, "/v1/ns/app/stats")["days"]
        self.assertEqual([(day["queue"], day["run"]["count"]) for day in days], [("mail", 1)])
        self.assertEqual(self.get(server, "/v1/ns/none")["queues"], 0)

    def test_the_server(self):
        server = self.serve()
        self.client(server)
        given = self.get(server, "/v1/server")
        self.assertEqual((given["store"]["state"], given["memory"]["state"], given["durability"]),
                         ("ready", "ready", "always"))
        self.assertGreater(given["inside"]["loop"]["turns"], 0)
        self.assertGreater(given["connections"]["open"], 0)


class Ticks(Case):
    def test_a_tick_comes_to_who_asked_for_it(self):
        server = self.serve()
        client = self.client(server)
        ticks = self.listen(server, "/v1/ns/app/events?kind=tick")
        others = self.listen(server, "/v1/ns/app/events")
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        tick = ticks.next()
        while not tick.data["jobs"]["waiting"]:
            tick = ticks.next()
        self.assertEqual((tick.kind, tick.id), ("tick", None))
        self.assertEqual(set(tick.data["jobs"]), STATES)
        self.assertEqual(set(tick.data["rates"]), THINGS)
        self.assertEqual([(queue["queue"], queue["waiting"]) for queue in tick.data["queues"]],
                         [("mail", 1)])
        while not tick.data["rates"]["put"]:
            tick = ticks.next()
        self.assertEqual(tick.data["rates"]["put"], 1)
        while tick.data["queues"]:
            tick = ticks.next()
        client.expect("Q.CANCEL app a", ":1")
        self.assertEqual([others.next().kind, others.next().kind], ["put", "canceled"])

    def test_a_tick_is_bounded(self):
        server = self.serve()
        client = self.client(server)
        ticks = self.listen(server, "/v1/ns/app/events?kind=tick")
        words = "Q.MPUT app" + "".join(f" 3 {'q' * 200}{i} Send {{}}" for i in range(300))
        client.ask(words)
        tick = ticks.next()
        while not tick.data["more"]:
            tick = ticks.next()
        self.assertLessEqual(len(json.dumps(tick.data, separators=(",", ":"))), 10000)
        self.assertGreater(len(tick.data["queues"]), 10)

    def test_a_subscriber_hears_ticks_on_their_channel(self):
        server = self.serve()
        client, subscriber = self.client(server), self.client(server)
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        subscriber.ask("SUBSCRIBE sluice:app:tick")
        self.assertIn('{"event":"tick"', subscriber.read())


class Events(Case):
    def kinds(self, listener, *wanted):
        given = []
        for _ in wanted:
            event = listener.next()
            given.append((event.kind, event.data.get("jid") or event.data.get("queue")))
        self.assertEqual(given, list(wanted))
        return event

    def test_what_operators_do_and_what_falls_due_is_told(self):
        server = self.serve()
        client = self.client(server)
        heard = self.listen(server, "/v1/ns/app/events")
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        client.ask("Q.POP app w 1 mail")
        client.expect("Q.RETRY app a w DELAY 0.05", ":4")
        self.kinds(heard, ("put", "a"), ("retried", "a"), ("due", "a"))
        client.expect("Q.PAUSE app mail", "+OK")
        client.expect("Q.UNPAUSE app mail", "+OK")
        self.kinds(heard, ("paused", "mail"), ("unpaused", "mail"))
        client.expect("Q.RECUR app r mail Send {} INTERVAL 60 DELAY 60", "+OK")
        client.expect("Q.UNRECUR app r", "+OK")
        self.kinds(heard, ("recurring_set", "r"), ("recurring_unset", "r"))
        client.expect("Q.LIMIT.SET app QUEUE mail DOMAIN d CONCURRENCY 3", "+OK")
        self.assertEqual(self.kinds(heard, ("limit_set", "mail")).data["domain"], "d")
        client.expect("Q.LIMIT.UNSET app QUEUE mail DOMAIN d", "+OK")
        self.kinds(heard, ("limit_unset", "mail"))
        client.ask("Q.BULK app cancel QUEUE mail")
        self.kinds(heard, ("canceled", "a"))
        event = heard.next()
        self.assertEqual((event.kind, event.data["matched"], event.data["done"]), ("bulk", 1, True))

    def test_all_that_happens_to_a_job_is_told_to_who_follows_it(self):
        server = self.serve()
        client = self.client(server)
        one = self.listen(server, "/v1/ns/app/events?jid=a")
        for jid in "ab":
            client.expect(f"Q.PUT app mail Send {{}} JID {jid}", f'"{jid}"')
        client.ask("Q.POP app w 2 mail")
        client.expect("Q.PROGRESS app a w 0.5", "+OK")
        client.expect("Q.PROGRESS app b w 0.5", "+OK")
        client.ask("Q.TRACK app a")
        client.expect("Q.COMPLETE app a w", '"complete"')
        self.kinds(one, ("put", "a"), ("popped", "a"), ("progress", "a"), ("track", "a"),
                   ("completed", "a"))


if __name__ == "__main__":
    sluiced.main()
