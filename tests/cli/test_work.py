#!/usr/bin/python3
"""`sluice work`: programs that are run for jobs, and what may happen to them and to the worker."""

import fcntl
import json
import os
import pathlib
import pty
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients"))
import sluiced  # noqa: E402
from tool import eventually  # noqa: E402

LIMIT_S = sluiced.LIMIT_S
SANITIZED = bool(os.environ.get("SANITIZED"))


def gone(pid):
    """Waits until a process has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not select.select([handle], [], [], LIMIT_S)[0]:
            raise AssertionError(f"process {pid} still runs")
    finally:
        os.close(handle)


class Client(sluiced.Client):
    """A connection whose replies are values."""

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise AssertionError(rest)
        if kind == b"_" or (kind in b"$*" and rest == "-1"):
            return None
        if kind == b"#":
            return rest == "t"
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"+":
            return rest
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        return [self.read() for _ in range(int(rest))]


class Worker:
    """A `sluice work` that is running."""

    def __init__(self, url, *words, **options):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("SLUICE_")}
        self.process = subprocess.Popen(
            [os.environ["SLUICE"], "work", "--url", url, *map(str, words)], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**environment, **options.get("env", {})}, cwd=options.get("cwd"),
            preexec_fn=options.get("before"))
        self.output, self.errors = [], []
        self.readers = [
            threading.Thread(target=self.gather, args=(self.process.stdout, self.output)),
            threading.Thread(target=self.gather, args=(self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def gather(stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, code=0, limit_s=LIMIT_S):
        """Until it has ended, as it should; with None, in any way."""
        try:
            ended = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            for reader in self.readers:
                reader.join()
            self.process.stdout.close()
            self.process.stderr.close()
        if code is not None and ended != code:
            raise AssertionError(f"the worker ended with {ended}, not {code}:\n"
                                 + "\n".join(self.errors))
        return self

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.wait(-signal.SIGKILL)

    def guard(self):
        """The process that ends what the worker leaves when it is killed."""
        return eventually(self.find_guard, "the guard")

    def find_guard(self):
        """0 when it is not seen: the list of children may miss some while another one ends, and the
        guard has its name only after it was started."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        for child in map(int, children):
            try:
                with open(f"/proc/{child}/comm", encoding="utf-8") as file:
                    if file.read() == "sluice-guard\n":
                        return child
            except (FileNotFoundError, ProcessLookupError):
                pass  # a process of a job that has ended meanwhile
        return 0

    def kill_with_guard(self):
        """Nothing is left that could end what the worker leaves."""
        self.process.send_signal(signal.SIGSTOP)
        os.kill(self.guard(), signal.SIGKILL)
        self.kill()


class WorkCase(sluiced.TestCase):
    """Each test has a queue and a folder of its own."""

    def setUp(self):
        self.workers = []
        self.folder = tempfile.mkdtemp(prefix="sluice-work-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.queue = self.id().rsplit(".", 1)[1]
        self.url = f"sluice://127.0.0.1:{self.server.port}/app"
        self.c = Client(self.server)
        self.addCleanup(self.c.close)
        self.c.ask("HELLO 3")

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, jid, data=None, *words, queue=None):
        return self.c.ask("Q.PUT", "app", queue or self.queue, "Do", json.dumps(data or {}),
                          "JID", f"{self.queue}-{jid}", *words)

    def get(self, jid):
        return self.c.ask("Q.GET", "app", f"{self.queue}-{jid}")[0]

    def finished(self, jid):
        """Waits for a job's end; gives it."""
        state = self.c.ask("Q.WAIT", "app", f"{self.queue}-{jid}", "TIMEOUT", LIMIT_S)
        self.assertIsNotNone(state, f"{jid} did not finish")
        return self.get(jid)

    def history(self, jid):
        return self.c.ask("Q.HISTORY", "app", f"{self.queue}-{jid}")

    def lease(self, seconds):
        self.c.ask("Q.CONFIG.SET", "app", f"{self.queue}-heartbeat", seconds)

    def worker(self, *words, state="state", **options):
        """`words`: options, then -- and the program."""
        worker = Worker(options.pop("url", self.url), "-q", self.queue, "--state",
                        self.path(state), *words, **options)
        self.workers.append(worker)
        self.addCleanup(worker.kill)
        return worker

    def shell(self, script, *words, **options):
        return self.worker(*words, "--", "sh", "-c", script, **options)

    def work(self, script, *words, **options):
        """Has all jobs that are there done."""
        return self.shell(script, "--drain", *words, **options).wait()

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def pid(self, name):
        """Waits for a file in which a process has written its id."""
        def written():
            there = os.path.exists(self.path(name)) and self.text(name).endswith("\n")
            if not there and all(worker.process.poll() is not None for worker in self.workers):
                raise AssertionError("no worker runs:\n"
                                     + "\n".join(self.workers[-1].wait(None).errors))
            return there

        eventually(written, name)
        return int(self.text(name))


class Ends(WorkCase):
    """What becomes of a job by how its process ends."""

    def test_exit_codes_and_signals(self):
        for jid, end in (("done", "exit 0"), ("three", "echo no >&2; exit 3"),
                         ("high", "exit 255"), ("killed", "kill -KILL $$"),
                         ("abort", "kill -ABRT $$")):
            self.put(jid, {"run": end})
        self.work('eval "$(printf %s "$SLUICE_DATA" | sed \'s/.*"run": *"//; s/"}$//\')"', "-j", 3)
        self.assertEqual(self.get("done")["state"], "complete")
        self.assertEqual(self.get("done")["failure"], None)
        for jid, group in (("three", "exit:3"), ("high", "exit:255"), ("killed", "signal:KILL"),
                           ("abort", "signal:ABRT")):
            self.assertEqual(self.get(jid)["state"], "failed")
            self.assertEqual(self.get(jid)["failure"]["group"], group)
        self.assertEqual(self.get("three")["failure"]["message"], "no")
        self.assertEqual(self.get("three")["remaining"], 5)

    def test_75_is_tried_again(self):
        self.put("again")
        self.work('echo "attempt $SLUICE_ATTEMPT" >&2; [ "$SLUICE_ATTEMPT" = 3 ] || exit 75')
        self.assertEqual(self.get("again")["state"], "complete")
        retried = [entry for entry in self.history("again") if entry["what"] == "retried"]
        self.assertEqual([(entry["group"], entry["message"]) for entry in retried],
                         [("exit:75", "attempt 1"), ("exit:75", "attempt 2")])

    def test_75_fails_in_the_end(self):
        self.put("never", {}, "RETRIES", 1)
        self.work("exit 75")
        self.assertEqual(self.get("never")["failure"]["group"], "exit:75")
        self.assertEqual(self.get("never")["state"], "failed")

    def test_codes_and_the_group_can_be_chosen(self):
        self.put("other", {}, "RETRIES", 1)
        self.work('[ "$SLUICE_ATTEMPT" = 2 ] || exit 9; exit 75', "--retry-on", "8,9", "--fail-on",
                  "75", "--group", "mine")
        job = self.get("other")
        self.assertEqual((job["state"], job["failure"]["group"], job["remaining"]),
                         ("failed", "mine", 0))

    def test_the_message_is_the_end_of_standard_error(self):
        self.put("long")
        self.work('seq 1 5000 >&2; printf "last" >&2; exit 1', "--message-max", 100, "--quiet")
        message = self.get("long")["failure"]["message"]
        lines = message.split("\n")
        self.assertLessEqual(len(message), 100)
        self.assertEqual(lines[-1], "last")
        self.assertEqual(lines[:-1], [str(n) for n in range(5001 - len(lines[:-1]), 5001)])

    def test_results(self):
        for jid, result in (("json", ' {"a": [1]}\n'), ("text", "two\nlines\n"), ("none", "")):
            self.put(jid, {"say": result})
        self.put("bytes", {"say": "x"})
        program = ("import json, os, sys; job = json.load(sys.stdin); "
                   "sys.stdout.buffer.write(b'\\xff\\n' if job['jid'].endswith('bytes') "
                   "else job['data']['say'].encode())")
        self.worker("--drain", "--", sys.executable, "-c", program).wait()
        self.assertEqual(self.get("json")["result"], '{"a": [1]}')
        self.assertEqual(self.get("text")["result"], '"two\\nlines"')
        self.assertEqual(self.get("bytes")["result"], '"\ufffd"')
        self.assertEqual(self.get("none")["result"], None)

    def test_a_result_that_is_too_large_fails(self):
        self.put("large")
        self.put("small", {"small": True})
        self.work('case $SLUICE_JID in *large) seq 1 100000;; esac; echo 1', "--result-max", "1k")
        self.assertEqual(self.get("large")["failure"]["group"], "result-too-large")
        self.assertEqual(self.get("small")["result"], "1")
        self.put("thrown")
        self.work("seq 1 100000", "--result-max", 0)
        self.assertEqual((self.get("thrown")["state"], self.get("thrown")["result"]),
                         ("complete", None))

    def test_a_result_that_the_queue_refuses_fails(self):
        self.put("deep")
        self.worker("--drain", "--", sys.executable, "-c", "print('[' * 400 + ']' * 400)").wait()
        job = self.get("deep")
        if job["state"] == "failed":  # how deep is too deep is the queue's to say
            self.assertEqual(job["failure"]["group"], "refused")
        else:
            self.assertEqual(len(job["result"]), 800)


class What(WorkCase):
    """What a program gets and what it can say."""

    def test_the_job_on_standard_input(self):
        self.put("one", {"to": "ann"}, "TAG", "blue", "PRIORITY", 7)
        self.work('cat >"$OUT"', env={"OUT": self.path("out")})
        job = json.loads(self.text("out"))
        self.assertEqual((job["data"], job["tags"], job["priority"]), ({"to": "ann"}, ["blue"], 7))
        self.assertEqual((job["jid"], job["klass"], job["queue"], job["attempts"]),
                         (f"{self.queue}-one", "Do", self.queue, 1))

    def test_bytes_on_standard_input(self):
        data = {"raw": {"$base64": "/wAKDQ=="}, "text": "hello\n", "json": {"a": 1}}
        for jid, value in data.items():
            self.put(jid, value)
        self.work('cat >"$OUT.${SLUICE_JID##*-}"', "--raw", env={"OUT": self.path("out")})
        read = {}
        for jid in data:
            with open(self.path(f"out.{jid}"), "rb") as file:
                read[jid] = file.read()
        self.assertEqual(read, {"raw": b"\xff\x00\n\r", "text": b"hello\n", "json": b'{"a": 1}'})
        worker = self.shell("cat", "--raw", "--pool", 1).wait(2)
        self.assertIn("--raw is for a process for each job", worker.errors[0])

    def test_variables(self):
        self.put("one", {"to": "ann"})
        self.work('env | grep "^SLUICE_" | sort >"$OUT"', "--name", "me",
                  env={"OUT": self.path("out"), "SLUICE_URL": "sluice://:secret@elsewhere",
                       "SLUICE_CHECKPOINT": "of another", "SLUICE_JID": "another"})
        given = dict(line.split("=", 1) for line in self.text("out").splitlines())
        with sluiced.Server(**given):
            pass  # a server that is started by the program of a job is not confused by them
        self.assertRegex(given.pop("SLUICE_TOKEN"), "^[1-9][0-9]*$")
        self.assertRegex(given.pop("SLUICE_RUN"), "^[A-Za-z0-9]{6}-0$")
        self.assertEqual(given, {
            "SLUICE_JID": f"{self.queue}-one", "SLUICE_KLASS": "Do", "SLUICE_QUEUE": self.queue,
            "SLUICE_DATA": '{"to": "ann"}', "SLUICE_ATTEMPT": "1", "SLUICE_CHECKPOINT": "",
            "SLUICE_WORKER": "me", "SLUICE_URL": self.url, "SLUICE_NS": "app"})

    def test_data_that_is_too_large_for_a_variable(self):
        self.put("large", {"text": "x" * 300000})
        self.work('[ -z "$SLUICE_DATA" ] && wc -c', env={"SLUICE_DATA": "of another"})
        self.assertGreater(int(self.get("large")["result"]), 300000)

    def test_lines_that_speak_to_the_queue(self):
        self.put("lines")
        worker = self.work('exec >&2; echo "::progress 0.25 a quarter"; echo "::log one"; '
                           'echo plain; echo "::log two"; echo "::progress 9 no"')
        job = self.get("lines")
        self.assertEqual(job["progress"], {"fraction": 0.25, "message": "a quarter"})
        logs = self.c.ask("Q.LOGS", "app", f"{self.queue}-lines")
        self.assertEqual([entry["line"] for entry in logs], ["one", "two"])
        self.assertEqual(worker.errors, ["plain", "::progress 9 no"])

    def test_a_checkpoint_reaches_the_next_run(self):
        self.put("point")
        self.work('if [ "$SLUICE_ATTEMPT" = 1 ]; then echo "::checkpoint page 4" >&2; exit 75; fi; '
                  'echo "from $SLUICE_CHECKPOINT"')
        self.assertEqual(self.get("point")["result"], '"from page 4"')

    def test_lines_are_behind_the_jid_when_several_jobs_run(self):
        for jid in ("a", "b"):
            self.put(jid)
        worker = self.work('printf "no end" >&2', "-j", 2)
        self.assertEqual(sorted(worker.errors), [f"[{self.queue}-a] no end",
                                                 f"[{self.queue}-b] no end"])

    def test_events_for_programs(self):
        self.put("good")
        self.put("bad", {"bad": True})
        worker = self.work('case $SLUICE_JID in *bad) exit 4;; esac', "--json", "--verbose")
        events = {event["jid"].rsplit("-", 1)[1]: event for event in map(json.loads, worker.output)}
        self.assertEqual(events["good"]["outcome"], "done")
        self.assertEqual(events["bad"]["outcome"], "failed")
        self.assertIn("exit:4", events["bad"]["reason"])
        self.assertEqual(len([line for line in worker.errors if " in " in line]), 3)
        self.assertRegex(worker.errors[-1], r"^1 done, 1 failed, 0 retried in \S+$")


class Order(WorkCase):
    def put_all(self):
        for queue, count in (("A", 5), ("B", 2), ("C", 3)):
            for i in range(count):
                self.put(f"{queue}{i}", queue=f"{self.queue}-{queue}")

    def taken(self, *words):
        queues = ",".join(f"{self.queue}-{queue}" for queue in "CBA")
        worker = Worker(self.url, "-q", queues, "--state", self.path("state"), *words, "--", "sh",
                        "-c", 'echo "$SLUICE_JID" >&2')
        return "".join(line.rsplit("-", 1)[1][0] for line in worker.wait().errors)

    def test_the_first_queue_first(self):
        self.put_all()
        self.assertEqual(self.taken("--drain"), "CCCBBAAAAA")

    def test_each_queue_in_turn(self):
        self.put_all()
        self.assertEqual(self.taken("--drain", "--round-robin"), "CBACBACAAA")

    def test_so_many_and_no_more(self):
        self.put_all()
        self.assertEqual(self.taken("--count", 4, "-j", 1), "CCCB")
        self.assertEqual(self.c.ask("Q.LENGTH", "app", f"{self.queue}-A"), 5)

    def test_nothing_for_a_while(self):
        self.put("one")
        self.shell("true", "--wait", "0.1").wait()
        self.assertEqual(self.get("one")["state"], "complete")


class Killed(WorkCase):
    """Processes and workers that do not end by themselves."""

    def test_a_canceled_job_is_ended_with_all_its_processes(self):
        self.put("long")
        worker = self.shell('sleep 1000 & echo $! >"$OUT.inner"; echo $$ >"$OUT"; wait',
                            env={"OUT": self.path("out")})
        pid, inner = self.pid("out"), self.pid("out.inner")
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-long")
        gone(pid)
        gone(inner)
        worker.signal(signal.SIGTERM)
        worker.wait()
        self.assertIsNone(self.get("long"))
        self.assertRegex("\n".join(worker.errors), rf"(?m)^{self.queue}-long canceled in \d")

    def test_a_job_whose_process_was_killed_has_a_line(self):
        self.put("shot")
        worker = self.work("kill -KILL $$")
        self.assertRegex(worker.errors[0], rf"^{self.queue}-shot failed in .* signal:KILL")
        self.put("quiet")
        self.assertEqual(self.work("kill -KILL $$", "--quiet").errors, [])

    def detached(self, *options):
        """A worker with a job, and a process of the job that has a session of its own."""
        self.put("long")
        worker = self.shell('setsid sh -c \'echo $$ >"$OUT"; exec sleep 1000\' & wait', *options,
                            env={"OUT": self.path("out")})
        return worker, self.pid("out")

    def test_a_canceled_job_is_ended_with_what_has_left_its_session(self):
        worker, pid = self.detached()
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-long")
        gone(pid)
        worker.signal(signal.SIGTERM)
        worker.wait()

    def test_a_second_signal_ends_what_has_left_its_session(self):
        worker, pid = self.detached()
        worker.signal(signal.SIGTERM)
        worker.signal(signal.SIGINT)
        gone(pid)
        worker.wait(None)

    def test_a_canceled_job_of_a_program_that_does_not_want_to_end(self):
        self.put("long")
        worker = self.shell('trap "" TERM; echo $$ >"$OUT"; while :; do sleep 0.1; done', "--grace",
                            "0.1", "--count", 1, "--verbose", env={"OUT": self.path("out")})
        pid = self.pid("out")
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-long")
        gone(pid)
        worker.wait()
        self.assertIn("canceled", worker.errors[-2])
        self.assertRegex(worker.errors[-1], r"^0 done, 0 failed, 0 retried, 1 canceled in \S+$")

    def test_a_job_whose_lease_was_taken_away_is_ended_and_not_reported(self):
        self.put("lost")
        worker = self.shell('trap "exit 3" TERM; echo $$ >"$OUT"; while :; do sleep 0.05; done',
                            "--count", 1, "--verbose", env={"OUT": self.path("out")})
        pid = self.pid("out")
        self.c.ask("Q.TIMEOUT", "app", f"{self.queue}-lost")
        gone(pid)
        worker.wait()
        self.assertIn("lost", worker.errors[-2])
        self.assertEqual(self.get("lost")["state"], "stalled")

    def test_a_job_that_runs_too_long_is_tried_again(self):
        self.put("long")
        self.work('[ "$SLUICE_ATTEMPT" != 1 ] || exec sleep 1000', "--run-timeout", 5)
        retried = [entry for entry in self.history("long") if entry["what"] == "retried"]
        self.assertEqual([entry["group"] for entry in retried], ["timeout"])
        self.assertEqual(self.get("long")["state"], "complete")

    def test_the_jobs_own_timeout(self):
        self.c.ask("Q.CONFIG.SET", "app", "grace-period", 0)
        self.put("long", {}, "TIMEOUT", 5)
        worker = self.shell('echo $$ >"$OUT.$SLUICE_ATTEMPT"; '
                            '[ "$SLUICE_ATTEMPT" != 1 ] || exec sleep 1000', "--verbose",
                            env={"OUT": self.path("out")})
        gone(self.pid("out.1"))
        self.assertEqual(self.finished("long")["state"], "complete")
        worker.signal(signal.SIGTERM)
        worker.wait()

    def test_what_a_program_leaves_running_ends_with_it(self):
        self.put("leaves")
        self.work('sleep 1000 >/dev/null 2>&1 & echo $! >"$OUT"; echo 1',
                  env={"OUT": self.path("out")})
        gone(self.pid("out"))
        self.assertEqual(self.get("leaves")["result"], "1")

    def test_one_that_keeps_the_output_open_holds_nobody_up(self):
        self.put("open")
        self.work('setsid sleep 1000 & echo $! >"$OUT"; echo 1', env={"OUT": self.path("out")})
        self.assertEqual(self.get("open")["result"], "1")
        os.kill(self.pid("out"), signal.SIGKILL)

    def test_a_long_job_with_a_short_lease(self):
        seconds = 8  # enough for machines that are busy: what is not renewed is lost at once
        self.lease(seconds)
        self.c.ask("Q.CONFIG.SET", "app", "grace-period", 0)
        self.put("long")
        worker = self.shell('echo $$ >"$OUT"; until [ -e "$OUT.end" ]; do sleep 0.02; done',
                            "--count", 1, env={"OUT": self.path("out")})
        self.pid("out")
        first = self.get("long")["lease"]["expires"]
        # When the first lease would have ended it is ours.
        eventually(lambda: self.get("long")["lease"]["expires"] > first + seconds, "renewal")
        with open(self.path("out.end"), "w", encoding="utf-8"):
            pass
        worker.wait()
        job = self.get("long")
        self.assertEqual((job["state"], job["attempts"], job["crashes"]), ("complete", 1, 0))


class Orphans(WorkCase):
    """A worker that is killed, and who comes after it."""

    SCRIPT = ('echo $$ >"$OUT.pid.$SLUICE_ATTEMPT"; '
              '[ "$SLUICE_ATTEMPT" != 1 ] || while :; do sleep 0.05; done; echo x >>"$OUT.done"')

    def test_a_killed_workers_job_is_done_once_by_another(self):
        self.c.ask("Q.CONFIG.SET", "app", "grace-period", 0)
        self.lease(5)
        self.put("job")
        out = {"OUT": self.path("out")}
        first = self.shell(self.SCRIPT, env=out)
        pid = self.pid("out.pid.1")
        first.kill()
        gone(pid)
        self.lease(3600)  # that of the first runs out, not that of the second
        second = self.shell(self.SCRIPT, "--count", 1, state="elsewhere", env=out)
        second.wait()
        job = self.get("job")
        self.assertEqual((job["state"], job["attempts"], job["crashes"]), ("complete", 2, 1))
        self.assertEqual(self.text("out.done"), "x\n")

    def test_a_restart_gives_the_job_back_at_once(self):
        self.lease(3600)
        self.put("job")
        out = {"OUT": self.path("out")}
        first = self.shell(self.SCRIPT, "--name", "me", "--sandbox", self.path("box"), env=out)
        self.pid("out.pid.1")
        eventually(lambda: os.listdir(self.path("state") + "/" + next(
            name for name in os.listdir(self.path("state")) if name != "lock")).count("run-0"))
        first.kill()
        self.assertEqual(self.get("job")["state"], "running")
        second = self.shell(self.SCRIPT, "--name", "me", "--count", 1, "--sandbox",
                            self.path("box"), env=out).wait()
        job = self.get("job")
        self.assertEqual((job["state"], job["attempts"], job["crashes"]), ("complete", 2, 0))
        self.assertEqual([entry["group"] for entry in self.history("job")
                          if entry["what"] == "retried"], ["orphaned"])
        self.assertIn("given back", second.errors[0])
        self.assertEqual(os.listdir(self.path("state")), ["lock"])
        self.assertEqual(os.listdir(self.path("box")), [])

    def test_a_restart_ends_processes_that_would_not(self):
        self.lease(3600)
        self.put("job")
        out = {"OUT": self.path("out")}
        script = ('trap "" TERM; setsid sleep 1000 & echo $! >"$OUT.inner"; '
                  'echo $$ >"$OUT"; while :; do sleep 0.05; done')
        first = self.shell(script, env=out)
        pid, inner = self.pid("out"), self.pid("out.inner")
        eventually(lambda: self.get("job")["lease"]["pid"])
        first.kill_with_guard()
        os.kill(pid, 0)  # it runs on
        self.shell("true", "--count", 1, "--grace", "0.1").wait()
        gone(pid)
        gone(inner)
        self.assertEqual(self.get("job")["state"], "complete")

    # Ends when it and the other have been asked to. That its worker is gone is not asking.
    TOGETHER = """
import ctypes, os, signal, time
path, me = os.environ["OUT"], os.environ["SLUICE_JID"][-1]
note = lambda name, text="": open(f"{path}.{name}", "w").write(text)
ctypes.CDLL(None).prctl(1, 0)
signal.signal(signal.SIGTERM, lambda *_: note(f"{me}.asked"))
note(me, f"{os.getpid()}\\n")
while not all(os.path.exists(f"{path}.{name}.asked") for name in "ab"):
    os.stat(os.path.dirname(path))  # without the test's folder there is nothing to wait for
    time.sleep(0.02)
note(f"{me}.ended")
"""

    def test_a_restart_ends_all_that_is_left_at_once(self):
        self.lease(3600)
        for jid in "ab":
            self.put(jid)
        first = self.worker("-j", 2, "--", sys.executable, "-c", self.TOGETHER,
                            env={"OUT": self.path("out")})
        for jid in "ab":
            self.pid(f"out.{jid}")
            eventually(lambda: self.get(jid)["lease"]["pid"])
        first.kill_with_guard()
        self.shell("true", "--count", 2, "--grace", LIMIT_S).wait(limit_s=3 * LIMIT_S)
        for jid in "ab":
            self.assertTrue(os.path.exists(self.path(f"out.{jid}.ended")), jid)
        self.assertEqual(os.listdir(self.path("state")), ["lock"])

    # A process in its group, one in a session of its own, one whose parent has ended, one with an
    # empty environment, each of which ignores SIGTERM.
    FAMILY = ('trap "" TERM HUP; sleep 1000 & echo $! >"$OUT.group"; '
              'setsid sh -c \'echo $$ >"$OUT.session"; exec sleep 1000\' & '
              '(sleep 1000 & echo $! >"$OUT.orphan"); '
              'env -i sleep 1000 & echo $! >"$OUT.bare"; '
              'echo $$ >"$OUT.self"; while :; do sleep 0.05; done')
    MEMBERS = ("self", "group", "session", "orphan", "bare")

    def family(self, *words):
        worker = self.shell(self.FAMILY, *words, env={"OUT": self.path("out")})
        return worker, [self.pid(f"out.{name}") for name in self.MEMBERS]

    def test_a_killed_worker_takes_all_processes_of_its_jobs_with_it(self):
        self.put("job")
        worker, pids = self.family("--grace", "0.2")
        guard = worker.guard()
        worker.kill()
        for pid in pids + [guard]:
            gone(pid)

    def test_processes_of_a_killed_worker_may_end_by_themselves(self):
        self.put("job")
        # What the shell says of its processes goes nowhere: the worker does not read it any more.
        script = ('exec 2>/dev/null; trap "echo asked >\\"$OUT.asked\\"; exit" TERM; '
                  '(trap "echo too >\\"$OUT.inner\\"; exit" TERM; echo 1 >"$OUT"; '
                  'while :; do sleep 0.05; done) & '
                  'while :; do sleep 0.05; done')
        worker = self.shell(script, "--grace", LIMIT_S, env={"OUT": self.path("out")})
        self.pid("out")
        guard = worker.guard()
        worker.kill()
        gone(guard)
        self.assertEqual((self.text("out.asked"), self.text("out.inner")), ("asked\n", "too\n"))

    def test_a_worker_that_is_in_a_hurry_leaves_nothing_running(self):
        self.put("job")
        worker, pids = self.family("--grace", "0.2")
        guard = worker.guard()
        for _ in range(2):
            worker.signal(signal.SIGTERM)
            eventually(lambda: any("ending" in line for line in worker.errors))
        worker.wait(128 + signal.SIGTERM)
        for pid in pids + [guard]:
            gone(pid)

    def test_a_signal_to_the_group_of_the_worker_does_not_reach_the_guard(self):
        self.put("job")
        worker = self.worker("--grace", "0.2", "--", "sh", "-c", self.FAMILY,
                             env={"OUT": self.path("out")}, before=os.setsid)
        pids = [self.pid(f"out.{name}") for name in self.MEMBERS]
        guard = worker.guard()
        os.killpg(worker.process.pid, signal.SIGKILL)
        worker.wait(-signal.SIGKILL)
        for pid in pids + [guard]:
            gone(pid)

    def test_a_guard_that_ends_is_missed(self):
        for jid in "ab":
            self.put(jid)
        worker = self.shell('echo $$ >"$OUT.$SLUICE_JID"; until [ -e "$OUT.go" ]; do sleep 0.02; '
                            'done', "--count", 2, env={"OUT": self.path("out")})
        self.pid(f"out.{self.queue}-a")
        os.kill(worker.guard(), signal.SIGKILL)
        with open(self.path("out.go"), "w", encoding="utf-8"):
            pass
        worker.wait()
        self.assertEqual([self.get(jid)["state"] for jid in "ab"], ["complete", "complete"])
        self.assertEqual(len([line for line in worker.errors if "sluice-guard" in line]), 1)

    def test_the_process_is_known_to_the_queue(self):
        self.put("job")
        worker = self.shell('echo $$ >"$OUT"; exec sleep 1000', env={"OUT": self.path("out")})
        pid = self.pid("out")
        eventually(lambda: self.get("job")["lease"]["pid"] == pid)
        worker.signal(signal.SIGTERM)
        eventually(lambda: any("ending" in line for line in worker.errors))
        worker.signal(signal.SIGTERM)
        worker.wait(128 + signal.SIGTERM)
        gone(pid)


class Ending(WorkCase):
    """SIGTERM, SIGINT and SIGHUP to the worker."""

    WAITS = 'echo $$ >"$OUT"; until [ -e "$OUT.end" ]; do sleep 0.02; done; echo 1'

    def start(self, script, *words):
        self.put("one")
        self.put("two")
        # The test itself may run under nohup, which would be inherited.
        worker = self.shell(script, *words, env={"OUT": self.path("out")},
                            before=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        return worker, self.pid("out")

    def test_what_runs_ends_and_no_more_is_taken(self):
        worker, _ = self.start(self.WAITS)
        worker.signal(signal.SIGTERM)
        eventually(lambda: any("ending" in line for line in worker.errors))
        with open(self.path("out.end"), "w", encoding="utf-8"):
            pass
        worker.wait()
        self.assertEqual(self.get("one")["result"], "1")
        self.assertEqual((self.get("two")["state"], self.get("two")["attempts"]), ("waiting", 0))

    def test_a_terminal_that_is_gone_is_no_reason_to_drop_what_runs(self):
        worker, _ = self.start(self.WAITS)
        worker.signal(signal.SIGHUP)
        eventually(lambda: any("ending" in line for line in worker.errors))
        with open(self.path("out.end"), "w", encoding="utf-8"):
            pass
        worker.wait()
        self.assertEqual(self.get("one")["result"], "1")

    def test_under_nohup_it_goes_on(self):
        self.put("one")
        self.put("two")
        worker = self.shell(self.WAITS, "--count", 2, env={"OUT": self.path("out")},
                            before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.pid("out")
        worker.signal(signal.SIGHUP)
        with open(self.path("out.end"), "w", encoding="utf-8"):
            pass
        worker.wait()
        self.assertEqual(self.get("two")["result"], "1")

    def test_what_takes_too_long_is_given_back_and_no_retry_is_counted(self):
        worker, pid = self.start("echo $$ >$OUT; exec sleep 1000", "--drain-timeout", "0.1")
        worker.signal(signal.SIGINT)
        worker.wait()
        gone(pid)
        job = self.get("one")
        self.assertEqual((job["state"], job["remaining"], job["crashes"]), ("stalled", 5, 0))
        self.work("true")
        self.assertEqual(self.get("one")["state"], "complete")

    def test_one_that_ends_well_when_told_to_is_done(self):
        worker, _ = self.start('trap "echo 2; exit 0" TERM; echo $$ >$OUT; '
                               'while :; do sleep 0.02; done', "--drain-timeout", "0")
        worker.signal(signal.SIGTERM)
        worker.wait()
        self.assertEqual(self.get("one")["result"], "2")

    def test_a_second_signal_ends_at_once(self):
        worker, pid = self.start('trap "" TERM; echo $$ >$OUT; while :; do sleep 0.02; done')
        worker.signal(signal.SIGTERM)
        eventually(lambda: any("ending" in line for line in worker.errors))
        worker.signal(signal.SIGTERM)
        worker.wait(128 + signal.SIGTERM)
        gone(pid)
        job = self.get("one")
        self.assertEqual((job["state"], job["remaining"]), ("stalled", 5))

    def is_known(self, worker):
        workers = self.c.ask("Q.WORKERS", "app", "COUNT", 1000)["workers"]
        return any(f"-{worker.process.pid}-" in entry["worker"] for entry in workers)

    def test_a_worker_that_waits_ends_and_is_known_no_more(self):
        worker = self.shell("true")
        eventually(lambda: self.is_known(worker))
        worker.signal(signal.SIGTERM)
        worker.wait()
        self.assertFalse(self.is_known(worker))

    def test_one_that_has_done_all_is_known_no_more(self):
        self.put("one")
        self.assertFalse(self.is_known(self.work("true")))

    def test_a_name_that_another_may_have_too_stays_known(self):
        self.put("one")
        self.work("true", "--name", f"{self.queue}-shared")
        workers = self.c.ask("Q.WORKERS", "app", "COUNT", 1000)["workers"]
        self.assertIn(f"{self.queue}-shared", [entry["worker"] for entry in workers])


class Box(WorkCase):
    """A folder for each job, and limits."""

    def test_a_folder_of_its_own_that_is_removed(self):
        self.put("in/../side")
        self.work('pwd; mkdir -p a/b; echo x >a/b/c; ln -s / a/root; chmod 0 a/b a/b/c; chmod 500 a .',
                  "--sandbox", self.path("box"))
        self.assertEqual(json.loads(self.get("in/../side")["result"]),
                         self.path("box") + "/" + self.queue + "-in%2F..%2Fside")
        self.assertEqual(os.listdir(self.path("box")), [])

    def test_a_program_named_from_here(self):
        with open(self.path("handler"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nbasename \"$PWD\"\n")
        os.chmod(self.path("handler"), 0o700)
        self.put("one")
        self.worker("--drain", "--sandbox", "box", "--", "./handler", cwd=self.folder).wait()
        self.assertEqual(self.get("one")["result"], f'"{self.queue}-one"')

    def test_folders_of_failed_jobs_are_kept_if_wanted(self):
        self.put("good")
        self.put("bad", {"bad": 1})
        worker = self.work('echo x >file; case $SLUICE_JID in *bad) exit 1;; esac', "--sandbox",
                           self.path("box"), "--keep-failed")
        self.assertEqual(os.listdir(self.path("box")), [f"{self.queue}-bad"])
        self.assertEqual(os.listdir(self.path("box") + f"/{self.queue}-bad"), ["file"])
        self.assertIn(self.path("box"), worker.errors[0])

    def test_limits(self):
        self.put("limits")
        self.work('echo "$(ulimit -n) $(ulimit -v) $(ulimit -f) $(ulimit -t) $(nice)"',
                  "--limit-files", 50, "--limit-memory", "1G", "--limit-file-size", "1M",
                  "--limit-cpu", "90", "--nice", 5)
        self.assertEqual(self.get("limits")["result"], '"50 1048576 2048 90 5"')

    def test_more_processes_than_files_were_allowed(self):
        for i in range(40):
            self.put(i)
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        os.mkdir(self.path("here"))
        # Each goes on when all are there.
        with open(self.path("lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            worker = self.shell('echo >"$OUT/here/$$"; flock --shared "$OUT/lock" true; ulimit -Sn',
                                "-j", 40, "--drain", env={"OUT": self.folder},
                                before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                  (64, hard)))
            eventually(lambda: len(os.listdir(self.path("here"))) == 40, "all at once")
        worker.wait()
        self.assertEqual({self.get(i)["result"] for i in range(40)}, {"64"})

    def test_a_limit_that_is_reached(self):
        self.put("cpu", {})
        self.work("while :; do :; done", "--limit-cpu", 1)
        self.assertEqual(self.get("cpu")["failure"]["group"], "signal:XCPU")
        self.put("size", {})
        self.work('exec head -c 100000 /dev/zero >"$OUT"', "--limit-file-size", "1k",
                  env={"OUT": self.path("out")})
        self.assertEqual(self.get("size")["failure"]["group"], "signal:XFSZ")
        self.assertEqual(os.path.getsize(self.path("out")), 1024)


POOL = r"""
import json, os, sys
for line in sys.stdin:
    job = json.loads(line)
    do = job["data"]["do"]
    first = job["attempts"] == 1
    say = lambda **answer: print(json.dumps(answer), flush=True)
    if do == "pid":
        say(jid=job["jid"], result=os.getpid())
    elif do == "here":
        say(jid=job["jid"], result=os.getcwd())
    elif do == "fail":
        say(fail="smtp", message="refused")
    elif do == "retry":
        say(retry=0, message="busy") if first else say(result="at last")
    elif do == "say":
        say(progress=0.5, message="half")
        say(log="a line")
        say(checkpoint="here")
        print("::log another", file=sys.stderr, flush=True)
        say(result=None)
    elif do == "die":
        if first:
            print("oh no", file=sys.stderr, flush=True)
            os.kill(os.getpid(), 9)
        say(result=os.getpid())
    elif do == "leave":
        if first:
            sys.exit(0)
        say(result=1)
    elif do == "nonsense":
        say(result=1) if not first else print("hello", flush=True)
    elif do == "hang":
        open(job["data"]["out"], "w").write(f"{os.getpid()}\n")
        import time
        time.sleep(1000)
"""


class Pool(WorkCase):
    """Processes that live on."""

    def pool(self, *words, count=1):
        return self.worker("--pool", count, *words, "--", sys.executable, "-c", POOL)

    def retried(self, jid):
        return [(entry["group"], entry["message"]) for entry in self.history(jid)
                if entry["what"] == "retried"]

    def test_answers(self):
        for do in ("pid", "fail", "retry", "say"):
            self.put(do, {"do": do})
        self.pool("--drain").wait()
        self.assertGreater(int(self.get("pid")["result"]), 1)
        failure = self.get("fail")["failure"]
        self.assertEqual((failure["group"], failure["message"]), ("smtp", "refused"))
        self.assertEqual(self.get("retry")["result"], '"at last"')
        self.assertEqual(self.retried("retry"), [("retry", "busy")])
        self.assertEqual(self.get("say")["progress"], {"fraction": 0.5, "message": "half"})
        logs = self.c.ask("Q.LOGS", "app", f"{self.queue}-say")
        self.assertEqual(sorted(entry["line"] for entry in logs), ["a line", "another"])

    def test_data_of_several_lines_is_one_line(self):
        self.c.ask("Q.PUT", "app", self.queue, "Do", '{\n "do"\r\n:\t"pid"\n}\n', "JID",
                   f"{self.queue}-lines")
        self.pool("--drain").wait()
        self.assertEqual(self.get("lines")["state"], "complete")

    def test_a_process_that_dies_has_its_job_tried_again(self):
        self.put("die", {"do": "die"})
        self.put("leave", {"do": "leave"})
        self.pool("--drain").wait()
        self.assertEqual(self.get("die")["state"], "complete")
        self.assertEqual(self.retried("die"), [("signal:KILL", "oh no")])
        self.assertEqual(self.get("leave")["result"], "1")
        self.assertEqual(self.retried("leave")[0][0], "exit:0")

    def test_a_job_that_a_process_has_not_read_costs_nothing(self):
        for i in range(6):
            self.put(i)
        # It ends when it has its second job, which it does not read.
        program = ("import os, select\n"
                   "if os.read(0, 65536):\n"
                   "    os.write(1, b'{\"result\":1}\\n')\n"
                   "    select.select([0], [], [])\n")
        self.worker("--pool", 2, "--drain", "--", sys.executable, "-c", program).wait()
        jobs = [self.get(i) for i in range(6)]
        self.assertEqual([(job["state"], job["attempts"]) for job in jobs],
                         [("complete", 1)] * 6)

    def test_one_that_reads_no_more_is_replaced_and_its_job_goes_to_the_next(self):
        script = ('[ ! -e "$OUT" ] || exec "$WORK_HANDLER" "$OUT.notes"; '
                  'exec 0<&-; echo $$ >"$OUT"; exec sleep 1000')
        worker = self.shell(script, "--pool", 1, "--count", 1, "--grace", "0.1",
                            env={"OUT": self.path("out")})
        pid = self.pid("out")
        self.put("one")
        worker.wait()
        gone(pid)
        self.assertEqual((self.get("one")["state"], self.get("one")["attempts"]), ("complete", 1))

    def test_the_longest_run_begins_when_a_process_reads_the_job(self):
        script = ('[ ! -e "$OUT" ] || exec "$WORK_HANDLER" "$OUT.notes"; '
                  'exec 0<&-; echo $$ >"$OUT"; exec sleep 1000')
        worker = self.shell(script, "--pool", 1, "--count", 1, "--run-timeout", 5, "--grace", 6,
                            env={"OUT": self.path("out")})
        self.pid("out")
        self.put("one")
        worker.wait()
        self.assertEqual(self.retried("one"), [])
        self.assertEqual((self.get("one")["state"], self.get("one")["attempts"]), ("complete", 1))

    def test_where_no_process_comes_to_reading_the_job_says_why(self):
        self.put("one", {}, "RETRIES", 0)
        self.shell("echo broken >&2; exit 3", "--pool", 1, "--drain").wait()
        failure = self.get("one")["failure"]
        self.assertEqual((failure["group"], failure["message"]), ("exit:3", "broken"))

    def test_what_was_written_before_the_job_came_is_part_of_the_message(self):
        worker = self.shell("echo early >&2; read job; exit 3", "--pool", 1, "--count", 1)
        eventually(lambda: "early" in worker.errors)
        self.put("one", {}, "RETRIES", 0)
        worker.wait()
        failure = self.get("one")["failure"]
        self.assertEqual((failure["group"], failure["message"]), ("exit:3", "early"))

    def test_an_answer_that_is_none(self):
        self.put("nonsense", {"do": "nonsense"})
        self.pool("--drain").wait()
        self.assertEqual(self.get("nonsense")["result"], "1")
        group, message = self.retried("nonsense")[0]
        self.assertEqual(group, "protocol")
        self.assertIn("hello", message)

    def test_a_process_is_replaced_after_its_number_of_jobs(self):
        for i in range(6):
            self.put(i, {"do": "pid"})
        self.pool("--drain", "--max-jobs", 2).wait()
        pids = [self.get(i)["result"] for i in range(6)]
        self.assertEqual(len(set(pids)), 3)
        self.assertTrue(all(pids.count(pid) == 2 for pid in pids))

    def test_a_canceled_job_costs_the_process_and_no_more(self):
        self.put("hang", {"do": "hang", "out": self.path("out")})
        worker = self.pool("--count", 2)
        pid = self.pid("out")
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-hang")
        gone(pid)
        self.put("next", {"do": "pid"})
        worker.wait()
        self.assertNotEqual(int(self.get("next")["result"]), pid)

    def test_a_killed_workers_job_is_given_back_by_the_next(self):
        self.lease(3600)
        self.put("hang", {"do": "hang", "out": self.path("out")})
        first = self.pool(count=2)
        pid = self.pid("out")
        first.kill()
        gone(pid)
        self.worker("--pool", 1, "--count", 1, "--", os.environ["WORK_HANDLER"],
                    self.path("notes")).wait()
        self.assertEqual([group for group, _ in self.retried("hang")], ["orphaned"])
        self.assertEqual(self.get("hang")["state"], "complete")
        self.assertEqual(os.listdir(self.path("state")), ["lock"])

    def test_the_pool_ends_with_the_worker(self):
        self.put("pid", {"do": "pid"})
        worker = self.pool(count=3)
        pid = int(self.finished("pid")["result"])
        worker.signal(signal.SIGTERM)
        worker.wait()
        gone(pid)

    def test_very_many_jobs_each_exactly_once(self):
        count = 1500 if SANITIZED else 10000
        for first in range(0, count, 500):
            words = []
            for i in range(first, first + 500):
                words += [5, self.queue, "Do", "{}", "JID", f"{self.queue}-{i}"]
            self.c.ask("Q.MPUT", "app", *words)
        worker = self.worker("--pool", 8, "--drain", "--", os.environ["WORK_HANDLER"],
                             self.path("notes"))
        worker.wait(limit_s=4 * LIMIT_S)
        done = self.text("notes").splitlines()
        self.assertEqual(sorted(done), sorted(f"{self.queue}-{i}" for i in range(count)))
        self.assertEqual(self.c.ask("Q.LENGTH", "app", self.queue), 0)
        self.assertEqual(self.get(count - 1)["state"], "complete")


# Holds jobs until one comes that frees them, the last first.
CROWD = r"""
import json, os, sys
held = {}
say = lambda **answer: print(json.dumps(answer), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    jid = job["jid"]
    if "cancel" in job:
        with open("canceled", "a") as file:
            file.write(f"{jid} {job['cancel']}\n")
        if not held.pop(jid)["data"].get("deaf"):
            say(jid=jid)
        continue
    held[jid] = job
    do, first = job["data"].get("do"), job["attempts"] == 1
    if do == "nonsense" and first:
        say(result=1)
    elif do == "die" and first:
        print("oh no", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    elif do == "say":
        say(jid=jid, progress=0.5, message="half")
        say(jid=jid, log="a line")
        say(jid=jid)
    elif do:
        for order, jid in enumerate(reversed(list(held))):
            say(jid=jid, result=[os.getpid(), order])
        held = {}
    with open("seen", "a") as file:
        file.write(f"{jid}\n")
"""


class Crowd(WorkCase):
    """Processes that have several jobs at a time."""

    def crowd(self, *words, count=1, each=4):
        return self.worker("--pool", count, "--per-process", each, *words, "--", sys.executable,
                           "-c", CROWD, cwd=self.folder)

    def lines(self, name, count):
        """Waits for as many lines of a file, without the queue's name; gives them."""
        def written():
            return os.path.exists(self.path(name)) and self.text(name).count("\n") >= count

        eventually(written, f"{count} lines of {name}")
        return self.text(name).replace(f"{self.queue}-", "").splitlines()

    def ends(self, jid):
        return [entry["group"] for entry in self.history(jid) if entry["what"] == "retried"]

    def test_one_process_answers_in_any_order(self):
        for jid in ("a", "b", "c"):
            self.put(jid)
        worker = self.crowd("--count", 4)
        self.lines("seen", 3)
        self.put("free", {"do": "free"})
        worker.wait()
        jobs = [self.get(jid) for jid in ("free", "c", "b", "a")]
        self.assertEqual([job["state"] for job in jobs], ["complete"] * 4)
        results = [json.loads(job["result"]) for job in jobs]
        self.assertEqual([order for _, order in results], [0, 1, 2, 3])
        self.assertEqual(len({pid for pid, _ in results}), 1)

    def test_jobs_are_spread_over_the_processes(self):
        for jid in range(4):
            self.put(jid, {"do": "pid"})
        self.crowd("--drain", count=2, each=2).wait()
        pids = [json.loads(self.get(jid)["result"])[0] for jid in range(4)]
        self.assertEqual(sorted(pids.count(pid) for pid in set(pids)), [2, 2])

    def test_what_is_said_in_between_is_about_the_job_that_is_named(self):
        self.put("held")
        self.put("say", {"do": "say"})
        worker = self.crowd()
        self.assertEqual(self.finished("say")["progress"], {"fraction": 0.5, "message": "half"})
        logs = self.c.ask("Q.LOGS", "app", f"{self.queue}-say")
        self.assertEqual([entry["line"] for entry in logs], ["a line"])
        self.assertEqual(self.get("held")["progress"], None)
        self.put("free", {"do": "free"})
        self.finished("held")
        worker.signal(signal.SIGTERM)
        worker.wait()

    def test_one_that_dies_costs_the_jobs_that_it_has_read(self):
        for i in range(4):
            self.put(i)
        # The first reads two lines, byte by byte.
        program = ("import os\n"
                   "def line():\n"
                   "    while os.read(0, 1) not in (b'\\n', b''): pass\n"
                   "if os.path.exists('read'):\n"
                   "    os.execv(os.environ['WORK_HANDLER'], ['handler', 'notes'])\n"
                   "open('read', 'w').close()\n"
                   "line()\n"
                   "line()\n"
                   "os._exit(3)\n")
        self.worker("--pool", 1, "--per-process", 4, "--count", 4, "--", sys.executable, "-c",
                    program, cwd=self.folder).wait()
        self.worker("--pool", 1, "--per-process", 4, "--drain", "--", sys.executable, "-c",
                    program, cwd=self.folder).wait()
        jobs = [self.get(i) for i in range(4)]
        self.assertEqual([job["state"] for job in jobs], ["complete"] * 4)
        self.assertEqual([job["attempts"] for job in jobs], [2, 2, 1, 1])
        self.assertEqual([self.ends(i) for i in range(4)], [["exit:3"], ["exit:3"], [], []])

    def test_a_job_that_is_not_ours_any_more_is_told_and_the_others_go_on(self):
        for jid in ("canceled", "lost", "other"):
            self.put(jid)
        worker = self.crowd("--count", 5)
        self.lines("seen", 3)
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-canceled")
        self.assertEqual(self.lines("canceled", 1), ["canceled canceled"])
        # The worker takes it again at once: its process hears of the end of the first run first.
        self.c.ask("Q.TIMEOUT", "app", f"{self.queue}-lost")
        self.assertEqual(self.lines("canceled", 2)[1], "lost lost")
        self.assertEqual(self.lines("seen", 4)[3], "lost")
        self.put("free", {"do": "free"})
        worker.wait()
        self.assertEqual([json.loads(self.get(jid)["result"])[1] for jid in ("lost", "other")],
                         [1, 2])

    def test_one_that_runs_too_long_is_told_too(self):
        self.put("late", {}, "RETRIES", 0)
        self.crowd("--count", 1, "--run-timeout", "0.2").wait()
        self.assertEqual(self.lines("canceled", 1), ["late timeout"])
        self.assertEqual(self.get("late")["failure"]["group"], "timeout")

    def test_a_process_that_does_not_listen_is_ended_and_its_other_jobs_given_back(self):
        self.put("deaf", {"deaf": 1})
        self.put("other")
        worker = self.crowd("--count", 2, "--grace", "0.1")
        self.lines("seen", 2)
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-deaf")
        worker.wait()
        other = self.get("other")
        self.assertEqual((other["state"], other["remaining"], other["crashes"]), ("stalled", 5, 0))
        self.assertEqual(self.ends("other"), [])

    def test_a_line_without_a_jid_is_none(self):
        self.put("held", {}, "RETRIES", 0)
        worker = self.crowd("--count", 2)
        self.lines("seen", 1)
        self.put("nonsense", {"do": "nonsense"}, "RETRIES", 0)
        worker.wait()
        for jid in ("held", "nonsense"):
            failure = self.get(jid)["failure"]
            self.assertEqual(failure["group"], "protocol")
            self.assertIn("jid", failure["message"])

    def test_processes_are_replaced_after_their_number_of_jobs(self):
        for i in range(6):
            self.put(i, {"do": "pid"})
        self.crowd("--drain", "--max-jobs", 2, each=2).wait()
        pids = [json.loads(self.get(i)["result"])[0] for i in range(6)]
        self.assertEqual(sorted(pids.count(pid) for pid in set(pids)), [2, 2, 2])

    def test_jobs_do_not_wait_for_a_process_that_gets_no_more(self):
        self.put("held")
        worker = self.crowd("--max-jobs", 1, count=2, each=2)
        self.lines("seen", 1)
        for i in range(3):
            self.put(i, {"do": "pid"})
            self.finished(i)
        self.assertEqual(self.get("held")["state"], "running")
        self.c.ask("Q.CANCEL", "app", f"{self.queue}-held")
        worker.signal(signal.SIGTERM)
        worker.wait()

    def test_a_killed_workers_jobs_are_given_back_by_the_next(self):
        self.lease(3600)
        self.put("one")
        self.put("two")
        first = self.crowd()
        self.lines("seen", 2)
        first.kill_with_guard()
        self.worker("--pool", 1, "--per-process", 2, "--count", 2, "--", os.environ["WORK_HANDLER"],
                    self.path("notes")).wait()
        for jid in ("one", "two"):
            self.assertEqual(self.ends(jid), ["orphaned"])
            self.assertEqual(self.get(jid)["state"], "complete")
        self.assertEqual(os.listdir(self.path("state")), ["lock"])

    def test_very_many_jobs_each_exactly_once(self):
        count = 1500 if SANITIZED else 10000
        for first in range(0, count, 500):
            words = []
            for i in range(first, first + 500):
                words += [5, self.queue, "Do", "{}", "JID", f"{self.queue}-{i}"]
            self.c.ask("Q.MPUT", "app", *words)
        self.worker("--pool", 3, "--per-process", 20, "--max-jobs", 100, "--drain", "--",
                    os.environ["WORK_HANDLER"], self.path("notes")).wait(limit_s=4 * LIMIT_S)
        done = self.text("notes").splitlines()
        self.assertEqual(sorted(done), sorted(f"{self.queue}-{i}" for i in range(count)))


class PoolBox(WorkCase):
    """A folder for each process of a pool."""

    def box(self, *words):
        return self.worker("--pool", 1, "--sandbox", self.path("box"), *words, "--",
                           sys.executable, "-c", POOL)

    def test_a_folder_for_each_process_that_is_removed(self):
        for i in range(4):
            self.put(i, {"do": "here"})
        self.box("--drain", "--max-jobs", 2).wait()
        folders = [json.loads(self.get(i)["result"]) for i in range(4)]
        # The next process may start before the folder of the last is gone.
        self.assertEqual(folders[0], self.path("box") + "/process-1")
        self.assertEqual(folders[0], folders[1])
        self.assertEqual(folders[2], folders[3])
        self.assertEqual(os.listdir(self.path("box")), [])

    def test_the_folder_of_a_process_with_a_failed_job_is_kept_if_wanted(self):
        self.put("bad", {"do": "fail"})
        worker = self.box("--drain", "--keep-failed").wait()
        self.assertEqual(os.listdir(self.path("box")), ["process-1"])
        self.assertIn(self.path("box"), worker.errors[0])

    def test_the_folder_of_one_that_dies_is_kept_if_wanted(self):
        self.put("die", {"do": "die"})
        self.box("--drain", "--keep-failed").wait()
        self.assertEqual(os.listdir(self.path("box")), ["process-1"])

    def test_the_folder_that_a_killed_worker_leaves_is_removed_by_the_next(self):
        self.put("pid", {"do": "pid"})
        first = self.box()
        pid = int(self.finished("pid")["result"])
        self.assertEqual(os.listdir(self.path("box")), ["process-1"])
        first.kill_with_guard()
        self.box("--drain").wait()
        gone(pid)
        self.assertEqual(os.listdir(self.path("box")), [])


class Screen(WorkCase):
    """What a person sees."""

    def on_terminal(self, script, *words, columns=60):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        worker = subprocess.Popen(
            [os.environ["SLUICE"], "work", "--url", self.url, "-q", self.queue, "--state",
             self.path("state"), *words, "--", "sh", "-c", script], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "OUT": self.path("out")})
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                part = b""
            if not part:
                break
            seen += part
            if b"1 running" in seen:
                with open(self.path("out"), "w", encoding="utf-8"):
                    pass
        os.close(ours)
        self.assertEqual(worker.wait(LIMIT_S), 0)
        return seen.decode()

    @staticmethod
    def screen(text):
        """The lines as they stand on the screen at the end."""
        lines = [""]
        for part in text.replace("\r\n", "\n").split("\n"):
            lines[-1] = part.rsplit("\r\033[K", 1)[-1]
            lines.append("")
        return [line for line in lines if line]

    def test_a_line_that_says_how_things_stand(self):
        self.put("one")
        seen = self.on_terminal('echo begun >&2; until [ -e "$OUT" ]; do sleep 0.02; done; '
                                'echo ended >&2', "--count", "1")
        self.assertIn("1 running, 0 done, 0 failed", seen)
        *lines, tally = self.screen(seen)
        self.assertEqual(lines, ["begun", "ended"])
        self.assertRegex(tally, r"^1 done, 0 failed, 0 retried in \d+[a-z]")

    def test_it_is_never_wider_than_the_screen(self):
        self.put("one")
        seen = self.on_terminal('until [ -e "$OUT" ]; do sleep 0.02; done', "--count", "1",
                                columns=20)
        drawn = [part for part in seen.split("\r\033[K") if "running" in part]
        self.assertTrue(drawn)
        self.assertLessEqual(max(map(len, drawn)), 19)

    def test_not_when_it_is_unwanted_or_no_terminal(self):
        self.put("one")
        self.assertEqual(self.work("echo hello >&2", "--quiet").errors, [])


class Usage(WorkCase):
    def refused(self, *words):
        worker = Worker(self.url, *words).wait(2)
        return worker.errors[0]

    def test_wrong_words(self):
        program = ("--", "true")
        self.assertIn("queue", self.refused(*program))
        self.assertIn("no-such-program", self.refused("-q", "a", "--", "no-such-program"))
        self.assertIn("PROGRAM", self.refused("-q", "a"))
        self.assertIn("--limit-memory", self.refused("-q", "a", "--limit-memory", "lots", *program))
        self.assertIn("--pool", self.refused("-q", "a", "--pool", 2, "-j", 2, *program))
        self.assertIn("--per-process", self.refused("-q", "a", "--per-process", 2, *program))
        self.assertIn("1000", self.refused("-q", "a", "--pool", 200, "--per-process", 6, *program))
        self.assertIn("--max-jobs", self.refused("-q", "a", "--max-jobs", 2, *program))
        self.assertIn("--keep-failed", self.refused("-q", "a", "--keep-failed", *program))
        self.assertIn("0", self.refused("-q", "a", "--retry-on", "0", *program))
        self.assertIn("without a name", self.refused("-q", "a,,b", *program))

    def test_a_program_that_cannot_be_run_costs_no_job_a_retry(self):
        with open(self.path("handler"), "w", encoding="utf-8") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(self.path("handler"), 0o700)
        self.put("one")
        for words in ((), ("--pool", 2), ("--pool", 1, "--drain")):
            worker = self.worker(*words, "--", self.path("handler")).wait(2)
            self.assertIn("cannot be started", worker.errors[0])
            job = self.get("one")
            self.assertEqual(job["remaining"], 5, words)
            self.assertIn(job["state"], ("waiting", "stalled"), words)

    def test_a_server_that_is_not_there(self):
        worker = Worker("sluice://127.0.0.1:1", "-q", "a", "--state", self.path("state"), "--", "true")
        eventually(lambda: worker.errors)
        self.assertIsNone(worker.process.poll())
        worker.signal(signal.SIGTERM)
        worker.wait()


class Restart(WorkCase):
    """A server that is gone for a while."""

    def test_a_job_that_ends_meanwhile_is_reported_after(self):
        self.put("one")
        worker = self.shell('echo $$ >"$OUT"; until [ -e "$OUT.end" ]; do sleep 0.02; done; echo 1',
                            "--count", 1, env={"OUT": self.path("out")})
        pid = self.pid("out")
        self.c.close()
        self.server.stop()
        with open(self.path("out.end"), "w", encoding="utf-8"):
            pass
        gone(pid)
        # Where the worker looks for it, besides where it is asked to.
        self.server.flags = ("--listen", f"127.0.0.1:{self.server.port}")
        self.server.start()
        self.c = Client(self.server)
        self.addCleanup(self.c.close)
        self.c.ask("HELLO 3")
        worker.wait()
        job = self.get("one")
        self.assertEqual((job["state"], job["result"], job["attempts"]), ("complete", "1", 1))

    def test_a_worker_that_is_to_end_does_not_wait_for_a_server_for_ever(self):
        with sluiced.Server() as server:
            client = Client(server)
            self.addCleanup(client.close)
            client.ask("HELLO 3")
            client.ask("Q.PUT", "app", self.queue, "Do", "{}")
            worker = self.shell(
                'echo $$ >"$OUT"; until [ -e "$OUT.end" ]; do sleep 0.02; done', "--drain-timeout",
                "0.1", "--grace", "0.1", env={"OUT": self.path("out")},
                url=f"sluice://127.0.0.1:{server.port}/app")
            pid = self.pid("out")
            server.stop()
            with open(self.path("out.end"), "w", encoding="utf-8"):
                pass
            gone(pid)
            worker.signal(signal.SIGTERM)
            worker.wait(128 + signal.SIGTERM)


class FullServer:
    """A server that says to all but greetings that its disk is full, and counts how often."""

    def __init__(self):
        self.refused = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"sluice://127.0.0.1:{self.listener.getsockname()[1]}/app"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        talks = []
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                break
            talks.append(threading.Thread(target=self.talk, args=(connection,)))
            talks[-1].start()
        for talk in talks:
            talk.join()

    def talk(self, connection):
        with connection, connection.makefile("rb") as requests:
            while (count := requests.readline()):
                words = []
                for _ in range(int(count[1:])):
                    words.append(requests.read(int(requests.readline()[1:]) + 2)[:-2])
                if words[0] == b"HELLO":
                    connection.sendall(b"%1\r\n+server\r\n+sluice\r\n")
                else:
                    self.refused += 1
                    connection.sendall(b"-NO_SPACE the disk is full\r\n")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


class Full(unittest.TestCase):
    def test_a_disk_that_is_full_ends_no_worker(self):
        folder = tempfile.mkdtemp(prefix="sluice-work-")
        self.addCleanup(shutil.rmtree, folder, True)
        server = FullServer()
        self.addCleanup(server.close)
        worker = Worker(server.url, "-q", "mail", "--state", folder, "--", "true")
        self.addCleanup(worker.kill)
        eventually(lambda: server.refused >= 2)
        worker.signal(signal.SIGTERM)
        worker.wait()
        self.assertEqual([line for line in worker.errors if "disk" in line],
                         ["sluice: the disk is full; trying again"])


class Secret(sluiced.TestCase):
    flags = ("--password", "secret")

    def test_the_password_is_not_handed_on(self):
        folder = tempfile.mkdtemp(prefix="sluice-work-")
        self.addCleanup(shutil.rmtree, folder, True)
        client = Client(self.server)
        self.addCleanup(client.close)
        client.ask("AUTH secret")
        url = f"sluice://:secret@127.0.0.1:{self.server.port}"
        for words, wanted in (((), url.replace(":secret@", "")), (("--pass-url",), url)):
            jid = client.ask("Q.PUT default mail Do {}")
            Worker(url, "-q", "mail", "--drain", "--state", folder, *words, "--", "sh", "-c",
                   'echo "$SLUICE_URL"', env={"SLUICE_URL": url}).wait()
            self.assertEqual(client.ask("HELLO 3")["server"] and
                             client.ask("Q.GET", "default", jid)[0]["result"], f'"{wanted}"')


class Rights(sluiced.TestCase):
    flags = ("--user", "root pr *:admin", "--user", "worker pw app:work")

    def test_a_worker_needs_no_more_than_the_right_to_work(self):
        folder = tempfile.mkdtemp(prefix="sluice-work-")
        self.addCleanup(shutil.rmtree, folder, True)
        client = Client(self.server)
        self.addCleanup(client.close)
        client.ask("HELLO 3 AUTH root pr")
        url = f"sluice://worker:pw@127.0.0.1:{self.server.port}/app"
        client.ask("Q.PUT app mail Do {} JID one")
        worker = Worker(url, "-q", "mail", "--drain-timeout", "0.1", "--state", folder, "--", "sh",
                        "-c", 'echo "::progress 0.5" >&2; exec sleep 1000')
        self.addCleanup(worker.kill)
        eventually(lambda: client.ask("Q.GET app one")[0]["progress"])
        worker.signal(signal.SIGTERM)
        worker.wait()
        job = client.ask("Q.GET app one")[0]
        self.assertEqual((job["state"], job["remaining"]), ("stalled", 5))
        Worker(url, "-q", "mail", "--drain", "--state", folder, "--", "true").wait()
        self.assertEqual(client.ask("Q.GET app one")[0]["state"], "complete")


class File(unittest.TestCase):
    """A queue in the worker's own process."""

    def test_a_folder_instead_of_a_server(self):
        folder = tempfile.mkdtemp(prefix="sluice-work-")
        self.addCleanup(shutil.rmtree, folder, True)
        url = f"file:{folder}/queue"

        def put():
            put_one = [os.environ["SLUICE"], "put", "--url", url, "mail", "Do", '{"n":1}']
            return subprocess.run(put_one, capture_output=True, text=True, check=True)

        for words in ((), ("--pool", 2)):
            jid = put().stdout.strip()
            program = ([sys.executable, "-c", POOL.replace('job["data"]["do"]', '"pid"')] if words
                       else ["sh", "-c", 'echo "::progress 0.5" >&2; cat'])
            worker = Worker(url, "-q", "mail", "--drain", "--json", "--state", folder + "/state",
                            *words, "--", *program).wait()
            self.assertEqual([(event["jid"], event["outcome"])
                              for event in map(json.loads, worker.output)], [(jid, "done")])


if __name__ == "__main__":
    sluiced.main()
