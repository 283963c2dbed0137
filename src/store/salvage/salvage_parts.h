// SPDX-License-Identifier: MIT
// The two halves of salvage.c.
#ifndef SLUICE_STORE_SALVAGE_SALVAGE_PARTS_H
#define SLUICE_STORE_SALVAGE_SALVAGE_PARTS_H

#include "store/lmdb/base.h"
#include "store/salvage/salvage.h"

// Records of the base as they were at some time.
struct snapshot {
    struct images images;
    bool has_record; // the store's own
    struct base_record record;
    uint64_t count, sum; // of the entries found
    uint64_t undecided;  // records with several images, of which the newest cannot be told
    bool whole;          // count and sum are those that its record says
};

// The base's file: the newest snapshot and, if that one is not whole, the one before it.
struct salvage_base {
    struct snapshot newest, before;
};

// UNSUPPORTED, NO_MEMORY. Without a file both are empty.
MUST_USE enum status salvage_base_read(int folder, const struct allocator *allocator,
                                       struct reporter *reporter, struct salvage_base *out,
                                       struct error *error);
void salvage_base_release(struct salvage_base *base);

struct salvage_journal;

// Finds all sectors of the journal. `record` is the store's own, or NULL.
MUST_USE enum status salvage_journal_open(int folder, const struct allocator *allocator,
                                          struct reporter *reporter,
                                          const struct base_record *record,
                                          struct salvage_journal **out, struct error *error);
void salvage_journal_close(struct salvage_journal *journal); // which may be NULL

// Whether groups `first` to `last` are all whole.
bool salvage_journal_has(const struct salvage_journal *journal, uint64_t first, uint64_t last);

// The last group that there is anything of; 0 without one.
uint64_t salvage_journal_last(const struct salvage_journal *journal);

// Lays over the images what the journal has since the group that `record` covers, and those before
// it that follow one another up to it. Without a record it is not known what the images cover: then
// only those groups count that follow one another up to the last, and the others for records that
// are not there at all. Sets *lossy when something is missing.
MUST_USE enum status salvage_journal_apply(const struct salvage_journal *journal,
                                           const struct base_record *record, struct images *images,
                                           bool *lossy, struct error *error);

#endif
