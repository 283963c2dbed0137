// SPDX-License-Identifier: MIT
// A time zone's file (RFC 8536, TZif version 2 or later) as transitions. Where its table ends, the
// rule at its end goes on until the year 2100.
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
    const struct allocator *allocator;   // borrowed
    int32_t offset_s;                    // before the first transition
    struct zone_transition *transitions; // owned; ascending, each with another offset than before
    size_t count, capacity;
};

// Any bytes may be given. CORRUPT when they are no such file, UNSUPPORTED when it is one of version
// 1 or one that counts leap seconds; with a sentence that `name` begins. When it fails there is
// nothing to release.
MUST_USE enum status tzif_read(struct tzif *tzif, const struct allocator *allocator,
                               struct slice name, struct slice bytes, struct error *error);
void tzif_release(struct tzif *tzif);

#endif
