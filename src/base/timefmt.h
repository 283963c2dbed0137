// SPDX-License-Identifier: MIT
// Moments as people write them: RFC 3339 to microseconds since 1970 and back, and the calendar
// beneath. The calendar is the Gregorian one, also for the time before there was one; there is no
// time zone but UTC and a given offset.
#ifndef SLUICE_BASE_TIMEFMT_H
#define SLUICE_BASE_TIMEFMT_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

// Appends, in UTC, "2010-07-08T18:02:23.347Z", with six decimals when three do not hold the value.
// A year outside 0000 to 9999, which RFC 3339 cannot say, gets a sign and six digits as in
// ISO 8601 ("+010000-01-01T00:00:00.000Z"). All of it or, when the buffer refuses, nothing.
void timefmt_append(struct buffer *buffer, int64_t us);

// The same into `text`, without a zero behind it; gives its size.
enum {
    TIMEFMT_SIZE_MAX = 30,
};
size_t timefmt_format(int64_t us, char text[TIMEFMT_SIZE_MAX]);

// Reads "YYYY-MM-DDTHH:MM:SS", an optional fraction, and 'Z' or an offset "+HH:MM"; 't' and 'z' do
// too, and a space in place of 'T'. Decimals after the sixth are dropped. A leap second, second 60
// at the end of a day in UTC, is the first moment of the next day. STATUS_INVALID when it is
// malformed or there is no such day; STATUS_TOO_LARGE when in UTC it falls outside the years 0000
// to 9999, so that what is read can be written and read again.
MUST_USE enum status timefmt_parse(struct slice text, int64_t *us_out);

// Days from 1970-01-01, negative before it. Month is 1 to 12, day 1 to 31, and a day past the end
// of its month runs into the next. Years and days may go as far as 10^12 either way.
int64_t timefmt_days_from_civil(int64_t year, unsigned month, unsigned day);

// The reverse.
void timefmt_civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day);

unsigned timefmt_days_in_month(int64_t year, unsigned month);

#endif
