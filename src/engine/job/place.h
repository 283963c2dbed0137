// SPDX-License-Identifier: MIT
// The place of a job: the one index that follows from its state, and the counts and deadlines that
// follow from being there.
#ifndef SLUICE_ENGINE_JOB_PLACE_H
#define SLUICE_ENGINE_JOB_PLACE_H

#include "engine/engine.h"
#include "engine/job/job.h"
#include "engine/queue/queue.h"

// A place that a job is going to.
struct place {
    struct queue *queue; // NULL only for a complete job of an old store
    uint32_t domain;
    int32_t priority;
    enum job_state state; // RUNNING also needs room for the lease, FAILED room in the group
    bool timed;           // with a deadline
};

// The place that the job would have in a queue, with or without dependencies or a delay.
struct place place_for(const struct job *job, struct queue *queue, bool depends, bool delayed);

// place_reserve makes room for a job in that place. job_link then puts it there: a job that is in
// no index and has its state, key and queue.
MUST_USE enum status place_reserve(struct engine *engine, const struct place *place);
void job_link(struct engine *engine, struct job *job);

// Makes room for what job_unlink changes in lanes.
MUST_USE enum status lane_leave_reserve(struct engine *engine, struct job *job);
static inline enum status leave_reserve(struct engine *engine, struct job *job)
{
    return job->queue && job->queue->lanes_count ? lane_leave_reserve(engine, job) : STATUS_OK;
}

// Takes the job out of its index; the caller then gives it another state. job_take_out (lease.h)
// also ends the lease of a running job.
void job_unlink(struct engine *engine, struct job *job);

// Sets the state and the key of a job that is in no index and has its queue and its dependencies,
// and links it.
void place_job(struct engine *engine, struct job *job, int64_t now_us, int64_t delay_us);

// When the job is due, also after its dependencies; 0 when it is not scheduled.
int64_t job_due_time(const struct job *job);

// Makes `queue` the queue of a job that is in no index and is to be in it, not complete.
void job_move_to(struct engine *engine, struct job *job, struct queue *queue);

// Adds the job to the counts of its state (change 1), or subtracts it (SIZE_MAX).
void job_count(struct engine *engine, const struct job *job, size_t change);
// Counts a running job as started from now on.
void job_count_started(const struct job *job);

// Links a job that was loaded with its state and everything else. CORRUPT when another job has the
// same key.
MUST_USE enum status job_load_place(struct engine *engine, struct job *job);

#endif
