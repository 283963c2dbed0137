// SPDX-License-Identifier: MIT
// Removes journal files that a busy time left, from the last one on, down to as many as a new store
// has. For the checkpoint's thread.
#ifndef SLUICE_STORE_JOURNAL_TRIM_H
#define SLUICE_STORE_JOURNAL_TRIM_H

#include "store/store.h"

// Whether there is one to be removed, and nothing in the way. With the mutex held.
bool trim_is_due(struct store *store);

// Removes one, or moves the journal's end out of it. With the mutex held, which it lets go of
// meanwhile. NO_SPACE, NO_MEMORY, BUSY: nothing has changed. Any other status: the store must not
// go on.
MUST_USE enum status trim_step(struct store *store, struct error *error);

// Removes files that a crash left, from `number` on: the base does not count them.
void trim_clean(int folder, uint32_t number);

#endif
