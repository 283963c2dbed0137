#!/usr/bin/python3
"""Several connections that say at random what a server has of its own: MULTI, SUBSCRIBE, CLIENT REPLY,
pops that wait, floods that the client does not read, ends at any moment. Each is asked now and then
whether it got as many answers as it should have. The seed that is printed replays it."""

import os
import random
import select
import unittest

import outside
import sluiced

SEED = int(os.environ.get("SLUICE_SEED", "1"))
STEPS = 3000 if outside.SANITIZED else 10000
SENT_MAX = 256 << 10  # far below max-unread: the server still reads
NAMES = ["a", "b", "sluice:app:log"]
PATTERNS = ["*", "a*", "?", "sluice:*"]


class Connection(sluiced.Client):
    """One that knows how many answers it has to get. What is a push counts for nothing."""

    def __init__(self, server):
        # A Unix socket holds little: a client that does not read is soon behind.
        super().__init__(server, unix=server.path("socket"))
        self.due, self.multi, self.off, self.skip = 0, False, False, False
        self.sent = 0  # bytes since it last read its replies
        self.may_end = False  # by the server: it listens, or another client has ended it
        self.say("HELLO", "3")
        self.say("CLIENT", "ID")
        self.answer()
        self.id = self.answer()[1:]
        self.due = 0

    def say(self, *words, answers=1):
        self.send(*words)
        self.due += 0 if self.off or self.skip else answers
        self.skip = False

    def send_raw(self, data):
        self.sent += len(data)
        super().send_raw(data)

    def answer(self):
        while (reply := self.read()) is not None and reply.startswith(">"):
            pass
        if reply is None:
            raise ConnectionError("closed by the server")
        return reply

    def settle(self, mark):
        """All that is due comes, and nothing else."""
        if self.off:
            self.leave()
            self.off = self.skip = False
            self.say("CLIENT", "REPLY", "ON")
        self.leave()
        self.say("ECHO", "")  # should a SKIP be left
        self.say("ECHO", mark)
        replies = [self.answer() for _ in range(self.due)]
        self.due = self.sent = 0
        assert replies[-1] == f'"{mark}"', f"wanted {mark}, got {replies[-3:]}"

    def leave(self):
        if self.multi:
            self.multi = False
            self.say("DISCARD")


class SlowReader(Connection):
    """Reads only when it cannot send: the server stops reading a client that does not read its
    replies, and goes on when the client has read them."""

    def send_raw(self, data):
        while data:
            both = [self.socket]
            readable, writable, _ = select.select(both, both, [], sluiced.LIMIT_S)
            assert readable or writable, "all replies are read and the server does not read on"
            if not writable:
                if not self.socket.recv(1 << 16):
                    raise ConnectionError("closed by the server")
                continue
            data = data[self.socket.send(data) :]


class Conversations(unittest.TestCase):
    def act(self, rng, c, others):
        """One random thing; whether the connection is at its end then."""
        big = "x" * rng.choice([1, 20000])
        listens = 1 if c.multi else 0  # refused between MULTI and EXEC, and else all are pushes
        match rng.randrange(16):
            case 0 if not c.multi:
                c.say("MULTI")
                c.multi = True
            case 1:
                c.say("EXEC")
                c.multi = False
            case 2 | 3:
                c.may_end = True
                c.say("SUBSCRIBE", *rng.sample(NAMES, 2), answers=listens)
            case 4:
                c.may_end = True
                c.say("PSUBSCRIBE", *rng.sample(PATTERNS, 3), answers=listens)
            case 5:
                c.say(rng.choice(["UNSUBSCRIBE", "PUNSUBSCRIBE"]), answers=listens)
            case 6 if not c.multi:
                c.off = not c.off
                c.skip = False
                c.say("CLIENT", "REPLY", "OFF" if c.off else "ON")
            case 7 if not c.multi and not c.off:
                c.say("CLIENT", "REPLY", "SKIP", answers=0)
                c.skip = True
            case 8 | 9:
                c.say("Q.POP", "app", "w", "1", "WAIT", rng.choice(["0.001", "0.02"]), "q")
            case 10:
                c.say("Q.PUT", "app", "q", "Do", f'"{big}"')
            case 11:
                c.say("ECHO", big)
            case 12:
                for _ in range(rng.choice([1, 20])):
                    c.say("PUBLISH", rng.choice(NAMES[:2]), big)
            case 13 if rng.random() < 0.2:
                other = rng.choice(others)
                other.may_end = True
                c.say("CLIENT", "KILL", "ID", other.id)
            case 14 if rng.random() < 0.2:
                c.say("QUIT")
                return True
            case 15:
                return rng.random() < 0.2
        return False

    def test_each_gets_its_answers_and_the_server_goes_on(self):
        print(f"# replay with SLUICE_SEED={SEED}")
        rng = random.Random(SEED)
        server = outside.server("--max-output", "64K", "--max-payload", "64K")
        server.flags += ("--listen", "unix:" + server.path("socket"))
        ended = 0
        with server:
            crowd = [SlowReader(server)] + [Connection(server) for _ in range(5)]
            for step in range(STEPS):
                index = rng.randrange(len(crowd))
                c = crowd[index]
                try:
                    gone = self.act(rng, c, crowd)
                    # The first one reads only when it cannot send.
                    full = c.due > 40 or c.sent > SENT_MAX
                    if index and not gone and (rng.random() < 0.1 or full):
                        c.settle(f"step {step}")
                except ConnectionError:
                    self.assertTrue(c.may_end, f"closed at step {step}: {server.log[-1:]}")
                    gone = True
                if gone:
                    ended += 1
                    c.close()
                    crowd[index] = type(c)(server)
            for c in crowd:
                c.close()
            with sluiced.Client(server) as last:
                outside.until(last, "clients", "connected_clients", 1)
                slow = outside.figure(last, "stats", "client_output_buffer_limit_disconnections")
        print(f"# {STEPS} steps, {ended} ends, {slow} of them for what was not read")


if __name__ == "__main__":
    sluiced.main()
