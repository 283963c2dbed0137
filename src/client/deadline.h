// SPDX-License-Identifier: MIT
// Moments until which something may take, as monotonic_us counts; INT64_MAX: no limit.
#ifndef SLUICE_CLIENT_DEADLINE_H
#define SLUICE_CLIENT_DEADLINE_H

#include "os/clock.h"

// The moment that is `us` from now.
static inline int64_t deadline_in(int64_t us)
{
    int64_t now_us = monotonic_us();
    return us > INT64_MAX - now_us ? INT64_MAX : now_us + us;
}

// The deadline of the calls of this thread (sluice_deadline).
int64_t deadline_of_thread(void);
void deadline_set_for_thread(int64_t deadline_us);

// The moment that is `us` from now, or the deadline of this thread if that is earlier.
static inline int64_t deadline_of_call(int64_t us)
{
    int64_t limit_us = deadline_of_thread();
    int64_t deadline_us = deadline_in(us);
    return deadline_us < limit_us ? deadline_us : limit_us;
}

#endif
