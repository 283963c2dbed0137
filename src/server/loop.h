// SPDX-License-Identifier: MIT
// libevent. Its `struct event` is called `struct loop_event` here, since the engine's events have
// the better right to that name.
#ifndef SLUICE_SERVER_LOOP_H
#define SLUICE_SERVER_LOOP_H

#define event loop_event
#include <event2/event.h>
#include <event2/event_struct.h>
#undef event

#include <stdint.h>

static inline struct timeval timeval_of(int64_t us)
{
    return (struct timeval){ .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
}

#endif
