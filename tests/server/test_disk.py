#!/usr/bin/python3
"""A disk that is full, and one that fails: what could not be stored is refused, never acknowledged;
what is there can be read; and afterwards all that was acknowledged is there."""

import json
import os
import resource
import signal
import socket
import tempfile
import threading
import time
import unittest
from unittest import mock

import outside
import sluiced
import web
from outside import request
from small_disk import SmallDisk

DATA = '{"pad":"' + "x" * 50000 + '"}'


class Full(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = outside.server("--checkpoint-interval", "100ms", "--max-payload", "32M",
                                     "--max-request", "32M")
        disk = self.disk = SmallDisk(self.server, "20m")
        self.addCleanup(disk.close)
        if not disk.works:
            self.skipTest("the system allows no mounts in a user namespace")
        with open(disk.path("ballast"), "wb") as file:
            file.write(bytes(8 * outside.MIB))
        patch = mock.patch.dict(os.environ, {"SLUICED": disk.wrapper(folder.name)})
        patch.start()
        self.addCleanup(patch.stop)

    def fill(self, client, first=0):
        """Puts until it is refused; gives how many there are then."""
        for count in range(first, 1000):
            reply = client.ask("Q.PUT", "app", "mail", "Send", DATA, "JID", f"j{count}")
            if reply != f'"j{count}"':
                self.assertTrue(reply.startswith("-NO_SPACE "), reply)
                return count
        self.fail("it is never full")

    def test_puts_are_refused_reads_are_answered_and_jobs_can_be_completed(self):
        with self.server as server, sluiced.Client(server) as client:
            for i in range(5):
                client.expect(f"Q.PUT app early Send {{}} JID e{i}", f'"e{i}"')
            self.assertIn('"e4"', client.ask("Q.POP app w 5 early"))
            count = self.fill(client)
            print(f"# full after {count} jobs")
            client.expect("Q.LENGTH app mail", f":{count}")
            self.assertIn('"j0"', client.ask("Q.GET app j0"))
            self.assertIn("store_state:full", client.ask("INFO persistence"))
            for i in range(5):
                client.expect(f"Q.COMPLETE app e{i} w", '"complete"')
            # A checkpoint may have made a little room meanwhile; then it is full again.
            count = self.fill(client, count)

            # All of it is there in a new server, which is full as well.
            server.process.kill()
            server.wait()
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", f":{count}")
                for i in range(5):
                    self.assertIn('"state", "complete"', again.ask(f"Q.GET app e{i}"))
                self.make_room(again, count)

    def test_recurring_jobs_make_no_jobs_until_there_is_room(self):
        with self.server as server, sluiced.Client(server) as client:
            client.expect("Q.RECUR app r ticks Tick {} INTERVAL 0.1", "+OK")
            count = 0
            grown = []
            # Checkpoints may make a little room; then it is filled again.
            for _ in range(10):
                count = self.fill(client, count)
                before = int(client.ask("Q.LENGTH app ticks")[1:])
                client.expect("Q.POP app w 1 WAIT 1 nothing", "[]")  # the time of ten runs
                if "store_state:full" in client.ask("INFO persistence"):
                    grown.append(int(client.ask("Q.LENGTH app ticks")[1:]) - before)
            self.assertIn(0, grown)
            for i in range(count):
                client.expect(f"Q.CANCEL app j{i}", ":1")
            os.remove(self.disk.path("ballast"))
            self.assertIn('"r-', client.ask("Q.POP app w 1 WAIT 0 ticks"))
            sluiced.until(lambda: int(client.ask("Q.LENGTH app ticks")[1:]) > before + 20)

    def make_room(self, client, count):
        for i in range(count):
            client.expect(f"Q.CANCEL app j{i}", ":1")
        os.remove(self.disk.path("ballast"))
        end = time.monotonic() + sluiced.LIMIT_S
        while (reply := client.ask("Q.PUT", "app", "mail", "Send", DATA, "JID", "last")) != '"last"':
            self.assertTrue(reply.startswith("-NO_SPACE "), reply)
            self.assertLess(time.monotonic(), end, "there is room, but it does not see it")
        client.expect("Q.LENGTH app mail", ":1")
        self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))

    def test_a_pipeline_that_runs_into_it_gets_an_answer_for_each_request(self):
        with self.server as server, sluiced.Client(server) as client, \
                sluiced.Client(server) as other:
            writer = threading.Thread(target=client.send_raw, args=(
                b"".join(request("Q.PUT", "app", "mail", "Send", DATA, "JID", f"j{i}") +
                         request("PING") for i in range(500)),))
            writer.start()
            taken = []
            for i in range(500):
                reply = client.read()
                if reply == f'"j{i}"':
                    taken.append(reply.strip('"'))
                else:
                    self.assertRegex(reply, "^-(NO_SPACE|BUSY) ")
                client.hear("+PONG")
            writer.join()
            self.assertLess(len(taken), 500)
            for jid in taken:
                self.assertIn('"state", "waiting"', other.ask("Q.GET", "app", jid))
            other.expect("Q.LENGTH app mail", f":{len(taken)}")
            server.process.kill()
            server.wait()
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", f":{len(taken)}")

    def pid(self):
        """The server's own process: the one that was started has become it."""
        return self.server.process.pid

    def crowd(self, count, each):
        """Clients that have sent puts while the server stands still, as much as fits."""
        clients = []
        os.kill(self.pid(), signal.SIGSTOP)
        for number in range(count):
            client = sluiced.Client(self.server)
            self.addCleanup(client.close)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * outside.MIB)
            client.socket.setblocking(False)
            client.rest = b"".join(
                request("Q.PUT", "app", "mail", "Send", DATA, "JID", f"j{number}-{i}")
                for i in range(each))
            try:
                while client.rest:
                    client.rest = client.rest[client.socket.send(client.rest):]
            except BlockingIOError:
                pass
            client.socket.settimeout(sluiced.LIMIT_S)
            clients.append(client)
        os.kill(self.pid(), signal.SIGCONT)
        return clients

    def test_many_that_run_into_it_at_once_get_an_answer_for_each_request(self):
        count, each = 50, 10
        with self.server as server, sluiced.Client(server) as other:
            clients = self.crowd(count, each)
            writers = [threading.Thread(target=client.send_raw, args=(client.rest,))
                       for client in clients]
            for writer in writers:
                writer.start()
            taken = []
            for number, client in enumerate(clients):
                for i in range(each):
                    reply = client.read()
                    if reply == f'"j{number}-{i}"':
                        taken.append(reply.strip('"'))
                    else:
                        self.assertRegex(reply, "^-(NO_SPACE|BUSY) ")
            for writer in writers:
                writer.join()
            print(f"# {len(taken)} of {count * each} were taken")
            self.assertLess(len(taken), count * each)
            other.expect("Q.LENGTH app mail", f":{len(taken)}")
            server.process.kill()
            server.wait()
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", f":{len(taken)}")
                for jid in taken:
                    self.assertIn('"state", "waiting"', again.ask("Q.GET", "app", jid))

    def get_stuck(self, client, other):
        """A job that fits into the journal only where there is more space than here."""
        other.expect("Q.PUT app mail Send {} JID early", '"early"')
        client.send("Q.PUT", "app", "mail", "Send", '"' + "x" * (8 * outside.MIB) + '"',
                    "JID", "large")
        end = time.monotonic() + sluiced.LIMIT_S
        while "store_state:stuck" not in other.ask("INFO persistence"):
            self.assertLess(time.monotonic(), end, "it does not say that it is stuck")

    def test_what_the_journal_has_no_room_for_waits_for_space_and_nothing_else_does(self):
        with self.server as server, sluiced.Client(server) as client, \
                sluiced.Client(server) as other:
            self.get_stuck(client, other)
            other.expect("PING", "+PONG")
            other.expect("Q.LENGTH app mail", ":2")
            self.assertIn('"early"', other.ask("Q.GET app early"))
            other.expect("Q.PUT app mail Send {}", "-NO_SPACE ...")
            other.expect("Q.CANCEL app early", "-NO_SPACE ...")
            other.expect("Q.POP app w 1 mail", "-NO_SPACE ...")
            other.expect("Q.LENGTH app mail", ":2")
            os.remove(self.disk.path("ballast"))
            client.hear('"large"')
            other.expect("Q.CANCEL app early", ":1")
            server.process.kill()
            server.wait()
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", ":1")
                self.assertIn('"state", "waiting"', again.ask("Q.GET app large"))

    def test_over_http_it_is_said_as_well(self):
        self.server.flags = (*self.server.flags, "--http", "127.0.0.1:0")
        with self.server as server, sluiced.Client(server) as client, web.Connection(server) as http:
            self.fill(client)
            put = json.dumps({"klass": "Send", "data": json.loads(DATA)})
            answer = http.post("/v1/ns/app/queues/mail/jobs", put)
            self.assertEqual((answer.status, answer.headers["retry-after"]), (507, "30"))
            self.assertEqual(json.loads(answer.body())["code"], "no_space")
            status, body = http.get("/readyz")[:2]
            ready = json.loads(body)
            self.assertEqual((status, ready["state"]), (200, "full"))
            self.assertIn("space", ready["reason"].lower())
            self.assertIn("docs/operations.md", ready["hint"])
            self.assertIn("store_hint:", client.ask("INFO persistence"))
            self.assertEqual(http.post("/v1/ns/app/jobs/j0/cancel", "{}").status, 200)

    def wait_for(self, client, wanted):
        end = time.monotonic() + sluiced.LIMIT_S
        while wanted not in (info := client.ask("INFO persistence")):
            self.assertLess(time.monotonic(), end, f"no {wanted} in {info}")
            time.sleep(0.01)

    def size(self):
        """What the data folder takes on the disk."""
        total = 0
        for path, _, names in os.walk(self.disk.path("")):
            for name in names:
                if name != "ballast":
                    try:
                        total += os.lstat(os.path.join(path, name)).st_blocks * 512
                    except FileNotFoundError:
                        pass
        return total

    def wait_for_size(self, size):
        end = time.monotonic() + sluiced.LIMIT_S
        while (total := self.size()) > size + 64 * 1024:
            self.assertLess(time.monotonic(), end, f"the folder has {total} bytes, a new one {size}")
            time.sleep(0.01)

    def pop(self, client):
        reply = client.ask("Q.POP app w 1 mail")
        self.assertTrue(reply.startswith('[["jid", "'), reply[:100])
        return reply.split('"')[3]

    def test_workers_drain_it_and_it_is_ready_again_and_as_small_as_new(self):
        # A reserve that the base can be made anew in.
        self.server.flags = (*self.server.flags, "--reserve-size", "4M")
        os.truncate(self.disk.path("ballast"), 2 * outside.MIB)
        with self.server as server, sluiced.Client(server) as client:
            client.expect("Q.PUT app mail Send {} JID first", '"first"')
            client.expect("Q.CANCEL app first", ":1")
            client.expect("Q.CONFIG.SET app jobs-history-count 0", "...")
            size = self.size()
            count = self.fill(client)
            with sluiced.Client(server) as waiting:
                waiting.send("Q.POP", "app", "w", 1, "WAIT", 0, "later")
                for act, after in (("Q.RETRY", None), ("Q.FAIL", "smtp refused")):
                    client.ask(act, "app", self.pop(client), "w", *(after or "").split())
                client.expect("Q.UNFAIL app smtp mail COUNT 1", ":1")
                for _ in range(count):
                    client.expect(f"Q.COMPLETE app {self.pop(client)} w", '"complete"')
                self.wait_for(client, "store_state:ready")
                client.expect("Q.PUT app later Send {} JID late", '"late"')
                self.assertIn('"late"', waiting.read())
            client.expect("Q.COMPLETE app late w", '"complete"')
            self.wait_for_size(size)
            self.fill(client)
            server.process.kill()
            server.wait()
            server.start()
            with sluiced.Client(server) as again:
                count = int(again.ask("Q.LENGTH app mail")[1:])
                for i in range(count):
                    again.expect(f"Q.CANCEL app j{i}", ":1")
                self.wait_for(again, "store_state:ready")
                self.wait_for_size(size)
                self.assertIn('"broken", :0', again.ask("Q.CHECK app FORCE"))

    def test_what_waits_for_space_is_refused_when_the_server_is_stopped(self):
        with self.server as server, sluiced.Client(server) as client, \
                sluiced.Client(server) as other:
            self.get_stuck(client, other)
            server.process.terminate()
            client.hear("-NO_SPACE ...")
            self.assertEqual(server.wait(), 1)
            self.assertIn("store failed: refusing all changes", "".join(server.log))
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", ":1")
                again.expect("Q.CANCEL app early", ":1")


class Failed(unittest.TestCase):
    """A limit on the size of files makes writes fail: one of 0, so that none is torn."""

    def limit(self, server, size):
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    def test_nothing_is_acknowledged_after_a_write_failed(self):
        server = outside.server()
        server.start()
        self.addCleanup(server.__exit__)
        clients = [sluiced.Client(server) for _ in range(4)]
        for client in clients:
            self.addCleanup(client.close)
        waiting = sluiced.Client(server)
        self.addCleanup(waiting.close)
        waiting.send("Q.POP", "app", "w", 1, "WAIT", 0, "nothing")
        count = 3000
        taken = set()
        counts = [0] * len(clients)

        def work(index):
            client = clients[index]
            writer = threading.Thread(target=client.send_raw, args=(
                b"".join(request("Q.PUT", "app", "mail", "Send", "{}", "JID", f"j{index}-{i}")
                         for i in range(count)),))
            writer.start()
            for i in range(count):
                reply = client.read()
                counts[index] += 1
                if reply == f'"j{index}-{i}"':
                    taken.add(reply.strip('"'))
                    if index == 0 and i == 100:
                        self.limit(server, 0)
                else:
                    assert reply.startswith("-IO "), reply
            writer.join()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, [count] * len(clients))
        print(f"# {len(taken)} of {count * len(clients)} were taken before it failed")
        self.assertLess(len(taken), count * len(clients))
        client = clients[0]
        client.expect("PING", "+PONG")
        self.assertIn("store_state:failed", client.ask("INFO persistence"))
        client.expect("Q.PUT app mail Send {}", "-IO ...")
        self.assertTrue(client.ask("Q.LENGTH app mail").startswith(":"))
        server.process.terminate()
        self.assertEqual(server.wait(), 1)

        server.start()
        self.check_taken(server, taken)

    def check_taken(self, server, taken):
        with sluiced.Client(server) as again:
            for jid in sorted(taken):
                again.send("Q.GET", "app", jid)
            for jid in sorted(taken):
                self.assertIn('"state", "waiting"', again.read())
            self.assertIn('"broken", :0', again.ask("Q.CHECK app FORCE"))

    def pipeline(self, server, taken, head):
        """Puts behind each other on a connection; gives the answer behind the last that worked."""
        count = 3000
        requests = []
        for i in range(count):
            body = json.dumps({"klass": "Send", "data": i, "jid": f"{head}{i}"})
            requests.append("POST /v1/ns/app/queues/mail/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                            f"application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}")
            if head == "head":
                requests.append("HEAD /v1/ns HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with web.Connection(server) as http:
            # The server may stop reading before all is sent.
            def write():
                try:
                    http.socket.sendall("".join(requests).encode())
                except ConnectionError:
                    pass
            writer = threading.Thread(target=write)
            writer.start()
            for i in range(count):
                answer = web.Answer(http.file)
                if answer.status != 201:
                    break
                taken.add(json.loads(answer.body())["jid"])
                if head == "head":
                    answer = web.Answer(http.file)
                    if answer.status != 200:
                        break
                if i == 100:
                    self.limit(server, 0)
            text = answer.body()
            try:
                self.assertEqual(http.file.read(1), b"", "something follows the last answer")
            except ConnectionError:
                pass
            writer.join()
        return answer, text

    def test_over_http_nothing_waits_behind_what_is_lost(self):
        server = outside.server("--http", "127.0.0.1:0")
        server.start()
        self.addCleanup(server.__exit__)
        with web.Connection(server) as http, web.Connection(server) as other:
            self.assertEqual(other.get("/healthz")[0], 200)
            self.limit(server, 0)
            put, pop = '{"klass":"Send","data":1}', '{"queues":["none"],"worker":"w","wait":0.1}'
            http.socket.sendall("".join(
                f"POST /v1/ns/app/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}"
                for path, body in (("queues/mail/jobs", put), ("pop", pop))).encode() + b"GET")
            answer = web.Answer(http.file)
            self.assertEqual((answer.status, json.loads(answer.body())["code"]), (503, "io"))
            self.assertEqual(other.get("/healthz")[0], 200)
        server.process.terminate()
        self.assertEqual(server.wait(), 1)

    def test_over_http_the_first_that_is_lost_is_told_and_is_the_last(self):
        for head in ("get", "head"):
            server = outside.server("--http", "127.0.0.1:0")
            server.start()
            taken = set()
            answer, text = self.pipeline(server, taken, head)
            self.assertEqual((answer.status, answer.headers["connection"]), (503, "close"))
            if head == "get":
                self.assertEqual(json.loads(text)["code"], "io")
            print(f"# {len(taken)} were taken before it failed")
            with web.Connection(server) as http:
                self.assertEqual(http.get("/readyz")[0], 503)
                self.assertEqual(http.get("/healthz")[0], 200)
                answer = http.post("/v1/ns/app/queues/mail/jobs", '{"klass":"Send","data":1}')
                self.assertEqual((answer.status, answer.headers["retry-after"]), (503, "1"))
            server.process.terminate()
            self.assertEqual(server.wait(), 1)
            server.start()
            self.check_taken(server, taken)
            server.__exit__()


if __name__ == "__main__":
    sluiced.main()
