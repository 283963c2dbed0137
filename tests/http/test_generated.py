#!/usr/bin/python3
"""docs/openapi.json with the tools that programs use: Redocly's linter finds nothing in it, and a
client made from it by openapi-typescript compiles and talks to a server."""

import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "clients"))
import npm_packages  # noqa: E402
import sluiced  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node")
DESCRIPTION = os.path.join(os.environ["TEST_SOURCE"], "docs", "openapi.json")


@unittest.skipUnless(shutil.which("npm"), "npm is not installed")
class Generated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.environ["NODE_FOLDER"]
        npm_packages.install(HERE, cls.folder)
        for name in ("lint.mjs", "client.ts"):
            shutil.copy(os.path.join(HERE, name), cls.folder)

    def node(self, *words):
        return subprocess.run(["node", *words], cwd=self.folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_the_linter_finds_nothing(self):
        done = self.node("lint.mjs", DESCRIPTION)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_linter_finds_what_is_wrong(self):
        with open(DESCRIPTION, encoding="utf-8") as file:
            document = json.load(file)
        del document["servers"]
        path = os.path.join(self.folder, "wrong.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = self.node("lint.mjs", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-empty-servers", done.stdout)

    def test_a_generated_client_compiles_and_works(self):
        made = self.node("node_modules/openapi-typescript/bin/cli.js", DESCRIPTION, "--output",
                         "sluice.ts")
        self.assertEqual(made.returncode, 0, made.stdout)
        compiled = self.node("node_modules/typescript/bin/tsc", "--strict", "--noUncheckedIndexedAccess",
                             "--target", "es2022", "--module", "nodenext", "--moduleResolution",
                             "nodenext", "--lib", "es2022,dom", "--outDir", ".", "client.ts")
        self.assertEqual(compiled.returncode, 0, compiled.stdout)
        with sluiced.Server() as server:
            done = self.node("client.js", f"http://127.0.0.1:{server.http_port}")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    sluiced.main()
