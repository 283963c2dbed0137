// SPDX-License-Identifier: MIT
// Pauses between attempts, and the events that interrupt them.
#ifndef SLUICE_CLIENT_PAUSE_H
#define SLUICE_CLIENT_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

// Makes the event readable, or not. May be called from a signal handler.
void wake_set(int wake, bool on);
// Whether the event is readable. -1: an event that never is.
bool wake_is_set(int wake);

// Pauses before another attempt, longer each time. False: the deadline would pass first, or `wake`
// is readable.
bool pause_before(unsigned attempt, int64_t deadline_us, int wake);

#endif
