// SPDX-License-Identifier: MIT
// Compresses replies as gzip, for speed rather than size, because each is sent once.
#ifndef SLUICE_SERVER_HTTP_GZIP_H
#define SLUICE_SERVER_HTTP_GZIP_H

#include "base/alloc.h"
#include "base/buffer.h"

// Allocated on first use, then reused.
struct gzip {
    const struct allocator *allocator; // borrowed
    struct z_stream_s *stream;         // owned; NULL: not allocated yet
};

// Allocates nothing.
void gzip_init(struct gzip *gzip, const struct allocator *allocator);
void gzip_release(struct gzip *gzip);

// `context` is a struct gzip. NO_MEMORY, or the buffer's status; then what was appended is invalid.
enum status gzip_append(void *context, struct slice body, struct buffer *out);

// Decompresses a gzip file whose content has that size; otherwise STATE. NO_MEMORY, or the buffer's
// status.
MUST_USE enum status gzip_expand(struct slice file, size_t size, struct buffer *out);

#endif
