// SPDX-License-Identifier: MIT
#ifndef SLUICE_CLIENT_DEADLINE_H
#define SLUICE_CLIENT_DEADLINE_H

#include "os/clock.h"

// The moment so long from now, as monotonic_us has it; INT64_MAX: never.
static inline int64_t deadline_in(int64_t us)
{
    int64_t now_us = monotonic_us();
    return us > INT64_MAX - now_us ? INT64_MAX : now_us + us;
}

#endif
