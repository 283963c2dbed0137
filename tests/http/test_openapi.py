#!/usr/bin/python3
"""docs/openapi.json: is it OpenAPI 3.1, and does it say what the HTTP face does?

Every operation on a namespace is called at least once, over a real engine. What is sent and what is
answered must fit what is described.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import unittest
from urllib.parse import parse_qsl, quote, urlsplit

from jsonschema import Draft202012Validator, RefResolver

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "clients"))
import sluiced  # noqa: E402

METHODS = {"get", "put", "post", "delete", "patch"}


def load():
    with open(os.path.join(os.environ["TEST_SOURCE"], "docs", "openapi.json"), encoding="utf-8") as file:
        return json.load(file)


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def schemas(value):
    """Every schema: what stands at "schema", and in the components."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "schema":
                yield inner
            else:
                yield from schemas(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from schemas(inner)


def references(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def sentences(value, path):
    """Where there are descriptions and summaries, and what they say."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("description", "summary") and isinstance(inner, str):
                yield path, inner
            else:
                yield from sentences(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from sentences(inner, f"{path}/{index}")


class Wellformed(unittest.TestCase):
    """What the specification asks for, part by part."""

    @classmethod
    def setUpClass(cls):
        cls.document = load()

    def test_it_says_what_it_is(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        self.assertLessEqual({"title", "version"}, set(self.document["info"]))
        allowed = {"openapi", "info", "servers", "security", "paths", "components"}
        self.assertLessEqual(set(self.document), allowed)

    def test_paths_have_methods_and_no_two_are_alike(self):
        shapes = [re.sub(r"\{[^}]*\}", "{}", path) for path in self.document["paths"]]
        self.assertEqual(len(shapes), len(set(shapes)))
        for path, item in self.document["paths"].items():
            self.assertTrue(path.startswith("/"))
            self.assertTrue(item)
            self.assertLessEqual(set(item), METHODS)

    def test_operations_have_names_and_answers(self):
        names = [operation["operationId"] for _, _, operation in operations(self.document)]
        self.assertEqual(len(names), len(set(names)))
        for method, path, operation in operations(self.document):
            with self.subTest(f"{method} {path}"):
                self.assertTrue(operation["summary"])
                self.assertLessEqual({"4XX", "5XX"}, set(operation["responses"]))
                for status, response in operation["responses"].items():
                    self.assertRegex(status, r"^([1-5][0-9][0-9]|[45]XX)$")
                    self.assertTrue("$ref" in response or response["description"])

    def test_operations_have_the_names_of_functions(self):
        for method, path, operation in operations(self.document):
            self.assertRegex(operation["operationId"], r"^[a-z]+([A-Z][a-z]+)*$", f"{method} {path}")
            self.assertLessEqual(len(operation["operationId"]), 25)

    def test_sentences_have_no_words_of_resp(self):
        known = {"ASCII", "CAP", "HTTP", "INFO", "JITTER", "JSON", "NAMESPACE", "POST", "QUEUE",
                 "RFC", "RIGHT", "SIGHUP", "SIGUSR1", "UTC", "UUID"}
        count = 0
        for path, sentence in sentences(self.document, ""):
            count += 1
            found = set(re.findall(r"[A-Z][A-Z0-9_.-]*[A-Z0-9]", re.sub("`[^`]*`", "", sentence)))
            self.assertLessEqual(found, known, f"{path}: {sentence}")
            self.assertNotRegex(sentence, r"\bmaps?\b|\b[QT]\.[A-Z]", path)
        self.assertGreater(count, 1000)

    def test_operations_that_sentences_name_are_there(self):
        names = {operation["operationId"] for _, _, operation in operations(self.document)}
        told = {name for _, sentence in sentences(self.document, "")
                for name in re.findall("`([a-z]+[A-Z][A-Za-z]*)`", sentence)}
        self.assertGreater(len(told), 10)
        self.assertLessEqual(told, names)

    def test_parameters_of_a_path_are_described(self):
        for method, path, operation in operations(self.document):
            with self.subTest(f"{method} {path}"):
                given = [(each["in"], each["name"]) for each in operation["parameters"]]
                self.assertEqual(len(given), len(set(given)))
                wanted = set(re.findall(r"\{([^}]*)\}", path))
                self.assertEqual({name for place, name in given if place == "path"}, wanted)
                for each in operation["parameters"]:
                    self.assertIn(each["in"], ("path", "query", "header"))
                    self.assertIn("schema", each)
                    if each["in"] == "path":
                        self.assertIs(each["required"], True)

    def test_schemas_are_schemas(self):
        found = list(schemas(self.document)) + list(self.document["components"]["schemas"].values())
        self.assertGreater(len(found), 100)
        for schema in found:
            Draft202012Validator.check_schema(schema)

    def test_references_lead_somewhere(self):
        for reference in set(references(self.document)):
            at = self.document
            self.assertTrue(reference.startswith("#/"))
            for step in reference[2:].split("/"):
                at = at[step]

    def test_examples_are_what_they_are_examples_of(self):
        count = 0
        resolver = RefResolver.from_schema(self.document)

        def check(content):
            nonlocal count
            for media in content.values():
                for example in media.get("examples", {}).values():
                    count += 1
                    Draft202012Validator(media["schema"], resolver=resolver).validate(example["value"])

        for method, path, operation in operations(self.document):
            with self.subTest(f"{method} {path}"):
                check(operation.get("requestBody", {}).get("content", {}))
                for response in operation["responses"].values():
                    check(response.get("content", {}))
        self.assertGreater(count, 60)


class Shell:
    """The HTTP face as a process."""

    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["HTTP_SHELL"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(sluiced.LIMIT_S)

    def ask(self, method, target, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        self.process.stdin.write(head.encode() + b"\r\n" + text)
        self.process.stdin.flush()
        response = http.client.HTTPResponse(Pipe(self.process.stdout), method=method)
        response.begin()
        return response.status, response.getheader("Content-Type"), response.read()


class Pipe:
    """A pipe that HTTPResponse takes for a socket, and does not close."""

    def __init__(self, file):
        self.file = file

    def makefile(self, _):
        return self

    def readline(self, limit=-1):
        return self.file.readline(limit)

    def read(self, size=-1):
        return self.file.read(size)

    def readinto(self, room):
        return self.file.readinto(room)

    def flush(self):
        pass

    def close(self):
        pass


# What is asked, in this order: method, path (in the namespace), body, status.
TALK = [
    ("POST", "/queues/mail/jobs", {"klass": "Send", "data": {"to": "ann"}, "jid": "ann", "tags": ["paid"],
                                   "priority": 5, "domain": "d", "deadline": "2030-01-31T12:00:00Z",
                                   "unique": "u", "backoff": "fixed:3", "timeout": 60}, 201),
    ("POST", "/queues/mail/jobs", [{"klass": "Send", "data": n, "jid": f"m{n}"} for n in range(8)]
     + [{"klass": "Send", "data": 1, "delay": 1, "at": 5}], 200),
    ("POST", "/queues/mail/jobs", {"klass": "Send"}, 400),
    ("POST", "/jobs/m7/requeue", {"queue": "late", "klass": "Send", "data": [], "delay": 60}, 200),
    ("GET", "/queues/mail/peek", None, 200),
    ("POST", "/pop", {"queues": ["mail"], "worker": "w", "count": 8, "wait": 1}, 200),
    ("POST", "/pop", {"queues": ["none"], "worker": "w"}, 200),
    ("POST", "/pop", {"queues": ["mail"], "worker": "w", "count": 0}, 400),
    ("POST", "/pop", {"queues": ["none", "nil"], "worker": "w", "order": "best", "lease": 60}, 200),
    ("POST", "/jobs/m0/start", {"worker": "w", "pid": 1}, 204),
    ("POST", "/jobs/m0/start", {"worker": "w"}, 204),
    ("GET", "/jobs/m0/held?worker=w", None, 200),
    ("GET", "/jobs/m0/held?worker=v", None, 409),
    ("POST", "/jobs/m0/heartbeat", {"worker": "w", "token": "of m0", "data": {"a": 1}}, 200),
    ("POST", "/heartbeat", [{"jid": "m1", "worker": "w"}, {"jid": "x", "worker": "w"}], 200),
    ("POST", "/jobs/m0/progress", {"worker": "w", "fraction": 0.5, "message": "half"}, 204),
    ("POST", "/jobs/m0/checkpoint", {"worker": "w", "value": "page-4"}, 204),
    ("POST", "/jobs/m0/log", {"worker": "w", "line": "hello"}, 204),
    ("GET", "/jobs/m0", None, 200),
    ("POST", "/jobs/m0/complete", {"worker": "w", "result": {"ok": True}}, 200),
    ("POST", "/complete", [{"jid": "m1", "worker": "w"}, {"jid": "m1", "worker": "w"}], 200),
    ("POST", "/jobs/m2/fail", {"worker": "w", "group": "smtp", "message": "refused"}, 204),
    ("POST", "/fail", [{"jid": "m3", "worker": "w", "group": "smtp", "message": "no"},
                       {"jid": "x", "worker": "w", "group": "smtp", "message": "no"}], 200),
    ("POST", "/jobs/m4/retry", {"worker": "w", "delay": 5}, 200),
    ("POST", "/retry", [{"jid": "m5", "worker": "w", "group": "g", "message": "m"}], 200),
    ("GET", "/jobs/m0/result?timeout=1", None, 200),
    ("GET", "/jobs/ann/result?timeout=1", None, 204),
    ("GET", "/jobs/m2", None, 200),
    ("GET", "/jobs/ann", None, 200),
    ("GET", "/jobs/nobody", None, 404),
    ("POST", "/get", {"jids": ["m0", "nobody"]}, 200),
    ("GET", "/jobs/m0/history", None, 200),
    ("GET", "/jobs/m0/log", None, 200),
    ("GET", "/jobs/m4/explain", None, 200),
    ("GET", "/jobs/ann/options", None, 200),
    ("PUT", "/jobs/m4/priority", {"priority": -3}, 204),
    ("PUT", "/jobs/m4/data", {"data": {"x": None}}, 204),
    ("POST", "/jobs/m4/history", {"message": "approved", "data": {"by": "joe"}}, 204),
    ("POST", "/jobs/m6/return", {"worker": "v"}, 409),
    ("POST", "/jobs/m6/return", {"worker": "w"}, 204),
    ("POST", "/pop", {"queues": ["mail"], "worker": "w"}, 200),
    ("POST", "/jobs/m6/timeout", None, 204),
    ("POST", "/timeout", {"jids": ["ann"]}, 204),
    ("POST", "/timeout", {"jids": ["ann"]}, 409),
    ("POST", "/queues/mail/jobs", {"klass": "Sum", "data": 0, "jid": "sum", "depends": ["m4"]}, 201),
    ("GET", "/jobs/sum", None, 200),
    ("POST", "/jobs/sum/depends", {"dependencies": ["m5", "m7"]}, 204),
    ("DELETE", "/jobs/sum/depends/m5", None, 204),
    ("GET", "/jobs/sum/explain", None, 200),
    ("DELETE", "/jobs/sum/depends", None, 204),
    ("POST", "/jobs/sum/tags", {"tags": ["a", "b c"]}, 200),
    ("DELETE", "/jobs/sum/tags/" + quote("b c"), None, 200),
    ("GET", "/tags?count=5", None, 200),
    ("GET", "/tags/a/jobs", None, 200),
    ("GET", "/tags/a/jobs?jids=true", None, 200),
    ("PUT", "/tracked/sum", None, 200),
    ("GET", "/tracked", None, 200),
    ("GET", "/tracked?jids=true", None, 200),
    ("DELETE", "/tracked/sum", None, 200),
    ("GET", "/queues", None, 200),
    ("GET", "/queues/mail", None, 200),
    ("GET", "/queues/mail/length", None, 200),
    ("GET", "/queues/mail/jobs?state=waiting&count=2&offset=0", None, 200),
    ("GET", "/jobs?state=complete&jids=true", None, 200),
    ("GET", "/jobs?state=odd", None, 400),
    ("GET", "/jobs?state=running", None, 200),
    ("GET", "/jobs?klass=Send&data_max=10&count=3", None, 200),
    ("GET", "/queues/mail/jobs?tagged=news&worker=w", None, 200),
    ("POST", "/find", {"texts": ["ann"], "words": ["to"], "queue": "mail"}, 200),
    ("GET", "/find", None, 200),
    ("GET", "/find/1?count=5&data_max=100", None, 200),
    ("DELETE", "/find/1", None, 204),
    ("GET", "/find/1", None, 404),
    ("GET", "/count?queue=mail&state=scheduled", None, 200),
    ("GET", "/priorities", None, 200),
    ("GET", "/failures", None, 200),
    ("GET", "/failures/smtp/jobs", None, 200),
    ("POST", "/failures/smtp/unfail", {"queue": "mail", "count": 1}, 200),
    ("POST", "/queues/mail/pause", None, 204),
    ("POST", "/queues/mail/unpause", None, 204),
    ("POST", "/pause", {"queues": ["mail", "late"]}, 204),
    ("POST", "/unpause", {"queues": ["mail", "late"]}, 204),
    ("GET", "/queues/mail/stats", None, 200),
    ("GET", "/queues/mail/stats?date=" + quote("2026-07-14T00:00:00Z"), None, 200),
    ("GET", "/metrics?queue=mail", None, 200),
    ("GET", "", None, 200),
    ("GET", "/series", None, 200),
    ("GET", "/series?step=60&count=10", None, 200),
    ("GET", "/queues/mail/series?step=15", None, 200),
    ("GET", "/stats?histograms=true", None, 200),
    ("GET", "/queues/mail/stats/days?count=1", None, 200),
    ("GET", "/queues?sort=waiting&count=1", None, 200),
    ("PUT", "/limits", {"queue": "mail", "domain": "d*", "rate": 10, "period": 60, "burst": 5}, 204),
    ("GET", "/limits", None, 200),
    ("GET", "/queues/mail/lane?domain=d", None, 200),
    ("GET", "/queues/mail/lanes?count=5", None, 200),
    ("GET", "/queues/mail/explain", None, 200),
    ("DELETE", "/limits?queue=mail&domain=d*", None, 204),
    ("PUT", "/recurring/poll", {"queue": "mail", "klass": "Poll", "data": {}, "interval": 300}, 204),
    ("PUT", "/recurring/night", {"queue": "mail", "klass": "Night", "data": {}, "cron": "0 3 * * *",
                                 "zone": "Europe/Berlin", "overlap": "skip", "tags": ["t"]}, 204),
    ("GET", "/recurring/poll", None, 200),
    ("GET", "/recurring/night", None, 200),
    ("PATCH", "/recurring/poll", {"interval": 600, "priority": 3}, 204),
    ("POST", "/recurring/poll/tags", {"tags": ["often"]}, 200),
    ("DELETE", "/recurring/poll/tags/often", None, 200),
    ("GET", "/recurring/poll/runs?count=2", None, 200),
    ("GET", "/queues/mail/recurring", None, 200),
    ("GET", "/recurring?runs=5&count=1", None, 200),
    ("POST", "/recurring/poll/pause", None, 204),
    ("POST", "/recurring/poll/resume", None, 204),
    ("POST", "/recurring/poll/run", None, 200),
    ("PATCH", "/recurring/night", {"cron": "0 4 * * *", "overlap": "allow", "timeout": 60}, 204),
    ("DELETE", "/recurring/poll", None, 204),
    ("GET", "/cron?expression=" + quote("30 9 * * mon-fri") + "&count=3", None, 200),
    ("GET", "/zones", None, 200),
    ("GET", "/queues/mail/listeners", None, 200),
    ("GET", "/workers", None, 200),
    ("GET", "/workers/w", None, 200),
    ("GET", "/workers/w?jids=true", None, 200),
    ("POST", "/workers/w/offline", None, 204),
    ("DELETE", "/workers/w", None, 204),
    ("PUT", "/config/mail-heartbeat", {"value": 30}, 204),
    ("GET", "/config/mail-heartbeat", None, 200),
    ("GET", "/config", None, 200),
    ("GET", "/config?options=heartbeat&options=nothing", None, 200),
    ("DELETE", "/config/mail-heartbeat", None, 204),
    ("PUT", "/policies/klass/Send", {"backoff": "exponential:1:300:20", "max_crashes": 3}, 204),
    ("GET", "/policies", None, 200),
    ("GET", "/jobs/ann/options", None, 200),
    ("DELETE", "/policies/klass/Send", None, 204),
    ("POST", "/bulk", {"act": "tag", "queue": "mail", "tags": ["bulk"], "dry_run": True}, 200),
    ("POST", "/bulk", {"act": "priority", "priority": 3, "jids": ["kim"], "state": ["waiting"],
                       "dry_run": True}, 200),
    ("POST", "/bulk", {"act": "delete", "state": "complete", "dry_run": True}, 200),
    ("POST", "/bulk", {"act": "delete", "as": 99}, 404),
    ("GET", "/bulk", None, 200),
    ("GET", "/bulk/99", None, 404),
    ("POST", "/bulk/99/stop", None, 404),
    ("POST", "/check", {"repair": False}, 200),
    ("GET", "/dump?queue=mail&count=3", None, 200),
    ("GET", "/dump?cursor=odd", None, 400),
    ("POST", "/restore/check", {"items": [{"job": {"jid": "kim", "klass": "Send", "queue": "mail",
                                                   "state": "waiting"}}]}, 200),
    ("POST", "/restore", {"items": [{"job": {"jid": "kim", "klass": "Send", "queue": "mail",
                                             "state": "waiting"}}]}, 200),
    ("POST", "/tasks", {"class": "UserBackfill", "args": ["12"], "priority": 3, "retries": 2,
                        "scheduledFor": "2030-01-31T12:00:00Z"}, 201),
    ("POST", "/tasks", {"class": "UserBackfill", "args": ["12"]}, 200),
    ("POST", "/tasks", {"class": "UserBackfill", "args": "12"}, 400),
    ("POST", "/tasks", [{"class": "UserBackfill", "args": ["12"]},
                        {"class": "UserBackfill", "args": "12"}], 200),
    ("GET", "/tasks?state=ready&count=1&class=UserBackfill", None, 200),
    ("GET", "/tasks?reservoir=true", None, 200),
    ("GET", "/tasks?cursor=odd", None, 400),
    ("GET", "/tasks/TASK", None, 200),
    ("GET", "/task-counts?class=UserBackfill&priority=3", None, 200),
    ("POST", "/queues/tasks/jobs", {"klass": "UserBackfill", "data": [], "jid": "7"}, 201),
    ("POST", "/tasks/7/retry", None, 409),
    ("POST", "/pop", {"queues": ["tasks"], "worker": "w"}, 200),
    ("POST", "/jobs/7/fail", {"worker": "w", "group": "g", "message": "m"}, 204),
    ("POST", "/tasks/7/retry", None, 200),
    ("DELETE", "/tasks/TASK", None, 204),
    ("DELETE", "/tasks/TASK", None, 404),
    ("POST", "/jobs/sum/cancel", None, 200),
    ("POST", "/cancel", {"jids": ["m4", "nobody"]}, 200),
    ("DELETE", "/jobs/m0", None, 204),
    ("POST", "/queues/gone/jobs", {"klass": "K", "data": 1, "jid": "gone"}, 201),
    ("POST", "/jobs/gone/cancel", None, 200),
    ("DELETE", "/queues/gone", None, 204),
    ("DELETE", "/queues/never", None, 404),
    ("POST", "/queues/taken/jobs", {"klass": "K", "data": 0, "jid": "t0", "delay": 60}, 201),
    ("POST", "/jobs/t0/take", {"worker": "w"}, 409),
    ("POST", "/jobs/t0/run", None, 200),
    ("POST", "/run", {"jids": ["t0"]}, 409),
    ("POST", "/jobs/t0/take", {"worker": "w", "lease": 30}, 200),
    ("GET", "/jobs/t0", None, 200),
    ("POST", "/jobs/t0/heartbeat", {"worker": "w", "lease": 0.0001}, 400),
    ("POST", "/jobs/t0/heartbeat", {"worker": "w", "lease": 60}, 200),
    ("POST", "/jobs/t0/retry", {"worker": "w", "uncounted": True, "delay": 5}, 200),
    ("POST", "/run", {"jids": ["t0"]}, 200),
]

# Commands that need a server, or a host.
NOT_HERE = (["server"], ["push"], ["namespaces"])
NOT_HERE_PATHS = {"/v1/ns/{ns}/invalid-tasks"}

# What can only be refused in so short a talk.
REFUSED = {("post", "/v1/ns/{ns}/bulk/{id}/stop")}


def is_here(path, operation):
    """Whether the shell, which has no host, answers it."""
    return (path.startswith("/v1/ns/{ns}/") and operation["tags"] not in NOT_HERE
            and path not in NOT_HERE_PATHS)


class Truth(unittest.TestCase):
    """What is described against what is done."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.document = load()
        cls.resolver = RefResolver.from_schema(cls.document)
        cls.shell = Shell()

    @classmethod
    def tearDownClass(cls):
        if cls.shell.close() != 0:
            raise AssertionError("http_shell failed")

    def check(self, value, schema):
        Draft202012Validator(schema, resolver=self.resolver).validate(value)

    def find(self, method, path):
        for template, item in self.document["paths"].items():
            pattern = "/".join(
                "[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/")
            )
            if re.fullmatch(pattern, path) and method.lower() in item:
                return template, item[method.lower()]
        raise AssertionError(f"{method} {path} is not described")

    def check_query(self, query, operation, status):
        known = {each["name"]: each for each in operation["parameters"] if each["in"] == "query"}
        given = [name for name, _ in parse_qsl(query)]
        self.assertLessEqual(set(given), set(known))
        if status < 400:
            needed = {name for name, each in known.items() if each.get("required")}
            self.assertLessEqual(needed, set(given))

    def check_body(self, body, operation, status):
        described = operation.get("requestBody")
        if body is None:
            self.assertTrue(status >= 400 or not described or not described["required"])
        elif status < 400:
            self.check(body, described["content"]["application/json"]["schema"])

    def check_answer(self, operation, status, content_type, answer):
        response = operation["responses"].get(str(status), self.document["components"]["responses"]["Problem"])
        if status == 204:
            self.assertEqual((content_type, answer), (None, b""))
            self.assertNotIn("content", response)
            return
        self.check(json.loads(answer), response["content"][content_type]["schema"])

    def test_what_is_described_is_what_is_done(self):
        worked = set()
        task = None
        tokens = {}
        for method, target, body, status in TALK:
            with self.subTest(f"{method} {target}"):
                target = target.replace("TASK", str(task))
                parts = urlsplit("/v1/ns/app" + target)
                template, operation = self.find(method, parts.path)
                if isinstance(body, dict) and "token" in body:
                    body = {**body, "token": tokens[body["token"]]}
                found, content_type, answer = self.shell.ask(method, "/v1/ns/app" + target, body)
                self.assertEqual(found, status, answer)
                if (method, target, status) == ("POST", "/tasks", 201):
                    task = json.loads(answer)["id"]
                if (method, target, status) == ("POST", "/pop", 200):
                    tokens.update({f"of {job['jid']}": job["token"] for job in json.loads(answer)["jobs"]})
                self.check_query(parts.query, operation, status)
                self.check_body(body, operation, status)
                self.check_answer(operation, status, content_type, answer)
                if status < 400:
                    worked.add((method.lower(), template))
        wanted = {
            (method, path)
            for method, path, operation in operations(self.document)
            if is_here(path, operation)
        }
        # The number of a bulk operation is known only from its answer.
        _, _, answer = self.shell.ask("POST", "/v1/ns/app/bulk", {"act": "cancel", "queue": "none"})
        status, content_type, answer = self.shell.ask("GET", f"/v1/ns/app/bulk/{json.loads(answer)['id']}")
        _, operation = self.find("GET", "/v1/ns/app/bulk/1")
        self.assertEqual(status, 200)
        self.check_answer(operation, status, content_type, answer)
        worked.add(("get", "/v1/ns/{ns}/bulk/{id}"))
        self.assertEqual(wanted - worked - REFUSED, set())

    def test_the_face_tells_the_same_description(self):
        _, _, answer = self.shell.ask("GET", "/v1/openapi.json")
        told = json.loads(answer)
        for method, path, operation in operations(told):
            self.assertEqual(self.document["paths"][path][method], operation)

    def test_members_that_are_not_described_are_refused(self):
        for method, path, operation in operations(self.document):
            if not is_here(path, operation):
                continue
            target = re.sub(r"\{[^}]*\}", "1", path)
            with self.subTest(f"{method} {path}"):
                status, content_type, answer = self.shell.ask(method.upper(), target + "?no_such_member=1")
                self.assertEqual((status, content_type), (400, "application/problem+json"), answer)


if __name__ == "__main__":
    sluiced.main()
