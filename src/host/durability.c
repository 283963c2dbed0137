// SPDX-License-Identifier: MIT
#include "host/durability.h"

#include "base/ascii.h"
#include "base/num.h"

enum {
    INTERVAL_US = 100000,
    INTERVAL_MS_MAX = 3600000,
};

bool durability_parse(struct slice word, enum store_durability *out, int64_t *interval_us)
{
    static const struct slice interval = { "interval:", 9 };
    uint64_t ms = INTERVAL_US / 1000;
    enum store_durability durability = STORE_INTERVAL;
    if (ascii_equal(word, SLICE("always"))) {
        durability = STORE_ALWAYS;
    } else if (ascii_equal(word, SLICE("never"))) {
        durability = STORE_NEVER;
    } else if (!ascii_equal(word, SLICE("interval")) &&
               (!slice_starts_with(word, interval) ||
                num_parse_u64(slice_sub(word, interval.size, word.size), &ms) || ms < 1 ||
                ms > INTERVAL_MS_MAX)) {
        return false;
    }
    *out = durability;
    *interval_us = (int64_t)ms * 1000;
    return true;
}
