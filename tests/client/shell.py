"""Drives the program client_shell (shell.h), which makes the calls of libsluice.

    with Shell() as shell:
        shell.open("q", "sluice://127.0.0.1:7711")
        shell.ok("put", "q", {"queue": "mail", "klass": "Send", "data": "{}"})
        later = shell.begin("next", "q", "mail", 10, "job")     # in a thread of its own
        later.result(LIMIT_S)["status"]
"""

import concurrent.futures
import json
import os
import queue
import signal
import subprocess
import threading

LIMIT_S = 60  # a test that waits longer for anything has failed


class Shell:
    def __init__(self, **environment):
        self.process = subprocess.Popen([os.environ["CLIENT_SHELL"]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})
        self.waiting = {}
        self.count = 0
        self.mutex = threading.Lock()
        self.lost = queue.Queue()  # what keepalive's callback was told
        self.log = queue.Queue()   # what `log` was told
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        """Ends it; a sanitizer's finding is its exit code."""
        if kind:
            self.process.kill()
        self.process.stdin.close()
        try:
            code = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.reader.join()
            self.process.stdout.close()
        if code and not kind:
            raise AssertionError(f"client_shell ended with {code}")

    def _read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            label = answer.pop("label")
            if label == "lost":
                self.lost.put(answer)
            elif label == "log":
                self.log.put(answer["sentence"])
            else:
                self.waiting.pop(label).set_result(answer)
        for future in list(self.waiting.values()):
            future.set_exception(AssertionError("client_shell has ended"))

    def _send(self, mark, words):
        future = concurrent.futures.Future()
        with self.mutex:
            self.count += 1
            label = f"{mark}{self.count}"
            self.waiting[label] = future
            self.process.stdin.write(json.dumps([label, *words]) + "\n")
            self.process.stdin.flush()
        return future

    def begin(self, *words):
        """Makes a call in a thread of its own; a future of its answer."""
        return self._send("&", words)

    def ask(self, *words):
        return self._send("", words).result(LIMIT_S)

    def ok(self, *words):
        """The answer to a call that must work."""
        answer = self.ask(*words)
        if answer["status"] != "ok":
            raise AssertionError(f"{words}: {answer}")
        return answer

    def status(self, *words):
        return self.ask(*words)["status"]

    def open(self, name, url, **options):
        return self.ok("open", name, url, options)

    def signal(self):
        self.process.send_signal(signal.SIGUSR1)
