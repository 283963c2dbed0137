// SPDX-License-Identifier: MIT
// Measurements as parts of replies.
#ifndef SLUICE_API_NATIVE_MEASURES_H
#define SLUICE_API_NATIVE_MEASURES_H

#include "api/reply.h"
#include "engine/measure/series.h"

enum {
    TOTALS_MEMBERS = 10,
};

// Writes the time since a moment; null if the moment is 0.
void reply_age(struct reply *reply, int64_t since_us, int64_t now_us);

// Writes the counts per second over the last minute.
void reply_rates(struct reply *reply, const struct series_rates *rates);

// Writes the TOTALS_MEMBERS members of a map about a whole namespace.
void reply_totals_members(struct reply *reply, struct engine *engine, int64_t now_us,
                          const struct totals_view *totals);

#endif
