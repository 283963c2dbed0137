"""The tool `sluice` as a person or a script calls it, against a server of its own."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))
import sluiced  # noqa: E402

SLUICE = os.environ["SLUICE"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
main = sluiced.main
eventually = sluiced.until


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    return {**kept, "TZ": "Europe/Berlin", **more}


def start(*words, **more):
    return subprocess.Popen([SLUICE, *map(str, words)], stdin=subprocess.PIPE, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**more))


def run(*words, text="", **more):
    return subprocess.run([SLUICE, *map(str, words)], input=text, text=True, capture_output=True,
                          env=environment(**more), timeout=sluiced.LIMIT_S, check=False)


def shape(table):
    """A table whose columns are two spaces apart, and whose times from now are all the same."""
    table = re.sub(r"\bnow\b|\bin (\d+[dhms]+)+|\b(\d+[a-z]+)+ ago", "TIME", table)
    return re.sub(r" {2,}", "  ", re.sub(r"^ +| +$", "", table, flags=re.M))


class ToolCase(unittest.TestCase):
    """Tests with a queue of their own: self.url."""

    maxDiff = None

    def run_tool(self, *words, text=""):
        return run("--url", self.url, *words, text=text)

    def good(self, *words, text=""):
        """What a call prints that must go well and have nothing to complain of."""
        done = self.run_tool(*words, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def says(self, wanted, *words, text=""):
        self.assertEqual(shape(self.good(*words, text=text)), wanted)

    def json(self, *words, text=""):
        return json.loads(self.good("--json", *words, text=text))

    def lines(self, *words, text=""):
        return [json.loads(line) for line in self.good("--json", *words, text=text).splitlines()]

    def refused(self, code, sentence, *words, text=""):
        done = self.run_tool(*words, text=text)
        self.assertEqual((done.returncode, done.stderr.splitlines()[:1]),
                         (code, [f"sluice: {sentence}"]), words)
        return done.stdout

    def put(self, jid, queue="mail", *words):
        self.good("put", queue, "Send", '{"to":"%s"}' % jid, "--jid", jid, *words)

    def take(self, jid, queue="mail"):
        self.put(jid, queue, "--priority", "-1000")
        self.good("pop", queue, "--worker", "w1")


class ServerCase(ToolCase):
    """A server that the tests of a class share; a namespace for each."""

    @classmethod
    def setUpClass(cls):
        cls.server = sluiced.Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        self.url = f"sluice://127.0.0.1:{self.server.port}/{self._testMethodName[:100]}"


class FileCase(ToolCase):
    """A folder that the tests of a class share, opened by each call; a namespace for each."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = os.path.join(cls.scratch.name, "jobs")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.url = f"file:{self.folder}?ns={self._testMethodName[:100]}&durability=never"
