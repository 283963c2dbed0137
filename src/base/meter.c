// SPDX-License-Identifier: MIT
// The newest second is last_us / SECOND_US, also in an empty meter, so the rings store no position
// of their own. The ring at period p has the counts of p - METER_PERIODS to p - 1; the slot of p is
// the one whose count leaves the window when p ends.
#include "base/meter.h"

#include <string.h>

enum {
    SECOND_US = 1000000,
    SPAN_S = 15,
};

_Static_assert(sizeof(struct meter) <= 600, "there may be one for each queue");

static void ring_advance(struct meter_ring *ring, int64_t from, int64_t to)
{
    if (to - from > METER_PERIODS) {
        // Even the newest period is outside the window.
        memset(ring, 0, sizeof(*ring));
        return;
    }
    for (int64_t period = from; period < to; period++) {
        uint32_t *place = &ring->counts[period % METER_PERIODS];
        ring->sum += ring->newest;
        ring->sum -= *place;
        *place = ring->newest;
        ring->newest = 0;
    }
}

void meter_advance(struct meter *meter, int64_t now_us)
{
    int64_t from = meter->last_us / SECOND_US;
    int64_t to = now_us / SECOND_US;
    ring_advance(&meter->seconds, from, to);
    ring_advance(&meter->spans, from / SPAN_S, to / SPAN_S);
    // The last second that can be represented is incomplete.
    int64_t rest_us = SECOND_US - 1 - now_us % SECOND_US;
    meter->last_us = now_us <= INT64_MAX - rest_us ? now_us + rest_us : INT64_MAX;
}

void meter_read(const struct meter *meter, int64_t now_us, struct meter_rates *out)
{
    struct meter copy;
    if (now_us > meter->last_us) {
        copy = *meter;
        meter_advance(&copy, now_us);
        meter = &copy;
    }
    int64_t before = meter->last_us / SECOND_US + METER_PERIODS - 1;
    out->per_second_1s = (double)meter->seconds.counts[before % METER_PERIODS];
    out->per_second_1m = (double)meter->seconds.sum / METER_PERIODS;
    out->per_second_15m = (double)meter->spans.sum / (METER_PERIODS * SPAN_S);
}
