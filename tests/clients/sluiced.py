"""A server of its own for a test, and a client that shows every reply as it stands on the wire.

    with Server() as server, Client(server) as client:
        client.expect("PING", "+PONG")

Replies are written so that the type can be seen:

    +OK   -ERR sentence   :1   "bytes"   nil (RESP2)   _ (RESP3)   ,1.5   #t   txt"lines"
    [a, b]   {key: value}   >[push, ...]   ~[set, ...]
"""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

LIMIT_S = 60  # a test that waits longer for anything has failed


def until(holds, what="it"):
    """Asks again and again until it holds; gives what it was answered then."""
    end = time.monotonic() + LIMIT_S
    while not (value := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} has not come about in {LIMIT_S} seconds")
        time.sleep(0.005)
    return value


class Server:
    """sluiced on a free port, with its data in a folder that is removed at the end."""

    def __init__(self, *flags, **environment):
        self.folder = tempfile.mkdtemp(prefix="sluice-clients-")
        self.flags = flags
        self.environment = environment
        self.log = []
        self.told = threading.Condition()  # of a line in the log
        self.process = None
        self.port = None
        self.http_port = None
        self.grpc_port = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            shutil.rmtree(self.folder)
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("SLUICE_")}
        http = () if "--http" in self.flags else ("--http", "127.0.0.1:0")
        grpc = () if "--grpc" in self.flags else ("--grpc", "")
        self.process = subprocess.Popen(
            [os.environ["SLUICED"], "--data", self.path("data"), "--listen", "127.0.0.1:0",
             *http, *grpc, *self.flags],
            env={**environment, **self.environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        watchdog = threading.Timer(LIMIT_S, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stderr:
                self.log.append(line)
                if " listening address=127.0.0.1:" in line and "tls=yes" not in line:
                    self.port = int(line.rsplit(":", 1)[1])
                if " listening http=127.0.0.1:" in line and "tls=yes" not in line:
                    self.http_port = int(line.rsplit(":", 1)[1])
                if " listening grpc=127.0.0.1:" in line and "tls=yes" not in line:
                    self.grpc_port = int(line.rsplit(":", 1)[1])
                if " ready " in line:
                    break
            else:
                raise AssertionError("sluiced did not start:\n" + "".join(self.log))
        finally:
            watchdog.cancel()
        self.reader = threading.Thread(target=self._read_log)
        self.reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            with self.told:
                self.log.append(line)
                self.told.notify_all()

    def hear(self, text):
        """Waits until a line of the log has the text, and gives that line."""
        def found():
            return next((line for line in self.log if text in line), None)
        with self.told:
            if not self.told.wait_for(found, LIMIT_S):
                raise AssertionError(f"no line has '{text}':\n" + "".join(self.log))
            return found()

    def wait(self):
        """Until it has ended by itself; its exit code."""
        try:
            code = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.reader.join()
        self.process.stderr.close()
        return code

    def stop(self):
        """Ends it; what it says of itself (a sanitizer's report too) is part of the result."""
        if self.process.poll() is None:
            self.process.terminate()
        if not self.process.stderr.closed:
            code = self.wait()
            if code:
                raise AssertionError(f"sluiced ended with {code}:\n" + "".join(self.log))

    def restart(self):
        self.stop()
        self.start()


class Client:
    """A connection that speaks RESP and nothing else."""

    def __init__(self, server, unix=None):
        if unix:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(LIMIT_S)
            self.socket.connect(unix)
        else:
            self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.send_raw(b"".join(parts))

    def send_raw(self, data):
        self.socket.sendall(data)

    def read(self):
        """The next reply as text; None at the end of the connection."""
        line = self.file.readline()
        if not line:
            return None
        assert line.endswith(b"\r\n"), line
        kind, rest = line[:1], line[1:-2].decode()
        if kind in b"+-:,#_":
            return kind.decode() + rest
        size = int(rest)
        if kind in b"$*" and size == -1:
            return "nil"
        if kind in b"$=":
            data = self.file.read(size + 2)[:-2].decode("utf-8", "backslashreplace")
            return f'{data[:3]}"{data[4:]}"' if kind == b"=" else f'"{data}"'
        if kind == b"%":
            pairs = [f"{self.read()}: {self.read()}" for _ in range(size)]
            return "{" + ", ".join(pairs) + "}"
        items = ", ".join(self.read() for _ in range(size))
        return {b"*": "", b">": ">", b"~": "~"}[kind] + f"[{items}]"

    def ask(self, *words):
        """Sends a request, in one string the words between spaces, and gives the reply."""
        if len(words) == 1 and isinstance(words[0], str):
            words = words[0].split(" ")
        self.send(*words)
        return self.read()

    def expect(self, request, *replies):
        """Sends a request (a string, or a tuple of words) and compares the replies to it."""
        self.send(*(request.split(" ") if isinstance(request, str) else request))
        for reply in replies:
            self.hear(reply)

    def hear(self, wanted):
        """Compares what comes next; a text that ends with ... is the beginning of it."""
        given = self.read()
        if wanted is not None and wanted.endswith("..."):
            good = given is not None and given.startswith(wanted[:-3])
        else:
            good = given == wanted
        if not good:
            raise AssertionError(f"wanted {wanted}\n   got {given}")


class TestCase(unittest.TestCase):
    """Tests that share a server, which has the class's flags."""

    flags = ()
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.flags).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def client(self, version=2):
        client = Client(self.server)
        self.addCleanup(client.close)
        if version == 3:
            client.ask("HELLO 3")
        return client


class TapResult(unittest.TestResult):
    """A line for each test in the Test Anything Protocol."""

    count = 0

    def line(self, verdict, test, more=""):
        self.count += 1
        print(f"{verdict} {self.count} - {test}{more}", flush=True)

    def details(self, error, test):
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test)
        self.details(err, test)

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test)
        self.details(err, test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.line("not ok", subtest)
            self.details(err, test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("ok", test, f" # SKIP {reason}")


def main():
    """Runs the tests of the file that was started, those named on the command line or all."""
    program = unittest.main(testRunner=Runner, exit=False)
    raise SystemExit(0 if program.result.wasSuccessful() else 1)


class Runner:
    """What unittest.main needs to print TAP."""

    def __init__(self, **_):
        pass

    def run(self, tests):
        result = TapResult()
        tests.run(result)
        print(f"1..{result.count}", flush=True)
        return result
