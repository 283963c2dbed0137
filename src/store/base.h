// SPDX-License-Identifier: MIT
// The base: LMDB, and in it every record up to some group of the journal. One thread at a time may
// commit; copies may be made meanwhile.
#ifndef SLUICE_STORE_BASE_H
#define SLUICE_STORE_BASE_H

#include "base/slice.h"
#include "store/images.h"
#include "store/segments.h"

struct base;

// The store's own record; its key is all zeros.
struct base_record {
    char id[STORE_ID_SIZE];
    uint64_t covered;     // the last group that is in the base
    struct position next; // where the one after it begins
    uint32_t segments;
    uint64_t segment_size;
    uint64_t count; // of all other entries
    uint64_t sum;   // of their checksums
};

enum {
    BASE_PATH_SIZE_MAX = 4096,
    BASE_CHECKSUM_SIZE = 4, // in front of every value
    BASE_RECORD_SIZE = 4 + STORE_ID_SIZE + 8 + 8 + 4 + 4 + 8 + 8 + 8,
};

// The checksum of an entry.
uint32_t base_checksum(struct slice key, struct slice bytes);

// The store's record as bytes. UNSUPPORTED or CORRUPT.
MUST_USE enum status base_record_read(struct slice bytes, struct base_record *out,
                                      struct error *error);

// Opens the base in `folder` of the folder `path`, or makes one.
MUST_USE enum status base_open(const char *path, const char *folder,
                               const struct allocator *allocator, struct base **out,
                               struct error *error);
void base_close(struct base *base); // which may be NULL

// The store's own record, as it was committed last.
MUST_USE enum status base_record(struct base *base, struct base_record *out, struct error *error);

// In one transaction: every image, and the record, whose count and sum follow. When it fails
// nothing has changed, *record among it. NO_SPACE: it may be tried again.
MUST_USE enum status base_commit(struct base *base, const struct images *images,
                                 struct base_record *record, struct error *error);

// A copy of all that was committed last, to a file that is empty.
MUST_USE enum status base_copy(struct base *base, int fd, struct error *error);

// Bytes of its file that are in use.
uint64_t base_size(struct base *base);

#endif
