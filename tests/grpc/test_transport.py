#!/usr/bin/python3
"""gRPC with a real client (grpc-core): calls that wait, streams, deadlines, large messages, TLS,
credentials, and a server that is stopped or killed while calls are under way."""

import queue
import signal
import socket
import ssl
import subprocess
import unittest

import grpc
from google.protobuf.duration_pb2 import Duration

import grpc_client
import sluiced
from grpc_client import pb, pb_grpc

LIMIT_S = grpc_client.LIMIT_S
NO_LIMITS = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1),
             ("grpc.enable_retries", 0)]
GRPC = ("--http", "", "--grpc", "127.0.0.1:0")


def add(job="{}", name="mail", **more):
    return pb.AddRequest(namespace="app", queue=name, klass="Send", data=pb.Payload(json=job), **more)


def take(name="mail", wait_s=None, **more):
    wait = None if wait_s is None else Duration(seconds=wait_s)
    return pb.NextRequest(namespace="app", queues=[name], worker="w", wait=wait, **more)


def lease(task):
    return pb.LeaseRef(jid=task.jid, worker="w", token=task.token)


class Calls(unittest.TestCase):
    FLAGS = ()

    def setUp(self):
        self.server = sluiced.Server(*GRPC, *self.FLAGS).__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.open()

    def open(self, metadata=None):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}", options=NO_LIMITS)
        self.addCleanup(self.channel.close)
        self.stub = pb_grpc.QueueStub(self.channel)

    def fails(self, code, call, *arguments, **more):
        with self.assertRaises(grpc.RpcError) as raised:
            result = call(*arguments, timeout=LIMIT_S, **more)
            if hasattr(result, "__next__"):
                list(result)
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        return raised.exception

    def add(self, *arguments, **more):
        return self.stub.Add(add(*arguments, **more), timeout=LIMIT_S).jid

    def take(self, *arguments, **more):
        return self.stub.Next(take(*arguments, **more), timeout=LIMIT_S).tasks

    def waiting(self, count):
        """Until so many calls wait for a job."""
        with sluiced.Client(self.server) as client:
            sluiced.until(lambda: f"blocked_grpc_calls:{count}\r" in client.ask("INFO clients"),
                          f"{count} calls that wait")


class Workers(Calls):
    def test_a_job_from_its_put_to_its_result(self):
        jid = self.add('{"to":"ann"}')
        task, = self.take()
        self.assertEqual((task.jid, task.data.json), (jid, '{"to":"ann"}'))
        self.stub.Done(pb.DoneRequest(namespace="app", lease=lease(task), result=pb.Payload(json="7")))
        self.assertEqual(self.stub.Wait(pb.WaitRequest(namespace="app", jid=jid), timeout=LIMIT_S).result.json, "7")
        self.fails(grpc.StatusCode.ABORTED, self.stub.Fail,
                   pb.FailRequest(namespace="app", lease=lease(task), group="g", message="m"))

    def test_a_deadline_ends_a_wait_and_takes_no_job(self):
        self.add(name="other")
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.Next(take(wait_s=60), timeout=0.1)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        jid = self.add()
        self.assertEqual([task.jid for task in self.take()], [jid])

    def test_a_wait_that_is_canceled_takes_no_job(self):
        self.add(name="other")
        call = self.stub.Next.future(take(wait_s=60))
        self.waiting(1)
        call.cancel()
        self.waiting(0)
        jid = self.add()
        self.assertEqual([task.jid for task in self.take()], [jid])

    def test_a_thousand_calls_wait_on_one_connection(self):
        self.add(name="other")
        calls = [self.stub.Next.future(take(wait_s=LIMIT_S)) for _ in range(990)]
        self.waiting(990)
        jids = {self.add() for _ in range(len(calls))}
        self.assertEqual({call.result().tasks[0].jid for call in calls}, jids)

    def test_stream_next_holds_as_many_leases_as_it_may(self):
        jids = [self.add() for _ in range(4)]
        call = self.stub.StreamNext(pb.StreamNextRequest(namespace="app", queues=["mail"], worker="w",
                                                         max_in_flight=2, release_on_close=True), timeout=LIMIT_S)
        first, second = next(call), next(call)
        self.assertEqual([first.jid, second.jid], jids[:2])
        self.stub.Done(pb.DoneRequest(namespace="app", lease=lease(first)))
        self.assertEqual(next(call).jid, jids[2])
        self.stub.Cancel(pb.CancelRequest(namespace="app", jids=[second.jid]))
        self.assertEqual(next(call).jid, jids[3])
        call.cancel()
        given_back = []
        sluiced.until(lambda: given_back.extend(self.take()) or len(given_back) == 2, "the jobs are given back")
        self.assertEqual({task.jid for task in given_back}, set(jids[2:]))
        self.assertEqual({task.remaining for task in given_back}, {first.remaining})

    def test_stream_next_waits_for_a_namespace_that_is_not_there(self):
        call = self.stub.StreamNext(pb.StreamNextRequest(namespace="app", queues=["mail"], worker="w"),
                                    timeout=LIMIT_S)
        call.initial_metadata()
        jid = self.add()
        self.assertEqual(next(call).jid, jid)
        call.cancel()

    def test_keepalive_renews_and_tells_what_is_lost(self):
        self.add()
        task, = self.take()
        requests = queue.Queue()
        call = self.stub.Keepalive(iter(requests.get, None), timeout=LIMIT_S)
        requests.put(pb.KeepaliveRequest(namespace="app", worker="w",
                                         leases=[pb.Renewal(jid=task.jid, token=task.token)]))
        self.assertTrue(next(call).leases[0].HasField("expire_time"))
        self.stub.Cancel(pb.CancelRequest(namespace="app", jids=[task.jid]))
        self.assertEqual(next(call).leases[0].lost.reason, "NOT_FOUND")
        requests.put(None)
        self.assertEqual(list(call), [])

    def test_stream_add_answers_each_message_in_order(self):
        messages = [add(job, name=f"q{i}") for i, job in enumerate(["1", "no JSON", "3"])]
        results = list(self.stub.StreamAdd(iter(messages), timeout=LIMIT_S))
        self.assertEqual([bool(result.jid) for result in results], [True, False, True])
        self.assertEqual(results[1].error.reason, "INVALID")

    def test_events_go_on_where_a_listener_was(self):
        call = self.stub.Events(pb.EventsRequest(namespace="app"), timeout=LIMIT_S)
        call.initial_metadata()
        jids = [self.add() for _ in range(3)]
        events = [next(call) for _ in jids]
        self.assertEqual([event.jid for event in events], jids)
        call.cancel()
        again = self.stub.Events(pb.EventsRequest(namespace="app", last_event_id=events[0].id), timeout=LIMIT_S)
        self.assertEqual([next(again).jid for _ in jids[1:]], jids[1:])
        again.cancel()

    def test_compressed_messages(self):
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            jid = self.stub.Add(add('"' + "x" * 500000 + '"'), compression=compression, timeout=LIMIT_S).jid
            self.assertEqual(self.take()[0].jid, jid)

    def test_a_stop_ends_waits_with_a_code_that_clients_repeat(self):
        self.add(name="other")
        waits = self.stub.Next.future(take(wait_s=LIMIT_S))
        self.waiting(1)
        self.server.stop()
        with self.assertRaises(grpc.RpcError) as raised:
            waits.result()
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_what_was_acknowledged_survives_a_kill(self):
        jids = set()
        calls = [self.stub.Add.future(add()) for _ in range(2000)]
        for i, call in enumerate(calls):
            if i == 300:
                self.server.process.send_signal(signal.SIGKILL)
            try:
                jids.add(call.result().jid)
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
        self.server.wait()
        self.assertGreaterEqual(len(jids), 300)
        self.server.restart()
        self.open()
        found = set()
        while tasks := self.take(max_tasks=1000):
            found |= {task.jid for task in tasks}
        self.assertLessEqual(jids, found)


class Large(Calls):
    FLAGS = ("--max-payload", "16M", "--max-request", "20M")

    def test_messages_of_16_mib(self):
        text = '"' + "x" * (16 << 20) + '"'
        self.fails(grpc.StatusCode.INVALID_ARGUMENT, self.stub.Add, add(text))
        text = text[:-10] + '"'
        calls = [self.stub.Add.future(add(text), timeout=LIMIT_S) for _ in range(3)]
        jids = {call.result().jid for call in calls}
        for _ in jids:
            task, = self.take()
            self.assertIn(task.jid, jids)
            self.assertEqual(len(task.data.json), len(text))
        error = self.fails(grpc.StatusCode.RESOURCE_EXHAUSTED, self.stub.Add, add('"' + "x" * (21 << 20) + '"'))
        self.assertIn("max-request", error.details())


class Users(Calls):
    FLAGS = ("--user", "ann secret app:write", "--user", "bob other app:read", "--user", "eve third *:read", "--user", "root top *:admin")

    def call(self, credentials, call=None, message=None):
        metadata = [("authorization", credentials)] if credentials else []
        return (call or self.stub.Add)(message or add(), metadata=metadata, timeout=LIMIT_S)

    def test_credentials_and_rights(self):
        self.assertTrue(self.call("Bearer ann:secret").jid)
        self.assertTrue(self.call("Basic YW5uOnNlY3JldA==").jid)
        for credentials, code in ((None, grpc.StatusCode.UNAUTHENTICATED),
                                  ("Bearer ann:wrong", grpc.StatusCode.UNAUTHENTICATED),
                                  ("Bearer nobody:secret", grpc.StatusCode.UNAUTHENTICATED),
                                  ("Digest x", grpc.StatusCode.UNAUTHENTICATED),
                                  ("Bearer bob:other", grpc.StatusCode.PERMISSION_DENIED),
                                  ("Bearer eve:third", grpc.StatusCode.PERMISSION_DENIED)):
            with self.subTest(credentials=credentials):
                with self.assertRaises(grpc.RpcError) as raised:
                    self.call(credentials)
                self.assertEqual(raised.exception.code(), code, raised.exception.details())
        self.assertTrue(self.call("Bearer ann:secret").jid)
        self.call("Bearer bob:other", self.stub.ListQueues, pb.ListQueuesRequest(namespace="app"))

    def test_calls_with_the_same_credentials_wait_for_one_check(self):
        calls = [self.stub.Add.future(add(), metadata=[("authorization", "Bearer ann:secret")], timeout=LIMIT_S)
                 for _ in range(300)]
        self.assertEqual(len({call.result().jid for call in calls}), 300)

    def run_as_root(self, *words):
        self.stub.Execute(pb.ExecuteRequest(words=[word.encode() for word in words]),
                          metadata=[("authorization", "Bearer root:top")], timeout=LIMIT_S)

    def test_a_user_that_is_removed_ends_its_calls(self):
        self.run_as_root("Q.USER.SET", "tom", "PASSWORD", "pw", "RIGHT", "app:write")
        self.call("Bearer tom:pw", message=add(name="other"))
        call = self.stub.StreamNext(pb.StreamNextRequest(namespace="app", queues=["mail"], worker="w"),
                                    metadata=[("authorization", "Bearer tom:pw")], timeout=LIMIT_S)
        call.initial_metadata()
        self.run_as_root("Q.USER.DEL", "tom")
        with self.assertRaises(grpc.RpcError) as raised:
            next(call)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_health_is_for_everybody(self):
        check = self.channel.unary_unary("/grpc.health.v1.Health/Check")
        self.assertEqual(check(b"", timeout=LIMIT_S), b"\x08\x01")
        self.assertEqual(check(b"\x0a\x0fsluice.v1.Queue", timeout=LIMIT_S), b"\x08\x01")
        with self.assertRaises(grpc.RpcError) as raised:
            check(b"\x0a\x04none", timeout=LIMIT_S)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)


class Tls(unittest.TestCase):
    def setUp(self):
        self.server = sluiced.Server()
        self.addCleanup(self.server.__exit__, None, None, None)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", self.server.path("key"), "-out", self.server.path("cert")],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.server.flags = ("--http", "", "--grpc", "", "--tls-grpc", "127.0.0.1:0", "--tls-cert",
                             self.server.path("cert"), "--tls-key", self.server.path("key"))
        self.server.__enter__()
        line, = [line for line in self.server.log if " listening grpc=" in line]
        self.port = int(line.split("127.0.0.1:")[1].split()[0])

    def test_calls_under_tls(self):
        with open(self.server.path("cert"), "rb") as file:
            credentials = grpc.ssl_channel_credentials(file.read())
        with grpc.secure_channel(f"localhost:{self.port}", credentials) as channel:
            stub = pb_grpc.QueueStub(channel)
            jid = stub.Add(add('"' + "x" * 300000 + '"'), timeout=LIMIT_S).jid
            self.assertEqual(stub.Next(take(), timeout=LIMIT_S).tasks[0].jid, jid)

    def handshake(self, *protocols):
        context = ssl.create_default_context(cafile=self.server.path("cert"))
        if protocols:
            context.set_alpn_protocols(protocols)
        with socket.create_connection(("127.0.0.1", self.port), LIMIT_S) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as secure:
                return secure.selected_alpn_protocol()

    def test_alpn_is_h2_or_nothing(self):
        self.assertEqual(self.handshake("http/1.1", "h2"), "h2")
        self.assertIsNone(self.handshake())
        with self.assertRaisesRegex(ssl.SSLError, "(?i)no.application.protocol"):
            self.handshake("http/1.1")


if __name__ == "__main__":
    sluiced.main()
