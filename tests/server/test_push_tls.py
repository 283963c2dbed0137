#!/usr/bin/python3
"""Jobs that the server pushes by TLS: who vouches for the worker, and HTTP/2."""

import json
import os
import signal
import ssl
import subprocess
import unittest

import outside
import sluiced
import test_push

# Answers each request with how it came: the version of HTTP, and which connection it was.
HTTP2_WORKER = """
const fs = require("fs");
const http2 = require("http2");
let sessions = 0;
const server = http2.createSecureServer({
    cert: fs.readFileSync(process.argv[1]), key: fs.readFileSync(process.argv[2]) });
server.on("session", session => { session.number = ++sessions; });
server.on("request", (request, response) => {
    let size = 0;
    request.on("data", bytes => { size += bytes.length; });
    request.on("end", () => {
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify({
            version: request.httpVersion, size,
            session: request.stream.session.number }));
    });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"""


class TlsTest(test_push.PushTest):
    def certificate(self, name="cert"):
        """A certificate that vouches for itself, and its key."""
        certificate, key = self.server.path(name + ".pem"), self.server.path(name + ".key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-days", "2", "-keyout", key,
                        "-out", certificate], check=True, capture_output=True)
        return certificate, key

    def secure_worker(self, certificate, key):
        worker = self.worker()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        worker.server.socket = context.wrap_socket(worker.server.socket, server_side=True)
        worker.href = f"https://localhost:{worker.port}/"
        return worker

    def configure(self, *lines):
        """Writes these lines into a config file."""
        path = self.server.path("sluiced.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        return path


class Trust(TlsTest):
    def test_a_certificate_that_nobody_vouches_for_is_refused(self):
        worker = self.secure_worker(*self.certificate())
        self.push(worker)
        self.client.put("j1", retries=0)
        job = self.client.until_state("j1", "failed")
        self.assertEqual(job["failure"]["group"], "push:tls")
        self.assertEqual(worker.requests, [])


class Authority(TlsTest):
    """With authorities of its own."""

    def setUp(self):
        self.server = sluiced.Server(*outside.SMALL, *self.flags)
        self.addCleanup(self.server.__exit__)
        self.pair = self.certificate()
        self.config = self.configure(f"push-ca {self.pair[0]}")
        self.server.flags += ("--config", self.config)
        self.server.start()
        self.client = test_push.Talk(self.server)
        self.addCleanup(self.client.close)

    def test_whom_push_ca_names_is_trusted(self):
        worker = self.secure_worker(*self.pair)
        self.push(worker)
        self.client.put("j1", retries=0)
        self.client.until_state("j1", "complete")
        self.assertEqual(len(worker.requests), 1)

    def read_again(self):
        del self.server.log[:]
        self.server.process.send_signal(signal.SIGHUP)
        test_push.until(lambda: any("settings reloaded" in line for line in self.server.log),
                        "the settings to be read")

    def test_another_file_counts_from_the_next_request_on(self):
        worker = self.secure_worker(*self.pair)
        self.push(worker)
        self.client.put("j1", retries=0)
        self.client.until_state("j1", "complete")
        other = self.secure_worker(*self.certificate("other"))
        self.client.do("Q.PUSH.SET", "app", "Other", other.href)
        self.client.put("j2", klass="Other", retries=0)
        self.client.until_state("j2", "failed")
        self.configure(f"push-ca {self.server.path('other.pem')}")
        self.read_again()
        self.client.put("j3", klass="Other", retries=0)
        self.client.until_state("j3", "complete")

    def test_another_file_of_the_same_name_does_too(self):
        self.push(self.secure_worker(*self.pair))
        self.client.put("j1", retries=0)
        self.client.until_state("j1", "complete")
        other = self.secure_worker(*self.certificate("other"))
        self.client.do("Q.PUSH.SET", "app", "Other", other.href)
        os.replace(self.server.path("other.pem"), self.pair[0])
        self.read_again()
        self.client.put("j2", klass="Other", retries=0)
        self.client.until_state("j2", "complete")

    def test_a_file_that_is_none_is_said_at_the_start(self):
        for path, sentence in (("/nowhere/ca.pem", "cannot be read"),
                               (self.config, "has no certificates in PEM")):
            result = subprocess.run([os.environ["SLUICED"], "--data", self.server.path("data2"),
                                     "--push-ca", path],
                                    capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 1, result)
            self.assertIn(f"push-ca {path} {sentence}", result.stderr)

    def http2_worker(self):
        process = subprocess.Popen(["node", "-e", HTTP2_WORKER, *self.pair],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.__exit__, None, None, None)
        self.addCleanup(process.kill)
        return f"https://localhost:{int(process.stdout.readline())}/"

    def results(self, count):
        for i in range(count):
            self.client.put(f"j{i}", data="x" * 20000)
        return [json.loads(self.client.until_state(f"j{i}", "complete")["result"])
                for i in range(count)]

    def test_http_2_is_spoken_where_it_is_offered_on_one_connection(self):
        self.client.do("Q.PUSH.SET", "app", "Work", self.http2_worker(), "CONCURRENCY", "50")
        results = self.results(200)
        self.assertEqual({result["version"] for result in results}, {"2.0"})
        self.assertEqual({result["session"] for result in results}, {1})
        self.assertTrue(all(result["size"] > 20000 for result in results))


if __name__ == "__main__":
    sluiced.main()
