// SPDX-License-Identifier: MIT
// Bytes of one's own that grow as they are appended to, never beyond a maximum.
//
// Errors stick: after an append that failed, the buffer keeps what it held, refuses all further
// appends, and `status` says why. So a writer may append a hundred pieces and check once.
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

// Frees the bytes; the buffer may be used again, as after init.
void buffer_release(struct buffer *buffer);

// Forgets the bytes and the error, keeps the memory for the next use.
void buffer_clear(struct buffer *buffer);

// What buffer_reserve does when there is no room yet.
char *buffer_reserve_more(struct buffer *buffer, size_t size);

// Room for `size` more bytes. Returns where they go, or NULL (and `status` is set). What is
// written there counts once buffer_commit says how much it was.
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

// Forgets all but the first `size` bytes.
static inline void buffer_truncate(struct buffer *buffer, size_t size)
{
    if (size < buffer->size) {
        buffer->size = size;
    }
}

// Forgets the first `size` bytes and moves the rest to the front.
void buffer_consume(struct buffer *buffer, size_t size);

// What it holds; valid until the next call that changes it.
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
