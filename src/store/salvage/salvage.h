// SPDX-License-Identifier: MIT
// What is left of a store that does not open: every record that can still be read, in its newest
// image. Nothing in the folder is changed.
//
//      salvage_look    reads as opening does, and stops where opening stops
//      salvage_read    goes on: every page of the base and every sector of the journal has its own
//                      checksums, so that what was not hit can be told from what was
#ifndef SLUICE_STORE_SALVAGE_SALVAGE_H
#define SLUICE_STORE_SALVAGE_SALVAGE_H

#include "store/lmdb/images.h"

// Who is told what is found, and how far the work is.
struct reporter {
    // `sentence` is NULL when only the share is news.
    void (*report)(void *context, bool bad, double share, const char *sentence);
    void *context;
    double share;
};

void reporter_report(const struct reporter *reporter, bool bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reporter_share(struct reporter *reporter, double share);

// A folder that no other process has open, as long as this is held.
struct salvage_folder {
    int folder, lock; // -1: there is none to hold
};

// NOT_FOUND, BUSY. With `make` the lock is made if it is not there.
MUST_USE enum status salvage_hold(const char *path, bool make, struct salvage_folder *out,
                                  struct error *error);
void salvage_let_go(struct salvage_folder *held);

// Reads the folder as store_open does: the same sentences, the same records. NOT_FOUND when there
// is no store in it, and opening would make one. `*torn` becomes how many sectors at the end of the
// journal opening would cut.
MUST_USE enum status salvage_look(const struct salvage_folder *held, const char *path,
                                  const struct allocator *allocator,
                                  const struct store_visitor *visitor, uint64_t *torn,
                                  struct error *error);

struct salvaged {
    struct images images;  // in order of the keys; an empty one is gone
    bool lossy;            // something that may have been acknowledged is not in them
    bool is_store;         // something of a store was found
    uint64_t segment_size; // of the journal's files; 0 when it is not known
};

// Each finding is said. UNSUPPORTED when another version wrote it, NO_MEMORY.
MUST_USE enum status salvage_read(const struct salvage_folder *held,
                                  const struct allocator *allocator, struct reporter *reporter,
                                  struct salvaged *out, struct error *error);
void salvage_release(struct salvaged *salvaged);

#endif
