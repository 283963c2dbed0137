// SPDX-License-Identifier: MIT
// One item of a dump (item.h) into a namespace.
#ifndef SLUICE_API_ITEM_RESTORE_H
#define SLUICE_API_ITEM_RESTORE_H

#include "api/call.h"
#include "api/item/item.h"

enum {
    RESTORE_FORMAT = 1, // of the items
};

// What became, or would become, of an item, and what it takes.
struct restored {
    struct slice kind;
    struct slice name;     // of the thing, in its first bytes
    struct slice queue;    // of a job that counts
    size_t bytes;          // of its data
    struct slices depends; // jobs that it needs
    struct slice missing;  // the first of them that is not there
};

// Restores the thing, or with `check_only` says whether it could be. What `*out` has is borrowed
// from the item, which is initialized and not released; what it has is there also when the call
// fails. EXISTS: it is there already, and stays as it is.
MUST_USE enum status restore_item(struct call *call, struct item *item, bool check_only,
                                  struct restored *out, struct error *error);

#endif
