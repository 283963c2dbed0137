#!/usr/bin/python3
"""What is installed is enough to build a program, with the shared library and with the archive."""

import os
import shlex
import shutil
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

    def path(self, *parts):
        return os.path.join(self.root, "usr/local", *parts)

    def read(self, *parts):
        with open(self.path(*parts), encoding="utf-8") as file:
            return file.read()

    def test_each_command_has_a_manual_page(self):
        pages = call(self.path("bin/sluice"), "man", "--list",
                     LD_LIBRARY_PATH=self.libraries).split()
        self.assertGreater(len(pages), 50)
        there = set(os.listdir(self.path("share/man/man1")))
        self.assertEqual({name + ".1" for name in pages}, there)

    def test_the_server_has_manual_pages(self):
        names = [line.split()[0] for line in
                 call(self.path("bin/sluiced"), "--help").splitlines()
                 if line.startswith("  --")]
        self.assertGreater(len(names), 60)
        for part in ("man8/sluiced.8", "man5/sluiced.conf.5"):
            page = self.read("share/man", part).replace("\\-", "-")
            self.assertTrue(page.startswith('.TH "SLUICED'), part)
            for name in names:
                if part.endswith("8") or name not in ("--help", "--version", "--hash-password",
                                                      "--check-config", "--config"):
                    self.assertIn(name if part.endswith("8") else name[2:], page)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww",
                                       self.path("share/man", part)], capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_unit_starts_the_installed_program(self):
        unit = self.read("lib/systemd/system/sluiced.service")
        self.assertIn("ExecStart=/usr/local/bin/sluiced --config /etc/sluice/sluiced.conf\n", unit)
        self.assertNotIn("@sluiced@", unit)
        self.assertIn("SystemCallFilter=~@privileged @resources\n", unit)

    def test_the_examples_are_there(self):
        folder = "share/doc/sluice/examples"
        self.assertEqual(set(os.listdir(self.path(folder))),
                         {"alerts.yml", "grafana.json", "sluiced.conf"})
        done = call(self.path("bin/sluiced"), "--config", self.path(folder, "sluiced.conf"),
                    "--check-config")
        self.assertEqual(done, "the settings are valid\n")


if __name__ == "__main__":
    sluiced.main()
