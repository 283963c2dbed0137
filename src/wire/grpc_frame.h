// SPDX-License-Identifier: MIT
// Messages of gRPC in a stream of bytes: one byte that says whether the message is compressed, four
// with its size (big-endian), and the message.
#ifndef SLUICE_WIRE_GRPC_FRAME_H
#define SLUICE_WIRE_GRPC_FRAME_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>

enum {
    GRPC_FRAME_HEAD = 5,
};

enum grpc_frame_step {
    GRPC_FRAME_MORE,      // the message is not whole
    GRPC_FRAME_WHOLE,     // taken off the front of the input
    GRPC_FRAME_BROKEN,    // the first byte is neither 0 nor 1: INTERNAL
    GRPC_FRAME_TOO_LARGE, // larger than `size_max`, which its head says: RESOURCE_EXHAUSTED
};

struct grpc_frame {
    bool compressed;
    struct slice message; // borrowed from the input
};

// Takes a frame off the front of `*input`. `*missing` is how many bytes more are needed at least
// (MORE), else 0; it may be NULL.
enum grpc_frame_step grpc_frame_next(struct slice *input, size_t size_max, struct grpc_frame *out,
                                     size_t *missing);

// Begins a frame at the end of `out`; where the message goes is returned. The message is appended,
// then the end writes its size. When the buffer refuses, its status says so.
size_t grpc_frame_begin(struct buffer *out);
void grpc_frame_end(struct buffer *out, size_t begin);

#endif
