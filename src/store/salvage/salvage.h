// SPDX-License-Identifier: MIT
// Reads what is readable of a store that cannot be opened: the newest readable image of each
// record. Nothing in the folder is changed.
//
//      salvage_look    reads as opening does, and stops where opening stops
//      salvage_read    continues: every value of the base and every sector of the journal has its
//                      own checksum, so intact data can be told from damaged data
#ifndef SLUICE_STORE_SALVAGE_SALVAGE_H
#define SLUICE_STORE_SALVAGE_SALVAGE_H

#include "store/lmdb/images.h"

// Receives the findings and the progress.
struct reporter {
    // `sentence` is NULL for calls that only report progress.
    void (*report)(void *context, bool bad, double share, const char *sentence);
    void *context;
    double share;
};

void reporter_report(const struct reporter *reporter, bool bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reporter_share(struct reporter *reporter, double share);

// A folder that no other process can open while it is held.
struct salvage_folder {
    int folder, lock; // -1: there is none
};

// NOT_FOUND, BUSY. With `make` the lock file is created if it is missing.
MUST_USE enum status salvage_hold(const char *path, bool make, struct salvage_folder *out,
                                  struct error *error);
void salvage_let_go(struct salvage_folder *held);

// Reads the folder as store_open does: with the same messages and the same records. NOT_FOUND if it
// contains no store, so that opening would create one. `*torn` is the number of sectors at the end
// of the journal that opening would cut.
MUST_USE enum status salvage_look(const struct salvage_folder *held, const char *path,
                                  const struct allocator *allocator,
                                  const struct store_visitor *visitor, uint64_t *torn,
                                  struct error *error);

struct salvaged {
    struct images images;  // sorted by key; an empty one is a deleted record
    bool lossy;            // records that may have been acknowledged are missing
    bool is_store;         // the folder contains parts of a store
    uint64_t segment_size; // of the journal's files; 0: unknown
};

// Reports each finding. UNSUPPORTED if another version wrote the store; NO_MEMORY.
MUST_USE enum status salvage_read(const struct salvage_folder *held,
                                  const struct allocator *allocator, struct reporter *reporter,
                                  struct salvaged *out, struct error *error);
void salvage_release(struct salvaged *salvaged);

#endif
