#!/usr/bin/python3
"""A pop hands out as many jobs as its reply has room for, on every face; one that fits no reply is
reported and stops no client; and no command changes something that it then cannot say."""

import json
import unittest

import outside
import sluiced
import web

LIBRARY = ("local Qless = {ns = 'ql:'} Qless.config = {} local QlessQueue = {} "
           "local QlessWorker = {} local QlessJob = {} local QlessRecurringJob = {} ")
QLESS = LIBRARY + "local QlessAPI = {} return QlessAPI[ARGV[1]]"
NOW = "4000000000"  # of a client of qless: later than the server's, so that no lease runs out
SIZE = 10000
SMALL = ("--max-output", "64K", "--segment-size", "1M", "--reserve-size", "1M")


def put(client, count, size=SIZE, prefix="j"):
    for i in range(count):
        client.expect(("Q.PUT", "app", "q", "K", json.dumps("x" * size), "JID", f"{prefix}{i}"),
                      f'"{prefix}{i}"')


def running(client):
    return int(client.ask("Q.COUNT app STATE running")[1:])


def jids(reply):
    return [part.split('"')[0] for part in reply.split('"jid", "')[1:]]


class Fit(unittest.TestCase):
    def test_a_pop_hands_out_what_fits_and_the_rest_next_time(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client:
            put(client, 20)
            seen = []
            while len(seen) < 20:
                given = jids(client.ask("Q.POP app w 1000 q"))
                self.assertIn(len(given), (5, 6, 2))
                seen += given
                self.assertEqual(running(client), len(seen))
            self.assertEqual(seen, [f"j{i}" for i in range(20)])
            client.expect("Q.POP app w 1000 q", "[]")

    def test_http_hands_out_what_fits(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client, \
                web.Connection(server) as browser:
            put(client, 8)
            body = json.dumps({"queues": ["q"], "worker": "w", "count": 100})
            seen = []
            while len(seen) < 8:
                answer = browser.post("/v1/ns/app/pop", body)
                self.assertEqual(answer.status, 200)
                given = [job["jid"] for job in json.loads(answer.body())["jobs"]]
                self.assertIn(len(given), (2, 3))
                seen += given
                self.assertEqual(running(client), len(seen))

    def test_qless_hands_out_what_fits(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client:
            for i in range(8):
                client.expect(("EVAL", QLESS, "0", "put", NOW, "w", "q", f"j{i}", "K",
                               json.dumps("x" * SIZE), "0"), f'"j{i}"')
            client.expect(("EVAL", QLESS, "0", "put", NOW, "w", "q", "huge", "K",
                           json.dumps("x" * 70000), "0", "priority", "9"), '"huge"')
            seen = []
            while len(seen) < 8:
                reply = client.ask("EVAL", QLESS, "0", "pop", NOW, "q", "w", "100")
                given = [job["jid"] for job in json.loads(reply[1:-1])]
                self.assertGreater(len(given), 1)
                seen += given
                self.assertEqual(client.ask("Q.COUNT qless STATE running"), f":{len(seen)}")
            self.assertRegex(client.ask("EVAL", QLESS, "0", "pop", NOW, "q", "w", "100"),
                             "^-ERR user_script:1: Pop.*job huge is larger than a reply may be")
            server.hear("namespace=qless jid=huge")

    def test_a_job_that_fits_no_reply_is_named_and_stops_nobody(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client, \
                web.Connection(server) as browser:
            put(client, 1, 100000, "huge")
            put(client, 2, 10, "small")
            self.assertEqual(jids(client.ask("Q.POP app w 1 q")), ["small0"])
            self.assertEqual(jids(client.ask("Q.POP app w 9 q")), ["small1"])
            server.hear("job larger than a reply may be; not handed out namespace=app jid=huge0")
            client.expect("Q.POP app w 9 q", "-TOO_LARGE Q.POP: job huge0 is larger than a reply "
                          "may be (65504 bytes, by max-output) and was not handed out")
            answer = browser.post("/v1/ns/app/pop", '{"queues":["q"],"worker":"w"}')
            self.assertEqual((answer.status, json.loads(answer.body())["code"]), (422, "too_large"))
            self.assertEqual(client.ask("Q.COUNT app STATE waiting"), ":1")
            # Who waits is not told of it until the time is over, and gets what comes behind it.
            client.send(*"Q.POP app w 9 WAIT 30 q".split(" "))
            with sluiced.Client(server) as other:
                sluiced.until(lambda: outside.figure(other, "clients", "blocked_clients") == 1)
                put(other, 1, 10, "late")
            self.assertEqual(jids(client.read()), ["late0"])
            client.expect("Q.POP app w 9 WAIT 0.05 q", "-TOO_LARGE Q.POP: job huge0 ...")

    def test_what_exec_has_no_room_for_is_not_run(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client:
            put(client, 10)
            client.expect("MULTI", "+OK")
            for _ in range(10):
                client.expect("Q.POP app w 1 q", "+QUEUED")
            client.expect("Q.PUT app other K {} JID last", "+QUEUED")
            reply = client.ask("EXEC")
            given = jids(reply)
            self.assertIn(len(given), (5, 6))
            self.assertEqual(running(client), len(given))
            self.assertEqual(reply.count("-TOO_LARGE") + reply.count('"last"') + len(given), 11)
            # An answer that is only looked up may be too large, and takes nothing from the others.
            client.expect("MULTI", "+OK")
            for _ in range(3):
                client.expect("Q.JOBS app running q", "+QUEUED")
            client.expect("Q.LENGTH app q", "+QUEUED")
            reply = client.ask("EXEC")
            self.assertEqual(reply.count("-TOO_LARGE") + reply.count('"total"'), 3)
            self.assertTrue(reply.endswith(", :10]"))

    def test_many_elements_are_run_only_as_far_as_they_can_be_answered(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client:
            words = ["Q.MPUT", "app"]
            for i in range(3000):
                words += ["3", "q", "K", "{}"]
            client.expect(tuple(words), "-TOO_LARGE Q.MPUT was not run: its reply may have ...")
            client.expect("Q.LENGTH app q", ":0")
            words = words[:2 + 4 * 800]
            for _ in range(3):
                client.send(*words)
            replies = [client.read() for _ in range(3)]
            done = sum(reply.count('"') // 2 for reply in replies)
            refused = sum(reply.count("-TOO_LARGE") for reply in replies if reply[0] == "[")
            self.assertEqual(done + refused, 800 * sum(reply[0] == "[" for reply in replies))
            client.expect("Q.LENGTH app q", f":{done}")

    def test_tags_are_given_only_when_they_can_be_said(self):
        with sluiced.Server(*SMALL) as server, sluiced.Client(server) as client:
            client.expect("Q.PUT app q K {} JID a", '"a"')
            tags = [f"{i}" + "t" * 240 for i in range(60)]
            self.assertEqual(client.ask("Q.TAG", "app", "a", *tags).count("ttt\""), 60)
            more = [f"m{i}" + "t" * 240 for i in range(200)]
            client.expect(("Q.TAG", "app", "a", *more),
                          "-TOO_LARGE Q.TAG was not run: its reply may have ...")
            self.assertEqual(client.ask("Q.UNTAG", "app", "a", "none").count("ttt\""), 60)


if __name__ == "__main__":
    sluiced.main()
