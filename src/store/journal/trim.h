// SPDX-License-Identifier: MIT
// Removes journal files that are no longer needed, from the last one on, down to the number that a
// new store has. For the checkpoint's thread.
#ifndef SLUICE_STORE_JOURNAL_TRIM_H
#define SLUICE_STORE_JOURNAL_TRIM_H

#include "store/store.h"

// Whether a file can be removed now. With the mutex held.
bool trim_is_due(struct store *store);

// Removes a file, or moves the journal's end out of it. With the mutex held, which it releases
// temporarily. NO_SPACE, NO_MEMORY, BUSY: nothing has changed. Any other status: the store must
// fail.
MUST_USE enum status trim_step(struct store *store, struct error *error);

// Removes files from `number` on that a crash has left: the base does not count them.
void trim_clean(int folder, uint32_t number);

#endif
