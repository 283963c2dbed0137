// SPDX-License-Identifier: MIT
// Gives disk space back that the base does not need. LMDB never shrinks its file, so a new one is
// written beside it (base/compact.mdb), one slice at a time while checkpoints continue, and is
// renamed to replace it.
//
//      none --compact_step--> copying --compact_step--> ... --> in place of the old one --> none
//       ^                        |
//       +----- compact_abandon --+   no space or memory; a checkpoint needs the space
//
// Meanwhile the images of checkpoints are written to both files (compact_follow). After a crash
// either the old base or the new one remains, with the same contents; an unfinished copy is removed
// when the store is opened. For the checkpoint's thread only, without the store's mutex unless a
// comment says otherwise.
#ifndef SLUICE_STORE_LMDB_COMPACT_H
#define SLUICE_STORE_LMDB_COMPACT_H

#include "store/lmdb/base.h"

struct store;

struct compaction {
    struct base *to; // owned; NULL: no copy is being made
    struct base_progress progress;
    int64_t not_before_us; // the next copy starts no earlier
};

// Whether a copy is in progress, or there is enough to gain by one and enough space for it; on a
// full disk a smaller gain is enough. With the store's mutex held.
bool compact_is_due(struct store *store);

// Copies about `size` bytes more, or finishes: *finished. NO_SPACE, NO_MEMORY: the copy was
// abandoned. BUSY: it cannot be finished during a backup, whose end wakes the thread. Any other
// status: the store must fail.
MUST_USE enum status compact_step(struct store *store, uint64_t size, bool *finished,
                                  struct error *error);

// To be called with images that were committed to the base: adds them to the part of the copy that
// exists. Without space or memory the copy is abandoned, which is no error.
MUST_USE enum status compact_follow(struct store *store, const struct images *images,
                                    struct error *error);

// Removes the copy, if there is one; returns whether there was.
bool compact_abandon(struct store *store);

// Removes a copy that a crash has left.
void compact_clean(int folder);

#endif
