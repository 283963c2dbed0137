#!/usr/bin/python3
"""Events over HTTP: who is told what, when, and how one that was cut off goes on."""

import json
import os
import signal
import socket
import tempfile
import time
from unittest import mock

import case
import outside
import sluiced
import web
from small_disk import SmallDisk

EVENTS = "/v1/ns/app/events"


class Case(case.Case):
    def listen(self, server, path=EVENTS, **more):
        listener = web.Listener(server, path, **more)
        self.addCleanup(listener.close)
        return listener

    def hear(self, listener, *wanted):
        """Compares the kinds and jobs of the events that come next."""
        given = []
        for _ in wanted:
            event = listener.next()
            given.append(event and (event.kind, event.data.get("jid")))
        self.assertEqual(given, list(wanted))

    def refused(self, server, status, sentence, path, **headers):
        with web.Connection(server) as connection:
            given, body = connection.get(path, **headers)
            self.assertEqual(given, status, body)
            self.assertIn(sentence, body)


class Telling(Case):
    def test_an_event_has_a_number_a_kind_and_its_json(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        client.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        client.expect("Q.PUT app mail Send {} JID bob", '"bob"')
        first, second = listener.next(), listener.next()
        self.assertEqual((first.kind, first.data["event"], first.data["jid"], first.data["queue"]),
                         ("put", "put", "ann", "mail"))
        self.assertIsInstance(first.data["when"], float)
        self.assertEqual([first.id, second.id], [listener.start + 1, listener.start + 2])

    def test_the_life_of_a_job(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        client.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        client.ask("Q.POP app w 1 mail")
        client.expect("Q.COMPLETE app ann w", '"complete"')
        client.expect("Q.PUT app mail Send {} JID bob", '"bob"')
        client.expect("Q.CANCEL app bob", ":1")
        self.hear(listener, ("put", "ann"), ("completed", "ann"), ("put", "bob"),
                  ("canceled", "bob"))

    def test_a_completed_job_names_its_worker(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        client.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        for queue, more in (("mail", " NEXT fax"), ("fax", "")):
            self.assertIn('"ann"', client.ask(f"Q.POP app w-{queue} 1 {queue}"))
            client.ask(f"Q.COMPLETE app ann w-{queue}{more}")
        workers = {}
        while "completed" not in workers:
            event = listener.next()
            workers[event.kind] = event.data.get("worker")
        self.assertEqual(workers, {"put": None, "advanced": "w-mail", "completed": "w-fax"})
        with web.Connection(server) as connection:
            _, body = connection.get("/v1/ns/app/jobs/ann/history")
        self.assertEqual([(entry["what"], entry["worker"]) for entry in
                          json.loads(body)["history"]],
                         [("put", None), ("popped", "w-mail"), ("done", "w-mail"), ("put", None),
                          ("popped", "w-fax"), ("done", "w-fax")])

    def test_the_stream_says_when_to_come_back(self):
        server = self.serve("--events-retry", "250ms")
        listener = self.listen(server)
        self.assertEqual(listener.any().retry, 250)

    def test_filters(self):
        server = self.serve()
        client = self.client(server)
        paths = {
            "?queue=mail": [("put", "a"), ("put", "c"), ("completed", "a")],
            "?queue=fax&queue=te%20lex": [("put", "b"), ("put", "d")],
            "?jid=a&jid=b": [("put", "a"), ("put", "b"), ("popped", "a"), ("completed", "a")],
            "?kind=completed": [("completed", "a")],
            "?kind=completed&kind=put&queue=mail": [("put", "a"), ("put", "c"), ("completed", "a")],
            "?tracked=true": [("track", "c"), ("popped", "c"), ("canceled", "c")],
            "?tracked=false&jid=d": [("put", "d")],
            "?worker=w": [("canceled", "c")],
            "?worker=somebody&worker=w&kind=canceled": [("canceled", "c")],
        }
        listeners = {path: self.listen(server, EVENTS + path).started() for path in paths}
        client.expect(("Q.PUT", "app", "mail", "Send", "{}", "JID", "a"), '"a"')
        client.expect(("Q.PUT", "app", "fax", "Send", "{}", "JID", "b"), '"b"')
        client.expect(("Q.PUT", "app", "mail", "Send", "{}", "JID", "c"), '"c"')
        client.expect(("Q.PUT", "app", "te lex", "Send", "{}", "JID", "d"), '"d"')
        self.assertIn('"a"', client.ask("Q.POP app w 1 mail"))
        client.expect("Q.COMPLETE app a w", '"complete"')
        client.expect("Q.TRACK app c", ":1")
        self.assertIn('"c"', client.ask("Q.POP app w 1 mail"))
        client.expect("Q.CANCEL app c", ":1")
        for path, wanted in paths.items():
            with self.subTest(path):
                self.hear(listeners[path], *wanted)

    def test_only_who_asked_for_the_namespace_is_told(self):
        server = self.serve()
        client = self.client(server)
        other = self.listen(server, "/v1/ns/other/events").started()
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        client.expect("Q.PUT other mail Send {} JID b", '"b"')
        self.hear(other, ("put", "b"))

    def test_what_cannot_be_asked_for_is_refused_by_name(self):
        server = self.serve()
        for query, sentence in {
                "?kind=exploded": "kind: there is no event exploded",
                "?colour=red": "there is no parameter colour",
                "?queue=": "queue: it must be a name of 1 to 255 bytes",
                "?jid=" + "x" * 256: "jid: it must be a name of 1 to 255 bytes",
                "?queue=%zz": "queue: its value is badly escaped",
                "?tracked=maybe": "tracked: it must be true or false, not maybe",
                "?last_event_id=x": "last_event_id: it must be the number of an event, not x",
                "?last_event_id=-1": "last_event_id: it must be the number of an event, not -1",
        }.items():
            with self.subTest(query):
                self.refused(server, 400, sentence, EVENTS + query)
        self.refused(server, 400, "last_event_id", EVENTS, Last_Event_ID="abc")
        with web.Connection(server) as connection:
            self.assertEqual(connection.get(f"/v1/ns/{'n' * 256}/events")[0], 400)

    def test_head_tells_nothing_and_http_1_0_has_no_chunks(self):
        server = self.serve()
        with web.Connection(server) as connection:
            answer = connection.ask("HEAD", EVENTS)
            self.assertEqual((answer.status, answer.headers["content-type"]),
                             (200, "text/event-stream"))
            self.assertEqual(connection.file.read(), b"")
        client = self.client(server)
        listener = self.listen(server, version="1.0").started()
        self.assertNotIn("transfer-encoding", listener.answer.headers)
        client.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        self.hear(listener, ("put", "ann"))

    def test_a_second_request_behind_it_is_not_answered(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        listener.send("GET", "/healthz")
        client.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        self.hear(listener, ("put", "ann"))

    def test_heartbeats_come_while_nothing_happens(self):
        server = self.serve("--events-heartbeat", "1s")
        client, listener = self.client(server), self.listen(server).started()
        beats = [listener.any(), listener.any()]
        self.assertEqual([(beat.comment, beat.kind, beat.id) for beat in beats],
                         [("", None, None)] * 2)
        client.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        self.hear(listener, ("put", "ann"))

    def test_a_stop_ends_the_page(self):
        server = self.serve()
        listener = self.listen(server).started()
        server.process.terminate()
        self.assertIsNone(listener.next())
        self.assertEqual(server.wait(), 0)


class Resuming(Case):
    def test_it_goes_on_behind_the_last_event_that_was_seen(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        for jid in "abc":
            client.expect(f"Q.PUT app mail Send {{}} JID {jid}", f'"{jid}"')
        seen = listener.next().id
        listener.close()
        client.expect("Q.PUT app mail Send {} JID d", '"d"')
        for more in ({"Last_Event_ID": seen}, {"path": f"{EVENTS}?last_event_id={seen}"}):
            again = self.listen(server, **more)
            self.hear(again, ("put", "b"), ("put", "c"), ("put", "d"))
        # With a filter too; and what follows is told as ever.
        again = self.listen(server, EVENTS + "?jid=c&jid=e", Last_Event_ID=seen)
        self.hear(again, ("put", "c"))
        again.started()
        client.expect("Q.PUT app mail Send {} JID e", '"e"')
        self.hear(again, ("put", "e"))

    def test_one_that_was_told_nothing_can_come_back_too(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        listener.close()
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        self.hear(self.listen(server, Last_Event_ID=listener.start), ("put", "a"))

    def test_what_is_no_longer_kept_is_a_gap(self):
        server = self.serve("--events-kept", "3")
        client, listener = self.client(server), self.listen(server).started()
        for jid in "abcde":
            client.expect(f"Q.PUT app mail Send {{}} JID {jid}", f'"{jid}"')
        ids = [listener.next().id for _ in range(5)]
        self.hear(self.listen(server, Last_Event_ID=ids[1]), ("put", "c"), ("put", "d"), ("put", "e"))
        late = self.listen(server, Last_Event_ID=ids[0])
        gap = late.next()
        self.assertEqual((gap.kind, gap.data), ("gap", {"event": "gap", "last_event_id": ids[0],
                                                        "next_event_id": ids[2]}))
        self.hear(late, ("put", "c"), ("put", "d"), ("put", "e"))
        # A number that was never given is no better.
        self.assertEqual(self.listen(server, Last_Event_ID=ids[4] + 1).next().kind, "gap")

    def test_a_restart_is_a_gap(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        seen = listener.next().id
        listener.close()
        server.process.kill()
        server.wait()
        server.start()
        again = self.listen(server, Last_Event_ID=seen)
        gap = again.next()
        self.assertEqual((gap.kind, gap.data["last_event_id"]), ("gap", seen))
        again.started()
        self.assertGreater(again.start, seen)
        self.client(server).expect("Q.PUT app mail Send {} JID b", '"b"')
        self.hear(again, ("put", "b"))

    def test_what_nobody_listened_to_for_long_is_a_gap(self):
        server = self.serve("--events-kept-for", "1s")
        client, listener = self.client(server), self.listen(server).started()
        client.expect("Q.PUT app mail Send {} JID a", '"a"')
        seen = listener.next().id
        self.assertEqual(self.feeds(server), 1)
        listener.close()
        end = time.monotonic() + sluiced.LIMIT_S
        while self.feeds(server):
            self.assertLess(time.monotonic(), end, "it is kept for ever")
        client.expect("Q.PUT app mail Send {} JID b", '"b"')
        again = self.listen(server, Last_Event_ID=seen)
        self.assertEqual(again.next().kind, "gap")

    @staticmethod
    def feeds(server):
        with web.Connection(server) as connection:
            lines = connection.get("/metrics")[1].splitlines()
        return int(next(line for line in lines if line.startswith("sluice_event_feeds ")).split()[1])


class Rights(Case):
    FLAGS = ("--user", "ann secret app:read", "--user", "bob secret other:admin")

    def test_who_may_not_read_the_namespace_is_not_told(self):
        server = self.serve(*self.FLAGS)
        self.refused(server, 401, "who asks", EVENTS)
        self.refused(server, 401, "", EVENTS, Authorization="Bearer ann:wrong")
        self.refused(server, 403, "user bob has no right to read the namespace app", EVENTS,
                     Authorization="Bearer bob:secret")
        self.listen(server, Authorization="Bearer ann:secret").started()

    def test_a_right_that_is_taken_away_ends_it(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = os.path.join(folder.name, "sluiced.conf")

        def write(rights):
            with open(config, "w", encoding="utf-8") as file:
                file.write(f"user ann secret {rights}\nuser eve secret *:admin\n")
            os.chmod(config, 0o600)

        write("app:read")
        server = self.serve("--config", config)
        listener = self.listen(server, Authorization="Bearer ann:secret").started()
        write("other:read")
        server.process.send_signal(signal.SIGHUP)
        self.assertIsNone(listener.next())


class Slow(Case):
    def test_one_that_does_not_read_is_closed(self):
        server = self.serve("--max-output", "256K")
        client = self.client(server)
        slow = self.listen(server, receive_size=4096)
        before = outside.resident(server)
        queue = "q" * 255
        end = time.monotonic() + sluiced.LIMIT_S
        while outside.figure(client, "clients", "connected_clients") > 1:
            self.assertLess(time.monotonic(), end)
            client.send_raw(outside.request("Q.PUT", "app", queue, "k", "{}", "JID", "j") * 1000)
            for _ in range(1000):
                client.hear('"j"')
        self.assertLess(outside.resident(server) - before,
                        (128 if outside.SANITIZED else 32) * outside.MIB)
        self.assertEqual(outside.figure(client, "stats",
                                        "client_output_buffer_limit_disconnections"), 1)
        del slow

    def test_one_that_is_gone_is_forgotten(self):
        server = self.serve()
        client, listener = self.client(server), self.listen(server).started()
        listener.close()
        outside.until(client, "clients", "connected_clients", 1)

    def test_one_that_vanished_without_a_word_is_noticed_by_the_heartbeat(self):
        """In the repair mode of TCP a socket is closed without anything being sent."""
        server = self.serve("--events-heartbeat", "1s", "--tcp-keepalive", "0")
        client, listener = self.client(server), self.listen(server).started()
        try:
            listener.socket.setsockopt(socket.IPPROTO_TCP, 19, 1)  # TCP_REPAIR
        except PermissionError:
            self.skipTest("TCP_REPAIR needs CAP_NET_ADMIN")
        listener.close()
        outside.until(client, "clients", "connected_clients", 1)


class Durable(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = sluiced.Server("--segment-size", "1M", "--reserve-size", "1M",
                                     "--checkpoint-interval", "100ms", "--max-payload", "32M",
                                     "--max-request", "32M")
        self.disk = SmallDisk(self.server, "20m")
        self.addCleanup(self.disk.close)
        if not self.disk.works:
            self.skipTest("the system allows no mounts in a user namespace")
        with open(self.disk.path("ballast"), "wb") as file:
            file.write(bytes(8 * outside.MIB))
        patch = mock.patch.dict(os.environ, {"SLUICED": self.disk.wrapper(folder.name)})
        patch.start()
        self.addCleanup(patch.stop)
        self.server.start()
        self.addCleanup(self.server.__exit__)

    def test_what_is_not_on_disk_is_not_told(self):
        server = self.server
        client, other = self.client(server), self.client(server)
        listener, early = self.listen(server).started(), self.listen(server).started()
        early.close()
        other.expect("Q.PUT app mail Send {} JID early", '"early"')
        self.hear(listener, ("put", "early"))
        client.send("Q.PUT", "app", "mail", "Send", '"' + "x" * (8 * outside.MIB) + '"',
                    "JID", "large")
        end = time.monotonic() + sluiced.LIMIT_S
        while "store_state:stuck" not in other.ask("INFO persistence"):
            self.assertLess(time.monotonic(), end, "it does not say that it is stuck")
        # It is there to be seen, but no client is told, not even one that connects now.
        other.expect("Q.LENGTH app mail", ":2")
        listener.socket.setblocking(False)
        with self.assertRaises(BlockingIOError):
            listener.socket.recv(1, socket.MSG_PEEK)
        listener.socket.settimeout(sluiced.LIMIT_S)
        self.refused(server, 507, "", EVENTS, Last_Event_ID=early.start)
        os.remove(self.disk.path("ballast"))
        client.hear('"large"')
        self.hear(listener, ("put", "large"))
        again = self.listen(server, Last_Event_ID=early.start)
        self.hear(again, ("put", "early"), ("put", "large"))


class Killed(Case):
    def test_all_that_was_told_is_there_after_a_kill(self):
        server = self.serve()
        for number in range(3 if outside.SANITIZED else 10):
            client, listener = self.client(server), self.listen(server).started()
            client.send_raw(b"".join(
                outside.request("Q.PUT", "app", "mail", "k", "{}", "JID", f"j{number}-{i}")
                for i in range(3000)))
            told = [listener.next().data["jid"] for _ in range(50 + 100 * number)]
            server.process.kill()
            # What has come by then counts too.
            try:
                while event := listener.next():
                    told.append(event.data["jid"])
            except (OSError, ValueError):
                pass
            server.wait()
            server.start()
            check = self.client(server)
            for jid in told:
                check.send("Q.GET", "app", jid)
            for jid in told:
                self.assertIn(f'"{jid}"', check.read())


if __name__ == "__main__":
    sluiced.main()
