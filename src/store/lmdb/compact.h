// SPDX-License-Identifier: MIT
// Gives the space back that the base does not need. LMDB's file never becomes smaller, so a new one
// is made beside it (base/compact.mdb), a slice at a time while checkpoints go on, and takes its
// name in the end.
//
//      none --compact_step--> copying --compact_step--> ... --> in place of the old one --> none
//       ^                        |
//       +----- compact_abandon --+   no space or memory; a checkpoint needs the space
//
// A checkpoint's images are given to both files meanwhile (compact_follow). A crash leaves the old
// base or the new one, which hold the same; a copy that was not finished is removed at the next
// opening. For the checkpoint's thread alone, without the store's mutex if nothing else is said.
#ifndef SLUICE_STORE_LMDB_COMPACT_H
#define SLUICE_STORE_LMDB_COMPACT_H

#include "store/lmdb/base.h"

struct store;

struct compaction {
    struct base *to; // owned; NULL: none is being made
    struct base_progress progress;
    int64_t not_before_us; // the next one is not begun earlier
};

// Whether a copy is under way, or there is enough to gain by one and space for it; on a full disk
// less is enough. With the store's mutex held.
bool compact_is_due(struct store *store);

// Copies about `size` bytes more, or finishes: *finished. NO_SPACE, NO_MEMORY: the copy was
// abandoned. BUSY: it cannot be finished while there is a backup, whose end wakes the thread. Any
// other status: the store must not go on.
MUST_USE enum status compact_step(struct store *store, uint64_t size, bool *finished,
                                  struct error *error);

// These images are in the base, and belong into the copy too, as far as there is one. Without space
// or memory for them it is abandoned, which is no error.
MUST_USE enum status compact_follow(struct store *store, const struct images *images,
                                    struct error *error);

// Removes the copy, if there is one; says whether there was.
bool compact_abandon(struct store *store);

// Removes what a crash left of one.
void compact_clean(int folder);

#endif
