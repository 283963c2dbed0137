#!/usr/bin/python3
"""Handles of libsluice that are used after fork(), in the parent and in the child at the same time."""

import os
import subprocess
import unittest

from real import RealServer, sluiced
from shell import LIMIT_S
from tls import TlsTestCase

# Threads that are started after a fork of a process with threads: TSan ends such a program otherwise.
ENVIRONMENT = {**os.environ,
               "TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + ":die_after_fork=0"}


def run(case, url, **environment):
    done = subprocess.run([os.environ["CLIENT_FORK"], url, case], env={**ENVIRONMENT, **environment},
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        raise AssertionError(f"{case}: {done.returncode}\n{done.stderr}")


class Forking(unittest.TestCase):
    def setUp(self):
        self.server = RealServer().__enter__()
        self.addCleanup(self.server.__exit__)
        self.url = f"sluice://127.0.0.1:{self.server.port}"

    def test_puts(self):
        run("puts", self.url)

    def test_pops(self):
        run("pops", self.url)

    # The allocator of a sanitizer, unlike that of glibc, may be locked for ever in the child of a process
    # whose other threads were allocating.
    if not os.environ.get("SANITIZED"):
        def test_while_threads_are_in_calls(self):
            run("threads", self.url)

        def test_handlers_that_fork(self):
            run("handlers", self.url)

    def test_leases_are_kept(self):
        run("keepers", self.url)

    def test_events(self):
        run("events", self.url)

    def test_asynchronous_calls(self):
        run("async", self.url)

    def test_a_pool(self):
        run("pool", self.url)

    def test_an_interrupt(self):
        run("interrupt", self.url)

    def test_a_child_that_only_ends(self):
        run("end", self.url)


class ForkingWithTls(TlsTestCase):
    """The same on connections whose state is more than a descriptor."""

    def run_case(self, case):
        port = self.start()
        run(case, f"sluices://localhost:{port}", SLUICE_CA_FILE=self.path("authority.pem"))

    def test_puts(self):
        self.run_case("puts")

    def test_pops(self):
        self.run_case("pops")

    def test_events(self):
        self.run_case("events")


if __name__ == "__main__":
    sluiced.main()
