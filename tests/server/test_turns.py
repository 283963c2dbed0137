#!/usr/bin/python3
"""Connections take turns by the time that they use, and commands that take long are told."""

import unittest

import outside
import sluiced
from outside import request


class Case(unittest.TestCase):
    def serve(self, *flags):
        server = outside.server(*flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def client(self, server, *words):
        client = sluiced.Client(server)
        self.addCleanup(client.close)
        if words:
            client.expect(("AUTH", *words), "+OK")
        return client


class Turns(Case):
    HEAVY, EACH = 10, 200

    def test_a_client_is_served_while_others_have_much_to_do(self):
        """Each of the others has sent a row of requests that walk over all jobs. Were they run as
        they came, all of them would be done before the client is served."""
        server = self.serve()
        light = self.client(server)
        light.send_raw(request("Q.PUT", "app", "q", "k", "{}") * 1000)
        for _ in range(1000):
            light.read()
        heavy = [self.client(server) for _ in range(self.HEAVY)]
        for one in heavy:
            one.send_raw(request("Q.CHECK", "app") * self.EACH)
        # At once, so that the others are still served however long this process waits for a processor.
        def puts_while_others_wait():
            light.send_raw(request("Q.PUT", "app", "other", "k", "{}") * 10 + request("INFO", "clients"))
            for _ in range(10):
                light.hear('"...')
            return outside.number_in(light.read(), "scheduled_clients")
        sluiced.until(puts_while_others_wait, "a put while others wait for their turn")
        self.assertGreater(outside.figure(light, "stats", "turns_cut"), 0)
        for one in heavy:
            for _ in range(self.EACH):
                self.assertIn('"broken", :0', one.read())

    def test_order_is_kept_when_turns_are_cut(self):
        server = self.serve("--turn-time", "500us")
        clients = [self.client(server) for _ in range(5)]
        for one in clients:
            one.send_raw(b"".join(request("ECHO", f"{i}") for i in range(5000)))
        for one in clients:
            for i in range(5000):
                one.hear(f'"{i}"')


class Slow(Case):
    USERS = ("--user", "root pr *:admin", "--user", "ann pa app:write")

    def test_every_command_is_slow_at_a_threshold_of_a_microsecond(self):
        server = self.serve("--slow-command", "1us", *self.USERS)
        root, ann = self.client(server, "root", "pr"), self.client(server, "ann", "pa")
        ann.expect("CLIENT SETNAME mailer", "+OK")
        ann.expect(("Q.PUT", "app", "q", "k", '"' + "x" * 998 + '"', "JID", "a"), '"a"')
        ann.expect(("Q.POP", "app", "w", 1, *[f"q{i}" for i in range(48)]), "[]")
        said = root.ask("SLOWLOG GET -1")
        self.assertIn('["Q.PUT", "app", "q", "k", ""' + "x" * 127 + '... (872 more bytes)", "JID", "a"], "127.0.0.1:', said)
        self.assertIn('"mailer"]', said)
        self.assertIn('"... (21 more arguments)"]', said)
        line = server.hear("slow command command=Q.PUT")
        self.assertIn(" ns=app address=127.0.0.1:", line)
        self.assertGreater(int(root.ask("SLOWLOG LEN")[1:]), 3)
        self.assertEqual(root.ask("SLOWLOG GET 2").count('"127.0.0.1:'), 2)
        root.expect("SLOWLOG GET 0", "[]")
        root.expect("SLOWLOG GET -2", "-...")
        root.expect("SLOWLOG GET x", "-...")
        root.expect("SLOWLOG RESET", "+OK")
        root.expect("SLOWLOG LEN", ":1")  # the RESET itself

    def test_secrets_are_not_kept(self):
        server = self.serve("--slow-command", "1us", *self.USERS)
        root = self.client(server, "root", "pr")
        self.client(server).expect("AUTH ann geheim", "-WRONGPASS...")
        root.expect("HELLO 3 AUTH root pr SETNAME x", "{...")
        root.ask("CONFIG SET requirepass geheim")
        root.ask("Q.PUSH.SET app k http://example.com/ SECRET geheim")
        root.expect("MULTI", "+OK")
        root.expect("AUTH root geheim", "+QUEUED")
        root.ask("EXEC")
        said = root.ask("SLOWLOG GET -1")
        self.assertNotIn("geheim", said)
        self.assertNotIn('"pr"', said)
        for name in ("AUTH", "HELLO", "CONFIG", "Q.PUSH.SET"):
            self.assertIn(f'["{name}", "(redacted)"]', said)

    def test_only_an_administrator_sees_them(self):
        server = self.serve("--slow-command", "1us", *self.USERS)
        ann = self.client(server, "ann", "pa")
        for word in ("GET", "LEN", "RESET"):
            self.assertTrue(ann.ask(f"SLOWLOG {word}").startswith("-"))

    def test_no_more_are_kept_than_set_and_with_0_no_command_is_slow(self):
        server = self.serve("--slow-command", "1us", "--slow-commands-kept", "3")
        client = self.client(server)
        for i in range(10):
            client.expect(f"ECHO {i}", f'"{i}"')
        client.expect("SLOWLOG LEN", ":3")
        self.assertIn('["SLOWLOG", "LEN"]', client.ask("SLOWLOG GET -1"))
        off = self.client(self.serve("--slow-command", "0"))
        off.expect("ECHO x", '"x"')
        off.expect("SLOWLOG LEN", ":0")


if __name__ == "__main__":
    sluiced.main()
