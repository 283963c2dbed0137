"""A real sluiced with TLS, and the certificates for it."""

import subprocess

from real import TestCase


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class TlsTestCase(TestCase):
    def path(self, name):
        return self.server.path(name)

    def authority(self, name):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.path(name + ".key"),
                "-out", self.path(name + ".pem"))

    def certificate(self, name, authority, names="DNS:localhost,IP:127.0.0.1"):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", f"/CN={name}", "-keyout", self.path(name + ".key"),
                "-out", self.path(name + ".csr"))
        with open(self.path("names"), "w", encoding="ascii") as file:
            file.write("subjectAltName=" + names)
        openssl("x509", "-req", "-in", self.path(name + ".csr"), "-CA", self.path(authority + ".pem"),
                "-CAkey", self.path(authority + ".key"), "-CAcreateserial", "-days", "2",
                "-extfile", self.path("names"), "-out", self.path(name + ".pem"))

    def start(self, *flags, certificate="server"):
        self.server.stop()
        self.server.flags = ("--tls-listen", "127.0.0.1:0",
                             "--tls-cert", self.path(certificate + ".pem"),
                             "--tls-key", self.path(certificate + ".key"), *flags)
        self.server.log.clear()
        self.server.start()
        line = [line for line in self.server.log if "tls=yes" in line][0]
        return int(line.split("address=127.0.0.1:")[1].split()[0])

    def setUp(self):
        super().setUp()
        for name in ("authority", "stranger"):
            self.authority(name)
        self.certificate("server", "authority")
