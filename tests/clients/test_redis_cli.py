#!/usr/bin/python3
"""redis-cli, which people type into."""

import subprocess

import sluiced


class RedisCli(sluiced.TestCase):
    def cli(self, *words, stdin=""):
        done = subprocess.run(["redis-cli", "-p", str(self.server.port), *words], input=stdin,
                              text=True, capture_output=True, timeout=sluiced.LIMIT_S, check=False)
        return done.stdout + done.stderr

    def test_a_command(self):
        self.assertEqual("PONG\n", self.cli("PING"))
        self.assertEqual("bob\n", self.cli("Q.PUT", "app", "mail", "Send", "{}", "JID", "bob"))
        self.assertIn('# "jid" => "bob"', self.cli("-3", "--no-raw", "Q.POP", "app", "w1", "1",
                                                   "mail"))

    def test_a_session(self):
        answers = self.cli("--no-raw", stdin="MULTI\nPING\nEXEC\nNONSENSE\nHELLO 3\nPING\n")
        self.assertEqual(["OK", "QUEUED", "1) PONG"], answers.splitlines()[:3])
        self.assertIn("(error) ERR unknown command 'NONSENSE'", answers)
        self.assertIn('1# "server" => "sluice"', answers)
        self.assertTrue(answers.endswith("PONG\n"))

    def test_many_at_once(self):
        requests = "".join(f"Q.PUT piped mail Send {{}} JID job-{i}\r\n" for i in range(1000))
        self.assertIn("errors: 0, replies: 1000", self.cli("--pipe", stdin=requests))

    def test_help_comes_from_the_server(self):
        # Asked for when it starts, for its help and its hints.
        self.assertIn("summary", self.cli("--json", "COMMAND", "DOCS", "Q.PUT"))

    def test_figures(self):
        self.assertIn("redis_version:7.2.0", self.cli("INFO", "server"))
        self.assertIn("id=", self.cli("CLIENT", "LIST"))


if __name__ == "__main__":
    sluiced.main()
