// SPDX-License-Identifier: MIT
// Reads LMDB's file without LMDB, page by page, and trusts no byte of it: LMDB has no checksums,
// and a file that was damaged makes it crash, or give wrong answers, or, when its list of free
// pages was hit, write over pages in use. So a store reads its base with this when it is opened,
// before LMDB is let near it.
//
// Checked is all that LMDB goes by: both meta pages, every page of the tree and of the free list
// (that it is the page it should be, that it lies inside the file, that its nodes lie inside it,
// that keys are in order, that no page is reached twice), that the counts in the meta page are
// true, and that every page up to the last is either in use or free.
// Not checked are the bytes of values; who wrote them has to know (see base.h).
#ifndef SLUICE_STORE_LMDB_SCAN_H
#define SLUICE_STORE_LMDB_SCAN_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

struct scan_sink {
    // Is given every entry of the main database, in order of the keys. Both slices are borrowed.
    // What it returns other than STATUS_OK ends the scan.
    enum status (*receive)(void *context, struct slice key, struct slice value);
    void *context;
};

struct scan_result {
    uint64_t transaction; // the last one that was committed
    uint64_t entries;
    uint64_t pages; // in use or free
    uint64_t pages_free;
    uint32_t page_size;
};

// `fd` is a file that LMDB (0.9, one unnamed database, no duplicates) wrote, open for reading and
// not being written. CORRUPT, with a sentence that names the page, when anything does not check; IO
// when it cannot be read.
MUST_USE enum status scan_file(int fd, const struct allocator *allocator,
                               const struct scan_sink *sink, struct scan_result *out,
                               struct error *error);

// Receives the first entry alone, if there is one. Only the pages on the way to it are checked.
MUST_USE enum status scan_first(int fd, const struct allocator *allocator,
                                const struct scan_sink *sink, struct error *error);

#endif
