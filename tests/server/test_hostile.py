#!/usr/bin/python3
"""Clients that do not read, that write a byte at a time, that declare more than they send, that
speak something else, or that are not there any more."""

import ctypes
import os
import random
import socket
import threading
import time
import unittest

import outside
import sluiced
from outside import MIB, request

SEED = int(os.environ.get("SLUICE_SEED", "1"))
MANY = 20000 if outside.SANITIZED else 100000


class Case(unittest.TestCase):
    def serve(self, *flags):
        server = outside.server(*flags)
        server.start()
        self.addCleanup(server.__exit__)
        return server

    def client(self, server):
        client = sluiced.Client(server)
        self.addCleanup(client.close)
        return client


class SlowReaders(Case):
    FLAGS = ("--max-output", "4M", "--max-request", "1M", "--max-payload", "1M")

    def fill(self, client, data):
        """Sends the same again and again until the server takes no more; gives how often."""
        client.socket.setblocking(False)
        sent = 0
        total = 256 * MIB
        try:
            while sent < total:
                sent += client.socket.send(data[sent % len(data):])
        except BlockingIOError:
            # It may only be slow: it is held up if nothing goes for a while.
            client.socket.settimeout(0.5)
            try:
                while sent < total:
                    sent += client.socket.send(data[sent % len(data):])
            except TimeoutError:
                pass
        client.socket.settimeout(sluiced.LIMIT_S)
        return sent

    def test_one_that_does_not_read_is_held_up_and_gets_everything_when_it_does(self):
        server = self.serve(*self.FLAGS)
        slow, other = self.client(server), self.client(server)
        other.expect("PING", "+PONG")
        before = outside.resident(server)
        word = os.urandom(32768).hex().encode()
        one = request("ECHO", word)
        sent = self.fill(slow, one)
        grown = outside.resident(server) - before
        print(f"# {sent >> 20} MiB sent unread, the server grew by {grown >> 10} KiB")
        self.assertLess(sent, 64 * MIB)
        self.assertLess(grown, (64 if outside.SANITIZED else 24) * MIB)
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        for _ in range(sent // len(one)):
            self.assertEqual(slow.read(), f'"{word.decode()}"')
        slow.send_raw(one[sent % len(one):])
        slow.hear(f'"{word.decode()}"')

    def test_strangers_that_do_not_read_take_little_memory(self):
        server = self.serve("--password", "secret")
        other = self.client(server)
        other.expect("AUTH secret", "+OK")
        strangers = [self.client(server) for _ in range(3)]
        for stranger in strangers:
            self.fill(stranger, request("HELLO", "3") * 4000)
        sizes = [int(line.split(" tot-mem=")[1].split(" ")[0])
                 for line in other.ask("CLIENT LIST").split("\n") if " user=(none) " in line]
        self.assertEqual(len(strangers), len(sizes))
        self.assertLess(max(sizes), MIB // 2)
        for stranger in strangers:
            stranger.hear("-NOAUTH HELLO must be called...")
        other.expect("PING", "+PONG")

    def test_one_whose_replies_wait_for_the_disk_is_held_up_too(self):
        server = self.serve("--max-pipeline", "100")
        slow, other = self.client(server), self.client(server)
        put = request("Q.PUT", "app", "mail", "Send", '{"pad":"' + "x" * 1000 + '"}')
        count = MANY // 10
        writer = threading.Thread(target=slow.send_raw, args=(put * count,))
        writer.start()
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        for _ in range(count):
            self.assertEqual(len(slow.read()), 38)
        writer.join()
        other.expect("Q.LENGTH app mail", f":{count + 1}")

    def test_a_subscriber_that_does_not_read_is_closed(self):
        server = self.serve(*self.FLAGS)
        slow, other = self.client(server), self.client(server)
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.expect("SUBSCRIBE sluice:app:log", '["subscribe", "sluice:app:log", :1]')
        before = outside.resident(server)
        group = "g" * 255
        end = time.monotonic() + sluiced.LIMIT_S
        while outside.figure(other, "clients", "connected_clients") > 1:
            self.assertLess(time.monotonic(), end)
            other.send_raw(request("Q.PUT", "app", group, group, "{}", "JID", "j") * 1000)
            for _ in range(1000):
                other.hear('"j"')
        grown = outside.resident(server) - before
        print(f"# the server grew by {grown >> 10} KiB")
        self.assertLess(grown, (128 if outside.SANITIZED else 32) * MIB)


class Pieces(Case):
    PIPELINE = (request("PING") + request("Q.PUT", "app", "mail", "Send", '{"a":\r\n1}', "JID", "j") +
                b"ECHO 'two words'\r\n" + request("Q.GET", "app", "nobody") + request("ECHO", ""))
    REPLIES = ("+PONG", '"j"', '"two words"', "[nil]", '""')

    def test_requests_in_two_pieces_wherever_they_are_cut(self):
        server = self.serve()
        other = self.client(server)
        for at in range(1, len(self.PIPELINE)):
            with sluiced.Client(server) as client:
                client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.send_raw(self.PIPELINE[:at])
                other.expect("PING", "+PONG")  # it has seen the first piece by now
                client.send_raw(self.PIPELINE[at:])
                for reply in self.REPLIES:
                    client.hear(reply)

    def test_requests_byte_by_byte_on_many_connections_at_once(self):
        server = self.serve()
        clients = [self.client(server) for _ in range(20)]
        for client in clients:
            client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(self.PIPELINE)):
            for client in clients:
                client.send_raw(self.PIPELINE[at:at + 1])
        for client in clients:
            for reply in self.REPLIES:
                client.hear(reply)

    def pipeline(self, client, one, count):
        """Very many requests in one write; yields the replies."""
        writer = threading.Thread(target=client.send_raw, args=(one * count,))
        writer.start()
        for _ in range(count):
            yield client.read()
        writer.join()

    def test_very_many_pings_in_one_write(self):
        server = self.serve()
        client = self.client(server)
        for one in (request("PING"), b"PING\r\n"):
            for reply in self.pipeline(client, one, MANY):
                self.assertEqual(reply, "+PONG")

    def test_very_many_puts_in_one_write(self):
        server = self.serve()
        client = self.client(server)
        one = request("Q.PUT", "app", "mail", "Send", "{}")
        jids = set(self.pipeline(client, one, MANY))
        self.assertEqual(len(jids), MANY)
        client.expect("Q.LENGTH app mail", f":{MANY}")
        self.assertIn('"broken", :0', client.ask("Q.CHECK app FORCE"))

    def test_waiting_in_the_middle_of_a_pipeline_keeps_the_order(self):
        server = self.serve()
        client, other = self.client(server), self.client(server)
        client.send_raw(request("PING") + request("Q.POP", "app", "w", 1, "WAIT", 0, "mail") +
                        request("ECHO", "x") * 1000)
        client.hear("+PONG")
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        client.hear('[["jid", "ann", ...')
        for _ in range(1000):
            client.hear('"x"')


class Lies(Case):
    BROKEN = [b"*1000000000\r\n", b"*2147483648\r\n", b"*99999999999999999999\r\n",
              b"*1\r\n$9999999999\r\n", b"*1\r\n$99999999999999999999\r\n", b"*1\r\n$-5\r\n",
              b"*1\r\n$abc\r\n", b"*x\r\n", b"*1\r\n:1\r\n", b"*2\r\n$4\r\nPINGxx$1\r\nx\r\n",
              b"'no end\r\n", b"x" * (2 * MIB) + b"\r\n"]

    def test_what_cannot_be_is_refused_and_the_connection_closed(self):
        server = self.serve()
        other = self.client(server)
        other.expect("PING", "+PONG")
        before = outside.resident(server)
        for bytes_ in self.BROKEN:
            with sluiced.Client(server) as client:
                try:
                    client.send_raw(bytes_)
                    reply = client.read()
                    self.assertTrue(reply is None or reply.startswith("-"),
                                    f"{bytes_[:40]}: {reply}")
                    while client.read() is not None:
                        pass
                except ConnectionError:
                    pass
                except TimeoutError:
                    self.fail(f"{bytes_[:40]}: neither refused nor closed")
                other.expect("PING", "+PONG")
        self.assertLess(outside.resident(server) - before, 32 * MIB)
        outside.until(other, "clients", "connected_clients", 1)

    def test_what_is_declared_and_not_sent_takes_no_memory(self):
        server = self.serve()
        other = self.client(server)
        other.expect("PING", "+PONG")
        before = outside.resident(server)
        clients = []
        for i in range(500):
            clients.append(self.client(server))
            clients[-1].send_raw((b"*16000\r\n", b"*2\r\n$4\r\nECHO\r\n$1048576\r\nabc")[i % 2])
        outside.until(other, "clients", "connected_clients", 501)
        grown = outside.resident(server) - before
        print(f"# {grown // 500} bytes for each of 500 that declare much and send little")
        self.assertLess(grown, 500 * (512 if outside.SANITIZED else 160) * 1024)
        for client in clients:
            client.close()
        outside.until(other, "clients", "connected_clients", 1)

    def test_garbage(self):
        print(f"# replay with SLUICE_SEED={SEED}")
        rng = random.Random(SEED)
        server = self.serve()
        other = self.client(server)
        pieces = [b"*", b"$", b"\r\n", b"\n", b"1", b"-1", b"3", b"PING", b"Q.PUT", b"'", b'"',
                  b"\\x", b"\0", b" ", b"Q.POP app w 1 WAIT 0 mail", b"MULTI\r\n", b"EXEC\r\n",
                  b"RESET\r\n", b"*1\r\n$4\r\nPING\r\n"]
        for _ in range(300 if outside.SANITIZED else 3000):
            data = b"".join(rng.choice(pieces) if rng.random() < 0.8 else rng.randbytes(5)
                            for _ in range(rng.randrange(1, 30)))
            with sluiced.Client(server) as client:
                client.send_raw(data)
                if rng.random() < 0.5:
                    client.socket.shutdown(socket.SHUT_WR)
                    try:
                        while client.socket.recv(65536):
                            pass
                    except ConnectionError:
                        pass
        other.expect("PING", "+PONG")
        outside.until(other, "clients", "connected_clients", 1)
        outside.until(other, "clients", "blocked_clients", 0)

    def test_http_is_not_taken_for_commands(self):
        server = self.serve()
        other = self.client(server)
        for head in (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n",
                     b"PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\n"):
            with sluiced.Client(server) as client:
                client.send_raw(head + b"Q.PUT app mail Send {} JID evil\r\n")
                try:
                    while client.read() is not None:
                        pass
                except ConnectionError:
                    pass
            other.expect("Q.GET app evil", "[nil]")


class Gone(Case):
    def test_a_client_that_vanished_without_a_word_is_noticed(self):
        """In the repair mode of TCP a socket is closed without anything being sent."""
        server = self.serve("--tcp-keepalive", "1s")
        client, other = sluiced.Client(server), self.client(server)
        client.send("Q.POP", "app", "w", 1, "WAIT", 0, "mail")
        outside.until(other, "clients", "blocked_clients", 1)
        try:
            client.socket.setsockopt(socket.IPPROTO_TCP, 19, 1)  # TCP_REPAIR
        except PermissionError:
            client.close()
            self.skipTest("TCP_REPAIR needs CAP_NET_ADMIN")
        client.close()
        outside.until(other, "clients", "blocked_clients", 0)
        other.expect("Q.PUT app mail Send {} JID ann", '"ann"')
        self.assertIn('"ann"', other.ask("Q.POP app x 1 mail"))

    def test_a_client_that_takes_nothing_of_what_it_is_sent_is_given_the_same_time(self):
        """No packet can be lost here, so it is only looked whether the system was told."""
        server = self.serve("--tcp-keepalive", "60s")
        client = self.client(server)
        fd = int(client.ask("CLIENT INFO").split(" fd=")[1].split(" ")[0])
        pidfd = os.pidfd_open(server.process.pid)
        self.addCleanup(os.close, pidfd)
        copy = ctypes.CDLL(None).syscall(438, pidfd, fd, 0)  # pidfd_getfd
        if copy < 0:
            self.skipTest("pidfd_getfd is not allowed")
        with socket.socket(fileno=copy) as side:
            user_timeout = 18
            self.assertEqual(side.getsockopt(socket.IPPROTO_TCP, user_timeout), 90000)

    def test_a_client_that_has_said_all_it_will_say_still_gets_its_answers(self):
        server = self.serve()
        with sluiced.Client(server) as client:
            client.send_raw(request("Q.PUT", "app", "mail", "Send", "{}", "JID", "ann") * 1000)
            client.socket.shutdown(socket.SHUT_WR)
            for _ in range(1000):
                client.hear('"ann"')
            client.hear(None)


if __name__ == "__main__":
    sluiced.main()
