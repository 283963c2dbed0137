// SPDX-License-Identifier: MIT
#include "os/clock.h"

static int64_t read_us(clockid_t clock)
{
    struct timespec now = { 0 };
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t boottime_us(void)
{
    return read_us(CLOCK_BOOTTIME);
}

int64_t wall_clock_us(void)
{
    return read_us(CLOCK_REALTIME);
}

struct timespec timespec_from_us(int64_t us)
{
    return (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
}
