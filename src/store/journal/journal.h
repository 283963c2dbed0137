// SPDX-License-Identifier: MIT
// The journal's thread: takes what has gathered as a group, writes it, syncs it, says that it is
// durable.
#ifndef SLUICE_STORE_JOURNAL_JOURNAL_H
#define SLUICE_STORE_JOURNAL_JOURNAL_H

#include "store/state.h"

// Memory that the thread needs, taken before it starts so that it cannot fail for want of it.
enum {
    JOURNAL_PACKED_SECTORS = 2048, // that are written at a time
};

// The thread, given the store. Ends when the store is stopping and nothing has gathered, or when it
// has failed.
void *journal_run(void *context);

// Syncs all that was written. Any thread; with the mutex held, which it lets go of meanwhile. False
// when the store has failed.
bool journal_sync(struct store *store);

#endif
