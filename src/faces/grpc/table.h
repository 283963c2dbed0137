// SPDX-License-Identifier: MIT
// How the files of messages write their tables down.
#ifndef SLUICE_FACES_GRPC_TABLE_H
#define SLUICE_FACES_GRPC_TABLE_H

#include "faces/grpc/schema.h"

// The start of a field's entry: its number and name.
#define DOUBLE(at, called) .number = (at), .name = (called), .type = GRPC_TYPE_DOUBLE
#define INT64(at, called)  .number = (at), .name = (called), .type = GRPC_TYPE_INT64
#define UINT64(at, called) .number = (at), .name = (called), .type = GRPC_TYPE_UINT64
#define INT32(at, called)  .number = (at), .name = (called), .type = GRPC_TYPE_INT32
#define UINT32(at, called) .number = (at), .name = (called), .type = GRPC_TYPE_UINT32
#define BOOL(at, called)   .number = (at), .name = (called), .type = GRPC_TYPE_BOOL
#define STRING(at, called) .number = (at), .name = (called), .type = GRPC_TYPE_STRING
#define BYTES(at, called)  .number = (at), .name = (called), .type = GRPC_TYPE_BYTES
#define MESSAGE(at, called, of)                                                                    \
    .number = (at), .name = (called), .type = GRPC_TYPE_MESSAGE, .message = (of)
#define ENUM(at, called, of)                                                                       \
    .number = (at), .name = (called), .type = GRPC_TYPE_ENUM, .values = (of)

#define FIELDS(list) .fields = (list), .field_count = sizeof(list) / sizeof((list)[0])
#define VALUES(list) .values = (list), .value_count = sizeof(list) / sizeof((list)[0])

#endif
