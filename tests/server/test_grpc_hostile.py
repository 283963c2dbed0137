#!/usr/bin/python3
"""Frames of HTTP/2 from those who mean harm: floods of pings, settings, resets, continuations and
empty frames, windows of zero, half frames, and heads without end. The server stays as small as it
was, closes the connection that did it, and goes on to serve others."""

import gzip
import signal
import socket
import struct
import unittest

import hpack

import outside
import sluiced

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, PROTOCOL_ERROR, CALM = 0, 1, 11
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
EXECUTE = "/sluice.v1.Queue/Execute"
EMPTY = b"\0\0\0\0\0"  # an empty message
GROWTH_KIB_MAX = (192 if outside.SANITIZED else 32) << 10  # what a flood may leave


def frame(kind, flags, stream, body=b""):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0)


def fields(path=CHECK, more=()):
    return [(":method", "POST"), (":path", path), (":scheme", "http"), (":authority", "localhost"), ("te", "trailers"),
            ("content-type", "application/grpc"), *more]


def block(path=CHECK, more=()):
    return hpack.Encoder().encode(fields(path, more))


def head(stream, path=CHECK, flags=END_HEADERS, more=()):
    return frame(HEADERS, flags, stream, block(path, more))


def varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def framed(message, packed=0):
    return struct.pack(">BI", packed, len(message)) + message


def call(stream, path, message, more=()):
    """The frames of a call with a message."""
    parts = [message[at:at + 16384] for at in range(0, len(message), 16384)]
    return head(stream, path, more=more) + b"".join(
        frame(DATA, END_STREAM if part is parts[-1] else 0, stream, part) for part in parts)


class Peer:
    """A client that sends any bytes and reads frames."""

    def __init__(self, server, receive_size=None):
        self.socket = socket.socket()
        if receive_size:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_size)
        self.socket.settimeout(sluiced.LIMIT_S)
        self.socket.connect(("127.0.0.1", server.grpc_port))
        self.decoder = hpack.Decoder()
        self.kept = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """Whether the server took it all."""
        try:
            self.socket.sendall(data)
            return True
        except ConnectionError:
            return False

    def read(self):
        """The next frame as (kind, flags, stream, body); None at the end."""
        while True:
            if len(self.kept) >= 9:
                size = int.from_bytes(self.kept[:3], "big")
                if len(self.kept) >= 9 + size:
                    kind, flags = self.kept[3], self.kept[4]
                    stream = int.from_bytes(self.kept[5:9], "big")
                    body, self.kept = self.kept[9:9 + size], self.kept[9 + size:]
                    return kind, flags, stream, body
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                return None
            if not more:
                return None
            self.kept += more

    def until(self, kind, stream=None, acked=False):
        """The body of the next frame of a kind; None: the connection ended before."""
        while got := self.read():
            if got[0] == kind and stream in (None, got[2]) and (not acked or got[1] & ACK):
                return got[3]
        return None

    def status(self, stream):
        """The grpc-status of a stream, from its trailers; "reset" when it was reset."""
        while got := self.read():
            if got[0] == HEADERS:
                found = dict(self.decoder.decode(got[3]))
                if got[2] == stream and "grpc-status" in found:
                    return int(found["grpc-status"])
            elif got[0] == RST_STREAM and got[2] == stream:
                return "reset"
        return None

    def goaway(self):
        """The code of the GOAWAY and what is said with it; None: there was none."""
        body = self.until(GOAWAY)
        return body and (int.from_bytes(body[4:8], "big"), body[8:].decode())


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = sluiced.Server("--http", "", "--grpc", "127.0.0.1:0", "--idle-timeout", "0").__enter__()
        with Peer(cls.server) as peer:  # what is allocated once is
            peer.send(PREFACE + head(1) + frame(DATA, END_STREAM, 1, EMPTY))
            peer.status(1)
        cls.before = cls.resident()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    @classmethod
    def resident(cls):
        with open(f"/proc/{cls.server.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))

    def tearDown(self):
        """Others are served, and the server is not larger."""
        with Peer(self.server) as peer:
            self.assertTrue(peer.send(PREFACE + head(1) + frame(DATA, END_STREAM, 1, EMPTY)))
            self.assertEqual(peer.status(1), 0)
        self.assertLess(self.resident() - self.before, GROWTH_KIB_MAX)

    def flood(self, data, times=1):
        """Sends it until the server closes the connection; gives what the server said at its end."""
        with Peer(self.server) as peer:
            peer.send(PREFACE)
            for _ in range(times):
                if not peer.send(data):
                    break
            return peer.goaway()

    def test_pings_too_soon(self):
        self.assertEqual(self.flood(frame(PING, 0, 0, bytes(8)) * 4), (CALM, "too_many_pings"))

    def test_pings_between_calls_are_answered(self):
        with Peer(self.server) as peer:
            peer.send(PREFACE)
            for i in range(20):
                stream = 2 * i + 1
                peer.send(head(stream) + frame(DATA, END_STREAM, stream, EMPTY))
                self.assertEqual(peer.status(stream), 0)
                peer.send(frame(PING, 0, 0, struct.pack(">Q", i)))
                self.assertEqual(peer.until(PING, acked=True), struct.pack(">Q", i))

    def test_settings(self):
        self.assertEqual(self.flood(frame(SETTINGS, 0, 0) * 1000, times=1000)[0], CALM)

    def test_settings_that_nobody_reads_the_acks_of(self):
        with Peer(self.server, receive_size=4096) as peer:
            peer.send(PREFACE)
            while peer.send(frame(SETTINGS, 0, 0) * 1000):
                pass

    def test_empty_data(self):
        self.assertEqual(self.flood(head(1, WATCH) + frame(DATA, 0, 1) * 1000 + frame(DATA, 0, 1) * 10000)[0], CALM)

    def test_priorities_and_window_updates(self):
        self.assertEqual(self.flood(frame(PRIORITY, 0, 1, b"\0\0\0\0\x10") * 1000, times=100)[0], CALM)
        self.assertEqual(self.flood(frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1") * 1000, times=100)[0], CALM)

    def test_rapid_reset(self):
        data = b"".join(head(2 * i + 1, WATCH) + frame(DATA, END_STREAM, 2 * i + 1, EMPTY) +
                        frame(RST_STREAM, 0, 2 * i + 1, struct.pack(">I", 8)) for i in range(5000))
        self.assertIsNotNone(self.flood(data))
        self.server.hear("too many streams were reset")

    def test_continuations(self):
        more = frame(CONTINUATION, 0, 1, hpack.Encoder().encode([("x", "y")]))
        self.assertEqual(self.flood(frame(HEADERS, 0, 1, block()) + more * 1000)[0], PROTOCOL_ERROR)

    def test_a_head_that_unpacks_to_very_much(self):
        bomb = hpack.Encoder().encode(fields() + [("k", "v" * 3900)])
        reference = bytes([0x80 | 62])  # the entry that was just made
        with Peer(self.server) as peer:
            peer.send(PREFACE + frame(HEADERS, 0, 1, bomb + reference * 8000))
            peer.send(frame(CONTINUATION, END_HEADERS, 1, reference * 16000))
            self.assertIsNotNone(peer.goaway())

    def test_a_head_that_is_too_large(self):
        with Peer(self.server) as peer:
            more = [("k", "v" * 1000)] * 20  # one after the first takes a byte
            peer.send(PREFACE + head(1, flags=END_HEADERS | END_STREAM, more=more))
            self.assertEqual(peer.status(1), 8)

    def test_more_streams_than_allowed(self):
        with Peer(self.server) as peer:
            peer.send(PREFACE)
            for i in range(1200):
                if not peer.send(head(2 * i + 1, WATCH)):
                    break
            self.assertIn(peer.status(2401 - 2), ("reset", None))

    def test_a_window_of_zero_holds_the_answer_and_nothing_else(self):
        with Peer(self.server) as peer:
            peer.send(PREFACE + frame(SETTINGS, 0, 0, b"\0\4\0\0\0\0"))
            for stream in range(1, 401, 2):
                peer.send(head(stream) + frame(DATA, END_STREAM, stream, EMPTY))
            with Peer(self.server) as other:
                other.send(PREFACE + head(1) + frame(DATA, END_STREAM, 1, EMPTY))
                self.assertEqual(other.status(1), 0)
            peer.send(frame(WINDOW_UPDATE, 0, 399, b"\0\1\0\0"))
            self.assertEqual(peer.status(399), 0)

    def test_answers_that_nobody_reads(self):
        """Large answers on many streams, with windows as large as can be and nothing read."""
        words = [b"COMMAND"]
        message = b"".join(b"\x0a" + bytes([len(word)]) + word for word in words)
        request = b"\0" + struct.pack(">I", len(message)) + message
        with Peer(self.server, receive_size=4096) as peer:
            peer.send(PREFACE + frame(SETTINGS, 0, 0, b"\0\4\x7f\xff\xff\xff") +
                      frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7fff0000 - 65535)))
            peer.socket.settimeout(2)
            try:
                for stream in range(1, 401, 2):
                    if not peer.send(head(stream, EXECUTE) + frame(DATA, END_STREAM, stream, request)):
                        break
            except TimeoutError:
                pass  # it is not read any more, which is right
            with Peer(self.server) as other:
                other.send(PREFACE + head(1) + frame(DATA, END_STREAM, 1, EMPTY))
                self.assertEqual(other.status(1), 0)

    def test_half_a_message_on_each_stream(self):
        """What all streams keep of messages that are not complete is bounded."""
        size = 15 << 20
        part = b"\0" + struct.pack(">I", size) + bytes(16384 - 5)
        with Peer(self.server) as peer:
            peer.send(PREFACE)
            for i in range(300):
                stream = 2 * i + 1
                data = head(stream, EXECUTE) + frame(DATA, 0, stream, part)
                data += frame(DATA, 0, stream, bytes(16384)) * 2
                if not peer.send(data):
                    break
            peer.send(frame(PING, 0, 0, bytes(8)))
            self.assertIsNotNone(peer.until(PING, acked=True))
            self.assertLess(self.resident() - self.before, 3 * GROWTH_KIB_MAX)

    def test_frames_byte_by_byte_and_cut_off(self):
        data = PREFACE + head(1) + frame(DATA, END_STREAM, 1, EMPTY)
        with Peer(self.server) as peer:
            peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in data:
                peer.send(bytes([byte]))
            self.assertEqual(peer.status(1), 0)
        for size in range(0, len(data), 7):
            with Peer(self.server) as peer:
                peer.send(data[:size])

    def test_what_is_no_http_2(self):
        for data in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"*1\r\n$4\r\nPING\r\n", bytes(100)):
            with Peer(self.server) as peer:
                peer.send(data)
                self.assertIsNone(peer.read())

    def test_wrong_frames(self):
        for data in (frame(DATA, 0, 5, b"abc"), frame(PUSH, END_HEADERS, 1, struct.pack(">I", 2)),
                     frame(SETTINGS, 0, 0, b"abc"), frame(HEADERS, END_HEADERS, 2, block()),
                     frame(WINDOW_UPDATE, 0, 0, bytes(4)), frame(PING, 0, 0, b"short"),
                     head(1) + frame(CONTINUATION, END_HEADERS, 1), struct.pack(">I", 1 << 24)[1:] * 5):
            with self.subTest(data=data[:12]):
                with Peer(self.server) as peer:
                    peer.send(PREFACE + data)
                    peer.socket.shutdown(socket.SHUT_WR)
                    while peer.read():
                        pass


class Stop(unittest.TestCase):
    def test_a_notice_comes_before_the_last_stream_is_named(self):
        with sluiced.Server("--http", "", "--grpc", "127.0.0.1:0") as server:
            with Peer(server) as silent, Peer(server) as peer:
                for each in silent, peer:
                    each.send(PREFACE + head(1, WATCH) + frame(DATA, END_STREAM, 1, EMPTY))
                    self.assertIsNotNone(each.until(DATA, 1))
                server.process.send_signal(signal.SIGTERM)
                for each in silent, peer:
                    self.assertEqual(each.until(GOAWAY)[:8], b"\x7f\xff\xff\xff" + bytes(4))
                ping = peer.until(PING)
                peer.send(head(3) + frame(DATA, END_STREAM, 3, EMPTY) + frame(PING, ACK, 0, ping))
                self.assertEqual(peer.status(3), "reset")
                for each in silent, peer:
                    last = each.until(GOAWAY)
                    self.assertIn(int.from_bytes(last[:4], "big"), (1, 3))
                    self.assertEqual(last[4:8], bytes(4))
                self.assertEqual(server.process.wait(sluiced.LIMIT_S), 0)


class Unread(unittest.TestCase):
    """Answers that a client does not let through are bounded for all streams together."""

    def test_answers_on_all_streams(self):
        with sluiced.Server("--http", "", "--grpc", "127.0.0.1:0", "--max-output", "1M", "--max-request",
                            "1M") as server:
            with Peer(server) as peer:
                peer.send(PREFACE + frame(SETTINGS, 0, 0, b"\0\4\0\0\0\0"))
                request = framed(b"\x0a\x07COMMAND" + b"\x7a" + varint(60000) + bytes(60000))  # a field that is not known
                for i in range(900):
                    self.assertTrue(peer.send(call(2 * i + 1, EXECUTE, request)))
                begun = refused = 0
                while refused < 840:  # some wait, and the others do not fit beside them
                    kind, _, _, body = peer.read()
                    if kind == HEADERS:
                        found = dict(peer.decoder.decode(body))
                        self.assertIn(found.get("grpc-status"), (None, "8"), found)
                        begun, refused = begun + ("grpc-status" not in found), refused + ("grpc-status" in found)
                self.assertLess(begun, 60)  # 512 KiB of them
                # A stream that is given up makes room for others.
                for i in range(890):
                    peer.send(frame(RST_STREAM, 0, 2 * i + 1, struct.pack(">I", 8)))
                peer.send(call(2001, CHECK, EMPTY) + frame(WINDOW_UPDATE, 0, 2001, b"\0\1\0\0"))
                self.assertEqual(peer.status(2001), 0)


class Unauthenticated(unittest.TestCase):
    """A client that has not said who it is gets little."""

    def test_its_bytes_are_bounded_by_a_small_window(self):
        with sluiced.Server("--http", "", "--grpc", "127.0.0.1:0", "--password", "secret") as server:
            with Peer(server) as peer:
                peer.send(PREFACE)
                sizes = {}
                while not sizes:
                    got = peer.read()
                    self.assertIsNotNone(got)
                    if got[0] == SETTINGS and not got[1] & ACK:
                        body = got[3]
                        sizes = {int.from_bytes(body[i:i + 2], "big"): int.from_bytes(body[i + 2:i + 6], "big")
                                 for i in range(0, len(body), 6)}
                self.assertNotIn(4, sizes)  # INITIAL_WINDOW_SIZE stays 65535
                peer.send(head(1, EXECUTE) + b"".join(frame(DATA, 0, 1, bytes(16384)) for _ in range(6)))
                self.assertIn(peer.status(1), (16, None))

    def test_a_message_unpacks_to_no_more_than_one_that_is_not_packed(self):
        with sluiced.Server("--http", "", "--grpc", "127.0.0.1:0", "--password", "secret") as server:
            with Peer(server) as peer:
                peer.send(PREFACE)
                for stream, size, status in ((1, 100000, 8), (3, 1000, 5)):
                    bomb = framed(gzip.compress(b"\x0a" + varint(size) + b"h" * size), packed=1)
                    peer.send(call(stream, CHECK, bomb, more=[("grpc-encoding", "gzip")]))
                    self.assertEqual(peer.status(stream), status)

    def test_it_is_closed_when_it_says_nothing(self):
        with sluiced.Server("--http", "", "--grpc", "127.0.0.1:0", "--password", "secret", "--auth-timeout",
                            "1s") as server:
            with Peer(server) as peer:
                peer.send(PREFACE)
                while peer.read():
                    pass


if __name__ == "__main__":
    sluiced.main()
