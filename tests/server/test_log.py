#!/usr/bin/python3
"""The log: a reader that has stopped reading does not hold up the server, floods of lines are
summed up, and no name can break a line."""

import fcntl
import os
import re
import signal
import socket
import threading
import unittest

from outside import sluiced
from sluiced import until

KIND = "HTTP request on the RESP port; closing connection"
PAGE = 4096


class StuckServer(sluiced.Server):
    """Its standard error is a small pipe that is not read until `read_on`."""

    def __init__(self, *flags):
        super().__init__(*flags)
        self.gate = threading.Event()

    def start(self):
        super().start()
        fcntl.fcntl(self.process.stderr.fileno(), fcntl.F_SETPIPE_SZ, PAGE)

    def _read_log(self):
        self.gate.wait()
        super()._read_log()

    def read_on(self):
        self.gate.set()

    def stop(self):
        self.read_on()
        super().stop()


def provoke(server, count):
    """So many lines of the kind KIND, each of which the loop has to get past."""
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", server.port), timeout=sluiced.LIMIT_S) as peer:
            peer.sendall(b"POST / HTTP/1.1\r\n")
            while peer.recv(PAGE):
                pass


def info(server, name):
    with sluiced.Client(server) as client:
        text = client.ask("INFO stats")
    return int(re.search(rf"{name}:(\d+)", text).group(1))


class Case(unittest.TestCase):
    def serve(self, server):
        server.start()
        self.addCleanup(server.__exit__)
        return server

    def lines(self, server, text=KIND):
        return [line for line in server.log if f" warning {text} " in line]

    def told(self, server, word):
        """How many lines of KIND were left out, by what the log says."""
        lines = self.lines(server, f"log lines {word}")
        return sum(int(number) for line in lines
                   for number in re.findall(rf'kind="{KIND}" count=(\d+)$', line))


class NotRead(Case):
    FLAGS = ("--log-rate", "0", "--log-buffer", "4KiB")

    def test_a_log_that_is_not_read_holds_up_nothing_and_what_was_dropped_is_told(self):
        server = self.serve(StuckServer(*self.FLAGS))
        provoke(server, 1000)
        self.assertGreater(info(server, "log_lines_dropped"), 500)
        server.read_on()
        until(lambda: len(self.lines(server)) + self.told(server, "dropped") == 1000,
              "the number of dropped lines")
        provoke(server, 1)
        until(lambda: len(self.lines(server)) + self.told(server, "dropped") == 1001)
        text = sluiced_metrics(server)
        dropped = info(server, "log_lines_dropped")
        self.assertIn(f'sluice_log_lines_lost_total{{kind="{KIND}",reason="dropped"}} {dropped}\n',
                      text)

    def test_the_server_ends_though_its_log_is_not_read(self):
        for number, code in ((signal.SIGTERM, 0), (signal.SIGABRT, -signal.SIGABRT)):
            with self.subTest(number=number):
                server = self.serve(StuckServer(*self.FLAGS))
                provoke(server, 200)
                server.process.send_signal(number)
                self.assertEqual(server.process.wait(sluiced.LIMIT_S), code)
                server.read_on()
                server.wait()

    def test_the_server_goes_on_when_nothing_reads_the_pipe_any_more(self):
        server = self.serve(StuckServer(*self.FLAGS))
        os.dup2(os.open(os.devnull, os.O_RDONLY), server.process.stderr.fileno())
        provoke(server, 50)
        until(lambda: info(server, "log_lines_dropped") == 50)


def sluiced_metrics(server):
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=sluiced.LIMIT_S) as peer:
        peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return peer.makefile("rb").read().decode()


class Flood(Case):
    def test_lines_of_a_kind_beyond_the_rate_are_summed_up(self):
        server = self.serve(sluiced.Server("--log-rate", "1", "--log-burst", "5"))
        provoke(server, 500)

        def summed():
            lines = self.lines(server)
            carried = sum(int(number) for line in lines
                          for number in re.findall(r" suppressed=(\d+)$", line))
            return len(lines) + carried + self.told(server, "suppressed")
        until(lambda: summed() == 500, "the number of suppressed lines")
        self.assertGreater(info(server, "log_lines_suppressed"), 0)
        self.assertEqual(info(server, "log_lines_dropped"), 0)

    def test_a_flood_of_one_kind_leaves_others_alone(self):
        server = self.serve(sluiced.Server("--log-rate", "1", "--log-burst", "1"))
        provoke(server, 50)
        server.process.send_signal(signal.SIGHUP)
        server.hear(" info settings reloaded")

    def test_what_was_suppressed_is_told_before_the_server_ends(self):
        server = self.serve(sluiced.Server("--log-rate", "1", "--log-burst", "1"))
        provoke(server, 20)
        server.process.terminate()
        self.assertEqual(server.wait(), 0)
        carried = sum(int(number) for line in self.lines(server)
                      for number in re.findall(r" suppressed=(\d+)$", line))
        self.assertEqual(len(self.lines(server)) + carried + self.told(server, "suppressed"), 20)


class Names(Case):
    def test_a_name_with_line_breaks_and_escapes_stays_within_its_line(self):
        server = self.serve(sluiced.Server("--password", "secret"))
        evil = b"app\n2026-11-16T10:00:00.000Z error forged\x1b[2J\"\xff"
        with sluiced.Client(server) as client:
            client.ask("AUTH", evil, "wrong")
            line = server.hear("forged")
        self.assertIn(r'user="app.2026-11-16T10:00:00.000Z error forged.[2J\"\xFF" ', line)
        for line in server.log:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[0-9:.]+Z (info|warning|error) [^\x00-\x1f]+\n$")
            self.assertNotRegex(line, r"^\S+ error")


if __name__ == "__main__":
    sluiced.main()
