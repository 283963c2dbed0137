#!/usr/bin/python3
"""Very many connections, and more than there are descriptors for."""

import os
import resource
import select
import socket
import tempfile
import time
import unittest
from unittest import mock

import outside
import sluiced
from outside import request

IDLE = 10000
WAITING = 1000  # of them, in a pop


def raise_limit(needed):
    """As many descriptors as the system allows; whether that is enough."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < needed:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return True


def open_descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def limit_descriptors(server, count):
    hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (count, hard))


class Crowd(unittest.TestCase):
    def test_idle_connections_cost_little_and_hold_nobody_up(self):
        if not raise_limit(IDLE + 500):
            self.skipTest(f"the hard limit of open files is below {IDLE + 500}")
        with outside.server("--max-connections", str(IDLE + 100)) as server, \
                sluiced.Client(server) as busy:
            limit_descriptors(server, IDLE + 500)
            busy.expect("PING", "+PONG")
            before = outside.resident(server)
            crowd = []
            for _ in range(IDLE):
                one = socket.create_connection(("127.0.0.1", server.port), sluiced.LIMIT_S)
                one.sendall(b"PING\r\n")
                crowd.append(one)
            for one in crowd:
                self.assertEqual(one.recv(100), b"+PONG\r\n")
            self.assertEqual(outside.figure(busy, "clients", "connected_clients"), IDLE + 1)
            grown = outside.resident(server) - before
            print(f"# {grown // IDLE} bytes of memory for each of {IDLE} idle connections")
            if not outside.SANITIZED:
                self.assertLess(grown // IDLE, 4096)
            self.work(busy)
            self.serve_waiters(busy, crowd[:WAITING])
            for one in crowd:
                one.close()
            outside.until(busy, "clients", "connected_clients", 1)

    def work(self, busy):
        rounds = 200 if outside.SANITIZED else 2000
        start = time.monotonic()
        for i in range(rounds):
            busy.expect(f"Q.PUT app mail Send {{}} JID j{i}", f'"j{i}"')
            self.assertIn(f'"jid", "j{i}"', busy.ask("Q.POP app w 1 mail"))
            busy.expect(f"Q.COMPLETE app j{i} w", '"complete"')
        each_us = (time.monotonic() - start) / rounds / 3 * 1e6
        print(f"# {each_us:.0f} us for each request of the busy one beside them")

    def serve_waiters(self, busy, crowd):
        """Each gets exactly one job."""
        for i, one in enumerate(crowd):
            one.sendall(request("Q.POP", "app", f"w{i}", 1, "WAIT", 0, "rare"))
        outside.until(busy, "clients", "blocked_clients", len(crowd))
        busy.send_raw(request("Q.PUT", "app", "rare", "Send", "{}") * len(crowd))
        jids = {busy.read() for _ in crowd}
        self.assertEqual(len(jids), len(crowd))
        got = set()
        for one in crowd:
            words = one.recv(4096).split(b"\r\n")
            self.assertEqual(words[0], b"*1")
            got.add(f'"{words[words.index(b"jid") + 2].decode()}"')
        self.assertEqual(got, jids)
        self.assertEqual(outside.figure(busy, "clients", "blocked_clients"), 0)

    def test_beyond_max_connections_one_is_told_so(self):
        with outside.server("--max-connections", "2") as server, sluiced.Client(server) as first:
            first.expect("PING", "+PONG")
            with sluiced.Client(server) as second:
                second.expect("PING", "+PONG")
                with sluiced.Client(server) as third:
                    third.hear("-ERR max number of clients reached")
                    third.hear(None)
            outside.until(first, "clients", "connected_clients", 1)
            with sluiced.Client(server) as fourth:
                fourth.expect("PING", "+PONG")


class NoDescriptors(unittest.TestCase):
    ROOM = 10
    MORE = 15

    def test_without_descriptors_accepting_pauses_and_goes_on_when_some_are_free(self):
        with outside.server() as server, sluiced.Client(server) as busy:
            busy.expect("Q.PUT app mail Send {} JID ann", '"ann"')
            # The store opens and closes files meanwhile: how many get in is not known exactly.
            limit_descriptors(server, open_descriptors(server) + self.ROOM)
            crowd = [sluiced.Client(server) for _ in range(self.ROOM + self.MORE)]
            for one in crowd:
                one.send("PING")
            server.hear("no more connections are accepted for now")
            starved = crowd[-1]
            spent = outside.cpu_seconds(server)
            start = time.monotonic()
            # Those who are in go on, for longer than the time after which it tries again.
            while time.monotonic() - start < 0.5:
                busy.expect("PING", "+PONG")
                self.assertEqual(select.select([starved.socket], [], [], 0.05)[0], [])
            spent = outside.cpu_seconds(server) - spent
            self.assertLess(spent, 0.25, "it seems to try all the time")
            for one in crowd:
                one.hear("+PONG")
                one.close()

    def test_connections_leave_descriptors_for_the_store(self):
        with tempfile.TemporaryDirectory() as folder:
            limited = os.path.join(folder, "sluiced")
            with open(limited, "w", encoding="ascii") as file:
                file.write(f'#!/bin/sh\nulimit -n 100\nexec "{os.environ["SLUICED"]}" "$@"\n')
            os.chmod(limited, 0o700)
            with mock.patch.dict(os.environ, {"SLUICED": limited}):
                self.fill_descriptors()

    def fill_descriptors(self):
        with outside.server() as server:
            crowd = [sluiced.Client(server) for _ in range(100)]
            busy, room = crowd[0], 100 - 64
            for one in crowd[:room]:
                one.expect("PING", "+PONG")
            for one in crowd[room:]:
                one.hear("-ERR max number of clients reached")
            # Several files of the journal, and checkpoints.
            data = '{"pad":"' + "x" * 100000 + '"}'
            for i in range(60):
                busy.expect(("Q.PUT", "app", "mail", "Send", data, "JID", f"j{i}"), f'"j{i}"')
            for one in crowd:
                one.close()
            server.restart()
            with sluiced.Client(server) as again:
                again.expect("Q.LENGTH app mail", ":60")


if __name__ == "__main__":
    sluiced.main()
