#!/usr/bin/python3
"""Messages: subscriptions in both versions of the protocol, what the engines tell, and the scripts
of qless, whose messages are its own."""

import hashlib
import json

import sluiced

# As little as makes a script one of qless's.
LIBRARY = ("local Qless = {ns = 'ql:'} Qless.config = {} local QlessQueue = {} "
           "local QlessWorker = {} local QlessJob = {} local QlessRecurringJob = {} ")
QLESS = LIBRARY + "local QlessAPI = {} return QlessAPI[ARGV[1]]"
SHA = hashlib.sha1(QLESS.encode()).hexdigest()


class Subscriptions(sluiced.TestCase):
    def test_resp2_has_arrays(self):
        c, d = self.client(), self.client()
        c.expect("SUBSCRIBE a b", '["subscribe", "a", :1]', '["subscribe", "b", :2]')
        c.expect("SUBSCRIBE a", '["subscribe", "a", :2]')
        c.expect("PSUBSCRIBE a*", '["psubscribe", "a*", :3]')
        d.expect("PUBLISH a hello", ":2")
        c.hear('["message", "a", "hello"]')
        c.hear('["pmessage", "a*", "a", "hello"]')
        d.expect("PUBLISH nobody hello", ":0")
        c.expect("UNSUBSCRIBE a nothing", '["unsubscribe", "a", :2]',
                 '["unsubscribe", "nothing", :2]')
        c.expect("UNSUBSCRIBE", '["unsubscribe", "b", :1]')
        c.expect("UNSUBSCRIBE", '["unsubscribe", nil, :1]')
        c.expect("PUNSUBSCRIBE", '["punsubscribe", "a*", :0]')
        c.expect("PUNSUBSCRIBE", '["punsubscribe", nil, :0]')
        c.expect("PING", "+PONG")
        d.expect("PUBLISH a hello", ":0")

    def test_resp3_has_pushes(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE a b", '>["subscribe", "a", :1]', '>["subscribe", "b", :2]')
        c.expect("PSUBSCRIBE ?", '>["psubscribe", "?", :3]')
        d.expect("PUBLISH a hello", ":2")
        c.hear('>["message", "a", "hello"]')
        c.hear('>["pmessage", "?", "a", "hello"]')
        c.expect("PUNSUBSCRIBE ?", '>["punsubscribe", "?", :2]')
        c.expect("PUNSUBSCRIBE", '>["punsubscribe", _, :2]')
        c.expect("Q.PUT app mail Send {} JID bob", '"bob"')

    def test_a_subscriber_of_resp2_may_do_little_else(self):
        c = self.client()
        c.expect("SUBSCRIBE a", '["subscribe", "a", :1]')
        c.expect("PING", '["pong", ""]')
        c.expect("PING hello", '["pong", "hello"]')
        c.expect("ECHO x", "-ERR Can't execute 'ECHO': only (P)SUBSCRIBE / ...")
        c.expect("Q.GET app bob", "-ERR Can't execute 'Q.GET': ...")
        c.expect("UNSUBSCRIBE a", '["unsubscribe", "a", :0]')
        c.expect("ECHO x", '"x"')
        c.expect("SUBSCRIBE a", '["subscribe", "a", :1]')
        c.expect("RESET", "+RESET")
        c.expect("ECHO x", '"x"')
        c.expect("SUBSCRIBE a", '["subscribe", "a", :1]')
        c.expect("QUIT", "+OK")
        c.hear(None)

    def test_who_publishes_and_listens_hears_himself_behind_the_answer(self):
        c = self.client(3)
        c.expect("SUBSCRIBE a", '>["subscribe", "a", :1]')
        c.expect("PUBLISH a hello", ":1", '>["message", "a", "hello"]')

    def test_pubsub(self):
        c, d, e = self.client(3), self.client(), self.client()
        c.expect("SUBSCRIBE q:1 q:2", '>["subscribe", "q:1", :1]', '>["subscribe", "q:2", :2]')
        c.expect("PSUBSCRIBE q:*", '>["psubscribe", "q:*", :3]')
        d.expect("SUBSCRIBE q:1", '["subscribe", "q:1", :1]')
        self.assertEqual({'"q:1"', '"q:2"'}, set(e.ask("PUBSUB CHANNELS q:*")[1:-1].split(", ")))
        e.expect("PUBSUB CHANNELS nothing", "[]")
        e.expect("PUBSUB NUMSUB q:1 q:2 q:3", '["q:1", :2, "q:2", :1, "q:3", :0]')
        e.expect("PUBSUB NUMSUB", "[]")
        c.expect("PUBSUB NUMSUB q:1", '{"q:1": :2}')
        e.expect("PUBSUB NUMPAT", ":1")
        e.expect("PUBSUB NONSENSE", "-ERR unknown subcommand 'NONSENSE'. Try PUBSUB HELP.")
        self.assertIn(" sub=2 psub=1 ", c.ask("CLIENT INFO"))

    def test_a_connection_that_ends_listens_no_more(self):
        c, d = self.client(), self.client()
        c.expect("SUBSCRIBE gone", '["subscribe", "gone", :1]')
        c.close()
        sluiced.until(lambda: d.ask("PUBSUB NUMSUB gone") == '["gone", :0]')
        d.expect("PUBLISH gone hello", ":0")

    def test_bytes_are_bytes(self):
        c, d = self.client(), self.client()
        c.expect(("SUBSCRIBE", b"a\r\n\0"), '["subscribe", "a\r\n\0", :1]')
        d.expect(("PUBLISH", b"a\r\n\0", b"\0\r\n"), ":1")
        c.hear('["message", "a\r\n\0", "\0\r\n"]')

    def test_many_subscriptions(self):
        c, d = self.client(), self.client()
        names = [f"many:{i}" for i in range(2000)]
        c.send("SUBSCRIBE", *names)
        for i, name in enumerate(names):
            c.hear(f'["subscribe", "{name}", :{i + 1}]')
        d.expect("PUBLISH many:1234 hello", ":1")
        c.hear('["message", "many:1234", "hello"]')
        c.send("UNSUBSCRIBE")
        left = {c.read() for _ in names}
        self.assertEqual(2000, len(left))
        d.expect("PUBLISH many:1234 hello", ":0")

    def test_names_and_patterns_have_a_limit(self):
        c, d = self.client(3), self.client()
        most, more = "x" * 1024, "x" * 1025
        c.expect(f"SUBSCRIBE {most}", f'>["subscribe", "{most}", :1]')
        d.expect(f"PUBLISH {most} hello", ":1")
        for request in (f"SUBSCRIBE a {more}", f"PSUBSCRIBE a {more}", f"PUBLISH {more} hello",
                        f"PUBSUB CHANNELS {more}", f"KEYS {more}", f"CONFIG GET * {more}",
                        f"COMMAND LIST FILTERBY PATTERN {more}"):
            what = "channel" if request.startswith(("SUBSCRIBE", "PUBLISH")) else "pattern"
            d.expect(request, f"-TOO_LARGE {what} of 1025 bytes is too long: at most 1024 are allowed")
        d.expect("PUBSUB NUMSUB a", '["a", :0]')

    def test_patterns_of_a_connection_have_a_limit(self):
        c = self.client(3)
        c.send("PSUBSCRIBE", *[f"p{i}" for i in range(101)])
        for i in range(100):
            c.hear(f'>["psubscribe", "p{i}", :{i + 1}]')
        c.hear("-ERR too many subscriptions: the setting max-patterns allows 100")
        c.expect("SUBSCRIBE a", '>["subscribe", "a", :101]')

    def test_subscriptions_have_a_limit_for_each_connection_and_for_all(self):
        with sluiced.Server("--max-subscriptions", "3", "--max-patterns-total", "2") as server:
            with sluiced.Client(server) as c, sluiced.Client(server) as d:
                c.expect("PSUBSCRIBE a*", '["psubscribe", "a*", :1]')
                d.expect("PSUBSCRIBE a*", '["psubscribe", "a*", :1]')
                d.expect("PSUBSCRIBE b*",
                         "-ERR too many subscriptions: the setting max-patterns-total allows 2")
                d.expect("PSUBSCRIBE a*", '["psubscribe", "a*", :1]')  # it is there already
                d.expect("SUBSCRIBE b", '["subscribe", "b", :2]')
                d.expect("SUBSCRIBE c", '["subscribe", "c", :3]')
                d.expect("SUBSCRIBE d",
                         "-ERR too many subscriptions: the setting max-subscriptions allows 3")
                c.expect("PUNSUBSCRIBE a*", '["punsubscribe", "a*", :0]')
                d.expect("UNSUBSCRIBE c", '["unsubscribe", "c", :2]')
                d.expect("PSUBSCRIBE b*", '["psubscribe", "b*", :3]')

    def test_a_route_follows_subscriptions_that_come_and_go(self):
        c, d, e = self.client(3), self.client(3), self.client()
        c.expect("PSUBSCRIBE n*", '>["psubscribe", "n*", :1]')
        e.expect("PUBLISH news 1", ":1")
        c.hear('>["pmessage", "n*", "news", "1"]')
        d.expect("PSUBSCRIBE n*", '>["psubscribe", "n*", :1]')
        e.expect("PUBLISH news 2", ":2")
        d.hear('>["pmessage", "n*", "news", "2"]')
        c.hear('>["pmessage", "n*", "news", "2"]')
        c.expect("PUNSUBSCRIBE n*", '>["punsubscribe", "n*", :0]')
        e.expect("PUBLISH news 3", ":1")
        d.hear('>["pmessage", "n*", "news", "3"]')
        d.close()
        while e.ask("PUBLISH", "news", "4") != ":0":
            pass

    def test_who_does_not_read_is_cut_off_and_the_others_are_not(self):
        with sluiced.Server("--max-output", "1MiB", "--max-payload", "256KiB") as server:
            with sluiced.Client(server) as slow, sluiced.Client(server) as good, \
                 sluiced.Client(server) as loud:
                slow.expect("SUBSCRIBE news", '["subscribe", "news", :1]')
                good.expect("SUBSCRIBE news", '["subscribe", "news", :1]')
                text = "x" * 200000
                while loud.ask("PUBLISH", "news", text) == ":2":
                    good.hear(f'["message", "news", "{text}"]')
                good.hear(f'["message", "news", "{text}"]')
                self.assertIn("client_output_buffer_limit_disconnections:1",
                              loud.ask("INFO stats"))

    def test_what_was_read_does_not_count_as_unread(self):
        server = sluiced.Server("--max-output", "1MiB", "--max-payload", "64KiB")
        path = server.path("socket")
        server.flags += ("--listen", "unix:" + path)
        with server, sluiced.Client(server, unix=path) as slow, sluiced.Client(server) as loud:
            slow.expect("SUBSCRIBE news", '["subscribe", "news", :1]')

            def unread():
                line = loud.ask("CLIENT LIST TYPE pubsub")
                return int(line.split(" obl=")[1].split(" ")[0])

            text = "x" * 60000
            while unread() < 960000:
                loud.expect(f"PUBLISH news {text}", ":1")
            # A part of it is sent, and so there is room for as much.
            while unread() > 800000:
                slow.hear(f'["message", "news", "{text}"]')
            for _ in range(3):
                loud.expect(f"PUBLISH news {text}", ":1")
            loud.expect("PUBSUB NUMSUB news", '["news", :1]')

    def test_who_is_cut_off_in_the_middle_of_a_message_leaves_with_all_its_patterns(self):
        with sluiced.Server("--max-output", "1MiB", "--max-payload", "256KiB") as server:
            with sluiced.Client(server) as slow, sluiced.Client(server) as loud:
                slow.send("PSUBSCRIBE", "z*", *[f"q{i}*" for i in range(98)], "zz*")
                for _ in range(100):
                    slow.read()
                text = "x" * 100000
                sluiced.until(lambda: loud.ask("PUBLISH", "zz1", text) == ":0")
                loud.expect("PUBSUB NUMPAT", ":0")

    def test_who_is_cut_off_while_it_waits_gets_no_job(self):
        with sluiced.Server("--max-output", "1MiB", "--max-payload", "256KiB") as server:
            with sluiced.Client(server) as slow, sluiced.Client(server) as loud:
                slow.ask("HELLO 3")
                slow.expect("SUBSCRIBE news", '>["subscribe", "news", :1]')
                slow.send("Q.POP", "app", "w1", "1", "WAIT", "60", "mail")
                sluiced.until(lambda: "blocked_clients:1" in loud.ask("INFO clients"))
                text = "x" * 200000
                sluiced.until(lambda: loud.ask("PUBLISH", "news", text) != ":1")
                loud.expect("Q.PUT app mail Send {} JID bob", '"bob"')
                self.assertIn('"state", "waiting"', loud.ask("Q.GET app bob"))


class Events(sluiced.TestCase):
    def hear_event(self, client, channel):
        client.send("ECHO", "end")
        answer = client.read()
        self.assertTrue(answer.startswith(f'>["message", "{channel}", "'), answer)
        event = json.loads(answer[len(f'>["message", "{channel}", "'):-2])
        client.hear('"end"')
        return event

    def test_the_log_of_a_namespace(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE sluice:app:log", '>["subscribe", "sluice:app:log", :1]')
        d.ask("Q.PUT app mail Send {} JID bob")
        event = self.hear_event(c, "sluice:app:log")
        self.assertGreater(event.pop("when"), 1.7e9)
        self.assertEqual({"event": "put", "jid": "bob", "queue": "mail"}, event)
        d.ask("Q.POP app w1 1 mail")
        d.ask("Q.COMPLETE app bob w1")
        self.assertEqual("completed", self.hear_event(c, "sluice:app:log")["event"])

    def test_other_namespaces_are_not_heard(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE sluice:one:log", '>["subscribe", "sluice:one:log", :1]')
        d.ask("Q.PUT two mail Send {} JID bob")
        c.expect("PING", "+PONG")

    def test_tracked_jobs(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE sluice:tr:tracked", '>["subscribe", "sluice:tr:tracked", :1]')
        d.ask("Q.PUT tr mail Send {} JID bob")
        d.ask("Q.PUT tr mail Send {} JID other")
        d.ask("Q.TRACK tr bob")
        self.assertEqual("track", self.hear_event(c, "sluice:tr:tracked")["event"])
        d.ask("Q.POP tr w1 2 mail")
        event = self.hear_event(c, "sluice:tr:tracked")
        self.assertEqual(("popped", "bob"), (event["event"], event["jid"]))

    def test_a_worker_hears_of_the_lease_it_lost(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE sluice:wk:worker:w1", '>["subscribe", "sluice:wk:worker:w1", :1]')
        d.ask("Q.PUT wk mail Send {} JID bob")
        d.ask("Q.POP wk w1 1 mail")
        d.ask("Q.CANCEL wk bob")
        event = self.hear_event(c, "sluice:wk:worker:w1")
        self.assertEqual(("canceled", "bob"), (event["event"], event["jid"]))

    def test_many_at_once_come_behind_the_answer(self):
        c = self.client(3)
        c.expect("PSUBSCRIBE sluice:bulk:*", '>["psubscribe", "sluice:bulk:*", :1]')
        c.expect("Q.MPUT bulk 5 mail Send {} JID a 1 mail 5 mail Send {} JID b",
                 '["a", -INVALID ...')
        for name in "a", "b":
            c.hear('>["pmessage", "sluice:bulk:*", "sluice:bulk:log", "{"event":"put",...')
        c.expect("PING", "+PONG")

    def test_who_is_answered_nothing_still_hears(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE sluice:quiet:log", '>["subscribe", "sluice:quiet:log", :1]')
        c.send("CLIENT", "REPLY", "OFF")
        c.send("Q.PUT", "quiet", "mail", "Send", "{}", "JID", "bob")
        c.hear('>["message", "sluice:quiet:log", "{"event":"put",...')
        d.ask("Q.CANCEL quiet bob")
        c.hear('>["message", "sluice:quiet:log", "{"event":"canceled",...')
        c.expect("CLIENT REPLY ON", "+OK")


class Scripts(sluiced.TestCase):
    def setUp(self):
        self.client().expect("SCRIPT FLUSH", "+OK")

    def test_load_exists_flush(self):
        c = self.client()
        c.expect(f"SCRIPT EXISTS {SHA}", "[:0]")
        c.expect(("SCRIPT", "LOAD", QLESS), f'"{SHA}"')
        c.expect(f"SCRIPT EXISTS {SHA} {SHA.upper()} {'0' * 40} x", "[:1, :1, :0, :0]")
        c.expect("SCRIPT FLUSH ASYNC", "+OK")
        c.expect("SCRIPT FLUSH NOW", "-INVALID SCRIPT FLUSH takes SYNC or ASYNC")
        c.expect(f"SCRIPT EXISTS {SHA}", "[:0]")
        c.expect("SCRIPT KILL", "-NOTBUSY No scripts in execution right now.")
        c.expect("SCRIPT NONSENSE", "-ERR unknown subcommand 'NONSENSE'. Try SCRIPT HELP.")

    def test_other_scripts_are_refused(self):
        c = self.client()
        c.expect(("EVAL", "return 1", "0"), "-UNSUPPORTED not a script of qless...")
        c.expect(("SCRIPT", "LOAD", "return 1"), "-UNSUPPORTED...")
        c.expect(("EVAL", LIBRARY + "return 1", "0"), "-UNSUPPORTED this script builds on...")

    def test_evalsha(self):
        c = self.client()
        c.expect(f"EVALSHA {SHA} 0 length 0 empty",
                 "-NOSCRIPT No matching script. Please use EVAL.")
        c.expect(("EVAL", QLESS, "0", "length", "0", "empty"), ":0")
        c.expect(f"EVALSHA {SHA} 0 length 0 empty", ":0")
        c.expect(f"EVALSHA_RO {SHA.upper()} 0 length 0 empty", ":0")
        c.expect(f"EVALSHA {SHA} 3 length 0", "-ERR Number of keys can't be greater than...")
        c.expect(f"EVALSHA {SHA} -1 length 0", "-INVALID...")

    def test_calls_work_in_the_namespace_that_select_chose(self):
        c = self.client(3)
        c.expect(("EVAL", QLESS, "0", "put", "1", "w1", "mail", "bob", "Send", "{}", "0"), '"bob"')
        c.expect("SELECT 3", "+OK")
        c.expect(f"EVALSHA {SHA} 0 length 1 mail", ":0")
        c.expect(f"EVALSHA {SHA} 0 put 1 w1 mail ann Send {{}} 0", '"ann"')
        c.expect("SELECT 0", "+OK")
        self.assertIn('"jid":"bob"', c.ask(f"EVALSHA {SHA} 0 get 1 bob"))
        c.expect("EXISTS qless qless-3", ":2")
        self.assertIn('{"name": "qless", "clock": "client", "qless": #t, ', c.ask("Q.NAMESPACES"))

    def test_a_namespace_with_the_servers_clock_is_not_for_qless(self):
        c = self.client()
        c.ask("Q.PUT qless-7 mail Send {} JID bob")
        c.expect("SELECT 7", "+OK")
        c.expect(("EVAL", QLESS, "0", "length", "0", "mail"), "-STATE namespace qless-7 has the server clock...")
        c.expect("Q.NAMESPACE.DELETE qless-7", "+OK")
        c.expect(f"EVALSHA {SHA} 0 length 0 mail", ":0")

    def test_messages_are_told_natively_and_as_qless_does(self):
        c, d = self.client(3), self.client()
        c.expect("SUBSCRIBE sluice:qless:log ql:log", '>["subscribe", "sluice:qless:log", :1]',
                 '>["subscribe", "ql:log", :2]')
        d.expect(("EVAL", QLESS, "0", "put", "1", "w1", "log", "eve", "Send", "{}", "0"), '"eve"')
        c.hear('>["message", "sluice:qless:log", "{...')
        c.hear('>["message", "ql:log", "{...')
        c.expect("PING", "+PONG")

    def test_a_worker_of_a_namespace_of_qless_hears_natively_that_its_job_was_canceled(self):
        c, d = self.client(3), self.client()
        d.expect(("EVAL", QLESS, "0", "put", "1", "w1", "worker", "kay", "Send", "{}", "0"), '"kay"')
        self.assertIn('"kay"', d.ask("Q.POP qless native 1 worker"))
        c.expect("SUBSCRIBE sluice:qless:worker:native",
                 '>["subscribe", "sluice:qless:worker:native", :1]')
        d.expect("Q.CANCEL qless kay", ":1")
        c.hear('>["message", "sluice:qless:worker:native", "{"event":"canceled"...')

    def test_a_pattern_that_begins_with_a_wildcard_hears_qless_alone(self):
        a, b, d = self.client(3), self.client(3), self.client()
        d.ask("EVAL", QLESS, "0", "length", "1", "pattern")
        a.expect("PSUBSCRIBE *", '>["psubscribe", "*", :1]')
        b.expect("PSUBSCRIBE sluice:qless:*", '>["psubscribe", "sluice:qless:*", :1]')
        d.expect(("EVAL", QLESS, "0", "put", "1", "w1", "pattern", "pat", "Send", "{}", "0"), '"pat"')
        a.hear('>["pmessage", "*", "ql:log", "{...')
        b.hear('>["pmessage", "sluice:qless:*", "sluice:qless:log", "{...')
        for client in a, b:
            client.expect("PING", "+PONG")

    def test_they_are_qless_after_a_restart(self):
        with sluiced.Server() as server:
            with sluiced.Client(server) as c:
                c.expect(("EVAL", QLESS, "0", "put", "1", "w", "q", "bob", "Send", "{}", "0"),
                         '"bob"')
            server.restart()
            with sluiced.Client(server) as c, sluiced.Client(server) as d:
                c.expect("SUBSCRIBE ql:log", '["subscribe", "ql:log", :1]')
                d.ask("Q.CANCEL qless bob")
                c.hear('["message", "ql:log", "{...')

    def test_each_generation_has_its_channels_after_a_restart_too(self):
        put = "error('Put(): not to be run') redis.call('get', 'ql:' .. ARGV[1])"
        with sluiced.Server() as server:
            with sluiced.Client(server) as c:
                c.expect(("EVAL", put, "1", "q", "bob", "Send", "{}", "1", "0"), '"bob"')
                c.expect(("EVAL", put, "1", "q", "kay", "Send", "{}", "1", "0"), '"kay"')
                for jid in "bob", "kay":
                    c.ask(f"Q.TRACK qless {jid}")
            server.restart()
            with sluiced.Client(server) as c, sluiced.Client(server) as d:
                c.expect("SUBSCRIBE canceled ql:canceled", '["subscribe", "canceled", :1]',
                         '["subscribe", "ql:canceled", :2]')
                d.ask("Q.CANCEL qless bob")
                c.hear('["message", "canceled", "bob"]')
                # From its first call on the other generation hears of it too.
                d.ask("EVAL", QLESS, "0", "length", "1", "q")
                d.ask("Q.CANCEL qless kay")
                c.hear('["message", "ql:canceled", "kay"]')
                c.hear('["message", "canceled", "kay"]')


if __name__ == "__main__":
    sluiced.main()
