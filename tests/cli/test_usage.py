#!/usr/bin/python3
"""How the tool explains itself: overview, help, wrong usage, manual pages, completion, reference."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import tool
from person import on_terminal

REFERENCE = os.path.join(tool.SOURCE, "docs/sluice.md")


def names():
    """All commands, as the list of them says."""
    text = tool.run("man", "--markdown").stdout
    return re.findall(r"^### sluice (.*)$", text, flags=re.M)


class Help(unittest.TestCase):
    maxDiff = None

    def test_the_overview_fits_on_a_screen(self):
        done = tool.run()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 84)
        for name in names():
            self.assertRegex(done.stdout, rf"\b{name.split()[0]}\b")

    def test_every_command_is_explained(self):
        for name in names():
            with self.subTest(name):
                done = tool.run("help", *name.split())
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"Usage: sluice {name}", done.stdout)
                self.assertEqual(tool.run(*name.split(), "--help").stdout, done.stdout)
                self.assertLess(max(map(len, done.stdout.splitlines())), 110)

    def test_a_family_is_explained(self):
        done = tool.run("help", "recur")
        self.assertIn("recur add", done.stdout)
        self.assertEqual(tool.run("recur", "-h").stdout, done.stdout)
        done = tool.run("depends")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sluice: depends is several commands", done.stderr)

    def test_the_version_is_told(self):
        self.assertRegex(tool.run("--version").stdout, r"^sluice \d+\.\d+\.\d+\n$")

    def test_wrong_usage_says_what_would_be_right(self):
        for words, sentence in ((["quues"], "there is no command quues; is it queues?"),
                                (["put", "--dely", "5"], "there is no option --dely of put"),
                                (["help", "quues"], "there is no command quues; is it queues?"),
                                (["limit", "set"],
                                 "limit set needs --rate, --concurrency or --weight"),
                                (["recur", "add", "a", "b", "c"],
                                 "recur add needs --interval or --cron"),
                                (["pop"], "pop needs QUEUE...")):
            done = tool.run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertEqual(done.stderr.splitlines()[0], f"sluice: {sentence}")

    def test_the_reference_is_the_tables(self):
        text = tool.run("man", "--markdown").stdout
        if os.environ.get("TEST_UPDATE"):
            with open(REFERENCE, "w", encoding="utf-8") as file:
                file.write(text)
        with open(REFERENCE, encoding="utf-8") as file:
            self.assertTrue(file.read() == text, "docs/sluice.md is old: make docs writes it anew")


class Manual(unittest.TestCase):
    def test_there_is_a_page_for_each_command(self):
        pages = tool.run("man", "--list").stdout.split()
        self.assertEqual(sorted(pages),
                         sorted({"sluice"} | {"sluice-" + name.split()[0] for name in names()}))
        built = sorted(name[:-2] for name in os.listdir(os.environ["MANUAL"])
                       if name.endswith(".1"))
        self.assertEqual(built, sorted(pages))
        # Only what is listed there is installed.
        with open(os.path.join(tool.SOURCE, "docs/man/meson.build"), encoding="utf-8") as file:
            installed = re.findall(r"^    '(\S+)\.1',$", file.read(), flags=re.M)
        self.assertEqual(installed, sorted(pages))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_are_good_roff(self):
        for name in sorted(os.listdir(os.environ["MANUAL"])):
            if name.endswith(".1"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww",
                                       os.path.join(os.environ["MANUAL"], name)],
                                      capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)
                text = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout)
                self.assertIn("SYNOPSIS", text)
                self.assertIn("--url", text)

    def test_a_page_of_nothing_is_refused(self):
        self.assertEqual(tool.run("man", "nothing").returncode, 2)


class Completion(tool.ServerCase):
    def complete(self, line, **more):
        """What bash offers at the end of a line."""
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(tool.SLUICE, os.path.join(folder, "sluice"))
            script = ('source <(sluice completion bash)\n'
                      f'COMP_WORDS=({line})\n'
                      'COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
                      '_sluice\n'
                      'printf "%s\\n" "${COMPREPLY[@]}"\n')
            path = folder + os.pathsep + os.environ["PATH"]
            done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True,
                                  env=tool.environment(PATH=path, **more), check=False)
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

    def test_bash_completes_commands_options_and_choices(self):
        self.assertEqual(self.complete("sluice qu"), ["queues", "queue"])
        self.assertEqual(self.complete("sluice recur u"), ["update", "untag"])
        self.assertEqual(self.complete("sluice --json recur g"), ["get"])
        self.assertEqual(self.complete("sluice put --uni"),
                         ["--unique", "--unique-contents", "--unique-until", "--unique-for"])
        self.assertEqual(self.complete("sluice put mail Send --on-conflict re"),
                         ["replace", "refuse"])
        self.assertEqual(self.complete("sluice --color ''"), ["auto", "always", "never"])
        self.assertEqual(self.complete("sluice completion f"), ["fish"])
        self.assertEqual(self.complete("sluice policy set k"), ["klass"])
        self.assertEqual(self.complete("sluice help explai"), ["explain", "explain-queue"])
        self.assertEqual(self.complete("sluice put --jid x --priori"), ["--priority"])
        self.assertNotIn("complete-words", self.complete("sluice ''"))

    def test_names_that_the_server_knows_are_completed(self):
        for queue in ("mail", "mail-out", "reports", "two words", "$(reboot)"):
            self.put(f"in-{len(queue)}", queue)
        self.good("recur", "add", "nightly", "reports", "Nightly", "--interval", "1d", "--delay", "1d")
        self.take("bad", "mail")
        self.good("fail", "bad", "smtp", "refused")
        for line, wanted in (
                ("sluice put ma", ["mail", "mail-out"]),
                ("sluice queue rep", ["reports"]),
                ("sluice pause mail rep", ["reports"]),
                ("sluice jobs ''", ["mail", "mail-out", "reports"]),
                ("sluice work -q mail-", ["mail-out"]),
                ("sluice count --queue r", ["reports"]),
                ("sluice failed s", ["smtp"]),
                ("sluice unfail smtp m", ["mail", "mail-out"]),
                ("sluice workers w", ["w1"]),
                ("sluice recur get n", ["nightly"]),
                ("sluice recur add n", []),
                ("sluice queue mail ma", [])):
            with self.subTest(line):
                self.assertEqual(self.complete(line, SLUICE_URL=self.url), wanted)
        ns = self.url.rsplit("/", 1)[1]
        server = self.url.rsplit("/", 1)[0]
        self.assertIn(ns, self.complete(f"sluice --url {server} --ns test_names", SLUICE_URL="nonsense"))
        self.assertEqual(self.complete(f"sluice --url {server} --ns {ns} put rep"), ["reports"])
        # Without a server there is nothing to offer, and nothing to read.
        self.assertEqual(self.complete("sluice put ma", SLUICE_URL="sluice://127.0.0.1:1"), [])

    def test_there_are_scripts_for_other_shells(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("complete-words", tool.run("completion", shell).stdout)
        self.assertEqual(tool.run("completion", "csh").returncode, 2)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_script(self):
        script = tool.run("completion", "zsh").stdout
        done = subprocess.run(["zsh", "-n"], input=script, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Reaching(tool.ServerCase):
    def test_a_server_that_is_not_there_has_an_exit_code(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            url = f"sluice://127.0.0.1:{listener.getsockname()[1]}/app"
        done = tool.run("queues", "--url", url, "--timeout", "200ms")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertRegex(done.stderr, r"^sluice: .*cannot be reached")

    def test_a_refused_connection_is_told_at_once(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            url = f"sluice://127.0.0.1:{listener.getsockname()[1]}/app"
            for words in (["queues"], ["put", "mail", "Send"], ["events"], ["doctor"],
                          ["top", "--once"], ["bench"], ["backup", "/nothing"]):
                # It would not end before the test's limit.
                done = tool.run(*words, "--url", url, "--timeout", "1h")
                self.assertEqual((done.returncode, done.stdout), (4, ""), words)
                self.assertIn("Connection refused", done.stderr)

    def test_a_script_can_wait_for_the_server(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            url = f"sluice://127.0.0.1:{listener.getsockname()[1]}/app"
            process = tool.start("queues", "--url", url, "--wait-for-server", "--timeout", "60s")
            self.assertRegex(process.stderr.readline(), "cannot be reached.*; trying again$")
            listener.listen()
            listener.settimeout(tool.sluiced.LIMIT_S)
            connection, _ = listener.accept()
            connection.close()
        process.kill()
        process.communicate()

    def test_an_answer_that_was_lost_has_an_exit_code(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            process = tool.start("pause", "mail", "--timeout", "60s", "--url",
                                 f"sluice://127.0.0.1:{listener.getsockname()[1]}/app")
            listener.settimeout(tool.sluiced.LIMIT_S)
            connection, _ = listener.accept()
            with connection:
                heard = b""
                while b"Q.PAUSE" not in heard:
                    block = connection.recv(4096)
                    self.assertTrue(block, heard)
                    if b"HELLO" in block:
                        connection.sendall(b"%1\r\n+server\r\n+sluice\r\n")
                    heard += block
        output, errors = process.communicate(timeout=tool.sluiced.LIMIT_S)
        self.assertEqual((process.returncode, output), (5, ""), errors)
        self.assertTrue(errors.startswith("sluice: "), errors)

    def test_an_address_that_is_none_is_refused(self):
        for words in (["queues"], ["backup", "/nothing"], ["bench"], ["doctor"],
                      ["work", "-q", "mail", "--", "true"]):
            done = tool.run("--url", "nonsense", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stderr, "^sluice: an address begins with file:")

    def test_a_wrong_path_does_not_look_like_an_empty_queue(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "typo")
            for words in (["queues"], ["pop", "mail"], ["top", "--once"], ["backup", "/nothing"],
                          ["work", "-q", "mail", "--", "true"]):
                for url in (f"file:{path}", f"file:{path}?", f"file:{path}?ns=app"):
                    done = tool.run("--url", url, *words)
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (3, "", f"sluice: there is no queue in {path}\n"), words)
            self.assertEqual(os.listdir(folder), [])
            done = tool.run("put", "mail", "Send", "--jid", "ann", "--url", f"file:{path}")
            self.assertEqual((done.returncode, done.stdout), (0, "ann\n"), done.stderr)
            self.assertIn("mail", tool.run("queues", "--url", f"file:{path}?ns=default").stdout)

    def test_the_address_comes_from_the_environment(self):
        self.put("ann")
        done = tool.run("queues", SLUICE_URL=self.url)
        self.assertIn("mail", done.stdout)
        done = tool.run("queues", SLUICE_URL=self.url, SLUICE_NS="empty")
        self.assertEqual(done.stdout, "")
        done = tool.run("queues", "--ns", self.url.rsplit("/", 1)[1], SLUICE_URL=self.url,
                        SLUICE_NS="empty")
        self.assertIn("mail", done.stdout)

    def test_output_that_cannot_be_written_is_an_error(self):
        self.put("ann")
        self.put("bob")
        for words in (["queues"], ["jobs"], ["jobs", "--count", "1"], ["jobs", "--json"],
                      ["get", "ann"], ["put", "mail", "Send"], ["count"], ["export"], ["help"],
                      ["--version"], ["man"], ["completion", "bash"], ["call", "Q.LENGTH", "mail"],
                      ["pop", "mail", "--json"], ["top", "--once"], ["events", "--count", "1"]):
            with open("/dev/full", "w", encoding="utf-8") as full, self.subTest(words):
                process = subprocess.Popen([tool.SLUICE, *words, "--url", self.url], stdout=full,
                                           stderr=subprocess.PIPE, text=True,
                                           env=tool.environment())
                if words[0] == "events":
                    self.tell_of_something(process)
                _, errors = process.communicate(timeout=tool.sluiced.LIMIT_S)
                self.assertEqual((process.returncode, errors.splitlines()[-1:]),
                                 (1, ["sluice: standard output could not be written"]), errors)

    def tell_of_something(self, process):
        """Until the process has ended: it may not listen yet."""
        def ended():
            self.good("put", "mail", "Send")
            return process.poll() is not None
        tool.eventually(ended)

    def test_colours_are_for_terminals(self):
        self.take("ann")
        self.assertNotIn("\033", self.good("jobs"))
        self.assertIn("\033[32mrunning\033[0m", self.good("jobs", "--color", "always"))
        shown, code = on_terminal("jobs", "-u", self.url)
        self.assertEqual(code, 0)
        self.assertIn("\033[32mrunning\033[0m", shown)
        self.assertNotIn("\033", on_terminal("jobs", "-u", self.url, NO_COLOR="1")[0])
        self.assertNotIn("\033", on_terminal("jobs", "-u", self.url, "--color", "never")[0])

    def test_tables_fit_the_terminal(self):
        for number in range(3):
            self.put(f"a-job-with-a-name-that-is-long-{number}", f"queue-{number}")
        self.take("ann", "another-queue")
        self.good("recur", "add", "nightly", "reports", "Nightly", "--cron", "0 3 * * mon-fri",
                  "--zone", "America/Argentina/Buenos_Aires")
        for columns in (120, 80, 60, 40):
            for words in (["queues"], ["jobs"], ["recur"], ["workers"], ["namespaces"],
                          ["history", "ann"], ["metrics"], ["workers", "w1"]):
                shown, code = on_terminal(*words, "-u", self.url, "--color", "never",
                                          columns=columns)
                self.assertEqual(code, 0)
                with self.subTest(words=words, columns=columns):
                    self.assertLessEqual(max(len(line) for line in shown.splitlines()), columns,
                                         shown)
        # What says nothing is left out first.
        shown, _ = on_terminal("queues", "-u", self.url, "--color", "never", columns=80)
        self.assertIn("WAITING", shown)
        self.assertNotIn("PAUSED", shown)
        self.assertIn("PAUSED", self.good("queues"))

    def test_a_table_is_cut_at_the_edge_of_the_terminal(self):
        self.good("put", "mail", "Send", '{"to":"%s"}' % ("x" * 200), "--jid", "ann")
        shown, _ = on_terminal("peek", "mail", "-u", self.url, "--color", "never", columns=100)
        lines = shown.splitlines()
        self.assertEqual(len(lines[1]), 100)
        self.assertTrue(lines[1].endswith("..."))
        self.assertIn("x" * 200, self.good("peek", "mail"))


if __name__ == "__main__":
    tool.main()
