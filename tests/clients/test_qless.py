#!/usr/bin/python3
"""The face of qless: all tests of the folder qless/ against a server. Those of a checkout of
qless-core, named by SLUICE_QLESS_CORE, are run by qless/run-core-tests."""

import os
import pathlib
import sys
import unittest

import sluiced

FOLDER = pathlib.Path(__file__).parent / "qless"


def main():
    sys.path.insert(0, str(FOLDER))
    with sluiced.Server("--allow-flush", "yes") as server:
        os.environ["SLUICE_ADDRESS"] = f"127.0.0.1:{server.port}"
        tests = unittest.defaultTestLoader.discover(FOLDER, "test_*.py")
        result = sluiced.Runner().run(tests)
    raise SystemExit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
