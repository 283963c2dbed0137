#!/usr/bin/python3
"""redis-py: what people's programs do with it."""

import unittest

import redis
import sluiced


class RedisPy(sluiced.TestCase):
    def connect(self, **options):
        connection = redis.Redis(port=self.server.port, socket_timeout=sluiced.LIMIT_S, **options)
        self.addCleanup(connection.close)
        return connection

    def test_connect(self):
        r = self.connect(client_name="ann", db=3, decode_responses=True)
        self.assertTrue(r.ping())
        self.assertEqual("x", r.echo("x"))
        self.assertEqual("ann", r.client_getname())
        self.assertEqual(3, r.client_info()["db"])
        self.assertEqual("ann", [c["name"] for c in r.client_list()][0])
        self.assertEqual("sluice", r.info()["server_name"])
        self.assertEqual("7.2.0", r.info("server")["redis_version"])
        self.assertEqual({"databases": "16"}, r.config_get("databases"))
        self.assertIn("q.put", r.command())
        self.assertEqual(2, len(r.time()))

    def test_jobs(self):
        r = self.connect(decode_responses=True)
        jid = r.execute_command("Q.PUT", "app", "mail", "Send", '{"to":"ann"}', "JID", "bob")
        self.assertEqual("bob", jid)
        (job,) = r.execute_command("Q.POP", "app", "w1", 1, "mail")
        job = dict(zip(job[::2], job[1::2]))
        self.assertEqual(("bob", '{"to":"ann"}'), (job["jid"], job["data"]))
        self.assertEqual("complete", r.execute_command("Q.COMPLETE", "app", "bob", "w1"))
        with self.assertRaisesRegex(redis.ResponseError, "NOT_FOUND"):
            r.execute_command("Q.COMPLETE", "app", "nobody", "w1")

    def test_pipelines_with_and_without_a_transaction(self):
        r = self.connect(decode_responses=True)
        for transaction in True, False:
            with r.pipeline(transaction=transaction) as pipe:
                for i in range(100):
                    pipe.execute_command("Q.PUT", "pipe", "mail", "Send", "{}", "JID", f"job-{i}")
                pipe.ping()
                answers = pipe.execute()
            self.assertEqual([f"job-{i}" for i in range(100)] + [True], answers)
        with r.pipeline() as pipe:
            pipe.execute_command("Q.PUT", "pipe", "mail", "Send", "{}", "JID", "kept")
            pipe.execute_command("NONSENSE")
            with self.assertRaises(redis.ResponseError):
                pipe.execute()
        self.assertEqual([None], r.execute_command("Q.GET", "pipe", "kept"))
        self.assertTrue(r.ping())

    def test_messages(self):
        r = self.connect(decode_responses=True)
        listener = r.pubsub()
        self.addCleanup(listener.close)
        listener.subscribe("news")
        listener.psubscribe("sluice:heard:*")
        self.assertEqual("subscribe", listener.get_message(timeout=60)["type"])
        self.assertEqual("psubscribe", listener.get_message(timeout=60)["type"])
        self.assertEqual(1, r.publish("news", "hello"))
        self.assertEqual({"type": "message", "pattern": None, "channel": "news", "data": "hello"},
                         listener.get_message(timeout=60))
        r.execute_command("Q.PUT", "heard", "mail", "Send", "{}", "JID", "bob")
        message = listener.get_message(timeout=60)
        self.assertEqual(("pmessage", "sluice:heard:log"), (message["type"], message["channel"]))
        listener.ping()
        self.assertEqual("pong", listener.get_message(timeout=60)["type"])
        self.assertEqual([("news", 1)], r.pubsub_numsub("news"))
        listener.unsubscribe()
        self.assertEqual("unsubscribe", listener.get_message(timeout=60)["type"])

    def test_scripts(self):
        r = self.connect()
        with self.assertRaises(redis.exceptions.NoScriptError):
            r.evalsha("0" * 40, 0)
        with self.assertRaisesRegex(redis.ResponseError, "UNSUPPORTED"):
            r.eval("return 1", 0)
        self.assertEqual([False], r.script_exists("0" * 40))


class RedisPyUsers(sluiced.TestCase):
    flags = ("--password", "secret")

    def test_passwords(self):
        port = self.server.port
        with redis.Redis(port=port, password="secret") as r:
            self.assertTrue(r.ping())
        with redis.Redis(port=port, username="default", password="secret") as r:
            self.assertTrue(r.ping())
        with redis.Redis(port=port, password="wrong") as r:
            with self.assertRaisesRegex(redis.RedisError, "invalid username-password pair"):
                r.ping()
        with redis.Redis(port=port) as r:
            with self.assertRaises(redis.exceptions.AuthenticationError):
                r.ping()

    def test_shutdown(self):
        with sluiced.Server() as server, redis.Redis(port=server.port) as r:
            r.shutdown(nosave=True)
            self.assertEqual(0, server.wait())


if __name__ == "__main__":
    sluiced.main()
