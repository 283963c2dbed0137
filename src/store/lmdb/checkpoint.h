// SPDX-License-Identifier: MIT
// The checkpoint's thread: brings durable groups into the base, a slice at a time, frees the
// segments that were covered, and makes new ones when the journal runs out of them.
#ifndef SLUICE_STORE_LMDB_CHECKPOINT_H
#define SLUICE_STORE_LMDB_CHECKPOINT_H

#include "store/state.h"

// The thread, given the store. Ends when the journal has and all is covered, or the store has
// failed.
void *checkpoint_run(void *context);

#endif
