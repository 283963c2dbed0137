// SPDX-License-Identifier: MIT
#include "server/log/log_kinds.h"

#include <string.h>

enum {
    SECOND_US = 1000000,
};

struct log_kind *log_kinds_find(struct log_kinds *kinds, const char *what)
{
    for (size_t i = 0; i < kinds->count; i++) {
        struct log_kind *kind = &kinds->items[i];
        if (kind->what == what || strcmp(kind->what, what) == 0) {
            return kind;
        }
    }
    if (kinds->count == LOG_KINDS_MAX) {
        return &kinds->items[LOG_KINDS_MAX - 1];
    }
    struct log_kind *kind = &kinds->items[kinds->count++];
    *kind = (struct log_kind){ .what = kinds->count == LOG_KINDS_MAX ? "other" : what };
    return kind;
}

bool log_kind_admit(struct log_kind *kind, const struct log_rate *rate, int64_t now_us)
{
    if (rate->rate == 0) {
        return true;
    }
    // A line takes `cost_us` out of a budget of `burst` lines.
    int64_t cost_us = SECOND_US / (int64_t)rate->rate;
    int64_t full_us = kind->full_us > now_us ? kind->full_us : now_us;
    if (full_us - now_us > cost_us * ((int64_t)rate->burst - 1)) {
        if (kind->suppressed++ == 0) {
            kind->suppressed_us = now_us;
        }
        kind->suppressed_total++;
        return false;
    }
    kind->full_us = full_us + cost_us;
    return true;
}

void log_kind_drop(struct log_kind *kind)
{
    kind->dropped++;
    kind->dropped_total++;
}

int64_t log_kind_due_us(const struct log_kind *kind)
{
    return kind->suppressed ? kind->suppressed_us + LOG_SUMMARY_US : INT64_MAX;
}
