#!/usr/bin/python3
"""Commands of a connection about itself and the server, as conversations."""

import os
import unittest

import sluiced


class Session(sluiced.TestCase):
    def test_ping_and_echo(self):
        c = self.client()
        c.expect("PING", "+PONG")
        c.expect("ping hello", '"hello"')
        c.expect(("PING", ""), '""')
        c.expect(("ECHO", "a\r\nb"), '"a\r\nb"')
        c.expect("ECHO", "-INVALID too few arguments; usage: ECHO message")

    def test_inline_requests(self):
        c = self.client()
        c.send_raw(b"PING\r\n\r\nECHO 'two words'\r\n")
        c.hear("+PONG")
        c.hear('"two words"')

    def test_unknown_commands_are_refused_and_the_connection_goes_on(self):
        c = self.client()
        c.expect("NONSENSE 1 2", "-ERR unknown command 'NONSENSE'...")
        c.expect("PING", "+PONG")

    def test_hello_chooses_the_version(self):
        c = self.client()
        c.expect("HELLO", '["server", "sluice", "version", "7.2.0", "sluice_version", ...')
        self.assertIn('"proto", :2,', c.ask("HELLO 2"))
        answer = c.ask("HELLO 3")
        self.assertTrue(answer.startswith('{"server": "sluice", '), answer)
        self.assertIn('"proto": :3', answer)
        self.assertIn('"modules": []', answer)
        c.expect("CLIENT GETNAME", "_")
        c.expect("HELLO 3 SETNAME ann", '{"server": ...')
        c.expect("CLIENT GETNAME", '"ann"')
        self.assertIn('"proto", :2,', c.ask("HELLO 2"))
        c.expect("CLIENT SETNAME x", "+OK")

    def test_hello_refuses_what_it_does_not_know_and_changes_nothing(self):
        c = self.client()
        c.expect("HELLO 4", "-NOPROTO unsupported protocol version")
        c.expect("HELLO x", "-ERR Protocol version is not an integer or out of range")
        c.expect("HELLO 3 NONSENSE", "-ERR Syntax error in HELLO option 'NONSENSE'")
        c.expect("HELLO 3 SETNAME", "-ERR Syntax error in HELLO option 'SETNAME'")
        c.expect(("HELLO", "3", "SETNAME", "a b"), "-ERR Client names cannot contain spaces...")
        c.expect("HELLO 3 AUTH ann x", "-ERR no users are set up: no login is needed")
        c.expect("CLIENT GETNAME", "nil")

    def test_auth_without_users(self):
        c = self.client()
        c.expect("AUTH secret", "-ERR AUTH <password> called without any password configured...")
        c.expect("AUTH default anything", "+OK")
        c.expect("AUTH ann secret", "-ERR no users are set up: no login is needed")
        c.expect("PING", "+PONG")

    def test_select(self):
        c = self.client()
        c.expect("SELECT 15", "+OK")
        self.assertIn(" db=15 ", c.ask("CLIENT INFO"))
        c.expect("SELECT 16", "-ERR DB index is out of range")
        c.expect("SELECT -1", "-ERR DB index is out of range")
        c.expect("SELECT x", "-INVALID...")

    def test_quit_answers_and_ends_the_connection(self):
        c = self.client()
        c.send_raw(b"PING\r\nQUIT\r\nPING\r\n")
        c.hear("+PONG")
        c.hear("+OK")
        c.hear(None)

    def test_reset_makes_the_connection_as_new(self):
        c = self.client(3)
        c.expect("CLIENT SETNAME ann", "+OK")
        c.expect("SELECT 3", "+OK")
        c.expect("SUBSCRIBE news", '>["subscribe", "news", :1]')
        c.expect("MULTI", "+OK")
        c.expect("RESET", "+RESET")
        c.expect("CLIENT GETNAME", "nil")
        c.expect("EXEC", "-ERR EXEC without MULTI")
        line = c.ask("CLIENT INFO")
        self.assertIn(" db=0 ", line)
        self.assertIn(" sub=0 ", line)

    def test_a_broken_request_is_answered_and_ends_the_connection(self):
        c = self.client()
        c.send_raw(b"*1\r\n$4\r\nPING\r\n*x\r\n")
        c.hear("+PONG")
        c.hear("-ERR ...")
        c.hear(None)


class Clients(sluiced.TestCase):
    def test_names(self):
        c = self.client()
        c.expect("CLIENT GETNAME", "nil")
        c.expect("CLIENT SETNAME ann", "+OK")
        c.expect("CLIENT GETNAME", '"ann"')
        c.expect(("CLIENT", "SETNAME", ""), "+OK")
        c.expect("CLIENT GETNAME", "nil")
        c.expect(("CLIENT", "SETNAME", "a b"),
                 "-ERR Client names cannot contain spaces, newlines or special characters.")
        c.expect("CLIENT SETNAME " + "x" * 63, "+OK")
        c.expect("CLIENT SETNAME " + "x" * 64, "-ERR Client names cannot be longer than 63 bytes.")

    def test_id_info_and_library(self):
        c, d = self.client(), self.client(3)
        first, second = int(c.ask("CLIENT ID")[1:]), int(d.ask("CLIENT ID")[1:])
        self.assertLess(first, second)
        c.expect("CLIENT SETINFO LIB-NAME redis-py", "+OK")
        c.expect("CLIENT SETINFO lib-ver 4.3.4", "+OK")
        c.expect("CLIENT SETINFO nonsense 1", "-ERR Unrecognized option 'nonsense'")
        line = c.ask("CLIENT INFO")
        self.assertTrue(line.startswith(f'"id={first} addr=127.0.0.1:'), line)
        for part in (" name= ", " flags=N ", " db=0 ", " resp=2 ", " cmd=CLIENT ",
                     " user=default ", " lib-name=redis-py ", " lib-ver=4.3.4\n"):
            self.assertIn(part, line)
        self.assertTrue(d.ask("CLIENT INFO").startswith(f'txt"id={second} '))

    def test_list(self):
        c, d = self.client(), self.client()
        mine, other = c.ask("CLIENT ID")[1:], d.ask("CLIENT ID")[1:]
        d.expect("SUBSCRIBE news", '["subscribe", "news", :1]')
        lines = c.ask("CLIENT LIST").strip('"').splitlines()
        self.assertTrue({f"id={mine}", f"id={other}"} <= {line.split(" ")[0] for line in lines})
        lines = c.ask("CLIENT LIST TYPE pubsub").strip('"').splitlines()
        self.assertEqual([f"id={other}"], [line.split(" ")[0] for line in lines])
        self.assertIn(" flags=P ", lines[0])
        lines = c.ask(f"CLIENT LIST ID {mine} 999999").strip('"').splitlines()
        self.assertEqual([f"id={mine}"], [line.split(" ")[0] for line in lines])
        c.expect("CLIENT LIST nonsense", "-INVALID CLIENT LIST takes...")

    def test_kill(self):
        c, d, e, f = (self.client() for _ in range(4))
        address = d.ask("CLIENT INFO").split("addr=")[1].split(" ")[0]
        c.expect(f"CLIENT KILL ID {c.ask('CLIENT ID')[1:]}", ":0")  # not himself
        c.expect(f"CLIENT KILL {address}", "+OK")
        d.hear(None)
        c.expect(f"CLIENT KILL {address}", "-ERR No such client")
        c.expect(f"CLIENT KILL ID {e.ask('CLIENT ID')[1:]}", ":1")
        e.hear(None)
        f.expect("SUBSCRIBE news", '["subscribe", "news", :1]')
        c.expect("CLIENT KILL TYPE pubsub USER default", ":1")
        f.hear(None)
        c.expect("CLIENT KILL ID", "-ERR No such client")
        c.expect("CLIENT KILL ID x SKIPME maybe", "-INVALID CLIENT KILL takes...")
        c.expect(f"CLIENT KILL ID {c.ask('CLIENT ID')[1:]} SKIPME no", ":1")
        c.hear(None)

    def test_a_client_that_waits_can_be_killed(self):
        c, d = self.client(), self.client()
        number = d.ask("CLIENT ID")[1:]
        d.send("Q.POP", "app", "w1", "1", "WAIT", "60", "nothing-here")
        sluiced.until(lambda: " flags=b " in c.ask(f"CLIENT LIST ID {number}"))
        c.expect(f"CLIENT KILL ID {number}", ":1")
        d.hear(None)

    def test_reply(self):
        c = self.client()
        c.send_raw(b"CLIENT REPLY OFF\r\nPING 1\r\nNONSENSE\r\nCLIENT REPLY ON\r\nPING 2\r\n")
        c.hear("+OK")
        c.hear('"2"')
        c.send_raw(b"CLIENT REPLY SKIP\r\nPING 3\r\nPING 4\r\n")
        c.hear('"4"')
        c.send_raw(b"CLIENT REPLY SKIP\r\nNONSENSE\r\nPING 5\r\n")
        c.hear('"5"')
        c.send_raw(b"CLIENT REPLY OFF\r\nMULTI\r\nPING 6\r\nEXEC\r\nCLIENT REPLY ON\r\n")
        c.hear("+OK")
        c.expect("CLIENT REPLY MAYBE", "-INVALID CLIENT REPLY takes ON, OFF or SKIP")

    def test_what_there_is_nothing_of(self):
        c = self.client()
        c.expect("CLIENT NO-EVICT on", "+OK")
        c.expect("CLIENT NO-TOUCH off", "+OK")
        c.expect("CLIENT NO-TOUCH perhaps", "-INVALID...")
        c.expect("CLIENT TRACKING off", "+OK")
        c.expect("CLIENT TRACKING on", "-UNSUPPORTED client-side caching is not supported...")
        c.expect("CLIENT CACHING yes", "-UNSUPPORTED client-side caching is not supported...")
        c.expect("CLIENT GETREDIR", ":-1")
        c.expect("CLIENT PAUSE 100", "-UNSUPPORTED clients cannot be paused...")
        c.expect("CLIENT UNPAUSE", "-UNSUPPORTED...")
        c.expect("CLIENT NONSENSE", "-ERR unknown subcommand 'NONSENSE'. Try CLIENT HELP.")
        c.expect("CLIENT ID 1", "-ERR wrong number of arguments for 'CLIENT|ID'...")
        c.expect("CLIENT HELP", "[+CLIENT <subcommand> [<arg> ...]. Subcommands are:, +ID...")


class Commands(sluiced.TestCase):
    def test_count_and_list_agree(self):
        c = self.client()
        count = int(c.ask("COMMAND COUNT")[1:])
        self.assertGreater(count, 60)
        self.assertEqual(count, c.ask("COMMAND LIST").count('"') // 2)
        c.expect("COMMAND LIST FILTERBY PATTERN q.namespace.*",
                 '["q.namespace.create", "q.namespace.delete"]')
        c.expect("COMMAND LIST FILTERBY MODULE x", "-INVALID...")
        self.assertEqual(c.ask("COMMAND"), c.ask("COMMAND INFO"))

    def test_info(self):
        for version in 2, 3:
            c = self.client(version)
            none = "nil" if version == 2 else "_"
            answer = c.ask("COMMAND INFO ping q.pop nonsense")
            self.assertTrue(answer.startswith('[["ping", :-1, '), answer)
            self.assertIn('["q.pop", :-5, ', answer)
            self.assertTrue(answer.endswith(f", {none}]"), answer)

    def test_docs(self):
        c = self.client(3)
        answer = c.ask("COMMAND DOCS Q.COMPLETE")
        self.assertTrue(answer.startswith('{"q.complete": {'), answer)
        self.assertIn('"summary": "Completes a job', answer)
        c.expect("COMMAND DOCS nonsense", "{}")
        self.assertTrue(self.client().ask("COMMAND DOCS").startswith('["q.put", ["summary", '))

    def test_getkeys(self):
        c = self.client()
        c.expect("COMMAND GETKEYS Q.PUT app mail Send {}", '["app"]')
        c.expect("COMMAND GETKEYS EVALSHA abc 2 a b c", '["a", "b"]')
        c.expect("COMMAND GETKEYS PING", "-ERR The command has no key arguments")
        c.expect("COMMAND GETKEYS NONSENSE", "-ERR Invalid command specified")

    def test_help_is_for_people(self):
        c = self.client(3)
        self.assertTrue(c.ask("Q.HELP q.put").startswith('txt"Q.PUT ns queue klass data '))
        self.assertIn("Q.PUT", c.ask("Q.HELP"))
        c.expect("Q.HELP NONSENSE", '-NOT_FOUND there is no command "NONSENSE"')

    def test_every_command_explains_itself(self):
        c = self.client()
        for name in c.ask("COMMAND LIST").strip("[]").replace('"', "").split(", "):
            self.assertIn("Answers: ", c.ask(f"Q.HELP {name}"))


class Admin(sluiced.TestCase):
    def test_config(self):
        c = self.client(3)
        c.expect("CONFIG GET databases", '{"databases": "16"}')
        c.expect("CONFIG GET SAVE appendonly", '{"appendonly": "yes", "save": ""}')
        self.assertIn('"max-payload": "', c.ask("CONFIG GET max-*"))
        c.expect("CONFIG GET nonsense", "{}")
        self.client().expect("CONFIG GET databases", '["databases", "16"]')
        c.expect("CONFIG SET maxmemory 1", "-UNSUPPORTED settings are changed in the config file...")
        c.expect("CONFIG REWRITE", "-UNSUPPORTED...")
        c.expect("CONFIG RESETSTAT", "+OK")

    def test_info(self):
        c = self.client(3)
        answer = c.ask("INFO")
        self.assertTrue(answer.startswith('txt"# Server\r\nredis_version:7.2.0\r\n'), answer)
        for line in ("# Clients", "# Memory", "# Persistence", "# Stats", "# CPU", "# Keyspace",
                     "loading:0", "role:master", "store_state:ready", "durability:always"):
            self.assertIn(f"\r\n{line}\r\n", answer + "\r\n")
        self.assertIn(f"tcp_port:{self.server.port}\r\n", answer)
        self.assertNotIn("# Namespaces", answer)
        self.assertTrue(c.ask("INFO clients cpu").startswith('txt"# Clients\r\n'))
        c.expect("INFO nonsense", 'txt""')
        c.ask("Q.PUT", "odd, name=1", "mail", "Send", "{}")
        self.assertIn(":name=odd??name?1,scheduled=0,depends=0,waiting=1,", c.ask("INFO all"))
        c.expect("Q.NAMESPACE.DELETE odd,", "-NOT_FOUND...")

    def test_time(self):
        answer = self.client().ask("TIME")
        self.assertRegex(answer, r'^\["1[0-9]{9}", "[0-9]{1,6}"\]$')

    def test_what_is_not_kept_is_empty(self):
        c = self.client()
        c.expect("SLOWLOG GET 10", "[]")
        c.expect("SLOWLOG LEN", ":0")
        c.expect("SLOWLOG RESET", "+OK")
        c.expect("LATENCY LATEST", "[]")
        c.expect("LATENCY RESET", ":0")

    def test_backup_is_a_store(self):
        c, d = self.client(), self.client()
        c.ask("Q.PUT saved mail Send {} JID bob")
        path = self.server.path("backup")
        c.send("Q.BACKUP", path)
        c.send("PING")  # waits for its turn
        d.expect("PING", "+PONG")
        c.hear(f'"{path}"')
        c.hear("+PONG")
        c.expect(("Q.BACKUP", path), "-EXISTS...")
        c.expect("Q.BACKUP backup", "-INVALID Q.BACKUP: path must be absolute...")
        with sluiced.Server() as other:
            other.stop()
            os.rename(other.path("data"), other.path("before"))
            os.rename(path, other.path("data"))
            other.start()
            with sluiced.Client(other) as e:
                e.expect("KEYS *", '["saved"]')
                self.assertIn('"bob"', e.ask("Q.GET saved bob"))

    def test_a_backup_outlives_the_connection_that_asked_for_it(self):
        c, d = self.client(), self.client()
        path = self.server.path("orphan")
        c.send("Q.BACKUP", path)
        c.close()
        sluiced.until(lambda: os.path.exists(path) and "backup_in_progress:0" in d.ask("INFO persistence"))
        d.expect("PING", "+PONG")


class Namespaces(sluiced.TestCase):
    flags = ("--allow-flush", "yes")

    def setUp(self):
        self.client().expect("FLUSHALL", "+OK")

    def test_made_shown_and_deleted(self):
        c = self.client(3)
        c.expect("Q.NAMESPACES", "[]")
        c.expect("Q.NAMESPACE.CREATE app", "+OK")
        c.expect("Q.NAMESPACE.CREATE app", '-EXISTS there is a namespace "app" already')
        c.expect("Q.NAMESPACE.CREATE old CLOCK client", "+OK")
        c.expect("Q.NAMESPACE.CREATE bad CLOCK sun", "-INVALID...")
        c.ask("Q.PUT app mail Send {}")
        c.expect("Q.NAMESPACES",
                 '[{"name": "app", "clock": "server", "qless": #f, "queues": :1, '
                 '"clients_waiting": :0, "jobs": {"scheduled": :0, "depends": :0, "waiting": :1, '
                 '"running": :0, "stalled": :0, "complete": :0, "failed": :0}}, '
                 '{"name": "old", "clock": "client", ...')
        c.expect("Q.NAMESPACE.DELETE app", "+OK")
        c.expect("Q.NAMESPACE.DELETE app", '-NOT_FOUND there is no namespace "app"')
        c.expect("KEYS *", '["old"]')

    def test_those_who_wait_in_one_that_is_deleted_are_told(self):
        c, d = self.client(), self.client()
        c.expect("Q.NAMESPACE.CREATE app", "+OK")
        d.send("Q.POP", "app", "w1", "1", "WAIT", "60", "mail")
        sluiced.until(lambda: "blocked_clients:1" in c.ask("INFO clients"))
        c.expect("Q.NAMESPACE.DELETE app", "+OK")
        d.hear('-NOT_FOUND the namespace "app" was deleted')
        d.expect("PING", "+PONG")

    def test_redis_words_for_keys(self):
        c = self.client()
        for name in "app", "apple", "pear":
            c.expect(f"Q.NAMESPACE.CREATE {name}", "+OK")
        c.expect("DBSIZE", ":3")
        c.expect("KEYS *", '["app", "apple", "pear"]')
        c.expect("KEYS app*", '["app", "apple"]')
        c.expect("KEYS nothing", "[]")
        c.expect("EXISTS app pear nothing app", ":3")
        c.expect("TYPE app", "+namespace")
        c.expect("TYPE nothing", "+none")

    def test_flush(self):
        c = self.client()
        for name in "app", "qless", "qless-2":
            c.expect(f"Q.NAMESPACE.CREATE {name}", "+OK")
        c.expect("FLUSHDB", "+OK")
        c.expect("KEYS *", '["app", "qless-2"]')
        c.expect("FLUSHDB ASYNC", "+OK")  # there is none any more
        c.expect("SELECT 2", "+OK")
        c.expect("FLUSHDB SYNC", "+OK")
        c.expect("KEYS *", '["app"]')
        c.expect("FLUSHDB NOW", "-INVALID FLUSHDB takes SYNC or ASYNC")
        c.expect("FLUSHALL", "+OK")
        c.expect("DBSIZE", ":0")


class Transactions(sluiced.TestCase):
    def test_what_is_kept_runs_at_exec(self):
        c, d = self.client(), self.client()
        c.expect("MULTI", "+OK")
        c.expect("Q.PUT one mail Send {} JID ann", "+QUEUED")
        c.expect("Q.PUT one mail Send {} JID bob", "+QUEUED")
        c.expect("PING", "+QUEUED")
        d.expect("Q.GET one ann", "[nil]")
        self.assertIn(" flags=x ", d.ask(f"CLIENT LIST TYPE normal"))
        c.expect("EXEC", '["ann", "bob", +PONG]')
        c.expect("EXEC", "-ERR EXEC without MULTI")
        self.assertIn('"ann"', d.ask("Q.GET one ann"))

    def test_an_empty_one(self):
        c = self.client()
        c.expect("MULTI", "+OK")
        c.expect("EXEC", "[]")

    def test_one_that_fails_does_not_undo_the_others(self):
        c = self.client()
        c.expect("MULTI", "+OK")
        c.expect("Q.PUT two mail Send {} JID ann", "+QUEUED")
        c.expect("Q.COMPLETE two nobody w1", "+QUEUED")
        c.expect("Q.PUT two mail Send {} JID bob", "+QUEUED")
        c.expect("EXEC", '["ann", -NOT_FOUND ...')
        self.assertIn('"bob"', c.ask("Q.GET two bob"))

    def test_one_that_is_refused_spoils_all(self):
        c = self.client()
        for refused in "NONSENSE", "Q.PUT", "Q.PUT three mail", "ECHO":
            c.expect("MULTI", "+OK")
            c.expect("Q.PUT three mail Send {} JID ann", "+QUEUED")
            self.assertTrue(c.ask(refused).startswith("-"))
            c.expect("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
            c.expect("Q.GET three ann", "[nil]")

    def test_what_has_not_one_answer_is_refused(self):
        c = self.client(3)
        for refused in ("SUBSCRIBE a b", "PSUBSCRIBE a", "UNSUBSCRIBE", "PUNSUBSCRIBE",
                        "client reply off", "CLIENT REPLY SKIP"):
            c.expect("MULTI", "+OK")
            c.expect("PING", "+QUEUED")
            name = "CLIENT REPLY" if "REPLY" in refused.upper() else refused.split()[0]
            c.expect(refused, f"-UNSUPPORTED {name} cannot be part of a transaction: it does not "
                              "have exactly one reply")
            c.expect("EXEC", "-EXECABORT...")
        c.expect("MULTI", "+OK")
        c.expect("CLIENT ID", "+QUEUED")
        c.expect("EXEC", "[:...")

    def test_discard(self):
        c = self.client()
        c.expect("DISCARD", "-ERR DISCARD without MULTI")
        c.expect("MULTI", "+OK")
        c.expect("Q.PUT four mail Send {} JID ann", "+QUEUED")
        c.expect("MULTI", "-ERR MULTI calls can not be nested")
        c.expect("DISCARD", "+OK")
        c.expect("Q.GET four ann", "[nil]")

    def test_a_command_that_would_wait_answers_at_once(self):
        c = self.client()
        c.ask("Q.PUT five mail Send {} JID ann")
        c.expect("MULTI", "+OK")
        c.expect("Q.POP five w1 1 WAIT 60 nothing-here", "+QUEUED")
        c.expect("Q.WAIT five ann", "+QUEUED")
        c.expect("Q.BACKUP /nowhere/at/all", "+QUEUED")
        c.expect("EXEC", "[[], nil, -STATE Q.BACKUP takes long and cannot be part of a transaction]")

    def test_watch(self):
        c = self.client()
        c.expect("WATCH key", "-UNSUPPORTED there are no keys...")
        c.expect("UNWATCH", "+OK")
        c.expect("MULTI", "+OK")
        c.expect("WATCH key", "-ERR WATCH inside MULTI is not allowed")
        c.expect("EXEC", "[]")

    def test_the_end_of_the_connection_runs_nothing(self):
        c, d = self.client(), self.client()
        c.expect("MULTI", "+OK")
        c.expect("Q.PUT six mail Send {} JID ann", "+QUEUED")
        c.expect("QUIT", "+OK")
        c.hear(None)
        d.expect("Q.GET six ann", "[nil]")

    def test_its_replies_count_as_one_in_a_pipeline(self):
        c = self.client()
        c.send_raw(b"MULTI\r\nPING 1\r\nPING 2\r\nEXEC\r\nPING 3\r\n")
        for reply in "+OK", "+QUEUED", "+QUEUED", '["1", "2"]', '"3"':
            c.hear(reply)

    def test_messages_come_behind_the_answer(self):
        c = self.client(3)
        c.expect("SUBSCRIBE sluice:seven:log news",
                 '>["subscribe", "sluice:seven:log", :1]', '>["subscribe", "news", :2]')
        c.expect("MULTI", "+OK")
        c.expect("PUBLISH news hello", "+QUEUED")
        c.expect("Q.PUT seven mail Send {} JID ann", "+QUEUED")
        c.expect("EXEC", '[:1, "ann"]', '>["message", "news", "hello"]',
                 '>["message", "sluice:seven:log", "{"event":"put",...')

    def test_what_is_kept_has_a_limit(self):
        with sluiced.Server("--max-request", "1MiB", "--max-payload", "512KiB") as server:
            with sluiced.Client(server) as c:
                c.expect("MULTI", "+OK")
                c.expect(("PING", "x" * 400000), "+QUEUED")
                c.expect(("PING", "x" * 400000), "+QUEUED")
                c.expect(("PING", "x" * 400000), "-TOO_LARGE what is kept since MULTI...")
                c.expect("EXEC", "-EXECABORT...")

    def test_an_answer_that_is_too_large_beside_the_others_is_an_error(self):
        with sluiced.Server("--max-output", "1MiB") as server:
            with sluiced.Client(server) as c:
                c.expect("MULTI", "+OK")
                for _ in range(3):
                    c.expect(("ECHO", "x" * 400000), "+QUEUED")
                c.expect("Q.PUT app mail Send {} JID ann", "+QUEUED")
                reply = c.ask("EXEC")
                self.assertEqual(reply.replace("x" * 400000, "x"),
                                 '["x", "x", -TOO_LARGE ECHO: the reply is larger than max-output '
                                 'allows, "ann"]')
                self.assertIn('"ann"', c.ask("Q.GET app ann"))


class Users(sluiced.TestCase):
    flags = ("--user", "root root-secret *:admin", "--user", "ann ann-secret app:write",
             "--user", "eve eve-secret app:read other:read", "--allow-flush", "yes")

    def login(self, name, version=2):
        c = self.client()
        c.expect(f"HELLO {version} AUTH {name} {name}-secret", "{..." if version == 3 else "[...")
        return c

    def test_nothing_works_before(self):
        c = self.client()
        for request in "PING", "ECHO x", "INFO", "COMMAND", "Q.GET app x", "CLIENT ID", "MULTI":
            c.expect(request, "-NOAUTH Authentication required.")
        c.expect("HELLO 3", "-NOAUTH HELLO must be called with the client already authenticated...")
        c.expect("AUTH wrong", "-WRONGPASS...")
        c.expect("AUTH ann wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
        c.expect("RESET", "+RESET")
        c.expect("AUTH ann ann-secret", "+OK")
        c.expect("PING", "+PONG")
        self.assertIn(" user=ann ", c.ask("CLIENT INFO"))
        c.expect("RESET", "+RESET")
        c.expect("PING", "-NOAUTH Authentication required.")
        c.expect("QUIT", "+OK")

    def test_requests_are_small_before(self):
        c = self.client()
        c.send("PING", "x" * 5000)
        c.hear("-TOO_LARGE ...")
        c.hear(None)
        c = self.login("ann")
        self.assertEqual(5002, len(c.ask("PING", "x" * 5000)))

    def test_rights(self):
        ann, eve, root = self.login("ann"), self.login("eve"), self.login("root")
        ann.expect("Q.PUT app mail Send {} JID bob", '"bob"')
        ann.expect("Q.PUT other mail Send {} JID bob", "-NOPERM...")
        root.expect("Q.PUT other mail Send {} JID bob", '"bob"')
        root.expect("Q.PUT secret mail Send {} JID bob", '"bob"')
        eve.expect("Q.PUT app mail Send {}", "-NOPERM...")
        eve.expect("KEYS *", '["app", "other"]')
        ann.expect("KEYS *", '["app"]')
        ann.expect("EXISTS app other", ":1")
        ann.expect("TYPE secret", "+none")
        eve.expect("DBSIZE", ":2")
        ann.expect("ZCARD ql:q:mail-work", "-NOPERM...")
        ann.expect("ZSCORE ql:q:mail-recur bob", "-NOPERM...")
        root.expect("ZCARD ql:q:mail-work", ":0")
        root.expect("ZSCORE ql:q:mail-recur bob", "nil")
        self.assertNotIn("secret", eve.ask("INFO everything"))
        self.assertNotIn("secret", eve.ask("Q.NAMESPACES"))

    def test_what_only_administrators_may(self):
        ann, root = self.login("ann"), self.login("root")
        for request in ("CLIENT LIST", "CLIENT KILL ID 1", "CONFIG GET *", "SHUTDOWN",
                        "Q.BACKUP /tmp/nowhere", "FLUSHALL", "FLUSHDB", "Q.NAMESPACE.DELETE app",
                        "Q.NAMESPACE.CREATE new"):
            self.assertRegex(ann.ask(request), "^-NOPERM ")
        self.assertNotIn("secret", root.ask("CONFIG GET user"))
        root.expect("CLIENT KILL ID 999999", ":0")

    def test_only_who_may_read_hears(self):
        ann, eve, root = self.login("ann"), self.login("eve", 3), self.login("root")
        eve.expect("PSUBSCRIBE sluice:*", '>["psubscribe", "sluice:*", :1]')
        eve.expect("SUBSCRIBE sluice:hidden:log", '>["subscribe", "sluice:hidden:log", :2]')
        root.ask("Q.PUT hidden mail Send {} JID bob")
        ann.ask("Q.PUT app mail Send {} JID bob")
        eve.hear('>["pmessage", "sluice:*", "sluice:app:log", "{"event":"put",...')
        eve.expect("UNSUBSCRIBE", '>["unsubscribe", "sluice:hidden:log", :1]')

    def test_who_may_publish(self):
        ann, eve, root = self.login("ann"), self.login("eve"), self.login("root")
        ann.expect("PUBLISH news hello", ":0")
        eve.expect("PUBLISH news hello", "-NOPERM user eve has no right to write anywhere")
        root.expect("PUBLISH sluice:app:log hello", "-NOPERM only the server itself speaks...")
        ann.expect("PUBLISH ql:log hello", "-NOPERM user ann does not have the right write on the namespace...")
        root.expect("PUBLISH ql:log hello", ":0")


class Stopping(unittest.TestCase):
    def test_shutdown_ends_the_connection_without_an_answer(self):
        with sluiced.Server() as server, sluiced.Client(server) as c:
            c.expect("SHUTDOWN MAYBE", "-INVALID SHUTDOWN takes NOSAVE, SAVE, NOW and FORCE")
            c.send_raw(b"PING\r\nSHUTDOWN NOSAVE\r\n")
            c.hear("+PONG")
            c.hear(None)
            self.assertEqual(0, server.wait())

    def test_flush_is_refused_unless_allowed(self):
        with sluiced.Server() as server, sluiced.Client(server) as c:
            c.expect("FLUSHALL", "-NOPERM FLUSHALL would delete jobs, and the setting allow-flush...")
            c.expect("FLUSHDB", "-NOPERM FLUSHDB would delete jobs...")

    def test_what_was_answered_is_there_after_a_restart(self):
        with sluiced.Server() as server:
            with sluiced.Client(server) as c:
                c.expect("Q.PUT app mail Send {} JID bob", '"bob"')
            server.restart()
            with sluiced.Client(server) as c:
                self.assertIn('"bob"', c.ask("Q.GET app bob"))


if __name__ == "__main__":
    sluiced.main()
