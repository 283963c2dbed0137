#!/usr/bin/python3
"""Users that are added, changed and removed while the server runs, and kept."""

import base64
import http.client
import json
import signal
import unittest

import sluiced


class Users(unittest.TestCase):
    flags = ("--user", "root pr *:admin")

    def setUp(self):
        self.server = sluiced.Server(*self.flags).__enter__()
        self.addCleanup(self.server.__exit__)

    def client(self):
        client = sluiced.Client(self.server)
        self.addCleanup(client.close)
        return client

    def login(self, name, password):
        client = self.client()
        client.expect(f"AUTH {name} {password}", "+OK")
        return client

    def root(self):
        return self.login("root", "pr")

    def test_how_many_are_stored_has_a_limit(self):
        self.server.stop()
        self.server.flags += ("--max-users", "2")
        self.server.start()
        root = self.root()
        for name in ("one", "two"):
            root.expect(f"Q.USER.SET {name} PASSWORD secret RIGHT app:read", "+OK")
        root.expect("Q.USER.SET three PASSWORD secret RIGHT app:read",
                    "-TOO_LARGE 2 users are stored; max-users allows no more")
        root.expect("Q.USER.SET two RIGHT app:put", "+OK")
        root.expect("Q.USER.DEL one", "+OK")
        root.expect("Q.USER.SET three PASSWORD secret RIGHT app:read", "+OK")

    def test_a_user_is_added_changed_removed_and_survives_a_restart(self):
        root = self.root()
        root.expect("Q.USER.SET shop PASSWORD first RIGHT app/mail-*:put RIGHT app:read", "+OK")
        shop = self.login("shop", "first")
        shop.expect("Q.PUT app mail-1 Send {} JID j", '"j"')
        shop.expect("Q.PUT app other Send {}", "-NOPERM ...")
        self.assertIn('"rights", ["app/mail-*:put", "app:read"]', shop.ask("Q.WHOAMI"))
        root.expect("Q.USER.SET shop RIGHT app/other:put", "+OK")
        shop.expect("Q.PUT app other Send {} JID k", '"k"')
        shop.expect("Q.GET app k", "-NOPERM ...")
        self.server.restart()
        self.login("shop", "first").expect("Q.PUT app other Send {} JID l", '"l"')
        root = self.root()
        self.assertIn('"user", "shop", "stored", :1, "rights", ["app/other:put"]',
                      root.ask("Q.USERS"))
        root.expect("Q.USER.DEL shop", "+OK")
        root.expect("Q.USER.DEL shop", "-NOT_FOUND ...")
        self.client().expect("AUTH shop first", "-WRONGPASS ...")
        self.server.restart()
        self.client().expect("AUTH shop first", "-WRONGPASS ...")

    def test_connections_end_when_the_password_changes_or_the_user_goes(self):
        root = self.root()
        root.expect("Q.USER.SET shop PASSWORD first RIGHT app:write", "+OK")
        idle = self.login("shop", "first")
        waiting = self.login("shop", "first")
        waiting.send("Q.POP", "app", "w", "1", "WAIT", "0", "none")
        listening = self.login("shop", "first")
        listening.expect("SUBSCRIBE sluice:app:log", '["subscribe", ...')
        root.expect("Q.USER.SET shop PASSWORD second", "+OK")
        for client in (idle, waiting, listening):
            client.hear(None)
        self.client().expect("AUTH shop first", "-WRONGPASS ...")
        second = self.login("shop", "second")
        root.expect("Q.USER.DEL shop", "+OK")
        second.hear(None)
        root.expect("PING", "+PONG")

    def test_a_user_that_removes_itself_is_answered(self):
        self.root().expect("Q.USER.SET boss PASSWORD pw RIGHT *:admin", "+OK")
        boss = self.login("boss", "pw")
        boss.expect("Q.USER.DEL boss", "+OK")
        boss.hear(None)

    def test_what_is_wrong_is_refused_and_changes_nothing(self):
        root = self.root()
        before = root.ask("Q.USERS")
        for request, reply in (("Q.USER.SET shop PASSWORD p", "-INVALID ..."),
                               ("Q.USER.SET shop RIGHT app:put", "-INVALID ..."),
                               ("Q.USER.SET shop PASSWORD p RIGHT app:fly", "-INVALID ..."),
                               ("Q.USER.SET shop PASSWORD pbkdf2-sha256$1 RIGHT app:put",
                                "-INVALID ..."),
                               (("Q.USER.SET", "a b", "PASSWORD", "p", "RIGHT", "app:put"),
                                "-INVALID ..."),
                               (("Q.USER.SET", "shop", "PASSWORD", "", "RIGHT", "app:put"),
                                "-INVALID ..."),
                               ("Q.USER.SET root PASSWORD p RIGHT app:put", "-STATE ..."),
                               ("Q.USER.DEL root", "-STATE ...")):
            with self.subTest(request):
                root.expect(request, reply)
        self.assertEqual(root.ask("Q.USERS"), before)
        root.expect("Q.USER.SET shop PASSWORD p RIGHT app:admin", "+OK")
        shop = self.login("shop", "p")
        for request in ("Q.USERS", "Q.USER.DEL shop", "Q.USER.SET x PASSWORD p RIGHT app:read"):
            shop.expect(request, "-NOPERM ...")

    def test_no_password_is_in_the_log_or_the_audit(self):
        root = self.root()
        root.expect("Q.USER.SET shop PASSWORD very-secret RIGHT app:put", "+OK")
        entry = root.ask("Q.AUDIT KIND act")
        self.assertIn("shop PASSWORD *** RIGHT app:put", entry)
        self.server.hear("command=Q.USER.SET")
        self.assertNotIn("very-secret", entry + "".join(self.server.log))

    def test_without_users_in_the_settings_none_can_be_added(self):
        with sluiced.Server() as server, sluiced.Client(server) as client:
            client.expect("Q.USER.SET ann PASSWORD p RIGHT *:admin", "-STATE ...")
            client.expect("PING", "+PONG")

    def test_http_adds_and_removes_users(self):
        def ask(method, path, body=None, user="root:pr"):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                    timeout=sluiced.LIMIT_S)
            self.addCleanup(connection.close)
            token = base64.b64encode(user.encode()).decode()
            connection.request(method, path, body and json.dumps(body),
                               {"Authorization": "Basic " + token,
                                "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        user = {"password": "pw", "rights": ["app:read"]}
        self.assertEqual(ask("PUT", "/v1/users/web", user)[0], 204)
        self.assertIn('"web"', ask("GET", "/v1/users")[1])
        self.assertEqual(ask("GET", "/v1/ns/app/queues", user="web:pw")[0], 200)
        self.assertEqual(ask("GET", "/v1/users", user="web:pw")[0], 403)
        self.assertEqual(ask("DELETE", "/v1/users/web")[0], 204)
        self.assertEqual(ask("GET", "/v1/ns/app/queues", user="web:pw")[0], 401)


class Precedence(unittest.TestCase):
    def test_the_settings_take_precedence_and_the_stored_user_comes_back(self):
        with sluiced.Server() as server:
            server.stop()
            config = server.path("sluiced.conf")

            def write(*lines):
                with open(config, "w", encoding="utf-8") as file:
                    file.write("\n".join(("user root pr *:admin", *lines)) + "\n")

            def reload():
                count = sum("settings reloaded" in line for line in server.log)
                server.process.send_signal(signal.SIGHUP)
                sluiced.until(lambda: sum("settings reloaded" in line
                                          for line in server.log) > count, "the reload")

            def who(password):
                with sluiced.Client(server) as client:
                    return client.ask(f"AUTH ann {password}")

            write()
            server.flags = ("--config", config)
            server.start()
            with sluiced.Client(server) as root:
                root.expect("AUTH root pr", "+OK")
                root.expect("Q.USER.SET ann PASSWORD stored RIGHT app:read", "+OK")
                self.assertEqual(who("stored"), "+OK")
                write("user ann file app:put")
                reload()
                self.assertEqual(who("file"), "+OK")
                self.assertTrue(who("stored").startswith("-WRONGPASS"))
                root.expect("Q.USER.SET ann RIGHT app:write", "-STATE ...")
                write()
                reload()
                self.assertEqual(who("stored"), "+OK")
                self.assertTrue(who("file").startswith("-WRONGPASS"))


if __name__ == "__main__":
    sluiced.main()
