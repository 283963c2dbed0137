#!/usr/bin/python3
"""HTTP workers whose answers do not end, and the server's other clients meanwhile."""

import gzip
import re
import threading

from test_push import PushTest, sluiced, until

LIMIT = 64 << 10
TURN_BYTES = 64 << 10  # as push_curl.c has it
READ_MAX = 32 << 10     # what the last read may add to that, and headers
BLOCK = b"x" * 65536


def send_until_closed(request, head, block):
    """Sends the head and then the block again and again; ends when the server closes."""
    try:
        request.handler.connection.sendall(head)
        while True:
            request.handler.connection.sendall(block)
    except OSError:
        return


def figure(client, name):
    return int(re.search(rf"^{name}:(\d+)", client.do("INFO", "stats"), re.MULTILINE).group(1))


ENDLESS = {
    "body": (b"HTTP/1.1 200 OK\r\n\r\n", BLOCK),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
               b"10000\r\n" + BLOCK + b"\r\n"),
    "declared": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", BLOCK),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-Header: value\r\n" * 100),
    "trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                 b"X-Header: value\r\n" * 100),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "accepted": (b"HTTP/1.1 202 Accepted\r\n\r\n", BLOCK),
    "extension": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", BLOCK),
    "extensions": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                   b"1;" + b"x" * 1000 + b"\r\n1\r\n"),
}
# libcurl has limits of its own for one line.
ENDLESS_LINES = {
    "status": (b"HTTP/1.1 200 ", BLOCK),
    "header": (b"HTTP/1.1 200 OK\r\nX-Header: ", BLOCK),
    "trailer": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: ", BLOCK),
}


class Endless(PushTest):
    flags = (*PushTest.flags, "--max-payload", str(LIMIT))

    def test_an_answer_without_end_is_ended_at_max_payload_and_is_a_failure(self):
        for name, (head, block) in ENDLESS.items():
            with self.subTest(name):
                worker = self.worker(
                    lambda request, head=head, block=block: send_until_closed(request, head, block))
                self.push(worker, "TIMEOUT", "3600", pattern=name)
                before = self.received()
                self.client.put(name, klass=name, retries=0)
                job = self.client.until_state(name, "failed")
                self.assertEqual(job["failure"]["group"], "push:too-large")
                self.assertEqual(job["failure"]["message"],
                                 f"the worker's answer is larger than max-payload ({LIMIT} bytes)")
                self.assertLess(self.received() - before, 4 * LIMIT)
                until(lambda worker=worker: worker.running == 0, "the connection to be closed")

    def test_an_answer_with_a_line_without_end_is_ended_and_is_a_failure(self):
        for name, (head, block) in ENDLESS_LINES.items():
            with self.subTest(name):
                worker = self.worker(
                    lambda request, head=head, block=block: send_until_closed(request, head, block))
                self.push(worker, "TIMEOUT", "3600", pattern=name)
                self.client.put(name, klass=name, retries=0)
                job = self.client.until_state(name, "failed")
                self.assertIn(job["failure"]["group"], ("push:too-large", "push:broken"))
                until(lambda worker=worker: worker.running == 0, "the connection to be closed")

    def test_a_status_that_refuses_the_job_counts_though_its_body_does_not_end(self):
        worker = self.worker(lambda request: send_until_closed(
            request, b"HTTP/1.1 400 Bad Request\r\n\r\n", BLOCK))
        self.push(worker, "TIMEOUT", "3600", "FAIL-4XX")
        self.client.put("j1", retries=5)
        job = self.client.until_state("j1", "failed")
        self.assertEqual(job["failure"]["group"], "push:400")
        self.assertEqual(len(worker.requests), 1)

    def test_an_answer_of_max_payload_is_kept_whole(self):
        text = b'"' + b"x" * (LIMIT - 2) + b'"'
        worker = self.worker(lambda _: (200, text, {}))
        self.push(worker)
        self.client.put("j1")
        self.assertEqual(self.client.until_state("j1", "complete")["result"], text.decode())

    def test_an_answer_in_small_chunks_is_kept_whole(self):
        text = b'"' + b"x" * (LIMIT // 8) + b'"'
        chunks = b"".join(b"1\r\n" + text[i:i + 1] + b"\r\n" for i in range(len(text)))
        worker = self.worker(lambda request: request.handler.connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"))
        self.push(worker)
        self.client.put("j1")
        self.assertEqual(self.client.until_state("j1", "complete")["result"], text.decode())

    def test_each_answer_on_a_kept_connection_may_be_as_large(self):
        worker = self.worker(lambda _: (200, b'"' + b"x" * (LIMIT - 2) + b'"', {}))
        self.push(worker)
        for i in range(10):
            self.client.put(f"j{i}", retries=0)
            self.client.until_state(f"j{i}", "complete")
        self.assertEqual(len({request.handler.client_address for request in worker.requests}), 1)

    def test_a_compressed_answer_is_not_unpacked(self):
        bomb = gzip.compress(b"0" * (100 * LIMIT))
        self.assertLess(len(bomb), LIMIT)
        worker = self.worker(lambda _: (200, bomb, {"Content-Encoding": "gzip"}))
        self.push(worker)
        before = self.received()
        self.client.put("j1")
        self.client.until_state("j1", "complete")
        self.assertNotIn("Accept-Encoding", worker.requests[0].headers)
        self.assertLess(self.received() - before, LIMIT)

    def test_a_redirect_is_not_followed(self):
        other = self.worker()
        worker = self.worker(lambda _: (307, b"", {"Location": other.href}))
        self.push(worker)
        self.client.put("j1", retries=0)
        self.assertEqual(self.client.until_state("j1", "failed")["failure"]["group"], "push:307")
        self.assertEqual(other.requests, [])

    def test_an_answer_that_drips_holds_up_nothing(self):
        go = threading.Event()
        self.addCleanup(go.set)

        def drip(request):
            request.handler.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1")
            go.wait(sluiced.LIMIT_S)
            request.handler.connection.sendall(b"23")
        worker = self.worker(drip)
        self.push(worker)
        self.client.put("slow")
        until(lambda: worker.running == 1)
        self.push(self.worker(), pattern="Fast")
        self.client.put("fast", klass="Fast")
        self.client.until_state("fast", "complete")
        self.assertEqual(self.client.state("slow"), "running")
        go.set()
        self.assertEqual(self.client.until_state("slow", "complete")["result"], "123")

    def received(self):
        return figure(self.client, "push_received_bytes")


class Share(PushTest):
    """Many large answers at once: the loop reads a share of them in a turn."""

    flags = (*PushTest.flags, "--max-payload", "64MiB", "--max-request", "64MiB")
    WORKERS = 40

    def test_a_turn_reads_no_more_than_its_share(self):
        go = threading.Event()
        self.addCleanup(go.set)
        body = b'"' + b"x" * (2 << 20) + b'"'

        def large(request):
            go.wait(sluiced.LIMIT_S)
            return 200, body, {}
        worker = self.worker(large)
        self.push(worker, "CONCURRENCY", self.WORKERS)
        for index in range(self.WORKERS):
            self.client.put(f"j{index}")
        until(lambda: worker.running == self.WORKERS, "all to be under way")
        turns, received = figure(self.client, "turns"), figure(self.client, "push_received_bytes")
        go.set()
        for index in range(self.WORKERS):
            self.client.until_state(f"j{index}", "complete")
        received = figure(self.client, "push_received_bytes") - received
        turns = figure(self.client, "turns") - turns
        self.assertGreaterEqual(received, self.WORKERS * len(body))
        self.assertLessEqual(received, turns * (TURN_BYTES + READ_MAX))


if __name__ == "__main__":
    sluiced.main()
