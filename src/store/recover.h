// SPDX-License-Identifier: MIT
// Opens a store: creates its files if there are none; otherwise reads the base and merges the newer
// records of the journal.
#ifndef SLUICE_STORE_RECOVER_H
#define SLUICE_STORE_RECOVER_H

#include "store/state.h"

// The folder is open and locked. Sets the store's record, segments, end and durable. A torn tail is
// cut only if everything else was read and is valid.
MUST_USE enum status recover(struct store *store, const struct store_visitor *visitor,
                             struct error *error);

// The same without creating or cutting anything, for a folder that is only examined. Counts the
// sectors of the torn tail.
MUST_USE enum status recover_look(struct store *store, const struct store_visitor *visitor,
                                  uint64_t *left_over, struct error *error);

#endif
