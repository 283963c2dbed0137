#!/usr/bin/python3
"""Requests that are larger than allowed: the client that sends all of one before it reads gets the
reply, and not a reset connection; one that never ends is closed."""

import json

import case
import outside
import sluiced
import web
from outside import MIB, request

SIZES = (MIB + 1, 2 * MIB, 17 * MIB, 60 * MIB)


class Resp(case.Case):
    def test_a_client_that_sends_all_before_it_reads_gets_the_limit(self):
        server = self.serve()
        other = self.client(server)
        for size in SIZES:
            for words in (("Q.PUT", "app", "mail", "Send"),
                          ("EVAL", "return qless.put()", "0", "put")):
                client = self.client(server)
                client.send(*words, b"x" * size)
                client.hear(f"-TOO_LARGE a word of {size} bytes; at most {MIB} are allowed")
                client.hear(None)
        self.assertIn("protocol=resp", server.hear("request too large"))
        many = len(SIZES) * 2
        self.assertEqual(outside.figure(other, "stats", "oversized_request_disconnections"), many)
        client = self.client(server)
        client.send("Q.PUT", *["x" * 1000000] * 20)
        client.hear("-TOO_LARGE a request of at least 1...")
        client = self.client(server)
        client.send(*["x"] * 20000)
        client.hear("-TOO_LARGE a request of 20000 words; at most 16384 are allowed")
        client = self.client(server)
        client.send_raw(b"x" * (3 * MIB))
        client.hear(f"-TOO_LARGE an inline request of more than {MIB} bytes; at most {MIB} are "
                    "allowed")
        other.expect("PING", "+PONG")

    def test_replies_to_requests_before_it_come_first(self):
        client = self.client(self.serve())
        client.send_raw(request("PING") * 100 + request("ECHO", b"x" * (5 * MIB)))
        for _ in range(100):
            client.hear("+PONG")
        client.hear("-TOO_LARGE ...")
        client.hear(None)

    def test_a_malformed_request_is_told_too(self):
        client = self.client(self.serve())
        client.send_raw(b"*1\r\n$x\r\n" + b"x" * (5 * MIB))
        client.hear("-ERR the length of word 1 of a request is not a whole number")
        client.hear(None)


class Web(case.Case):
    def refused(self, answer, limit):
        self.assertEqual(answer.status, 413)
        problem = json.loads(answer.body())
        self.assertEqual(problem["code"], "too_large")
        self.assertIn(f"at most {limit} are allowed", problem["detail"])

    def body(self, size):
        return json.dumps({"klass": "Send", "data": "x" * size})

    def test_a_client_that_sends_all_before_it_reads_gets_the_limit(self):
        server = self.serve()
        for size in SIZES:
            with web.Connection(server) as connection:
                answer = connection.post("/v1/ns/app/queues/mail/jobs", self.body(size))
                self.refused(answer, 16 * MIB if size > 16 * MIB else MIB)
        self.assertIn("protocol=http", server.hear("request too large"))

    def test_a_body_in_chunks(self):
        server = self.serve()
        with web.Connection(server) as connection:
            connection.send("POST", "/v1/ns/app/queues/mail/jobs", Content_Type="application/json",
                            Transfer_Encoding="chunked")
            chunk = b"%x\r\n%s\r\n" % (MIB, b"x" * MIB)
            connection.socket.sendall(chunk * 20 + b"0\r\n\r\n")
            self.refused(web.Answer(connection.file), 16 * MIB)

    def test_who_may_not_ask_is_told_so_instead(self):
        server = self.serve("--password", "secret")
        with web.Connection(server) as connection:
            answer = connection.post("/v1/ns/app/queues/mail/jobs", self.body(MIB // 2))
            self.assertEqual(answer.status, 401)
            self.assertEqual(answer.headers["connection"], "close")
        with web.Connection(server) as connection:
            connection.send("POST", "/v1/ns/app/queues/mail/jobs", Content_Length=20 * MIB,
                            Authorization="Basic ZGVmYXVsdDpzZWNyZXQ=")
            connection.socket.sendall(b"x" * (20 * MIB))
            self.refused(web.Answer(connection.file), 16 * MIB)


class Transactions(case.Case):
    def test_a_transaction_has_a_limit_of_commands(self):
        client = self.client(self.serve("--max-pipeline", "100"))
        client.expect("MULTI", "+OK")
        for _ in range(100):
            client.expect("PING", "+QUEUED")
        client.expect("PING", "-TOO_LARGE 100 commands are kept since MULTI; max-pipeline allows "
                      "no more")
        client.expect("EXEC", "-EXECABORT ...")
        client.expect("MULTI", "+OK")
        client.expect("PING", "+QUEUED")
        client.expect("EXEC", "[+PONG]")


class Endless(case.Case):
    """What is discarded is bounded: in bytes, in memory and in time."""

    def send_on(self, client, most):
        """Sends without an end until the server closes; gives how many bytes it took."""
        sent = 0
        block = b"x" * 65536
        try:
            while sent < most:
                sent += client.socket.send(block)
        except ConnectionError:
            return sent
        raise AssertionError(f"{sent} bytes were taken")

    def test_one_that_is_not_authenticated(self):
        server = self.serve("--password", "secret")
        other = self.client(server)
        other.expect("AUTH secret", "+OK")
        before = outside.resident(server)
        for start in (b"*2\r\n$4\r\nECHO\r\n$100000000\r\n", b"x" * 100000, b"*1\r\n$x\r\n"):
            client = self.client(server)
            client.send_raw(start)
            sent = self.send_on(client, 64 * MIB)
            print(f"# {sent >> 10} KiB taken")
        with web.Connection(server) as connection:
            connection.send("POST", "/v1/ns/app/queues/mail/jobs", Content_Length=1 << 40)
            self.send_on(connection, 64 * MIB)
        self.assertLess(outside.resident(server) - before, (64 if outside.SANITIZED else 8) * MIB)
        outside.until(other, "clients", "connected_clients", 1)

    def test_one_that_is(self):
        server = self.serve()
        other = self.client(server)
        other.expect("PING", "+PONG")
        before = outside.resident(server)
        client = self.client(server)
        client.send_raw(b"*2\r\n$4\r\nECHO\r\n$100000000\r\n")
        self.send_on(client, 512 * MIB)
        client.hear("-TOO_LARGE ...")  # what was received before the reset is still there
        self.assertLess(outside.resident(server) - before, (64 if outside.SANITIZED else 8) * MIB)

    def test_one_that_sends_nothing_more_and_stays(self):
        server = self.serve("--password", "secret")
        other = self.client(server)
        other.expect("AUTH secret", "+OK")
        client = self.client(server)
        client.send_raw(b"*2\r\n$4\r\nECHO\r\n$100000000\r\n")
        client.hear("-TOO_LARGE a word of 100000000 bytes; at most 4096 are "
                    "allowed before authentication")
        client.hear(None)
        outside.until(other, "clients", "connected_clients", 1)


if __name__ == "__main__":
    sluiced.main()
