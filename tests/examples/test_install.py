#!/usr/bin/python3
"""What is installed is enough to build a program, with the shared library and with the archive."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))
import sluiced  # noqa: E402

BUILD = os.environ["BUILD"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/put.c")


def call(*words, **environment):
    done = subprocess.run(words, env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=sluiced.LIMIT_S, check=False)
    if done.returncode:
        raise AssertionError(f"{shlex.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.root = os.path.join(folder.name, "root")
        call("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", self.root)
        self.pkgconfig = next(path for path, _, files in os.walk(self.root) if "sluice.pc" in files)
        self.libraries = os.path.dirname(self.pkgconfig)

    def flags(self, *words):
        return shlex.split(call("pkg-config", *words, "sluice", PKG_CONFIG_PATH=self.pkgconfig,
                                PKG_CONFIG_SYSROOT_DIR=self.root))

    def try_program(self, *flags, **environment):
        program = os.path.join(self.folder, "put")
        call("cc", SOURCE, *self.flags("--cflags"), "-o", program, *flags)
        jids = call(program, f"file:{self.folder}/jobs", "ann", "bob", **environment)
        self.assertEqual(len(jids.split()), 2)

    def test_with_the_shared_library(self):
        self.try_program(*self.flags("--libs"), LD_LIBRARY_PATH=self.libraries)

    def test_with_the_archive(self):
        flags = [flag for flag in self.flags("--static", "--libs") if flag != "-lsluice"]
        self.try_program(os.path.join(self.libraries, "libsluice.a"), *flags)

    def test_programs_are_there(self):
        for name in ("sluiced", "sluice"):
            path = os.path.join(self.root, "usr/local/bin", name)
            self.assertIn("0.1.0", call(path, "--version", LD_LIBRARY_PATH=self.libraries))


if __name__ == "__main__":
    sluiced.main()
