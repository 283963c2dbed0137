// SPDX-License-Identifier: MIT
// The recent rate of an event, counted exactly over windows that move in steps.
//
// Time is divided into seconds and into spans of fifteen seconds, both from time 0 on. At a time
// `now`
//   1 s  is the last full second before the second of `now`,
//   1 m  the last 60 full seconds before it,
//   15 m the last 60 full spans before the span of `now`.
// So an event is included after at most one second (15 m: fifteen), and leaves 1 m after 60 to 61
// seconds, 15 m after 900 to 915. The rate of a meter that is younger than its window is still
// divided by the whole window.
//
// Time never goes back here: a count at a time before the second of the latest count is added to
// that second, and a reading at an earlier time is one at that second.
//
// A plain value: all zero is empty, an assignment copies it. Times are microseconds, 0 or more.
#ifndef SLUICE_BASE_METER_H
#define SLUICE_BASE_METER_H

#include <stdint.h>

enum {
    METER_PERIODS = 60,
};

// The counts of consecutive periods of one length.
struct meter_ring {
    uint64_t sum;                   // of `counts`
    uint32_t counts[METER_PERIODS]; // full periods; period p at p % METER_PERIODS
    uint32_t newest;                // count of the period that has not ended
};

// The count of a single second or span wraps at 2^32 without affecting others.
struct meter {
    int64_t last_us; // the end of the newest second, inclusive; 0 if empty
    struct meter_ring seconds;
    struct meter_ring spans;
};

struct meter_rates {
    double per_second_1s;
    double per_second_1m;
    double per_second_15m;
};

// The slow part of meter_add: begins the second of `now_us`, which is after `last_us`. Takes at
// most METER_PERIODS steps for each ring.
void meter_advance(struct meter *meter, int64_t now_us);

static inline void meter_add(struct meter *meter, int64_t now_us, uint32_t count)
{
    if (now_us > meter->last_us) {
        meter_advance(meter, now_us);
    }
    meter->seconds.newest += count;
    meter->spans.newest += count;
}

void meter_read(const struct meter *meter, int64_t now_us, struct meter_rates *out);

#endif
