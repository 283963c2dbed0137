// SPDX-License-Identifier: MIT
// The system's clocks, in microseconds.
#ifndef SLUICE_OS_CLOCK_H
#define SLUICE_OS_CLOCK_H

#include <stdint.h>
#include <time.h>

// Never goes back, and stands still while the machine is suspended: for durations and timeouts.
int64_t monotonic_us(void);

// Never goes back, and goes on while the machine is suspended.
int64_t boottime_us(void);

// The clock that people set, since 1970: it can go forward and back.
int64_t wall_clock_us(void);

// A moment or a duration as the system's calls take it.
struct timespec timespec_from_us(int64_t us);

#endif
