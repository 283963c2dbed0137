#!/usr/bin/python3
"""The tables of messages say the same as the .proto files: what reflection gives is what protoc makes
of them, byte for byte."""

import os
import subprocess
import sys
import tempfile
import unittest

from google.protobuf import descriptor_pb2

SOURCE = os.environ["TEST_SOURCE"]
sys.path.insert(1, os.path.join(SOURCE, "tests", "clients"))
import sluiced  # noqa: E402

STANDARD = "/usr/share/grpc-proto"
HEALTH = "grpc/health/v1/health.proto"


def read_set(data):
    files = descriptor_pb2.FileDescriptorSet.FromString(data).file
    return {file.name: file for file in files}


def compile_files(root, *names):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.check_call(["protoc", f"-I{root}", "--include_imports",
                               f"--descriptor_set_out={out.name}", *names])
        return read_set(out.read())


class Descriptors(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.given = read_set(subprocess.check_output([os.environ["DESCRIPTORS"]]))
        cls.wanted = {
            **compile_files(os.path.join(SOURCE, "proto"), "sluice/v1/sluice.proto"),
            **compile_files(STANDARD, HEALTH, "grpc/reflection/v1/reflection.proto",
                            "grpc/reflection/v1alpha/reflection.proto"),
        }

    def test_there_are_all_files(self):
        self.assertEqual(sorted(self.wanted), sorted(self.given))

    def test_they_are_what_protoc_makes(self):
        for name, file in self.wanted.items():
            with self.subTest(name):
                given = self.given[name]
                if name == HEALTH:
                    given = self.without_list(given)
                self.assertEqual(str(file), str(given))
                self.assertEqual(file.SerializeToString(), given.SerializeToString())

    def without_list(self, file):
        """Health has had a method List since 2025, which the installed file may not have yet."""
        messages = [message.name for message in self.wanted[HEALTH].message_type]
        if "HealthListRequest" in messages:
            return file
        old = descriptor_pb2.FileDescriptorProto()
        old.CopyFrom(file)
        for name in ("HealthListRequest", "HealthListResponse"):
            old.message_type.remove(next(m for m in old.message_type if m.name == name))
        methods = old.service[0].method
        methods.remove(next(m for m in methods if m.name == "List"))
        return old

    def test_the_health_list_is_a_map(self):
        message = next(m for m in self.given[HEALTH].message_type if m.name == "HealthListResponse")
        self.assertTrue(message.nested_type[0].options.map_entry)
        self.assertEqual(".grpc.health.v1.HealthListResponse.StatusesEntry",
                         message.field[0].type_name)


if __name__ == "__main__":
    sluiced.main()
