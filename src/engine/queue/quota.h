// SPDX-License-Identifier: MIT
// How much a namespace and its queues may hold. The host gives what holds for every namespace; the
// namespace's options (max-jobs, max-bytes, max-promise-bytes, max-queues, max-recurring,
// min-interval, QUEUE-max-jobs, QUEUE-max-bytes) take precedence when they are above 0.
//
// Only what grows is refused: puts, data that gets larger, new queues, recurring jobs. What is
// there already stays, jobs that are completed may go on to a queue that has many, and a recurring
// job whose queue is full misses its run.
#ifndef SLUICE_ENGINE_QUEUE_QUOTA_H
#define SLUICE_ENGINE_QUEUE_QUOTA_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct job;
struct queue;

// 0: none.
struct quotas {
    uint64_t jobs;       // that are not complete
    uint64_t bytes;      // of their data
    uint64_t queues;     // with at least one job, listener, recurring job or statistic
    uint64_t recurring;  // jobs
    int64_t interval_us; // of a recurring job, at least
    uint64_t queue_jobs; // the same for one queue
    uint64_t queue_bytes;
};

// What the host allows. What is there already stays.
void engine_set_quotas(struct engine *engine, const struct quotas *quotas);

// ---------------------------------------------------------------------------------------------
// For the engine's own files: TOO_LARGE with a sentence that names the limit

// Whether a job, NULL for a new one, may be in a queue with data of that size.
MUST_USE enum status quota_check_job(const struct engine *engine, const struct queue *queue,
                                     const struct job *job, size_t data_size, struct error *error);
// Whether there may be more promises than those, which take so many bytes.
MUST_USE enum status quota_check_promises(const struct engine *engine, uint64_t bytes,
                                          struct error *error);
MUST_USE enum status quota_check_queue(const struct engine *engine, struct error *error);
MUST_USE enum status quota_check_recurring(const struct engine *engine, struct slice jid,
                                           struct error *error);
MUST_USE enum status quota_check_interval(const struct engine *engine, int64_t interval_us,
                                          struct error *error);

// The job counts for its queue from now on, or, if it did, no more (job_counts).
void quota_count(struct engine *engine, const struct job *job);
void quota_uncount(struct engine *engine, const struct job *job);
// Such a job's bytes have come to, or gone from, its queue.
void quota_add(struct engine *engine, struct queue *queue, size_t size);
void quota_subtract(struct engine *engine, struct queue *queue, size_t size);

#endif
