// SPDX-License-Identifier: MIT
// Events: what the engine reports in addition to its replies. The engine passes an event to the sink
// of the host while it applies a call; the sink cannot reject it. The slices of an event are borrowed
// for the duration of the call.
#ifndef SLUICE_ENGINE_EVENT_H
#define SLUICE_ENGINE_EVENT_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_PUT,
    EVENT_POPPED,
    EVENT_COMPLETED,
    EVENT_ADVANCED, // completed in `queue`, put into the queue `to`
    EVENT_FAILED,
    EVENT_CANCELED,
    EVENT_LOCK_LOST,
    EVENT_STALLED, // the lease has expired; its holder has the grace period left
    EVENT_TRACK,
    EVENT_UNTRACK,
    EVENT_CONFIG_SET,
    EVENT_CONFIG_UNSET,
    EVENT_PROGRESS, // message: that of the progress
    // state: complete, failed or canceled; result, or group and message; waiter: its number; first:
    // whether it is the first event of this end of the job, which has one for each waiter
    EVENT_FINISHED,
    EVENT_RETRIED,         // by retry; queue: where it is tried again
    EVENT_DUE,             // a scheduled job is in line
    EVENT_PAUSED,          // the queue
    EVENT_UNPAUSED,        // the queue
    EVENT_RECURRING_SET,   // a recurring job was created or changed
    EVENT_RECURRING_UNSET, // a recurring job was removed
    EVENT_LIMIT_SET,       // of the queue and domain, either of which may be empty
    EVENT_LIMIT_UNSET,
    EVENT_BULK, // a bulk operation began, made progress or ended; bulk
    EVENT_TICK, // made by the host once a second (host/tick_json.h), never by the engine
    EVENT_KIND_COUNT,
};

// The recipients of an event.
enum event_channel {
    EVENT_TO_LOG = 1,     // all listeners of the namespace
    EVENT_TO_WORKER = 2,  // the worker that it names
    EVENT_TO_TRACKER = 4, // listeners of tracked jobs
    EVENT_TO_WAITER = 8,  // the waiter that it names
    // Only if the sink wants them:
    EVENT_TO_WATCHER = 16, // native listeners of the namespace
    EVENT_TO_JOB = 32,     // listeners of this job
};

// Fields that do not apply are empty.
struct event {
    enum event_kind kind;
    unsigned channels; // of enum event_channel
    int64_t when_us;
    struct slice jid;
    struct slice queue;
    struct slice worker;
    struct slice to;
    struct slice group;
    struct slice message;
    struct slice option;
    struct slice value;
    struct slice state;
    struct slice result;
    uint64_t waiter;
    bool first;
    int32_t progress_ppm;
    struct slice domain;
    struct {
        uint64_t id, looked_at, matched, changed;
        bool done, stopped;
    } bulk;
};

struct event_sink {
    void (*receive)(void *context, const struct event *event); // NULL: no listener
    void *context;
    // Called when a lease has ended, in any way (some have no event). For a host that holds leases
    // itself; NULL: it does not.
    void (*lease_ended)(void *context, struct slice jid);
    // The optional channels that the host wants at present; NULL: none.
    const unsigned *wanted;
};

// The kind in lower case ("lock_lost"); these words do not change between versions.
const char *event_kind_name(enum event_kind kind);

#endif
