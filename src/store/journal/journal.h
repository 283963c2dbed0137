// SPDX-License-Identifier: MIT
// The journal's thread: takes the gathering group, writes it, syncs it, and reports that it is
// durable.
#ifndef SLUICE_STORE_JOURNAL_JOURNAL_H
#define SLUICE_STORE_JOURNAL_JOURNAL_H

#include "store/state.h"

// Memory that the thread needs. It is allocated before the thread starts, so that the thread cannot
// fail for lack of it.
enum {
    JOURNAL_PACKED_SECTORS = 2048, // written at a time
};

// The thread's function; its argument is the store. Ends when the store is stopping and nothing
// gathers, or when the store has failed.
void *journal_run(void *context);

// Syncs everything that was written. May be called from any thread, with the mutex held; releases
// it temporarily. False if the store has failed.
bool journal_sync(struct store *store);

#endif
