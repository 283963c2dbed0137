// SPDX-License-Identifier: MIT
// Restores one item of a dump (item.h) into a namespace.
#ifndef SLUICE_API_ITEM_RESTORE_H
#define SLUICE_API_ITEM_RESTORE_H

#include "api/call.h"
#include "api/item/item.h"

enum {
    RESTORE_FORMAT = 1, // of the items
};

// The result of restoring or checking an item.
struct restored {
    struct slice kind;
    struct slice name;     // of the object; the first bytes of it
    struct slice queue;    // of a job that counts towards a quota
    size_t bytes;          // of its data
    struct slices depends; // jobs that it depends on
    struct slice missing;  // the first of them that does not exist
};

// Restores the object, or with `check_only` only checks whether that is possible. `*out` borrows
// from the item, which must be initialized and not released, and is also set when the call fails.
// EXISTS: the object exists, and is unchanged.
MUST_USE enum status restore_item(struct call *call, struct item *item, bool check_only,
                                  struct restored *out, struct error *error);

#endif
