"""HTTP on a socket, as little of it as a test needs: what is sent and what comes can be seen whole.

    with web.Listener(server, "/v1/ns/app/events") as listener:
        event = listener.next()         # .id, .kind, .data
"""

import json
import socket

import sluiced


class Answer:
    """The head of an answer, and a file with what follows it."""

    def __init__(self, file):
        line = file.readline().decode()
        assert line.startswith("HTTP/1.1 "), line
        self.status = int(line.split(" ")[1])
        self.headers = {}
        while (line := file.readline().decode()) != "\r\n":
            name, value = line.rstrip("\r\n").split(": ", 1)
            self.headers[name.lower()] = value
        self.file = file
        self.chunked = self.headers.get("transfer-encoding") == "chunked"

    def piece(self):
        """The next chunk, or with no chunks the next line; empty at the end."""
        if not self.chunked:
            return self.file.readline()
        size = self.file.readline()
        if not size:
            return b""
        data = self.file.read(int(size, 16))
        assert self.file.readline() == b"\r\n"
        return data

    def body(self):
        if "content-length" in self.headers:
            return self.file.read(int(self.headers["content-length"])).decode()
        return b"".join(iter(self.piece, b"")).decode()


class Connection:
    """Requests one after the other on a connection."""

    def __init__(self, server):
        self.socket = socket.socket()
        self.socket.settimeout(sluiced.LIMIT_S)
        self.prepare()
        self.socket.connect(("127.0.0.1", server.http_port))
        self.file = self.socket.makefile("rb")

    def prepare(self):
        """What must be done before it is connected."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def post(self, path, body):
        self.send("POST", path, Content_Type="application/json", Content_Length=len(body))
        self.socket.sendall(body.encode())
        return Answer(self.file)

    def send(self, method, path, version="1.1", **headers):
        lines = [f"{method} {path} HTTP/{version}", "Host: localhost"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def ask(self, method, path, **headers):
        """The answer's head; its body is still to be read, unless the method is HEAD."""
        self.send(method, path, **headers)
        return Answer(self.file)

    def get(self, path, **headers):
        """Status and body."""
        answer = self.ask("GET", path, **headers)
        return answer.status, answer.body()


class Event:
    def __init__(self, text):
        self.id = self.kind = self.data = self.comment = self.retry = None
        for line in text.split("\n"):
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "id":
                self.id = int(value)
            elif name == "event":
                self.kind = value
            elif name == "data":
                self.data = json.loads(value)
            elif name == "retry":
                self.retry = int(value)
            elif name == "":
                self.comment = value
            else:
                raise AssertionError(f"a line that no event has: {line}")

    def __repr__(self):
        return f"{self.id} {self.kind} {self.data}"


class Listener(Connection):
    """A connection that events are told on."""

    def __init__(self, server, path, receive_size=0, **headers):
        self.receive_size = receive_size
        super().__init__(server)
        self.answer = self.ask("GET", path, **headers)
        self.rest = b""
        if self.answer.status != 200:
            raise AssertionError(f"{self.answer.status} {self.answer.body()}")
        assert self.answer.headers["content-type"] == "text/event-stream"
        self.start = None

    def prepare(self):
        if self.receive_size:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_size)

    def any(self):
        """The next block, also one that is no event; None at the end."""
        while b"\n\n" not in self.rest:
            piece = self.answer.piece()
            if not piece:
                return None
            self.rest += piece
        text, self.rest = self.rest.split(b"\n\n", 1)
        return Event(text.decode())

    def next(self):
        """The next event; None at the end."""
        while (event := self.any()) and not event.kind:
            if event.id is not None:
                self.start = event.id
        return event

    def started(self):
        """Reads up to where the server says at which number it is: what happens now is told."""
        while (event := self.any()) and (event.kind or event.id is None):
            pass
        self.start = event.id
        return self
