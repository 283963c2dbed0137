// SPDX-License-Identifier: MIT
// Why a queue hands out no job now, and when it could.
#ifndef SLUICE_ENGINE_EXPLAIN_EXPLAIN_QUEUE_H
#define SLUICE_ENGINE_EXPLAIN_EXPLAIN_QUEUE_H

#include "engine/engine.h"

enum queue_reason {
    QUEUE_READY,            // a pop would get a job now, and workers listen
    QUEUE_NO_WORKERS,       // a pop would get a job now, and no worker listens
    QUEUE_PAUSED,           // it has jobs, and is paused
    QUEUE_CONCURRENCY,      // it has as many leases as it may
    QUEUE_LANE_RATE,        // every lane with jobs is limited; the first by its rate
    QUEUE_LANE_CONCURRENCY, // every lane with jobs has as many leases as it may
    QUEUE_SCHEDULED,        // nothing is in line, and jobs are scheduled
    QUEUE_DEPENDS,          // nothing is in line, and jobs wait for others
    QUEUE_RUNNING,          // all its jobs are running
    QUEUE_RECURRING,        // it has no jobs, and recurring jobs will make some
    QUEUE_EMPTY,
    QUEUE_REASON_COUNT,
};

enum {
    QUEUE_SENTENCE_SIZE = 512,
};

struct queue_explanation {
    enum queue_reason reason;
    int64_t earliest_us; // when a pop can get a job at the earliest; INT64_MAX: not as things stand
    size_t waiting, running, scheduled, depends, listeners;
    bool paused;
    char sentence[QUEUE_SENTENCE_SIZE];
};

// A stable word ("lane-rate").
const char *queue_reason_name(enum queue_reason reason);

MUST_USE enum status engine_explain_queue(struct engine *engine, int64_t now_us, struct slice name,
                                          struct queue_explanation *out, struct error *error);

#endif
