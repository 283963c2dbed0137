#!/usr/bin/python3
"""Logins: passwords are checked beside the loop, guesses lock out only their own address."""

import base64
import hashlib
import http.client
import os
import socket
import subprocess

import sluiced


# A hash whose check takes so long that a test sees what happens meanwhile; of the password "slow".
def slow_hash():
    salt = bytes(16)
    made = hashlib.pbkdf2_hmac("sha256", b"slow", salt, 300000)
    return f"pbkdf2-sha256$300000${salt.hex()}${made.hex()}"


class From(sluiced.Client):
    """A client with an address of its own; 127.0.0.0/8 is all this machine's."""

    def __init__(self, server, address):
        self.socket = socket.create_connection(("127.0.0.1", server.port),
                                               timeout=sluiced.LIMIT_S,
                                               source_address=(address, 0))
        self.file = self.socket.makefile("rb")


class Case(sluiced.TestCase):
    def from_address(self, address):
        client = From(self.server, address)
        self.addCleanup(client.close)
        return client


class Guesses(Case):
    flags = ("--password", "secret", "--user", "ann pa app:write")

    def test_guesses_from_many_addresses_lock_out_no_fresh_address(self):
        for i in range(50):
            guesser = self.from_address(f"127.0.1.{i + 1}")
            guesser.expect("AUTH ann guess", "-WRONGPASS ...")
            guesser.close()
        fresh = self.from_address("127.0.2.1")
        fresh.expect("AUTH ann pa", "+OK")
        fresh.expect("Q.GET app none", "[nil]")

    def test_an_address_that_guesses_is_refused_and_both_are_logged(self):
        guesser = self.from_address("127.0.3.1")
        for _ in range(5):
            guesser.expect("AUTH default guess", "-WRONGPASS ...")
        guesser.expect("AUTH default guess", "-ERR too many failed logins...")
        line = self.server.hear('kind=login user=default address=127.0.3.1')
        self.assertNotIn("guess", line.split("address=")[1])
        self.server.hear('logins refused address=127.0.3.1')
        self.from_address("127.0.3.2").expect("AUTH secret", "+OK")


class Checks(Case):
    flags = ("--password", "secret", "--user", "ann pa app:write", "--user",
             "slow " + slow_hash() + " app:write", "--auth-timeout", "0")

    def test_the_loop_goes_on_while_a_password_is_checked(self):
        slow = self.from_address("127.0.4.1")
        other = self.client()
        other.expect("AUTH secret", "+OK")
        slow.send("AUTH", "slow", "wrong")
        for _ in range(100):
            other.expect("PING", "+PONG")
        slow.hear("-WRONGPASS ...")

    def test_what_follows_a_login_in_a_pipeline_waits_for_it(self):
        c = self.from_address("127.0.5.1")
        c.send("PING")
        c.send("AUTH", "ann", "wrong")
        c.send("PING")
        c.send("HELLO", "3", "AUTH", "slow", "slow", "SETNAME", "me")
        c.send("CLIENT", "GETNAME")
        c.send("Q.GET", "app", "none")
        for reply in ("-NOAUTH ...", "-WRONGPASS ...", "-NOAUTH ...", "{...", '"me"', "[_]"):
            c.hear(reply)

    def test_a_client_that_leaves_during_the_check_harms_nothing(self):
        for i in range(5):
            c = self.from_address(f"127.0.6.{i + 1}")
            c.send("AUTH", "slow", "wrong")
            c.close()
        self.from_address("127.0.6.9").expect("AUTH ann pa", "+OK")

    def test_a_transaction_does_not_log_in(self):
        c = self.from_address("127.0.7.1")
        c.expect("AUTH ann pa", "+OK")
        c.expect("MULTI", "+OK")
        c.expect("AUTH slow slow", "+QUEUED")
        c.expect("EXEC", "[-ERR a transaction cannot log in...")

    def test_replies_that_are_off_stay_so(self):
        c = self.from_address("127.0.8.1")
        c.expect("AUTH ann pa", "+OK")
        c.send("CLIENT", "REPLY", "SKIP")
        c.send("AUTH", "slow", "slow")
        c.expect("ECHO here", '"here"')

    def test_names_and_passwords_that_are_too_long_are_wrong(self):
        c = self.from_address("127.0.9.1")
        c.expect(("AUTH", "n" * 300, "p"), "-WRONGPASS ...")
        c.expect(("AUTH", "ann", "p" * 600), "-WRONGPASS ...")
        c.expect(("AUTH", "a\0nn", "pa"), "-WRONGPASS ...")

    def http(self, address, credentials, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                timeout=sluiced.LIMIT_S,
                                                source_address=(address, 0))
        self.addCleanup(connection.close)
        token = base64.b64encode(credentials.encode()).decode()
        connection.request("POST" if body else "GET",
                           "/v1/ns/app/queues/mail/jobs" if body else "/v1/ns/app/queues",
                           body, {"Authorization": "Basic " + token,
                                  "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_a_request_of_http_waits_for_the_check(self):
        self.assertEqual(self.http("127.0.10.1", "slow:wrong")[0], 401)
        self.assertEqual(self.http("127.0.10.1", "slow:slow")[0], 200)
        status, text = self.http("127.0.10.2", "ann:pa",
                                 '{"klass": "Send", "data": {}, "jid": "by-http"}')
        self.assertEqual((status, "by-http" in text), (201, True), text)
        self.assertEqual(self.http("127.0.10.3", "ann:no", '{"klass": "Send"}')[0], 401)


class Queue(sluiced.TestCase):
    flags = ("--user", "slow " + slow_hash() + " app:write", "--max-logins", "4",
             "--max-logins-address", "3", "--auth-timeout", "0")

    def test_waiting_logins_are_limited_and_the_worst_address_gives_way(self):
        guessers = [From(self.server, "127.0.1.1") for _ in range(6)]
        for guesser in guessers:
            self.addCleanup(guesser.close)
            guesser.send("AUTH", "slow", "wrong")
        fresh = [From(self.server, f"127.0.2.{i + 1}") for i in range(2)]
        for client in fresh:
            self.addCleanup(client.close)
            client.send("AUTH", "slow", "slow")
        for client in fresh:
            client.hear("+OK")
        replies = [guesser.read() for guesser in guessers]
        self.assertTrue(all(reply.startswith(("-WRONGPASS", "-ERR too many")) for reply in replies),
                        replies)
        self.assertTrue(any(reply.startswith("-ERR too many logins") for reply in replies), replies)


class Hash(sluiced.TestCase):
    def test_a_hash_has_the_iterations_that_the_documents_show(self):
        made = subprocess.run([os.environ["SLUICED"], "--hash-password"], input="secret\n",
                              capture_output=True, text=True, check=True).stdout
        self.assertTrue(made.startswith("pbkdf2-sha256$100000$"), made)


if __name__ == "__main__":
    sluiced.main()
