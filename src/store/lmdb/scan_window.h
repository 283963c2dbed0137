// SPDX-License-Identifier: MIT
// A window of consecutive pages of a file in memory. Read with pread, because with mapped memory a
// read error of the disk would be a signal.
#ifndef SLUICE_STORE_LMDB_SCAN_WINDOW_H
#define SLUICE_STORE_LMDB_SCAN_WINDOW_H

#include "base/alloc.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window_file {
    int fd;
    uint32_t page_size;
    uint64_t pages; // complete ones
};

struct window {
    const struct window_file *file;    // borrowed
    const struct allocator *allocator; // borrowed
    char *bytes;                       // owned
    size_t capacity;                   // in bytes
    uint64_t first, count;             // the pages in the window
};

// Allocates nothing.
void window_init(struct window *window, const struct window_file *file,
                 const struct allocator *allocator);
void window_release(struct window *window);

static inline bool window_holds(const struct window *window, uint64_t first, uint64_t count)
{
    return first >= window->first && first + count <= window->first + window->count;
}

// Returns the bytes of pages [first, first + count), which must be in the file; valid until the
// next call. If they are not in the window it is moved there, and extended to as many as `ahead`
// pages.
MUST_USE enum status window_get(struct window *window, uint64_t first, uint64_t count,
                                uint64_t ahead, const char **out, struct error *error);

#endif
