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
        with outside.server("--max-connections", "2", "--reserved-connections", "0") as server, \
                sluiced.Client(server) as first:
            first.expect("PING", "+PONG")
            with sluiced.Client(server) as second:
                second.expect("PING", "+PONG")
                with sluiced.Client(server) as third:
                    third.hear("-ERR max number of clients reached")
                    third.hear(None)
            outside.until(first, "clients", "connected_clients", 1)
            with sluiced.Client(server) as fourth:
                fourth.expect("PING", "+PONG")


class Reserve(unittest.TestCase):
    USERS = ("--user", "root pr *:admin", "--user", "ann pa app:write")
    FLAGS = ("--max-connections", "4", "--reserved-connections", "2")
    NEWCOMERS = 2 * 64  # as crowd.h has it

    def serve(self, *flags):
        server = sluiced.Server("--segment-size", "1M", "--reserve-size", "1M", *flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        self.opened = 0  # connections of the test
        return server

    def client(self, server, login=None):
        client = sluiced.Client(server)
        self.opened += 1
        self.addCleanup(client.close)
        if login:
            client.expect(f"AUTH {login}", "+OK")
        return client

    def get(self, server, path):
        with socket.create_connection(("127.0.0.1", server.http_port), sluiced.LIMIT_S) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            got = b""
            while more := s.recv(4096):
                got += more
            return got

    def test_when_clients_have_taken_all_an_administrator_and_healthz_are_served(self):
        server = self.serve(*self.FLAGS, *self.USERS)
        crowd = [self.client(server, "ann pa") for _ in range(4)]
        # One that is no administrator is told so, and closed.
        one = self.client(server)
        one.expect("AUTH ann pa", "-ERR max number of clients reached: max-connections 4 reached...")
        one.hear(None)
        one = self.client(server)
        one.expect("PING", "-ERR max number of clients reached: ...")
        one.hear(None)
        self.assertIn(b"200 OK", self.get(server, "/healthz"))
        self.assertIn(b"200 OK", self.get(server, "/readyz"))
        root = self.client(server, "root pr")
        root.expect("Q.PUT app q k {} JID a", '"a"')
        self.assertEqual(outside.figure(root, "clients", "reserved_clients"), 1)
        # The others go on; one that leaves makes room for ordinary ones.
        crowd[0].expect("PING", "+PONG")
        crowd.pop().close()
        outside.until(root, "clients", "reserved_clients", 0)
        self.assertGreater(outside.figure(root, "stats", "rejected_connections"), 1)

    def test_a_flood_without_credentials_keeps_nobody_out(self):
        server = self.serve(*self.FLAGS, *self.USERS)
        crowd = [self.client(server) for _ in range(2 * self.NEWCOMERS)]
        ann = self.client(server, "ann pa")
        crowd += [self.client(server) for _ in range(2 * self.NEWCOMERS)]
        ann.expect("PING", "+PONG")
        root = self.client(server, "root pr")
        self.assertGreater(outside.figure(root, "stats", "evicted_connections"),
                           2 * self.NEWCOMERS)
        self.assertIn(b"200 OK", self.get(server, "/healthz"))
        crowd[0].hear("-ERR max number of clients reached")
        crowd[0].hear(None)

    def flood(self, server, count, first=0, http=False):
        """Connections that send nothing, each from an address of its own."""
        crowd = []
        for i in range(first, first + count):
            one = socket.create_connection(
                ("127.0.0.1", server.http_port if http else server.port), sluiced.LIMIT_S,
                source_address=(f"127.1.{i // 250}.{1 + i % 250}", 0))
            self.addCleanup(one.close)
            crowd.append(one)
        self.opened += count
        return crowd

    def until_accepted(self, client):
        """Until the server has seen all that were opened: each listener has a queue of its own."""
        sluiced.until(lambda: outside.figure(client, "stats", "total_connections_received") >=
                      self.opened, "all connections to be accepted")

    def test_a_flood_from_many_addresses_leaves_time_to_authenticate(self):
        # Whether all ordinary connections have users, or all but one.
        for users in (4, 3):
            with self.subTest(users):
                server = self.serve(*self.FLAGS, *self.USERS)
                crowd = [self.client(server, "ann pa") for _ in range(users)]
                self.flood(server, 2 * self.NEWCOMERS)
                self.until_accepted(crowd[0])
                root = self.client(server)
                probe = socket.create_connection(("127.0.0.1", server.http_port), sluiced.LIMIT_S)
                self.opened += 1
                self.addCleanup(probe.close)
                self.flood(server, self.NEWCOMERS // 2, first=1000)
                self.until_accepted(crowd[0])
                probe.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"200 OK", probe.recv(4096))
                root.expect("AUTH root pr", "+OK")
                # A client that has authenticated stays, and an administrator's address is remembered.
                known = self.client(server)
                self.flood(server, 2 * self.NEWCOMERS, first=2000)
                known.expect("AUTH root pr", "+OK")
                for one in (*crowd, root):
                    one.expect("PING", "+PONG")

    def test_a_flood_from_one_address_replaces_its_own(self):
        server = self.serve(*self.FLAGS, *self.USERS)
        crowd = [self.client(server, "ann pa") for _ in range(4)]
        root = self.flood(server, 1)[0]
        for _ in range(4 * self.NEWCOMERS):
            self.client(server)
        root.sendall(request("AUTH", "root", "pr"))
        self.assertEqual(root.recv(100), b"+OK\r\n")
        crowd[0].expect("PING", "+PONG")

    def test_a_user_that_authenticates_takes_the_place_of_an_unauthenticated_one(self):
        server = self.serve(*self.FLAGS, *self.USERS)
        self.flood(server, 20)
        crowd = [self.client(server, "ann pa") for _ in range(4)]
        for one in crowd:
            one.expect("PING", "+PONG")
        fifth = self.client(server)
        fifth.expect("AUTH ann pa", "-ERR max number of clients reached: max-connections 4 reached...")

    def test_the_reserve_holds_as_many_administrators_as_the_setting_says(self):
        server = self.serve(*self.FLAGS, *self.USERS)
        crowd = [self.client(server, "root pr") for _ in range(6)]
        seventh = self.client(server)
        seventh.expect("AUTH root pr",
                       "-ERR max number of clients reached: max-connections 4 reached...")
        crowd[5].expect("PING", "+PONG")

    def test_a_reserved_connection_that_does_not_authenticate_is_closed(self):
        server = self.serve(*self.FLAGS, *self.USERS, "--auth-timeout", "1h")
        crowd = [self.client(server, "ann pa") for _ in range(4)]
        silent = self.client(server)
        silent.hear("-ERR max number of clients reached")
        silent.hear(None)
        crowd[0].expect("PING", "+PONG")

    def test_without_users_the_reserve_takes_no_jobs(self):
        server = self.serve(*self.FLAGS)
        crowd = [self.client(server) for _ in range(4)]
        for one in crowd:
            one.expect("PING", "+PONG")
        admin, worker = self.client(server), self.client(server)
        self.assertIn("connected_clients:6", admin.ask("INFO clients"))
        worker.expect("Q.POP app w 1 q", "-ERR max number of clients reached: ...")
        worker.hear(None)

    def test_limits_for_an_address_and_for_a_user(self):
        server = self.serve("--max-connections-per-address", "3", "--max-connections-per-user", "1",
                            *self.USERS)
        ann, root = self.client(server, "ann pa"), self.client(server, "root pr")
        other = self.client(server)
        other.expect("AUTH ann pa", "-ERR max number of clients reached: "
                     "max-connections-per-user 1 reached for user ann")
        other.hear(None)
        outside.until(root, "clients", "connected_clients", 2)
        other = self.client(server)
        fourth = self.client(server)
        fourth.hear("-ERR max number of clients reached")
        fourth.hear(None)
        self.assertEqual(outside.figure(root, "stats", "rejected_connections_per_address"), 1)
        self.assertEqual(outside.figure(root, "stats", "rejected_logins_per_user"), 1)
        ann.close()
        outside.until(root, "clients", "connected_clients", 2)
        other.expect("AUTH ann pa", "+OK")


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
                file.write(f'#!/bin/sh\nulimit -n $LIMIT\nexec "{os.environ["SLUICED"]}" "$@"\n')
            os.chmod(limited, 0o700)
            with mock.patch.dict(os.environ, {"SLUICED": limited}):
                self.fill_descriptors()
                self.start_with_few()

    def start_with_few(self):
        """It says how many connections there can be; with too few it does not start."""
        with outside.server("--reserved-connections", "4") as server:
            server.stop()
            server.environment["LIMIT"] = "64"
            server.start()
            line = server.hear("open files limit allows fewer connections")
            self.assertIn("connections=12 reserved=4 max-connections=10000 open-files=64 "
                          "open-files-needed=10308", line)
            self.assertIn("ulimit -n", line)
            server.stop()
            server.environment["LIMIT"] = "50"
            with self.assertRaisesRegex(AssertionError, "open files limit 50 allows 2 connections; "
                                        "at least 8 are needed"):
                server.start()
            server.process.wait()
            server.process.stderr.close()

    def fill_descriptors(self):
        server = outside.server("--reserved-connections", "0")
        server.environment["LIMIT"] = "100"
        with server:
            crowd = [sluiced.Client(server) for _ in range(100)]
            busy, room = crowd[0], 100 - 48
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
