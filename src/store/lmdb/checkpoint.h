// SPDX-License-Identifier: MIT
// The checkpoint's thread: writes durable groups to the base, one slice at a time, frees the
// segments that are covered, and makes new segments when the journal needs them.
#ifndef SLUICE_STORE_LMDB_CHECKPOINT_H
#define SLUICE_STORE_LMDB_CHECKPOINT_H

#include "store/state.h"

// The thread's function; its argument is the store. Ends when the journal's thread has ended and
// everything is covered, or when the store has failed.
void *checkpoint_run(void *context);

#endif
