// SPDX-License-Identifier: MIT
// The last events of a namespace, so that a listener whose connection broke can continue where it
// was.
//
// Events are numbered without gaps. The numbers of a ring begin with a time in microseconds (or
// with the next number after those of all earlier rings, if that is more). So a number from before
// a restart is lower than all numbers since, and is recognised as missing.
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
    size_t bytes, bytes_max; // of all kept events
    // of the newest event; before the first event, the number that precedes it
    uint64_t last_id;
};

// Keeps at most `count_max` events with `bytes_max` bytes in total. Allocates nothing.
void event_ring_init(struct event_ring *ring, const struct allocator *allocator, size_t count_max,
                     size_t bytes_max, uint64_t start_id);
void event_ring_release(struct event_ring *ring);

// Adds the next event and the text that listeners receive; its number is last_id + 1. If the event
// is too large or there is no memory, neither it nor any event before it is kept.
void event_ring_add(struct event_ring *ring, const struct event *event, struct slice text);

// Counts the next event, whose text could not be written.
void event_ring_skip(struct event_ring *ring);

// Whether all events after the one with that number are kept.
static inline bool event_ring_reaches(const struct event_ring *ring, uint64_t id)
{
    return id <= ring->last_id && ring->last_id - id <= ring->count;
}

// Iterates over the kept events, oldest first: call it with `index` from 0 until it returns false.
// The event has only the fields that filters use. Borrowed.
bool event_ring_at(const struct event_ring *ring, size_t index, struct event *event,
                   struct slice *text);

#endif
