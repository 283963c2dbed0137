// SPDX-License-Identifier: MIT
#include "base/buffer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CAPACITY_MIN = 64,
};

void buffer_init(struct buffer *buffer, const struct allocator *allocator, size_t size_max)
{
    *buffer = (struct buffer){ .allocator = allocator, .size_max = size_max };
}

// The block has one byte more than the capacity, for the terminator that vsnprintf writes.
static size_t block_size(size_t capacity)
{
    return capacity ? capacity + 1 : 0;
}

void buffer_release(struct buffer *buffer)
{
    mem_free(buffer->allocator, buffer->data, block_size(buffer->capacity));
    buffer_init(buffer, buffer->allocator, buffer->size_max);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
    buffer->status = STATUS_OK;
}

// Doubles, so that appending n bytes one by one copies O(n) bytes; ends exactly at the maximum.
static bool grow(struct buffer *buffer, size_t size_needed)
{
    size_t capacity = buffer->capacity < CAPACITY_MIN ? CAPACITY_MIN : buffer->capacity;
    while (capacity < size_needed && capacity <= buffer->size_max / 2) {
        capacity *= 2;
    }
    if (capacity < size_needed || capacity > buffer->size_max) {
        capacity = buffer->size_max;
    }
    char *data = mem_resize(buffer->allocator, buffer->data, block_size(buffer->capacity),
                            block_size(capacity));
    if (!data) {
        buffer->status = STATUS_NO_MEMORY;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

char *buffer_reserve_more(struct buffer *buffer, size_t size)
{
    if (buffer->status) {
        return NULL;
    }
    if (size > buffer->size_max - buffer->size) {
        buffer->status = STATUS_TOO_LARGE;
        return NULL;
    }
    if (size > buffer->capacity - buffer->size && !grow(buffer, buffer->size + size)) {
        return NULL;
    }
    // An empty buffer has no memory to point to; nothing is written to this one.
    static char nowhere[1];
    return buffer->data ? buffer->data + buffer->size : nowhere;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);

    // Most texts fit into the free capacity; those that do not are printed a second time.
    size_t room = buffer->capacity - buffer->size;
    char *end = buffer->data ? buffer->data + buffer->size : NULL;
    int printed = vsnprintf(end, end ? room + 1 : 0, format, arguments);
    assert(printed >= 0);
    size_t size = (size_t)printed;
    end = buffer_reserve(buffer, size);
    if (end && size > room) {
        (void)vsnprintf(end, size + 1, format, again);
    }
    if (end) {
        buffer_commit(buffer, size);
    }
    va_end(again);
    va_end(arguments);
}

void buffer_consume(struct buffer *buffer, size_t size)
{
    assert(size <= buffer->size);
    buffer->size -= size;
    if (buffer->size && size) {
        memmove(buffer->data, buffer->data + size, buffer->size);
    }
}
