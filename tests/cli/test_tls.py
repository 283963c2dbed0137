#!/usr/bin/python3
"""Servers that are reached with TLS or with a password from a file."""

import os
import subprocess
import tempfile
import unittest

import tool
from tool import sluiced


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Authorities:
    """Certificates in a folder of their own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def authority(self, name):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.path(name + ".key"),
                "-out", self.path(name + ".pem"))

    def certificate(self, name, authority):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", f"/CN={name}", "-keyout", self.path(name + ".key"),
                "-out", self.path(name + ".csr"))
        names = self.write("names", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        openssl("x509", "-req", "-in", self.path(name + ".csr"),
                "-CA", self.path(authority + ".pem"), "-CAkey", self.path(authority + ".key"),
                "-CAcreateserial", "-days", "2", "-extfile", names, "-out", self.path(name + ".pem"))


class Tls(unittest.TestCase):
    """A private authority, and a server that wants certificates of its clients."""

    @classmethod
    def setUpClass(cls):
        cls.files = Authorities()
        for name in ("ours", "other"):
            cls.files.authority(name)
        for name, authority in (("server", "ours"), ("client", "ours"), ("intruder", "other")):
            cls.files.certificate(name, authority)
        cls.server = sluiced.Server("--tls-listen", "127.0.0.1:0",
                                    "--tls-cert", cls.files.path("server.pem"),
                                    "--tls-key", cls.files.path("server.key"),
                                    "--tls-ca", cls.files.path("ours.pem")).__enter__()
        line = next(line for line in cls.server.log if "tls=yes" in line)
        port = line.split("address=127.0.0.1:")[1].split()[0]
        cls.url = f"sluices://localhost:{port}/app"

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.files.folder.cleanup()

    def options(self, authority, name):
        return ["--ca-file", self.files.path(f"{authority}.pem"),
                "--cert-file", self.files.path(f"{name}.pem"),
                "--key-file", self.files.path(f"{name}.key")]

    def test_both_sides_show_certificates(self):
        done = tool.run("put", "mail", "Send", "--jid", "ann", "--url", self.url,
                        *self.options("ours", "client"))
        self.assertEqual((done.returncode, done.stdout), (0, "ann\n"), done.stderr)
        for authority, name in (("other", "client"), ("ours", "intruder")):
            done = tool.run("queues", "--url", self.url, *self.options(authority, name))
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn("certificate", done.stderr)

    def test_variables_say_the_same(self):
        done = tool.run("put", "mail", "Send", "--jid", "bob", "--url", self.url,
                        SLUICE_CA_FILE=self.files.path("ours.pem"),
                        SLUICE_CERT_FILE=self.files.path("client.pem"),
                        SLUICE_KEY_FILE=self.files.path("client.key"))
        self.assertEqual((done.returncode, done.stdout), (0, "bob\n"), done.stderr)

    def test_a_job_reaches_the_queue_as_its_worker_does(self):
        tool.run("put", "work", "Send", "--jid", "cat", "--url", self.url,
                 *self.options("ours", "client"))
        script = f"exec {tool.SLUICE} get cat --json"
        done = tool.run("work", "-q", "work", "--once", "--url", self.url,
                        *self.options("ours", "client"), "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tool.run("get", "cat", "--json", "--url", self.url, *self.options("ours", "client"))
        self.assertIn('"state":"complete"', done.stdout)

    def test_files_that_are_of_no_use_are_refused(self):
        for option in ("ca", "cert", "key"):
            done = tool.run("queues", f"--{option}-file", self.files.path("ours.pem"),
                            "--url", f"sluice://127.0.0.1:{self.server.port}/app")
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                             (2, f"sluice: --{option}-file needs an address with TLS, such as "
                                 "sluices://HOST"))
        done = tool.run("queues", "--url", self.url, "--ca-file", self.files.path("nothing"))
        self.assertEqual(done.returncode, 2)
        self.assertIn(self.files.path("nothing")[:100], done.stderr)


class Password(unittest.TestCase):
    """A server with a password."""

    @classmethod
    def setUpClass(cls):
        cls.files = Authorities()
        cls.socket = cls.files.path("socket")
        cls.server = sluiced.Server("--user", "ann p@ss/w%rd *:admin",
                                    "--listen", f"unix:{cls.socket}").__enter__()
        cls.url = f"sluice://ann@127.0.0.1:{cls.server.port}/app"
        cls.good = cls.files.write("good", "p@ss/w%rd\nthe second line is not read\n")
        cls.bad = cls.files.write("bad", "guess\n")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.files.folder.cleanup()

    def test_a_password_comes_from_a_file(self):
        done = tool.run("put", "mail", "Send", "--jid", "ann", "--url", self.url,
                        "--password-file", self.good)
        self.assertEqual((done.returncode, done.stdout), (0, "ann\n"), done.stderr)
        done = tool.run("get", "ann", "--url", self.url, SLUICE_PASSWORD_FILE=self.good)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tool.run("get", "ann", "--url", self.url, "--password-file", self.bad)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertNotIn("guess", done.stderr)

    def test_a_file_that_has_none_is_refused(self):
        for path, wanted in (("/nothing/there", "/nothing/there cannot be read: No such file"),
                             (self.files.write("empty", "\n"), "has no password in its first")):
            done = tool.run("get", "ann", "--url", self.url, "--password-file", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(wanted, done.stderr)
        done = tool.run("get", "ann", "--url", "file:jobs", "--password-file", self.good)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--password-file needs an address of a server", done.stderr)
        url = self.url.replace("ann@", "ann:other@")
        done = tool.run("get", "ann", "--url", url, "--password-file", self.good)
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("other@", done.stderr)

    def test_a_variable_stands_back_behind_the_address(self):
        done = tool.run("queues", "--url", self.url.replace("ann@", "ann:p%40ss%2Fw%25rd@"),
                        SLUICE_PASSWORD_FILE=self.bad)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tool.run("put", "mail", "Send", "--url", f"file:{self.files.path('jobs')}",
                        SLUICE_PASSWORD_FILE="/nothing/there")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_socket_has_a_password_too(self):
        url = f"unix:{self.socket}?ns=socket&user=ann"
        done = tool.run("put", "mail", "Send", "--jid", "ann", "--url", url,
                        "--password-file", self.good)
        self.assertEqual((done.returncode, done.stdout), (0, "ann\n"), done.stderr)
        done = tool.run("get", "ann", "--url", url, SLUICE_PASSWORD_FILE=self.good)
        self.assertEqual(done.returncode, 0, done.stderr)
        for options in ([], ["--password-file", self.bad]):
            done = tool.run("get", "ann", "--url", url, *options)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        done = tool.run("ping", "--url", url, "--password-file", self.good)
        self.assertRegex(done.stdout, f"^unix:{self.socket} answers in ")

    def test_a_job_reaches_a_socket_as_its_worker_does(self):
        url = f"unix:{self.socket}?ns=work&user=ann"
        tool.run("put", "work", "Send", "--jid", "cat", "--url", url, "--password-file", self.good)
        done = tool.run("work", "-q", "work", "--once", "--pass-url", "--url", url,
                        "--password-file", self.good,
                        "--", "sh", "-c", f"exec {tool.SLUICE} get cat --json")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tool.run("get", "cat", "--json", "--url", url, "--password-file", self.good)
        self.assertIn('"state":"complete"', done.stdout)


if __name__ == "__main__":
    tool.main()
