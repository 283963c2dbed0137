// SPDX-License-Identifier: MIT
// Which events a listener wants, as the query of a request says it:
//
//     queue=mail&queue=fax      of these queues; an event that is of no queue is not among them
//     jid=a&jid=b               of these jobs; also what is told of tracked jobs alone otherwise
//     kind=failed&kind=put      of these kinds
//     kind=tick                 how the namespace is, once a second; not told unless asked for
//     tracked=true              of tracked jobs
//     worker=w1                 what this worker should know
//     last_event_id=17          and those since that one that are kept
//
// Without `tracked` and `worker` it is what goes to the log of the namespace; with both it is what
// either has.
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
    struct buffer queues, jids, workers; // owned: names, each behind a byte with its size
    unsigned kinds;                      // a bit for each; 0: all
    bool tracked;
    bool has_last_id;
    uint64_t last_id;
};

void event_filter_init(struct event_filter *filter, const struct allocator *allocator);
void event_filter_release(struct event_filter *filter);

// A query, still escaped. INVALID with a sentence that names the parameter; NO_MEMORY.
MUST_USE enum status event_filter_read(struct event_filter *filter, struct slice query,
                                       struct error *error);

// The number of the last event that was seen, in place of the query's. An empty text is none.
MUST_USE enum status event_filter_read_last_id(struct event_filter *filter, struct slice text,
                                               struct error *error);

// Whether it wants to be told once a second how the namespace is.
bool event_filter_wants_ticks(const struct event_filter *filter);

bool event_filter_matches(const struct event_filter *filter, const struct event *event);

#endif
