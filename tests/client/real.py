"""A real sluiced, and a client_shell that talks to it."""

import os
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))

import sluiced
from shell import LIMIT_S, Shell

PUT = {"queue": "q", "klass": "k", "data": "{}"}


class RealServer(sluiced.Server):
    def kill(self):
        """As if the power of the process were cut."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()

    def start_again(self):
        """Where it was."""
        address = f"127.0.0.1:{self.port}"
        if address not in self.flags:
            self.flags = (*self.flags, "--listen", address)
        self.start()


class TestCase(unittest.TestCase):
    flags = ()
    maxDiff = None
    lease_s = None

    def setUp(self):
        self.held = set()
        self.server = RealServer(*self.flags).__enter__()
        self.addCleanup(self.server.__exit__)
        self.url = f"sluice://127.0.0.1:{self.server.port}"
        self.shell = Shell()
        self.addCleanup(self.shell.__exit__, None)

    def open(self, name="q", url=None, timeout=LIMIT_S, **options):
        self.shell.open(name, url or self.url, timeout=timeout, **options)
        self.addCleanup(self.shell.ask, "close", name)

    def put(self, jid, queue="q", **more):
        return self.shell.ok("put", "q", {**PUT, "jid": jid, "queue": queue, **more})["jid"]

    def take(self, jid, name=None, queue="q", handle="q"):
        """Takes the next job, which must be that one, and frees it at the end."""
        answer = self.shell.ok("next", handle, queue, LIMIT_S, name or jid)
        self.assertEqual(answer["jobs"], [jid])
        self.held.add(name or jid)
        self.addCleanup(self.free, name or jid)

    def free(self, name):
        if name in self.held:
            self.held.remove(name)
            self.shell.ok("free", name)

    def set_lease(self, seconds, handle="q"):
        """A lease of the library's jobs, at whose end they are lost at once."""
        self.lease_s = seconds
        self.call("Q.CONFIG.SET", "heartbeat", str(seconds), handle=handle)
        self.call("Q.CONFIG.SET", "grace-period", "0", handle=handle)

    def outlive_the_lease(self, *names):
        """Has jobs kept until each was renewed when its first lease would have been over."""
        ends = {name: self.shell.ok("show", name)["expires"] for name in names}
        for name in names:
            self.shell.ok("keepalive", name)
        limit = time.monotonic() + LIMIT_S
        while any(self.shell.ok("show", name)["expires"] < end + self.lease_s
                  for name, end in ends.items()):
            self.assertLess(time.monotonic(), limit, "a lease is not renewed")
            self.assertEqual(self.shell.status("next", "q", "q", 0.5, "nobody's"), "timed_out")

    def call(self, *words, handle="q"):
        return self.shell.ok("call", handle, list(words))["value"]

    def field(self, jid, name):
        return self.shell.ok("get", "q", jid)["value"][name]
