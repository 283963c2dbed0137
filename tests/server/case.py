"""A test case with servers and clients that end with the test."""

import unittest

import outside  # noqa: F401 (the path of sluiced.py)
import sluiced


class Case(unittest.TestCase):
    def serve(self, *flags):
        server = sluiced.Server("--segment-size", "1M", "--reserve-size", "1M", *flags)
        server.start()
        self.addCleanup(server.__exit__)
        return server

    def client(self, server):
        client = sluiced.Client(server)
        self.addCleanup(client.close)
        return client
