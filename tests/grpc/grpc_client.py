"""The server as a program sees it that was made from the .proto file by protoc.

    class Calls(grpc_client.TestCase):
        def test_add(self):
            jid = self.queue.Add(pb.AddRequest(queue="mail", klass="Send")).jid
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile

import grpc

sys.path.insert(1, os.path.join(os.environ["TEST_SOURCE"], "tests", "clients"))
import sluiced  # noqa: E402

SOURCE = os.environ["TEST_SOURCE"]
PROTO = os.path.join(SOURCE, "proto")
STANDARD = "/usr/share/grpc-proto"
LIMIT_S = sluiced.LIMIT_S


def generate(folder, root, *files):
    """Python modules of .proto files, as in the manual."""
    plugin = shutil.which("grpc_python_plugin")
    subprocess.check_call(["protoc", f"-I{root}", f"--plugin=protoc-gen-grpc_python={plugin}",
                           f"--python_out={folder}", f"--grpc_python_out={folder}", *files])


_folder = tempfile.mkdtemp(prefix="sluice-grpc-")
atexit.register(shutil.rmtree, _folder)
generate(_folder, PROTO, "sluice/v1/sluice.proto")
sys.path.insert(1, _folder)
from sluice.v1 import sluice_pb2 as pb  # noqa: E402
from sluice.v1 import sluice_pb2_grpc as pb_grpc  # noqa: E402


class TestCase(sluiced.TestCase):
    """Tests that share a server, which has the class's flags, and each have a channel."""

    flags = ("--grpc", "127.0.0.1:0")

    def setUp(self):
        self.channel = self.connect()
        self.queue = pb_grpc.QueueStub(self.channel)

    def connect(self, *options):
        channel = grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}", options)
        self.addCleanup(channel.close)
        return channel

    def fails(self, code, call, request, **options):
        """Makes a call, which must fail so, and gives the error."""
        with self.assertRaises(grpc.RpcError) as context:
            answer = call(request, timeout=LIMIT_S, **options)
            self.fail(f"it answered {answer}")
        self.assertEqual(code, context.exception.code(), context.exception.details())
        return context.exception

    def add(self, queue, **fields):
        """Puts a job; gives its jid."""
        fields.setdefault("klass", "K")
        fields.setdefault("data", pb.Payload(json="{}"))
        return self.queue.Add(pb.AddRequest(queue=queue, **fields), timeout=LIMIT_S).jid

    def take(self, queue, **fields):
        """Takes one job."""
        fields.setdefault("worker", "w")
        answer = self.queue.Next(pb.NextRequest(queues=[queue], **fields), timeout=LIMIT_S)
        self.assertEqual(1, len(answer.tasks))
        return answer.tasks[0]


def lease_of(task, worker="w"):
    return pb.LeaseRef(jid=task.jid, worker=worker, token=task.token)
