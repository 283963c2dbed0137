"""A server that does what a test says, right or wrong.

    with Fake(CLOSE, b"+OK\\r\\n") as fake:     # to the first request, to the second
        ...
        fake.heard                             # the requests: [["Q.GET", "default", "a"], ...]

A step is the bytes of an answer or a function of the connection and the words, which gives one or
None. The greeting, HELLO, is answered by itself and not among the steps; `hello` is a step for it.
"""

import queue
import socket
import threading

LIMIT_S = 60
GREETING = b"%1\r\n+server\r\n+fake\r\n"


def close(_connection, _words):
    """Closes the connection without an answer."""
    raise ConnectionError


CLOSE = close


def then_close(answer):
    def step(connection, _words):
        connection.sendall(answer)
        raise ConnectionError
    return step


def silent(connection, _words):
    """Answers nothing until the other side has ended the connection."""
    connection.recv(1)
    raise ConnectionError


SILENT = silent


def byte_by_byte(answer):
    def step(connection, _words):
        for i in range(len(answer)):
            connection.sendall(answer[i:i + 1])
    return step


def text(value):
    data = value.encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)


def encode(value):
    """A value of Python's in RESP3."""
    if value is None:
        return b"_\r\n"
    if isinstance(value, bool):
        return b"#t\r\n" if value else b"#f\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, float):
        return b",%r\r\n" % value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return b"%%%d\r\n" % len(value) + b"".join(
            encode(part) for pair in value.items() for part in pair)
    return b"*%d\r\n" % len(value) + b"".join(map(encode, value))


def free_port():
    """A port without a listener, which no other process is given meanwhile."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


class Fake:
    def __init__(self, *steps, hello=GREETING, port=0, otherwise=None):
        self.steps = list(steps)
        self.hello = hello
        self.otherwise = otherwise  # the step when there are no more
        self.heard = []
        self.hellos = []
        self.calls = queue.Queue()  # each request as it comes
        self.greeted = queue.Queue()
        self.mutex = threading.Condition()
        self.threads = []
        self.connections = []
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        self.url = f"sluice://127.0.0.1:{self.port}"
        self.acceptor = threading.Thread(target=self._accept)
        self.acceptor.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """It is gone, with all connections."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()
        self.hang_up()
        for thread in self.threads:
            thread.join()

    def hang_up(self):
        with self.mutex:
            for connection in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(LIMIT_S)
            thread = threading.Thread(target=self._serve, args=(connection,))
            with self.mutex:
                self.connections.append(connection)
                self.threads.append(thread)
            thread.start()

    def _serve(self, connection):
        file = connection.makefile("rb")
        try:
            while words := self._read(file):
                answer = self._step(words)
                if callable(answer):
                    answer = answer(connection, words)
                if answer:
                    connection.sendall(answer)
        except OSError:
            pass
        with self.mutex:
            file.close()
            connection.close()
            self.connections.remove(connection)
            self.mutex.notify_all()

    def wait_until_alone(self):
        """Until all connections have ended."""
        with self.mutex:
            if not self.mutex.wait_for(lambda: not self.connections, LIMIT_S):
                raise AssertionError("a connection does not end")

    @staticmethod
    def _read(file):
        line = file.readline()
        words = []
        for _ in range(int(line[1:]) if line else 0):
            size = int(file.readline()[1:])
            words.append(file.read(size + 2)[:-2].decode())
        return words

    def _step(self, words):
        with self.mutex:
            if words[0] == "HELLO":
                self.hellos.append(words)
                self.greeted.put(words)
                return self.hello
            self.heard.append(words)
            self.calls.put(words)
            return self.steps.pop(0) if self.steps else self.otherwise or CLOSE

    def names(self):
        return [words[0] for words in self.heard]
