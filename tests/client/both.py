"""Tests that are the same for a queue on a server and for one in the process."""

import tempfile
import unittest

import real
from shell import LIMIT_S, Shell


class Local(unittest.TestCase):
    """What real.TestCase has, for a folder."""

    maxDiff = None
    durability = "never"

    def setUp(self):
        self.held = set()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.url = f"file:{folder.name}/jobs?durability={self.durability}"
        self.shell = Shell()
        self.addCleanup(self.shell.__exit__, None)

    open = real.TestCase.open
    put = real.TestCase.put
    take = real.TestCase.take
    free = real.TestCase.free
    call = real.TestCase.call
    field = real.TestCase.field
    LIMIT_S = LIMIT_S


def both(tests):
    """A class of tests for each of the two: `tests` becomes Tests_server and Tests_process."""
    module = __import__("__main__")
    for base, kind in ((real.TestCase, "server"), (Local, "process")):
        name = f"{tests.__name__}_{kind}"
        setattr(module, name, type(name, (tests, base), {"__module__": "__main__"}))
    return tests
