// SPDX-License-Identifier: MIT
// What is measured, kept up to date with every change and read in O(1): counts of jobs by queue,
// state and priority; how long things took; how many jobs came and ran lately. Times and rates
// count from when the engine was made or loaded; they are not saved.
#ifndef SLUICE_ENGINE_MEASURE_METRICS_H
#define SLUICE_ENGINE_MEASURE_METRICS_H

#include "base/histogram.h"
#include "base/meter.h"
#include "engine/engine.h"

struct queue;

// All in microseconds, but the attempts.
struct metrics {
    struct histogram lifetime;           // of complete jobs: from the first put to completion
    struct histogram time_to_completion; // of complete jobs: from the first run to completion
    struct histogram time_to_failure;    // of failed jobs: from the first put to failing
    struct histogram runtime;            // of runs that completed
    struct histogram latency;            // from when a job could first run to its first run
    struct histogram attempts;           // of complete jobs: runs in the queue they completed in
    struct meter queued;                 // puts, and jobs made by recurring ones
    struct meter run;                    // pops
    uint64_t completed_count, failed_count, canceled_count; // jobs that ended so, for good
    uint64_t retried_count, lost_count; // runs that ended so: by retry, or with the lease
    uint64_t queued_count, run_count;   // the same, of all time
};

// Of a queue, or with an empty name of all. NULL for a queue where nothing was measured. Borrowed.
const struct metrics *engine_metrics(const struct engine *engine, struct slice name);

// What is not given counts for all. A finished job counts for the queue that it finished in.
struct count_filter {
    struct slice queue;
    bool has_priority, has_state;
    int32_t priority;
    enum job_state state;
    // In place of a state: jobs that are neither running nor finished, and were handed out before;
    // running jobs whose worker has begun.
    bool tried, started;
};
size_t engine_count(const struct engine *engine, const struct count_filter *filter);

struct priority_view {
    int32_t priority;
    size_t count; // of jobs that have it
};

// The priorities from `from` on that jobs have, of a queue or with an empty name of all, in
// ascending order, at most `max` of them. Gives how many.
size_t engine_priorities(const struct engine *engine, struct slice name, int32_t from,
                         struct priority_view *out, size_t max);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine. Where there is no memory for it nothing is measured.

void metrics_free(struct engine *engine, struct metrics *metrics);

// A job is given back to be tried again, into that queue; a lease in it expires.
void metrics_retried(struct engine *engine, struct queue *queue);
void metrics_lost(struct engine *engine, struct queue *queue);
// A job is canceled. The queue may be NULL.
void metrics_canceled(struct engine *engine, struct queue *queue);

void metrics_queued(struct engine *engine, struct queue *queue, int64_t now_us);
// A job is being popped, completes a run, completes for good, has failed; it is still as before.
void metrics_popped(struct engine *engine, const struct job *job, int64_t now_us);
void metrics_run(struct engine *engine, const struct job *job, int64_t now_us);
void metrics_completed(struct engine *engine, const struct job *job, int64_t now_us);
void metrics_failed(struct engine *engine, const struct job *job, int64_t when_us);

#endif
