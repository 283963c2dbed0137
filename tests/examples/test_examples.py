#!/usr/bin/python3
"""The examples, as their comments say they are used: with the queue in their own process, and on a
server."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))
import sluiced  # noqa: E402


def run(name, *words):
    done = subprocess.run([os.path.join(os.environ["EXAMPLES"], "example_" + name), *words],
                          text=True, capture_output=True, timeout=sluiced.LIMIT_S, check=False)
    return done.returncode, done.stdout, done.stderr


def wait_for(client, request, part):
    """Asks until that is in the answer."""
    sluiced.until(lambda: part in client.ask(request), f"{part} to {request}")


class Examples(unittest.TestCase):
    def put_and_work(self, address):
        code, jids, said = run("put", address, "ann", "bob")
        self.assertEqual((code, said, len(jids.split())), (0, "", 2))
        code, lines, said = run("worker", address)  # from several threads
        self.assertEqual((code, sorted(lines.splitlines()), said),
                         (0, ['Send {"to":"ann"}', 'Send {"to":"bob"}'], ""))
        self.assertEqual(run("put", address, "cat", "dan")[0], 0)
        self.assertEqual(run("epoll", address, "mail"),
                         (0, 'Send {"to":"cat"}\nSend {"to":"dan"}\n', ""))

    def ask_and_answer(self, address, client):
        """One waits for the result of what the other does, who waits a second for a job at most."""
        with subprocess.Popen([os.path.join(os.environ["EXAMPLES"], "example_result"), address,
                               "mail", "Send", '{"to":"cat"}'],
                              stdout=subprocess.PIPE, text=True) as asker:
            wait_for(client, "Q.LENGTH app mail", ":1")
            self.assertEqual(run("worker", address), (0, 'Send {"to":"cat"}\n', ""))
            self.assertEqual(asker.stdout.read(), 'complete {"sent":true}\n')

    def test_a_queue_in_the_process(self):
        with tempfile.TemporaryDirectory() as folder:
            self.put_and_work(f"file:{folder}/jobs")

    def test_a_queue_on_a_server(self):
        with sluiced.Server("--http", "") as server, sluiced.Client(server) as client:
            address = f"sluice://127.0.0.1:{server.port}/app"
            self.put_and_work(address)
            self.ask_and_answer(address, client)

    def test_events_in_a_loop_of_libevent(self):
        with sluiced.Server("--http", "") as server, sluiced.Client(server) as client:
            with subprocess.Popen(
                    [os.path.join(os.environ["EXAMPLES"], "example_libevent"),
                     f"sluice://127.0.0.1:{server.port}/app", "2"],
                    stdout=subprocess.PIPE, text=True) as watcher:
                self.assertEqual(watcher.stdout.readline(), "listening\n")
                for jid in ("a", "b"):
                    client.expect(f"Q.PUT app mail Send {{}} JID {jid}", f'"{jid}"')
                    event = json.loads(watcher.stdout.readline())
                    self.assertEqual((event["event"], event["jid"]), ("put", jid))
                self.assertEqual(watcher.stdout.read(), "")
            self.assertEqual(watcher.returncode, 0)

    def test_a_worker_that_is_stopped(self):
        with sluiced.Server("--http", "") as server, sluiced.Client(server) as client:
            client.expect("Q.PUT app films Render {} JID film", '"film"')
            with subprocess.Popen(
                    [os.path.join(os.environ["EXAMPLES"], "example_long_job"),
                     f"sluice://127.0.0.1:{server.port}/app", "films"],
                    stdout=subprocess.PIPE, text=True) as worker:
                wait_for(client, "Q.GET app film", '"rendering"')
                worker.terminate()
                self.assertEqual(worker.stdout.read(), "")
            self.assertEqual(worker.returncode, 0)
            said = client.ask("Q.GET app film")
            self.assertNotIn('"complete"', said)
            self.assertIn('"remaining", :5', said)
            self.assertIn('"lease", nil', said)
            self.assertEqual(
                run("long_job", f"sluice://127.0.0.1:{server.port}/app", "films"), (0, "", ""))
            self.assertIn('"state", "complete"', client.ask("Q.GET app film"))

    def test_a_job_that_takes_longer_than_its_lease(self):
        with sluiced.Server("--http", "") as server, sluiced.Client(server) as client:
            client.expect("Q.CONFIG.SET app films-heartbeat 1", "+OK")
            client.expect("Q.PUT app films Render {} JID film", '"film"')
            self.assertEqual(
                run("long_job", f"sluice://127.0.0.1:{server.port}/app", "films"), (0, "", ""))
            said = client.ask("Q.GET app film")
            self.assertIn('"state", "complete"', said)
            self.assertIn('"attempts", :1', said)

    def test_a_job_that_is_canceled(self):
        with sluiced.Server("--http", "") as server, sluiced.Client(server) as client:
            client.expect("Q.PUT app films Render {} JID film", '"film"')
            with subprocess.Popen(
                    [os.path.join(os.environ["EXAMPLES"], "example_long_job"),
                     f"sluice://127.0.0.1:{server.port}/app", "films"],
                    stdout=subprocess.PIPE, text=True) as worker:
                wait_for(client, "Q.GET app film", '"rendering"')
                client.expect("Q.CANCEL app film", ":1")
                self.assertEqual(worker.stdout.read(), "film was canceled\n")


if __name__ == "__main__":
    sluiced.main()
