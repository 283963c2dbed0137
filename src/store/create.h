// SPDX-License-Identifier: MIT
// A new store: segments, then a base that says so. The base is made under another name and renamed
// last, so that a store is there completely or not at all.
#ifndef SLUICE_STORE_CREATE_H
#define SLUICE_STORE_CREATE_H

#include "store/state.h"

// Makes what a store consists of, unless it is there, and says by `*made` whether it did. CORRUPT
// when the base is missing but the journal has been used.
MUST_USE enum status create_if_missing(const struct store *store, bool *made, struct error *error);

// CORRUPT when the segment is there and has been used.
MUST_USE enum status create_check_unused(int folder, uint32_t number, struct error *error);

// The same for every segment that there could be.
MUST_USE enum status create_check_all_unused(int folder, struct error *error);

// The folder's own entry is durable when the folder above it is.
MUST_USE enum status create_sync_above(int folder, struct error *error);

// Removes a base, complete or not, from a folder.
void create_remove_base(int folder, const char *base);

// Renames base.new to base, which makes the folder a store.
MUST_USE enum status create_finish(int folder, struct error *error);

#endif
