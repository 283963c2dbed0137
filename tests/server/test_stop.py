#!/usr/bin/python3
"""What those who are connected see when the server is stopped."""

import signal
import socket
import unittest

import outside
import sluiced
from outside import request


class Stop(unittest.TestCase):
    def stop(self, server):
        server.process.send_signal(signal.SIGTERM)

    def test_those_who_wait_or_idle_or_listen_see_the_end_and_the_exit_code_is_0(self):
        with outside.server() as server:
            clients = [sluiced.Client(server) for _ in range(50)]
            for i, client in enumerate(clients):
                if i % 5 == 0:
                    client.send("Q.POP", "app", "w", 1, "WAIT", 0, "mail")
                elif i % 5 == 1:
                    client.expect("SUBSCRIBE sluice:silent:log", '["subscribe"...')
                elif i % 5 == 2:
                    client.expect(f"Q.PUT app other Send {{}} JID j{i}", f'"j{i}"')
                    client.send("Q.WAIT", "app", f"j{i}")
                elif i % 5 == 3:
                    client.send_raw(b"*3\r\n$4\r\nECHO")
                else:
                    client.expect("PING", "+PONG")
            with sluiced.Client(server) as other:
                outside.until(other, "clients", "blocked_clients", 20)
            self.stop(server)
            for client in clients:
                client.hear(None)
                client.close()
            self.assertEqual(server.wait(), 0)

    def test_a_job_that_was_put_while_others_waited_is_there_afterwards(self):
        with outside.server() as server:
            waiting, other = sluiced.Client(server), sluiced.Client(server)
            waiting.send("Q.POP", "app", "w", 1, "WAIT", 0, "mail")
            outside.until(other, "clients", "blocked_clients", 1)
            self.stop(server)
            waiting.hear(None)
            self.assertEqual(server.wait(), 0)
            server.start()
            with sluiced.Client(server) as again:
                again.expect("Q.PUT app mail Send {} JID ann", '"ann"')
                self.assertIn('"ann"', again.ask("Q.POP app x 1 mail"))

    def test_large_replies_that_are_under_way_are_delivered_whole(self):
        with outside.server() as server:
            client = sluiced.Client(server)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            word = "x" * 100000
            count = 15  # more than the server takes (max-unread) would have to wait until it is read
            client.send_raw(request("ECHO", word) * count)
            with sluiced.Client(server) as other:
                other.expect("PING", "+PONG")
            self.stop(server)
            # Bytes that it will not read any more: at the end there may be an error, but no sooner.
            client.socket.setblocking(False)
            try:
                client.socket.send(b"*2\r\n$4\r\nECHO\r\n")
            except (BlockingIOError, ConnectionError):
                pass
            client.socket.settimeout(sluiced.LIMIT_S)
            got = bytearray()
            try:
                while piece := client.socket.recv(1 << 16):
                    got += piece
            except ConnectionError:
                pass
            whole, part = divmod(len(got), len(request(word)) - len("*1\r\n"))
            print(f"# {whole} of {count} were answered")
            self.assertEqual(part, 0)
            self.assertGreater(whole, 0)
            client.close()
            self.assertEqual(server.wait(), 0)

    def test_one_that_does_not_read_holds_it_up_only_for_so_long(self):
        with outside.server("--stop-timeout", "300ms") as server:
            client = sluiced.Client(server)
            # The server reads no more than it may keep, so that not all may go.
            data = request("ECHO", "x" * 1000000) * 12
            client.socket.setblocking(False)
            with sluiced.Client(server) as other:
                def is_held():
                    nonlocal data
                    try:
                        data = data[client.socket.send(data):]
                    except BlockingIOError:
                        pass
                    return outside.figure(other, "clients", "held_clients") == 1
                sluiced.until(is_held, "that the client is held up")
            self.stop(server)
            self.assertEqual(server.wait(), 0)
            self.assertIn("did not receive their replies", "".join(server.log))
            client.close()


if __name__ == "__main__":
    sluiced.main()
