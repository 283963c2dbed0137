// SPDX-License-Identifier: MIT
// Owned bytes that grow with appends, up to a maximum.
//
// Errors stick: after an append that failed, the buffer keeps its contents, refuses all further
// appends, and `status` has the reason. So a writer may append many pieces and check once.
#ifndef SLUICE_BASE_BUFFER_H
#define SLUICE_BASE_BUFFER_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buffer {
    const struct allocator *allocator; // borrowed
    char *data;                        // owned; NULL when capacity is 0
    size_t size;
    size_t capacity;
    size_t size_max;    // below SIZE_MAX
    enum status status; // STATUS_OK, STATUS_TOO_LARGE or STATUS_NO_MEMORY
};

// Allocates nothing.
void buffer_init(struct buffer *buffer, const struct allocator *allocator, size_t size_max);

// Frees the bytes. The buffer is as after buffer_init.
void buffer_release(struct buffer *buffer);

// Removes the bytes and resets the status; keeps the memory for reuse.
void buffer_clear(struct buffer *buffer);

// The part of buffer_reserve that allocates.
char *buffer_reserve_more(struct buffer *buffer, size_t size);

// Returns room for `size` more bytes, or NULL with `status` set. buffer_commit says how many of
// them were written.
static inline char *buffer_reserve(struct buffer *buffer, size_t size)
{
    bool fits = !buffer->status && size < buffer->capacity - buffer->size;
    return fits ? buffer->data + buffer->size : buffer_reserve_more(buffer, size);
}

static inline void buffer_commit(struct buffer *buffer, size_t size)
{
    buffer->size += size;
}

static inline void buffer_append(struct buffer *buffer, struct slice bytes)
{
    char *end = buffer_reserve(buffer, bytes.size);
    if (end && bytes.data) {
        memcpy(end, bytes.data, bytes.size);
        buffer_commit(buffer, bytes.size);
    }
}

static inline void buffer_append_char(struct buffer *buffer, char c)
{
    char *end = buffer_reserve(buffer, 1);
    if (end) {
        *end = c;
        buffer_commit(buffer, 1);
    }
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Removes all but the first `size` bytes.
static inline void buffer_truncate(struct buffer *buffer, size_t size)
{
    if (size < buffer->size) {
        buffer->size = size;
    }
}

// Removes the first `size` bytes and moves the rest to the front.
void buffer_consume(struct buffer *buffer, size_t size);

// The contents; valid until the next call that changes the buffer.
static inline void buffer_swap(struct buffer *a, struct buffer *b)
{
    struct buffer before = *a;
    *a = *b;
    *b = before;
}

static inline struct slice buffer_slice(const struct buffer *buffer)
{
    return slice_make(buffer->data, buffer->size);
}

#endif
