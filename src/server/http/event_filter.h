// SPDX-License-Identifier: MIT
// Which events a listener receives, from the query of its request:
//
//     queue=mail&queue=fax      of these queues; events without a queue are left out
//     jid=a&jid=b               of these jobs, including events that are otherwise published only
//                               for tracked jobs
//     kind=failed&kind=put      of these kinds
//     kind=tick                 the state of the namespace, once a second; only if requested
//     tracked=true              of tracked jobs
//     worker=w1                 for this worker
//     last_event_id=17          and first the kept events after that one
//
// Without `tracked` and `worker` these are the events of the namespace's log; with both, the events
// that either of them selects.
#ifndef SLUICE_SERVER_HTTP_EVENT_FILTER_H
#define SLUICE_SERVER_HTTP_EVENT_FILTER_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/event.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    // The channels that clients can listen to.
    EVENT_HEARD =
        EVENT_TO_LOG | EVENT_TO_WORKER | EVENT_TO_TRACKER | EVENT_TO_WATCHER | EVENT_TO_JOB,
};

struct event_filter {
    struct buffer queues, jids, workers; // owned: names, each preceded by a byte with its size
    unsigned kinds;                      // a bit for each; 0: all
    bool tracked;
    bool has_last_id;
    uint64_t last_id;
};

void event_filter_init(struct event_filter *filter, const struct allocator *allocator);
void event_filter_release(struct event_filter *filter);

// Parses a query, which is still percent-encoded. INVALID with a message that names the parameter;
// NO_MEMORY.
MUST_USE enum status event_filter_read(struct event_filter *filter, struct slice query,
                                       struct error *error);

// Sets the id of the last event that the client has received, replacing the query's. An empty text
// is ignored.
MUST_USE enum status event_filter_read_last_id(struct event_filter *filter, struct slice text,
                                               struct error *error);

// Whether the listener wants ticks.
bool event_filter_wants_ticks(const struct event_filter *filter);

bool event_filter_matches(const struct event_filter *filter, const struct event *event);

#endif
