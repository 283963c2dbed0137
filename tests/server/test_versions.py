#!/usr/bin/python3
"""Versions of the file format. A folder that version 1 wrote is read right and upgraded; a folder of
a version to come is refused with a sentence, and not touched.

version-1/folder.tar.xz is the folder of a sluiced that stopped without a checkpoint, so that the base
has some of it and the journal the rest. version-1/dump.jsonl is what that program said it holds.
"""

import hashlib
import json
import os
import shutil
import struct
import subprocess
import tarfile
import unittest

import outside  # noqa: F401, finds sluiced
import sluiced

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
FLAGS = ("--reserve-size", "1M", "--http", "", "--grpc", "")
SECTOR = 512
NEWER = 3


def crc32c(crc, data):
    crc ^= 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def dump(client):
    """The items of a dump, which stand in quotes as they are."""
    text, decoder, items = client.ask("Q.DUMP app COUNT 1000"), json.JSONDecoder(), []
    at = text.index("[") + 1
    while text[at] == '"':
        item, end = decoder.raw_decode(text, at + 1)
        items.append(item)
        at = end + (3 if text[end + 1] == "," else 1)
    return items


def holds(item, whole):
    """Whether all that an object says is said by another, which may say more."""
    if isinstance(item, dict):
        return isinstance(whole, dict) and all(name in whole and holds(value, whole[name])
                                               for name, value in item.items())
    return item == whole


def contents(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                found[os.path.relpath(os.path.join(path, name), folder)] = \
                    hashlib.sha256(file.read()).hexdigest()
    # Who has it open, or had it last.
    return {name: value for name, value in found.items() if not name.endswith(("lock", "lock.mdb"))}


class Versions(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.server = sluiced.Server(*FLAGS)
        self.addCleanup(shutil.rmtree, self.server.folder)
        self.data = self.server.path("data")
        with tarfile.open(os.path.join(HERE, "version-1/folder.tar.xz")) as archive:
            archive.extractall(self.server.folder)

    def run_server(self):
        self.server.start()
        self.addCleanup(self.server.stop)
        client = sluiced.Client(self.server)
        self.addCleanup(client.close)
        client.ask("HELLO", "3")
        return client

    def tool(self, *words):
        return subprocess.run([os.environ["SLUICE"], *words], env=ENVIRONMENT, text=True,
                              capture_output=True, timeout=sluiced.LIMIT_S, check=False)

    def expect_version_1(self, client):
        items = dump(client)
        with open(os.path.join(HERE, "version-1/dump.jsonl"), encoding="utf-8") as file:
            for line in file:
                item = json.loads(line)
                self.assertTrue(any(holds(item, other) for other in items), line)
        client.expect("Q.CHECK app", '{"broken": :0, "repair": #f, "sentences": []}')
        client.expect("Q.GET app gone1 gone2", "[_, _]")
        self.assertIn('"token": :14, ', client.ask("Q.HELD app running w1"))
        self.assertIn('"pid": :4711', client.ask("Q.GET app running"))
        self.assertIn('"result": "{"r":1}"', client.ask("Q.WAIT app kept"))
        # Of jids that are gone it is known which were complete.
        client.expect(("Q.PUT", "app", "q", "k", "{}", "JID", "after", "DEPENDS", "gone0"), '"after"')
        client.expect(("Q.PUT", "app", "q", "k", "{}", "DEPENDS", "gone1"), "-NOT_FOUND...")
        client.expect("Q.CANCEL app after", ":1")

    def test_a_folder_of_version_1_is_read_and_upgraded(self):
        sound = self.tool("doctor", self.data)
        self.assertEqual((sound.returncode, sound.stderr), (0, ""), sound.stdout)
        client = self.run_server()
        self.server.hear("has version 1 of the file format, and has version 2 from now on")
        self.expect_version_1(client)
        # What version 1 did not know.
        client.expect("Q.COMPLETE app running w1 TOKEN 14", '"complete"')
        client.expect("Q.COMPLETE app done3 w1 TOKEN 10", "-STALE...")
        put = ("Q.PUT", "app", "q", "k", "{}", "REQUEST", "r1")
        jid = client.ask(*put)
        self.server.restart()
        self.assertFalse(any("from now on" in line for line in self.server.log[-5:]))
        with sluiced.Client(self.server) as again:
            again.expect("Q.COMPLETE app running w1 TOKEN 14", '"complete"')
            again.expect(put, jid)
        self.server.stop()
        sound = self.tool("doctor", self.data)
        self.assertEqual((sound.returncode, sound.stderr), (0, ""), sound.stdout)

    def test_a_folder_of_version_2_is_read(self):
        """version-2 was made as version-1 was, with minutes of the series and a request. Of what it
        holds, dump.jsonl has what does not change with time."""
        shutil.rmtree(self.data)
        with tarfile.open(os.path.join(HERE, "version-2/folder.tar.xz")) as archive:
            archive.extractall(self.server.folder)
        sound = self.tool("doctor", self.data)
        self.assertEqual((sound.returncode, sound.stderr), (0, ""), sound.stdout)
        client = self.run_server()
        items = dump(client)
        with open(os.path.join(HERE, "version-2/dump.jsonl"), encoding="utf-8") as file:
            for line in file:
                item = json.loads(line)
                self.assertTrue(any(holds(item, other) for other in items), line)
        client.expect("Q.CHECK app", '{"broken": :0, "repair": #f, "sentences": []}')
        self.assertIn('"result": "{"r":1}"', client.ask("Q.WAIT app kept"))

    def test_the_library_opens_it_too(self):
        done = self.tool("--url", f"file:{self.data}?ns=app&create=no", "--json", "queues")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_version_1(self.run_server())
        self.assertFalse(any("from now on" in line for line in self.server.log))

    def refuse(self, what):
        before = contents(self.data)
        process = subprocess.run(
            [os.environ["SLUICED"], "--data", self.data, "--listen", "127.0.0.1:0", *FLAGS],
            env=ENVIRONMENT, text=True, capture_output=True, timeout=sluiced.LIMIT_S, check=False)
        said = [(process.returncode, process.stderr)]
        for words in (["--url", f"file:{self.data}", "queues"], ["doctor", self.data],
                      ["doctor", self.data, "--repair", "--yes"]):
            done = self.tool(*words)
            said.append((done.returncode, done.stdout + done.stderr))
        for code, text in said:
            self.assertNotEqual(code, 0, text)
            self.assertIn(f"{what} has version {NEWER} of the file format, and this program reads "
                          "versions 1 to 2: it was written by a newer version of Sluice", text)
            self.assertNotIn("--repair", text)
        self.assertEqual(contents(self.data), before)
        self.assertFalse(os.path.exists(self.data + ".damaged"))

    def test_a_base_of_a_newer_version_is_refused_and_not_touched(self):
        path = os.path.join(self.data, "base/data.mdb")
        with open(os.path.join(self.data, "journal-000"), "rb") as file:
            store = file.read(SECTOR)[16:32]
        with open(path, "r+b") as file:
            base = file.read()
            found, at = 0, 0
            while (at := base.find(store, at + 1)) >= 0:
                record = bytearray(base[at - 4:at + 64])
                key = crc32c(0, bytes(21))
                if struct.unpack("<I", base[at - 8:at - 4])[0] == crc32c(key, record):
                    record[:4] = struct.pack("<I", NEWER)
                    file.seek(at - 8)
                    file.write(struct.pack("<I", crc32c(key, record)) + record)
                    found += 1
        self.assertGreater(found, 0)
        self.refuse("the folder")

    def test_a_journal_of_a_newer_version_is_refused_and_not_touched(self):
        with open(os.path.join(self.data, "journal-000"), "r+b") as file:
            head = bytearray(file.read(SECTOR))
            head[4:8] = struct.pack("<I", NEWER)
            head[:4] = struct.pack("<I", crc32c(0, head[4:]))
            file.seek(0)
            file.write(head)
        self.refuse("journal-000")


if __name__ == "__main__":
    sluiced.main()
