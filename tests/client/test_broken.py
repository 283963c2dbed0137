#!/usr/bin/python3
"""libsluice and servers that break, lie, or are not there."""

import os
import random
import sys
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))

import sluiced
from fake import (CLOSE, GREETING, LIMIT_S, SILENT, Fake, byte_by_byte, encode, free_port, text,
                  then_close)
from shell import Shell

FOREVER = -1
# A timeout that is waited for, and in which the fake can greet on a machine that has much to do.
PATIENCE_S = 5
NOTHING = encode([])
JOB = {"jid": "a", "klass": "k", "queue": "q", "data": "{}", "token": 7, "expires": 4e9,
       "attempts": 1, "checkpoint": None}
TAKEN = encode([JOB])
PUT = {"queue": "q", "klass": "k", "data": "{}", "jid": "a"}
NAMELESS = {**PUT, "jid": None}
NOW = 2_000_000_000  # of the fake's clock
TIME = encode([str(NOW), "0"])


def found(**more):
    """The answer to Q.GET of a job."""
    return encode([{"jid": "a", "klass": "k", "queue": "q", "data": "{}", "state": "waiting",
                    "priority": 0, "retries": 5, "remaining": 5, "attempts": 0, "moved": float(NOW),
                    "scheduled": None, "lease": None, **more}])


MISSING = encode([None])


class Broken(unittest.TestCase):
    maxDiff = None

    def shell(self, fake=None, url=None, timeout=LIMIT_S, **options):
        shell = Shell()
        self.addCleanup(shell.__exit__, None)
        shell.open("q", url or fake.url, timeout=timeout, **options)
        self.addCleanup(shell.ask, "close", "q")
        return shell

    def fake(self, *steps, **options):
        fake = Fake(*steps, **options)
        self.addCleanup(fake.stop)
        return fake

    def taken(self, *steps, **options):
        """A shell that holds the job `a`, and the server with these steps ahead."""
        fake = self.fake(TAKEN, *steps)
        shell = self.shell(fake, **options)
        shell.ok("next", "q", "q", 0, "job")
        self.addCleanup(shell.ask, "free", "job")
        return shell, fake


class Repeating(Broken):
    def test_a_command_that_reads_is_asked_again(self):
        fake = self.fake(CLOSE, CLOSE, found())
        shell = self.shell(fake)
        self.assertEqual(shell.ok("get", "q", "a")["value"]["jid"], "a")
        self.assertEqual(fake.heard, [["Q.GET", "default", "a"]] * 3)
        self.assertIn("trying again", shell.log.get(timeout=LIMIT_S))
        fake.steps = [CLOSE, encode(7)]
        self.assertEqual(shell.ok("call", "q", ["Q.LENGTH", "mail"])["value"], 7)

    def test_one_that_writes_is_not(self):
        fake = self.fake(CLOSE, encode("OK"))
        shell = self.shell(fake)
        self.assertEqual(shell.status("call", "q", ["Q.PAUSE", "mail"]), "unknown")
        self.assertEqual(shell.status("call", "q", ["Q.PAUSE", "mail"]), "ok")
        self.assertEqual(len(fake.heard), 2)

    def test_half_an_answer_is_none(self):
        fake = self.fake(then_close(found()[:-3]), found())
        self.assertEqual(self.shell(fake).ok("get", "q", "a")["value"]["state"], "waiting")
        fake.steps = [then_close(b"+O")]
        self.assertEqual(self.shell(fake).status("cancel", "q", "a"), "unknown")

    def test_connections_that_ended_meanwhile_are_replaced_silently(self):
        fake = self.fake(*[then_close(encode(1))] * 5)
        shell = self.shell(fake)
        for _ in range(5):
            shell.ok("cancel", "q", "a")
            fake.wait_until_alone()
        self.assertEqual(len(fake.hellos), 5)
        self.assertTrue(shell.log.empty())

    def test_one_connection_serves_calls_one_after_another(self):
        fake = self.fake(otherwise=encode(1))
        shell = self.shell(fake)
        for _ in range(20):
            shell.ok("cancel", "q", "a")
        self.assertEqual(len(fake.hellos), 1)

    def test_what_changes_the_connection_stays_there(self):
        fake = self.fake(b">3\r\n+subscribe\r\n+x\r\n:1\r\n", encode(1))
        shell = self.shell(fake)
        shell.ask("call", "q", ["SUBSCRIBE", "x"])
        shell.ok("cancel", "q", "a")
        self.assertEqual(len(fake.hellos), 2)

    def test_heartbeats_and_notes_are_asked_again_but_lines_are_not(self):
        shell, fake = self.taken(CLOSE, encode(5e9), CLOSE, encode("OK"), CLOSE, encode("OK"),
                                 CLOSE, encode("OK"), CLOSE)
        self.assertEqual(shell.ok("heartbeat", "job")["expires"], 5e9)
        shell.ok("start", "job", 17)
        shell.ok("progress", "job", 0.5, "half")
        shell.ok("checkpoint", "job", "{}")
        self.assertEqual(shell.status("log", "job", "line"), "unknown")
        self.assertEqual(fake.heard[1], ["Q.HEARTBEAT", "default", "a", fake.heard[0][2], "TOKEN",
                                         "7"])
        self.assertEqual(len(fake.heard), 10)


class Putting(Broken):
    def test_one_that_was_heard_is_found(self):
        fake = self.fake(CLOSE, found())
        jid = self.shell(fake).ok("put", "q", NAMELESS)["jid"]
        self.assertEqual(fake.names(), ["Q.PUT", "Q.GET"])
        self.assertEqual(fake.heard[1], ["Q.GET", "default", jid])

    def test_one_that_was_not_is_put_again_with_the_same_jid(self):
        fake = self.fake(CLOSE, MISSING, lambda _, words: text(words[words.index("JID") + 1]))
        jid = self.shell(fake).ok("put", "q", NAMELESS)["jid"]
        self.assertEqual(fake.names(), ["Q.PUT", "Q.GET", "Q.PUT"])
        self.assertEqual(fake.heard[0], fake.heard[2])
        self.assertEqual(fake.heard[1], ["Q.GET", "default", jid])

    def test_a_jid_of_the_librarys_own_is_nobody_elses_whatever_became_of_the_job(self):
        for since in ({"state": "complete", "queue": None}, {"data": "[]", "queue": "other"},
                      {"state": "running", "attempts": 1, "moved": float(NOW - 60)}):
            fake = self.fake(CLOSE, found(**since))
            self.shell(fake).ok("put", "q", NAMELESS)
            self.assertEqual(fake.names(), ["Q.PUT", "Q.GET"])

    def put_over(self, put=None, clock=TIME, **job):
        """Puts a job whose jid the caller chose, and for which this one is found."""
        fake = self.fake(CLOSE, found(**job), clock, text("a"))
        status = self.shell(fake).status("put", "q", {**PUT, **(put or {})})
        self.assertEqual(fake.names()[:3], ["Q.PUT", "Q.GET", "TIME"])
        return status, len(fake.names()) - 3

    def test_a_job_that_was_there_before_is_not_taken_for_it(self):
        before = float(NOW - 60)
        for job in ({}, {"state": "complete", "queue": None, "attempts": 1}, {"klass": "other"},
                    {"state": "running", "attempts": 1}, {"state": "failed", "attempts": 3}):
            self.assertEqual(self.put_over(moved=before, **job), ("ok", 1), job)
        self.assertEqual(self.put_over({"priority": 7, "delay": 9}, moved=before), ("ok", 1))

    def test_one_that_is_in_line_as_it_was_put_was_heard(self):
        self.assertEqual(self.put_over(), ("ok", 0))
        self.assertEqual(self.put_over(state="depends"), ("ok", 0))
        self.assertEqual(self.put_over({"priority": 7, "retries": 2}, priority=7, retries=2),
                         ("ok", 0))
        self.assertEqual(self.put_over({"retries": -1}, retries=0), ("ok", 0))
        for put in ({"delay": 9.5}, {"at": NOW + 9.5}):
            self.assertEqual(self.put_over(put, state="scheduled", scheduled=NOW + 9.5), ("ok", 0))

    def test_one_that_is_due_by_now_was_heard_whenever_it_was_to_be(self):
        for put in ({"at": NOW - 9.5}, {"at": NOW}, {"delay": 0.25}):
            self.assertEqual(self.put_over(put, moved=NOW - 0.25), ("ok", 0), put)

    def test_one_that_was_popped_since_was_heard(self):
        # By as much as clocks may be off, and no more: later than that is later than now.
        self.assertEqual(self.put_over(state="running", attempts=1, moved=NOW + 1.0), ("ok", 0))

    def test_it_is_unknown_when_the_job_is_from_a_time_that_is_still_to_come(self):
        """The server's clock was set back, and it cannot be told what was before the call."""
        for job in ({}, {"state": "running", "attempts": 1}, {"state": "complete", "attempts": 1}):
            self.assertEqual(self.put_over(moved=NOW + 300.0, **job), ("unknown", 0), job)

    def test_it_is_unknown_when_the_job_shows_no_more_than_that_something_happened(self):
        """To put it again could take it from a worker, and to say that it is put could lose it."""
        for job in ({"state": "complete", "queue": None, "attempts": 1}, {"klass": "other"},
                    {"attempts": 1}, {"data": "[]"}, {"queue": "other"},
                    {"state": "scheduled", "scheduled": NOW + 9.0}):
            self.assertEqual(self.put_over(**job), ("unknown", 0), job)
        for put in ({"priority": 7}, {"retries": 2}, {"delay": 9}, {"at": NOW + 9}):
            self.assertEqual(self.put_over(put), ("unknown", 0), put)

    def test_it_is_unknown_when_it_was_popped_just_about_when_the_call_began(self):
        began = time.monotonic()

        def clock(_connection, _words):
            us = int((time.monotonic() - began) * 1e6)
            return encode([str(NOW + us // 1_000_000), str(us % 1_000_000)])
        self.assertEqual(self.put_over(clock=clock, state="running", attempts=1, moved=NOW + 0.9),
                         ("unknown", 0))

    def test_it_is_unknown_when_the_server_does_not_say_the_time(self):
        for answer in (b"-NOPERM you may not\r\n", encode([]), encode(["x", "y"]), encode(7)):
            fake = self.fake(CLOSE, found(), answer)
            self.assertEqual(self.shell(fake).status("put", "q", PUT), "unknown")

    def test_it_does_not_go_on_for_ever(self):
        fake = self.fake(otherwise=lambda _, words: MISSING if words[0] == "Q.GET"
                         else CLOSE(_, words))
        status = self.shell(fake, timeout=PATIENCE_S).status("put", "q", PUT)
        # When the time ends between two attempts it is known that the one before was not heard.
        self.assertIn(status, ("unknown", "unreachable"))
        self.assertGreater(len(fake.heard), 1)

    def test_it_is_unknown_when_it_cannot_be_looked_for(self):
        for step, timeout in ((b"-NOPERM you may not\r\n", LIMIT_S), (SILENT, PATIENCE_S)):
            fake = self.fake(CLOSE, step)
            self.assertEqual(self.shell(fake, timeout=timeout).status("put", "q", PUT), "unknown")

    def test_it_is_refused_without_a_doubt_when_it_could_not_be_sent(self):
        holder, port = free_port()
        with holder:
            shell = self.shell(url=f"sluice://127.0.0.1:{port}", timeout=0.2)
            self.assertEqual(shell.status("put", "q", PUT), "unreachable")

    def test_many_of_which_some_were_heard(self):
        fake = self.fake(CLOSE, found(), TIME, MISSING, text("b"), MISSING, b"-STATE no\r\n")
        answer = self.shell(fake).ask("put_many", "q", [PUT, {**PUT, "jid": "b"},
                                                        {**PUT, "jid": "c"}])
        self.assertEqual(answer["status"], "state")
        self.assertEqual(answer["results"], [["ok", "a", ""], ["ok", "b", ""],
                                             ["state", "c", "no"]])

    def test_many_ask_for_the_time_once(self):
        for clock, wanted in ((TIME, "ok"), (b"-NOPERM you may not\r\n", "unknown")):
            fake = self.fake(CLOSE, found(), clock, otherwise=found())
            answer = self.shell(fake).ask("put_many", "q", [PUT] * 20)
            self.assertEqual({result[0] for result in answer["results"]}, {wanted})
            self.assertEqual(fake.names(), ["Q.MPUT", "Q.GET", "TIME"] + ["Q.GET"] * 19)

    def test_many_end_in_time_when_the_server_is_gone(self):
        fake = self.fake(CLOSE, otherwise=SILENT)
        answer = self.shell(fake, timeout=PATIENCE_S).ask("put_many", "q", [PUT] * 1000)
        self.assertEqual(answer["status"], "unknown")
        self.assertEqual({result[0] for result in answer["results"]}, {"unknown"})

    def test_many_that_cannot_be_sent_say_so_each(self):
        holder, port = free_port()
        with holder:
            shell = self.shell(url=f"sluice://127.0.0.1:{port}", timeout=0.2)
            answer = shell.ask("put_many", "q", [PUT, PUT])
        self.assertEqual(answer["status"], "unreachable")
        self.assertEqual([result[0] for result in answer["results"]], ["unreachable"] * 2)
        self.assertTrue(all(result[2] for result in answer["results"]))

    def test_many_with_fewer_answers_than_jobs(self):
        fake = self.fake(encode(["a"]))
        answer = self.shell(fake).ask("put_many", "q", [PUT, PUT])
        self.assertEqual([result[0] for result in answer["results"]], ["ok", "unknown"])


def history(*entries):
    """The answer to Q.HISTORY: the worker for a pop, or else what happened."""
    return encode([{"what": "put", "worker": None}] +
                  [{"what": entry, "worker": None} if entry in ("put", "done", "failed", "retried",
                                                                "timed-out")
                   else {"what": "popped", "worker": entry} for entry in entries])


class Settling(Broken):
    def settle(self, *words, found_as, wanted, since=("me", "done")):
        shell, fake = self.taken(CLOSE, b"-STATE job a is not running\r\n", found_as,
                                 history(*since), worker="me")
        answer = shell.ask(*words)
        self.assertEqual(answer["status"], wanted)
        self.assertEqual(fake.names()[3], "Q.GET")
        self.assertEqual(fake.heard[1], fake.heard[2])
        self.assertEqual(shell.ok("show", "job")["lost"], "kept" if wanted == "ok" else "lost")
        return answer

    def test_done_was_heard(self):
        for since in (("me", "done"), ("other", "put", "me", "timed-out", "done")):
            self.settle("done", "job", "{}", wanted="ok", since=since,
                        found_as=found(state="complete", queue=None, attempts=1))

    def test_done_was_not(self):
        self.settle("done", "job", "{}", found_as=found(state="waiting"), wanted="state")
        self.settle("done", "job", "{}", found_as=MISSING, wanted="state")

    def test_another_has_done_it(self):
        """The lease was lost before, and the job is complete all the same."""
        for since, attempts in ((("me", "timed-out", "other", "done"), 2),
                                (("me", "timed-out", "me", "done"), 2),
                                (("me", "put", "other", "done"), 1)):
            self.settle("done", "job", "{}", wanted="state", since=since,
                        found_as=found(state="complete", queue=None, attempts=attempts))

    def test_with_a_history_that_says_nothing_of_pops_the_attempts_count(self):
        """It keeps the first entry and the last, or only the first."""
        for since in (("done",), ()):
            for attempts, wanted in ((1, "ok"), (2, "state")):
                self.settle("done", "job", "{}", wanted=wanted, since=since,
                            found_as=found(state="complete", queue=None, attempts=attempts))
        for since in (("put",), ()):
            self.settle("advance", "job", "next", None, 0, found_as=found(queue="next"),
                        wanted="ok", since=since)

    def test_failed_was_heard(self):
        self.settle("fail", "job", "group", "why", wanted="ok", since=("me", "failed"),
                    found_as=found(state="failed", attempts=1, failure={"worker": "me"}))

    def test_failed_was_not(self):
        self.settle("fail", "job", "group", "why", found_as=found(state="complete", attempts=1),
                    wanted="state")
        self.settle("fail", "job", "group", "why", wanted="state",
                    since=("me", "timed-out", "failed"),
                    found_as=found(state="failed", attempts=1, failure={"worker": None}))

    def test_retry_was_heard(self):
        answer = self.settle("retry", "job", 1, None, None, since=("me", "retried"), wanted="ok",
                             found_as=found(state="scheduled", remaining=3, attempts=1))
        self.assertEqual(answer["remaining"], 3)

    def test_retry_was_heard_and_was_the_last(self):
        answer = self.settle("retry", "job", 1, None, None, since=("me", "failed"), wanted="ok",
                             found_as=found(state="failed", remaining=-1, attempts=1))
        self.assertEqual(answer["remaining"], -1)

    def test_retry_was_not(self):
        self.settle("retry", "job", 1, None, None, wanted="state",
                    found_as=found(state="running", lease={"worker": "w"}, attempts=1))
        self.settle("retry", "job", 1, None, None, wanted="state", since=("me", "timed-out"),
                    found_as=found(state="stalled", attempts=1))

    def test_advance_was_heard(self):
        self.settle("advance", "job", "next", None, 0, found_as=found(queue="next"), wanted="ok",
                    since=("me", "done", "put"))

    def test_advance_was_not(self):
        self.settle("advance", "job", "next", None, 0, found_as=found(queue="q"), wanted="state")
        for since in (("me", "timed-out", "other", "done", "put"), ("me", "put")):
            self.settle("advance", "job", "next", None, 0, found_as=found(queue="next"),
                        wanted="state", since=since)

    def test_a_refusal_at_the_first_time_is_one(self):
        shell, fake = self.taken(b"-STALE not yours\r\n", b"-NOT_FOUND job a does not exist\r\n")
        self.assertEqual(shell.status("done", "job", None), "stale")
        self.assertEqual(shell.ok("show", "job")["lost"], "lost")
        self.assertEqual(shell.status("heartbeat", "job"), "not_found")
        self.assertEqual(fake.names(), ["Q.POP", "Q.COMPLETE", "Q.HEARTBEAT"])


class Reaching(Broken):
    def test_a_server_that_comes_later_is_found(self):
        for words in (("get", "q", "a"), ("next", "q", "q", 0.001, "job"), ("listen", "q", "log", "e")):
            with self.subTest(words=words):
                holder, port = free_port()
                shell = Shell()
                with holder, shell:
                    shell.open("q", f"sluice://127.0.0.1:{port}", timeout=LIMIT_S)
                    call = shell.begin(*words)
                    if words[0] != "listen":
                        shell.log.get(timeout=LIMIT_S)
                    with Fake(otherwise=TAKEN, port=port):
                        self.assertEqual(call.result(LIMIT_S)["status"], "ok")
                        if words[0] != "get":
                            shell.ok("free" if words[0] == "next" else "unlisten", words[-1])
                    shell.ok("close", "q")

    def test_one_that_never_comes_is_given_up(self):
        holder, port = free_port()
        with holder:
            shell = self.shell(url=f"sluice://127.0.0.1:{port}", timeout=PATIENCE_S)
            calls = [(words, shell.begin(*words)) for words in (
                ("get", "q", "a"), ("cancel", "q", "a"), ("wait", "q", "a", 0.01),
                ("next", "q", "q", 0, "job"), ("next", "q", "q", 0.01, "job"),
                ("call", "q", ["Q.POP", "w", "1", "q"]), ("call", "q", ["PING"]),
                ("listen", "q", "log", "e"))]
            for words, call in calls:
                answer = call.result(LIMIT_S)
                self.assertEqual(answer["status"], "unreachable", words)
                self.assertIn(f"127.0.0.1:{port} cannot be reached", answer["message"])

    def test_a_name_that_nobody_has(self):
        shell = self.shell(url="sluice://nobody.invalid", timeout=0.1)
        answer = shell.ask("get", "q", "a")
        self.assertEqual(answer["status"], "unreachable")
        self.assertIn("nobody.invalid", answer["message"])

    def test_a_server_that_says_nothing(self):
        shell = self.shell(self.fake(otherwise=SILENT), timeout=PATIENCE_S)
        calls = [(wanted, shell.begin(*words)) for wanted, words in (
            ("unreachable", ("get", "q", "a")), ("unknown", ("cancel", "q", "a")),
            ("unknown", ("next", "q", "q", 0.01, "job")))]
        for wanted, call in calls:
            self.assertEqual(call.result(LIMIT_S)["status"], wanted)

    def test_a_server_that_does_not_even_greet(self):
        shell = self.shell(self.fake(hello=SILENT), timeout=1)
        for words in (("get", "q", "a"), ("cancel", "q", "a"), ("next", "q", "q", 0, "job")):
            answer = shell.ask(*words)
            self.assertEqual(answer["status"], "unreachable")
            self.assertIn("does not answer", answer["message"])

    def test_a_stranger_is_sent_away_at_once(self):
        for refusal in (b"-NOAUTH Authentication required.\r\n", b"-WRONGPASS no\r\n",
                        b"-NOPERM no\r\n"):
            fake = self.fake(hello=refusal)
            shell = self.shell(fake)
            for words in (("get", "q", "a"), ("next", "q", "q", FOREVER, "job"),
                          ("listen", "q", "log", "e")):
                self.assertEqual(shell.status(*words), "denied")
            self.assertEqual(len(fake.hellos), 3)

    def test_a_server_that_is_full_or_loading_is_tried_again(self):
        for refusal in (b"-ERR max number of clients reached\r\n", b"-LOADING wait\r\n"):
            refusals = [refusal] * 3
            fake = self.fake(found(), hello=lambda *_: refusals.pop() if refusals else GREETING)
            self.shell(fake).ok("get", "q", "a")
            fake = self.fake(hello=refusal)
            self.assertEqual(self.shell(fake, timeout=PATIENCE_S).status("get", "q", "a"), "busy")

    def test_who_we_are_is_said(self):
        fake = self.fake(otherwise=found())
        at = fake.url.removeprefix("sluice://")
        for user, words in (("", []), ("ann:p%40s@", ["AUTH", "ann", "p@s"]),
                            (":secret@", ["AUTH", "default", "secret"]),
                            ("ann@", ["AUTH", "ann", ""])):
            self.shell(url=f"redis://{user}{at}").ok("get", "q", "a")
            self.assertEqual(fake.hellos[-1], ["HELLO", "3", *words])


class Answers(Broken):
    def test_byte_by_byte(self):
        shell = self.shell(self.fake(byte_by_byte(found()), hello=byte_by_byte(GREETING)))
        self.assertEqual(shell.ok("get", "q", "a")["value"]["klass"], "k")

    def test_large_ones(self):
        data = "[" + ",".join(["1234567890"] * 200_000) + "]"
        shell = self.shell(self.fake(found(data=data)))
        self.assertEqual(len(shell.ok("get", "q", "a")["value"]["data"]), 200_000)

    def test_what_is_no_resp(self):
        garbage = b"HTTP/1.1 400 Bad Request\r\n\r\n"
        fake = self.fake(otherwise=garbage)
        self.assertEqual(self.shell(fake, timeout=1).status("get", "q", "a"), "unreachable")
        self.assertEqual(self.shell(fake).status("cancel", "q", "a"), "unknown")
        shell = self.shell(self.fake(hello=garbage), timeout=PATIENCE_S)
        answer = shell.ask("get", "q", "a")
        self.assertEqual(answer["status"], "unreachable")
        self.assertIn("no RESP", answer["message"])

    def test_sizes_that_cannot_be(self):
        for size in (b"$536870913\r\n", b"*268435457\r\n", b"$-5\r\n", b"%99999999999999999999\r\n"):
            fake = self.fake(size, found())
            self.shell(fake).ok("get", "q", "a")
            self.assertEqual(len(fake.heard), 2)

    def test_sizes_that_are_only_said(self):
        for size in (b"$536870912\r\nabc", b"*268435456\r\n:1\r\n"):
            fake = self.fake(then_close(size), found())
            self.shell(fake).ok("get", "q", "a")

    def test_too_deep_or_of_another_kind(self):
        for answer in (b"*1\r\n" * 40 + b":1\r\n", b"%1\r\n:1\r\n:1\r\n", b",x\r\n"):
            shell = self.shell(self.fake(answer))
            self.assertEqual(shell.status("call", "q", ["Q.QUEUES"]), "invalid")

    def test_more_jobs_than_were_asked_for(self):
        shell = self.shell(self.fake(encode([JOB] * 5), encode([JOB] * 5)))
        self.assertEqual(shell.status("next", "q", "q", 0, "job"), "invalid")
        self.assertEqual(shell.ask("take", "q", {"queues": ["q"], "count": 3}, "job-")["taken"], 0)

    def test_what_is_no_job(self):
        for answer in ([1], ["a"], [None], [{}], [{"jid": 7}], [{"jid": "a"}], 7, "a", {"a": 1}, True):
            shell = self.shell(self.fake(encode(answer)))
            self.assertEqual(shell.status("next", "q", "q", 0, "job"), "invalid", answer)

    def test_what_is_no_answer_to_the_question(self):
        for answer in (7, "a", [7], {"a": 1}, [[1]], None, []):
            shell = self.shell(self.fake(encode(answer), encode(answer)))
            self.assertIn(shell.status("get", "q", "a"), ("not_found", "invalid"))
            self.assertIn(shell.status("put", "q", PUT), ("ok", "invalid"))

    def test_a_jid_longer_than_can_be(self):
        shell = self.shell(self.fake(text("x" * 1000)))
        self.assertEqual(shell.status("put", "q", PUT), "invalid")


class Waiting(Broken):
    def test_what_is_said_of_the_time(self):
        fake = self.fake(otherwise=NOTHING)
        shell = self.shell(fake, worker="w")
        for wait, words in ((0, []), (0.0000001, []), (-0.0000001, []), (-0.5, []), (-2, []),
                            (FOREVER, ["WAIT", "0"])):
            self.assertEqual(shell.status("next", "q", "q", wait, "job"), "timed_out")
            self.assertEqual(fake.heard[-1], ["Q.POP", "default", "w", "1", *words, "--", "q"])
        for wait in (20.25, 100.5, 8e12):
            shell.ask("next", "q", "q", wait, "job")
            said = float(fake.heard[-1][fake.heard[-1].index("WAIT") + 1])
            self.assertTrue(0 < said <= wait)
        shell.ask("take", "q", {"queues": ["q", "r"], "count": 9, "round_robin": True,
                                "worker": "other"}, "job-")
        self.assertEqual(fake.heard[-1], ["Q.POP", "default", "other", "9", "ORDER", "round-robin",
                                          "--", "q", "r"])

    def test_what_is_left_of_the_time_is_said_when_it_is_asked_again(self):
        fake = self.fake(CLOSE, CLOSE, TAKEN)
        shell = self.shell(fake)
        shell.ok("next", "q", "q", 100, "job")
        shell.ok("free", "job")
        times = [float(words[words.index("WAIT") + 1]) for words in fake.heard]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertTrue(0 < times[-1] < times[0] <= 100)

    def test_a_time_that_is_over_is_still_asked_for_what_is_there(self):
        fake = self.fake(CLOSE, CLOSE, TAKEN)
        shell = self.shell(fake)
        shell.ok("next", "q", "q", 0.000001, "job")
        shell.ok("free", "job")

    def test_waiting_for_a_job(self):
        fake = self.fake(encode(None), encode({"state": "complete", "result": "7"}))
        shell = self.shell(fake)
        self.assertEqual(shell.status("wait", "q", "a", 0), "timed_out")
        self.assertEqual(shell.ok("wait", "q", "a", FOREVER)["value"],
                         {"state": "complete", "result": 7})
        self.assertEqual(fake.heard[1], ["Q.WAIT", "default", "a", "TIMEOUT", "0"])

    def test_times_that_no_clock_has(self):
        shell = self.shell(self.fake(otherwise=NOTHING), timeout=8e12)
        self.assertEqual(shell.status("next", "q", "q", 8e12, "job"), "timed_out")


class Interrupting(Broken):
    def waiting(self, fake, *words, **options):
        shell = self.shell(fake, **options)
        call = shell.begin(*(words or ("next", "q", "q", FOREVER, "job")))
        fake.calls.get(timeout=LIMIT_S)
        return shell, call

    def test_a_wait_ends(self):
        for words in ((), ("next", "q", "q", 50, "job"), ("wait", "q", "a", FOREVER),
                      ("call", "q", ["Q.POP", "w", "1", "WAIT", "0", "q"])):
            shell, call = self.waiting(self.fake(SILENT), *words)
            shell.ok("interrupt", "q", True)
            self.assertEqual(call.result(LIMIT_S)["status"], "interrupted")

    def test_from_a_signal_handler(self):
        shell, call = self.waiting(self.fake(SILENT))
        shell.signal()
        shell.ok("version")  # a sanitizer may keep the signal until its thread goes on
        self.assertEqual(call.result(LIMIT_S)["status"], "interrupted")

    def test_a_job_that_was_on_its_way_is_not_lost(self):
        def late(connection, _words):
            connection.recv(1)  # the other side says that it will ask no more
            connection.sendall(TAKEN)
            raise ConnectionError
        shell, call = self.waiting(self.fake(late))
        shell.ok("interrupt", "q", True)
        self.assertEqual(call.result(LIMIT_S), {"status": "ok", "jobs": ["a"]})
        shell.ok("free", "job")

    def test_it_holds_until_it_is_off_again(self):
        fake = self.fake(TAKEN)
        shell = self.shell(fake)
        shell.ok("interrupt", "q", True)
        shell.ok("interrupt", "q", True)
        for _ in range(3):
            self.assertEqual(shell.status("next", "q", "q", FOREVER, "job"), "interrupted")
            self.assertEqual(shell.status("wait", "q", "a", 1), "interrupted")
        self.assertEqual(fake.heard, [])
        shell.ok("interrupt", "q", False)
        shell.ok("next", "q", "q", FOREVER, "job")
        shell.ok("free", "job")

    def test_calls_that_do_not_wait_go_on(self):
        shell = self.shell(self.fake(found(), CLOSE, found(), TAKEN))
        shell.ok("interrupt", "q", True)
        shell.ok("get", "q", "a")
        shell.ok("get", "q", "a")
        shell.ok("next", "q", "q", 0, "job")
        shell.ok("free", "job")

    def test_all_that_wait_end(self):
        fake = self.fake(otherwise=SILENT)
        shell = self.shell(fake)
        calls = [shell.begin("next", "q", "q", FOREVER, f"job-{i}") for i in range(20)]
        for _ in calls:
            fake.calls.get(timeout=LIMIT_S)
        shell.ok("interrupt", "q", True)
        self.assertEqual({call.result(LIMIT_S)["status"] for call in calls}, {"interrupted"})

    def test_while_there_is_no_server(self):
        holder, port = free_port()
        with holder:
            shell = self.shell(url=f"sluice://127.0.0.1:{port}", timeout=FOREVER)
            call = shell.begin("next", "q", "q", FOREVER, "job")
            shell.log.get(timeout=LIMIT_S)
            shell.ok("interrupt", "q", True)
            self.assertEqual(call.result(LIMIT_S)["status"], "interrupted")

    def test_while_a_server_does_not_greet(self):
        fake = self.fake(hello=SILENT)
        shell = self.shell(fake)
        call = shell.begin("next", "q", "q", FOREVER, "job")
        fake.greeted.get(timeout=LIMIT_S)
        shell.ok("interrupt", "q", True)
        self.assertEqual(call.result(LIMIT_S)["status"], "interrupted")

    def test_events(self):
        fake = self.fake(b">3\r\n+subscribe\r\n+x\r\n:1\r\n")
        shell = self.shell(fake)
        shell.ok("listen", "q", "log", "events")
        call = shell.begin("event", "events", FOREVER)
        shell.ok("interrupt", "q", True)
        self.assertEqual(call.result(LIMIT_S)["status"], "interrupted")
        shell.ok("unlisten", "events")


class Events(Broken):
    BEGUN = b">3\r\n+subscribe\r\n+x\r\n:1\r\n"

    @staticmethod
    def message(body):
        return b">" + encode(["message", "x", body])[1:]

    def test_they_come_in_their_order(self):
        fake = self.fake(self.BEGUN + self.message('{"event":"put"}') + encode(["odd"]) +
                         self.message('{"event":"popped"}'))
        shell = self.shell(fake, ns="app")
        shell.ok("listen", "q", "worker:w", "events")
        self.assertEqual(fake.heard, [["SUBSCRIBE", "sluice:app:worker:w"]])
        self.assertEqual(shell.ok("event", "events", 9)["event"], {"event": "put"})
        self.assertEqual(shell.ok("event", "events", 9)["event"], {"event": "popped"})
        answer = shell.ask("event", "events", 0)
        self.assertEqual((answer["status"], answer["event"]), ("timed_out", None))
        shell.ok("unlisten", "events")

    def test_a_gap_when_the_connection_was_lost(self):
        fake = self.fake(then_close(self.BEGUN), CLOSE, CLOSE, self.BEGUN +
                         self.message('{"event":"put"}'))
        shell = self.shell(fake)
        shell.ok("listen", "q", "log", "events")
        self.assertEqual(shell.ok("event", "events", LIMIT_S)["event"], {"event": "gap"})
        self.assertEqual(shell.ok("event", "events", LIMIT_S)["event"], {"event": "put"})
        shell.ok("unlisten", "events")

    def test_polling_finds_the_server_again(self):
        fake = self.fake(then_close(self.BEGUN), self.BEGUN)
        shell = self.shell(fake)
        shell.ok("listen", "q", "log", "events")
        answer = shell.ask("event", "events", 0)
        limit = time.monotonic() + LIMIT_S
        while answer["status"] != "ok":
            self.assertLess(time.monotonic(), limit)
            self.assertIn(answer["status"], ("timed_out", "unreachable"))
            self.assertIsNone(answer["event"])
            answer = shell.ask("event", "events", 0)
        self.assertEqual(answer["event"], {"event": "gap"})
        shell.ok("unlisten", "events")

    def test_what_is_refused(self):
        shell = self.shell(self.fake(b"-NOPERM no\r\n"))
        self.assertEqual(shell.status("listen", "q", "log", "events"), "denied")
        for channel in ("", "all", "worker:", "worker:" + "x" * 300):
            self.assertEqual(shell.status("listen", "q", channel, "events"), "invalid")


class Keeping(Broken):
    def keeper(self, **answers):
        """Holds the job `a`, which the keeper keeps; the server has these answers to commands."""
        def answer(connection, words):
            step = answers[words[0].replace(".", "_")]
            return step(connection, words) if callable(step) else step
        fake = self.fake(TAKEN, otherwise=answer)
        shell = Shell()
        self.addCleanup(shell.__exit__, None)
        shell.open("q", fake.url, timeout=LIMIT_S)
        shell.ok("next", "q", "q", 0, "job")
        shell.ok("keepalive", "job")
        return shell, fake

    @staticmethod
    def end(shell):
        shell.ok("free", "job")
        shell.ok("close", "q")

    @staticmethod
    def wait_for(fake, name):
        while fake.calls.get(timeout=LIMIT_S)[0] != name:
            pass

    def test_a_server_that_is_years_ahead_and_cannot_be_listened_to(self):
        """By the clock of this machine the lease that each heartbeat gets would last for years."""
        began = time.monotonic()

        def expires(_connection, _words):
            return encode([NOW + time.monotonic() - began + 3])
        shell, fake = self.keeper(SUBSCRIBE=b"-NOPERM no\r\n", TIME=TIME, Q_MHEARTBEAT=expires)
        for _ in range(3):
            self.wait_for(fake, "Q.MHEARTBEAT")
        self.end(shell)

    def test_a_queue_is_closed_though_the_server_has_fallen_silent(self):
        """That the heartbeat under way ends at once is for the test of the link."""
        for hang in (SILENT, CLOSE):
            shell, fake = self.keeper(SUBSCRIBE=Events.BEGUN, TIME=TIME, Q_MHEARTBEAT=hang)
            self.wait_for(fake, "Q.MHEARTBEAT")
            self.end(shell)
            fake.wait_until_alone()


class Crowd(Broken):
    def test_threads_get_their_own_answers(self):
        """Each call gets what it asked for, though connections break under it all the time."""
        chance = random.Random(1)

        def answer(connection, words):
            if chance.random() < 0.1:
                CLOSE(connection, words)
            return encode([{"jid": words[2]}])
        shell = self.shell(self.fake(otherwise=answer))
        calls = {f"job-{i}": shell.begin("get", "q", f"job-{i}") for i in range(200)}
        for jid, call in calls.items():
            self.assertEqual(call.result(LIMIT_S), {"status": "ok", "value": {"jid": jid}})


if __name__ == "__main__":
    sluiced.main()
