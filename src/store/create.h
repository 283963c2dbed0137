// SPDX-License-Identifier: MIT
// Creates a store: segments, then a base that counts them. The base is created under another name
// and renamed last, so that a store exists completely or not at all.
#ifndef SLUICE_STORE_CREATE_H
#define SLUICE_STORE_CREATE_H

#include "store/state.h"

// Creates the store, unless it exists; `*made`: whether it did. CORRUPT if the base is missing but
// the journal has been used.
MUST_USE enum status create_if_missing(const struct store *store, bool *made, struct error *error);

// CORRUPT if the segment exists and has been used.
MUST_USE enum status create_check_unused(int folder, uint32_t number, struct error *error);

// The same for every possible segment.
MUST_USE enum status create_check_all_unused(int folder, struct error *error);

// Makes the folder's own entry durable, by a sync of the parent folder.
MUST_USE enum status create_sync_above(int folder, struct error *error);

// Removes a base, complete or not, from a folder.
void create_remove_base(int folder, const char *base);

// Renames base.new to base, which makes the folder a store.
MUST_USE enum status create_finish(int folder, struct error *error);

#endif
