// SPDX-License-Identifier: MIT
// The parts of salvage.c that read the base and the journal.
#ifndef SLUICE_STORE_SALVAGE_SALVAGE_PARTS_H
#define SLUICE_STORE_SALVAGE_SALVAGE_PARTS_H

#include "store/lmdb/base.h"
#include "store/salvage/salvage.h"

// Records of the base in the state of one transaction.
struct snapshot {
    struct images images;
    bool has_record; // the store's own record
    struct base_record record;
    uint64_t count, sum; // of the entries that were found
    uint64_t undecided;  // records with several images, whose newest one is unknown
    bool whole;          // count and sum match the store's own record
};

// The contents of the base's file: the newest snapshot and, if it is incomplete, the previous one.
struct salvage_base {
    struct snapshot newest, before;
};

// UNSUPPORTED, NO_MEMORY. Without a file both snapshots are empty.
MUST_USE enum status salvage_base_read(int folder, const struct allocator *allocator,
                                       struct reporter *reporter, struct salvage_base *out,
                                       struct error *error);
void salvage_base_release(struct salvage_base *base);

struct salvage_journal;

// Finds all valid sectors of the journal. `record` is the store's own record, or NULL.
MUST_USE enum status salvage_journal_open(int folder, const struct allocator *allocator,
                                          struct reporter *reporter,
                                          const struct base_record *record,
                                          struct salvage_journal **out, struct error *error);
void salvage_journal_close(struct salvage_journal *journal); // may be NULL

// Whether groups `first` to `last` are all complete.
bool salvage_journal_has(const struct salvage_journal *journal, uint64_t first, uint64_t last);

// The last group of which a sector was found; 0: none.
uint64_t salvage_journal_last(const struct salvage_journal *journal);

// Applies to the images the groups after the one that `record` covers, and the consecutive groups
// before them. Without a record it is unknown what the images cover: then only the consecutive
// groups that end with the last one are applied, and earlier groups only for records that are
// missing. Sets *lossy if something is missing.
MUST_USE enum status salvage_journal_apply(const struct salvage_journal *journal,
                                           const struct base_record *record, struct images *images,
                                           bool *lossy, struct error *error);

#endif
