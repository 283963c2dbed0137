// SPDX-License-Identifier: MIT
// What is measured, as parts of answers.
#ifndef SLUICE_API_NATIVE_MEASURES_H
#define SLUICE_API_NATIVE_MEASURES_H

#include "api/reply.h"
#include "engine/measure/series.h"

enum {
    TOTALS_MEMBERS = 10,
};

// For how long since a moment; null when that is 0.
void reply_age(struct reply *reply, int64_t since_us, int64_t now_us);

// How often each thing happened in a second, over the last minute.
void reply_rates(struct reply *reply, const struct series_rates *rates);

// The members of a map about a namespace as a whole, TOTALS_MEMBERS of them.
void reply_totals_members(struct reply *reply, struct engine *engine, int64_t now_us,
                          const struct totals_view *totals);

#endif
