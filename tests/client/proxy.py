"""Stands between a client and a server, and breaks the connection at a command.

    with Proxy(server.port, "Q.PUT", heard=False) as proxy:
        ...                               # proxy.url instead of the server's

The first request of that name is not handed on, or (`heard`) its answer is not; all others are.
`before_end` is called before the client sees that the connection has ended.
"""

import select
import socket
import threading

LIMIT_S = 60


class Proxy:
    def __init__(self, port, name, heard, before_end=lambda: None):
        self.port = port
        self.name = name.encode() + b"\r\n"
        self.heard = heard
        self.before_end = before_end
        self.cut = threading.Event()  # it was done
        self.threads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"sluice://127.0.0.1:{self.listener.getsockname()[1]}"
        self.acceptor = threading.Thread(target=self._accept)
        self.acceptor.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """After its clients have gone."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()
        for thread in self.threads:
            thread.join(LIMIT_S)

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client,))
            self.threads.append(thread)
            thread.start()

    def _serve(self, client):
        server = socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)
        with client, server:
            while True:
                readable = select.select([client, server], [], [])[0]
                for side in readable:
                    data = side.recv(1 << 20)
                    if not data or (side is client and self._breaks(data, server)):
                        return
                    (server if side is client else client).sendall(data)

    def _breaks(self, data, server):
        """Whether it ends here. A small request comes in one piece."""
        if self.cut.is_set() or self.name not in data:
            return False
        self.cut.set()
        if self.heard:
            server.sendall(data)
            server.recv(1 << 20)
        self.before_end()
        return True
