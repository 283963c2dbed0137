#!/usr/bin/python3
"""Connections that are cut at every byte of a request and of its reply, for each call that puts or
settles jobs. Each job must be exactly as if nothing had been cut, and the call answer the same."""

import os
import select
import socket
import sys
import threading
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))

import sluiced
from real import RealServer
from shell import LIMIT_S, Shell

REQUEST, REPLY = "request", "reply"
LANES = 8  # which mostly wait: a client pauses before it asks again
STEP = 5 if os.environ.get("SANITIZED") else 1
NONE = -(2 ** 62)  # SLUICE_NONE
SHOWN = ("state", "queue", "klass", "data", "result", "priority", "retries", "remaining", "attempts",
         "crashes", "tags", "failure")


class Cutter:
    """Stands between a client and a server. Once it is armed it cuts the connection when so many bytes
    of the next request, or of the reply to it, have passed."""

    def __init__(self, port):
        self.port = port
        self.mutex = threading.Lock()
        self.way, self.left, self.before_end, self.cut = None, 0, None, False
        self.done = threading.Event()
        self.threads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"sluice://127.0.0.1:{self.listener.getsockname()[1]}"
        self.acceptor = threading.Thread(target=self._accept)
        self.acceptor.start()

    def stop(self):
        """After its clients have gone."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()
        for thread in self.threads:
            thread.join(LIMIT_S)

    def arm(self, way, count, before_end):
        with self.mutex:
            self.way, self.left, self.before_end, self.cut = way, count, before_end, False
            self.done.clear()

    def disarm(self):
        """Whether it has cut. A client that had the whole reply may be faster than what was to come
        before the end."""
        with self.mutex:
            self.way = None
            cut = self.cut
        if cut and not self.done.wait(LIMIT_S):
            raise AssertionError("what was to come before the end has not come about")
        return cut

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.threads = [thread for thread in self.threads if thread.is_alive()]
            self.threads.append(threading.Thread(target=self._serve, args=(client,)))
            self.threads[-1].start()

    def _serve(self, client):
        try:
            with client, socket.create_connection(("127.0.0.1", self.port)) as server:
                server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                greeting = {REQUEST, REPLY}  # which come in one piece each, and do not count
                while self._pass_on(client, server, greeting):
                    pass
        except OSError:
            pass  # the server is down, or either side has gone

    def _pass_on(self, client, server, greeting):
        for side in select.select([client, server], [], [])[0]:
            to, way = (server, REQUEST) if side is client else (client, REPLY)
            data = side.recv(1 << 16)
            if not data:
                return False
            with self.mutex:
                counts = self.way == way and way not in greeting
                end = counts and len(data) >= self.left
                passed = data[:self.left] if end else data
                self.left -= len(passed) if counts else 0
                if end:
                    self.way, self.cut = None, True
            greeting.discard(way)
            to.sendall(passed)
            if end:
                self.before_end()
                self.done.set()
                return False
        return True


class Lane:
    """A namespace of its own, reached through a cutter by `shell` and its handle `q`, and directly by
    `direct` and `d`, also while a call of the other is under way."""

    def __init__(self, case, server, name):
        self.case = case
        self.count = 0
        self.cutter = Cutter(server.port)
        case.addCleanup(self.cutter.stop)
        self.shell, self.direct = Shell(), Shell()
        for shell, handle, url in ((self.shell, "q", self.cutter.url),
                                   (self.direct, "d", f"sluice://127.0.0.1:{server.port}")):
            case.addCleanup(shell.__exit__, None)
            shell.open(handle, f"{url}/{name}", timeout=LIMIT_S, worker="me")
            case.addCleanup(shell.ask, "close", handle)

    def ask(self, *words):
        return self.direct.ok("call", "d", [str(word) for word in words])["value"]

    def queue(self, name):
        """What does not change with time."""
        return {key: value for key, value in self.ask("Q.QUEUE", name).items() if key not in ("age", "rates")}

    def next(self):
        self.count += 1
        return f"{self.count:05}"

    def hold(self, n, **more):
        """A job that `me` holds; its jid and its token."""
        self.direct.ok("put", "d", {"queue": "q" + n, "klass": "k", "data": "{}", "jid": "j" + n,
                                   **more})
        return self.ask("Q.POP", "me", 1, "q" + n)[0]["token"]

    def job(self, jid):
        answer = self.direct.ask("get", "d", jid)
        if answer["status"] != "ok":
            return answer["status"]
        history = [entry["what"] for entry in self.ask("Q.HISTORY", jid)]
        value = answer["value"]
        failure = value["failure"] and [value["failure"][key] for key in ("group", "message")]
        return [history, len(self.ask("Q.LOGS", jid)), *[failure if key == "failure" else value[key] for key in SHOWN]]


class Settling:
    """A call about one job that is held."""

    def __init__(self, *words, **put):
        self.words, self.put = words, put

    def prepare(self, lane, n):
        token = lane.hold(n, **self.put)
        lane.shell.ok("attach", "q", "j" + n, "me", token, "job")

    def call(self, lane, _):
        return lane.shell.ask(self.words[0], "job", *self.words[1:])

    def meanwhile(self, lane, n):
        """Another worker takes the job, if it can."""
        for queue in ("q" + n, "next"):
            lane.ask("Q.POP", "other", 1, queue)

    def observe(self, lane, n):
        return lane.job("j" + n)

    def clean(self, lane, n):
        lane.shell.ok("free", "job")
        lane.direct.ask("cancel", "d", "j" + n)


class Canceling:
    """A job is canceled."""

    def __init__(self, call):
        self.make = call

    def prepare(self, lane, n):
        self.put(lane, n)

    def put(self, lane, n):
        lane.direct.ok("put", "d", {"queue": "q" + n, "klass": "k", "data": "1", "jid": "j" + n})

    def call(self, lane, n):
        return self.make(lane, n)

    def meanwhile(self, lane, n):
        """Another job of that name is put."""
        self.put(lane, n)

    def observe(self, lane, n):
        return lane.job("j" + n)

    def clean(self, lane, n):
        lane.direct.ask("cancel", "d", "j" + n)


class ManySettling:
    """A command about two jobs that are held."""

    def __init__(self, name, *more):
        self.name, self.more = name, more

    def prepare(self, lane, n):
        self.tokens = {"j" + n: lane.hold(n), "j" + n + "b": lane.hold(n + "b")}

    def call(self, lane, n):
        words = [self.name]
        for jid, token in self.tokens.items():
            element = [jid, "me", *self.more, "TOKEN", token]
            words += [len(element), *element]
        return lane.shell.ask("call", "q", [str(word) for word in words])

    def meanwhile(self, lane, n):
        lane.ask("Q.POP", "other", 1, "q" + n, "q" + n + "b")

    def observe(self, lane, n):
        return [lane.job("j" + n), lane.job("j" + n + "b")]

    def clean(self, lane, n):
        for jid in self.tokens:
            lane.direct.ask("cancel", "d", jid)


class Putting:
    """A call that puts jobs into the queue q-n."""

    def __init__(self, call, moves=False):
        self.make, self.moves = call, moves

    def prepare(self, lane, n):
        if self.moves:
            lane.direct.ok("put", "d", {"queue": "before", "klass": "k", "data": "{}", "jid": "j" + n,
                                       "priority": 3})

    def call(self, lane, n):
        return self.make(lane, n)

    def meanwhile(self, lane, n):
        """A worker does the first one, and the others are canceled."""
        jobs = lane.ask("Q.POP", "other", 1, "q" + n)
        for job in jobs:
            lane.ask("Q.COMPLETE", job["jid"], "other")
        for job in lane.ask("Q.PEEK", "q" + n, 10):
            lane.ask("Q.CANCEL", job["jid"])
        lane.direct.ask("call", "d", ["Q.UNRECUR", "r" + n])  # there may be none

    def observe(self, lane, n):
        queue = "q" + n
        return [lane.ask("Q.COUNT", "QUEUE", queue), lane.queue(queue), lane.job("j" + n),
                [[job[key] for key in ("klass", "data", "state")]
                 for job in lane.ask("Q.PEEK", queue, 10)],
                lane.ask("Q.RECURRING", queue)["total"]]

    def clean(self, lane, n):
        lane.direct.ask("cancel", "d", "j" + n)
        for job in lane.ask("Q.PEEK", "q" + n, 10):
            lane.ask("Q.CANCEL", job["jid"])
        lane.direct.ask("call", "d", ["Q.UNRECUR", "r" + n])  # there may be none


class Running(Putting):
    """A recurring job makes a job now."""

    def prepare(self, lane, n):
        lane.ask("Q.RECUR", "r" + n, "q" + n, "k", "1", "INTERVAL", "1000", "DELAY", "1000")


def call(*words):
    return lambda lane, n: lane.shell.ask("call", "q", [word.replace("$", n) for word in words])


def put(**more):
    def make(lane, n):
        given = {name: value.replace("$", n) if isinstance(value, str) else value
                 for name, value in more.items()}
        return lane.shell.ask("put", "q", {"queue": "q" + n, "klass": "k", "data": "1", **given})
    return make


def put_many(lane, n):
    return lane.shell.ask("put_many", "q", [
        {"queue": "q" + n, "klass": "k", "data": "1", "jid": "j" + n},
        {"queue": "q" + n, "klass": "k", "data": "not JSON", "jid": "jb" + n},
        {"queue": "q" + n, "klass": "k", "data": "3", "jid": "jc" + n}])


ITEM = '{"job":{"jid":"j$","klass":"k","queue":"q$","data":[1]}}'
KINDS = {
    "done": Settling("done", '{"sent":true}'),
    "advance": Settling("advance", "next", None, 0),
    "advance later": Settling("advance", "next", "[2]", 1000),
    "fail": Settling("fail", "g", "m"),
    "retry": Settling("retry", 0, "g", "m"),
    "retry later": Settling("retry", 1000, None, None),
    "last retry": Settling("retry", 0, None, None, retries=NONE),
    "return": Settling("return"),
    "log": Settling("log", "a line"),
    "progress": Settling("progress", 0.5, "half"),
    "checkpoint": Settling("checkpoint", "here"),
    "cancel": Canceling(lambda lane, n: lane.shell.ask("cancel", "q", "j" + n)),
    "any cancel": Canceling(lambda lane, n: lane.shell.ask("call", "q", ["Q.CANCEL", "j" + n, "no"])),
    "complete many": ManySettling("Q.MCOMPLETE"),
    "fail many": ManySettling("Q.MFAIL", "g", "m"),
    "retry many": ManySettling("Q.MRETRY"),
    "put": Putting(put()),
    "put with a jid": Putting(put(jid="j$", priority=2)),
    "put over a job": Putting(put(jid="j$", delay=1000), moves=True),
    "put with a lock": Putting(put(jid="j$", unique="u$", on_conflict="refuse")),
    "put many": Putting(put_many),
    "any put": Putting(call("Q.PUT", "q$", "k", "1")),
    "any put many": Putting(call("Q.MPUT", "3", "q$", "k", "1", "4", "q$", "k", "2", "BAD", "5", "q$",
                                 "k", "3", "JID", "j$")),
    "requeue": Putting(call("Q.REQUEUE", "j$", "q$", "k", "1"), moves=True),
    "recur": Putting(call("Q.RECUR", "r$", "q$", "k", "1", "INTERVAL", "1000")),
    "run": Running(call("Q.RECUR.RUN", "r$")),
    "restore": Putting(call("Q.RESTORE", ITEM, '{"job":{}}')),
}


def plain(value, n):
    """The same for each run: without what names it, and without jids that the library made."""
    if isinstance(value, dict):
        return {name: plain(part, n) for name, part in value.items()
                if name not in ("token", "first-seen", "oldest", "rates")}
    if isinstance(value, list):
        return [plain(part, n) for part in value]
    if isinstance(value, str):
        made = len(value) == 36 and value.count("-") == 4
        return "made" if made else value.replace(n, "N")
    return value


class Cut(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.server = RealServer("--reserve-size", "1M", "--durability", self.durability).__enter__()
        self.addCleanup(self.server.__exit__)

    durability = "never"  # what is not synced is there all the same after the server was killed

    def run_once(self, lane, kind, meanwhile=False, cut=None):
        """What it answered, and what is there then; and whether it was cut."""
        n = lane.next()
        kind.prepare(lane, n)
        if cut:
            way, count, before_end = cut
            lane.cutter.arm(way, count, lambda: before_end() or
                            (kind.meanwhile(lane, n) if meanwhile else None))
        answer = kind.call(lane, n)
        was_cut = lane.cutter.disarm()
        if meanwhile and not was_cut:
            kind.meanwhile(lane, n)
        found = plain([answer, kind.observe(lane, n)], n)
        kind.clean(lane, n)
        return found, was_cut

    def cut_everywhere(self, lane, name, cuts):
        kind = KINDS[name]
        as_ever = {meanwhile: self.run_once(lane, kind, meanwhile)[0] for meanwhile in (False, True)}
        self.assertNotIn(as_ever[False][0]["status"], ("unknown", "unreachable"), name)
        for way in (REQUEST, REPLY):
            count, was_cut = 0, True
            while was_cut:
                # What happens meanwhile can do so only where the server has done it.
                meanwhile = way == REPLY and count // STEP % 2 == 1
                found, was_cut = self.run_once(lane, kind, meanwhile, (way, count, lambda: None))
                self.assertEqual(found, as_ever[meanwhile], f"{name}: {way} cut after {count} bytes")
                cuts.append(was_cut)
                count += STEP

    def test_at_every_byte(self):
        lanes, cuts, wrong = [Lane(self, self.server, f"lane-{i}") for i in range(LANES)], [], []
        names = list(KINDS)

        def work(lane):
            while names and not wrong:
                try:
                    self.cut_everywhere(lane, names.pop(), cuts)
                except Exception as why:  # pylint: disable=broad-except
                    wrong.append(why)
        threads = [threading.Thread(target=work, args=(lane,)) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            raise wrong[0]
        print(f"# {sum(cuts)} cuts")
        self.assertGreater(sum(cuts), 100 * len(KINDS) / STEP)


class CutAndRestarted(Cut):
    durability = "always"

    def restart(self):
        self.server.kill()
        self.server.start()

    def test_at_every_byte(self):
        """The server is killed at the cut: within the request, behind it, and at the reply."""
        self.server.flags += "--listen", f"127.0.0.1:{self.server.port}"
        lane = Lane(self, self.server, "lane")
        for name, kind in KINDS.items():
            as_ever = self.run_once(lane, kind)[0]
            for way, count in ((REQUEST, 60), (REPLY, 0)):
                found, was_cut = self.run_once(lane, kind, False, (way, count, self.restart))
                self.assertTrue(was_cut, name)
                self.assertEqual(found, as_ever, f"{name}: killed at byte {count} of the {way}")


if __name__ == "__main__":
    sluiced.main()
