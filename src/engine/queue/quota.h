// SPDX-License-Identifier: MIT
// How much a namespace and its queues may hold. The host sets the limits of every namespace; the
// namespace's options (max-jobs, max-bytes, max-promise-bytes, max-queues, max-recurring,
// min-interval, QUEUE-max-jobs, QUEUE-max-bytes) take precedence if they are above 0.
//
// Only growth is rejected: puts, data that becomes larger, new queues, recurring jobs. What exists
// stays. A completed job may advance to a queue that is full, and a recurring job whose queue is full
// misses its run.
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

// 0: no limit.
struct quotas {
    uint64_t jobs;       // jobs that are not complete
    uint64_t bytes;      // of their data
    uint64_t queues;     // with at least one job, listener, recurring job or statistic
    uint64_t recurring;  // recurring jobs
    int64_t interval_us; // the shortest interval of a recurring job
    uint64_t queue_jobs; // the same for one queue
    uint64_t queue_bytes;
};

// Sets the limits of the host. What exists stays.
void engine_set_quotas(struct engine *engine, const struct quotas *quotas);

// ---------------------------------------------------------------------------------------------
// For the engine's own files: TOO_LARGE with a sentence that names the limit

// Checks whether a job (NULL: a new one) may be in the queue with data of that size.
MUST_USE enum status quota_check_job(const struct engine *engine, const struct queue *queue,
                                     const struct job *job, size_t data_size, struct error *error);
// Checks whether another promise may be made when the existing ones take `bytes`.
MUST_USE enum status quota_check_promises(const struct engine *engine, uint64_t bytes,
                                          struct error *error);
MUST_USE enum status quota_check_queue(const struct engine *engine, struct error *error);
MUST_USE enum status quota_check_recurring(const struct engine *engine, struct slice jid,
                                           struct error *error);
MUST_USE enum status quota_check_interval(const struct engine *engine, int64_t interval_us,
                                          struct error *error);

// Adds a job to the counts of its queue, or subtracts it; a job that does not count (job_counts) is
// ignored.
void quota_count(struct engine *engine, const struct job *job);
void quota_uncount(struct engine *engine, const struct job *job);
// Adds bytes of a job that counts to its queue, or subtracts them.
void quota_add(struct engine *engine, struct queue *queue, size_t size);
void quota_subtract(struct engine *engine, struct queue *queue, size_t size);

#endif
