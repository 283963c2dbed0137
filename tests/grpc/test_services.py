#!/usr/bin/python3
"""grpc.health.v1 and grpc.reflection, as tools use them: the interface is learnt from the server
alone."""

import os

import grpc
import grpc_client
import sluiced
from grpc_client import LIMIT_S
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorProto

# Modules of the packages grpc.* must not be looked for in the library grpc.
grpc.__path__.append(os.path.join(grpc_client._folder, "grpc"))
grpc_client.generate(grpc_client._folder, grpc_client.STANDARD, "grpc/health/v1/health.proto",
                     "grpc/reflection/v1alpha/reflection.proto", "grpc/reflection/v1/reflection.proto")
from grpc.health.v1 import health_pb2, health_pb2_grpc  # noqa: E402
from grpc.reflection.v1 import reflection_pb2 as v1, reflection_pb2_grpc as v1_grpc  # noqa: E402
from grpc.reflection.v1alpha import reflection_pb2 as alpha  # noqa: E402
from grpc.reflection.v1alpha import reflection_pb2_grpc as alpha_grpc  # noqa: E402

SERVING = health_pb2.HealthCheckResponse.SERVING


class Health(grpc_client.TestCase):
    def setUp(self):
        super().setUp()
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def test_check(self):
        for service in ("", "sluice.v1.Queue"):
            answer = self.health.Check(health_pb2.HealthCheckRequest(service=service))
            self.assertEqual(SERVING, answer.status)
        self.fails(grpc.StatusCode.NOT_FOUND, self.health.Check,
                   health_pb2.HealthCheckRequest(service="x"))

    def test_watch(self):
        known = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=LIMIT_S)
        self.assertEqual(SERVING, next(known).status)
        unknown = self.health.Watch(health_pb2.HealthCheckRequest(service="x"), timeout=LIMIT_S)
        self.assertEqual(health_pb2.HealthCheckResponse.SERVICE_UNKNOWN, next(unknown).status)
        known.cancel()
        unknown.cancel()


class Reflection(grpc_client.TestCase):
    def learn(self, messages, stub):
        """A pool of all files that the server has."""
        call = stub.ServerReflectionInfo(
            iter([messages.ServerReflectionRequest(list_services="*")]), timeout=LIMIT_S)
        services = [service.name for service in next(call).list_services_response.service]
        self.assertIn("sluice.v1.Queue", services)
        self.assertIn("grpc.health.v1.Health", services)
        requests = iter([messages.ServerReflectionRequest(file_containing_symbol=name)
                         for name in services])
        pool, seen = descriptor_pool.DescriptorPool(), set()
        for answer in stub.ServerReflectionInfo(requests, timeout=LIMIT_S):
            # Those that a file imports come behind it.
            for data in reversed(answer.file_descriptor_response.file_descriptor_proto):
                name = FileDescriptorProto.FromString(data).name
                if name not in seen:
                    pool.AddSerializedFile(data)
                    seen.add(name)
        return pool

    def test_a_call_is_made_with_what_was_learnt(self):
        for messages, stub in ((v1, v1_grpc.ServerReflectionStub(self.channel)),
                               (alpha, alpha_grpc.ServerReflectionStub(self.channel))):
            with self.subTest(messages.DESCRIPTOR.name):
                pool = self.learn(messages, stub)
                method = pool.FindServiceByName("sluice.v1.Queue").methods_by_name["Add"]
                factory = message_factory.MessageFactory(pool)
                request = factory.GetPrototype(method.input_type)
                reply = factory.GetPrototype(method.output_type)
                add = self.channel.unary_unary("/sluice.v1.Queue/Add",
                                               request_serializer=request.SerializeToString,
                                               response_deserializer=reply.FromString)
                answer = add(request(queue="q", klass="K", data={"json": "1"}, jid="learnt"))
                self.assertEqual("learnt", answer.jid)

    def test_what_is_not_known_is_an_answer(self):
        stub = v1_grpc.ServerReflectionStub(self.channel)
        requests = iter([v1.ServerReflectionRequest(host="h", file_containing_symbol="x.Y"),
                         v1.ServerReflectionRequest(file_by_filename="sluice/v1/sluice.proto")])
        missing, found = stub.ServerReflectionInfo(requests, timeout=LIMIT_S)
        self.assertEqual((grpc.StatusCode.NOT_FOUND.value[0], "h"),
                         (missing.error_response.error_code, missing.valid_host))
        self.assertEqual("x.Y", missing.original_request.file_containing_symbol)
        self.assertEqual(3, len(found.file_descriptor_response.file_descriptor_proto))


if __name__ == "__main__":
    sluiced.main()
