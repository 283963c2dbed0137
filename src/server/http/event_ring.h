// SPDX-License-Identifier: MIT
// The last events of a namespace, so that a listener that was cut off can go on where it was.
//
// Events are numbered one after the other, without a hole. The numbers of a ring begin with a time
// in microseconds (or behind those of any ring before, whichever is more), so that a number from
// before a restart is below all of those since, and is seen not to be among them.
#ifndef SLUICE_SERVER_HTTP_EVENT_RING_H
#define SLUICE_SERVER_HTTP_EVENT_RING_H

#include "base/alloc.h"
#include "base/slice.h"
#include "engine/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_event;

struct event_ring {
    const struct allocator *allocator; // borrowed
    struct kept_event **items;         // owned; NULL until there is an event
    size_t first, count, count_max;
    size_t bytes, bytes_max; // of all that is kept
    uint64_t last_id;        // of the newest event; before the first, where the numbers begin
};

// At most so many events, of so many bytes in all. Allocates nothing.
void event_ring_init(struct event_ring *ring, const struct allocator *allocator, size_t count_max,
                     size_t bytes_max, uint64_t start_id);
void event_ring_release(struct event_ring *ring);

// The next event, and the text that listeners are told; it has the number last_id + 1. What is too
// large, or has no memory, is not kept, and nothing before it either.
void event_ring_add(struct event_ring *ring, const struct event *event, struct slice text);

// The next event, of which nothing can be told.
void event_ring_skip(struct event_ring *ring);

// Whether all that came after the event of that number is here.
static inline bool event_ring_reaches(const struct event_ring *ring, uint64_t id)
{
    return id <= ring->last_id && ring->last_id - id <= ring->count;
}

// The events by age, the oldest first: `index` from 0 until it is false. Of the event there is what
// filters look at. Borrowed.
bool event_ring_at(const struct event_ring *ring, size_t index, struct event *event,
                   struct slice *text);

#endif
