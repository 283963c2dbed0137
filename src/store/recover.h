// SPDX-License-Identifier: MIT
// What is done when a store is opened: makes the folder's contents if there are none; else reads
// the base and, laid over it, what the journal has beyond it.
#ifndef SLUICE_STORE_RECOVER_H
#define SLUICE_STORE_RECOVER_H

#include "store/state.h"

// The folder is open and locked. Fills in the store's record, segments, end, and durable. Only when
// all was read and found good is a torn tail cut.
MUST_USE enum status recover(struct store *store, const struct store_visitor *visitor,
                             struct error *error);

// The same without making or cutting anything, for a folder that is only looked at. The torn tail's
// sectors are counted.
MUST_USE enum status recover_look(struct store *store, const struct store_visitor *visitor,
                                  uint64_t *left_over, struct error *error);

#endif
