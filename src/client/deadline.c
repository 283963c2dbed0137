// SPDX-License-Identifier: MIT
#include "client/deadline.h"

#include "client/queue.h"

static _Thread_local int64_t limit_us = INT64_MAX;

int64_t deadline_of_thread(void)
{
    return limit_us;
}

void deadline_set_for_thread(int64_t deadline_us)
{
    limit_us = deadline_us;
}

double sluice_deadline(double seconds)
{
    int64_t before_us = limit_us;
    limit_us = deadline_in(wait_us_of(seconds));
    if (before_us == INT64_MAX) {
        return SLUICE_FOREVER;
    }
    int64_t left_us = before_us - monotonic_us();
    return left_us > 0 ? (double)left_us / 1e6 : 0;
}
