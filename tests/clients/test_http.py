#!/usr/bin/python3
"""HTTP on a real server: who may ask, what is answered, and what a connection is told besides."""

import base64
import gzip
import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import unittest

import sluiced

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../http"))
import test_openapi  # noqa: E402

JSON = {"Content-Type": "application/json"}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read()
        self.type = response.getheader("Content-Type")

    def json(self):
        return json.loads(self.text)


class Web:
    """Requests one after the other on a connection."""

    def __init__(self, server, port=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port or server.http_port,
                                                     timeout=sluiced.LIMIT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, (bytes, str)):
            body, headers = json.dumps(body), {**JSON, **headers}
        self.connection.request(method, path, body, headers)

    def hear(self):
        return Answer(self.connection.getresponse())

    def ask(self, method, path, body=None, **headers):
        self.send(method, path, body, **headers)
        return self.hear()


class Raw:
    """Bytes, and the answers to them."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.http_port), sluiced.LIMIT_S)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def hear(self, method="GET"):
        """The next answer: status, headers, body."""
        line = self.file.readline()
        if not line:
            return None
        status = int(line.split(b" ")[1])
        headers = http.client.parse_headers(self.file)
        size = 0 if method == "HEAD" else int(headers.get("Content-Length", 0))
        return status, headers, self.file.read(size)

    def is_closed(self):
        try:
            return self.file.read(1) == b""
        except ConnectionError:
            return True


class Values(sluiced.Client):
    """Replies of RESP3 as JSON would have them."""

    def __init__(self, server):
        super().__init__(server)
        self.ask("HELLO 3")

    def read_value(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind in b"*~":
            return [self.read_value() for _ in range(int(rest))]
        if kind == b"%":
            return {self.read_value(): self.read_value() for _ in range(int(rest))}
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2].decode()
        return {b":": int, b",": float, b"#": lambda text: text == b"t", b"_": lambda _: None,
                b"+": bytes.decode, b"-": bytes.decode}[kind](rest)

    def value(self, *words):
        self.send(*words)
        return self.read_value()


def same(given):
    """A reply as HTTP says it: names with underscores, JSON in its own right, numbers as numbers."""
    if isinstance(given, dict):
        # How old a job is differs from one call to the next.
        return {name.replace("-", "_"): same(value) for name, value in given.items() if name != "age"}
    if isinstance(given, list):
        return [same(value) for value in given]
    if isinstance(given, str):
        try:
            return same(json.loads(given))
        except ValueError:
            return given
    return float(given) if isinstance(given, int) and not isinstance(given, bool) else given


class TestCase(sluiced.TestCase):
    def web(self):
        web = Web(self.server)
        self.addCleanup(web.connection.close)
        return web

    def raw(self):
        raw = Raw(self.server)
        self.addCleanup(raw.close)
        return raw

    def expect_problem(self, answer, status, code, detail=None, field=None):
        self.assertEqual((answer.status, answer.type), (status, "application/problem+json"), answer.text)
        problem = answer.json()
        self.assertEqual((problem["status"], problem["code"], problem["type"]), (status, code, "about:blank"))
        self.assertTrue(problem["title"])
        if detail:
            self.assertIn(detail, problem["detail"])
        self.assertEqual(problem.get("field"), field)


class Described(test_openapi.Truth):
    """The description against a real server, with what only a server has."""

    class Shell:
        def __init__(self):
            self.server = sluiced.Server().__enter__()
            self.web = Web(self.server)

        def ask(self, method, target, body=None):
            answer = self.web.ask(method, target, body)
            return answer.status, answer.type, answer.text

        def close(self):
            self.web.connection.close()
            self.server.__exit__()
            return 0

    @classmethod
    def setUpClass(cls):
        cls.document = test_openapi.load()
        cls.resolver = test_openapi.RefResolver.from_schema(cls.document)
        cls.shell = cls.Shell()

    def test_the_server_s_own_operations(self):
        for method, path, body, status in (
                ("GET", "/v1/ns", None, 200),
                ("PUT", "/v1/ns/fresh", None, 204),
                ("DELETE", "/v1/ns/fresh", None, 204),
                ("DELETE", "/v1/ns/fresh", None, 404),
                ("GET", "/v1/server", None, 200),
                ("GET", "/v1/help", None, 200),
                ("GET", "/v1/help/Q.PUT", None, 200),
                ("POST", "/v1/backup", {"path": self.shell.server.path("copy")}, 200)):
            with self.subTest(f"{method} {path}"):
                _, operation = self.find(method, path)
                found, content_type, answer = self.shell.ask(method, path, body)
                self.assertEqual(found, status, answer)
                self.check_answer(operation, status, content_type, answer)
        self.assertTrue(os.listdir(self.shell.server.path("copy")))


class Calls(TestCase):
    """Jobs by HTTP and by RESP are the same jobs."""

    def test_what_http_says_is_what_resp_says(self):
        web = self.web()
        values = Values(self.server)
        self.addCleanup(values.close)
        put = {"klass": "Send", "data": {"to": ["ann", 1.5, None]}, "jid": "one", "tags": ["a", "b c"],
               "priority": 7, "retries": 3}
        self.assertEqual(web.ask("POST", "/v1/ns/same/queues/mail/jobs", put).json(), {"jid": "one"})
        values.value("Q.PUT", "same", "mail", "Send", '{"to":["ann",1.5,null]}', "JID", "two", "TAG", "a",
                     "TAG", "b c", "PRIORITY", "7", "RETRIES", "3")
        one, two = (web.ask("GET", f"/v1/ns/same/jobs/{jid}").json() for jid in ("one", "two"))
        times = {"created", "moved", "updated", "jid"}
        self.assertEqual({k: v for k, v in one.items() if k not in times},
                         {k: v for k, v in two.items() if k not in times})
        for path, words, wrap in (
                ("/jobs/one", ("Q.GET", "same", "one"), None),
                ("/jobs/one/history", ("Q.HISTORY", "same", "one"), "history"),
                ("/jobs/one/options", ("Q.OPTIONS", "same", "one"), None),
                ("/queues/mail", ("Q.QUEUE", "same", "mail"), None),
                ("/queues", ("Q.QUEUES", "same"), None),
                ("/queues/mail/length", ("Q.LENGTH", "same", "mail"), "length"),
                ("/queues/mail/peek", ("Q.PEEK", "same", "mail", "25"), "jobs"),
                ("/count?state=waiting", ("Q.COUNT", "same", "STATE", "waiting"), "count"),
                ("/tags", ("Q.TAGS", "same"), "tags"),
                ("/limits", ("Q.LIMITS", "same"), None)):
            with self.subTest(path):
                answer = web.ask("GET", "/v1/ns/same" + path)
                self.assertEqual((answer.status, answer.type), (200, "application/json"), answer.text)
                given = answer.json()
                given = given[wrap] if wrap else given
                wanted = values.value(*words)
                wanted = wanted[0] if words[0] == "Q.GET" else wanted
                self.assertEqual(same(given), same(wanted))

    def test_a_life_by_http(self):
        web = self.web()
        many = [{"klass": "Send", "data": n, "jid": f"j{n}"} for n in range(3)]
        answer = web.ask("POST", "/v1/ns/life/queues/q/jobs", many)
        self.assertEqual(answer.status, 200)
        jobs = web.ask("POST", "/v1/ns/life/pop", {"queues": ["q"], "worker": "w", "count": 3}).json()["jobs"]
        self.assertEqual([job["jid"] for job in jobs], ["j0", "j1", "j2"])
        self.assertEqual([job["data"] for job in jobs], [0, 1, 2])
        token = jobs[0]["token"]
        path = "/v1/ns/life/jobs/j0/"
        self.assertEqual(web.ask("POST", path + "heartbeat", {"worker": "w", "token": token}).status, 200)
        stale = web.ask("POST", path + "complete", {"worker": "w", "token": token + 1})
        self.expect_problem(stale, 409, "stale", field=stale.json().get("field"))
        done = web.ask("POST", path + "complete", {"worker": "w", "token": token, "result": {"ok": 1}})
        self.assertEqual(done.json(), {"state": "complete"})
        self.assertEqual(web.ask("GET", path + "result").json()["result"], {"ok": 1})
        self.client().expect("Q.COMPLETE life j1 w", '"complete"')
        self.assertEqual(web.ask("POST", "/v1/ns/life/jobs/j2/fail",
                                 {"worker": "w", "group": "g", "message": "m"}).status, 204)
        for query, jids in (("complete&queue=q", ["j1", "j0"]), ("complete&queue=r", []), ("complete", ["j1", "j0"]),
                            ("failed&queue=q", ["j2"]), ("failed", ["j2"]), ("running", [])):
            page = web.ask("GET", f"/v1/ns/life/jobs?state={query}").json()
            self.assertEqual([(job["jid"], job["queue"]) for job in page["jobs"]], [(jid, "q") for jid in jids])
        first = web.ask("GET", "/v1/ns/life/jobs?state=complete&queue=q&count=1&jids=true").json()
        self.assertEqual((first["total"], first["jids"]), (2, ["j1"]))
        rest = web.ask("GET", "/v1/ns/life/jobs?state=complete&queue=q&jids=true&cursor=" + first["next"]).json()
        self.assertEqual((rest["jids"], rest["next"]), (["j0"], None))

    def test_a_queue_may_have_the_name_of_an_option(self):
        web = self.web()
        web.ask("POST", "/v1/ns/names/queues/WAIT/jobs",
                {"klass": "Send", "data": 1, "jid": "one"})
        pop = web.ask("POST", "/v1/ns/names/pop", {"queues": ["q", "WAIT"], "worker": "w"})
        self.assertEqual([job["jid"] for job in pop.json()["jobs"]], ["one"])

    def test_waiting_is_ended_by_a_job_a_result_and_time(self):
        web, other = self.web(), self.client()
        web.send("POST", "/v1/ns/wait/pop", {"queues": ["q"], "worker": "w", "wait": 60})
        sluiced.until(lambda: "blocked_clients:1" in other.ask("INFO clients"))
        other.expect("Q.PUT wait q Send {} JID one", '"one"')
        self.assertEqual(web.hear().json()["jobs"][0]["jid"], "one")
        web.send("GET", "/v1/ns/wait/jobs/one/result?timeout=60")
        sluiced.until(lambda: "blocked_clients:1" in other.ask("INFO clients"))
        other.expect("Q.COMPLETE wait one w RESULT [1]", '"complete"')
        self.assertEqual(web.hear().json()["result"], [1])
        none = web.ask("POST", "/v1/ns/wait/pop", {"queues": ["q"], "worker": "w", "wait": 0.1})
        self.assertEqual((none.status, none.json()), (200, {"jobs": []}))

    def test_the_namespace_is_deleted_while_a_pop_waits(self):
        web, other = self.web(), self.web()
        self.assertEqual(other.ask("PUT", "/v1/ns/doomed").status, 204)
        web.send("POST", "/v1/ns/doomed/pop", {"queues": ["q"], "worker": "w", "wait": 60})
        client = self.client()
        sluiced.until(lambda: "blocked_clients:1" in client.ask("INFO clients"))
        self.assertEqual(other.ask("DELETE", "/v1/ns/doomed").status, 204)
        gone = web.hear()
        self.assertIn(gone.status, (404, 409))
        self.assertEqual(gone.type, "application/problem+json")
        self.assertEqual(web.ask("GET", "/healthz").status, 200)

    def test_an_idempotency_key_puts_once(self):
        web = self.web()
        path, body = "/v1/ns/once/queues/q/jobs", {"klass": "K", "data": 1}
        first = web.ask("POST", path, body, Idempotency_Key="k").json()
        self.assertEqual(web.ask("POST", path, body, Idempotency_Key='"k"').json(), first)
        many = [body, body]
        each = web.ask("POST", path, many, Idempotency_Key="k").json()
        self.assertEqual(web.ask("POST", path, many, Idempotency_Key="k").json(), each)
        self.assertEqual(web.ask("GET", "/v1/ns/once/queues/q/length").json(), {"length": 3})
        self.server.restart()
        self.assertEqual(self.web().ask("POST", path, body, Idempotency_Key="k").json(), first)
        for key in ("", "x" * 201):
            self.expect_problem(self.web().ask("POST", path, body, Idempotency_Key=key), 400, "invalid",
                                field="Idempotency-Key")
        self.expect_problem(self.web().ask("POST", path, {**body, "data": 2}, Idempotency_Key="k"),
                            400, "invalid")
        locked = self.web().ask("POST", path, {**body, "unique": "u"}, Idempotency_Key="k2").json()
        self.assertEqual(self.web().ask("POST", path, {**body, "unique": "u"},
                                        Idempotency_Key="k3").json(), locked)

    def test_an_idempotency_key_puts_a_job_with_a_jid_of_its_own_once_too(self):
        web = self.web()
        path, body = "/v1/ns/once-jid/queues/q/jobs", {"klass": "K", "data": 1, "jid": "x"}
        work = {"queues": ["q"], "worker": "w"}
        for ask in (body, [body]):
            first = web.ask("POST", path, ask, Idempotency_Key="k").json()
            [job] = web.ask("POST", "/v1/ns/once-jid/pop", work).json()["jobs"]
            self.assertEqual(web.ask("POST", path, ask, Idempotency_Key="k").json(), first)
            done = {"worker": "w", "token": job["token"]}
            self.assertEqual(web.ask("POST", "/v1/ns/once-jid/jobs/x/complete", done).status, 200)
            self.assertEqual(web.ask("POST", path, ask, Idempotency_Key="k").json(), first)
            self.assertEqual(web.ask("POST", "/v1/ns/once-jid/pop", work).json()["jobs"], [])

    def test_what_is_promised_for_a_time_outlives_retention_and_cancel(self):
        web = self.web()
        put, ns = "/v1/ns/kept/queues/q/jobs", "/v1/ns/kept"
        body = {"klass": "K", "data": 1, "result_ttl": 3600}
        first = web.ask("POST", put, body, Idempotency_Key="k").json()
        other = web.ask("POST", put, body, Idempotency_Key="other").json()
        self.assertEqual(self.client().ask("Q.CONFIG.SET kept jobs-history-count 0"), "+OK")
        [job] = web.ask("POST", ns + "/pop", {"queues": ["q"], "worker": "w"}).json()["jobs"]
        done = {"worker": "w", "token": job["token"], "result": {"n": 1}}
        self.assertEqual(web.ask("POST", f"{ns}/jobs/{job['jid']}/complete", done).status, 200)
        self.assertEqual(web.ask("POST", ns + "/cancel", {"jids": [other["jid"]]}).status, 200)
        self.server.restart()
        web = self.web()
        self.assertEqual(web.ask("GET", f"{ns}/jobs/{job['jid']}").status, 404)
        self.assertEqual(web.ask("POST", put, body, Idempotency_Key="k").json(), first)
        self.assertEqual(web.ask("POST", put, body, Idempotency_Key="other").json(), other)
        result = web.ask("GET", f"{ns}/jobs/{job['jid']}/result").json()
        self.assertEqual((result["state"], result["result"]), ("complete", {"n": 1}))
        self.assertEqual(web.ask("GET", ns + "/queues/q/length").json(), {"length": 0})

    def test_what_is_wrong_is_named(self):
        web = self.web()
        put, pop = "/v1/ns/wrong/queues/q/jobs", "/v1/ns/wrong/pop"
        good = {"klass": "K", "data": 1}
        for method, path, body, headers, status, code, field in (
                ("POST", put, {**good, "priority": "high"}, {}, 400, "invalid", "priority"),
                ("POST", put, {**good, "colour": 1}, {}, 400, "invalid", "colour"),
                ("POST", put, [good, {**good, "delay": "x"}], {}, 400, "invalid", "[1].delay"),
                ("POST", put, {"klass": "K"}, {}, 400, "invalid", "data"),
                ("POST", pop, {"queues": "q", "worker": "w"}, {}, 400, "invalid", "queues"),
                ("GET", "/v1/ns/wrong/jobs?state=odd", None, {}, 400, "invalid", "state"),
                ("POST", put, "{\"klass\":", JSON, 400, "invalid", None),
                ("POST", put, "[" * 1025 + "]" * 1025, JSON, 413, "too_large", None),
                ("POST", put, "{}", {"Content-Type": "text/plain"}, 415, "unsupported", None),
                ("POST", put, "{}", {"Content-Type": "multipart/form-data; boundary=x"}, 415, "unsupported", None),
                ("GET", "/v1/ns/wrong/jobs/none", None, {}, 404, "not_found", None),
                ("GET", "/v1/nothing", None, {}, 404, "not_found", None),
                ("GET", "/v1/ns/wrong/../wrong/queues", None, {}, 400, "invalid", None),
                ("PATCH", "/v1/ns", None, {}, 405, "unsupported", None),
                ("TRACE", "/v1/ns", None, {}, 405, "unsupported", None),
                ("GET", "/v1/ns", None, {"Accept": "text/html"}, 406, "unsupported", None),
                ("GET", "/v1/ns", None, {"Accept": "application/json;q=0"}, 406, "unsupported", None)):
            with self.subTest(f"{method} {path} {str(body)[:80]}"):
                headers = {name.replace("-", "_"): value for name, value in headers.items()}
                answer = web.ask(method, path, body, **headers)
                given = answer.json()
                self.assertEqual((answer.status, given["code"], given.get("field")),
                                 (status, code, field), answer.text)
                self.assertEqual(answer.type, "application/problem+json")
        self.assertEqual(web.ask("PATCH", "/v1/ns").headers["Allow"], "GET, HEAD, OPTIONS")

    def test_values_have_the_same_limits_as_words(self):
        with sluiced.Server("--max-payload", "64K", "--max-arguments", "64") as server, Web(server) as web:
            path = "/v1/ns/app/queues/q/jobs"
            self.assertEqual(web.ask("POST", path, {"klass": "K", "data": "x" * 60000}).status, 201)
            self.expect_problem(web.ask("POST", path, {"klass": "K", "data": "x" * 70000}), 413, "too_large",
                                "a value of 70002 bytes")
            many = [{"klass": "K", "data": 1}] * 30
            self.expect_problem(web.ask("POST", path, many), 413, "too_large", "at most 64")
            self.assertEqual(web.ask("POST", path, many[:9]).status, 200)


class Forms(TestCase):
    """How answers are said."""

    def test_tags_spare_the_body(self):
        web = self.web()
        put, path = "/v1/ns/tags/queues/q/jobs", "/v1/ns/tags/queues/q/length"
        web.ask("POST", put, {"klass": "K", "data": 1})
        first = web.ask("GET", path)
        tag = first.headers["ETag"]
        for value in (tag, "W/" + tag, f'"other", {tag}', "*"):
            again = web.ask("GET", path, If_None_Match=value)
            self.assertEqual((again.status, again.text, again.headers["ETag"]), (304, b"", tag))
        self.assertEqual(web.ask("GET", path, If_None_Match='"other"').text, first.text)
        web.ask("POST", put, {"klass": "K", "data": 1})
        self.assertEqual(web.ask("GET", path, If_None_Match=tag).status, 200)

    def test_head_is_get_without_a_body(self):
        web = self.web()
        for path in ("/v1/ns", "/v1/nothing", "/healthz", "/v1/openapi.json"):
            get, head = web.ask("GET", path), web.ask("HEAD", path)
            self.assertEqual((head.status, head.text, head.type), (get.status, b"", get.type))
            self.assertEqual(head.headers["Content-Length"], str(len(get.text)))

    def test_options_say_what_there_is(self):
        answer = self.web().ask("OPTIONS", "/v1/ns/app/queues/q/jobs")
        self.assertEqual((answer.status, answer.headers["Allow"]), (204, "POST, GET, HEAD, OPTIONS"))
        raw = self.raw()
        raw.send(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(raw.hear()[0], 204)

    def test_large_answers_are_packed_for_those_who_take_it(self):
        web = self.web()
        plain = web.ask("GET", "/v1/openapi.json")
        self.assertIsNone(plain.headers["Content-Encoding"])
        for accepts in ("gzip", "deflate, gzip;q=0.5", "*", "br;q=1, GZIP"):
            packed = web.ask("GET", "/v1/openapi.json", Accept_Encoding=accepts)
            self.assertEqual(packed.headers["Content-Encoding"], "gzip")
            self.assertEqual(packed.headers["Vary"], "Accept-Encoding")
            self.assertEqual(gzip.decompress(packed.text), plain.text)
            self.assertLess(len(packed.text), len(plain.text) // 3)
        self.assertEqual(packed.headers["ETag"], "W/" + plain.headers["ETag"])
        self.assertEqual(web.ask("GET", "/v1/openapi.json", Accept_Encoding="gzip",
                                 If_None_Match=packed.headers["ETag"]).status, 304)
        for accepts in ("gzip;q=0", "identity", "br, *;q=0", "gzip;q=0.000, *"):
            self.assertEqual(web.ask("GET", "/v1/openapi.json", Accept_Encoding=accepts).text, plain.text)
        small = web.ask("GET", "/v1/ns", Accept_Encoding="gzip")
        self.assertIsNone(small.headers["Content-Encoding"])

    def test_http_1_0_ends_with_the_answer(self):
        raw = self.raw()
        raw.send(b"GET /v1/ns HTTP/1.0\r\nHost: localhost\r\n\r\n")
        status, headers, body = raw.hear()
        self.assertEqual((status, headers["Connection"]), (200, "close"))
        self.assertIn("namespaces", json.loads(body))
        self.assertTrue(raw.is_closed())

    def test_a_body_may_wait_to_be_wanted(self):
        raw = self.raw()
        body = json.dumps({"klass": "K", "data": 1}).encode()
        raw.send(b"POST /v1/ns/app/queues/q/jobs HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                 b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body))
        self.assertEqual(raw.hear()[0], 100)
        raw.send(body)
        self.assertEqual(raw.hear()[0], 201)

    def test_requests_may_come_before_their_answers(self):
        raw = self.raw()
        pop = b'{"queues":["pipe"],"worker":"w","wait":0.2}'
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                 b"POST /v1/ns/app/pop HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n\r\n%sHEAD /v1/ns HTTP/1.1\r\nHost: localhost\r\n\r\n"
                 b"GET /v1/ns HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                 b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" % (len(pop), pop))
        self.assertEqual(raw.hear()[2], b"ok\n")
        self.assertEqual(raw.hear()[2], b'{"jobs":[]}')
        self.assertEqual(raw.hear("HEAD")[0], 200)
        self.assertIn(b"namespaces", raw.hear()[2])
        self.assertTrue(raw.is_closed())

    def test_curl(self):
        url = f"http://127.0.0.1:{self.server.http_port}/v1/ns/curl"
        run = lambda *words: json.loads(subprocess.run(  # noqa: E731
            ["curl", "-sS", "--compressed", "--max-time", str(sluiced.LIMIT_S), *words],
            check=True, stdout=subprocess.PIPE).stdout)
        self.assertEqual(run(url + "/queues/q/jobs", "--json", '{"klass":"K","data":1,"jid":"one"}'),
                         {"jid": "one"})
        job = run(url + "/pop", "--json", '{"queues":["q"],"worker":"w"}')["jobs"][0]
        self.assertEqual(job["jid"], "one")
        done = json.dumps({"worker": "w", "token": job["token"], "result": [1]})
        self.assertEqual(run(url + "/jobs/one/complete", "--json", done), {"state": "complete"})
        self.assertEqual(run(url + "/jobs/one/result?timeout=5")["result"], [1])
        big = json.dumps([{"klass": "K", "data": "x" * 5000}] * 1000)
        self.assertEqual(len(json.loads(subprocess.run(
            ["curl", "-sS", url + "/queues/q/jobs", "-H", "Content-Type: application/json",
             "-H", "Transfer-Encoding: chunked", "--data-binary", "@-"], input=big.encode(), check=True,
            stdout=subprocess.PIPE).stdout)), 1000)


class Manual(unittest.TestCase):
    def test_what_docs_http_md_says_works(self):
        with open(os.path.join(os.environ["TEST_SOURCE"], "docs", "http.md"), encoding="utf-8") as file:
            blocks = [block.split("```")[0] for block in file.read().split("```sh\n")[1:]]
        script = "".join(blocks)
        self.assertGreater(script.count("curl"), 8)
        with sluiced.Server() as server:
            script = script.replace("127.0.0.1:7712", f"127.0.0.1:{server.http_port}")
            script = script.replace("curl ", f"curl -sS --fail-with-body --max-time {sluiced.LIMIT_S} ")
            done = subprocess.run(["sh", "-ec", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(b'{"jid":"ann-1"}', done.stdout)
            self.assertIn(b'{"state":"complete"}', done.stdout)


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


class Users(TestCase):
    flags = ("--password", "secret", "--user", "ann pw:x app:write", "--user", "bob pw app:read")

    def test_who_asks_has_to_say_so(self):
        web = self.web()
        for path in ("/v1/ns", "/v1/nothing", "/v1/openapi.json", "/metrics", "/v1/ns/app/events"):
            answer = web.ask("GET", path)
            self.expect_problem(answer, 401, "denied")
            self.assertEqual([value.split(" ")[0] for value in answer.headers.get_all("WWW-Authenticate")],
                             ["Bearer", "Basic"])
        self.expect_problem(web.ask("DELETE", "/v1/ns/app"), 401, "denied")
        for path in ("/healthz", "/readyz"):
            self.assertEqual(web.ask("GET", path).status, 200)

    def test_ways_to_say_it(self):
        web = self.web()
        for value in ("Bearer secret", "bearer default:secret", basic("default:secret"), basic(":secret"),
                      basic("ann:pw:x"), "Bearer ann:pw:x"):
            self.assertEqual(web.ask("GET", "/v1/ns", Authorization=value).status, 200, value)
        self.assertEqual(web.ask("GET", "/v1/ns").status, 401)

    def test_rights_are_those_of_the_user(self):
        web = self.web()
        path, body = "/v1/ns/app/queues/q/jobs", {"klass": "K", "data": 1}
        self.assertEqual(web.ask("POST", path, body, Authorization="Bearer ann:pw:x").status, 201)
        self.expect_problem(web.ask("POST", path, body, Authorization="Bearer bob:pw"), 403, "denied",
                            "user bob has no right to")
        self.assertEqual(web.ask("GET", "/v1/ns/app/queues", Authorization="Bearer bob:pw").status, 200)
        self.expect_problem(web.ask("POST", path.replace("app", "other"), body,
                                    Authorization="Bearer ann:pw:x"), 403, "denied")

    def test_strangers_cannot_make_it_read_much(self):
        raw = self.raw()
        raw.send(b"POST /v1/ns/app/queues/q/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                 b"Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n")
        status, headers, _ = raw.hear()
        self.assertEqual((status, headers["Connection"]), (401, "close"))
        self.assertTrue(raw.is_closed())
        raw = self.raw()
        raw.send(b"GET /v1/ns HTTP/1.1\r\nHost: x\r\n\r\n"
                 b"GET /v1/ns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n\r\n")
        self.assertEqual([raw.hear()[0], raw.hear()[0]], [401, 200])
        raw.send(b"GET /v1/ns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
                 b"Authorization: Bearer ann:pw:x\r\n\r\n")
        self.assertEqual(raw.hear()[0], 400)

    def test_a_changed_password_counts_at_once(self):
        server = sluiced.Server()
        config = server.path("sluiced.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write("password old\n")
        os.chmod(config, 0o600)
        server.flags = ("--config", config)
        with server, Web(server) as web:
            self.assertEqual(web.ask("GET", "/v1/ns", Authorization="Bearer old").status, 200)
            with open(config, "w", encoding="utf-8") as file:
                file.write("password new\n")
            server.process.send_signal(signal.SIGHUP)
            sluiced.until(lambda: any("settings reloaded" in line for line in server.log))
            self.assertEqual(web.ask("GET", "/v1/ns", Authorization="Bearer old").status, 401)
            self.assertEqual(web.ask("GET", "/v1/ns", Authorization="Bearer new").status, 200)


class Guesses(TestCase):
    flags = ("--password", "secret")

    def test_wrong_ones_are_slowed_down(self):
        web = self.web()
        for value in ("Bearer wrong", basic("nobody:x"), "Basic !!!", "Basic", "Digest x", "Bearer " + "x" * 2000):
            answer = web.ask("GET", "/v1/ns", Authorization=value)
            self.expect_problem(answer, 401, "denied")
        for count in range(1000):
            answer = web.ask("GET", "/v1/ns", Authorization=f"Bearer {count}")
            if answer.status != 401:
                break
        self.expect_problem(answer, 429, "busy", "too many failed logins")
        self.assertTrue(answer.headers["Retry-After"].isdigit())


class Pages(TestCase):
    """What a page in a user's browser can do: nothing, unless it is named."""

    def test_a_name_that_could_be_another_machine_s_is_refused(self):
        web = self.web()
        for host in ("evil.example", "evil.example:7712", "127.0.0.1.evil.example", "localhost.evil.example",
                     "169.254.169.254"):
            self.expect_problem(web.ask("GET", "/v1/ns", Host=host), 403, "denied", "localhost")
            self.assertEqual(web.ask("GET", "/healthz", Host=host).status, 200)
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:80", "[::1]:7712", "a.localhost"):
            self.assertEqual(web.ask("GET", "/v1/ns", Host=host).status, 200, host)

    def test_pages_of_others_are_refused(self):
        web = self.web()
        web.ask("POST", "/v1/ns/app/queues/q/jobs", {"klass": "K", "data": 1})
        for origin in ("https://evil.example", "null", "http://localhost:1", "file://"):
            answer = web.ask("POST", "/v1/ns/app/queues/q/pause", Origin=origin)
            self.expect_problem(answer, 403, "denied", "http-origins")
            self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
            answer = web.ask("OPTIONS", "/v1/ns", Origin=origin, Access_Control_Request_Method="POST")
            self.assertEqual(answer.status, 403)
        own = f"http://127.0.0.1:{self.server.http_port}"
        self.assertEqual(web.ask("GET", "/v1/ns", Origin=own).status, 200)

    def test_pages_that_are_named_may(self):
        page = "https://ops.example"
        with sluiced.Server("--http-origins", page, "--http-origins", "http://localhost:3000",
                            "--password", "secret") as server, Web(server) as web:
            answer = web.ask("OPTIONS", "/v1/ns/app/pop", Origin=page, Access_Control_Request_Method="POST",
                             Access_Control_Request_Headers="authorization,content-type")
            self.assertEqual((answer.status, answer.text), (204, b""))
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], page)
            self.assertEqual(answer.headers["Vary"], "Origin")
            self.assertIn("POST", answer.headers["Access-Control-Allow-Methods"])
            for name in ("Authorization", "Content-Type", "Idempotency-Key"):
                self.assertIn(name, answer.headers["Access-Control-Allow-Headers"])
            for path, status in (("/v1/ns", 200), ("/v1/nothing", 404), ("/healthz", 200)):
                answer = web.ask("GET", path, Origin=page, Authorization="Bearer secret")
                self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (status, page))
                self.assertIsNone(answer.headers["Access-Control-Allow-Credentials"])
            denied = web.ask("GET", "/v1/ns", Origin=page)
            self.assertEqual((denied.status, denied.headers["Access-Control-Allow-Origin"]), (401, page))
            self.assertEqual(web.ask("GET", "/v1/ns", Origin="https://ops.example.evil").status, 403)

    def test_what_is_no_origin_is_refused_at_the_start(self):
        for origin in ("ops.example", "https://ops.example/", "https://", "*"):
            server = sluiced.Server("--http-origins", origin)
            with self.assertRaisesRegex(AssertionError, "http-origins"):
                server.__enter__()
            server.process.wait()
            server.process.stderr.close()


class Ways(unittest.TestCase):
    """TLS and Unix sockets."""

    def test_tls(self):
        server = sluiced.Server()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", server.path("key"), "-out",
                        server.path("cert")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.flags = ("--http", "", "--tls-http", "127.0.0.1:0", "--tls-cert", server.path("cert"),
                        "--tls-key", server.path("key"))
        with server:
            line = [line for line in server.log if "tls=yes" in line][0]
            port = int(line.split("http=127.0.0.1:")[1].split()[0])
            context = ssl.create_default_context(cafile=server.path("cert"))
            connection = http.client.HTTPSConnection("localhost", port, timeout=sluiced.LIMIT_S, context=context)
            body = json.dumps({"klass": "K", "data": "x" * 300000})
            for _ in range(3):
                connection.request("POST", "/v1/ns/app/queues/q/jobs", body, JSON)
                self.assertEqual(Answer(connection.getresponse()).status, 201)
            connection.request("GET", "/v1/ns/app/queues/q/peek")
            self.assertEqual(len(Answer(connection.getresponse()).json()["jobs"]), 3)
            connection.close()
            with socket.create_connection(("127.0.0.1", port), sluiced.LIMIT_S) as plain:
                plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try:
                    while plain.recv(1000):
                        pass
                except ConnectionError:
                    pass

    def test_a_unix_socket_has_no_name(self):
        server = sluiced.Server()
        server.flags = ("--http", "unix:" + server.path("http"))
        with server:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(sluiced.LIMIT_S)
                s.connect(server.path("http"))
                s.sendall(b"GET /v1/ns HTTP/1.1\r\nHost: whatever\r\nConnection: close\r\n\r\n")
                self.assertTrue(s.makefile("rb").read().startswith(b"HTTP/1.1 200 "))


class Ends(unittest.TestCase):
    """How connections end."""

    def test_a_stop_answers_those_who_wait(self):
        with sluiced.Server() as server, Web(server) as web, sluiced.Client(server) as client:
            web.send("POST", "/v1/ns/app/pop", {"queues": ["q"], "worker": "w", "wait": 60})
            sluiced.until(lambda: "blocked_clients:1" in client.ask("INFO clients"))
            server.process.terminate()
            answer = web.hear()
            self.assertEqual((answer.status, answer.json()["code"], answer.headers["Connection"]),
                             (503, "busy", "close"))
            self.assertTrue(answer.headers["Retry-After"])
            self.assertEqual(server.wait(), 0)

    def test_a_wait_does_not_count_as_idle(self):
        with sluiced.Server("--http-idle-timeout", "5s") as server, Raw(server) as raw:
            pop = b'{"queues":["q"],"worker":"w","wait":6}'
            raw.send(b"POST /v1/ns/app/pop HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (len(pop), pop))
            self.assertEqual(raw.hear()[2], b'{"jobs":[]}')
            self.assertEqual(select.select([raw.socket], [], [], 1.3)[0], [], "it is closed at once")
            raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(raw.hear()[0], 200)
            self.assertTrue(raw.is_closed())  # but then it does

    def test_a_connection_too_many_is_told(self):
        with sluiced.Server("--max-connections", "1") as server, Raw(server) as first:
            first.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(first.hear()[0], 200)
            with Raw(server) as second:
                status, headers, _ = second.hear()
                self.assertEqual((status, headers["Retry-After"]), (503, "1"))
                self.assertTrue(second.is_closed())


if __name__ == "__main__":
    sluiced.main()
