// SPDX-License-Identifier: MIT
// What a command replies, as a message at the end of a buffer, by the tables of messages: keys are
// fields, null is a field that is not set, text that is not UTF-8 loses the bytes that are not. What
// no field holds is left out; a test shows that there is nothing of the kind.
#ifndef SLUICE_FACES_GRPC_WRITER_H
#define SLUICE_FACES_GRPC_WRITER_H

#include "api/reply.h"
#include "base/buffer.h"
#include "faces/grpc/methods.h"
#include "faces/grpc/plan.h"

enum {
    GRPC_DEPTH_MAX = 64,  // of lists and maps of a reply
    GRPC_TARGETS_MAX = 2, // fields that hold the same
    GRPC_ENDS_MAX = 4,    // messages that end with a list or map
};

struct grpc_writer_options {
    const struct grpc_message *message; // of the whole, or of each item
    enum grpc_shape shape;
    struct slice ns;              // of what is told, for fields of GRPC_ROLE_NAMESPACE
    const struct grpc_plan *plan; // of the request, for errors in replies; or NULL
    struct slices requests;       // of several: the words behind the namespace, which are answered
    int64_t now_us;
    bool raw;        // payloads are bytes
    size_t size_max; // of a reply; the buffer may have less room at the moment
};

// Where what comes next goes.
struct grpc_target {
    const struct grpc_field *fields[GRPC_TARGETS_MAX];
    size_t count;
};

enum grpc_level_kind {
    GRPC_LEVEL_MAP,        // of a message's fields
    GRPC_LEVEL_LIST,       // of a repeated field
    GRPC_LEVEL_VALUE_MAP,  // of a Value
    GRPC_LEVEL_VALUE_LIST, // likewise
    GRPC_LEVEL_SKIPPED,
};

struct grpc_level {
    enum grpc_level_kind kind;
    const struct grpc_message *message; // whose fields they are
    struct grpc_target target;          // of the next value
    bool wants_key;
    bool framed;                // its end is that of a frame
    size_t hint;                // the field that was found last
    size_t item;                // of a list: which comes next
    size_t ends[GRPC_ENDS_MAX]; // of messages, the innermost last
    size_t end_count;
    size_t pair; // of a Value's map: the pair that is open
};

struct grpc_writer {
    struct reply reply; // that commands write to
    struct buffer *out; // borrowed
    struct grpc_writer_options options;
    struct grpc_level levels[GRPC_DEPTH_MAX];
    size_t depth;
    struct slices requests; // that are not yet answered
    uint64_t errors;        // said so far
    uint64_t misfits;       // values that no field holds
    bool missing;           // GRPC_SHAPE_FIRST: the item is null
};

void grpc_writer_init(struct grpc_writer *writer, struct buffer *out,
                      const struct grpc_writer_options *options);

// A moment and a length of time as messages in a field, or in place of one.
void grpc_write_time(struct buffer *out, uint32_t number, int64_t us);

#endif
