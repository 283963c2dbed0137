#!/usr/bin/python3
"""The server as a service: settings from three places, signals, the service manager."""

import json
import os
import pty
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.request

import sluiced


def run(*flags, **options):
    return subprocess.run([os.environ["SLUICED"], *flags], capture_output=True, text=True,
                          check=False, **options)


class CommandLine(unittest.TestCase):
    def test_help_and_version_are_for_people(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Usage: sluiced", done.stdout)
        self.assertIn("--durability", done.stdout)
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^sluiced \d+\.\d+\.\d+\n$")

    def test_a_password_is_hashed(self):
        done = run("--hash-password", input="secret\n")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^pbkdf2-sha256\$")
        with sluiced.Server("--password", done.stdout.strip()) as server:
            with sluiced.Client(server) as client:
                client.expect("AUTH secret", "+OK")

    def test_a_person_who_starts_it_is_told_how_to_go_on(self):
        for listen, wanted in (("127.0.0.1:0", r"-p \d+"), ("unix:{}/socket", r"-s {}/socket")):
            with tempfile.TemporaryDirectory() as folder:
                ours, its = pty.openpty()
                process = subprocess.Popen(
                    [os.environ["SLUICED"], "--data", folder + "/data", "--http", "", "--grpc", "", "--listen",
                     listen.format(folder)], stdout=its, stderr=subprocess.DEVNULL)
                os.close(its)
                try:
                    with open(ours, encoding="utf-8") as terminal:
                        lines = [next(terminal) for _ in range(5)]
                finally:
                    process.terminate()
                    process.wait(sluiced.LIMIT_S)
                self.assertRegex(lines[4], rf"redis-cli -3 {wanted} Q\.POP demo".format(folder))

    def test_what_is_wrong_is_named(self):
        done = run("--nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--nothing", done.stderr)


class CheckConfig(unittest.TestCase):
    """--check-config: everything that is wrong, not only the first of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "sluiced.conf")

    def check(self, text, *flags, **variables):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path, 0o600)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("SLUICE_")}
        return run("--config", self.path, *flags, "--check-config",
                   env={**environment, **variables})

    def test_all_errors_are_printed_and_counted(self):
        done = self.check("max-payload much\n"
                          "max-paylode 1M\n"
                          "listen 0.0.0.0:7711\n"
                          "tls-cert /nowhere/cert.pem\n"
                          "log-level loud\n"
                          "user ann secret app:read\n"
                          "user 'unended\n",
                          "--nothing", "1", "--max-connections", "none", "--http", "[::]:7712",
                          SLUICE_DURABILITY="sometimes", SLUICE_QUEUES="4")
        lines = done.stderr.splitlines()
        parts = (":1: max-payload", ":2: unknown setting", ":5: log-level", ":7:", "--nothing:",
                 "--max-connections", "SLUICE_DURABILITY", "SLUICE_QUEUES",
                 "tls-cert and tls-key need each other")
        for part in parts:
            self.assertEqual(len([line for line in lines if part in line]), 1,
                             f"{part} in {done.stderr}")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")

    def test_the_number_of_errors_is_that_of_the_lines(self):
        done = self.check("listen 0.0.0.0:1\nlisten 0.0.0.0:2\nhttp 0.0.0.0:3\nsegment-size 70000\n")
        self.assertEqual(done.returncode, 1)
        *problems, last = done.stderr.splitlines()
        self.assertEqual(len(problems), 4, done.stderr)
        self.assertTrue(all(line.startswith("sluiced: ") for line in problems))
        self.assertEqual(last, "sluiced: the settings have 4 errors")

    def test_certificates_are_read(self):
        for name in "cert", "key":
            with open(f"{self.path}.{name}", "w", encoding="utf-8") as file:
                file.write("no PEM\n")
        done = self.check(f"tls-cert {self.path}.cert\ntls-key {self.path}.key\n"
                          "tls-listen 127.0.0.1:7713\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("sluiced.conf.cert", done.stderr)
        self.assertIn("the settings have 1 error\n", done.stderr)

    def test_a_file_that_is_not_there_is_an_error(self):
        done = run("--config", self.path, "--check-config")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"the config file {self.path} cannot be opened", done.stderr)

    def test_what_a_start_would_take_is_valid(self):
        done = self.check("max-payload 2M\nuser ann secret app:read\nhttp 0.0.0.0:7712\n")
        self.assertEqual((done.returncode, done.stdout), (0, "the settings are valid\n"),
                         done.stderr)
        os.chmod(self.path, 0o644)
        done = run("--config", self.path, "--check-config")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^sluiced: warning: config: .*readable by all")

    def test_nothing_is_started_or_made(self):
        data = os.path.join(os.path.dirname(self.path), "data")
        self.assertEqual(self.check("", "--data", data).returncode, 0)
        self.assertFalse(os.path.exists(data))


class Log(unittest.TestCase):
    def test_the_first_line_says_what_was_started(self):
        with sluiced.Server("--durability", "interval:50") as server:
            first = server.log[0]
            self.assertIn(" info starting version=", first)
            self.assertIn(f" pid={server.process.pid} ", first)
            self.assertIn(" durability=interval:50", first)
            self.assertNotIn("config=", first)
            path = server.path("sluiced.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write("max-payload 2M\n")
            server.stop()
            server.log.clear()
            server.flags = ("--config", path)
            server.start()
            self.assertIn(f" config={path}", server.log[0])
            self.assertIn(" durability=always", server.log[0])

    def test_debug_tells_of_connections_and_commands_but_not_of_their_arguments(self):
        with sluiced.Server("--log-level", "debug") as server:
            with sluiced.Client(server) as client:
                client.expect("Q.PUT app mail Send {} JID hidden", '"hidden"')
                client.ask("Q.GET app")
                client.ask("AUTH secret")
            line = server.hear(" debug connection accepted ")
            self.assertRegex(line, r" id=\d+ address=127\.0\.0\.1:\d+ protocol=resp tls=no")
            self.assertRegex(server.hear(" command=Q.PUT "), r" ns=app us=\d+ outcome=ok user=\S+ ")
            self.assertIn(" outcome=error ", server.hear(" command=Q.GET "))
            server.hear(" debug connection closed ")
            said = "".join(server.log)
            self.assertNotIn("hidden", said)
            self.assertNotIn("secret", said)

    def test_without_debug_nothing_is_said_of_them(self):
        with sluiced.Server() as server:
            with sluiced.Client(server) as client:
                client.expect("PING", "+PONG")
            server.stop()
            self.assertFalse([line for line in server.log if "command" in line or " debug " in line])


class Settings(unittest.TestCase):
    def setUp(self):
        self.server = sluiced.Server()
        self.addCleanup(self.server.__exit__)
        self.file = self.server.path("sluiced.conf")

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.file, 0o600)

    def value(self, name):
        with sluiced.Client(self.server) as client:
            return client.ask(f"CONFIG GET {name}").split('"')[3]

    def test_a_flag_goes_before_a_variable_and_that_before_the_file(self):
        self.write("max-payload 1M\nmax-namespaces 7\nidle-timeout 60\n")
        self.server.flags = ("--config", self.file, "--max-payload", "3M")
        self.server.environment = {"SLUICE_MAX_PAYLOAD": "2M", "SLUICE_MAX_NAMESPACES": "8"}
        self.server.start()
        self.assertEqual(self.value("max-payload"), "3MiB")
        self.assertEqual(self.value("max-namespaces"), "8")
        self.assertEqual(self.value("idle-timeout"), "60s")

    def test_the_file_is_read_again_on_request(self):
        self.write("password old\n")
        self.server.flags = ("--config", self.file)
        self.server.start()
        with sluiced.Client(self.server) as client:
            client.expect("AUTH old", "+OK")
        self.write("password new\n")
        self.server.process.send_signal(signal.SIGHUP)
        self.server.hear("settings reloaded")
        with sluiced.Client(self.server) as client:
            client.expect("AUTH old", "-WRONGPASS ...")
            client.expect("AUTH new", "+OK")

    def test_a_file_that_is_wrong_changes_nothing(self):
        self.write("max-payload 1M\n")
        self.server.flags = ("--config", self.file)
        self.server.start()
        self.write("max-payload 2M\nmax-paylod 3M\n")
        self.server.process.send_signal(signal.SIGHUP)
        self.server.hear("settings not reloaded")
        self.assertTrue(any("sluiced.conf:2" in line for line in self.server.log))
        self.assertEqual(self.value("max-payload"), "1MiB")


class Drain(unittest.TestCase):
    REFUSED = "-BUSY the server is draining..."

    def setUp(self):
        self.server = sluiced.Server()
        self.addCleanup(self.server.__exit__)
        self.server.start()

    def ready(self):
        url = f"http://127.0.0.1:{self.server.http_port}/readyz"
        with urllib.request.urlopen(url, timeout=sluiced.LIMIT_S) as answer:
            return json.load(answer)

    def test_puts_are_refused_and_work_goes_on(self):
        with sluiced.Client(self.server) as client:
            client.expect("Q.PUT app q K {} JID a", '"a"')
            client.expect("Q.PUT app q K {} JID b DELAY 1000", '"b"')
            self.assertNotIn("draining", self.ready())
            client.expect("Q.DRAIN", "+OK")
            self.server.hear("draining: puts are refused")
            client.expect("Q.PUT app q K {} JID c", self.REFUSED)
            client.expect("Q.MPUT app 3 q K {}", self.REFUSED)
            client.expect("T.PUT app Send []", self.REFUSED)
            self.assertIn("draining:1", client.ask("INFO persistence"))
            self.assertEqual(self.ready(), {"state": "ready", "draining": True})
            self.assertIn('"a"', client.ask("Q.POP app w 1 q"))
            client.expect("Q.COMPLETE app a w", '"complete"')
            client.expect("Q.KICK app b", ":1")
            client.expect("Q.REQUEUE app b q K {}", '"b"')
            client.expect("Q.DRAIN OFF", "+OK")
            self.server.hear("draining ended")
            client.expect("Q.PUT app q K {} JID c", '"c"')
            self.assertIn("draining:0", client.ask("INFO persistence"))

    def test_a_signal_drains_it_until_it_starts_again(self):
        self.server.process.send_signal(signal.SIGUSR1)
        self.server.hear("draining: puts are refused")
        with sluiced.Client(self.server) as client:
            client.expect("Q.PUT app q K {}", self.REFUSED)
        self.server.restart()
        with sluiced.Client(self.server) as client:
            client.expect("Q.PUT app q K {} JID a", '"a"')

    def test_recurring_jobs_make_no_jobs(self):
        with sluiced.Client(self.server) as client:
            client.expect("Q.DRAIN", "+OK")
            client.expect("Q.RECUR app often q K {} INTERVAL 3600 DELAY 0", "+OK")
            client.expect("Q.LENGTH app q", ":0")
            client.expect("Q.DRAIN OFF", "+OK")
            sluiced.until(lambda: client.ask("Q.LENGTH app q") == ":1")


class Manager(unittest.TestCase):
    def test_it_is_told_how_the_server_is(self):
        server = sluiced.Server()
        self.addCleanup(server.__exit__)
        path = server.path("notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(sluiced.LIMIT_S)
            server.environment = {"NOTIFY_SOCKET": path}
            server.start()
            self.told(manager, "READY=1")
            server.process.send_signal(signal.SIGHUP)
            self.told(manager, "RELOADING=1")
            self.told(manager, "READY=1")
            server.process.terminate()
            self.told(manager, "STOPPING=1")
            self.assertEqual(server.wait(), 0)
        os.unlink(path)
        server.start()

    def told(self, manager, wanted):
        while wanted not in manager.recv(4096).decode().split("\n"):
            pass


if __name__ == "__main__":
    sluiced.main()
