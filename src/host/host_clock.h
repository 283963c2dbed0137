// SPDX-License-Identifier: MIT
// The time by which a host runs its engines. It follows a clock that is never set and that
// continues while the machine is suspended (CLOCK_BOOTTIME, "monotonic" here), anchored to the wall
// clock (CLOCK_REALTIME):
//
//   - a difference of up to HOST_CLOCK_STEP_US is drift, and is corrected gradually, so that the
//     host's time never goes back;
//   - a larger one is a step. It is followed when it has lasted for HOST_CLOCK_WAIT_US, and only
//     the part that has lasted; a step that is taken back before that has no effect.
//
// Pure functions of the readings of both clocks. host_clock_look takes the readings of the system.
#ifndef SLUICE_HOST_HOST_CLOCK_H
#define SLUICE_HOST_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define HOST_CLOCK_STEP_US  INT64_C(1000000)
#define HOST_CLOCK_WAIT_US  INT64_C(30000000)
#define HOST_CLOCK_CHECK_US INT64_C(1000000) // how often a host compares the clocks

struct clock_reading {
    int64_t wall_us, monotonic_us;
};

enum clock_change {
    CLOCK_STEADY,
    CLOCK_STEPPED,  // the wall clock was set; the host's time has not changed yet
    CLOCK_RETURNED, // a step was taken back before it was followed
    CLOCK_FOLLOWED, // the host's time was set: engine_set_time must be called
};

struct host_clock {
    int64_t ahead_us;      // the host's time less the monotonic one
    int64_t compared_us;   // when the clocks were last compared, monotonic
    int64_t difference_us; // wall clock less the host's time at that moment
    int64_t pending_us;    // the part of a step that has lasted since `pending_since_us`; 0: none
    int64_t pending_since_us;
    uint64_t steps, returned, followed; // since the start
};

struct clock_news {
    enum clock_change change;
    int64_t step_us; // the change of the wall clock, or of the host's time
};

void host_clock_init(struct host_clock *clock, struct clock_reading reading);

// The host's time at a monotonic time, with the anchor of the last comparison.
static inline int64_t host_clock_time(const struct host_clock *clock, int64_t monotonic_us)
{
    return clock->ahead_us + monotonic_us;
}

// Compares the clocks. To be called every HOST_CLOCK_CHECK_US.
struct clock_news host_clock_compare(struct host_clock *clock, struct clock_reading reading);

// The current readings of the system's clocks.
struct clock_reading host_clock_look(void);
int64_t host_clock_monotonic(void);

// A stable word for the log ("ignored"); NULL for CLOCK_STEADY.
const char *clock_change_word(enum clock_change change);

#endif
