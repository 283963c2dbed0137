#!/usr/bin/python3
"""Fresnel's tasks over HTTP: from being put to having run, by workers that pop and by push."""

import datetime
import http.client
import http.server
import json
import threading
import unittest

import sluiced
from sluiced import until

TASKS = "/v1/ns/app/tasks"
MEMBERS = ["class", "args", "id", "attempts", "state", "lastError", "queuedAt", "firstRunAt",
           "reservedAt", "lastRunAt", "firstScheduledFor", "scheduledFor", "lastRunBy", "priority"]


def moment(text):
    """A time as a task has it."""
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")


class FresnelTest(unittest.TestCase):
    flags = ()

    def setUp(self):
        self.server = sluiced.Server(*self.flags)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.link = None

    def ask(self, method, path, body=None):
        """Status, headers and what the body says."""
        if not self.link:
            self.link = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                   timeout=sluiced.LIMIT_S)
            self.addCleanup(self.link.close)
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        self.link.request(method, path, text, {"Content-Type": "application/json"} if text else {})
        answer = self.link.getresponse()
        content = answer.read()
        return answer.status, answer.headers, json.loads(content) if content else None

    def post(self, body, status=201):
        found, headers, task = self.ask("POST", TASKS, body)
        self.assertEqual(found, status, task)
        self.assertEqual(headers["Location"], f"{TASKS}/{task['id']}")
        self.assertEqual(list(task), MEMBERS)
        return task

    def get(self, number):
        status, _, task = self.ask("GET", f"{TASKS}/{number}")
        self.assertEqual(status, 200, task)
        return task

    def do(self, path, body, status=200):
        found, _, answer = self.ask("POST", "/v1/ns/app" + path, body)
        self.assertEqual(found, status, answer)
        return answer

    def pop(self, queue, worker="w"):
        return self.do("/pop", {"queues": [queue], "worker": worker})["jobs"]

    def listed(self, query=""):
        """The numbers of all tasks of a list, read page by page."""
        numbers, cursor = [], ""
        while True:
            status, _, page = self.ask("GET", f"{TASKS}?count=2{query}{cursor}")
            self.assertEqual(status, 200, page)
            numbers += [task["id"] for task in page["tasks"]]
            if page["next"] is None:
                return numbers
            cursor = "&cursor=" + page["next"]


class Life(FresnelTest):
    def test_a_task_is_put_run_and_complete(self):
        put = self.post({"class": "UserBackfill", "args": ["12"]})
        self.assertEqual((put["class"], put["args"], put["id"]), ("UserBackfill", ["12"], 1))
        self.assertEqual((put["state"], put["attempts"], put["lastError"]), ("ready", 0, None))
        self.assertEqual(put["scheduledFor"], put["queuedAt"])
        self.assertEqual(self.get(1), put)
        [job] = self.pop("UserBackfill")
        self.assertEqual((job["jid"], job["klass"], job["data"]), ("1", "UserBackfill", ["12"]))
        task = self.get(1)
        self.assertEqual((task["state"], task["firstRunAt"], task["lastRunBy"]),
                         ("reserved", None, None))
        self.do("/jobs/1/start", {"worker": "w"}, 204)
        task = self.get(1)
        self.assertEqual((task["state"], task["attempts"], task["lastRunBy"]), ("running", 1, "w"))
        self.assertGreaterEqual(moment(task["firstRunAt"]), moment(task["queuedAt"]))
        self.assertEqual(task["firstRunAt"], task["lastRunAt"])
        self.do("/jobs/1/complete", {"worker": "w", "result": {"rows": 3}})
        self.assertEqual(self.get(1)["state"], "complete")

    def test_a_task_is_tried_again_until_its_limit(self):
        self.post({"class": "Load", "args": [], "retries": 1})
        self.pop("Load", "w1")
        self.do("/jobs/1/retry", {"worker": "w1", "group": "db", "message": "no answer"})
        task = self.get(1)
        self.assertEqual((task["state"], task["lastError"], task["attempts"], task["lastRunBy"]),
                         ("failed", "no answer", 1, "w1"))
        self.pop("Load", "w2")
        self.do("/jobs/1/retry", {"worker": "w2", "group": "db", "message": "still none"})
        task = self.get(1)
        self.assertEqual((task["state"], task["lastError"], task["attempts"], task["lastRunBy"]),
                         ("error", "still none", 2, "w2"))
        self.assertEqual(self.listed("&state=error"), [1])
        # It has run, so the same may be put again.
        self.assertEqual(self.post({"class": "Load", "args": []})["id"], 2)

    def test_identical_tasks_are_one_until_it_has_run(self):
        put = self.post('{"class":"Echo","args":[{"a":1,"b":[true,null]}]}')
        same = ' { "args" : [ { "b" : [ true , null ], "a" : 1 } ] , "class" : "Echo" } '
        self.assertEqual(self.post(same, 200), put)
        self.assertEqual(self.post({"class": "Echo", "args": [1]})["id"], 2)
        self.pop("Echo")
        self.assertEqual(self.post(same, 200)["state"], "reserved")
        self.do("/jobs/1/complete", {"worker": "w"})
        self.assertEqual(self.post(same)["id"], 3)

    def test_a_task_may_be_for_later(self):
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=0.5)
        late = self.post({"class": "Late", "args": [1], "scheduledFor": "2100-01-01T00:00:00Z"})
        self.assertEqual(late["scheduledFor"], "2100-01-01T00:00:00.000Z")
        put = self.post({"class": "Soon", "args": [1], "scheduledFor": soon.isoformat()})
        self.assertEqual(moment(put["firstScheduledFor"]), soon)
        self.assertIn(late["id"], self.listed("&reservoir=true"))
        found = self.do("/pop", {"queues": ["Soon", "Late"], "worker": "w", "wait": 60})
        self.assertEqual([job["jid"] for job in found["jobs"]], [str(put["id"])])
        task = self.get(put["id"])
        self.assertGreaterEqual(moment(task["reservedAt"]), soon)
        self.assertEqual(moment(task["firstScheduledFor"]), soon)
        self.assertEqual(self.listed("&reservoir=true"), [late["id"]])

    def test_a_lower_priority_number_runs_sooner(self):
        for number, priority in enumerate([5, -5, 0]):
            self.post({"class": "Sort", "args": [number], "priority": priority})
        self.assertEqual([self.pop("Sort")[0]["jid"] for _ in range(3)], ["2", "3", "1"])

    def test_an_empty_priority_is_none(self):
        self.assertEqual(self.post({"class": "A", "args": [], "priority": ""})["priority"], 0)
        status, _, problem = self.ask("POST", TASKS, {"class": "A", "args": [], "priority": "5"})
        self.assertEqual((status, problem["field"]), (400, "priority"))
        status, _, problem = self.ask("POST", TASKS, {"class": "A", "args": [], "retries": ""})
        self.assertEqual((status, problem["field"]), (400, "retries"))

    def test_tasks_are_counted_in_their_states_and_one_in_error_runs_again(self):
        for number in range(3):
            self.post({"class": "Load", "args": [number], "retries": 0})
        self.post({"class": "Late", "args": [], "scheduledFor": "2100-01-01T00:00:00Z"})
        self.pop("Load")
        self.do("/jobs/1/retry", {"worker": "w", "group": "db", "message": "no answer"})
        self.pop("Load")
        counts = self.ask("GET", "/v1/ns/app/task-counts")[2]
        self.assertEqual(counts, {"ready": 2, "reserved": 1, "running": 0, "failed": 0, "error": 1,
                                  "complete": 0, "reservoir": 1})
        counts = self.ask("GET", "/v1/ns/app/task-counts?class=Load&priority=0")[2]
        self.assertEqual((counts["ready"], counts["reservoir"]), (1, 0))
        status, _, task = self.ask("POST", TASKS + "/1/retry")
        self.assertEqual((status, task["state"], task["id"]), (200, "ready", 1))
        self.assertEqual(self.ask("POST", TASKS + "/1/retry")[0], 409)
        self.assertEqual(self.ask("POST", TASKS + "/77/retry")[0], 404)
        self.assertEqual(self.ask("GET", "/v1/ns/app/task-counts?class=Load")[2]["error"], 0)

    def test_a_class_has_its_concurrency(self):
        status, _, _ = self.ask("PUT", "/v1/ns/app/limits", {"queue": "Slow", "concurrency": 1})
        self.assertEqual(status, 204)
        self.post({"class": "Slow", "args": [1]})
        self.post({"class": "Slow", "args": [2]})
        found = self.do("/pop", {"queues": ["Slow"], "worker": "w", "count": 2})
        self.assertEqual([job["jid"] for job in found["jobs"]], ["1"])

    def test_tasks_are_listed_and_deleted(self):
        for number in range(5):
            self.post({"class": f"Class{number % 2}", "args": [number]})
        self.pop("Class0")
        self.assertEqual(sorted(self.listed()), [1, 2, 3, 4, 5])
        self.assertEqual(sorted(self.listed("&state=ready")), [2, 3, 4, 5])
        self.assertEqual(self.listed("&state=ready&class=Class1"), [2, 4])
        self.assertEqual(self.listed("&state=reserved"), [1])
        for number in (1, 2):
            self.assertEqual(self.ask("DELETE", f"{TASKS}/{number}")[0], 204)
            self.assertEqual(self.ask("GET", f"{TASKS}/{number}")[0], 404)
            self.assertEqual(self.ask("DELETE", f"{TASKS}/{number}")[0], 404)
        self.assertEqual(sorted(self.listed()), [3, 4, 5])

    def test_many_are_put_at_once_and_answered_in_order(self):
        same = self.post({"class": "Echo", "args": [1]})
        status, headers, answers = self.ask("POST", TASKS, [
            {"class": "Echo", "args": [2], "priority": 3}, {"class": "Echo", "args": [1]},
            {"class": "Echo", "args": {}}, {"class": "Load", "args": [2]}])
        self.assertEqual(status, 200, answers)
        self.assertNotIn("Location", headers)
        self.assertEqual([answer.get("id") for answer in answers], [2, 1, None, 3])
        self.assertEqual(answers[1], same)
        self.assertEqual((answers[2]["status"], answers[2]["field"]), (400, "args"))
        self.assertEqual(self.get(2), answers[0])
        self.assertEqual(sorted(self.listed()), [1, 2, 3])

    def test_what_is_wrong_is_named_and_not_kept(self):
        for body, status, field in (
                ({"args": []}, 400, "class"), ({"class": "A"}, 400, "args"),
                ({"class": "", "args": []}, 400, "class"), ({"class": 5, "args": []}, 400, "class"),
                ({"class": "A", "args": {"a": 1}}, 400, "args"),
                ({"class": "A", "args": "12"}, 400, "args"),
                ({"class": "x" * 256, "args": []}, 413, "class"),
                ({"class": "A", "args": [], "id": 5}, 400, "id"),
                ({"class": "A", "args": [], "scheduledFor": "soon"}, 400, "scheduledFor"),
                ({"class": "A", "args": [], "priority": 0.5}, 400, "priority"),
                ({"class": "A", "args": [], "retries": -1}, 400, "retries"),
                ('{"class":"A","args":[1', 400, None), ("5", 400, None)):
            with self.subTest(body=body):
                found, headers, problem = self.ask("POST", TASKS, body)
                self.assertEqual((found, problem.get("field")), (status, field), problem)
                self.assertEqual(headers["Content-Type"], "application/problem+json")
        for path, status, field in (("/x", 400, "id"), ("/0", 400, "id"), ("/7", 404, None),
                                    ("?state=odd", 400, "state"), ("?cursor=x", 400, "cursor"),
                                    ("?count=0", 400, "count")):
            with self.subTest(path=path):
                found, _, problem = self.ask("GET", TASKS + path)
                self.assertEqual((found, problem.get("field")), (status, field), problem)
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.post({"class": "A", "args": []})["id"], 1)

    def invalid(self, ns="app", count=100):
        status, _, answer = self.ask("GET", f"/v1/ns/{ns}/invalid-tasks?count={count}")
        self.assertEqual(status, 200, answer)
        return answer["invalid"]

    def test_refused_tasks_are_listed_and_make_no_namespace(self):
        self.assertEqual(self.invalid(), [])
        self.ask("POST", TASKS, {"class": "A", "args": {"a": 1}})
        self.ask("POST", TASKS, '{"class":"A","args":[1')
        self.ask("POST", TASKS, {"class": "A", "args": [], "id": 5})
        with sluiced.Client(self.server) as client:
            client.ask("T.PUT", "app", "A", "[]", "PRIORITY", "high")
            client.expect(("T.INVALID", "app", "COUNT", "1"), '[["refusedAt", ...')
            client.expect(("MULTI",), "+OK")
            client.expect(("T.PUT", "queued", "A", "[]", "RETRIES", "-1"), "-INVALID ...")
            client.expect(("EXEC",), "-EXECABORT ...")
        self.assertEqual([entry["sent"] for entry in self.invalid("queued")], ["A [] RETRIES -1"])
        found = self.invalid()
        self.assertEqual([entry["sent"] for entry in found],
                         ["A [] PRIORITY high", '{"class": "A", "args": [], "id": 5}',
                          '{"class":"A","args":[1', 'A {"a": 1}'])
        self.assertEqual({entry["code"] for entry in found}, {"invalid"})
        self.assertEqual(found[3]["reason"], "T.PUT: args must be an array, not an object")
        self.assertIn("the body is not JSON", found[2]["reason"])
        self.assertEqual([entry["size"] for entry in found],
                         [len(entry["sent"]) for entry in found])
        self.assertLessEqual(moment(found[3]["refusedAt"]), moment(found[0]["refusedAt"]))
        self.assertEqual(self.invalid("other"), [])
        self.assertEqual(self.invalid(count=1), found[:1])
        self.assertEqual(self.ask("GET", "/v1/ns")[2]["namespaces"], [])

    def test_each_refused_task_of_many_is_listed(self):
        self.ask("POST", TASKS, [{"class": "A", "args": [1]}, {"class": "B", "args": {}},
                                 {"class": "x" * 256, "args": []}])
        found = self.invalid()
        self.assertEqual([(entry["code"], entry["sent"]) for entry in found],
                         [("too_large", "x" * 256 + " []"), ("invalid", "B {}")])
        self.assertEqual(self.ask("DELETE", "/v1/ns/app")[0], 204)
        self.assertEqual(self.invalid(), [])

    def test_it_is_at_its_location_whatever_the_namespace_is_called(self):
        _, headers, task = self.ask("POST", "/v1/ns/a%2Fb%20c/tasks", {"class": "A", "args": []})
        self.assertEqual(headers["Location"], "/v1/ns/a%2Fb%20c/tasks/1")
        self.assertEqual(self.ask("GET", headers["Location"])[2], task)

    def test_the_same_in_resp(self):
        self.post({"class": "Echo", "args": [1]})
        with sluiced.Client(self.server) as client:
            client.expect(("T.PUT", "app", "Echo", "[1]"), '["class", "Echo", "args", "[1]", "id", :1, ...')
            client.expect("T.DELETE app 1", "+OK")


class Crash(FresnelTest):
    def test_numbers_and_times_outlast_a_kill(self):
        later = {"class": "Late", "args": [], "scheduledFor": "2100-01-01T00:00:00Z"}
        late = self.post(later)
        self.post({"class": "Echo", "args": [1]})
        gone = self.post({"class": "Echo", "args": [2]})
        self.assertEqual(self.ask("DELETE", f"{TASKS}/{gone['id']}")[0], 204)
        self.pop("Echo")
        before = self.get(2)
        self.server.process.kill()
        self.server.wait()
        self.link = None
        self.server.start()
        self.assertEqual(self.get(1), late)
        self.assertEqual(self.get(2), before)
        self.assertEqual(self.post(later, 200), late)
        self.assertGreater(self.post({"class": "Echo", "args": [2]})["id"], gone["id"])


class Worker(http.server.BaseHTTPRequestHandler):
    """A worker that fails each task once."""

    def do_POST(self):
        task = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.tasks.append(task)
        self.send_response(500 if task["attempts"] == 1 else 200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"oops" if task["attempts"] == 1 else b"\"ok\"")

    def log_message(self, *_):
        pass


class Pushed(FresnelTest):
    flags = ("--push-allow-private", "yes")

    def setUp(self):
        super().setUp()
        self.worker = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Worker)
        self.worker.tasks = []
        thread = threading.Thread(target=self.worker.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(self.worker.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.worker.shutdown)

    def test_a_task_is_pushed_to_the_worker_of_its_class_until_it_works(self):
        href = f"http://127.0.0.1:{self.worker.server_port}/jobs/backfill"
        status, _, problem = self.ask("PUT", "/v1/ns/app/pushes/backfill",
                                      {"href": href, "concurrency": 10, "backoff": 0.01})
        self.assertEqual(status, 204, problem)
        self.post({"class": "backfill", "args": ["12"]})
        self.post({"class": "other", "args": ["12"]})
        task = until(lambda: (task := self.get(1))["state"] == "complete" and task, "the task to be run")
        self.assertEqual((task["attempts"], task["lastRunBy"]), (2, "@push"))
        self.assertEqual(task["lastError"], "HTTP status 500: oops")
        self.assertEqual([(each["class"], each["args"], each["id"]) for each in self.worker.tasks],
                         [("backfill", ["12"], 1)] * 2)
        self.assertEqual(self.get(2)["state"], "ready")

    def test_the_worker_map_is_one_object(self):
        href = f"http://127.0.0.1:{self.worker.server_port}/jobs/"
        self.ask("PUT", "/v1/ns/app/pushes/stays", {"href": href + "stays"})
        status, _, answers = self.ask("PUT", "/v1/ns/app/pushes", {
            "backfill": {"href": href + "backfill", "concurrency": 10, "backoff": 0.01},
            "load": {"href": href + "load", "concurrency": 12},
            "echo": href + "echo",
            "wrong": {"href": "ftp://localhost/"},
        })
        self.assertEqual((status, len(answers)), (200, 4), answers)
        self.assertEqual(answers[3]["code"], "invalid")
        pushes = self.ask("GET", "/v1/ns/app/pushes")[2]["pushes"]
        self.assertEqual({push["pattern"]: (push["href"], push["concurrency"]) for push in pushes},
                         {"stays": (href + "stays", 10), "backfill": (href + "backfill", 10),
                          "load": (href + "load", 12), "echo": (href + "echo", 10)})
        self.post({"class": "echo", "args": ["12"]})
        until(lambda: self.worker.tasks, "the task to be sent")

    def test_a_worker_map_that_is_none_sets_nothing(self):
        for body, field in (({"a": {"href": "http://127.0.0.1:1/", "concurrency": "x"}},
                             "a.concurrency"),
                            ({"a": "http://127.0.0.1:1/", "b": {"hreff": "x"}}, "b.hreff"),
                            ({"a": "http://127.0.0.1:1/", "b": {"pattern": "c"}}, "b.pattern"),
                            ({"a": "http://127.0.0.1:1/", "b": {}}, "b.href"),
                            ({"a": "http://127.0.0.1:1/", "b": 7}, None),
                            ({"": "http://127.0.0.1:1/"}, None), ([], None), ("[1]", None)):
            status, _, problem = self.ask("PUT", "/v1/ns/app/pushes", body)
            self.assertEqual((status, problem.get("field")), (400, field), (body, problem))
            self.assertEqual(self.ask("GET", "/v1/ns/app/pushes")[2].get("pushes", []), [])


class SmallAnswers(FresnelTest):
    flags = ("--max-output", "64K")

    def test_a_task_is_not_run_again_when_that_cannot_be_answered(self):
        """What was put over RESP may be too large for an answer of HTTP, or beside others."""
        with sluiced.Client(self.server) as client:
            def expect_one(state):
                self.assertIn(f'"{state}", :1', client.ask("T.COUNTS", "app"))

            client.ask("T.PUT", "app", "Large", json.dumps(["x" * 40000]))
            client.ask("Q.POP", "app", "w", 1, "Large")
            client.ask("Q.FAIL", "app", "1", "w", "group", "message")
            self.assertEqual(self.ask("POST", f"{TASKS}/1/retry")[2]["code"], "too_large")
            expect_one("error")
            client.ask("MULTI")
            client.ask("T.GET", "app", 1)
            client.ask("T.RETRY", "app", 1)
            self.assertIn("T.RETRY was not run", client.ask("EXEC"))
            expect_one("error")
            client.ask("T.RETRY", "app", 1)
            expect_one("ready")


if __name__ == "__main__":
    sluiced.main()
