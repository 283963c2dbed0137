#!/usr/bin/python3
"""How a queue is reached: Unix sockets, password files, names of connections, descriptors."""

import os
import tempfile
import unittest

from both import both
from real import RealServer, TestCase, sluiced
from shell import LIMIT_S, Shell

PASSWORD = "s3cr%t / @x"


class Sockets(TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.server.path("sluice.sock")
        self.server.stop()
        self.server.flags += ("--listen", "unix:" + self.path)
        self.server.start()
        self.url = f"sluice://127.0.0.1:{self.server.port}"

    def test_a_server_on_a_socket(self):
        self.open(url=f"unix:{self.path}?ns=app")
        self.put("a")
        self.take("a")
        self.assertEqual(self.shell.status("done", "a", None), "ok")
        self.open("tcp", self.url + "/app")
        self.assertEqual(self.shell.ok("get", "tcp", "a")["value"]["state"], "complete")

    def test_waits_and_events(self):
        self.open(url=f"unix://{self.path}")
        self.shell.ok("listen", "q", "log", "events")
        waiting = self.shell.begin("next", "q", "q", LIMIT_S, "job")
        self.put("a")
        self.assertEqual(waiting.result(LIMIT_S)["jobs"], ["a"])
        self.assertEqual(self.shell.ok("event", "events", LIMIT_S)["event"]["jid"], "a")
        self.shell.ok("free", "job")
        self.shell.ok("unlisten", "events")

    def test_no_server_is_there(self):
        path = self.server.path("nothing.sock")
        self.open(url="unix:" + path, timeout=0.3)
        answer = self.shell.ask("call", "q", ["Q.QUEUES"])
        self.assertEqual(answer["status"], "unreachable")
        self.assertEqual(answer["message"], f"unix:{path} cannot be reached: No such file or directory")

    def test_the_server_comes_back(self):
        self.open(url=f"unix:{self.path}")
        self.put("a")
        self.server.kill()
        waiting = self.shell.begin("get", "q", "a")
        self.server.start()
        self.assertEqual(waiting.result(LIMIT_S)["status"], "ok")


class Passwords(TestCase):
    flags = ("--password", PASSWORD, "--user", "ann pass-of-ann app:write")

    def setUp(self):
        super().setUp()
        self.file = self.server.path("password")
        self.write(PASSWORD + "\n")

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def refused(self, url=None, **options):
        answer = self.shell.ask("open", "refused", url or self.url, options)
        self.assertEqual(answer["status"], "invalid")
        return answer["message"]

    def test_a_file(self):
        for text in (PASSWORD, PASSWORD + "\n", PASSWORD + "\r\nnothing\n"):
            self.write(text)
            self.open("q", password_file=self.file)
            self.assertEqual(self.shell.status("call", "q", ["Q.QUEUES"]), "ok", text)
        self.write("pass-of-ann\n")
        self.open("ann", self.url.replace("//", "//ann@") + "/app", password_file=self.file)
        self.assertEqual(self.shell.status("call", "ann", ["Q.QUEUES"]), "ok")

    def test_a_file_is_read_for_each_connection(self):
        self.write("wrong")
        self.open("q", password_file=self.file)
        self.assertEqual(self.shell.status("call", "q", ["Q.QUEUES"]), "denied")
        self.write(PASSWORD)
        self.assertEqual(self.shell.status("call", "q", ["Q.QUEUES"]), "ok")

    def test_a_variable(self):
        with Shell(SLUICE_PASSWORD_FILE=self.file) as shell:
            shell.open("q", self.url)
            self.assertEqual(shell.status("call", "q", ["Q.QUEUES"]), "ok")
            # What is said elsewhere has precedence.
            shell.open("ann", self.url.replace("//", "//ann:pass-of-ann@") + "/app")
            self.assertEqual(shell.status("call", "ann", ["Q.QUEUES"]), "ok")
            empty = self.server.path("other")
            with open(empty, "w", encoding="utf-8") as file:
                file.write("wrong")
            shell.open("other", self.url, password_file=empty)
            self.assertEqual(shell.status("call", "other", ["Q.QUEUES"]), "denied")
            for name in ("q", "ann", "other"):
                shell.ok("close", name)

    def test_files_that_cannot_be_used(self):
        self.assertEqual(self.refused(password_file="/nowhere"),
                         "password_file /nowhere cannot be read: No such file or directory")
        self.write("\nsecond line")
        self.assertIn("has no password in its first line", self.refused(password_file=self.file))
        self.write("x" * 1024)
        self.assertIn("is too long", self.refused(password_file=self.file))
        self.write("x\0y")
        self.assertIn("contains a null byte", self.refused(password_file=self.file))
        self.write(PASSWORD)
        self.assertEqual(self.refused(self.url.replace("//", "//:other@"), password_file=self.file),
                         "either a password in the address or password_file, not both")

    def test_a_folder_has_no_password(self):
        with tempfile.TemporaryDirectory() as folder:
            self.open("folder", f"file:{folder}/jobs", password_file="/nowhere")
            self.assertEqual(self.shell.status("call", "folder", ["Q.QUEUES"]), "ok")


class Names(TestCase):
    def names(self):
        with sluiced.Client(self.server) as client:
            lines = client.ask("CLIENT", "LIST")
        return [word[5:] for word in lines.split() if word.startswith("name=")]

    def test_connections_have_the_name_of_the_worker(self):
        self.open(worker="mailer-1")
        self.put("a")
        self.assertIn("mailer-1", self.names())
        self.open("other", worker="of Köln")
        self.shell.ok("get", "other", "a")
        self.assertIn("of-K--ln", self.names())
        self.open("long", worker="w" * 255)
        self.shell.ok("get", "long", "a")
        self.assertIn("w" * 63, self.names())

    def test_by_default_too(self):
        self.open()
        self.put("a")
        self.assertTrue([name for name in self.names()
                         if f"-{self.shell.process.pid}-" in name], self.names())


@both
class Descriptors:
    """A program that the process starts by exec gets none of them."""

    def test_none_survives_exec(self):
        self.open()
        self.put("a")
        self.take("a")
        self.shell.ok("keepalive", "a")
        self.shell.ok("listen", "q", "log", "events")
        self.shell.ok("poll_events", "events", 0)
        self.shell.ok("async_new", "q", "async")
        flags = {}
        folder = f"/proc/{self.shell.process.pid}/fd"
        for name in os.listdir(folder):
            if int(name) > 2:
                with open(f"{folder}info/{name}", encoding="ascii") as file:
                    words = dict(line.split(":", 1) for line in file if line.startswith("flags:"))
                flags[name + " " + os.readlink(f"{folder}/{name}")] = int(words["flags"], 8)
        self.assertGreater(len(flags), 2)
        self.assertEqual([name for name, word in flags.items() if not word & os.O_CLOEXEC], [])
        self.shell.ok("async_free", "async")
        self.shell.ok("unlisten", "events")


if __name__ == "__main__":
    sluiced.main()
