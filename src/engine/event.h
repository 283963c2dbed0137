// SPDX-License-Identifier: MIT
// What the engine tells besides its replies. An event goes to the sink that the host gave, while
// the command is applied; it cannot be refused. Its slices are borrowed for the duration of the
// call.
#ifndef SLUICE_ENGINE_EVENT_H
#define SLUICE_ENGINE_EVENT_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
    EVENT_PUT,
    EVENT_POPPED,
    EVENT_COMPLETED,
    EVENT_ADVANCED, // completed here, put into the queue `to`
    EVENT_FAILED,
    EVENT_CANCELED,
    EVENT_LOCK_LOST,
    EVENT_STALLED, // the lease ran out; its holder has the grace period left
    EVENT_TRACK,
    EVENT_UNTRACK,
    EVENT_CONFIG_SET,
    EVENT_CONFIG_UNSET,
    EVENT_PROGRESS, // message: what it says
    // state: complete, failed or canceled; result, or group and message; waiter: to whom; first: of
    // those that this end of the job is told to, one after the other
    EVENT_FINISHED,
    EVENT_RETRIED,         // given back; queue: where it is tried again
    EVENT_DUE,             // a scheduled job is in line
    EVENT_PAUSED,          // the queue
    EVENT_UNPAUSED,        // the queue
    EVENT_RECURRING_SET,   // a recurring job was made or changed
    EVENT_RECURRING_UNSET, // it is no more
    EVENT_LIMIT_SET,       // of the queue and domain, either of which may be empty
    EVENT_LIMIT_UNSET,
    EVENT_BULK, // an operation began, went on or ended; bulk
    EVENT_TICK, // the host's, once a second: how a namespace is; the engine tells none
    EVENT_KIND_COUNT,
};

// To whom it goes.
enum event_channel {
    EVENT_TO_LOG = 1,     // to all who listen to the namespace
    EVENT_TO_WORKER = 2,  // to the worker it names
    EVENT_TO_TRACKER = 4, // to those who follow tracked jobs
    EVENT_TO_WAITER = 8,  // to the waiter it names
    // Told only if the sink wants them:
    EVENT_TO_WATCHER = 16, // to all who listen to the namespace too
    EVENT_TO_JOB = 32,     // to those who follow this job
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
    // A lease has ended, in whichever way; a retry, say, is told by no event. For a host that holds
    // leases itself; NULL: it does not.
    void (*lease_ended)(void *context, struct slice jid);
    // Which of the channels that have to be asked for it wants, as of now; NULL: none.
    const unsigned *wanted;
};

// A stable word ("lock_lost").
const char *event_kind_name(enum event_kind kind);

#endif
