// SPDX-License-Identifier: MIT
// Times as text: RFC 3339 to microseconds since 1970 and back, and the calendar for it. The
// calendar is the proleptic Gregorian one. There are no time zones except UTC and explicit offsets.
#ifndef SLUICE_BASE_TIMEFMT_H
#define SLUICE_BASE_TIMEFMT_H

#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

enum {
    TIMEFMT_SIZE_MAX = 30,
};

// Writes, in UTC, "2010-07-08T18:02:23.347Z", with six decimals if three are not exact. A year
// outside 0000 to 9999, which RFC 3339 does not allow, gets a sign and six digits as in ISO 8601
// ("+010000-01-01T00:00:00.000Z"). There is no terminating zero; returns the size.
size_t timefmt_format(int64_t us, char text[TIMEFMT_SIZE_MAX]);

// Parses "YYYY-MM-DDTHH:MM:SS", an optional fraction, and 'Z' or an offset "+HH:MM"; 't' and 'z'
// are accepted too, and a space instead of 'T'. Decimals after the sixth are dropped. A leap
// second, second 60 at the end of a day in UTC, is the beginning of the next day. STATUS_INVALID if
// it is malformed or there is no such day; STATUS_TOO_LARGE if in UTC it is outside the years 0000
// to 9999, so that every parsed time can be formatted and parsed again.
MUST_USE enum status timefmt_parse(struct slice text, int64_t *us_out);

// Days since 1970-01-01; negative before. Month is 1 to 12, day 1 to 31; a day after the end of its
// month is in the next month. Years and days may be up to 10^12 in either direction.
int64_t timefmt_days_from_civil(int64_t year, unsigned month, unsigned day);

// The reverse.
void timefmt_civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day);

unsigned timefmt_days_in_month(int64_t year, unsigned month);

#endif
