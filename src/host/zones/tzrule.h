// SPDX-License-Identifier: MIT
// The rule at the end of a time zone's file, for the time after its table: the format of POSIX's TZ
// variable, with the extended times of RFC 8536.
//
//     CET-1CEST,M3.5.0,M10.5.0/3      <-03>3      IST-2IDT,M3.4.4/26,M10.5.0
#ifndef SLUICE_HOST_ZONES_TZRULE_H
#define SLUICE_HOST_ZONES_TZRULE_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum tzrule_kind {
    TZRULE_JULIAN,  // Jn: a day of the year from 1 on, without the 29th of February
    TZRULE_ORDINAL, // n: a day of the year from 0 on
    TZRULE_WEEKDAY, // Mm.w.d: the w-th weekday d of month m, the last one if w is 5
};

// A day of the year, and a time relative to its start, which may be outside of the day.
struct tzrule_date {
    enum tzrule_kind kind;
    int month, week, day;
    int32_t time_s;
};

// Offsets are seconds east of UTC.
struct tzrule {
    int32_t standard_s;
    bool has_summer;
    int32_t summer_s;
    struct tzrule_date start, end; // of summer time, each in the local time before it
};

// INVALID if it is malformed.
MUST_USE enum status tzrule_parse(struct slice text, struct tzrule *out);

// When summer time begins and ends in a year, in seconds since 1970.
int64_t tzrule_start(const struct tzrule *rule, int64_t year);
int64_t tzrule_end(const struct tzrule *rule, int64_t year);

#endif
