// SPDX-License-Identifier: MIT
// Waiting that can be ended: an event that is readable while calls are interrupted, and pauses
// between attempts.
#ifndef SLUICE_CLIENT_PAUSE_H
#define SLUICE_CLIENT_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

// Makes the event readable, or not. From a signal handler too.
void wake_set(int wake, bool on);
// Whether it is. -1 is an event that never is.
bool wake_is_set(int wake);

// Pauses before another attempt, longer each time; false when the deadline comes first or `wake`
// is set.
bool pause_before(unsigned attempt, int64_t deadline_us, int wake);

#endif
