#!/usr/bin/python3
"""The workers of the manual do their work, fail it, and give back what they have not done."""

import os
import shutil
import signal
import subprocess
import sys
import unittest

import grpc_client
import sluiced
from grpc_client import LIMIT_S, SOURCE, pb

sys.path.insert(1, os.path.join(SOURCE, "tests", "clients"))
import npm_packages  # noqa: E402

EXAMPLES = os.path.join(SOURCE, "examples", "grpc")


class Examples(grpc_client.TestCase):
    def start(self, *command, **environment):
        process = subprocess.Popen(command, env={**os.environ, **environment},
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finished(self, jid, raw):
        answer = self.queue.Wait(pb.WaitRequest(jid=jid, raw_payloads=raw), timeout=LIMIT_S)
        return pb.Job.State.Name(answer.state), answer

    def stop(self, process, worker):
        """Ends a worker that waits for jobs; it has given back all that it had."""
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, process.wait(LIMIT_S), process.stderr.read())
        running = self.queue.List(pb.ListRequest(state=pb.Job.RUNNING, worker=worker))
        self.assertEqual([], list(running.jobs))

    def test_python(self):
        process = self.start("/usr/bin/python3", os.path.join(EXAMPLES, "worker.py"),
                             f"127.0.0.1:{self.server.grpc_port}", "python",
                             PYTHONPATH=grpc_client._folder)
        jids = [self.add("python", data=pb.Payload(raw=b"text %d" % number)) for number in range(20)]
        for number, jid in enumerate(jids):
            state, answer = self.finished(jid, True)
            self.assertEqual(("COMPLETE", b"TEXT %d" % number), (state, answer.result.raw))
        state, answer = self.finished(self.add("python", data=pb.Payload(raw=b"bad"), retries=0), True)
        self.assertEqual(("FAILED", "ValueError", "the data is bad"),
                         (state, answer.group, answer.message))
        self.stop(process, "worker-1")

    @unittest.skipUnless(shutil.which("npm"), "npm is not installed")
    def test_node(self):
        folder = os.environ["NODE_FOLDER"]
        npm_packages.install(os.path.join(SOURCE, "tests", "grpc", "node"), folder)
        program = shutil.copy(os.path.join(EXAMPLES, "worker.mjs"), folder)
        process = self.start("node", program, f"127.0.0.1:{self.server.grpc_port}", "node",
                             grpc_client.PROTO)
        jids = [self.add("node", data=pb.Payload(json='{"n":%d}' % number)) for number in range(20)]
        for number, jid in enumerate(jids):
            state, answer = self.finished(jid, False)
            self.assertEqual(("COMPLETE", '{"seen":{"n":%d}}' % number), (state, answer.result.json))
        state, answer = self.finished(
            self.add("node", data=pb.Payload(json='{"bad":true}'), retries=0), False)
        self.assertEqual(("FAILED", "Error", "the data is bad"),
                         (state, answer.group, answer.message))
        self.stop(process, "worker-2")


if __name__ == "__main__":
    sluiced.main()
