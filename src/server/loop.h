// SPDX-License-Identifier: MIT
// Includes libevent's header with `struct event` renamed to `struct loop_event`, because the engine
// has a `struct event`.
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
