#!/usr/bin/python3
"""Rights by namespace and queue: producers, workers, operators and readers, over RESP and HTTP."""

import base64
import http.client
import json

import sluiced


class Rights(sluiced.TestCase):
    flags = ("--user", "root pr *:admin",
             "--user", "producer pp app/mail-*:put",
             "--user", "worker pw app:work",
             "--user", "some ps app/mail-out:work+read",
             "--user", "operator po app:operate",
             "--user", "reader px app:read",
             "--user", "both pb app:work+put",
             "--user", "old pl app:write")

    def login(self, name):
        passwords = dict(word.split(" ")[:2] for word in self.flags[1::2])
        client = self.client()
        client.expect(f"AUTH {name} {passwords[name]}", "+OK")
        return client

    def put(self, queue, jid):
        self.login("root").expect(f"Q.PUT app {queue} Send {{}} JID {jid}", f'"{jid}"')

    def pop(self, client, queue, worker="w"):
        reply = client.ask(f"Q.POP app {worker} 1 {queue}")
        words = reply.replace("[", "").replace("]", "").replace('"', "").split(", ")
        return words[words.index("token") + 1].lstrip(":")

    def test_a_denied_or_refused_write_creates_no_namespace(self):
        root = self.login("root")
        root.expect("Q.USER.SET limited PASSWORD pl RIGHT new*/mail-*:put+work", "+OK")
        before = root.ask("Q.NAMESPACES")
        c = self.client()
        c.expect("AUTH limited pl", "+OK")
        for i, words in enumerate(("Q.PUT {} other Send {{}}", "Q.PUT {} mail-1 Send not-json",
                                   "Q.PUT {} mail-1 Send {{}} DEPENDS none", "Q.PAUSE {} mail-1",
                                   "Q.POP {} w 1 other",
                                   "Q.RECUR {} r other Send {{}} INTERVAL 9", "Q.TRACK {} a",
                                   "Q.CONFIG.SET {} heartbeat 9", "Q.PUSH.SET {} a https://a.example/",
                                   "Q.PUT old{} mail-1 Send {{}}")):
            c.expect(words.format(f"new{i}"), "-...")
            c.expect("MULTI", "+OK")
            c.ask(words.format(f"new{i}"))
            c.ask("EXEC")
        self.assertEqual(root.ask("Q.NAMESPACES"), before)
        c.expect("Q.PUT new mail-1 Send {} JID a", '"a"')
        self.assertIn('"new"', root.ask("Q.NAMESPACES"))

    def test_a_producer_puts_into_its_queues_and_nothing_else(self):
        c = self.login("producer")
        c.expect("Q.PUT app mail-in Send {} JID p1", '"p1"')
        c.expect("Q.MPUT app 5 mail-in Send {} JID p2 5 other Send {} JID p3",
                 '["p2", -NOPERM user producer has no right to Q.PUT in app: it needs put on queue '
                 'other]')
        for request in ("Q.PUT app other Send {}", "Q.GET app p1", "Q.CANCEL app p1",
                        "Q.POP app w 1 mail-in", "Q.PEEK app mail-in 1", "Q.QUEUES app",
                        "Q.PUT app2 mail-in Send {}", "Q.WAIT app p1",
                        "Q.PUT app mail-in Send {} DEPENDS nothing",
                        "Q.PUT app mail-in Send {} UNIQUE key ON-CONFLICT replace",
                        "Q.NAMESPACE.DELETE app", "Q.CONFIG.SET app heartbeat 1"):
            with self.subTest(request):
                c.expect(request, "-NOPERM ...")
        self.login("root").expect("Q.GET app p3", "[nil]")

    def test_a_worker_settles_what_it_holds_and_no_job_of_others(self):
        self.put("work", "w1")
        self.put("work", "w2")
        worker = self.login("worker")
        token = self.pop(worker, "work")
        worker.expect("Q.COMPLETE app w1 w", "-NOPERM user worker has no right to Q.COMPLETE in "
                                             "app: it needs operate, or the TOKEN of the lease")
        self.assertNotIn("NOPERM", worker.ask(f"Q.HEARTBEAT app w1 w TOKEN {token}"))
        worker.expect(f"Q.COMPLETE app w1 w NEXT other TOKEN {token}", "-NOPERM ...")
        worker.expect(f"Q.HELD app w1 w TOKEN {token}", '["jid", "w1", ...')
        for request in ("Q.HELD app w1 w", "Q.RETURN app w1 w"):
            worker.expect(request, "-NOPERM ...")
        worker.expect(f"Q.RETURN app w1 w TOKEN {token}", "+OK")
        token = self.pop(worker, "work")
        worker.expect(f"Q.COMPLETE app w1 w TOKEN {token}", '"complete"')
        for request in ("Q.CANCEL app w2", "Q.PUT app work Send {}", "Q.PAUSE app work",
                        "Q.GET app w2", "Q.DELETE app w2", "Q.TIMEOUT app w2", "Q.BULK app cancel",
                        "Q.FAIL app w2 w g m", "Q.FAIL app w2 w g m FORCE", "Q.REQUEUE app w2 work Send {}"):
            with self.subTest(request):
                worker.expect(request, "-NOPERM ...")
        both = self.login("both")
        token = self.pop(both, "work")
        both.expect(f"Q.COMPLETE app w2 w NEXT next TOKEN {token}", '"waiting"')

    def test_a_user_of_some_queues_cannot_tell_other_jobs_from_none(self):
        self.put("mail-out", "s1")
        self.put("secret", "s2")
        c = self.login("some")
        c.expect("Q.GET app s1", "[[...")
        c.expect("Q.LENGTH app mail-out", ":1")
        hidden = c.ask("Q.GET app s2")
        self.assertTrue(hidden.startswith("-NOPERM"), hidden)
        self.assertEqual(hidden, c.ask("Q.GET app nothing"))
        c.expect("Q.GET app s1 s2", "-NOPERM ...")
        for request in ("Q.QUEUES app", "Q.JOBS app waiting", "Q.JOBS app waiting secret",
                        "Q.COUNT app", "Q.POP app w 1 mail-out secret", "Q.LENGTH app secret",
                        "Q.WORKERS app", "Q.METRICS app"):
            with self.subTest(request):
                c.expect(request, "-NOPERM ...")
        c.expect("Q.COUNT app QUEUE mail-out", ":1")
        c.expect("MULTI", "+OK")
        c.expect("Q.LENGTH app mail-out", "+QUEUED")
        c.expect("Q.LENGTH app secret", "+QUEUED")
        c.expect("EXEC", "[:1, -NOPERM ...")

    def test_an_operator_runs_the_queues_without_putting_or_taking_jobs(self):
        self.put("ops", "o1")
        c = self.login("operator")
        c.expect("Q.PAUSE app ops", "+OK")
        c.expect("Q.UNPAUSE app ops", "+OK")
        c.expect("Q.LIMIT.SET app QUEUE ops RATE 5", "+OK")
        c.expect("Q.CANCEL app o1", ":1")
        for request in ("Q.PUT app ops Send {}", "Q.POP app w 1 ops", "Q.PUSH.SET app * http://x/",
                        "Q.CHECK app", "Q.GET app o1"):
            with self.subTest(request):
                c.expect(request, "-NOPERM ...")

    def test_write_is_what_it_was(self):
        c = self.login("old")
        c.expect("Q.PUT app w Send {} JID old1", '"old1"')
        self.pop(c, "w")
        c.expect("Q.COMPLETE app old1 w", '"complete"')
        c.expect("Q.PAUSE app w", "+OK")
        c.expect("Q.UNPAUSE app w", "+OK")
        c.expect("Q.CHECK app", "-NOPERM ...")

    def test_a_reader_hears_and_looks_and_does_nothing(self):
        c = self.login("reader")
        c.expect("Q.QUEUES app", "[...")
        for request in ("Q.PUT app q Send {}", "Q.POP app w 1 q", "Q.CANCEL app x",
                        "Q.TAG app x t"):
            c.expect(request, "-NOPERM ...")
        events = self.login("reader")
        events.expect("SUBSCRIBE sluice:app:log", '["subscribe", ...')
        deaf = self.login("some")
        deaf.expect("SUBSCRIBE sluice:app:log", '["subscribe", ...')
        self.put("heard", "h1")
        events.hear('["message", "sluice:app:log", ...')
        deaf.expect("PING", '["pong", ""]')

    def http(self, user, method, path, body=None):
        passwords = dict(word.split(" ")[:2] for word in self.flags[1::2])
        connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                timeout=sluiced.LIMIT_S)
        self.addCleanup(connection.close)
        token = base64.b64encode(f"{user}:{passwords[user]}".encode()).decode()
        connection.request(method, path, body and json.dumps(body),
                           {"Authorization": "Basic " + token, "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_http_has_the_same_rights(self):
        job = {"klass": "Send", "data": {}}
        app = "/v1/ns/app"
        self.assertEqual(self.http("producer", "POST", app + "/queues/mail-x/jobs", job)[0], 201)
        status, text = self.http("producer", "POST", app + "/queues/other/jobs", job)
        self.assertEqual(status, 403)
        self.assertIn("needs put on queue other", text)
        self.assertEqual(self.http("producer", "GET", app + "/queues")[0], 403)
        self.assertEqual(self.http("producer", "GET", app + "/events")[0], 403)
        self.assertEqual(self.http("reader", "GET", app + "/queues")[0], 200)
        self.assertEqual(self.http("worker", "POST", app + "/jobs/x/cancel", {})[0], 403)
        self.assertEqual(self.http("some", "GET", app + "/queues/mail-out/length")[0], 200)
        self.assertEqual(self.http("some", "GET", app + "/queues/other/length")[0], 403)
        many = [{**job, "jid": "m1"}, {**job, "jid": "m2"}]
        self.assertEqual(self.http("producer", "POST", app + "/queues/mail-x/jobs", many)[0], 200)

    def test_refused_tasks_are_noted_of_those_who_may_put_and_shown_to_those_who_may_read(self):
        tasks, invalid = "/v1/ns/app/tasks", "/v1/ns/app/invalid-tasks"
        for user in "reader", "worker", "some":
            self.assertNotEqual(self.http(user, "POST", tasks, [5])[0], 200)
            self.login(user).expect("T.PUT app mail-in {}", "-NOPERM ...")
        self.assertEqual(self.http("reader", "GET", invalid), (200, '{"invalid":[]}'))
        self.assertEqual(self.http("producer", "POST", tasks, [6])[0], 400)
        self.login("producer").expect("T.PUT app mail-in {}", "-INVALID ...")
        self.login("producer").expect("T.PUT app other []", "-NOPERM ...")
        status, text = self.http("reader", "GET", invalid)
        sent = [entry["sent"] for entry in json.loads(text)["invalid"]]
        self.assertEqual((status, sent), (200, ["mail-in {}", "[6]"]))
        for user in "producer", "worker", "some":
            self.assertEqual(self.http(user, "GET", invalid)[0], 403)
            self.login(user).expect("T.INVALID app", "-NOPERM ...")


if __name__ == "__main__":
    sluiced.main()
