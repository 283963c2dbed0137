#!/usr/bin/python3
"""What may be put in is the same whichever way it comes: RESP, HTTP, the tool over a server and over
a folder."""

import json
import urllib.error
import urllib.parse
import urllib.request

import tool
from tool import sluiced

DEEP = "[" * 1000 + "]" * 1000
TOO_DEEP = "[" + DEEP + "]"
NOT_TEXT = ("a\nb", "\x1b[2J", "\x7f", "\x85")
TEXT = 'ä "x" \\ 🐳'


class Rules:
    """By each way: put() and what it refuses, as a status and a sentence."""

    def test_json_has_up_to_1000_levels(self):
        self.put(data=DEEP)
        self.refused("too_large", "more than 1000 levels", data=TOO_DEEP)

    def test_names_are_text(self):
        self.put(queue=TEXT, klass=TEXT, jid=TEXT, tag=TEXT)
        for name in NOT_TEXT:
            for what in ("queue", "klass", "jid", "tag"):
                self.refused("invalid", f"{what} must be UTF-8 without control characters",
                             **{what: name})

    def test_numbers(self):
        self.put(priority="5.0", jid="five")
        self.assertEqual(self.get("five")["priority"], 5)
        self.refused("invalid", "from 0 to 3162240000 seconds", delay="1e18")
        self.refused("invalid", "from -2147483648 to 2147483647", priority="1e18")
        self.refused("invalid", "whole number", priority="5.5")


class Resp(Rules, sluiced.TestCase):
    def words(self, queue="q", klass="k", data="{}", **options):
        words = ["Q.PUT", "app", queue, klass, data]
        for name, value in options.items():
            words += [name.upper(), value]
        return words

    def put(self, **options):
        self.assertEqual(self.client().ask(*self.words(**options))[0], '"')

    def get(self, jid):
        reply = self.client().ask("Q.GET", "app", jid)
        return {"priority": int(reply.split('"priority", :')[1].split(",")[0])}

    def refused(self, status, sentence, **options):
        reply = self.client().ask(*self.words(**options))
        self.assertTrue(reply.startswith("-" + status.upper()), reply)
        self.assertIn(sentence, reply)


class Web(Rules, sluiced.TestCase):
    def ask(self, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.server.http_port}/v1/ns/app{path}", data=body,
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def send(self, queue="q", klass="k", data="{}", tag=None, **options):
        # By hand, so that numbers are written as they are given.
        members = {"klass": json.dumps(klass), "data": data,
                   **{name: json.dumps(value) if name == "jid" else value
                      for name, value in options.items()}}
        if tag is not None:
            members["tags"] = json.dumps([tag])
        body = "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"
        return self.ask(f"/queues/{urllib.parse.quote(queue, safe='')}/jobs", body.encode())

    def put(self, **options):
        self.assertIn(self.send(**options)[0], (200, 201))

    def get(self, jid):
        return self.ask(f"/jobs/{jid}")[1]

    def refused(self, status, sentence, **options):
        code, problem = self.send(**options)
        self.assertEqual((code, problem["code"]), (413 if status == "too_large" else 400, status))
        self.assertIn(sentence, problem["detail"])


class Tool(Rules):
    def words(self, queue="q", klass="k", data="{}", **options):
        words = ["put", queue, klass, data]
        for name, value in options.items():
            words.append(f"--{name}={value}")
        return words

    def put(self, **options):
        self.good(*self.words(**options))

    def get(self, jid):
        return self.json("get", jid)

    def refused(self, status, sentence, **options):
        done = self.run_tool(*self.words(**options))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(sentence, done.stderr)


class ToolOverServer(Tool, tool.ServerCase):
    pass


class ToolOverFolder(Tool, tool.FileCase):
    pass


if __name__ == "__main__":
    tool.main()
