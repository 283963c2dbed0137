# SPDX-License-Identifier: MIT
"""What qless-core's tests call through: a client that loads the script, calls it, and records what
is published."""

import json
import os

import redis

CHECKOUT = None  # the folder of qless-core, set by the runner

# In the order in which qless-core's makefile puts them together.
PARTS = ["base", "config", "job", "queue", "recurring", "worker", "api"]


def script():
    """The text of qless.lua."""
    texts = []
    for part in PARTS:
        with open(os.path.join(CHECKOUT, part + ".lua"), encoding="utf-8") as source:
            texts.append(source.read())
    return "".join(texts)


class QlessRecorder:
    """A call is a call of the script's. While it is entered, `log` collects the messages."""

    __name__ = "QlessRecorder"

    def __init__(self, client):
        options = client.connection_pool.connection_kwargs
        self.client = redis.Redis(host=options["host"], port=options["port"],
                                  decode_responses=True, socket_timeout=30)
        self.pubsub = self.client.pubsub()
        self.lua = self.client.register_script(script())
        self.log = []

    def raw(self, *arguments, **options):
        return self.lua(*arguments, **options)

    def __call__(self, *arguments):
        words = [json.dumps(word) if isinstance(word, (dict, list)) else word
                 for word in arguments]
        answer = self.lua([], words)
        try:
            return json.loads(answer)
        except (TypeError, ValueError):
            return answer

    def flush(self):
        self.client.flushdb()

    def __enter__(self):
        self.log = []
        self.pubsub.psubscribe("*")
        next(self.pubsub.listen())
        return self

    def __exit__(self, kind, value, traceback):
        self.pubsub.punsubscribe("*")
        for message in self.pubsub.listen():
            if message["type"] == "pmessage":
                self.log.append({"channel": message["channel"], "data": message["data"]})
            elif message["type"] == "punsubscribe":
                break
