#!/usr/bin/python3
"""Jobs that the server pushes to real HTTP workers, good ones and bad ones."""

import base64
import collections
import contextlib
import email.utils
import hashlib
import hmac
import http.client
import http.server
import json
import signal
import socket
import threading
import time
import unittest

import outside
import sluiced
from sluiced import until

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Talk(sluiced.Client):
    """A client that gives values, not texts."""

    def __init__(self, server):
        super().__init__(server)
        self.ask("HELLO 3")

    def value(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            return Refusal(rest)
        if kind in b"+:,#_":
            return {b"+": str, b":": int, b",": float}.get(
                kind, lambda text: {"t": True, "f": False, "": None}[text])(rest)
        size = int(rest)
        if kind in b"$=":
            return self.file.read(size + 2)[:-2].decode("utf-8", "replace")
        if kind == b"%":
            return {self.value(): self.value() for _ in range(size)}
        return [self.value() for _ in range(size)]

    def do(self, *words):
        self.send(*words)
        given = self.value()
        if isinstance(given, Refusal):
            raise given
        return given

    def job(self, jid):
        return self.do("Q.GET", "app", jid)[0]

    def state(self, jid):
        job = self.job(jid)
        return job and job["state"]

    def put(self, jid, klass="Work", data=None, queue="work", **options):
        words = [word for name, value in options.items() for word in (name.upper(), value)]
        self.do("Q.PUT", "app", queue, klass, json.dumps(data if data is not None else {}),
                "JID", jid, *words)

    def until_state(self, jid, state):
        until(lambda: self.state(jid) == state, f"{jid} to be {state}")
        return self.job(jid)

    def push(self, pattern="Work"):
        return next(entry for entry in self.do("Q.PUSHES", "app") if entry["pattern"] == pattern)


class Refusal(Exception):
    pass


class Worker:
    """An HTTP server whose answers a test decides: `answer` gets a request and gives a status, a
    body and headers; or it does with the connection what it wants and gives None."""

    def __init__(self, answer=None):
        self.answer = answer or (lambda request: (200, b"", {}))
        self.requests = []
        self.running = self.most = 0
        self.lock = threading.Lock()
        worker = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = Request(self, body)
                with worker.lock:
                    worker.requests.append(request)
                    worker.running += 1
                    worker.most = max(worker.most, worker.running)
                try:
                    answer = worker.answer(request)
                finally:
                    with worker.lock:
                        worker.running -= 1
                if answer is None:
                    self.close_connection = True
                    return
                status, text, headers = answer
                self.send_response(status)
                for name, value in {"Content-Length": len(text), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 1024
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a connection that the server has ended

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.href = f"http://127.0.0.1:{self.port}/work"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def seen(self, jid):
        return [request for request in list(self.requests) if request.task["id"] == jid]


class Request:
    def __init__(self, handler, body):
        self.handler = handler
        self.path = handler.path
        self.headers = dict(handler.headers)
        self.body = body
        self.task = json.loads(body)
        self.when = time.monotonic()


class PushTest(unittest.TestCase):
    flags = ("--push-allow-private", "yes")

    def setUp(self):
        self.server = sluiced.Server(*outside.SMALL, *self.flags)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.client = Talk(self.server)
        self.addCleanup(self.client.close)

    def worker(self, answer=None):
        worker = Worker(answer)
        self.addCleanup(worker.__exit__)
        return worker

    def push(self, worker, *options, pattern="Work"):
        self.client.do("Q.PUSH.SET", "app", pattern, worker.href, *options)


class Answers(PushTest):
    """What the answers of workers mean."""

    def until_renewed(self, jid):
        first = self.client.job(jid)["lease"]["expires"]
        until(lambda: self.client.job(jid)["lease"]["expires"] > first, "the lease to be renewed")

    def test_a_job_is_posted_as_a_task_and_completed_with_the_answer_as_its_result(self):
        worker = self.worker(lambda _: (200, b' {"done" : [1, 2]} ', {}))
        self.push(worker)
        self.client.put("j1", data=["12"], tag="paid", priority=3)
        job = self.client.until_state("j1", "complete")
        self.assertEqual(json.loads(job["result"]), {"done": [1, 2]})
        [request] = worker.requests
        self.assertEqual(request.path, "/work")
        self.assertEqual(request.headers["Content-Type"], "application/json")
        self.assertTrue(request.headers["User-Agent"].startswith("sluice/"))
        task = request.task
        self.assertEqual((task["class"], task["args"], task["id"]), ("Work", ["12"], "j1"))
        self.assertEqual((task["ns"], task["queue"], task["attempts"], task["priority"]),
                         ("app", "work", 1, 3))
        self.assertEqual((task["tags"], task["worker"]), (["paid"], "@push"))
        self.assertGreater(task["token"], 0)
        self.assertGreater(task["expires"], task["created"])

    def test_text_becomes_a_string_nothing_no_result_and_too_much_is_not_kept(self):
        answers = {"text": b"done \xc3\xa9\xff", "none": b"", "large": b"x" * (1 << 20)}
        worker = self.worker(lambda request: (200, answers[request.task["id"]], {}))
        self.push(worker)
        for jid in answers:
            self.client.put(jid)
        self.assertEqual(json.loads(self.client.until_state("text", "complete")["result"]),
                         "done é\ufffd")
        self.assertIsNone(self.client.until_state("none", "complete")["result"])
        self.assertIsNone(self.client.until_state("large", "complete")["result"])
        self.assertIn("larger than max-payload", str(self.client.do("Q.LOGS", "app", "large")))

    def test_the_error_output_is_kept_whatever_bytes_it_has_up_to_its_limit(self):
        output = b"\0before\0" + b"x" * (1 << 16)
        worker = self.worker(lambda _: (500, output, {}))
        self.push(worker, "BACKOFF", "3600")
        task = self.client.do("T.PUT", "app", "Work", "[1]")["id"]
        until(lambda: self.client.do("T.GET", "app", task)["state"] == "failed", "the failure")
        expected = ("HTTP status 500: " + output.decode())[:len("HTTP status 500: ") + (1 << 16)]
        self.assertEqual(self.client.do("T.GET", "app", task)["lastError"], expected)
        [listed] = self.client.do("T.LIST", "app")["tasks"]
        self.assertEqual(listed["lastError"], expected[:1024])

    def test_after_202_the_worker_reports_by_itself_with_the_token(self):
        worker = self.worker(lambda _: (202, b"", {}))
        self.client.do("Q.CONFIG.SET", "app", "heartbeat", "2")
        self.push(worker, "CONCURRENCY", "1")
        self.client.put("j1")
        self.client.put("j2")
        until(lambda: self.client.push()["waiting-for-report"] == 1, "the worker's 202")
        task = worker.requests[0].task
        # It is kept alive, and the next job waits for its turn.
        self.until_renewed("j1")
        self.assertEqual(len(worker.requests), 1)
        self.assertRaises(Refusal, self.client.do, "Q.COMPLETE", "app", "j1", "@push", "TOKEN",
                          task["token"] + 1)
        self.client.do("Q.COMPLETE", "app", "j1", "@push", "TOKEN", task["token"], "RESULT", "7")
        self.assertEqual(self.client.job("j1")["result"], "7")
        until(lambda: worker.seen("j2"), "the next job")

    def test_who_does_not_report_in_time_loses_the_job(self):
        answers = iter([202, 200])
        worker = self.worker(lambda _: (next(answers), b"", {}))
        self.client.do("Q.CONFIG.SET", "app", "heartbeat", "2")
        self.client.do("Q.CONFIG.SET", "app", "grace-period", "0")
        self.push(worker, "REPORT-WITHIN", "0.1")
        self.client.put("j1")
        job = self.client.until_state("j1", "complete")
        self.assertEqual(len(worker.requests), 2)
        self.assertEqual(job["attempts"], 2)

    def test_retry_after_is_waited_for_and_costs_no_retry(self):
        date = email.utils.formatdate(time.time() + 2, usegmt=True)
        answers = iter([(429, b"", {"Retry-After": "1"}), (503, b"", {"Retry-After": date}),
                        (200, b"1", {})])
        worker = self.worker(lambda _: next(answers))
        self.push(worker)
        self.client.put("j1", retries=0)
        self.client.until_state("j1", "complete")
        first, second, third = worker.requests
        self.assertGreaterEqual(second.when - first.when, 1.0)
        self.assertEqual([request.task["remaining"] for request in worker.requests], [0, 0, 0])
        self.assertEqual(self.client.push()["counts"]["delayed"], 2)
        self.assertEqual(third.task["attempts"], 3)

    def test_4xx_is_tried_again_unless_told_otherwise(self):
        worker = self.worker(lambda request: (
            404 if request.task["attempts"] == 1 or request.task["class"] == "Strict" else 200,
            b"no such thing", {}))
        self.push(worker, "BACKOFF", "0")
        self.push(worker, "FAIL-4XX", pattern="Strict")
        self.client.put("j1")
        self.client.put("j2", klass="Strict")
        self.client.until_state("j1", "complete")
        job = self.client.until_state("j2", "failed")
        self.assertEqual(job["failure"]["group"], "push:404")
        self.assertEqual(job["failure"]["message"], "HTTP status 404: no such thing")
        self.assertEqual(len(worker.seen("j2")), 1)

    def test_5xx_is_tried_again_with_backoff_until_retries_are_exhausted(self):
        worker = self.worker(lambda _: (500, b"oh", {}))
        self.push(worker, "BACKOFF", "0.1", "FAILURES", "100")
        self.client.put("j1", retries=3)
        job = self.client.until_state("j1", "failed")
        self.assertEqual(job["failure"]["group"], "push:500")
        whens = [request.when for request in worker.requests]
        self.assertEqual(len(whens), 4)
        gaps = [b - a for a, b in zip(whens, whens[1:])]
        for gap, least in zip(gaps, (0.075, 0.15, 0.3)):
            self.assertGreaterEqual(gap, least)

    def test_a_jobs_own_backoff_comes_first(self):
        worker = self.worker(lambda request: (
            500 if request.task["attempts"] == 1 else 200, b"", {}))
        self.push(worker, "BACKOFF", "3600")
        self.client.put("j1", backoff="fixed:0.2")
        self.client.until_state("j1", "complete")
        self.assertGreaterEqual(worker.requests[1].when - worker.requests[0].when, 0.2)

    def bad_once(self, worst, *options):
        """The first answer is `worst`; what the failure of the job says."""
        worker = self.worker()
        worker.answer = lambda request: (
            worst(request) if len(worker.requests) == 1 else (200, b"", {}))
        self.push(worker, "BACKOFF", "0.01", *options)
        self.client.put("j1")
        job = self.client.until_state("j1", "complete")
        self.assertEqual(len(worker.requests), 2)
        retried = [entry for entry in self.client.do("Q.HISTORY", "app", "j1")
                   if entry["what"] == "retried"]
        self.assertEqual(len(retried), 1)
        self.assertIsNone(job["result"])
        return retried[0]["group"]

    def test_a_worker_that_dies_while_it_answers_is_asked_again(self):
        def die(request):
            request.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
            request.handler.connection.shutdown(socket.SHUT_RDWR)

        self.assertEqual(self.bad_once(die), "push:broken")

    def test_a_worker_that_ends_the_connection_without_a_word_is_asked_again(self):
        def die(request):
            request.handler.connection.shutdown(socket.SHUT_RDWR)

        self.assertEqual(self.bad_once(die), "push:broken")

    def test_a_worker_that_hangs_is_given_up_after_the_timeout(self):
        end = threading.Event()
        self.addCleanup(end.set)
        self.assertEqual(self.bad_once(lambda _: end.wait() and None, "TIMEOUT", "2"),
                         "push:timeout")

    def test_what_is_no_http_is_asked_again(self):
        def lie(request):
            request.handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")

        self.assertEqual(self.bad_once(lie), "push:broken")

    def test_a_redirect_is_a_failure_and_is_not_followed(self):
        secret = self.worker()
        group = self.bad_once(lambda _: (302, b"", {"Location": secret.href}))
        self.assertEqual(group, "push:302")
        self.assertEqual(secret.requests, [])

    def test_nobody_there_is_a_failure(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            href = f"http://127.0.0.1:{free.getsockname()[1]}/"
            self.client.do("Q.PUSH.SET", "app", "Work", href, "BACKOFF", "0")
            self.client.put("j1", retries=1)
            job = self.client.until_state("j1", "failed")
        self.assertEqual(job["failure"]["group"], "push:unreachable")

    def test_a_canceled_jobs_request_is_ended(self):
        gone = threading.Event()

        def wait(request):
            self.assertEqual(request.handler.connection.recv(1), b"")
            gone.set()

        worker = self.worker(wait)
        self.push(worker)
        self.client.put("j1")
        until(lambda: worker.requests, "the request")
        self.client.do("Q.CANCEL", "app", "j1")
        self.assertTrue(gone.wait(sluiced.LIMIT_S))
        until(lambda: self.client.push()["running"] == 0, "its end")

    def test_more_than_was_announced_is_not_read(self):
        def lie(request):
            request.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
                                        b"1HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")

        worker = self.worker(lie)
        self.push(worker, "CONCURRENCY", "1")
        for jid in "ab":
            self.client.put(jid)
            self.assertEqual(self.client.until_state(jid, "complete")["result"], "1")

    def test_the_lease_is_kept_alive_while_a_request_runs(self):
        end = threading.Event()
        self.addCleanup(end.set)
        worker = self.worker(lambda _: end.wait() and (200, b"1", {}))
        self.client.do("Q.CONFIG.SET", "app", "heartbeat", "2")
        self.push(worker)
        self.client.put("j1")
        until(lambda: worker.requests, "the request")
        self.until_renewed("j1")
        end.set()
        self.client.until_state("j1", "complete")
        self.assertEqual(len(worker.requests), 1)


class Requests(PushTest):
    """What is sent."""

    def test_requests_are_signed_and_have_headers_and_a_trace(self):
        key = bytes(range(32))
        secret = "whsec_" + base64.b64encode(key).decode()
        worker = self.worker()
        self.push(worker, "SECRET", secret, "HEADER", "Authorization: Bearer abc", "HEADER",
                  "X-Team: mail")
        jid = "a b: 1%é"
        self.client.put(jid, data={"traceparent": TRACE})
        self.client.put("tagged", tag="traceparent:" + TRACE)
        self.client.until_state(jid, "complete")
        self.client.until_state("tagged", "complete")
        for request in worker.requests:
            headers = request.headers
            self.assertEqual(headers["Authorization"], "Bearer abc")
            self.assertEqual(headers["X-Team"], "mail")
            self.assertEqual(headers["traceparent"], TRACE)
            self.assertLess(abs(int(headers["webhook-timestamp"]) - time.time()), 60)
            content = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode()
            digest = hmac.new(key, content + request.body, hashlib.sha256).digest()
            self.assertEqual(headers["webhook-signature"],
                             "v1," + base64.b64encode(digest).decode())
        self.assertEqual(worker.seen(jid)[0].headers["webhook-id"],
                         "a%20b:%201%25%C3%A9")

    def test_while_a_secret_is_replaced_requests_are_signed_with_both(self):
        def signed(key, request):
            content = (f'{request.headers["webhook-id"]}.{request.headers["webhook-timestamp"]}.'
                       .encode() + request.body)
            return "v1," + base64.b64encode(
                hmac.new(key, content, hashlib.sha256).digest()).decode()

        old, new = b"0123456789abcdef-old", b"0123456789abcdef-new"
        worker = self.worker()
        for jid, keys in (("first", (old,)), ("second", (new, old)), ("third", (new,))):
            words = [text for name, key in zip(("SECRET", "OLD-SECRET"), keys)
                     for text in (name, key.decode())]
            self.push(worker, *words)
            self.assertEqual(self.client.do("Q.PUSHES", "app")[0]["old-secret"], len(keys) > 1)
            self.client.put(jid)
            self.client.until_state(jid, "complete")
            request = worker.seen(jid)[0]
            self.assertEqual(request.headers["webhook-signature"].split(" "),
                             [signed(key, request) for key in keys])

    def test_connections_are_used_again(self):
        worker = self.worker()
        ports = set()
        worker.answer = lambda request: (ports.add(request.handler.client_address[1]),
                                         (200, b"", {}))[1]
        self.push(worker, "CONCURRENCY", "1")
        for i in range(50):
            self.client.put(f"j{i}")
        for i in range(50):
            self.client.until_state(f"j{i}", "complete")
        self.assertEqual(len(ports), 1)

    def test_no_more_than_the_concurrency_are_under_way(self):
        go = threading.Event()
        self.addCleanup(go.set)
        worker = self.worker(lambda _: go.wait() and (200, b"", {}))
        self.push(worker, "CONCURRENCY", "3")
        for i in range(60):
            self.client.put(f"j{i}")
        until(lambda: worker.running == 3, "three at a time")
        go.set()
        for i in range(60):
            self.client.until_state(f"j{i}", "complete")
        self.assertEqual(worker.most, 3)

    def test_the_best_pattern_counts_and_what_fits_none_stays_for_other_workers(self):
        workers = {name: self.worker() for name in ("Mail", "Mail*", "*Mail", "Mail*Fast")}
        for pattern, worker in workers.items():
            self.push(worker, pattern=pattern)
        wanted = {"Mail": "Mail", "MailSlow": "Mail*", "MailVeryFast": "Mail*Fast",
                  "LongMail": "*Mail"}
        self.client.put("other", klass="Other")
        for klass in wanted:
            self.client.put(klass, klass=klass)
        for klass, pattern in wanted.items():
            self.client.until_state(klass, "complete")
            self.assertEqual(len(workers[pattern].seen(klass)), 1, klass)
        self.assertEqual(self.client.state("other"), "waiting")
        [popped] = self.client.do("Q.POP", "app", "w", 1, "work")
        self.assertEqual(popped["jid"], "other")

    def test_only_the_named_queues_are_pushed(self):
        worker = self.worker()
        self.push(worker, "QUEUE", "a", "QUEUE", "b")
        for queue in "cab":
            self.client.put(queue, queue=queue)
        self.client.until_state("a", "complete")
        self.client.until_state("b", "complete")
        self.assertEqual(self.client.state("c"), "waiting")

    def test_a_klass_that_cannot_be_sent_does_not_hold_up_others_in_its_queue(self):
        end = threading.Event()
        self.addCleanup(end.set)
        slow, fast = self.worker(lambda _: end.wait() and (200, b"", {})), self.worker()
        self.push(slow, "CONCURRENCY", "1", pattern="Slow")
        self.push(fast, pattern="Fast")
        for i in range(500):
            self.client.put(f"s{i}", klass="Slow")
        self.client.put("f", klass="Fast")
        self.client.until_state("f", "complete")
        self.assertEqual(len(slow.requests), 1)

    def test_a_thousand_and_more_are_under_way_at_once(self):
        count = 300 if outside.SANITIZED else 1200
        with Crowd(count) as crowd:
            self.client.do("Q.PUSH.SET", "app", "Work", crowd.href, "CONCURRENCY", count)
            for i in range(count):
                self.client.put(f"j{i}")
            self.assertTrue(crowd.full.wait(sluiced.LIMIT_S), "all requests to be there")
            self.assertEqual(self.client.push()["running"], count)
            crowd.answer()
            until(lambda: self.client.push()["counts"]["completed"] == count, "all to be done")


class Crowd:
    """A worker that answers none before all are there."""

    def __init__(self, count):
        self.count = count
        self.full = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.href = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.sockets = []
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        for peer in self.sockets:
            peer.close()
        self.thread.join()

    def run(self):
        for _ in range(self.count):
            self.sockets.append(self.listener.accept()[0])
        for peer in self.sockets:
            data = b""
            while not data.endswith(b"}"):
                data += peer.recv(65536)
        self.full.set()

    def answer(self):
        for peer in self.sockets:
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")


class Breaker(PushTest):
    def test_after_failures_in_a_row_nothing_is_sent_and_no_job_is_burned(self):
        well = threading.Event()
        worker = self.worker(lambda _: (200 if well.is_set() else 500, b"", {}))
        self.push(worker, "CONCURRENCY", "1", "FAILURES", "3", "COOLDOWN", "2", "BACKOFF", "0.01")
        for i in range(20):
            self.client.put(f"j{i}", retries=50)
        until(lambda: self.client.push()["breaker"] == "open", "the breaker to open")
        self.assertEqual(len(worker.requests), 3)
        self.assertIn("500", self.client.push()["last-error"])
        # One is tried each time.
        until(lambda: len(worker.requests) == 5, "two more tries")
        self.assertGreaterEqual(worker.requests[3].when - worker.requests[2].when, 2)
        self.assertGreaterEqual(worker.requests[4].when - worker.requests[3].when, 2)
        well.set()
        for i in range(20):
            self.client.until_state(f"j{i}", "complete")
        self.assertEqual(self.client.push()["breaker"], "closed")
        self.assertIsNone(self.client.push()["last-error"])

    def test_a_try_does_not_wait_for_the_cooldown(self):
        well = threading.Event()
        worker = self.worker(lambda _: (200 if well.is_set() else 500, b"", {}))
        self.push(worker, "CONCURRENCY", "1", "FAILURES", "1", "COOLDOWN", "86400", "BACKOFF", "0")
        for i in range(3):
            self.client.put(f"j{i}", retries=50)
        until(lambda: self.client.push()["breaker"] == "open", "the breaker to open")
        self.assertIsNotNone(self.client.push()["next-try"])
        self.client.do("Q.PUSH.TRY", "app", "Work")
        until(lambda: len(worker.requests) == 2, "one try")
        until(lambda: self.client.push()["breaker"] == "open", "the breaker to open again")
        well.set()
        self.client.do("Q.PUSH.TRY", "app", "Work")
        for i in range(3):
            self.client.until_state(f"j{i}", "complete")
        self.assertEqual(self.client.push()["breaker"], "closed")
        with self.assertRaisesRegex(Exception, "there is no push"):
            self.client.do("Q.PUSH.TRY", "app", "Other")


class Refused(PushTest):
    """Without the setting, no private address is reached."""

    flags = ("--http", "127.0.0.1:0")
    HOSTS = ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f000001")

    def test_a_private_address_is_refused_when_it_is_set(self):
        for host in self.HOSTS:
            with self.assertRaisesRegex(Refusal, "push-allow-private is off"):
                self.client.do("Q.PUSH.SET", "app", "Work", f"http://{host}:80/")
            connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port)
            connection.request("PUT", "/v1/ns/app/pushes/Work",
                               json.dumps({"href": f"http://{host}:80/"}),
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            self.assertEqual(answer.status, 400)
            self.assertIn("push-allow-private is off", json.loads(answer.read())["detail"])
            connection.close()
        self.assertEqual(self.client.do("Q.PUSHES", "app"), [])

    def test_a_private_address_found_later_costs_no_retry_and_is_logged(self):
        worker = self.worker()
        with sluiced.Server(*outside.SMALL, "--push-allow-private", "yes") as server:
            with Talk(server) as client:
                for klass, host in zip("abcd", self.HOSTS):
                    client.do("Q.PUSH.SET", "app", klass, f"http://{host}:{worker.port}/",
                              "BACKOFF", "0", "COOLDOWN", "0.1")
            server.flags = [flag if flag != "yes" else "no" for flag in server.flags]
            server.restart()
            with Talk(server) as client:
                for klass in "abcd":
                    client.put(klass, klass=klass, retries=0)
                    until(lambda name=klass: client.job(name)["attempts"] > 2, "attempts")
                    job = client.job(klass)
                    self.assertEqual((job["remaining"], job["failure"]), (0, None))
                    self.assertIn("push-allow-private is off", client.push(klass)["last-error"])
                server.hear("push to a private address refused")
        self.assertEqual(worker.requests, [])


class Settings(unittest.TestCase):
    """Where pushes are set, and what is shown of them."""

    SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789").decode()

    def test_what_is_wrong_is_refused_with_a_sentence_without_the_secret(self):
        with outside.server() as server, Talk(server) as client:
            for words, sentence in (
                    (("ftp://x/",), "http or https"), (("http://",), "http or https"),
                    (("http://ann:pw@x/",), "user in it"), (("http://x/ y",), "character"),
                    (("http://x/", "HEADER", "no colon"), "'Name: value'"),
                    (("http://x/", "HEADER", "A: b\r\nC: d"), "HEADER A has a character"),
                    (("http://x/", "HEADER", "Content-Length: 3"), "server's to say"),
                    (("http://x/", "SECRET", "whsec_%%%%"), "base64"),
                    (("http://x/", "SECRET", "hunter2"), "at least 16"),
                    (("http://x/", "CONCURRENCY", "0"), "CONCURRENCY"),
                    (("http://x/", "NONSENSE", "1"), "NONSENSE")):
                with self.assertRaisesRegex(Refusal, sentence) as caught:
                    client.do("Q.PUSH.SET", "app", "Work", *words)
                self.assertNotIn("hunter2", str(caught.exception))
            with self.assertRaisesRegex(Refusal, "no push of"):
                client.do("Q.PUSH.UNSET", "app", "Work")
            client.do("Q.NAMESPACE.CREATE", "old", "CLOCK", "client")
            with self.assertRaisesRegex(Refusal, "clients' clock"):
                client.do("Q.PUSH.SET", "old", "Work", "http://x/")
            self.assertEqual(client.do("Q.PUSHES", "app"), [])

    def test_a_push_is_changed_while_it_runs_outlives_a_restart_and_ends(self):
        with outside.server("--push-allow-private", "yes") as server, Worker() as one, \
                Worker() as two:
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "Work", one.href, "CONCURRENCY", 4, "TIMEOUT", 7,
                          "SECRET", self.SECRET, "HEADER", "X-Key: sesame")
                client.put("j1")
                client.until_state("j1", "complete")
                client.do("Q.PUSH.SET", "app", "Work", two.href, "SECRET", self.SECRET, "HEADER",
                          "X-Key: sesame", "TIMEOUT", "2.5")
                client.put("j2")
                client.until_state("j2", "complete")
                self.assertEqual((len(one.requests), len(two.requests)), (1, 1))
            server.restart()
            with Talk(server) as client:
                entry = client.push()
                self.assertEqual((entry["href"], entry["timeout"], entry["signed"],
                                  entry["headers"]), (two.href, 2.5, True, ["X-Key"]))
                client.put("j3")
                client.until_state("j3", "complete")
                self.assertEqual(two.requests[-1].headers["X-Key"], "sesame")
                client.do("Q.PUSH.UNSET", "app", "Work")
                client.put("j4")
                self.assertEqual(client.do("Q.PUSHES", "app"), [])
                self.assertEqual(client.state("j4"), "waiting")
            server.restart()
            with Talk(server) as client:
                self.assertEqual(client.do("Q.PUSHES", "app"), [])
                client.do("Q.PUSH.SET", "app", "Work", one.href)
                client.do("Q.NAMESPACE.DELETE", "app")
                self.assertEqual(client.do("Q.PUSHES", "app"), [])
            server.restart()

    def test_a_server_stops_while_it_connects_to_a_worker(self):
        with outside.server("--push-allow-private", "yes") as server, socket.socket() as worker, \
                contextlib.ExitStack() as fillers:
            # Nothing is accepted, and the queue of connections is full.
            worker.bind(("127.0.0.1", 0))
            worker.listen(0)
            for _ in range(8):
                filler = fillers.enter_context(socket.socket())
                filler.setblocking(False)
                filler.connect_ex(worker.getsockname())
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "Work", "http://127.0.0.1:%d/" % worker.getsockname()[1])
                client.put("j1")
                until(lambda: client.push()["running"] == 1, "the push to begin")
            server.restart()

    def test_what_is_under_way_survives_the_end_of_its_push_and_ends_with_its_namespace(self):
        end = threading.Event()
        with outside.server("--push-allow-private", "yes") as server, \
                Worker(lambda _: end.wait() and (200, b"", {})) as worker, Talk(server) as client:
            client.do("Q.PUSH.SET", "app", "Work", worker.href, "CONCURRENCY", 1)
            client.put("j1")
            client.put("j2")
            until(lambda: worker.requests, "the request")
            client.do("Q.PUSH.UNSET", "app", "Work")
            self.assertEqual(client.do("Q.PUSHES", "app"), [])
            # It comes back while its request is still there, which counts.
            client.do("Q.PUSH.SET", "app", "Work", worker.href, "CONCURRENCY", 1)
            self.assertEqual(client.push()["running"], 1)
            client.do("Q.PUSH.UNSET", "app", "Work")
            end.set()
            client.until_state("j1", "complete")
            self.assertEqual(client.state("j2"), "waiting")
            end.clear()
            client.do("Q.PUSH.SET", "app", "Work", worker.href)
            until(lambda: worker.seen("j2"), "the next request")
            client.do("Q.NAMESPACE.DELETE", "app")
            end.set()
            client.put("j3")
            self.assertEqual(client.state("j3"), "waiting")

    def test_backups_have_pushes(self):
        with outside.server() as server:
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "Work", "http://x.example/", "SECRET", self.SECRET)
                client.do("Q.BACKUP", server.path("backup"))
            server.stop()
            folder = server.flags
            server.flags = (*folder, "--data", server.path("backup"))
            server.start()
            with Talk(server) as client:
                self.assertEqual(client.push()["href"], "http://x.example/")
            server.stop()
            server.flags = folder
            server.start()

    def test_the_config_file_sets_pushes_and_sighup_changes_them(self):
        with Worker() as one, Worker() as two:
            server = sluiced.Server(*outside.SMALL, "--push-allow-private", "yes")
            path = server.path("conf")
            server.flags += ("--config", path)

            def write(*lines):
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")

            write(f"push app Work {one.href} CONCURRENCY 2 HEADER 'X-Key: sesame' "
                  f"SECRET {self.SECRET}", f"push app Other {one.href}")
            with server, Talk(server) as client:
                client.put("j1")
                client.until_state("j1", "complete")
                self.assertEqual(one.requests[0].headers["X-Key"], "sesame")
                for words in (("Q.PUSH.SET", "app", "Work", two.href),
                              ("Q.PUSH.UNSET", "app", "Work")):
                    with self.assertRaisesRegex(Refusal, "server's settings"):
                        client.do(*words)
                self.hidden(str(client.do("CONFIG", "GET", "push")))
                self.hidden(str(client.do("Q.PUSHES", "app")))
                write(f"push app Work {two.href} SECRET {self.SECRET}")
                server.process.send_signal(signal.SIGHUP)
                until(lambda: client.push()["href"] == two.href, "the new address")
                self.assertEqual(len(client.do("Q.PUSHES", "app")), 1)
                client.put("j2")
                client.until_state("j2", "complete")
                self.assertEqual(len(two.requests), 1)
                # What a command set is there again once the config file says nothing else.
                client.do("Q.PUSH.SET", "app", "Other", one.href, "TIMEOUT", 7)
                write(f"push app Work {two.href}", f"push app Other {two.href}")
                server.process.send_signal(signal.SIGHUP)
                until(lambda: client.push("Other")["href"] == two.href, "the file's address")
                write(f"push app Work {two.href}")
                server.process.send_signal(signal.SIGHUP)
                until(lambda: client.push("Other")["href"] == one.href, "the command's address")
                self.assertEqual(client.push("Other")["timeout"], 7)
                self.assertEqual(client.push("Other")["source"], "command")
                write("push app Work nonsense")
                server.process.send_signal(signal.SIGHUP)
                until(lambda: "settings not reloaded" in "".join(server.log), "the refusal")
                self.assertEqual(client.push()["href"], two.href)
            self.hidden("".join(server.log))

    def hidden(self, text):
        self.assertNotIn(self.SECRET, text)
        self.assertNotIn("sesame", text)

    def test_http_has_them_too(self):
        flags = ("--push-allow-private", "yes", "--http", "127.0.0.1:0")
        with sluiced.Server(*outside.SMALL, *flags) as server, Worker() as worker:
            line = next(line for line in server.log if " http=" in line)
            web = http.client.HTTPConnection(line.split("http=")[1].strip(), timeout=60)

            def ask(method, path, body=None):
                web.request(method, path, body and json.dumps(body),
                            {"Content-Type": "application/json"})
                answer = web.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if text else None

            self.assertEqual(ask("PUT", "/v1/ns/app/pushes/Mail*", {
                "href": worker.href, "concurrency": 3, "timeout": 1.5, "fail_4xx": True,
                "headers": ["X-Key: sesame"], "secret": self.SECRET}), (204, None))
            status, answer = ask("GET", "/v1/ns/app/pushes")
            self.assertEqual(status, 200)
            self.assertEqual(answer["pushes"][0]["concurrency"], 3)
            self.assertTrue(answer["pushes"][0]["fail_4xx"])
            self.hidden(str(answer))
            self.assertEqual(ask("DELETE", "/v1/ns/app/pushes/Mail*"), (204, None))
            self.assertEqual(ask("DELETE", "/v1/ns/app/pushes/Mail*")[0], 404)


class Endings(unittest.TestCase):
    """What becomes of jobs that are being pushed when the server ends."""

    def test_a_stop_waits_for_answers_and_takes_no_more(self):
        go = threading.Event()
        with Worker(lambda _: go.wait() and (200, b"1", {})) as worker, \
                outside.server("--push-allow-private", "yes", "--stop-timeout", "30s") as server:
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "Work", worker.href, "CONCURRENCY", 2)
                for i in range(4):
                    client.put(f"j{i}")
                until(lambda: len(worker.requests) == 2, "two requests")
            server.process.send_signal(signal.SIGTERM)
            until(lambda: "stopping" in "".join(server.log), "the stop")
            go.set()
            self.assertEqual(server.wait(), 0)
            self.assertEqual(len(worker.requests), 2)
            server.start()
            with Talk(server) as client:
                for i in range(4):
                    client.until_state(f"j{i}", "complete")
            self.assertEqual(len(worker.requests), 4)

    def test_a_stop_gives_back_what_takes_too_long(self):
        go = threading.Event()
        with Worker(lambda _: go.wait() and (200, b"1", {})) as worker, \
                outside.server("--push-allow-private", "yes", "--stop-timeout", "100ms") as server:
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "Work", worker.href)
                client.put("j1", retries=2)
                until(lambda: worker.requests, "the request")
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            go.set()
            server.start()
            with Talk(server) as client:
                job = client.until_state("j1", "complete")
                self.assertEqual((job["remaining"], job["attempts"]), (2, 2))

    def test_after_a_kill_accepted_jobs_are_waited_for_and_sent_ones_sent_again(self):
        end = threading.Event()

        def answer(request):
            if request.task["class"] == "Later":
                return 202, b"", {}
            if len(worker.seen(request.task["id"])) == 1:
                end.wait()
            return 200, b"1", {}

        with Worker(answer) as worker, outside.server("--push-allow-private", "yes") as server:
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "*", worker.href)
                client.put("now", klass="Now")
                client.put("later", klass="Later")
                until(lambda: client.push("*")["waiting-for-report"] == 1, "the 202")
                until(lambda: len(worker.requests) == 2, "both")
                # So that what the worker said is on disk.
                client.put("other", klass="Other", delay=3600)
            server.process.kill()
            server.wait()
            server.start()
            with Talk(server) as client:
                client.until_state("now", "complete")
                self.assertEqual(client.push("*")["waiting-for-report"], 1)
                [first, second] = worker.seen("now")
                self.assertEqual(first.task["token"], second.task["token"])
                token = worker.seen("later")[0].task["token"]
                client.do("Q.COMPLETE", "app", "later", "@push", "TOKEN", token)
                self.assertEqual(len(worker.seen("later")), 1)
            end.set()

    def test_kills_lose_no_job_that_was_put(self):
        """A ledger of what was put; at the end each is complete and was pushed at least once."""
        done = collections.Counter()
        lock = threading.Lock()

        def answer(request):
            with lock:
                done[request.task["id"]] += 1
            return 200, json.dumps(request.task["id"]).encode(), {}

        rounds, each = (3, 100) if outside.SANITIZED else (6, 300)
        with Worker(answer) as worker, outside.server("--push-allow-private", "yes") as server:
            put = []
            with Talk(server) as client:
                client.do("Q.PUSH.SET", "app", "Work", worker.href, "CONCURRENCY", 50, "BACKOFF",
                          "0.01", "FAILURES", 1000000)
            for number in range(rounds):
                with Talk(server) as client:
                    before = sum(done.values())
                    for i in range(each):
                        client.put(f"r{number}-{i}", retries=100)
                        put.append(f"r{number}-{i}")
                    until(lambda: sum(done.values()) > before + number * each // rounds,
                          "some pushes")
                server.process.kill()
                server.wait()
                server.start()
            with Talk(server) as client:
                until(lambda: client.do("Q.COUNT", "app", "STATE", "complete") == len(put),
                      "all to be complete")
                for jid in put:
                    self.assertEqual(json.loads(client.job(jid)["result"]), jid)
                    self.assertGreaterEqual(done[jid], 1)
            again = sum(count > 1 for count in done.values())
            print(f"# {len(put)} jobs, of which {again} were pushed more than once")


if __name__ == "__main__":
    sluiced.main()
