// SPDX-License-Identifier: MIT
// Reads the file of a time zone (RFC 8536, TZif version 2 or later) as transitions. After its
// table, the rule at its end is used until the year 2100.
#ifndef SLUICE_HOST_ZONES_TZIF_H
#define SLUICE_HOST_ZONES_TZIF_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/recurring/zone.h"

enum {
    TZIF_YEAR_LAST = 2100,
    TZIF_TABLE_MAX = 8000, // transitions of a file's table
};

struct tzif {
    const struct allocator *allocator; // borrowed
    int32_t offset_s;                  // before the first transition
    // owned; ascending, each with a different offset than the one before
    struct zone_transition *transitions;
    size_t count, capacity;
};

// The bytes may be anything. CORRUPT if they are not such a file, UNSUPPORTED for version 1 and for
// leap seconds; with a message that begins with `name`. When it fails there is nothing to release.
MUST_USE enum status tzif_read(struct tzif *tzif, const struct allocator *allocator,
                               struct slice name, struct slice bytes, struct error *error);
void tzif_release(struct tzif *tzif);

#endif
