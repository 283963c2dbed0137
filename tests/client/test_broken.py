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

    def test_heartbeats_and_notes_are_asked_again(self):
        shell, fake = self.taken(CLOSE, encode(5e9), CLOSE, encode("OK"), CLOSE, encode("OK"),
                                 CLOSE, encode("OK"), CLOSE, encode("OK"))
        self.assertEqual(shell.ok("heartbeat", "job")["expires"], 5e9)
        shell.ok("start", "job", 17)
        shell.ok("progress", "job", 0.5, "half")
        shell.ok("checkpoint", "job", "{}")
        shell.ok("log", "job", "line")
        self.assertEqual(fake.heard[1], ["Q.HEARTBEAT", "default", "a", fake.heard[0][2], "TOKEN",
                                         "7"])
        self.assertEqual(len(fake.heard), 11)
        self.assertEqual(fake.heard[10], fake.heard[9])
        self.assertIn("REQUEST", fake.heard[10])


def words_of_request(words):
    """The id of a request."""
    return words[words.index("REQUEST") + 1]


class Putting(Broken):
    def test_one_whose_answer_was_lost_is_asked_again_with_the_same_words(self):
        for put in (PUT, NAMELESS):
            fake = self.fake(CLOSE, then_close(b"$1\r\n"), text("b"))
            self.assertEqual(self.shell(fake).ok("put", "q", put)["jid"], "b")
            self.assertEqual(fake.names(), ["Q.PUT"] * 3)
            self.assertEqual(fake.heard[0], fake.heard[1])
            self.assertEqual(fake.heard[0], fake.heard[2])
            self.assertEqual(len(words_of_request(fake.heard[0])), 24)

    def test_each_has_an_id_of_its_own(self):
        fake = self.fake(otherwise=text("a"))
        shell = self.shell(fake)
        for _ in range(10):
            shell.ok("put", "q", PUT)
        self.assertEqual(len({words_of_request(words) for words in fake.heard}), 10)

    def test_it_does_not_go_on_for_ever(self):
        fake = self.fake(otherwise=CLOSE)
        status = self.shell(fake, timeout=PATIENCE_S).status("put", "q", PUT)
        self.assertEqual(status, "unknown")
        self.assertGreater(len(fake.heard), 1)

    def test_it_is_unknown_when_the_server_says_nothing(self):
        fake = self.fake(CLOSE, SILENT)
        self.assertEqual(self.shell(fake, timeout=PATIENCE_S).status("put", "q", PUT), "unknown")

    def test_it_is_refused_without_a_doubt_when_it_could_not_be_sent(self):
        holder, port = free_port()
        with holder:
            shell = self.shell(url=f"sluice://127.0.0.1:{port}", timeout=0.2)
            self.assertEqual(shell.status("put", "q", PUT), "unreachable")

    def test_many_are_asked_again_each_with_its_id(self):
        fake = self.fake(CLOSE, b"*3\r\n$1\r\na\r\n-STATE no\r\n$1\r\nc\r\n")
        answer = self.shell(fake).ask("put_many", "q", [PUT, {**PUT, "jid": "b"},
                                                        {**PUT, "jid": "c"}])
        self.assertEqual(answer["status"], "state")
        self.assertEqual(answer["results"], [["ok", "a", ""], ["state", "b", "no"],
                                             ["ok", "c", ""]])
        self.assertEqual(fake.names(), ["Q.MPUT"] * 2)
        self.assertEqual(fake.heard[0], fake.heard[1])
        ids = [fake.heard[0][i + 1] for i, word in enumerate(fake.heard[0]) if word == "REQUEST"]
        self.assertEqual(len(set(ids)), 3)

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


class AnyCommand(Broken):
    def asked_again(self, *words):
        """The words that were sent twice."""
        fake = self.fake(CLOSE, encode("OK"))
        self.assertEqual(self.shell(fake).status("call", "q", list(words)), "ok", words)
        self.assertEqual(fake.heard[0], fake.heard[1])
        return fake.heard[0]

    def test_what_takes_the_id_of_a_request_is_given_one(self):
        for words, places in ((["Q.PUT", "q", "k", "{}"], 5),
                              (["Q.PUT", "q", "k", "{}", "JID", "a", "TAG", "REQUEST"], 5),
                              (["Q.REQUEUE", "a", "q", "k", "{}"], 6),
                              (["q.recur", "r", "q", "k", "{}", "INTERVAL", "60"], 6),
                              (["Q.CANCEL", "a", "b"], 2), (["Q.CANCEL", "DEPENDENTS", "a"], 2),
                              (["Q.LOG", "a", "w", "line", "TOKEN", "1"], 5),
                              (["Q.RESTORE", "{}", "{}"], 2)):
            sent = self.asked_again(*words)
            self.assertEqual(sent[places], "REQUEST", sent)
            self.assertEqual(sent[:1] + sent[2:places] + sent[places + 2:], words)

    def test_an_id_that_is_given_stays(self):
        self.assertEqual(self.asked_again("Q.PUT", "q", "k", "{}", "TAG", "x", "request", "mine"),
                         ["Q.PUT", "default", "q", "k", "{}", "TAG", "x", "request", "mine"])

    def test_each_of_many_is_given_one(self):
        sent = self.asked_again("Q.MPUT", "3", "q", "k", "1", "5", "q", "k", "2", "JID", "b")
        self.assertEqual(sent[:7], ["Q.MPUT", "default", "5", "q", "k", "1", "REQUEST"])
        self.assertEqual(sent[8:13], ["7", "q", "k", "2", "REQUEST"])
        self.assertEqual(sent[14:], ["JID", "b"])

    def test_what_settles_under_a_token_is_asked_again_as_it_is(self):
        for words in (["Q.COMPLETE", "a", "w", "TOKEN", "1"], ["Q.RETURN", "a", "w", "TOKEN", "1"],
                      ["Q.FAIL", "a", "w", "g", "m", "token", "1"],
                      ["Q.RETRY", "a", "w", "DELAY", "1", "TOKEN", "1"],
                      ["Q.MCOMPLETE", "4", "a", "w", "TOKEN", "1", "4", "b", "w", "TOKEN", "2"]):
            self.assertEqual(self.asked_again(*words), [words[0], "default", *words[1:]])

    def test_all_else_that_writes_is_asked_once(self):
        for words in (["Q.COMPLETE", "a", "w"], ["Q.FAIL", "a", "w", "TOKEN", "m"],
                      ["Q.MCOMPLETE", "4", "a", "w", "TOKEN", "1", "2", "b", "w"],
                      ["Q.MPUT", "9", "q", "k"], ["Q.PUT", "q", "k"], ["Q.DELETE", "a"],
                      ["Q.LOG", "a", "w"]):
            fake = self.fake(CLOSE, encode("OK"))
            self.assertEqual(self.shell(fake).status("call", "q", words), "unknown", words)
            self.assertEqual(len(fake.heard), 1)


class Settling(Broken):
    def test_each_way_is_asked_again_with_the_token(self):
        for words, step in ((("done", "job", "{}"), text("complete")),
                            (("advance", "job", "next", None, 0), text("waiting")),
                            (("fail", "job", "group", "why"), b"+OK\r\n"),
                            (("retry", "job", 1, None, None), b":3\r\n"),
                            (("return", "job"), b"+OK\r\n")):
            shell, fake = self.taken(CLOSE, then_close(step[:-1]), step, worker="me")
            answer = shell.ask(*words)
            self.assertEqual(answer["status"], "ok", words)
            self.assertEqual(answer.get("remaining"), 3 if words[0] == "retry" else None)
            self.assertEqual(fake.heard[1], fake.heard[2])
            self.assertEqual(fake.heard[1], fake.heard[3])
            self.assertEqual(fake.heard[1][fake.heard[1].index("TOKEN") + 1], "7")
            self.assertEqual(shell.ok("show", "job")["lost"], "kept")

    def test_a_refusal_is_one_also_when_it_was_asked_again(self):
        for refusal, status, lost in ((b"-STALE not yours\r\n", "stale", "lost"),
                                      (b"-NOT_FOUND gone\r\n", "not_found", "canceled")):
            shell, fake = self.taken(CLOSE, refusal)
            self.assertEqual(shell.status("done", "job", None), status)
            self.assertEqual(shell.ok("show", "job")["lost"], lost)
            self.assertEqual(fake.names(), ["Q.POP", "Q.COMPLETE", "Q.COMPLETE"])

    def test_it_is_unknown_when_the_server_stays_away(self):
        shell, _ = self.taken(CLOSE, SILENT, timeout=PATIENCE_S)
        self.assertEqual(shell.status("done", "job", None), "unknown")

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
            self.shell(url=f"redis://{user}{at}", worker="mailer").ok("get", "q", "a")
            self.assertEqual(fake.hellos[-1], ["HELLO", "3", *words, "SETNAME", "mailer"])


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
        self.assertIn("does not speak RESP", answer["message"])

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
