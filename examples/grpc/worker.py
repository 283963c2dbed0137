#!/usr/bin/python3
"""A worker in Python: takes jobs of a queue as they come, renews their leases, and settles them.

    protoc -Iproto --python_out=. --grpc_python_out=. \
        --plugin=protoc-gen-grpc_python=$(which grpc_python_plugin) sluice/v1/sluice.proto
    python3 worker.py 127.0.0.1:7713 mail
"""

import queue
import signal
import sys
import threading

import grpc
from sluice.v1 import sluice_pb2 as pb
from sluice.v1 import sluice_pb2_grpc

WORKER = "worker-1"
STREAMS = 4  # jobs at once


def work(data):
    """The work itself: gets the bytes that were put and returns the bytes of the result."""
    if data == b"bad":
        raise ValueError("the data is bad")
    return data.upper()


class Keeper:
    """Renews the leases of the jobs that are being worked on, three times in each lease."""

    def __init__(self, stub):
        self.leases = {}  # by jid
        self.changed = threading.Condition()
        self.states = stub.Keepalive(self.requests())
        threading.Thread(target=self.listen, daemon=True).start()

    def requests(self):
        yield pb.KeepaliveRequest(worker=WORKER)
        pause_s = None
        while True:
            with self.changed:
                self.changed.wait(pause_s)
                tasks = list(self.leases.values())
            pause_s = min((t.lease_duration.ToTimedelta().total_seconds() for t in tasks),
                          default=None)
            pause_s = pause_s and pause_s / 3
            if tasks:
                yield pb.KeepaliveRequest(leases=[
                    pb.Renewal(jid=task.jid, token=task.token) for task in tasks])

    def listen(self):
        try:
            for state in self.states:
                for lease in state.leases:
                    if lease.HasField("lost"):  # stop the work on it, if that is possible
                        self.remove(lease.jid)
        except grpc.RpcError:
            pass  # the channel was closed; StreamNext fails too and ends the program

    def add(self, task):
        with self.changed:
            self.leases[task.jid] = task
            self.changed.notify()

    def remove(self, jid):
        with self.changed:
            self.leases.pop(jid, None)


def run(stub, keeper, tasks):
    while True:
        task = tasks.get()
        lease = pb.LeaseRef(jid=task.jid, worker=WORKER, token=task.token)
        keeper.add(task)
        try:
            result = work(task.data.raw)
            keeper.remove(task.jid)
            stub.Done(pb.DoneRequest(lease=lease, result=pb.Payload(raw=result)))
        except grpc.RpcError as error:  # the job is not ours any more, or the server is away
            print(f"{task.jid}: {error.details()}", file=sys.stderr)
        except Exception as error:  # tried again later, as the job's backoff says
            keeper.remove(task.jid)
            stub.Retry(pb.RetryRequest(lease=lease, group=type(error).__name__, message=str(error)))


def main(address, name):
    channel = grpc.insecure_channel(address)
    stub = sluice_pb2_grpc.QueueStub(channel)
    keeper = Keeper(stub)
    tasks = queue.SimpleQueue()
    for _ in range(STREAMS):
        threading.Thread(target=run, args=(stub, keeper, tasks), daemon=True).start()
    # The server hands out a job when one of those before it is settled. When the call ends, it
    # takes back what is not.
    stream = stub.StreamNext(pb.StreamNextRequest(
        queues=[name], worker=WORKER, max_in_flight=STREAMS, release_on_close=True,
        raw_payloads=True))
    signal.signal(signal.SIGTERM, lambda *_: stream.cancel())
    try:
        for task in stream:
            tasks.put(task)
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.CANCELLED:
            sys.exit(f"{error.code().name}: {error.details()}")
    finally:
        channel.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
