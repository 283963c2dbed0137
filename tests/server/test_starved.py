#!/usr/bin/python3
"""A server whose memory runs out at any moment: the first allocation of a conversation fails, then
the second, and so on, once or for a while, in the loop's thread and in the others. The server lives on; every request gets an answer or the
end of its connection; what was acknowledged is there, also after a kill, and what was refused is
not.

SLUICE_STRIDE says how many allocations are passed over between two failures (1: none)."""

import mmap
import os
import struct
import tempfile
import unittest

import outside
import sluiced
import web

STRIDE = int(os.environ.get("SLUICE_STRIDE", "7" if outside.SANITIZED else "5"))
FIELDS = ("calls", "first", "last", "threads", "failed")
NAME_SIZE = 16
BY_NAME = 2  # the value of `threads` for those of one name
ENDED = "the connection has ended"


class Starve:
    """What the server's allocator is told, and how often it was called."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(8 * len(FIELDS) + NAME_SIZE))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8 * len(FIELDS) + NAME_SIZE)

    def get(self, field):
        return struct.unpack_from("=Q", self.map, 8 * FIELDS.index(field))[0]

    def set(self, field, value):
        struct.pack_into("=Q", self.map, 8 * FIELDS.index(field), value)

    def begin(self, number, count, threads=0):
        """The call with that number from now on fails, and so do those after it."""
        self.set("threads", threads)
        self.set("failed", 0)
        start = self.get("calls")
        self.set("last", start + number + count - 1)
        self.set("first", start + number)

    def count_thread(self, name):
        """From now on the calls of the threads of that name are counted."""
        self.set("first", 0)
        self.map[8 * len(FIELDS):] = name.encode().ljust(NAME_SIZE, b"\0")
        self.set("threads", BY_NAME)

    def end(self):
        """Says how many calls have failed."""
        self.set("first", 0)
        return self.get("failed")


class Fates:
    """What became of the jobs that were put, as far as the client was told."""

    def __init__(self):
        self.there, self.refused, self.complete = set(), set(), set()
        self.answers, self.errors, self.ends = 0, 0, 0

    def count(self, reply):
        self.answers += 1
        self.errors += reply.startswith("-")
        self.ends += reply == ENDED
        return reply

    def put(self, jid, reply):
        if reply == f'"{jid}"':
            self.there.add(jid)
        elif reply.startswith("-"):
            self.refused.add(jid)

    def check(self, test, client):
        for jid in sorted(self.there):
            given = client.ask("Q.GET", "app", jid)
            test.assertIn(f'"jid", "{jid}"', given)
            if jid in self.complete:
                test.assertIn('"state", "complete"', given)
        for jid in sorted(self.refused):
            test.assertEqual(client.ask("Q.GET", "app", jid), "[nil]", jid)


class Talk:
    """A connection that may end at any moment."""

    def __init__(self, server, fates):
        self.fates = fates
        self.client = None
        try:
            self.client = sluiced.Client(server)
        except OSError:
            fates.ends += 1

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def send(self, *words):
        try:
            if self.client:
                self.client.send(*words)
        except OSError:
            self.close()

    def read(self):
        reply = None
        try:
            reply = self.client.read() if self.client else None
        except (ConnectionError, TimeoutError, TypeError, AssertionError) as error:
            if isinstance(error, TimeoutError):
                raise
        if reply is None:
            self.close()
        return self.fates.count(ENDED if reply is None else reply)

    def put(self, jid, *options, data="{}"):
        self.fates.put(jid, self.ask("Q.PUT", "app", "mail", "Send", data, "JID", jid, *options))

    def close(self):
        if self.client:
            self.client.close()
            self.client = None


class Starved(unittest.TestCase):
    def setUp(self):
        file = tempfile.NamedTemporaryFile()  # pylint: disable=consider-using-with
        self.addCleanup(file.close)
        self.starve = Starve(file.name)
        self.server = sluiced.Server("--push-allow-private", "yes", "--segment-size", "1M",
                                     "--reserve-size", "1M",
                                     "--checkpoint-interval", "50ms", STARVE_FILE=file.name)
        self.server.start()
        self.addCleanup(self.server.__exit__)

    # Conversations: each has names of its own, so that all can be looked for at the end.

    def jobs(self, fates, name):
        talk = Talk(self.server, fates)
        talk.put(f"{name}-a", "TAG", "x", "TAG", name)
        talk.put(f"{name}-large", data='"' + "y" * 70000 + '"')
        talk.put(f"{name}-later", "DELAY", 1000)
        talk.put(f"{name}-after", "DEPENDS", f"{name}-later")
        talk.ask("Q.TAG", "app", f"{name}-a", "more")
        talk.ask("Q.NOTE", "app", f"{name}-a", "some words")
        popped = talk.ask("Q.POP", "app", f"w-{name}", 10, "mail")
        for jid in (f"{name}-a", f"{name}-large"):
            if f'"jid", "{jid}"' in popped:
                talk.ask("Q.HEARTBEAT", "app", jid, f"w-{name}")
                talk.ask("Q.PROGRESS", "app", jid, f"w-{name}", "0.5")
                if talk.ask("Q.COMPLETE", "app", jid, f"w-{name}") == '"complete"':
                    fates.complete.add(jid)
        talk.ask("Q.QUEUES", "app")
        talk.ask("INFO", "all")
        talk.close()

    def settings(self, fates, name):
        talk = Talk(self.server, fates)
        talk.ask("Q.CONFIG.SET", "app", name, "1")
        talk.ask("Q.RECUR", "app", f"{name}-r", "mail", "Send", "{}", "INTERVAL", "3600")
        talk.ask("Q.LIMIT.SET", "app", "QUEUE", "mail", "DOMAIN", f"{name}-d", "CONCURRENCY", 5)
        talk.ask("Q.POLICY.SET", "app", "KLASS", name, "TIMEOUT", 10)
        talk.ask("Q.PAUSE", "app", f"{name}-q")
        talk.put(f"{name}-t")
        talk.ask("Q.TRACK", "app", f"{name}-t")
        talk.ask("Q.NAMESPACE.CREATE", name)
        talk.ask("Q.PUT", name, "mail", "Send", "{}", "JID", "x")
        talk.ask("Q.PUSH.SET", name, "Send", "http://127.0.0.1:9/none")
        talk.ask("Q.NAMESPACE.DELETE", name)
        talk.ask("Q.UNRECUR", "app", f"{name}-r")
        talk.ask("Q.CONFIG.UNSET", "app", name)
        talk.close()

    def sessions(self, fates, name):
        listener, talk = Talk(self.server, fates), Talk(self.server, fates)
        waiter, finish = Talk(self.server, fates), Talk(self.server, fates)
        listener.ask("HELLO", "3")
        listener.ask("PSUBSCRIBE", "sluice:*")
        listener.ask("SUBSCRIBE", name)
        waiter.send("Q.POP", "app", f"w-{name}", 1, "WAIT", 0, name)
        finish.send("Q.WAIT", "app", "WAIT", 0, f"{name}-c")
        talk.ask("MULTI")
        jids = [f"{name}-m{i}" for i in range(3)]
        queued = [talk.ask("Q.PUT", "app", "mail", "Send", "{}", "JID", jid) for jid in jids]
        reply = talk.ask("EXEC")
        if reply.startswith("["):
            for jid, part in zip(jids, reply.strip("[]").split(", ")):
                fates.put(jid, part)
        elif reply.startswith("-"):
            fates.refused.update(jids)
        del queued
        talk.ask("PUBLISH", name, "hello")
        talk.ask("CLIENT", "LIST")
        talk.ask("EVAL", "return 1", "0")
        talk.ask("Q.PUT", "app", name, "Send", "{}", "JID", f"{name}-w")
        for each in (talk, listener, waiter, finish):
            each.close()

    def web(self, fates, name):
        for _ in range(2):
            try:
                with web.Connection(self.server) as http:
                    body = '{"klass":"Send","data":{"a":1},"jid":"%s-h"}' % name
                    answer = http.post("/v1/ns/app/queues/mail/jobs", body)
                    text = answer.body()
                    if answer.status in (200, 201):
                        fates.there.add(f"{name}-h")
                    elif answer.status >= 400 and f"{name}-h" not in fates.there:
                        fates.refused.add(f"{name}-h")
                    del text
                    http.get("/v1/ns/app/queues")
                    http.get("/metrics")
                    return
            except (OSError, AssertionError, ValueError, KeyError) as error:
                if isinstance(error, TimeoutError):
                    raise
                # What became of it is unknown.
                fates.refused.discard(f"{name}-h")
                name = name + "x"
                fates.ends += 1

    def each(self, talk, count, threads=0):
        """Fails each allocation of a conversation; with `count`, so many after it too."""
        fates, number, fired = Fates(), 1, 0
        before = self.starve.get("calls")
        talk(fates, f"{talk.__name__}{count}x0")
        calls = self.starve.get("calls") - before
        while number <= calls:
            name = f"{talk.__name__}{count}x{number}"
            self.starve.begin(number, count, threads)
            talk(fates, name)
            failed = self.starve.end()
            fired += failed > 0
            with sluiced.Client(self.server) as client:
                client.expect("PING", "+PONG")
                self.assertNotIn("store_state:failed", client.ask("INFO persistence"))
            number += STRIDE
        print(f"# {talk.__name__}: {fired} failures at {calls} allocations; {fates.answers} "
              f"answers, {fates.errors} errors, {fates.ends} ends; {len(fates.there)} puts "
              f"acknowledged, {len(fates.refused)} refused")
        self.assertGreater(fired, 3)
        self.assertGreater(len(fates.there), 0)
        with sluiced.Client(self.server) as client:
            fates.check(self, client)
            self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))
        self.server.process.kill()
        self.server.wait()
        self.server.start()
        with sluiced.Client(self.server) as client:
            fates.check(self, client)
            self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))

    def test_an_allocation_of_jobs_commands_fails(self):
        self.each(self.jobs, 1)

    def test_allocations_of_jobs_commands_fail_for_a_while(self):
        self.each(self.jobs, 5)

    def test_an_allocation_of_settings_commands_fails(self):
        self.each(self.settings, 1)

    def test_allocations_of_settings_commands_fail_for_a_while(self):
        self.each(self.settings, 5)

    def test_an_allocation_of_sessions_fails(self):
        self.each(self.sessions, 1)

    def test_allocations_of_sessions_fail_for_a_while(self):
        self.each(self.sessions, 5)

    def test_an_allocation_over_http_fails(self):
        self.each(self.web, 1)

    def test_allocations_over_http_fail_for_a_while(self):
        self.each(self.web, 5)


class Threads(unittest.TestCase):
    """The same in the threads beside the loop's. What they do is not tied to a request: for each
    failure it is waited, and meanwhile jobs are put."""

    FLAGS = ("--push-allow-private", "yes", "--segment-size", "1M", "--reserve-size", "1M",
             "--checkpoint-interval", "10ms", "--user", "root pr *:admin")
    FAILURES = 40 if outside.SANITIZED else 80
    PUTS_MAX = 300  # for one failure; a thread that allocates no more is not waited for

    def setUp(self):
        file = tempfile.NamedTemporaryFile()  # pylint: disable=consider-using-with
        self.addCleanup(file.close)
        self.starve = Starve(file.name)
        self.server = sluiced.Server(*self.FLAGS, STARVE_FILE=file.name)
        self.server.start()
        self.addCleanup(self.server.__exit__)
        self.fates = Fates()
        self.number = 0
        self.talk = self.log_in()

    def log_in(self):
        talk = Talk(self.server, self.fates)
        self.assertEqual(talk.ask("AUTH", "root", "pr"), "+OK")
        return talk

    def put(self):
        """A job that comes, or one that comes and goes."""
        jid = f"j{self.number}"
        self.number += 1
        self.talk.put(jid, data='"' + "y" * (self.number * 37 % 5000) + '"')
        if self.number % 3 == 0 and jid in self.fates.there:
            self.talk.ask("Q.POP", "app", "w", 1, "mail")
        return jid

    def until_ready(self):
        def is_ready():
            state = self.talk.ask("INFO", "persistence")
            self.assertNotIn("store_state:failed", state)
            return "store_state:ready" in state
        sluiced.until(is_ready, "the store to be ready")

    def check(self):
        self.starve.end()
        self.until_ready()
        self.fates.check(self, self.talk)
        self.assertIn('"broken", :0', self.talk.ask("Q.CHECK", "app", "FORCE"))
        self.server.process.kill()
        self.server.wait()
        self.server.start()
        self.talk = self.log_in()
        self.fates.check(self, self.talk)
        self.assertIn('"broken", :0', self.talk.ask("Q.CHECK", "app", "FORCE"))

    def each(self, thread, act, count=1):
        """Fails the allocations of a thread one after the other; gives how many have failed."""
        self.starve.count_thread(thread)
        fired = 0
        for number in range(1, self.FAILURES + 1):
            self.starve.begin(number, count, BY_NAME)
            for _ in range(self.PUTS_MAX):
                act()
                if self.starve.get("calls") > self.starve.get("last"):
                    break
            fired += self.starve.end()
            self.until_ready()
        print(f"# {thread}: {fired} failures; {len(self.fates.there)} puts acknowledged, "
              f"{len(self.fates.refused)} refused")
        return fired

    def test_allocations_of_the_checkpoint_fail(self):
        for count in (1, 5):
            with self.subTest(count):
                self.assertGreater(self.each("checkpoint", self.put, count), 10)
        lines = [line for line in self.server.log if "memory" in line]
        self.assertTrue(lines, "nothing was logged")
        self.check()

    def test_allocations_of_the_journal_fail(self):
        # It has what it needs before it starts.
        self.PUTS_MAX = 20
        self.each("journal", self.put)
        self.check()

    def test_allocations_of_the_log_fail(self):
        # It has what it needs before it starts, so that it can tell of all this.
        self.PUTS_MAX = 5

        def cause_lines():
            with sluiced.Client(self.server) as stranger:
                stranger.send("GET / HTTP/1.1")
                stranger.read()
            self.put()
        self.assertEqual(self.each("log", cause_lines), 0)
        self.check()

    def test_allocations_of_the_thread_for_passwords_fail(self):
        self.PUTS_MAX = 1
        outcomes = set()
        password = ["none"]

        def log_in():
            fresh = f"secret{self.number}"
            set_to = self.talk.ask("Q.USER.SET", "ann", "PASSWORD", fresh, "RIGHT", "app:write")
            if set_to == "+OK":
                password[0] = fresh
            if password[0] != "none":
                other = Talk(self.server, self.fates)
                outcomes.add(other.ask("AUTH", "ann", password[0]).split(":")[0])
                other.close()
            self.put()
        self.assertGreater(self.each("logins", log_in), 3)
        # A right password is never said to be wrong, and a user that tries again gets in.
        self.assertLessEqual(outcomes, {"+OK", "-NO_MEMORY out of memory", "-ERR out of memory"})
        self.assertIn("+OK", outcomes)
        with sluiced.Client(self.server) as client:
            client.expect(f"AUTH ann {password[0]}", "+OK")
        self.check()

    def test_allocations_of_the_thread_that_empties_a_namespace_fail(self):
        self.PUTS_MAX = 1

        def delete():
            for i in range(20):
                self.talk.ask("Q.PUT", "gone", "mail", "Send", "{}", "JID", f"g{i}")
            self.talk.ask("Q.NAMESPACE.DELETE", "gone")
            self.put()
        self.each("removal", delete)
        self.check()

    def test_allocations_of_a_backup_fail(self):
        self.PUTS_MAX = 1
        self.put()

        def back_up():
            folder = self.server.path(f"backup{self.number}")
            self.talk.ask("Q.BACKUP", folder)
            self.put()
        self.each("background", back_up)
        self.check()


if __name__ == "__main__":
    sluiced.main()
