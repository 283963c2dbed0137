// SPDX-License-Identifier: MIT
// Files of messages and services as google.protobuf.FileDescriptorProto: what protoc would make of
// the .proto file.
#ifndef SLUICE_FACES_GRPC_DESCRIPTOR_H
#define SLUICE_FACES_GRPC_DESCRIPTOR_H

#include "base/buffer.h"
#include "faces/grpc/schema.h"

// Appended.
void grpc_descriptor_write(const struct grpc_file *file, struct buffer *out);

// The file that describes a message, an enum, a service, a field or a method by its full name
// ("sluice.v1.Queue.Add"), or NULL.
const struct grpc_file *grpc_descriptor_find(struct slice symbol);

// The file of that name, or NULL.
const struct grpc_file *grpc_descriptor_file(struct slice name);

#endif
