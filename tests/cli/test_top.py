#!/usr/bin/python3
"""`sluice top` on a terminal of 80 columns and 24 rows: what it shows, and what its keys do."""

import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))

import sluiced
from terminal import Terminal

SCREEN = """\
 NS  sluice://127.0.0.1:PORT  sluiced VERSION    connected  every 2s  12:34:56
 wait 6 run 2 sched 1 stall 0 deps 1 fail 3 done 1               0/s in 0/s out
>1 Queues (2)         wait   run sched stall  deps  fail  in/s out/s
>mail                    4     1     0     0     0     3     0     0 ██░░░░░░░░
 reports                 2     1     1     0     1     0     0     0 ██░░░░
 2 Running (2)  queue     klass    worker        for  lease            message
 mail-0         mail      Send     worker-1       0s    59s ██░░░  40% page 4 o…
 report-0       reports   Daily    worker-2       0s    59s
 3 Failures (2)          jobs newest job          message
 smtp                       2     0s mail-2       timed out
 dns                        1     0s mail-3       no such host
 4 Workers (2)                             running  expired     seen
 worker-2                                        1        0       0s
 worker-1                                        1        0       0s









q quit  ? help  tab pane  enter open  p pause  r retry  c cancel  e why  / find
"""


def fill(client, ns):
    """Two queues with jobs in every state."""
    def ask(*words):
        reply = client.ask(words[0], ns, *words[1:])
        assert not reply.startswith("-"), (words, reply)

    for number in range(9):
        ask("Q.PUT", "mail", "Send", '{"n":%d}' % number, "JID", f"mail-{number}")
    for number in range(3):
        ask("Q.PUT", "reports", "Daily", "{}", "JID", f"report-{number}")
    ask("Q.PUT", "reports", "Daily", "{}", "JID", "later", "DELAY", "3600")
    ask("Q.PUT", "reports", "Daily", "{}", "JID", "after", "DEPENDS", "report-1")
    ask("Q.CONFIG.SET", "heartbeat", "3000")
    ask("Q.POP", "worker-1", "5", "mail")
    ask("Q.PROGRESS", "mail-0", "worker-1", "0.4", "MESSAGE", "page 4 of 10")
    ask("Q.FAIL", "mail-1", "worker-1", "smtp", "connection refused")
    ask("Q.FAIL", "mail-2", "worker-1", "smtp", "timed out")
    ask("Q.FAIL", "mail-3", "worker-1", "dns", "no such host")
    ask("Q.COMPLETE", "mail-4", "worker-1")
    ask("Q.POP", "worker-2", "1", "reports")


class Watched(sluiced.TestCase):
    """Each test has a namespace and a terminal of its own."""

    count = 0

    def setUp(self):
        Watched.count += 1
        self.ns = f"app{Watched.count}"
        self.words = self.client()
        fill(self.words, self.ns)

    def url(self, server=None):
        return f"sluice://127.0.0.1:{(server or self.server).port}/{self.ns}"

    def terminal(self, **environment):
        terminal = Terminal(SLUICE_URL=self.url(), PROGRAM=os.environ["SLUICE"], **environment)
        terminal.__enter__()
        self.addCleanup(terminal.__exit__)
        return terminal

    def top(self, *flags):
        """A terminal that shows the first page."""
        terminal = self.terminal()
        terminal.run(" ".join(["clear; $PROGRAM top", *flags, '; echo "ended $?"']))
        terminal.wait_for("worker-1 ")
        return terminal

    def ask(self, *words):
        return self.words.ask(words[0], self.ns, *words[1:])

    def quit(self, terminal):
        """It ends well, and the terminal is as it was."""
        terminal.keys("q")
        terminal.wait_for("ended 0")
        self.assertFalse(terminal.is_full_screen())

    def tool(self, *words, url=None, **environment):
        return subprocess.run(
            [os.environ["SLUICE"], "--url", url or self.url(), "top", *words],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            timeout=sluiced.LIMIT_S,
            env={**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **environment})

    def screen(self, text=SCREEN):
        """The screen that is expected; what is in it of the server has the same width."""
        head = text.splitlines()[0]
        left = f" {self.ns}  {self.url().rsplit('/', 1)[0]}  {self.version()}"
        right = head[head.index("connected"):]
        return "\n".join([left + right.rjust(79 - len(left)), *text.splitlines()[1:]])

    def version(self):
        info = self.words.ask("INFO", "server")
        line = next(line for line in info.splitlines() if line.startswith("sluice_version:"))
        return "sluiced " + line.split(":")[1]


class Shows(Watched):
    """What it shows."""

    def test_screen__all_there_is_on_80_columns_and_24_rows(self):
        terminal = self.top()
        terminal.wait_for_screen(self.screen())
        self.assertTrue(terminal.is_full_screen())
        self.quit(terminal)

    def test_screen__follows_what_happens(self):
        terminal = self.top("--interval", "0.1")
        self.ask("Q.PROGRESS", "mail-0", "worker-1", "1", "MESSAGE", "done")
        terminal.wait_for("█████ 100% done")
        self.ask("Q.COMPLETE", "mail-0", "worker-1")
        terminal.wait_for(lambda text: "mail-0" not in text and "done 2" in text)
        self.ask("Q.PUT", "new-queue", "Send", "{}")
        terminal.wait_for("new-queue               1 ")

        # A single job shows in the rates, which are those of a minute.
        terminal.wait_for(lambda text: any(line.startswith(" new-queue") and line.split()[7] == "0.02"
                                           for line in text.splitlines()))
        self.quit(terminal)

    def test_screen__more_room_is_used_and_less_too(self):
        terminal = self.top()
        terminal.wait_for_screen(self.screen())
        terminal.resize(120, 40)
        text = terminal.wait_for("waiting 6 running 2 scheduled 1")
        terminal.wait_for(lambda text: "page 4 of 10" in text and len(text.splitlines()) == 40)
        self.assertTrue(terminal.text().splitlines()[39].startswith("q quit"), text)
        terminal.resize(80, 10)
        terminal.wait_for(lambda text: "2 Running" not in text and text.splitlines()[9:] and
                          text.splitlines()[9].startswith("q quit"))
        terminal.keys("4")
        terminal.wait_for(">4 Workers (2)")
        terminal.keys("1")
        terminal.resize(80, 24)
        terminal.wait_for_screen(self.screen())
        self.quit(terminal)

    def test_screen__names_cannot_reach_the_terminal(self):
        # A namespace with the clients' clock takes names of any bytes, as qless does.
        self.ns += "-qless"
        self.words.expect(f"Q.NAMESPACE.CREATE {self.ns} CLOCK client", "+OK")
        fill(self.words, self.ns)
        evil = "\x1b]0;evil\x07\x1b[2J\x1b[1;1Howned"
        self.ask("Q.PUT", evil, "K\x1b[31m", "{}", "JID", "evil\x1b[5m")
        self.ask("Q.POP", "w\x1b[7m", "1", evil)
        terminal = self.top()
        terminal.wait_for("�]0;evil��[2J")
        terminal.wait_for("evil�[5m")
        terminal.wait_for(lambda text: text.splitlines()[0].startswith(f" {self.ns} "))
        self.assertNotIn("evil", terminal.tmux("display", "-p", "#{pane_title}"))
        self.quit(terminal)

    def test_screen__without_utf8_it_is_ascii(self):
        terminal = self.terminal(LANG="C")
        terminal.run("$PROGRAM top")
        text = terminal.wait_for("##---  40% page 4 o~")
        self.assertTrue(text.isascii(), text)


class Keys(Watched):
    """What keys do."""

    def test_keys__pause_a_queue_and_let_it_go_on(self):
        terminal = self.top()
        terminal.keys("Down")
        terminal.wait_for(">reports")
        terminal.keys("p")
        terminal.wait_for("Pause queue reports? y/n")
        terminal.keys("n")
        terminal.wait_for("nothing done")
        self.assertIn('"paused", :0', self.ask("Q.QUEUE", "reports"))
        terminal.keys("p", "y")
        terminal.wait_for("Queue reports is paused")
        self.assertIn('"paused", :1', self.ask("Q.QUEUE", "reports"))
        terminal.wait_for(lambda text: any(line.startswith(">reports") and line.endswith("paused")
                                           for line in text.splitlines()))
        self.assertIn('"paused", :0', self.ask("Q.QUEUE", "mail"))
        terminal.keys("p")
        terminal.wait_for("Let go on queue reports? y/n")
        terminal.keys("y")
        terminal.wait_for("Queue reports goes on")
        self.assertIn('"paused", :0', self.ask("Q.QUEUE", "reports"))
        self.quit(terminal)

    def test_keys__sort_the_queues(self):
        for number in range(9):
            self.ask("Q.PUT", "archive", "Send", "{}", "JID", f"archive-{number}")
        terminal = self.top()

        def order(text):
            names = [line[1:].split(" ")[0] for line in text.splitlines()]
            return [name for name in names if name in ("mail", "reports", "archive")][:3]
        terminal.wait_for(lambda text: order(text) == ["mail", "reports", "archive"])
        terminal.keys("s")
        terminal.wait_for(lambda text: "by name" in text
                          and order(text) == ["archive", "mail", "reports"])
        terminal.keys("s")
        terminal.wait_for(lambda text: "by waiting" in text
                          and order(text) == ["archive", "mail", "reports"])
        self.quit(terminal)

    def test_keys__go_to_another_namespace(self):
        other = self.ns + "-other"
        self.words.ask("Q.PUT", other, "elsewhere", "Send", "{}", "JID", "one")
        terminal = self.top()
        terminal.keys("n")  # they are in the order in which they were made
        terminal.wait_for(">elsewhere")
        self.assertNotIn("mail-0", terminal.text())
        terminal.keys("N")
        terminal.wait_for(">mail ")
        self.quit(terminal)

    def test_keys__cancel_asks_first(self):
        terminal = self.top()
        terminal.keys("c")
        terminal.wait_for("c cancels a job: choose one")
        terminal.keys("2", "c")
        terminal.wait_for("Cancel job mail-0? y/n")
        terminal.keys("n")
        terminal.wait_for("nothing done")
        self.assertIn('"mail-0"', self.ask("Q.GET", "mail-0"))
        terminal.keys("c")
        terminal.wait_for("Cancel job mail-0? y/n")
        terminal.keys("y")
        terminal.wait_for("Job mail-0 is canceled")
        self.assertEqual(self.ask("Q.GET", "mail-0"), "[nil]")
        terminal.wait_for(">report-0")
        self.quit(terminal)

    def test_keys__retry_a_group_of_failures(self):
        terminal = self.top()
        terminal.keys("3", "r")
        terminal.wait_for("Try again all jobs that failed in group smtp? y/n")
        terminal.keys("Escape")
        terminal.wait_for("nothing done")
        self.assertEqual(self.ask("Q.COUNT", "STATE", "failed"), ":3")
        terminal.keys("r")
        terminal.wait_for("? y/n")
        terminal.keys("y")
        terminal.wait_for("2 jobs of smtp are tried again")
        self.assertEqual(self.ask("Q.COUNT", "STATE", "failed"), ":1")
        terminal.wait_for(">dns")
        self.quit(terminal)

    def test_keys__retry_one_failed_job(self):
        terminal = self.top()
        terminal.keys("3", "Enter")
        terminal.wait_for(">mail-2 ")
        terminal.keys("Down")
        terminal.wait_for(">mail-1 ")
        terminal.keys("r")
        terminal.wait_for("Try again the failed job mail-1? y/n")
        terminal.keys("y")
        terminal.wait_for("Job mail-1 is tried again in queue mail")
        job = self.ask("Q.GET", "mail-1")
        self.assertIn('"state", "waiting"', job)
        self.assertIn('"remaining", :5', job)
        self.assertIn('"data", "{"n":1}"', job)
        terminal.wait_for("Jobs failed: smtp (1)")
        self.quit(terminal)

    def test_keys__retry_a_running_job(self):
        terminal = self.top()
        terminal.keys("2", "r")
        terminal.wait_for("Take from its worker, to be tried again, job mail-0? y/n")
        terminal.keys("y")
        terminal.wait_for("Job mail-0 is tried again; 4 retries are left")
        self.assertNotIn('"state", "running"', self.ask("Q.GET", "mail-0"))
        self.quit(terminal)

    def test_keys__details_and_why(self):
        terminal = self.top()
        terminal.keys("2", "Enter")
        text = terminal.wait_for("lease worker")
        for line in (" Job mail-0", "Job mail-0 is leased by worker-1 until", " klass             Send",
                     " stage             reserved", ' data              {"n":0}',
                     " lease worker      worker-1"):
            self.assertIn(line, text)
        terminal.keys("End")
        terminal.wait_for("progress message")
        terminal.keys("e")
        terminal.wait_for(" reason            running")
        terminal.keys("Escape")
        terminal.wait_for(">2 Running")
        terminal.keys("1", "Down", "Enter")
        terminal.wait_for("Jobs of reports (5)")
        terminal.keys("End")
        terminal.wait_for(">after ")
        terminal.keys("e")
        terminal.wait_for(" Why after")
        terminal.wait_for("report-1")
        terminal.keys("Escape")
        terminal.wait_for("Jobs of reports (5)")
        self.quit(terminal)

    def test_keys__panes_and_help(self):
        terminal = self.top()
        for pane in ("2 Running", "3 Failures", "4 Workers", "1 Queues"):
            terminal.keys("Tab")
            terminal.wait_for(">" + pane)
        terminal.keys("BTab")
        terminal.wait_for(">4 Workers")
        terminal.keys("Enter")
        terminal.wait_for("Jobs held by worker-2")
        terminal.wait_for(">report-0")
        terminal.keys("?")
        terminal.wait_for("explain why a job is not running")
        terminal.keys("c", "r", "Escape")
        terminal.wait_for("Jobs held by worker-2")
        terminal.keys("+")
        terminal.wait_for("every 1s")
        terminal.keys("-", "-")
        terminal.wait_for("every 4s")
        self.quit(terminal)

    def test_keys__a_filter(self):
        terminal = self.top()
        terminal.keys("/", "r", "e", "p", "x")
        terminal.wait_for("/repx_")
        terminal.wait_for("nothing matches")
        terminal.keys("BSpace", "Enter")
        terminal.wait_for(">reports")
        text = terminal.wait_for(lambda text: "report-0" in text and "mail-0" not in text)
        self.assertNotIn("smtp", text)
        terminal.keys("Escape")
        terminal.wait_for_screen(self.screen().replace(">mail", " mail").replace(
            " reports                 2", ">reports                 2"))
        self.quit(terminal)


class Ends(Watched):
    """How it ends, and stops."""

    def test_end__the_terminal_is_as_it_was(self):
        terminal = self.terminal()
        terminal.run("stty -a >before; echo here I was")
        terminal.run('$PROGRAM top; echo "ended $?"')
        terminal.wait_for("worker-1 ")
        self.assertNotIn("here I was", terminal.text())
        terminal.keys("q")
        terminal.wait_for(lambda text: "ended 0" in text and "here I was" in text)
        terminal.run('stty -a | cmp - before && echo "the same"')
        terminal.wait_for("\nthe same")
        self.assertFalse(terminal.is_full_screen())
        self.assertEqual(terminal.tmux("display", "-p", "#{cursor_flag}#{wrap_flag}"), "11\n")

    def test_end__also_when_it_is_killed(self):
        terminal = self.terminal()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT,
                       signal.SIGSEGV):
            with self.subTest(signal=number):
                terminal.run("clear; stty -a >before; $PROGRAM top 2>/dev/null; clear; "
                             f'stty -a | cmp - before && echo "the same {int(number)}"')
                terminal.wait_for("worker-1 ")
                os.kill(terminal.child(), number)
                terminal.wait_for(f"the same {int(number)}")
                self.assertFalse(terminal.is_full_screen())
                self.assertEqual(terminal.tmux("display", "-p", "#{cursor_flag}"), "1\n")

    def test_end__ctrl_z_and_back(self):
        terminal = self.top()
        terminal.keys("C-z")
        terminal.wait_for(lambda text: "Stopped" in text)
        self.assertFalse(terminal.is_full_screen())
        terminal.run("fg")
        terminal.wait_for_screen(self.screen())
        terminal.keys("q")
        terminal.wait_for(lambda _: not terminal.is_full_screen())


class Once(Watched):
    """One look for programs."""

    def test_once__a_picture_without_escapes(self):
        done = self.tool("--once")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[3].split()[:7], ["mail", "4", "1", "0", "0", "0", "3"])
        self.assertIn(" mail-0         mail      Send     worker-1 ", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.assertLessEqual(max(map(len, lines)), 80)
        wide = self.tool("--once", COLUMNS="140").stdout
        self.assertIn("page 4 of 10", wide)

    def test_once__as_json(self):
        done = self.tool("--once", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        look = json.loads(done.stdout)
        self.assertEqual(look["namespace"], self.ns)
        self.assertEqual({key: look["totals"][key] for key in ("waiting", "running", "failed")},
                         {"waiting": 6, "running": 2, "failed": 3})
        self.assertEqual([(queue["queue"], queue["waiting"], queue["failed"], queue["paused"])
                          for queue in look["queues"]],
                         [("mail", 4, 3, False), ("reports", 2, 0, False)])
        self.assertEqual([(job["jid"], job["worker"], job["progress"]) for job in look["running"]],
                         [("mail-0", "worker-1", 0.4), ("report-0", "worker-2", None)])
        self.assertEqual([(group["group"], group["count"], group["newest"])
                          for group in look["failures"]],
                         [("smtp", 2, "mail-2"), ("dns", 1, "mail-3")])

    def test_once__what_is_wrong_is_said(self):
        done = self.tool()
        self.assertEqual(done.returncode, 2)
        self.assertIn("top needs a terminal; --once prints one look", done.stderr)
        done = self.tool("--json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--json: only together with --once", done.stderr)
        done = self.tool("--once", "--interval", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--interval: from 0.1 to 3600 seconds", done.stderr)


class Away(Watched):
    """A server that goes away and comes back."""

    def start_again(self):
        self.server.flags = ("--listen", f"127.0.0.1:{self.server.port}")
        self.server.start()

    def test_away__it_says_so_and_goes_on_when_the_server_is_back(self):
        terminal = self.top()
        self.words.close()
        self.server.stop()
        terminal.wait_for("reconnecting")
        # What it has seen is still there, and keys do what they can.
        self.assertIn("mail-0", terminal.text())
        terminal.keys("?")
        terminal.wait_for("explain why a job is not running")
        terminal.keys("Escape", "3")
        terminal.wait_for(">3 Failures")
        self.start_again()
        terminal.wait_for("connected  every")
        terminal.keys("1", "p", "y")
        terminal.wait_for("Queue mail is paused")
        self.quit(terminal)

    def test_away__it_waits_for_a_server_that_is_not_there_yet(self):
        self.words.close()
        self.server.stop()
        terminal = self.terminal()
        terminal.run('clear; $PROGRAM top; echo "ended $?"')
        terminal.wait_for(lambda text: "connecting" in text and "asking ..." in text)
        self.start_again()
        terminal.wait_for("connected  every")
        terminal.wait_for("mail-0")
        self.quit(terminal)

    def test_away__it_ends_soon_while_nobody_answers(self):
        terminal = self.top()
        self.words.close()
        self.server.stop()
        terminal.wait_for("reconnecting")
        self.quit(terminal)
        self.assertEqual(self.tool("--once", "--timeout", "0.5").returncode, 4)
        self.start_again()


if __name__ == "__main__":
    sluiced.main()
