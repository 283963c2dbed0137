// SPDX-License-Identifier: MIT
// Cron expressions: read once, then asked for one run after the other.
//
// An expression is five fields, or six with the second in front, with spaces or tabs between them:
//
//     second 0-59, minute 0-59, hour 0-23, day of month 1-31, month 1-12, day of week 0-7
//
// A field is a list with commas of *, a, a-b, and with a step */n, a-b/n and a/n, which goes from a
// to the end. Months may be named jan to dec and weekdays sun to sat, in any case; 0 and 7 are both
// Sunday. Weekdays wrap around: fri-mon is four days; for all else a range runs forwards. The end
// of a/n is Saturday there. ? is * in the two day fields. Numbers may have zeros in front. A step
// is at most the number of values that the field has.
//
// In place of the fields stand @yearly or @annually, @monthly, @weekly, @daily or @midnight, or
// @hourly, in any case.
//
// When both day fields are restricted, which is to say that neither begins with * or ?, a day
// matches if one of them does; otherwise both must.
//
// Daylight saving. The hours say which of two things an expression means.
//
// - Some hours of the day: times on the clock on the wall. Each runs once, at the first instant at
//   which that clock shows it or something later. So what falls into a gap runs right after it, at
//   the instant of the transition, all of it together once; and what comes twice runs the first
//   time. A day that a zone leaves out is a gap like any other.
// - All 24 hours: time that passes. It runs whenever the local clock matches, both times when an
//   hour comes twice, and nothing is made up for after a gap. So what runs every ten minutes does
//   not pause and does not double.
#ifndef SLUICE_ENGINE_RECURRING_CRON_H
#define SLUICE_ENGINE_RECURRING_CRON_H

#include "base/slice.h"
#include "base/status.h"
#include "engine/recurring/zone.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CRON_TEXT_SIZE_MAX = 255,
};

// A value; it may be copied. Bit n stands for n; Sunday is 0.
struct cron {
    uint64_t seconds;
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;
    uint16_t months;
    uint8_t weekdays;
    bool either_day; // the day of the month or the weekday is enough
};

// STATUS_INVALID, with a sentence that names the field, also for what can never run, such as the
// 30th of February.
MUST_USE enum status cron_parse(struct slice text, struct cron *out, struct error *error);

// The first run after `after_us`, a whole second; INT64_MAX when there is none before the end of
// the year 9999. There is none before 1970 either. It is cheap: at most a step for each month and
// each transition that lies between.
int64_t cron_next(const struct cron *cron, const struct zone_rules *zone, int64_t after_us);

#endif
