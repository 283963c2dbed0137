// SPDX-License-Identifier: MIT
// Pages of a file in memory: those that were read last, one behind the other. With pread and
// nothing else, since a page of mapped memory that the disk cannot give is a signal.
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
    uint64_t pages; // whole ones
};

struct window {
    const struct window_file *file;    // borrowed
    const struct allocator *allocator; // borrowed
    char *bytes;                       // owned
    size_t capacity;                   // in bytes
    uint64_t first, count;             // the pages in it
};

// Allocates nothing.
void window_init(struct window *window, const struct window_file *file,
                 const struct allocator *allocator);
void window_release(struct window *window);

static inline bool window_holds(const struct window *window, uint64_t first, uint64_t count)
{
    return first >= window->first && first + count <= window->first + window->count;
}

// The bytes of pages [first, first + count), which are in the file; valid until the next call. If
// they are not in the window it is moved there, and takes in as much as `ahead` pages.
MUST_USE enum status window_get(struct window *window, uint64_t first, uint64_t count,
                                uint64_t ahead, const char **out, struct error *error);

#endif
