#!/usr/bin/python3
"""The memory limit: at it, what grows is refused, jobs can be popped and completed, and then puts are
taken again; what is counted is what the process uses; limits of namespaces and queues."""

import os
import resource
import shutil
import tempfile
import unittest
from unittest import mock

import outside
import sluiced
from outside import figure, request

DATA = '"' + "x" * 20000 + '"'
BATCH = 200


def used(client):
    return figure(client, "memory", "used_memory")


def put_many(client, first, count, data=DATA, queue="mail"):
    """Sends puts in a pipeline; gives the replies."""
    client.send_raw(b"".join(request("Q.PUT", "app", queue, "Send", data, "JID", f"j{i}")
                             for i in range(first, first + count)))
    return [client.read() for _ in range(count)]


def put_until_closed(client, first, count):
    """The same, but gives only the replies before the connection was closed."""
    replies = []
    try:
        client.send_raw(b"".join(request("Q.PUT", "app", "mail", "Send", DATA, "JID", f"j{i}")
                                 for i in range(first, first + count)))
        while len(replies) < count and (reply := client.read()) is not None:
            replies.append(reply)
    except (ConnectionError, AssertionError):
        pass  # in the middle of a reply, too
    return replies


ENDED = "the connection has ended"


class Insistent:
    """A client that connects again when the server had no memory for a reply, and asks again."""

    def __init__(self, server):
        self.server = server
        self.client = sluiced.Client(server)

    def ask(self, *words):
        def answer():
            try:
                reply = self.client.ask(*words)
            except ConnectionError:
                reply = None
            if reply is None:
                self.reconnect()
            return reply
        return sluiced.until(answer, f"an answer to {words[0]}")

    def reconnect(self):
        self.client.close()
        self.client = sluiced.Client(self.server)

    def put_many(self, first, count):
        try:
            replies = put_many(self.client, first, count)
        except ConnectionError:
            replies = [None]
        if None in replies:
            self.reconnect()
            replies = [ENDED] * count  # whatever became of them
        return replies

    def close(self):
        self.client.close()


class Limit(unittest.TestCase):
    def test_at_the_limit_puts_are_refused_jobs_are_done_and_then_puts_are_taken_again(self):
        with outside.server("--max-memory", "128M") as server, sluiced.Client(server) as client:
            client.expect("Q.CONFIG.SET app jobs-history-count 0", "+OK")
            client.expect("Q.RECUR app r mail Send {} INTERVAL 3600", "+OK")
            count = 0
            while (replies := put_many(client, count, BATCH))[-1].startswith('"'):
                count += BATCH
                self.assertLess(count, 20000, "it is never full")
            taken = sum(reply.startswith('"') for reply in replies)
            refusal = next(reply for reply in replies if not reply.startswith('"'))
            self.assertRegex(refusal, "^-NO_MEMORY memory limit reached: [0-9]+ MiB used, max-memory "
                                      "is 128 MiB; .*raise max-memory")
            count += taken
            server.hear("memory full: commands that grow are refused")
            # What grows is refused, what is asked is answered. Buffers come and go, so that there
            # may be room for a little at times.
            for words in ("Q.RECUR app r2 mail Send {} INTERVAL 10", "Q.TRACK app j0"):
                def refused(words=words):
                    nonlocal count
                    put_many(client, count, 20)  # others each time, so that it fills
                    count += 20
                    return client.ask(words).startswith("-NO_MEMORY ")
                sluiced.until(refused, f"a refusal of {words}")
            self.assertIn("memory_state:", client.ask("INFO memory"))
            self.assertIn('"jid", "j0"', client.ask("Q.GET app j0"))
            before = int(client.ask("Q.LENGTH app mail")[1:])
            # Jobs can be done.
            for _ in range(5):
                popped = client.ask("Q.POP app w 20 mail")
                self.assertNotIn("-NO_MEMORY", popped[:20])
                jids = [part.split('"')[0] for part in popped.split('"jid", "')[1:]]
                self.assertEqual(len(jids), 20)
                for jid in jids:
                    client.expect(f"Q.COMPLETE app {jid} w", '"complete"')
            # The recurring job, which was held back, may have made its one job in between.
            self.assertLessEqual(int(client.ask("Q.LENGTH app mail")[1:]), before - 99)
            # Until there is room: then puts are taken again.
            def again():
                for jid in client.ask("Q.POP app w 20 mail").split('"jid", "')[1:]:
                    client.ask("Q.COMPLETE", "app", jid.split('"')[0], "w")
                return client.ask("Q.PUT", "app", "mail", "Send", DATA, "JID", "last") == '"last"'
            sluiced.until(again, "room for a put")
            server.hear("memory free again")
            self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))

    @unittest.skipIf(outside.SANITIZED, "a sanitizer has memory of its own")
    def test_what_is_counted_is_what_the_process_uses(self):
        def anonymous(server):
            with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
                fields = file.read().split()
            return (int(fields[1]) - int(fields[2])) * resource.getpagesize()

        with sluiced.Server("--http", "") as server, sluiced.Client(server) as client:
            count = 200000
            for first in range(0, count, 2000):
                put_many(client, first, 2000, data='"' + "x" * 1000 + '"')

            def share(name):
                return figure(client, "memory", name) / anonymous(server)
            # What the process uses is read about once a second.
            sluiced.until(lambda: 0.95 < share("used_memory_anonymous") < 1.05, "the figure of the system")
            ratio = share("used_memory")
            print(f"# {count} jobs: {used(client)} counted, {anonymous(server)} used, {ratio:.3f}")
            self.assertGreater(used(client), 200 * outside.MIB)
            self.assertTrue(0.95 < ratio < 1.05, ratio)

    def test_connections_that_do_not_read_are_closed_at_the_limit(self):
        with outside.server("--max-memory", "64M", "--max-output", "1G") as server, \
                sluiced.Client(server) as client, sluiced.Client(server) as listener:
            listener.ask("SUBSCRIBE x")
            text = "y" * 500000
            for _ in range(200):
                client.ask("PUBLISH", "x", text)
            server.hear("memory full: connection closed")
            client.expect("PING", "+PONG")
            sluiced.until(lambda: client.ask("Q.PUT app mail Send {} JID a") == '"a"', "a put")

    def test_none_and_auto_are_limits(self):
        with outside.server("--max-memory", "none") as server, sluiced.Client(server) as client:
            self.assertEqual(figure(client, "memory", "maxmemory"), 0)
        with outside.server() as server, sluiced.Client(server) as client:
            self.assertGreater(figure(client, "memory", "maxmemory"), 0)


class AddressSpace(unittest.TestCase):
    """The system gives no more memory: a limit as ulimit -v sets it."""

    @unittest.skipIf(outside.SANITIZED, "a sanitizer needs address space of its own")
    def test_without_address_space_nothing_is_lost_and_the_server_lives(self):
        with outside.server("--max-memory", "none") as server, sluiced.Client(server) as client:
            put_many(client, 0, 10)
            with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
                size = int(file.read().split()[0]) * resource.getpagesize()
            hard = resource.prlimit(server.process.pid, resource.RLIMIT_AS)[1]
            resource.prlimit(server.process.pid, resource.RLIMIT_AS, (size + 48 * outside.MIB, hard))
            taken, refused, unanswered = 10, 0, 0
            for first in range(10, 10000, BATCH):
                replies = put_until_closed(client, first, BATCH)
                for i, reply in enumerate(replies, first):
                    if reply == f'"j{i}"':
                        taken += 1
                    else:
                        self.assertTrue(reply.startswith("-NO_MEMORY "), reply)
                        refused += 1
                # The server closes a connection for whose buffers there is no memory.
                unanswered += BATCH - len(replies)
                if refused > 2 * BATCH or unanswered:
                    break
            print(f"# {taken} taken, {refused} refused, {unanswered} unanswered")
            self.assertGreater(refused + unanswered, 0)
            self.assertIsNone(server.process.poll(), "the server has ended")
            resource.prlimit(server.process.pid, resource.RLIMIT_AS, (hard, hard))
            with sluiced.Client(server) as other:
                sluiced.until(lambda: other.ask("Q.PUT app mail Send {} JID last") == '"last"', "a put")
                length = int(other.ask("Q.LENGTH app mail")[1:])
            self.assertTrue(taken + 1 <= length <= taken + 1 + unanswered, length)
            server.process.kill()
            server.wait()
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", f":{length}")


    @unittest.skipIf(outside.SANITIZED, "a sanitizer needs address space of its own")
    def test_a_server_that_is_started_with_little_address_space_lives_and_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            limited = os.path.join(folder, "sluiced")
            with open(limited, "w", encoding="ascii") as file:
                file.write(f'#!/bin/sh\nulimit -v "$KIB"\nexec "{os.environ["SLUICED"]}" "$@"\n')
            os.chmod(limited, 0o700)
            # The smaller ones may not suffice to start; then it says so, and ends.
            started = 0
            for mib in (32, 256, 310, 320, 340, 384, 448, 640):
                with self.subTest(mib):
                    started += self.fill(limited, mib)
            self.assertGreater(started, 2)

    def fill(self, limited, mib):
        """Whether it has started."""
        server = outside.server("--max-memory", "none", "--checkpoint-interval", "20ms")
        self.addCleanup(shutil.rmtree, server.folder, True)
        server.environment["KIB"] = str(mib * 1024)
        with mock.patch.dict(os.environ, {"SLUICED": limited}):
            try:
                server.start()
            except AssertionError as error:
                self.assertNotIn("Sanitizer", str(error))
                self.assertGreater(server.process.wait(), 0, "ended by a signal")
                server.process.stderr.close()
                return False
        self.addCleanup(lambda: server.process.poll() is None and server.process.kill())
        taken, done, refused, client = set(), set(), 0, Insistent(server)
        for first in range(0, 40000, BATCH):
            for i, reply in enumerate(client.put_many(first, BATCH), first):
                if reply == f'"j{i}"':
                    taken.add(i)
                elif reply != ENDED:
                    self.assertRegex(reply, "^-(NO_MEMORY|NO_SPACE) ")
                    refused += 1
            if refused > 3 * BATCH:
                break
        self.assertGreater(refused, 0)
        # What is asked is answered, and jobs can be done.
        self.assertEqual(client.ask("PING"), "+PONG")
        self.assertIn("memory", client.ask("INFO memory"))
        if taken:
            self.assertIn('"jid"', client.ask("Q.GET", "app", f"j{min(taken)}"))
        for _ in range(20):
            for part in client.ask("Q.POP app w 5 mail").split('"jid", "')[1:]:
                jid = part.split('"')[0]
                if client.ask("Q.COMPLETE", "app", jid, "w") == '"complete"':
                    done.add(int(jid[1:]))
        client.close()
        server.hear("emory")
        self.assertIsNone(server.process.poll(), "it has ended")
        server.process.kill()
        server.wait()
        server.start()
        try:
            with sluiced.Client(server) as client:
                for i in sorted(taken):
                    given = client.ask("Q.GET", "app", f"j{i}")
                    if i not in done:
                        self.assertIn(f'"jid", "j{i}"', given)
                    elif given != "[nil]":
                        self.assertIn('"state", "complete"', given)
                self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))
        finally:
            server.stop()
        print(f"# {mib} MiB: {len(taken)} taken, {refused} refused, {len(done)} done")
        return True


class Quotas(unittest.TestCase):
    def test_limits_of_namespaces_and_queues_are_named_when_they_are_reached(self):
        flags = ("--max-jobs-per-namespace", "4", "--max-jobs-per-queue", "3",
                 "--max-queues-per-namespace", "3", "--max-recurring-per-namespace", "1",
                 "--max-bytes-per-queue", "1000")
        with outside.server(*flags) as server, sluiced.Client(server) as client:
            for i in range(3):
                client.expect(f"Q.PUT app mail Send {{}} JID a{i}", f'"a{i}"')
            client.expect("Q.PUT app mail Send {} JID a3",
                          "-TOO_LARGE queue mail has 3 jobs and may have 3: complete or cancel jobs, "
                          "or raise the option mail-max-jobs")
            client.expect("Q.PUT app mail Send {} JID a0", '"a0"')  # it is there already
            client.expect(("Q.PUT", "app", "large", "Send", DATA, "JID", "l"), "-TOO_LARGE queue large...")
            client.expect("Q.PUT app other Send {} JID b0", '"b0"')
            client.expect("Q.PUT app other Send {} JID b1", "-TOO_LARGE the namespace has 4 jobs...")
            client.expect("Q.CONFIG.SET app max-jobs 10", "+OK")
            client.expect("Q.CONFIG.SET app mail-max-jobs 5", "+OK")
            client.expect("Q.PUT app mail Send {} JID a3", '"a3"')
            client.expect("Q.PUT app third Send {} JID c", '"c"')
            client.expect("Q.PUT app fourth Send {} JID d", "-TOO_LARGE the namespace has 3 queues...")
            client.expect("Q.POP app w 1 nowhere", "[]")
            client.expect("Q.RECUR app r mail Send {} INTERVAL 0.000001", "-INVALID interval is 1 us...")
            client.expect("Q.RECUR app r mail Send {} INTERVAL 3600", "+OK")
            client.expect("Q.RECUR app s mail Send {} INTERVAL 3600",
                          "-TOO_LARGE the namespace has 1 recurring jobs...")
            client.expect("Q.RECUR app r mail Send {} INTERVAL 60", "+OK")
            # A limit below what there is takes nothing away.
            client.expect("Q.CONFIG.SET app mail-max-jobs 1", "+OK")
            client.expect("Q.PUT app mail Send {} JID a9", "-TOO_LARGE queue mail...")
            self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))


if __name__ == "__main__":
    sluiced.main()
