// SPDX-License-Identifier: MIT
// The clocks of the operating system, in microseconds.
#ifndef SLUICE_OS_CLOCK_H
#define SLUICE_OS_CLOCK_H

#include <stdint.h>
#include <time.h>

// Monotonic, without the time in which the machine is suspended: for durations and timeouts.
int64_t monotonic_us(void);

// Monotonic, including the time in which the machine is suspended.
int64_t boottime_us(void);

// Time since 1970. It can be set, forward and back.
int64_t wall_clock_us(void);

// Converts a time or a duration for system calls.
struct timespec timespec_from_us(int64_t us);

#endif
