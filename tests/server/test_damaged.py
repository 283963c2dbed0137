#!/usr/bin/python3
"""A store in which one byte was changed: sluiced and the library either refuse it with a sentence,
or open it. They never end by a signal."""

import os
import random
import shutil
import subprocess
import unittest

import outside
import sluiced

SEED = int(os.environ.get("SLUICE_SEED", "1"))
FLIPS = 16  # refused ones
TRIES_MAX = 200
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}

# Every kind of record that a namespace has, and every rare part of a job.
REQUESTS = [
    "Q.CONFIG.SET app heartbeat 3600",
    "Q.LIMIT.SET app QUEUE mail CONCURRENCY 5",
    "Q.LIMIT.SET app QUEUE mail DOMAIN example.org RATE 5 PERIOD 60 BURST 3",
    "Q.POLICY.SET app klass Send MAX-CRASHES 3",
    "Q.RECUR app nightly mail Report {} CRON 0_3_*_*_* ZONE Europe/Berlin TAG report",
    "Q.PUT app mail Send {} JID t1 TAG urgent TAG paid UNIQUE one DOMAIN example.org",
    "Q.PUT app mail Send {} JID t2 TAG urgent UNIQUE two",
    "Q.PUT app mail Send {} JID t3 DEPENDS t1 TAG later",
    "Q.PUT app mail Send {} JID t4 DELAY 3600 DEADLINE 4000000000",
    "Q.PUT app mail Send {} JID t5",
    "Q.TRACK app t1",
    "Q.POP app w1 1 mail",
    "Q.BULK app tag QUEUE mail TAG swept",
]


def flip(path, at, bit):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


class Damaged(unittest.TestCase):
    def fill(self, client):
        for request in REQUESTS:
            reply = client.ask(*(word.replace("_", " ") for word in request.split(" ")))
            self.assertFalse(reply.startswith("-"), f"{request}: {reply}")
        for i in range(200):
            client.expect(f"Q.PUT app more Send {{}} JID m{i} TAG t{i % 7} UNIQUE u{i}", f'"m{i}"')

    def start(self, folder):
        """Starts sluiced on a folder; gives its exit code and what it wrote. One that comes up is
        told to end."""
        process = subprocess.Popen(
            [os.environ["SLUICED"], "--data", folder, "--listen", "127.0.0.1:0", "--http", "", "--grpc", ""],
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        lines = []
        for line in process.stderr:
            lines.append(line)
            if " ready " in line:
                process.terminate()
        process.stderr.close()
        return process.wait(sluiced.LIMIT_S), "".join(lines)

    def open(self, folder):
        done = subprocess.run([os.environ["SLUICE"], "--url", "file:" + folder, "queues"],
                              env=ENVIRONMENT, text=True, capture_output=True,
                              timeout=sluiced.LIMIT_S, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_changed_byte_is_told_of_by_the_server_and_by_the_library(self):
        print(f"# replay with SLUICE_SEED={SEED}")
        chance = random.Random(SEED)
        with outside.server() as server:
            with sluiced.Client(server) as client:
                self.fill(client)
            server.stop()
            data, copy = server.path("data"), server.path("copy")
            with open(os.path.join(data, "base/data.mdb"), "rb") as file:
                used = [at for at, byte in enumerate(file.read()) if byte]
            refused = tried = 0
            # A byte of a page that the base does not use any more is not missed.
            while refused < FLIPS and tried < TRIES_MAX:
                tried += 1
                at, bit = chance.choice(used), chance.randrange(8)
                for opens in (self.start, self.open):
                    shutil.copytree(data, copy)
                    flip(os.path.join(copy, "base/data.mdb"), at, bit)
                    code, said = opens(copy)
                    where = f"byte {at}, bit {bit}, {opens.__name__}: {code}\n{said}"
                    self.assertIn(code, (0, 1), where)
                    self.assertNotIn("Assertion", said, where)
                    self.assertNotIn("Sanitizer", said, where)
                    if code:
                        self.assertIn("nothing was changed", said, where)
                        refused += 1
                    shutil.rmtree(copy)
            print(f"# {refused} of {2 * tried} were refused")
            self.assertGreaterEqual(refused, FLIPS)


if __name__ == "__main__":
    sluiced.main()
