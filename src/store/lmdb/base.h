// SPDX-License-Identifier: MIT
// The base: all records up to some group of the journal, in LMDB. Only one thread at a time may
// commit; copies may be made in parallel.
#ifndef SLUICE_STORE_LMDB_BASE_H
#define SLUICE_STORE_LMDB_BASE_H

#include "base/slice.h"
#include "store/journal/segments.h"
#include "store/key.h"
#include "store/lmdb/images.h"

struct base;

// The store's own record; its key is all zeros.
struct base_record {
    uint32_t version; // the version that was read; STORE_VERSION is written
    char id[STORE_ID_SIZE];
    uint64_t covered;     // the last group that is in the base
    struct position next; // where the next group begins
    uint32_t segments;
    uint64_t segment_size;
    uint64_t count; // of all other entries
    uint64_t sum;   // of their checksums
};

enum {
    BASE_PATH_SIZE_MAX = 4096,
    BASE_CHECKSUM_SIZE = 4, // precedes every value
    BASE_RECORD_SIZE = 4 + STORE_ID_SIZE + 8 + 8 + 4 + 4 + 8 + 8 + 8,
};

// The checksum of an entry.
uint32_t base_checksum(struct slice key, struct slice bytes);

// Reads the bytes of the store's record. UNSUPPORTED or CORRUPT.
MUST_USE enum status base_record_read(struct slice bytes, struct base_record *out,
                                      struct error *error);

// Opens or creates the base in `folder` of the folder `path`.
MUST_USE enum status base_open(const char *path, const char *folder,
                               const struct allocator *allocator, struct base **out,
                               struct error *error);
// The same for a base that is a single file: `file` in the folder `path`.
MUST_USE enum status base_open_file(const char *path, const char *file,
                                    const struct allocator *allocator, struct base **out,
                                    struct error *error);
void base_close(struct base *base); // may be NULL

// The store's own record as committed last.
MUST_USE enum status base_record(struct base *base, struct base_record *out, struct error *error);

// Writes every image, and the record with the new count and sum, in one transaction. When it fails
// nothing has changed, including *record. NO_SPACE, NO_MEMORY: it may be tried again.
MUST_USE enum status base_commit(struct base *base, const struct images *images,
                                 struct base_record *record, struct error *error);

// Copies everything that was committed to an empty file.
MUST_USE enum status base_copy(struct base *base, int fd, struct error *error);

// How much of a base has been copied into another one.
struct base_progress {
    char reached[KEY_SIZE];    // all entries up to this key are copied
    bool ends;                 // all entries are copied
    struct base_record record; // count and sum of the copied entries
};

// Copies about `size` bytes of further entries in one transaction, without the store's own record.
// When it fails nothing has changed.
MUST_USE enum status base_copy_part(struct base *from, struct base *to, uint64_t size,
                                    struct base_progress *progress, struct error *error);

// In bytes, after the last commit; for the thread that commits.
struct base_sizes {
    uint64_t file;    // on disk
    uint64_t used;    // of that, up to the last page that was ever used
    uint64_t live;    // pages with entries; the other used pages are free
    uint64_t compact; // size of the file if it were rewritten
};

struct base_sizes base_sizes(struct base *base);

#endif
