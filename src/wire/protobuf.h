// SPDX-License-Identifier: MIT
// Protocol Buffers, the wire format: fields of a message read one after the other, and messages
// written at the end of a buffer.
//
//     struct protobuf_reader reader = protobuf_reader(message);
//     struct protobuf_field field;
//     while (protobuf_next(&reader, &field)) {
//         if (field.number == 1 && field.wire == PROTOBUF_BYTES) ... field.bytes ...
//     }
//     if (reader.broken) ... it is no message ...
//
// Nothing is allocated and nothing is copied: what is read are slices of the message. Which fields a
// message has, and of what types, is known by the caller.
#ifndef SLUICE_WIRE_PROTOBUF_H
#define SLUICE_WIRE_PROTOBUF_H

#include "base/buffer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PROTOBUF_NUMBER_MAX = (1 << 29) - 1, // of a field
    PROTOBUF_GROUPS_MAX = 32,            // in one another, which are skipped
    PROTOBUF_VARINT_SIZE_MAX = 10,
};

enum protobuf_wire {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2, // texts, bytes, messages and packed numbers
    PROTOBUF_FIXED32 = 5,
};

struct protobuf_field {
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;     // of numbers, as it stands there
    struct slice bytes; // borrowed from the message
};

struct protobuf_reader {
    struct slice rest; // borrowed until the last call
    bool broken;       // what was left is not a field: the reader has stopped
};

static inline struct protobuf_reader protobuf_reader(struct slice message)
{
    return (struct protobuf_reader){ .rest = message };
}

// The next field; false when there is none, or the message is broken. Groups, which only unknown
// fields of old clients can be, are skipped.
bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field);

// Whether the whole of a message is fields. What is in fields of bytes is not looked at.
bool protobuf_is_valid(struct slice message);

// Whether bytes are UTF-8, which texts must be.
bool protobuf_is_text(struct slice bytes);

// The bytes of a fixed64 that is a double, and back.
double protobuf_double(uint64_t value);

// ---------------------------------------------------------------------------------------------
// Writing. When the buffer refuses, its status says so and keeps saying so; check it once, at the end.

void protobuf_append_varint(struct buffer *out, uint64_t value);

void protobuf_write_varint(struct buffer *out, uint32_t number, uint64_t value);
void protobuf_write_double(struct buffer *out, uint32_t number, double value);
void protobuf_write_bytes(struct buffer *out, uint32_t number, struct slice bytes);

// The same for a text: a byte that is not UTF-8 becomes U+FFFD, since clients refuse the message
// otherwise.
void protobuf_write_text(struct buffer *out, uint32_t number, struct slice text);

// A message in a message: what is appended between the two is its fields. The end writes the size in
// front of them. `begin` gives the place that the end needs.
size_t protobuf_begin(struct buffer *out, uint32_t number);
void protobuf_end(struct buffer *out, size_t place);

// The field number that was written with that type, as protobuf's tools print it.
static inline uint64_t protobuf_tag(uint32_t number, enum protobuf_wire wire)
{
    return (uint64_t)number << 3 | (uint64_t)wire;
}

// An int32 or int64 as the number that stands for it: negative ones take ten bytes.
static inline uint64_t protobuf_signed(int64_t value)
{
    return (uint64_t)value;
}

#endif
