#!/usr/bin/python3
"""Every call of the service, from Python (grpc-core)."""

import queue
import threading

import grpc
import grpc_client
import sluiced
from grpc_client import LIMIT_S, lease_of, pb
from google.protobuf.duration_pb2 import Duration

Code = grpc.StatusCode


class Inbox:
    """The requests of a stream, which end when they are closed."""

    def __init__(self):
        self.items = queue.SimpleQueue()

    def put(self, item):
        self.items.put(item)

    def close(self):
        self.items.put(None)

    def __iter__(self):
        return iter(self.items.get, None)


def seconds(number):
    return Duration(seconds=int(number), nanos=int(number % 1 * 1e9))


class Producers(grpc_client.TestCase):
    def test_add(self):
        jid = self.queue.Add(pb.AddRequest(
            namespace="adds", queue="q", klass="Send", data=pb.Payload(json='{"to":"ann"}'), jid="a",
            priority=-3, retries=2, domain="example.org", tags=["x", "y"], worker="w",
            options=pb.Options(backoff="fixed:5", timeout=seconds(60), lease=seconds(1.5),
                               result_ttl=seconds(7), max_crashes=3,
                               on_dependency_failure=pb.Options.RUN))).jid
        self.assertEqual("a", jid)
        job = self.queue.Get(pb.GetRequest(namespace="adds", jid="a"))
        self.assertEqual(("adds", "a", "q", "Send"), (job.namespace, job.jid, job.queue, job.klass))
        self.assertEqual('{"to":"ann"}', job.data.json)
        self.assertEqual((-3, 2, 2), (job.priority, job.retries, job.remaining))
        self.assertEqual("example.org", job.domain)
        self.assertEqual(["x", "y"], list(job.tags))
        self.assertEqual(pb.Job.WAITING, job.state)
        self.assertFalse(job.HasField("lease") or job.HasField("schedule_time"))
        task = self.queue.Next(pb.NextRequest(namespace="adds", queues=["q"], worker="w")).tasks[0]
        self.assertAlmostEqual(1.5, task.lease_duration.ToNanoseconds() / 1e9, delta=0.5)

    def test_made_jid(self):
        self.assertEqual(36, len(self.add("made")))

    def test_request_id(self):
        first = self.add("repeated", request_id="r")
        self.assertEqual(first, self.add("repeated", request_id="r"))
        self.fails(Code.INVALID_ARGUMENT, self.queue.Add,
                   pb.AddRequest(queue="repeated", klass="other", data=pb.Payload(json="1"),
                                 request_id="r"))

    def test_schedule(self):
        self.add("later", jid="later-1", delay=seconds(3600))
        job = self.queue.Get(pb.GetRequest(jid="later-1"))
        self.assertEqual(pb.Job.SCHEDULED, job.state)
        self.assertAlmostEqual(3600, job.schedule_time.seconds - job.create_time.seconds, delta=1)
        self.add("later", jid="later-2", schedule_time=job.schedule_time)
        second = self.queue.Get(pb.GetRequest(jid="later-2"))
        self.assertAlmostEqual(job.schedule_time.ToMicroseconds(),
                               second.schedule_time.ToMicroseconds(), delta=1)

    def test_payloads(self):
        for payload in (b"\x00\xff", b"hello", b'{"a":1}', b'"quoted"', b"", "gr\u00fcn".encode()):
            with self.subTest(payload):
                jid = self.add("payloads", data=pb.Payload(raw=payload))
                task = self.take("payloads", raw_payloads=True)
                self.assertEqual(payload, task.data.raw)
                self.queue.Done(pb.DoneRequest(lease=lease_of(task), result=pb.Payload(raw=payload)))
                done = self.queue.Wait(pb.WaitRequest(jid=jid, raw_payloads=True))
                self.assertEqual(payload, done.result.raw)
        self.assertEqual("raw", self.queue.Get(pb.GetRequest(jid=self.add(
            "payloads", data=pb.Payload(raw=b"\xff")))).data.WhichOneof("kind"))

    def test_must_exist(self):
        self.fails(Code.NOT_FOUND, self.queue.Add,
                   pb.AddRequest(queue="exist", klass="K", data=pb.Payload(json="1"), jid="exist",
                                 must_exist=True))
        self.add("exist", jid="exist")
        self.assertEqual("exist", self.add("moved", jid="exist", must_exist=True))

    def test_unique(self):
        first = self.add("unique", unique=pb.Unique(key="k"))
        self.assertEqual(first, self.add("unique", unique=pb.Unique(key="k")))
        self.fails(Code.ALREADY_EXISTS, self.queue.Add,
                   pb.AddRequest(queue="unique", klass="K", data=pb.Payload(json="1"),
                                 unique=pb.Unique(key="k", on_conflict=pb.Unique.REFUSE)))
        job = self.queue.Get(pb.GetRequest(jid=first))
        self.assertEqual((pb.UniqueLock.KEY, "k", True),
                         (job.unique.by, job.unique.key, job.unique.held))

    def test_batch_add(self):
        answer = self.queue.BatchAdd(pb.BatchAddRequest(namespace="batch", requests=[
            pb.AddRequest(queue="q", klass="K", data=pb.Payload(json="1"), jid="b1"),
            pb.AddRequest(queue="q", klass="K", data=pb.Payload(json="{")),
            pb.AddRequest(queue="q", klass="K", data=pb.Payload(json="3"), jid="b3"),
        ]))
        self.assertEqual(["jid", "error", "jid"], [r.WhichOneof("result") for r in answer.results])
        self.assertEqual((3, "INVALID", "data"),
                         (answer.results[1].error.code, answer.results[1].error.reason,
                          answer.results[1].error.field))
        jobs = self.queue.BatchGet(pb.BatchGetRequest(namespace="batch", jids=["b1", "x", "b3"])).jobs
        self.assertEqual(["b1", "b3"], [job.jid for job in jobs])

    def test_stream_add(self):
        inbox = Inbox()
        results = self.queue.StreamAdd(iter(inbox), timeout=LIMIT_S)
        for number in range(3):  # the answer comes while the stream goes on
            inbox.put(pb.AddRequest(queue="stream", klass="K", data=pb.Payload(json=str(number)),
                                    jid=f"s{number}"))
            self.assertEqual(f"s{number}", next(results).jid)
        inbox.put(pb.AddRequest(queue="stream", klass="K", data=pb.Payload(json="x")))
        self.assertEqual("INVALID", next(results).error.reason)
        for number in range(500):
            inbox.put(pb.AddRequest(queue="stream", klass="K", data=pb.Payload(json="1"),
                                    jid=f"t{number}"))
        inbox.close()
        self.assertEqual([f"t{number}" for number in range(500)], [r.jid for r in results])
        self.assertEqual(Code.OK, results.code())

    def test_wait(self):
        jid = self.add("waits")
        self.assertEqual(0, self.queue.Wait(pb.WaitRequest(jid=jid, timeout=seconds(0.01))).state)
        waiting = self.queue.Wait.future(pb.WaitRequest(jid=jid), timeout=LIMIT_S)
        task = self.take("waits")
        self.queue.Done(pb.DoneRequest(lease=lease_of(task), result=pb.Payload(json="[1]")))
        self.assertEqual(pb.Job.COMPLETE, waiting.result().state)
        self.assertEqual("[1]", waiting.result().result.json)
        self.fails(Code.NOT_FOUND, self.queue.Wait, pb.WaitRequest(jid="nothing"))

    def test_cancel(self):
        self.add("cancels", jid="c1")
        self.add("cancels", jid="c2", depends=["c1"])
        self.fails(Code.FAILED_PRECONDITION, self.queue.Cancel, pb.CancelRequest(jids=["c1"]))
        self.assertEqual(2, self.queue.Cancel(pb.CancelRequest(jids=["c1"], dependents=True)).canceled)
        self.assertEqual(0, self.queue.Cancel(pb.CancelRequest(jids=["c1"])).canceled)

    def test_a_repeated_cancel(self):
        self.add("cancels", jid="c3")
        request = pb.CancelRequest(jids=["c3"], request_id="cancel c3")
        self.assertEqual(1, self.queue.Cancel(request).canceled)
        self.add("cancels", jid="c3")
        self.assertEqual(1, self.queue.Cancel(request).canceled)
        self.assertEqual("c3", self.queue.Get(pb.GetRequest(jid="c3")).jid)


class Workers(grpc_client.TestCase):
    def test_next(self):
        self.assertEqual(0, len(self.queue.Next(pb.NextRequest(queues=["none"], worker="w")).tasks))
        for number in range(5):
            self.add("next", jid=f"n{number}", priority=-number)
        answer = self.queue.Next(pb.NextRequest(queues=["none", "next"], worker="w", max_tasks=3))
        self.assertEqual(["n4", "n3", "n2"], [task.jid for task in answer.tasks])
        task = answer.tasks[0]
        self.assertEqual(("default", "next", "K", "{}", -4, 1),
                         (task.namespace, task.queue, task.klass, task.data.json, task.priority,
                          task.attempts))
        self.assertAlmostEqual(60, task.lease_duration.seconds, delta=1)
        self.assertGreater(task.expire_time.seconds, 1700000000)

    def test_next_waits(self):
        waiting = self.queue.Next.future(
            pb.NextRequest(queues=["soon"], worker="w", wait=seconds(LIMIT_S)), timeout=LIMIT_S)
        jid = self.add("soon")
        self.assertEqual([jid], [task.jid for task in waiting.result().tasks])
        self.assertEqual(0, len(self.queue.Next(pb.NextRequest(
            queues=["soon"], worker="w", wait=seconds(0.01))).tasks))

    def test_work(self):
        jid = self.add("work")
        task = self.take("work")
        lease = lease_of(task)
        self.queue.Start(pb.StartRequest(lease=lease, pid=4711))
        self.queue.Report(pb.ReportRequest(lease=lease, log_lines=["one", "two"],
                                           progress=pb.Progress(fraction=0.25, message="a quarter"),
                                           checkpoint=b"\x00page"))
        job = self.queue.Get(pb.GetRequest(jid=jid))
        self.assertEqual((pb.Job.RUNNING, pb.Job.STARTED), (job.state, job.stage))
        self.assertEqual((0.25, "a quarter"), (job.progress.fraction, job.progress.message))
        self.assertEqual(b"\x00page", job.checkpoint)
        self.assertEqual(("w", task.token, 4711), (job.lease.worker, job.lease.token, job.lease.pid))
        log = self.queue.Execute(pb.ExecuteRequest(words=[b"Q.LOGS", b"default", jid.encode()]))
        lines = [pair.value.text for item in log.value.list.items for pair in item.map.pairs
                 if pair.key == "line"]
        self.assertEqual([b"one", b"two"], lines)
        done = self.queue.Done(pb.DoneRequest(lease=lease, result=pb.Payload(json='"ok"')))
        self.assertEqual(pb.Job.COMPLETE, done.state)
        # Repeated, it is answered as the first time; another lease's token is refused.
        self.assertEqual(pb.Job.COMPLETE, self.queue.Done(pb.DoneRequest(
            lease=lease, result=pb.Payload(json='"ok"'))).state)
        lease.token += 1
        self.fails(Code.ABORTED, self.queue.Done, pb.DoneRequest(lease=lease))

    def test_done_moves_on(self):
        self.add("first", jid="moves")
        lease = lease_of(self.take("first"))
        answer = self.queue.Done(pb.DoneRequest(lease=lease, next_queue="second", delay=seconds(60),
                                                data=pb.Payload(json="2")))
        self.assertEqual(pb.Job.SCHEDULED, answer.state)
        job = self.queue.Get(pb.GetRequest(jid="moves"))
        self.assertEqual(("second", "2"), (job.queue, job.data.json))

    def test_fail(self):
        jid = self.add("fails")
        lease = lease_of(self.take("fails"))
        self.queue.Fail(pb.FailRequest(lease=lease, group="smtp", message="refused"))
        job = self.queue.Get(pb.GetRequest(jid=jid))
        self.assertEqual(pb.Job.FAILED, job.state)
        self.assertEqual(("smtp", "refused", "w"),
                         (job.failure.group, job.failure.message, job.failure.worker))
        other = self.add("fails")
        self.queue.Fail(pb.FailRequest(lease=pb.LeaseRef(jid=other, worker="ops"), group="g",
                                       force=True))

    def test_retry_and_release(self):
        jid = self.add("again", retries=1)
        self.assertEqual(0, self.queue.Retry(pb.RetryRequest(
            lease=lease_of(self.take("again")), delay=seconds(0), group="g", message="m")).remaining)
        self.queue.Release(pb.ReleaseRequest(lease=lease_of(self.take("again"))))
        self.assertEqual(0, self.queue.Retry(pb.RetryRequest(
            lease=lease_of(self.take("again")), delay=seconds(0), uncounted=True)).remaining)
        self.assertEqual(-1, self.queue.Retry(pb.RetryRequest(
            lease=lease_of(self.take("again")), group="g")).remaining)
        self.assertEqual(pb.Job.FAILED, self.queue.Get(pb.GetRequest(jid=jid)).state)

    def test_stream_next(self):
        stream = self.queue.StreamNext(pb.StreamNextRequest(
            queues=["streams"], worker="w", max_in_flight=2), timeout=LIMIT_S)
        for number in range(4):
            self.add("streams", jid=f"x{number}")
        first, second = next(stream), next(stream)
        self.assertEqual(["x0", "x1"], [first.jid, second.jid])
        # Two are in flight, so two are still waiting.
        self.assertEqual(2, len(self.queue.List(pb.ListRequest(
            state=pb.Job.WAITING, queue="streams")).jobs))
        self.queue.Done(pb.DoneRequest(lease=lease_of(first)))
        self.assertEqual("x2", next(stream).jid)
        self.queue.Fail(pb.FailRequest(lease=lease_of(second), group="g"))
        self.assertEqual("x3", next(stream).jid)
        stream.cancel()

    def test_release_on_close(self):
        stream = self.queue.StreamNext(pb.StreamNextRequest(
            queues=["closing"], worker="w", max_in_flight=2, release_on_close=True), timeout=LIMIT_S)
        self.add("closing", jid="r1")
        self.assertEqual("r1", next(stream).jid)
        stream.cancel()
        sluiced.until(lambda: self.queue.Get(pb.GetRequest(jid="r1")).state != pb.Job.RUNNING)
        self.assertEqual(5, self.take("closing").remaining)

    def test_keepalive(self):
        self.add("alive", jid="k1")
        self.add("alive", jid="k2")
        first, second = self.take("alive", worker="k"), self.take("alive", worker="k")
        inbox = Inbox()
        self.addCleanup(inbox.close)
        states = self.queue.Keepalive(iter(inbox), timeout=LIMIT_S)
        inbox.put(pb.KeepaliveRequest(worker="k"))
        self.assertEqual(0, len(next(states).leases))
        inbox.put(pb.KeepaliveRequest(lease=seconds(120), leases=[
            pb.Renewal(jid="k1", token=first.token),
            pb.Renewal(jid="nothing"),
            pb.Renewal(jid="k2", token=second.token + 1),
        ]))
        renewed, gone, stale = next(states).leases
        self.assertEqual(("k1", first.token), (renewed.jid, renewed.token))
        self.assertAlmostEqual(120, renewed.lease_duration.seconds, delta=1)
        self.assertEqual((Code.NOT_FOUND.value[0], "NOT_FOUND"), (gone.lost.code, gone.lost.reason))
        self.assertEqual((Code.ABORTED.value[0], "STALE"), (stale.lost.code, stale.lost.reason))
        # What happens by itself is told as well.
        self.queue.Cancel(pb.CancelRequest(jids=["k1"]))
        lost = next(states).leases[0]
        self.assertEqual(("k1", "NOT_FOUND"), (lost.jid, lost.lost.reason))
        self.queue.Execute(pb.ExecuteRequest(words=[b"Q.TIMEOUT", b"default", b"k2"]))
        lost = next(states).leases[0]
        self.assertEqual(("k2", "STALE"), (lost.jid, lost.lost.reason))
        inbox.close()
        self.assertEqual([], list(states))
        self.assertEqual(Code.OK, states.code())


class Looking(grpc_client.TestCase):
    def test_get(self):
        self.fails(Code.NOT_FOUND, self.queue.Get, pb.GetRequest(jid="nothing"))

    def test_list(self):
        for number in range(7):
            self.add("lists", jid=f"l{number}", tags=["even"] if number % 2 == 0 else [])
        pages, token = [], ""
        while True:
            page = self.queue.List(pb.ListRequest(state=pb.Job.WAITING, queue="lists", page_size=3,
                                                  page_token=token))
            pages.append([job.jid for job in page.jobs])
            token = page.next_page_token
            if not token:
                break
        self.assertEqual([["l0", "l1", "l2"], ["l3", "l4", "l5"], ["l6"]], pages)
        self.assertEqual(7, page.total_size)
        even = self.queue.List(pb.ListRequest(queue="lists", tag="even", jids_only=True))
        self.assertEqual(["l0", "l2", "l4", "l6"], sorted(even.jids))
        self.assertFalse(even.jobs)
        cut = self.queue.List(pb.ListRequest(queue="lists", data_max=1)).jobs[0]
        self.assertEqual((b"{", 2, True), (cut.data.raw, cut.data_size, cut.data_cut))
        self.fails(Code.INVALID_ARGUMENT, self.queue.List,
                   pb.ListRequest(queue="lists", page_token="x"))

    def test_list_queues(self):
        for queue, count in (("qa", 1), ("qb", 2)):
            for _ in range(count):
                self.add(queue, namespace="queues")
        answer = self.queue.ListQueues(pb.ListQueuesRequest(namespace="queues", order_by="waiting"))
        self.assertEqual([("qb", 2), ("qa", 1)], [(q.queue, q.waiting) for q in answer.queues])
        self.assertEqual(2, answer.total_size)
        page = self.queue.ListQueues(pb.ListQueuesRequest(namespace="queues", page_size=1))
        self.assertEqual((1, True), (len(page.queues), bool(page.next_page_token)))

    def test_events(self):
        stream = self.queue.Events(pb.EventsRequest(namespace="tells", queues=["q"]),
                                   timeout=LIMIT_S)
        heard = queue.SimpleQueue()
        threading.Thread(target=lambda: [heard.put(event) for event in ended(stream)]).start()
        # The stream begins when its headers are here.
        stream.initial_metadata()
        self.add("other", namespace="tells")
        jid = self.add("q", namespace="tells")
        event = heard.get(timeout=LIMIT_S)
        self.assertEqual(("put", jid, "q"), (event.kind, event.jid, event.queue))
        self.assertGreater(event.event_time.seconds, 1700000000)
        self.assertIn(f'"jid":"{jid}"', event.json)
        second = self.add("q", namespace="tells")
        self.assertEqual(second, heard.get(timeout=LIMIT_S).jid)
        stream.cancel()
        # From there on.
        again = self.queue.Events(pb.EventsRequest(namespace="tells", last_event_id=event.id),
                                  timeout=LIMIT_S)
        self.assertEqual(second, next(again).jid)
        again.cancel()

    def test_execute(self):
        def run(*words):
            return self.queue.Execute(pb.ExecuteRequest(words=[word.encode() for word in words])).value

        self.assertEqual(b"e1", run("Q.PUT", "exec", "q", "K", "{}", "JID", "e1").text)
        self.assertEqual(1, run("Q.LENGTH", "exec", "q").integer)
        pairs = {pair.key: pair.value for pair in run("Q.EXPLAIN", "exec", "e1").map.pairs}
        self.assertEqual(b"next", pairs["reason"].text)
        self.assertTrue(pairs["until"].null)
        self.assertIn(b"exec", [item.text for item in run("KEYS", "*").list.items])
        self.assertEqual(b"{}", run("Q.GET", "exec", "e1").list.items[0].map.pairs[5].value.json
                         .encode())
        error = self.fails(Code.UNIMPLEMENTED, self.queue.Execute, pb.ExecuteRequest(words=[b"MULTI"]))
        self.assertIn("MULTI", error.details())
        self.fails(Code.INVALID_ARGUMENT, self.queue.Execute, pb.ExecuteRequest(words=[b"NOTHING"]))
        self.fails(Code.INVALID_ARGUMENT, self.queue.Execute, pb.ExecuteRequest())

    def test_errors_have_details(self):
        error = self.fails(Code.INVALID_ARGUMENT, self.queue.Add,
                           pb.AddRequest(queue="q", klass="K", data=pb.Payload(json="1"),
                                         options=pb.Options(backoff="50%\u00fc")))
        self.assertIn('not "50%\u00fc"', error.details())
        details = dict(error.trailing_metadata())["grpc-status-details-bin"]
        for part in (b"type.googleapis.com/google.rpc.ErrorInfo", b"INVALID", b"sluice",
                     b"options.backoff"):
            self.assertIn(part, details)


class EveryCommand(grpc_client.TestCase):
    def test_no_command_needs_a_connection_of_resp(self):
        """Each is answered or refused, whatever its arguments are: DBSIZE and ZCARD ask for what RESP has selected."""
        arguments = [[], ["app"], ["ql:*"], ["ql:queues", "q"], ["app", "q", "x"], ["x"] * 9]
        names = [item.text for item in self.queue.Execute(pb.ExecuteRequest(words=[b"COMMAND", b"LIST"])).value.list.items]
        self.assertIn(b"dbsize", names)
        for name in names:
            for words in arguments:
                if name == b"shutdown":
                    continue
                try:
                    self.queue.Execute(pb.ExecuteRequest(words=[name, *(word.encode() for word in words)]),
                                       timeout=LIMIT_S)
                except grpc.RpcError as error:
                    self.assertNotIn(error.code(), (Code.UNAVAILABLE, Code.UNKNOWN, Code.INTERNAL, Code.CANCELLED,
                                                    Code.DEADLINE_EXCEEDED), (name, words, error.details()))


def ended(stream):
    """The messages of a stream that may be canceled."""
    try:
        yield from stream
    except grpc.RpcError as error:
        assert error.code() == Code.CANCELLED, error


if __name__ == "__main__":
    sluiced.main()
