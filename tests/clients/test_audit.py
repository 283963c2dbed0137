#!/usr/bin/python3
"""The audit log: what administrators did and what was refused, in the log and by a command."""

import base64
import http.client
import json

import sluiced


class Audit(sluiced.TestCase):
    flags = ("--user", "root pr *:admin", "--user", "ann pa app:admin", "--user", "bob pb app:read")

    def login(self, name):
        client = self.client()
        client.expect(f"AUTH {name} p{name[0]}", "+OK")
        return client

    def newest(self, *words):
        return self.login("root").ask("Q.AUDIT", "COUNT", "1", *words)

    def test_an_act_is_kept_with_its_user_address_arguments_and_outcome(self):
        ann = self.login("ann")
        address = ann.socket.getsockname()
        ann.expect("Q.PAUSE app mail", "+OK")
        entry = self.newest("NAMESPACE", "app", "KIND", "act")
        for part in ('"user", "ann"', f'"address", "127.0.0.1:{address[1]}"',
                     '"namespace", "app"', '"command", "Q.PAUSE"', '"arguments", "mail"',
                     '"outcome", "ok"'):
            self.assertIn(part, entry)
        line = self.server.hear("command=Q.PAUSE arguments=mail")
        self.assertIn("audit id=", line)
        self.assertIn("user=ann", line)
        ann.expect("Q.DELETE app none", "-NOT_FOUND ...")
        self.assertIn('"outcome", "not_found"', self.newest("NAMESPACE", "app", "KIND", "act"))

    def test_an_act_of_a_client_of_qless_is_kept_with_the_name_of_its_call(self):
        root = self.login("root")
        unified = "Qless.config QlessQueue QlessWorker QlessJob QlessRecurringJob QlessAPI ARGV"
        root.ask("EVAL", unified, "0", "pause", "1", "mail")
        self.assertIn('"arguments", "pause 1 mail"', self.newest("NAMESPACE", "qless"))
        root.ask("EVAL", "error('Config(): no') redis.call('get', 'ql:' .. ARGV[1])", "0", "set",
                 "heartbeat", "5")
        entry = self.newest("NAMESPACE", "qless")
        self.assertIn('"arguments", "config.set set heartbeat 5"', entry)
        root.ask("EVAL", "error('Config(): no') redis.call('get', 'ql:' .. ARGV[1])", "0", "get")
        self.assertEqual(self.newest("NAMESPACE", "qless"), entry)

    def test_acts_on_single_jobs_are_kept(self):
        root = self.login("root")
        root.expect("Q.PUT app q K {} JID one", '"one"')
        for words, arguments in ((("Q.DATA", "app", "one", '{"n":1}'), 'one {"n":1}'),
                                 (("Q.TAG", "app", "one", "red"), "one red"),
                                 (("Q.REQUEUE", "app", "q", "K", "{}", "JID", "one"),
                                  "q K {} JID one"),
                                 (("Q.DEPENDS.CLEAR", "app", "one"), "one"),
                                 (("Q.RESTORE", "app", '{"kind":"nothing"}'), "nothing")):
            root.ask(*words)
            entry = self.newest("NAMESPACE", "app", "KIND", "act")
            self.assertIn(f'"command", "{words[0]}"', entry)
            self.assertIn(arguments, entry)

    def test_a_denial_is_kept(self):
        bob = self.login("bob")
        bob.expect("Q.CANCEL app x", "-NOPERM ...")
        self.assertIn('"user", "bob"', self.newest("KIND", "denied"))
        self.server.hear("kind=denied user=bob")
        bob.expect("Q.AUDIT", "-NOPERM ...")
        self.assertIn('"command", "Q.AUDIT"', self.newest("KIND", "denied"))

    def test_a_failed_login_is_kept_without_its_password(self):
        self.client().expect("AUTH eve quite-secret", "-WRONGPASS ...")
        entry = self.newest("KIND", "login")
        self.assertIn('"user", "eve"', entry)
        self.assertNotIn("quite-secret", "".join(self.server.log) + entry)

    def test_secrets_of_a_push_are_hidden(self):
        root = self.login("root")
        root.expect(("Q.PUSH.SET", "app", "p*", "https://example.org/?token=hidden-1", "SECRET",
                     "whsec_" + base64.b64encode(b"hidden-2" * 4).decode(), "HEADER",
                     "X-Key: hidden-3"), "+OK")
        entry = self.newest("NAMESPACE", "app", "KIND", "act")
        self.assertIn('"command", "Q.PUSH.SET"', entry)
        self.assertIn("p* *** SECRET *** HEADER ***", entry)
        root.expect("Q.PUSH.UNSET app p*", "+OK")
        self.assertNotIn("hidden", "".join(self.server.log))

    def test_an_administrator_of_a_namespace_sees_its_entries_only(self):
        self.login("root").expect("Q.NAMESPACE.CREATE other", "+OK")
        ann = self.login("ann")
        ann.expect("Q.AUDIT", "-NOPERM ...")
        ann.expect("Q.AUDIT NAMESPACE other", "-NOPERM ...")
        self.assertNotIn('"other"', ann.ask("Q.AUDIT NAMESPACE app"))

    def test_entries_are_found_by_user_and_command(self):
        self.login("root").expect("Q.PAUSE app mail", "+OK")
        self.login("ann").expect("Q.UNPAUSE app mail", "+OK")
        self.assertIn('"command", "Q.PAUSE"', self.newest("USER", "root", "KIND", "act"))
        self.assertIn('"user", "root"', self.newest("COMMAND", "q.pause"))
        self.assertNotIn('"user"', self.login("root").ask("Q.AUDIT USER nobody"))

    def test_line_breaks_do_not_make_lines(self):
        ann = self.login("ann")
        ann.expect(("Q.CONFIG.SET", "app", "x-note", "a\r\nb\x1b[31m"), "+OK")
        self.assertIn("a..b.[31m", self.newest("NAMESPACE", "app", "KIND", "act"))

    def test_pages_go_back_in_time(self):
        root = self.login("root")
        for i in range(5):
            root.expect(f"Q.UNPAUSE app page-{i}", "+OK")
        page = root.ask("Q.AUDIT COUNT 2 NAMESPACE app KIND act")
        self.assertTrue("page-4" in page and "page-3" in page and "page-2" not in page, page)
        ids = [int(part.split(",")[0]) for part in page.split('"id", :')[1:]]
        page = root.ask(f"Q.AUDIT COUNT 2 NAMESPACE app KIND act BEFORE {ids[-1]}")
        self.assertTrue("page-2" in page and "page-1" in page and "page-3" not in page, page)

    def get(self, path, user):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                timeout=sluiced.LIMIT_S)
        self.addCleanup(connection.close)
        token = base64.b64encode(f"{user}:p{user[0]}".encode()).decode()
        connection.request("GET", path, headers={"Authorization": "Basic " + token})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def test_http_says_the_same(self):
        self.login("root").expect("Q.UNPAUSE app by-http", "+OK")
        status, page = self.get("/v1/audit?count=1&namespace=app&kind=act", "root")
        self.assertEqual((status, page["entries"][0]["arguments"]), (200, "by-http"))
        self.assertEqual(self.get("/v1/audit", "ann")[0], 403)
        status, who = self.get("/v1/whoami", "ann")
        self.assertEqual((status, who["user"], who["rights"]), (200, "ann", ["app:admin"]))

    def test_a_client_is_told_who_it_is(self):
        ann = self.login("ann")
        self.assertIn('"user", "ann"', ann.ask("Q.WHOAMI"))
        self.assertIn('"rights", ["app:admin"]', ann.ask("Q.WHOAMI"))
        ann.expect("ACL WHOAMI", '"ann"')


class Kept(sluiced.TestCase):
    flags = ("--audit-kept", "3", "--user", "root pr *:admin", "--user", "bob pb app:read")

    def test_refusals_displace_no_acts_and_the_oldest_goes_first(self):
        root = self.client()
        root.expect("AUTH root pr", "+OK")
        bob = self.client()
        bob.expect("AUTH bob pb", "+OK")
        for i in range(5):
            root.expect(f"Q.PAUSE app q{i}", "+OK")
        for i in range(10):
            bob.expect(f"Q.PAUSE app d{i}", "-NOPERM ...")
        acts = root.ask("Q.AUDIT KIND act")
        self.assertEqual([f"q{i}" in acts for i in range(5)], [False, False, True, True, True])
        self.assertEqual(root.ask("Q.AUDIT").count('"id"'), 6)


class Floods(sluiced.TestCase):
    flags = ("--audit-kept", "5", "--log-rate", "1", "--log-burst", "3")

    def test_acts_on_single_jobs_are_limited_and_displace_no_other_act(self):
        client = self.client()
        client.expect("Q.PAUSE app mail", "+OK")
        for i in range(200):
            client.ask(f"Q.CANCEL app none-{i}")
        kept = client.ask("Q.AUDIT", "COUNT", "100")
        self.assertEqual(kept.count('"Q.CANCEL"'), 5)
        self.assertIn('"Q.PAUSE"', kept)
        client.expect("Q.UNPAUSE app mail", "+OK")
        self.server.hear("command=Q.UNPAUSE")
        logged = sum("command=Q.CANCEL" in line for line in self.server.log)
        self.assertLess(logged, 100)


if __name__ == "__main__":
    sluiced.main()
