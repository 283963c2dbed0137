// SPDX-License-Identifier: MIT
// Borrowed bytes: a pointer and a size, not terminated, with any bytes. A slice is valid as long as
// the memory that it points to; code that keeps the bytes longer copies them.
#ifndef SLUICE_BASE_SLICE_H
#define SLUICE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *data; // may be NULL if size is 0
    size_t size;
};

#define SLICE_EMPTY ((struct slice){ NULL, 0 })

// Borrowed slices.
struct slices {
    const struct slice *items;
    size_t count;
};

// A string literal as a slice.
#define SLICE(literal) ((struct slice){ "" literal, sizeof(literal) - 1 })

// For printf's "%.*s".
#define SLICE_PRINT(slice) (int)(slice).size, (slice).size ? (slice).data : ""

static inline struct slice slice_make(const void *data, size_t size)
{
    return (struct slice){ data, size };
}

static inline struct slice slice_from_cstr(const char *string)
{
    return slice_make(string, strlen(string));
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

// Compares bytes; a prefix is less than the longer slice. Negative, zero or positive.
static inline int slice_compare(struct slice a, struct slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.data, b.data, common) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool slice_starts_with(struct slice slice, struct slice prefix)
{
    return slice.size >= prefix.size &&
           (prefix.size == 0 || memcmp(slice.data, prefix.data, prefix.size) == 0);
}

static inline bool slice_ends_with(struct slice slice, struct slice suffix)
{
    return slice.size >= suffix.size &&
           (suffix.size == 0 ||
            memcmp(slice.data + slice.size - suffix.size, suffix.data, suffix.size) == 0);
}

// The bytes from `start` on, at most `size` of them; both are limited to the slice.
static inline struct slice slice_sub(struct slice slice, size_t start, size_t size)
{
    if (!slice.data) {
        return slice_make(NULL, 0);
    }
    if (start > slice.size) {
        start = slice.size;
    }
    size_t left = slice.size - start;
    return slice_make(slice.data + start, size < left ? size : left);
}

// The part of a client's bytes that error messages show.
static inline struct slice slice_shown(struct slice slice)
{
    return slice_sub(slice, 0, 64);
}

#endif
