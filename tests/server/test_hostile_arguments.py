#!/usr/bin/python3
"""Every command of a real server, by the table that COMMAND DOCS and openapi.json show, with hostile
arguments: empty, at the limits of their sizes and beyond, any bytes, numbers at their limits. The
server still answers then, and ends as it should. As many requests as there are; a seed replays."""

import http.client
import json
import os
import random
import socket
import threading
import unittest
import urllib.parse

import outside
import sluiced

SEED = int(os.environ.get("SLUICE_SEED", "1"))
ROUNDS = 6  # of each command, and of each route
NUMBERS = [b"0", b"-1", b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808",
           b"99999999999999999999999999", b"1e308", b"0.0000001", b"nan", b""]
SIZES = [0, 1, 255, 256, 511, 512, 600, 65536]
SIZE_LARGE = 1 << 20
NAMES = [b"a", b"b", b"mail"]
# What ends the server, or makes files where it runs, is asked with words that cannot be right.
ONLY_WRONG = {b"shutdown", b"q.backup"}


def parse(file):
    """A reply of RESP2 as bytes, numbers and lists."""
    line = file.readline()
    kind, rest = line[:1], line[1:-2]
    if kind in (b"$", b"*") and rest == b"-1":
        return None
    if kind == b"$":
        return file.read(int(rest) + 2)[:-2]
    if kind == b"*":
        return [parse(file) for _ in range(int(rest))]
    return rest


def pairs(items):
    return dict(zip(items[::2], items[1::2]))


class Hostile:
    """Draws words."""

    def __init__(self, chance):
        self.chance = chance

    def text(self, wrong=False):
        chance = self.chance
        size = SIZE_LARGE if chance.randrange(60) == 0 else chance.choice(SIZES)
        if wrong:
            size = max(size, 600)
        kind = chance.randrange(3)
        if kind == 0:
            return b"A" * size
        return chance.randbytes(size) if kind == 1 else (b"%s%n\r\n\0{[\"" * (size // 10 + 1))[:size]

    def word(self, wrong=False):
        draw = self.chance.randrange(10)
        if wrong or draw < 4:
            return self.text(wrong)
        if draw < 6:
            return self.chance.choice(NUMBERS)
        return self.chance.choice(NAMES + [b"{}", b"1", b"on", b"GET", b"HELP", b"*"])


class Arguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"# replay with SLUICE_SEED={SEED}")
        cls.server = sluiced.Server("--segment-size", "1M", "--reserve-size", "1M").__enter__()
        cls.hostile = Hostile(random.Random(SEED))

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()  # asserts that it ends with 0, and what a sanitizer reports is not 0

    def seed_state(self):
        """Something for commands to be about, and a limit, which is what lanes look for."""
        with sluiced.Client(self.server) as client:
            client.expect("Q.LIMIT.SET a QUEUE a CONCURRENCY 1", "+OK")
            for name in ("a", "b", "mail"):
                client.ask(f"Q.PUT a {name} Send {{}} JID {name} TAG a")
            client.ask("Q.POP a a 1 a")

    def words_of(self, name, arguments):
        """A request of a command: what its table says, but what stands there is hostile."""
        wrong = name in ONLY_WRONG
        words = [name]
        for argument in arguments:
            argument = pairs(argument)
            flags = argument.get(b"flags") or []
            optional = b"optional" in flags or b"token" in argument
            if argument[b"name"] == b"ns" and self.hostile.chance.randrange(10):
                words.append(b"a")
                continue
            if optional and self.hostile.chance.randrange(3):
                continue
            if b"token" in argument:
                words.append(argument[b"token"])
                if argument.get(b"type") == b"pure-token":
                    continue
            for _ in range(self.hostile.chance.randrange(1, 4) if b"multiple" in flags else 1):
                words.append(self.hostile.word(wrong))
        if wrong and len(words) == 1:
            words.append(self.hostile.word(True))
        return words

    def send_all(self, requests):
        """On a connection of their own, which may end up blocked, subscribed or closed."""
        client = socket.create_connection(("127.0.0.1", self.server.port), timeout=sluiced.LIMIT_S)
        got = bytearray()

        def drain():
            try:
                while piece := client.recv(1 << 16):
                    got.extend(piece[-1:])
            except OSError:
                pass
        reader = threading.Thread(target=drain)
        reader.start()
        try:
            client.sendall(b"".join(outside.request(*words) for words in requests))
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was closed for what it said
        reader.join()
        client.close()
        return len(got)

    def test_every_command_over_resp(self):
        self.seed_state()
        with sluiced.Client(self.server) as client:
            client.send("COMMAND", "DOCS")
            docs = pairs(parse(client.file))
        self.assertGreater(len(docs), 120)
        sent = 0
        for name, about in docs.items():
            arguments = pairs(about).get(b"arguments") or []
            requests = [self.words_of(name, arguments) for _ in range(ROUNDS)]
            self.send_all(requests)
            sent += len(requests)
            with sluiced.Client(self.server) as client:
                self.assertEqual(client.ask("PING"), "+PONG", name)
        print(f"# {sent} requests of {len(docs)} commands")

    def test_a_domain_that_is_too_long_is_refused_by_name(self):
        self.seed_state()
        with sluiced.Client(self.server) as client:
            for size in (256, 600, 65536):
                client.expect("Q.LANE a a " + "A" * size,
                              f"-INVALID domain is {size} bytes long, and at most 255 are allowed")
        path = "/v1/ns/a/queues/a/lane?domain=" + "A" * 600
        connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                timeout=sluiced.LIMIT_S)
        connection.request("GET", path)
        reply = connection.getresponse()
        self.assertEqual(reply.status, 400)
        self.assertIn(b"domain is 600 bytes long", reply.read())
        connection.close()

    def test_a_zero_byte_in_a_name_does_not_end_the_name_of_a_channel(self):
        with sluiced.Client(self.server) as listener, sluiced.Client(self.server) as client:
            listener.expect("SUBSCRIBE sluice:zero:worker:a", '["subscribe"...')
            listener.expect(("SUBSCRIBE", b"sluice:zero:worker:a\0b"), '["subscribe"...')
            client.expect("Q.NAMESPACE.CREATE zero CLOCK client", "+OK")  # names are any bytes
            client.expect("Q.PUT zero q Send {} JID j", '"j"')
            self.assertIn('"j"', client.ask("Q.POP", "zero", b"a\0b", "1", "q"))
            client.expect("Q.TIMEOUT zero j", "+OK")
            listener.hear('["message", "sluice:zero:worker:a\0b"...')

    def body_of(self, schema, components):
        while "$ref" in schema:
            schema = components[schema["$ref"].rsplit("/", 1)[1]]
        for option in schema.get("oneOf", []) or schema.get("anyOf", []):
            if self.hostile.chance.randrange(2):
                return self.body_of(option, components)
        if schema.get("type") == "array":
            return [self.body_of(schema.get("items", {}), components) for _ in range(2)]
        if "properties" not in schema:
            return self.value_of(schema)
        return {name: self.value_of(about) for name, about in schema["properties"].items()
                if name in schema.get("required", []) or self.hostile.chance.randrange(3) == 0}

    def value_of(self, about):
        chance = self.hostile.chance
        kind = about.get("type")
        if kind in ("integer", "number") and chance.randrange(3):
            return chance.choice([0, -1, 2**63 - 1, -2**63, 2**63, 1e308, 1e-9])
        if kind == "boolean" and chance.randrange(3):
            return chance.random() < 0.5
        if kind == "array" and chance.randrange(3):
            return [self.hostile.word().decode("latin-1") for _ in range(chance.randrange(4))]
        return self.hostile.word().decode("latin-1")

    def ask_route(self, connection, path, method, about, components):
        names = [p for p in about.get("parameters", []) if "name" in p]
        wrong = path.endswith("/backup")
        # Such a request waits as long as it says.
        waits = {"wait", "timeout"} if path.endswith("/result") else {"wait"}
        for parameter in names:
            if parameter["in"] == "path":
                word = b"a" if parameter["name"] == "ns" else self.hostile.word()
                path = path.replace("{" + parameter["name"] + "}",
                                    urllib.parse.quote_from_bytes(word[:4000], safe=""))
        path = path.replace("{ns}", "a")
        query = [(p["name"], self.hostile.word()[:4000]) for p in names
                 if p["in"] == "query" and p["name"] not in waits
                 and self.hostile.chance.randrange(2) == 0]
        if query:
            path += "?" + urllib.parse.urlencode(query)
        body = None
        content = about.get("requestBody", {}).get("content", {}).get("application/json")
        if content:
            made = self.body_of(content.get("schema", {}), components)
            if isinstance(made, dict):
                made.pop("wait", None)
                if wrong:
                    made = {"path": self.hostile.text(True).decode("latin-1")}
            body = json.dumps(made)
        connection.request(method.upper(), path, body=body,
                           headers={"Content-Type": "application/json"} if body else {})
        reply = connection.getresponse()
        data = reply.read()
        if data and "json" in (reply.headers.get("Content-Type") or ""):
            json.loads(data)
        return reply.status

    def test_every_route_over_http(self):
        self.seed_state()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port,
                                                timeout=sluiced.LIMIT_S)
        connection.request("GET", "/v1/openapi.json")
        api = json.loads(connection.getresponse().read())
        components = api.get("components", {}).get("schemas", {})
        statuses = {}
        for path, methods in api["paths"].items():
            if "events" in path:
                continue  # it has no end
            for method, about in methods.items():
                if method not in ("get", "put", "post", "patch", "delete"):
                    continue
                for _ in range(ROUNDS):
                    try:
                        status = self.ask_route(connection, path, method, about, components)
                    except (http.client.HTTPException, ConnectionError):
                        connection.close()  # closed for what it said; the next one shows whether
                        status = 0          # the server is there
                    statuses[status] = statuses.get(status, 0) + 1
        connection.request("GET", "/healthz")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        print(f"# answers by status: {dict(sorted(statuses.items()))}")
        self.assertNotIn(500, statuses)
        self.assertIn(200, statuses)
        self.assertGreater(statuses.get(400, 0) + statuses.get(422, 0), 100)


if __name__ == "__main__":
    sluiced.main()
