// SPDX-License-Identifier: MIT
// Answers as gzip, made fast rather than small: they are sent once.
#ifndef SLUICE_SERVER_HTTP_GZIP_H
#define SLUICE_SERVER_HTTP_GZIP_H

#include "base/alloc.h"
#include "base/buffer.h"

// Made when it is first needed, and used again and again.
struct gzip {
    const struct allocator *allocator; // borrowed
    struct z_stream_s *stream;         // owned; NULL: not made yet
};

// Allocates nothing.
void gzip_init(struct gzip *gzip, const struct allocator *allocator);
void gzip_release(struct gzip *gzip);

// `context` is a struct gzip. NO_MEMORY, or the buffer's status: what was appended is of no use.
enum status gzip_append(void *context, struct slice body, struct buffer *out);

// The content of a whole gzip file, which has that size: else STATE. NO_MEMORY, or the buffer's
// status.
MUST_USE enum status gzip_expand(struct slice file, size_t size, struct buffer *out);

#endif
