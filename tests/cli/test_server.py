#!/usr/bin/python3
"""The server as an operator sees it; and which commands of the queue the tool reaches."""

import json
import os
import re
import subprocess
import sys
import unittest

import tool
from tool import sluiced

sys.path.insert(0, os.path.join(tool.SOURCE, "tests/client"))
from shell import Shell  # noqa: E402

# Commands that no subcommand is for, and why.
NOT_REACHED = {
    # Several at once: programs use them, and the tool has the acts on one or by a filter.
    "Q.MHEARTBEAT", "Q.MCOMPLETE", "Q.MFAIL", "Q.MRETRY", "Q.MPUT", "Q.PUSH.MSET",
    # `put` with the jid of a job does it.
    "Q.REQUEUE",
    # For a process that another one has given a job.
    "Q.HELD",
    # `count` and `queue` say it.
    "Q.LENGTH",
    # A search is started, watched and dropped by `find`.
    "Q.FINDS",
    # `sluice help` is about the tool; `sluice call Q.HELP` about commands.
    "Q.HELP", "COMMAND",
    # Tasks are for clients of Fresnel.
    "T.PUT", "T.MPUT", "T.GET", "T.LIST", "T.COUNTS", "T.RETRY", "T.DELETE", "T.INVALID",
    # For clients of Redis: what they ask at the start, and of what is not here.
    "DBSIZE", "KEYS", "EXISTS", "TYPE", "FLUSHDB", "FLUSHALL", "CONFIG", "TIME", "LATENCY", "INFO",
    "ECHO", "AUTH", "HELLO", "SELECT", "QUIT", "RESET", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE",
    "PUNSUBSCRIBE", "PUBLISH", "PUBSUB", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH", "ACL",
    # For clients of qless.
    "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT", "ZCARD", "ZSCORE",
}
# Reached through a function of the library.
BY_LIBRARY = {"Q.PUT", "Q.POP", "Q.TAKE", "Q.GET", "Q.WAIT", "Q.START", "Q.CHECK"}


class Reach(unittest.TestCase):
    def test_every_command_has_a_subcommand_or_a_reason(self):
        with open(os.path.join(tool.SOURCE, "docs/commands.md"), encoding="utf-8") as file:
            commands = set(re.findall(r"^### (\S+)$", file.read(), flags=re.M))
        written = set()
        for folder, _, names in os.walk(os.path.join(tool.SOURCE, "src/cli/commands")):
            for name in names:
                if name.endswith(".c"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        written |= set(re.findall(r'"(Q(?:\.[A-Z]+)+|PING|CLIENT|SLOWLOG|SHUTDOWN)\b',
                                                  file.read()))
        reached = (commands & written) | BY_LIBRARY
        self.assertEqual(commands - reached - NOT_REACHED, set())
        self.assertEqual(reached & NOT_REACHED, set(), "they are reached by now")
        self.assertEqual(NOT_REACHED - commands, set(), "there are no such commands")


class Status(tool.ServerCase):
    def test_a_server_says_how_it_is(self):
        text = self.good("status")
        self.assertRegex(text, rf"(?m)^server +sluiced \d\S+ at sluice://127.0.0.1:{self.server.port}$")
        self.assertRegex(text, r"(?m)^store +ready$")
        self.assertRegex(text, r"(?m)^connections +\d+ of \d+, 0 waiting for jobs$")
        self.assertEqual(self.json("status")["store"]["state"], "ready")

    def test_a_server_answers(self):
        self.assertRegex(self.good("ping"), r" answers in \S+\n$")
        self.assertGreater(self.json("ping")["seconds"], 0)

    def test_connections_are_listed_and_closed(self):
        with sluiced.Client(self.server) as client:
            client.expect("CLIENT SETNAME visitor", "+OK")
            mine, = [each for each in self.lines("clients") if each["name"] == "visitor"]
            self.assertEqual(mine["cmd"], "CLIENT")
            self.assertRegex(self.good("clients"), r"(?m)^ *ID +ADDRESS +NAME +USER")
            self.assertRegex(self.good("clients", "list"), r"(?m)^ *\d+ +127.0.0.1:\d+ +visitor +default ")
            self.says("1 killed\n", "clients", "kill", mine["id"])
            self.assertNotIn("visitor", self.good("clients"))
        self.refused(3, "there is no such connection", "clients", "kill", mine["id"])

    def test_a_name_cannot_move_the_cursor(self):
        with sluiced.Client(self.server) as client:
            client.send("CLIENT", "SETNAME", "a\u009b31mb")
            client.read()
            self.assertNotIn("\u009b", self.good("clients"))

    def test_who_this_is_and_what_was_done(self):
        self.assertRegex(self.good("whoami"), r"(?m)^rights +\*:admin$")
        self.good("pause", "mail")
        entry = self.lines("audit", "--command", "Q.PAUSE", "-n", "1")[0]
        self.assertEqual((entry["command"], entry["outcome"]), ("Q.PAUSE", "ok"))
        self.assertRegex(tool.shape(self.good("audit", "-n", "1")),
                         r"^ID  AT  KIND  USER  ADDRESS  NAMESPACE  COMMAND  OUTCOME  ARGUMENTS\n")

    def test_a_server_drains(self):
        self.says("no new jobs are accepted\n", "drain")
        try:
            done = self.run_tool("put", "mail", "Send")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("draining", done.stderr)
        finally:
            self.says("new jobs are accepted\n", "drain", "--off")
        self.put("ann")

    def test_a_folder_is_no_server(self):
        with tool.tempfile.TemporaryDirectory() as folder:
            url = f"file:{folder}/jobs"
            tool.run("put", "mail", "Send", "--url", url)
            self.refuse_all(url, f"and file:{folder}/jobs is a folder")

    def test_a_queue_in_a_program_is_no_server(self):
        with tool.tempfile.TemporaryDirectory() as folder, Shell() as shell:
            shell.open("q", f"file:{folder}/jobs")
            shell.ok("serve", "q", f"unix:{folder}/socket", "server")
            url = f"unix:{folder}/socket?ns=app"
            done = tool.run("put", "mail", "Send", "--jid", "ann", "--url", url)
            self.assertEqual((done.returncode, done.stdout), (0, "ann\n"), done.stderr)
            self.assertEqual(tool.run("ping", "--url", url).returncode, 0)
            self.refuse_all(url, f"and unix:{folder}/socket is a queue in a program "
                                 "(`sluice queues` and `sluice top` show it)")
            self.assertIn("mail", tool.run("queues", "--url", url).stdout)
            shell.ok("serve_end", "server")
            shell.ok("close", "q")

    def refuse_all(self, url, reason):
        for words in (["status"], ["whoami"], ["slowlog", "list"], ["reload"], ["drain"],
                      ["users", "list"], ["shutdown", "--yes"]):
            done = tool.run(*words, "--url", url)
            name = " ".join(words[:2 - (words[-1] == "--yes")])
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", f"sluice: `{name}` needs a server, {reason}\n"))


class Alone(unittest.TestCase):
    """Servers that are changed or end."""

    def serve(self, *flags):
        server = sluiced.Server(*flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server, f"sluice://127.0.0.1:{server.port}/app"

    def test_slow_commands_are_listed(self):
        _, url = self.serve("--slow-command", "1us")
        tool.run("put", "mail", "Send", '{"a":1}', "--jid", "ann", "--url", url)
        entries = [json.loads(line)
                   for line in tool.run("slowlog", "--json", "--url", url).stdout.splitlines()]
        put, = [entry for entry in entries if entry["words"][0] == "Q.PUT"]
        self.assertGreater(put["took"], 0)
        done = tool.run("slowlog", "--url", url)
        self.assertRegex(done.stdout, r"(?m)^ *ID +WHEN +TOOK +ADDRESS +NAME +COMMAND$")
        self.assertRegex(done.stdout, r"(?m) Q\.PUT app mail Send ")
        self.assertEqual(tool.run("slowlog", "reset", "--url", url).stdout, "reset\n")

    def test_a_config_file_is_read_again(self):
        server = sluiced.Server()
        self.addCleanup(server.__exit__)
        path = server.path("sluiced.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("max-payload 1M\n")
        os.chmod(path, 0o600)
        server.flags = ("--config", path)
        server.start()
        url = f"sluice://127.0.0.1:{server.port}/app"
        with open(path, "w", encoding="utf-8") as file:
            file.write("max-payload 2M\n")
        done = tool.run("reload", "--url", url)
        self.assertEqual((done.returncode, done.stdout), (0, "reloaded\n"), done.stderr)
        self.assertIn("2MiB", tool.run("call", "CONFIG", "GET", "max-payload", "--url", url).stdout)
        with open(path, "w", encoding="utf-8") as file:
            file.write("max-payload much\n")
        done = tool.run("reload", "--url", url)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("max-payload", done.stderr)
        self.assertIn("2MiB", tool.run("call", "CONFIG", "GET", "max-payload", "--url", url).stdout)

    def test_users_come_and_go(self):
        root = self.serve("--user", "root secret *:admin")[1].replace("//", "//root:secret@")
        hashed = subprocess.run([os.environ["SLUICED"], "--hash-password"], input="secret\n", text=True,
                                capture_output=True, check=True).stdout.strip()
        done = tool.run("users", "set", "shop", "--right", "app/mail-*:put", "--hash", hashed,
                        "--url", root)
        self.assertEqual((done.returncode, done.stdout), (0, "set shop\n"), done.stderr)
        self.assertRegex(tool.run("users", "--url", root).stdout, r"(?m)^shop +yes +app/mail-\*:put")
        self.assertEqual(tool.run("users", "remove", "shop", "--url", root).stdout, "removed shop\n")
        done = tool.run("users", "remove", "shop", "--url", root)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)

    def test_a_server_is_stopped(self):
        server, url = self.serve()
        done = tool.run("shutdown", "--url", url)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        done = tool.run("shutdown", "--yes", "--url", url)
        self.assertEqual((done.returncode, done.stdout), (0, "stopped\n"), done.stderr)
        self.assertEqual(server.wait(), 0)
        done = tool.run("ping", "--url", url)
        self.assertEqual((done.returncode, done.stdout), (4, ""))


if __name__ == "__main__":
    tool.main()
