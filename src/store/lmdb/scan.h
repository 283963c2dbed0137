// SPDX-License-Identifier: MIT
// Reads LMDB's file without LMDB, page by page, and trusts none of its bytes. LMDB has no
// checksums: a damaged file makes it crash, or return wrong results, or, if its list of free pages
// is damaged, overwrite pages in use. So a store checks its base with this code before it opens it
// with LMDB.
//
// The checks cover everything that LMDB relies on: both meta pages; every page of the tree and of
// the free list (that it is the right page, that it lies inside the file, that its nodes lie inside
// it, that the keys are sorted, that no page is reached twice); that the counts in the meta page
// are right; and that every page up to the last is either in use or free. The bytes of values are
// not checked here; the base has checksums for them (base.h).
#ifndef SLUICE_STORE_LMDB_SCAN_H
#define SLUICE_STORE_LMDB_SCAN_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

struct scan_sink {
    // Receives every entry of the main database, in the order of the keys. Both slices are
    // borrowed. A status other than OK ends the scan.
    enum status (*receive)(void *context, struct slice key, struct slice value);
    void *context;
};

struct scan_result {
    uint64_t transaction; // the last committed one
    uint64_t entries;
    uint64_t pages; // in use or free
    uint64_t pages_free;
    uint32_t page_size;
};

// `fd` is a file of LMDB (0.9, one unnamed database, no duplicates), open for reading and not being
// written. CORRUPT, with a message that names the page, if a check fails; IO if it cannot be read.
MUST_USE enum status scan_file(int fd, const struct allocator *allocator,
                               const struct scan_sink *sink, struct scan_result *out,
                               struct error *error);

// Receives only the first entry, if there is one. Only the pages on the path to it are checked.
MUST_USE enum status scan_first(int fd, const struct allocator *allocator,
                                const struct scan_sink *sink, struct error *error);

#endif
