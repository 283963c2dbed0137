// SPDX-License-Identifier: MIT
// The base: LMDB, and in it every record up to some group of the journal. One thread at a time may
// commit; copies may be made meanwhile.
#ifndef SLUICE_STORE_LMDB_BASE_H
#define SLUICE_STORE_LMDB_BASE_H

#include "base/slice.h"
#include "store/journal/segments.h"
#include "store/key.h"
#include "store/lmdb/images.h"

struct base;

// The store's own record; its key is all zeros.
struct base_record {
    uint32_t version; // that it was read in; it is written in STORE_VERSION
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
// The same for a base that is a file of its own: `file` in the folder `path`.
MUST_USE enum status base_open_file(const char *path, const char *file,
                                    const struct allocator *allocator, struct base **out,
                                    struct error *error);
void base_close(struct base *base); // which may be NULL

// The store's own record, as it was committed last.
MUST_USE enum status base_record(struct base *base, struct base_record *out, struct error *error);

// In one transaction: every image, and the record, whose count and sum follow. When it fails
// nothing has changed, *record among it. NO_SPACE, NO_MEMORY: it may be tried again.
MUST_USE enum status base_commit(struct base *base, const struct images *images,
                                 struct base_record *record, struct error *error);

// A copy of all that was committed last, to a file that is empty.
MUST_USE enum status base_copy(struct base *base, int fd, struct error *error);

// How far a base has been copied into another one.
struct base_progress {
    char reached[KEY_SIZE];    // all entries up to this key are copied
    bool ends;                 // there are no more
    struct base_record record; // count and sum of what is copied
};

// Copies about `size` bytes of entries more, in one transaction, all but the store's own record.
// When it fails nothing has changed.
MUST_USE enum status base_copy_part(struct base *from, struct base *to, uint64_t size,
                                    struct base_progress *progress, struct error *error);

// In bytes; after the last commit, and for the thread that commits.
struct base_sizes {
    uint64_t file;    // on disk
    uint64_t used;    // of that, up to the last page that was ever used
    uint64_t live;    // pages that hold entries; what is used beside them is free
    uint64_t compact; // what the file would have if it were made anew
};

struct base_sizes base_sizes(struct base *base);

#endif
