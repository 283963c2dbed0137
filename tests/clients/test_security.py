#!/usr/bin/python3
"""Authentication, permissions and what stays hidden from other users: passwords, users, TLS."""

import ctypes
import ctypes.util
import os
import select
import signal
import socket
import ssl
import subprocess
import time
import unittest

import sluiced


def starts(*flags, **environment):
    """Whether a server starts with these flags; what it says if it does not."""
    server = sluiced.Server(*flags, **environment)
    try:
        server.start()
    except AssertionError as refusal:
        server.process.wait()
        server.process.stderr.close()
        os.rmdir(server.folder)
        return str(refusal)
    server.__exit__()
    return None


class Addresses(unittest.TestCase):
    def test_others_can_reach_it_only_with_credentials(self):
        for address in ("0.0.0.0:0", "[::]:0", "*:0"):
            self.assertIn("password", starts("--listen", address))
        self.assertIsNone(starts("--listen", "0.0.0.0:0", "--password", "secret"))
        self.assertIsNone(starts("--listen", "0.0.0.0:0", "--user", "ann secret app:write"))

    def test_what_is_unknown_or_malformed_is_refused(self):
        self.assertIn("max-payload", starts("--max-payload", "lots"))
        self.assertIn("max-payload", starts("--max-paylod", "1M"))
        self.assertIn("SLUICE_MAX_PAYLOAD", starts(SLUICE_MAX_PAYLOAD="x"))
        self.assertIn("nothing.conf", starts("--config", "/nothing.conf"))

    def test_a_unix_socket_is_local(self):
        with sluiced.Server() as server:
            path = server.path("socket")
            server.stop()
            server.flags = ("--listen", "unix:" + path)
            server.start()
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
                s.sendall(b"PING\r\n")
                self.assertEqual(s.recv(100), b"+PONG\r\n")
            server.stop()
            self.assertFalse(os.path.exists(path))
            server.start()

    def ping(self, path):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(b"PING\r\n")
            return s.recv(100)

    def test_a_unix_socket_that_somebody_listens_on_is_not_taken(self):
        with sluiced.Server() as server:
            path = server.path("socket")
            server.stop()
            server.flags = ("--listen", "unix:" + path)
            server.start()
            other = sluiced.Server("--listen", "unix:" + path)
            with self.assertRaisesRegex(AssertionError, f"cannot listen on unix:{path}: .*in use"):
                other.__enter__()
            other.process.wait()
            other.process.stderr.close()
            self.assertEqual(self.ping(path), b"+PONG\r\n")

    def test_a_unix_socket_that_is_left_over_is_taken(self):
        with sluiced.Server() as server:
            path = server.path("socket")
            server.stop()
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(path)
            server.flags = ("--listen", "unix:" + path)
            server.start()
            self.assertEqual(self.ping(path), b"+PONG\r\n")

    def test_a_unix_socket_of_another_is_left_to_it(self):
        with sluiced.Server() as server, socket.socket(socket.AF_UNIX) as other:
            path = server.path("socket")
            server.stop()
            server.flags = ("--listen", "unix:" + path)
            server.start()
            os.unlink(path)
            other.bind(path)
            server.stop()
            self.assertTrue(os.path.exists(path))


class Password(sluiced.TestCase):
    flags = ("--password", "secret")

    def test_nothing_is_done_for_strangers(self):
        c = self.client()
        c.expect("PING", "-NOAUTH Authentication required.")
        c.expect("Q.PUT app q k {}", "-NOAUTH Authentication required.")
        c.expect("NOTHING", "-...")
        c.expect("AUTH wrong", "-WRONGPASS ...")
        c.expect("AUTH default wrong", "-WRONGPASS ...")
        c.expect("AUTH nobody secret", "-WRONGPASS ...")
        c.expect("PING", "-NOAUTH Authentication required.")
        c.expect("AUTH secret", "+OK")
        c.expect("PING", "+PONG")
        c.expect("RESET", "+RESET")
        c.expect("PING", "-NOAUTH Authentication required.")
        c.expect("HELLO 3 AUTH default secret", "{...")
        c.expect("PING", "+PONG")

    def test_strangers_have_smaller_limits(self):
        for request in (b"*17\r\n", b"*1\r\n$4097\r\n", b"x" * 5000):
            c = self.client()
            c.send_raw(request)
            c.hear("-TOO_LARGE ...")
            self.assertIsNone(c.read())

    def test_no_secret_is_in_the_log_or_the_settings(self):
        c = self.client()
        c.expect("AUTH secret", "+OK")
        self.assertIn("(hidden)", c.ask("CONFIG GET password"))
        self.assertNotIn("secret", c.ask("CONFIG GET *"))
        self.assertNotIn("secret", c.ask("CLIENT LIST"))
        self.assertNotIn("secret", "".join(self.server.log))


class Throttle(sluiced.TestCase):
    flags = ("--password", "secret", "--user", "ann pa app:write")

    def test_who_guesses_is_slowed_down(self):
        c = self.client()
        replies = [c.ask(f"AUTH guess-{i}") for i in range(20)]
        self.assertTrue(replies[0].startswith("-WRONGPASS"), replies[0])
        self.assertFalse(replies[19].startswith("-WRONGPASS"), replies[19])
        self.assertFalse(c.ask("AUTH secret").startswith("+OK"))
        c.expect("AUTH ann pa", "+OK")


class Rights(sluiced.TestCase):
    flags = ("--user", "ann pa app:write reports:read", "--user", "bob pb team-*:admin",
             "--user", "root pr *:admin")

    def login(self, name, password):
        c = self.client()
        c.expect(f"AUTH {name} {password}", "+OK")
        return c

    def test_a_user_may_what_he_was_given(self):
        ann = self.login("ann", "pa")
        ann.expect("Q.PUT app q k {} JID a", '"a"')
        ann.expect("Q.GET reports a", "[nil]")
        ann.expect("Q.PUT reports q k {}", "-NOPERM ...")
        ann.expect("Q.GET other a", "-NOPERM ...")
        ann.expect("Q.CHECK app", "-NOPERM ...")
        ann.expect("Q.NAMESPACE.DELETE app", "-NOPERM ...")
        ann.expect("SHUTDOWN", "-NOPERM ...")
        ann.expect("PING", "+PONG")
        bob = self.login("bob", "pb")
        bob.expect("Q.PUT team-a q k {} JID a", '"a"')
        bob.expect("Q.CHECK team-a", "[...")
        bob.expect("Q.GET app a", "-NOPERM ...")
        bob.expect("SHUTDOWN", "-NOPERM ...")
        root = self.login("root", "pr")
        root.expect("Q.CANCEL app a", ":1")

    def test_a_user_sees_only_namespaces_he_may_read(self):
        root = self.login("root", "pr")
        for ns in ("app", "reports", "team-x", "hidden"):
            root.expect(f"Q.PUT {ns} q k {{}} JID x", '"x"')
        ann = self.login("ann", "pa")
        self.assertNotIn("hidden", ann.ask("KEYS *"))
        self.assertNotIn("hidden", ann.ask("Q.NAMESPACES"))
        self.assertIn("reports", ann.ask("Q.NAMESPACES"))

    def test_a_user_hears_only_of_namespaces_he_may_read(self):
        ann, root = self.login("ann", "pa"), self.login("root", "pr")
        ann.expect("SUBSCRIBE sluice:secrets:log", '["subscribe", "sluice:secrets:log", :1]')
        ann.expect("PSUBSCRIBE *", '["psubscribe", "*", :2]')
        root.expect("Q.PUT secrets q k {} JID not-for-ann", '"not-for-ann"')
        root.expect("Q.PUT app q k {} JID for-ann", '"for-ann"')
        heard = ann.read()
        self.assertIn("for-ann", heard)
        self.assertNotIn("not-for-ann", heard)


    def test_a_user_is_told_only_of_channels_of_namespaces_he_may_read(self):
        ann, root = self.login("ann", "pa"), self.login("root", "pr")
        names = ["sluice:secrets:log", "sluice:secrets:worker:w", "sluice:team-a:tracked", "ql:log",
                 "sluice:app:log", "sluice:reports:tracked", "news"]
        with sluiced.Client(self.server) as listener:
            listener.expect("AUTH root pr", "+OK")
            for count, name in enumerate(names, 1):
                listener.expect(f"SUBSCRIBE {name}", f'["subscribe", "{name}", :{count}]')
            listener.expect("PSUBSCRIBE secret-*", '["psubscribe", "secret-*", :8]')
            for name in names[:4]:
                self.assertIn(name, root.ask("PUBSUB CHANNELS"))
                self.assertNotIn(name, ann.ask("PUBSUB CHANNELS"))
                self.assertNotIn(name, ann.ask("PUBSUB CHANNELS sluice:secrets:*"))
                root.expect(f"PUBSUB NUMSUB {name}", f'["{name}", :1]')
                ann.expect(f"PUBSUB NUMSUB {name}", f'["{name}", :0]')
            for name in names[4:]:
                self.assertIn(name, ann.ask("PUBSUB CHANNELS"))
                ann.expect(f"PUBSUB NUMSUB {name}", f'["{name}", :1]')
            ann.expect("PUBSUB NUMPAT", ":0")
            root.expect("PUBSUB NUMPAT", ":1")

    def test_a_user_cannot_take_the_scripts_of_others_away(self):
        ann, root = self.login("ann", "pa"), self.login("root", "pr")
        ann.expect("SCRIPT FLUSH", "-NOPERM ...")
        ann.expect("SCRIPT FLUSH ASYNC", "-NOPERM ...")
        ann.expect("SCRIPT LOAD return", "-NOPERM ...")
        ann.expect("EVAL return 0", "-NOPERM ...")
        ann.expect("CLIENT LIST", "-NOPERM ...")
        ann.expect("CLIENT KILL ID 1", "-NOPERM ...")
        root.expect("SCRIPT FLUSH", "+OK")

    def test_path_and_query_of_a_push_address_are_for_administrators(self):
        root, ann = self.login("root", "pr"), self.login("ann", "pa")
        for href, shown in (("https://worker.example/hook?token=s3cret", "https://worker.example/..."),
                            ("https://worker.example:8443/s3cret/in", "https://worker.example:8443/..."),
                            ("http://[2606:4700::1]/s3cret", "http://[2606:4700::1]/..."),
                            ("https://worker.example?s3cret", "https://worker.example/..."),
                            ("https://worker.example#s3cret", "https://worker.example/..."),
                            ("https://worker.example/", "https://worker.example/"),
                            ("https://worker.example", "https://worker.example")):
            root.expect(f"Q.PUSH.SET app Mail {href}", "+OK")
            self.assertIn(f'"{href}"', root.ask("Q.PUSHES app"))
            given = ann.ask("Q.PUSHES app")
            self.assertIn(f'"{shown}"', given)
            self.assertNotIn("s3cret", given)
        root.expect("Q.PUSH.UNSET app Mail", "+OK")
        self.assertNotIn("s3cret", "".join(self.server.log))


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Tls(unittest.TestCase):
    def setUp(self):
        self.server = sluiced.Server()
        self.addCleanup(self.server.__exit__)
        for name in ("server", "client", "stranger"):
            self.certificate(name)

    def path(self, name):
        return self.server.path(name)

    def certificate(self, name, *names):
        names = ",".join(f"DNS:{other}" for other in ("localhost", *names))
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
                "subjectAltName=" + names, "-keyout", self.path(name + ".key"),
                "-out", self.path(name + ".pem"))

    def start(self, *flags):
        self.server.flags = ("--tls-listen", "127.0.0.1:0", "--tls-cert", self.path("server.pem"),
                             "--tls-key", self.path("server.key"), *flags)
        self.server.start()
        line = [line for line in self.server.log if "tls=yes" in line][0]
        return int(line.split("address=127.0.0.1:")[1].split()[0])

    def talk(self, port, certificate=None):
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        if certificate:
            context.load_cert_chain(self.path(certificate + ".pem"), self.path(certificate + ".key"))
        with socket.create_connection(("127.0.0.1", port), timeout=sluiced.LIMIT_S) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as s:
                s.sendall(b"*1\r\n$4\r\nPING\r\n" * 1000)
                reply = b""
                while len(reply) < 7000:
                    more = s.recv(65536)
                    if not more:
                        break
                    reply += more
                return reply, s.getpeercert()["subject"]

    def test_bytes_go_both_ways(self):
        port = self.start()
        self.assertEqual(self.talk(port)[0], b"+PONG\r\n" * 1000)

    def test_large_payloads_pass(self):
        port = self.start()
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        data = b'"' + b"x" * 900000 + b'"'
        with socket.create_connection(("127.0.0.1", port), timeout=sluiced.LIMIT_S) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as s:
                s.sendall(b"*7\r\n$5\r\nQ.PUT\r\n$3\r\napp\r\n$1\r\nq\r\n$1\r\nk\r\n$%d\r\n%s\r\n"
                          b"$3\r\nJID\r\n$1\r\na\r\n" % (len(data), data))
                self.assertEqual(s.recv(100), b"$1\r\na\r\n")
                s.sendall(b"Q.GET app a\r\n")
                reply = b""
                while data not in reply:
                    reply += s.recv(1 << 20)

    def test_who_does_not_speak_tls_is_closed_and_others_go_on(self):
        port = self.start()
        with socket.create_connection(("127.0.0.1", port), timeout=sluiced.LIMIT_S) as s:
            s.sendall(b"PING\r\nPING\r\nPING\r\n")
            try:
                while s.recv(100):
                    pass
            except ConnectionResetError:
                pass  # closed before it had read all
        self.assertEqual(self.talk(port)[0], b"+PONG\r\n" * 1000)

    def test_clients_show_a_certificate(self):
        port = self.start("--tls-ca", self.path("client.pem"))
        self.assertEqual(self.talk(port, "client")[0], b"+PONG\r\n" * 1000)
        for certificate in (None, "stranger"):
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                if not self.talk(port, certificate)[0]:
                    raise ConnectionError("closed")

    def test_tls_1_2_has_forward_secrecy_or_is_refused(self):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=server",
                "-addext", "subjectAltName=DNS:localhost", "-keyout", self.path("server.key"),
                "-out", self.path("server.pem"))
        port = self.start()

        def suite(ciphers):
            context = ssl.create_default_context(cafile=self.path("server.pem"))
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers(ciphers)
            with socket.create_connection(("127.0.0.1", port), timeout=sluiced.LIMIT_S) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as s:
                    return s.cipher()[0]
        for ciphers in ("AES256-GCM-SHA384", "AES128-SHA", "kRSA", "DHE-RSA-AES256-GCM-SHA384",
                        "ECDHE-RSA-AES128-SHA"):
            with self.subTest(ciphers), self.assertRaises((ssl.SSLError, ConnectionError)):
                suite(ciphers)
        self.assertEqual(suite("ECDHE-RSA-AES128-GCM-SHA256"), "ECDHE-RSA-AES128-GCM-SHA256")
        self.assertTrue(suite("DEFAULT").startswith("ECDHE"))

    def authority(self):
        """An authority with the clients ann and bob, and its empty list of revoked ones."""
        with open(self.path("ca.conf"), "w", encoding="utf-8") as file:
            file.write("[ca]\ndefault_ca = all\n[all]\npolicy = names\ndefault_md = sha256\n"
                       f"database = {self.path('index')}\nserial = {self.path('serial')}\n"
                       f"new_certs_dir = {self.server.folder}\ndefault_crl_days = 2\n"
                       f"certificate = {self.path('ca.pem')}\nprivate_key = {self.path('ca.key')}\n"
                       "default_days = 2\n[names]\ncommonName = supplied\n")
        with open(self.path("index"), "w", encoding="utf-8"):
            pass
        with open(self.path("serial"), "w", encoding="utf-8") as file:
            file.write("01\n")
        self.certificate("ca")
        for name in ("ann", "bob"):
            openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-subj", f"/CN={name}", "-keyout", self.path(name + ".key"),
                    "-out", self.path(name + ".csr"))
            openssl("ca", "-batch", "-notext", "-config", self.path("ca.conf"),
                    "-in", self.path(name + ".csr"), "-out", self.path(name + ".pem"))
        self.list_revoked()

    def list_revoked(self, *names):
        for name in names:
            openssl("ca", "-config", self.path("ca.conf"), "-revoke", self.path(name + ".pem"))
        openssl("ca", "-config", self.path("ca.conf"), "-gencrl", "-out", self.path("crl.new"))
        os.replace(self.path("crl.new"), self.path("crl.pem"))

    def reload(self, text):
        self.server.process.send_signal(signal.SIGHUP)
        self.server.hear(text)

    def expect_refused(self, port, certificate):
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            if not self.talk(port, certificate)[0]:
                raise ConnectionError("closed")

    def test_a_revoked_certificate_is_refused_once_the_list_is_read_again(self):
        self.authority()
        port = self.start("--tls-ca", self.path("ca.pem"), "--tls-crl", self.path("crl.pem"))
        for name in ("ann", "bob"):
            self.assertEqual(self.talk(port, name)[0], b"+PONG\r\n" * 1000)
        self.list_revoked("bob")
        self.reload("settings reloaded")
        self.assertEqual(self.talk(port, "ann")[0], b"+PONG\r\n" * 1000)
        self.expect_refused(port, "bob")
        self.server.hear("certificate revoked")
        # A list that cannot be read leaves the one there is.
        with open(self.path("crl.pem"), "w", encoding="utf-8") as file:
            file.write("nothing")
        self.reload("tls-crl")
        self.expect_refused(port, "bob")
        self.assertEqual(self.talk(port, "ann")[0], b"+PONG\r\n" * 1000)

    def ask(self, port, certificate, *requests):
        """What is answered to requests, with a certificate and without a password."""
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        context.load_cert_chain(self.path(certificate + ".pem"), self.path(certificate + ".key"))
        replies = []
        with socket.create_connection(("127.0.0.1", port), timeout=sluiced.LIMIT_S) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as s:
                file = s.makefile("rb")
                for request in requests:
                    s.sendall(request.encode() + b"\r\n")
                    line = file.readline()
                    replies.append(line + file.readline() if line[:1] == b"$" else line)
        return replies

    def test_a_certificate_is_a_user(self):
        with open(self.path("both.pem"), "w", encoding="utf-8") as both:
            for name in ("client", "stranger"):
                with open(self.path(name + ".pem"), encoding="utf-8") as one:
                    both.write(one.read())
        flags = ("--tls-ca", self.path("both.pem"), "--user", "client secret app:put",
                 "--user", "other secret app:read")
        port = self.start(*flags, "--tls-client-users", "yes")
        replies = self.ask(port, "client", "ACL WHOAMI", "Q.GET app x", "RESET", "ACL WHOAMI",
                           "AUTH other secret", "ACL WHOAMI")
        self.assertEqual([replies[0], replies[3], replies[5]],
                         [b"$6\r\nclient\r\n", b"$6\r\nclient\r\n", b"$5\r\nother\r\n"])
        self.assertTrue(replies[1].startswith(b"-NOPERM"), replies[1])
        replies = self.ask(port, "stranger", "PING", "AUTH other secret", "PING")
        self.assertEqual([reply[:5] for reply in replies], [b"-NOAU", b"+OK\r\n", b"+PONG"])
        self.server.stop()
        self.server.log.clear()
        port = self.start(*flags)
        self.assertTrue(self.ask(port, "client", "PING")[0].startswith(b"-NOAUTH"))

    def test_new_certificates_are_taken_without_a_restart(self):
        port = self.start()
        self.assertEqual(self.talk(port)[1], ((("commonName", "server"),),))
        os.replace(self.path("client.pem"), self.path("server.pem"))
        os.replace(self.path("client.key"), self.path("server.key"))
        self.server.process.send_signal(signal.SIGHUP)
        self.server.hear("settings reloaded")
        self.assertEqual(self.talk(port)[1], ((("commonName", "client"),),))

    def test_a_handshake_that_does_not_fit_at_once_goes_on_when_there_is_room(self):
        """The chain is larger than what the system takes for a client that does not read, and than
        Python's ssl allows."""
        self.certificate("server", *[f"name-{i}.example.com" for i in range(3000)])
        with open(self.path("server.pem"), "a+", encoding="ascii") as file:
            file.seek(0)
            file.write(file.read() * 60)
        port = self.start()
        tls = ctypes.CDLL(ctypes.util.find_library("ssl"))
        for name in "TLS_client_method", "SSL_CTX_new", "SSL_new":
            getattr(tls, name).restype = ctypes.c_void_p
        context = ctypes.c_void_p(tls.SSL_CTX_new(ctypes.c_void_p(tls.TLS_client_method())))
        set_max_cert_list = 51
        tls.SSL_CTX_ctrl(context, set_max_cert_list, ctypes.c_long(1 << 24), None)
        side = ctypes.c_void_p(tls.SSL_new(context))
        with socket.socket() as plain, sluiced.Client(self.server) as other:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.connect(("127.0.0.1", port))
            plain.setblocking(False)
            tls.SSL_set_fd(side, plain.fileno())
            self.assertEqual(tls.SSL_connect(side), -1)
            end = time.monotonic() + sluiced.LIMIT_S
            while " events=rw " not in other.ask("CLIENT LIST"):
                self.assertLess(time.monotonic(), end)
            while tls.SSL_connect(side) != 1:
                self.assertLess(time.monotonic(), end)
                select.select([plain], [], [], sluiced.LIMIT_S)
            self.assertEqual(tls.SSL_write(side, b"PING\r\n", 6), 6)
            reply = ctypes.create_string_buffer(100)
            while (size := tls.SSL_read(side, reply, 100)) <= 0:
                self.assertLess(time.monotonic(), end)
                select.select([plain], [], [], sluiced.LIMIT_S)
            self.assertEqual(reply.raw[:size], b"+PONG\r\n")
        tls.SSL_free(side)
        tls.SSL_CTX_free(context)

    def test_a_certificate_that_is_wrong_leaves_all_as_it_was(self):
        config = self.path("sluiced.conf")
        for text in "password old\n", "password new\nmax-payload 2M\n":
            with open(config, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(config, 0o600)
            if "old" in text:
                self.start("--config", config)
        with open(self.path("server.pem"), "w", encoding="utf-8") as file:
            file.write("no certificate\n")
        self.server.process.send_signal(signal.SIGHUP)
        self.assertIn("server.pem cannot be used", self.server.hear("settings not reloaded"))
        with sluiced.Client(self.server) as client:
            client.expect("AUTH new", "-WRONGPASS...")
            client.expect("AUTH old", "+OK")
            client.expect("CONFIG GET max-payload", '["max-payload", "1MiB"]')
        self.assertFalse(any("is now" in line for line in self.server.log))


if __name__ == "__main__":
    sluiced.main()
