// SPDX-License-Identifier: MIT
// Where a job stands: the one index that its state says, and what follows from standing there:
// counts and deadlines.
#ifndef SLUICE_ENGINE_PLACE_H
#define SLUICE_ENGINE_PLACE_H

#include "engine/engine.h"
#include "engine/job.h"
#include "engine/queue.h"

// A place that a job is to come to.
struct place {
    struct queue *queue; // NULL only for a complete job of an old store
    uint32_t domain;
    int32_t priority;
    enum job_state state; // for RUNNING the lease, for FAILED the group needs room besides
    bool timed;           // with a deadline
};

// Where the job would go in a queue, with or without a delay. For a job that has its dependencies.
struct place place_for(const struct job *job, struct queue *queue, bool depends, bool delayed);

// Makes room for a job to come there, then it does: a job that is in no index, with all that it is
// to have, key included.
MUST_USE enum status place_reserve(struct engine *engine, const struct place *place);
void job_enter(struct engine *engine, struct job *job);

// Makes room for the changes that the job's leaving means for others. Then takes the job out of the
// index it is in, and off its lease; its state is then whatever the caller makes it.
MUST_USE enum status lane_leave_reserve(struct engine *engine, struct job *job);
static inline enum status leave_reserve(struct engine *engine, struct job *job)
{
    return job->queue && job->queue->lanes_count ? lane_leave_reserve(engine, job) : STATUS_OK;
}
void job_leave(struct engine *engine, struct job *job);

// Counts the job as what it is: 1, or SIZE_MAX for one less.
void job_count(struct engine *engine, const struct job *job, size_t change);
// Counts a running job as begun, from now on.
void job_count_started(const struct job *job);

// Puts a job that is loaded, with its state and all else, where it belongs. CORRUPT when there is
// another with the same key.
MUST_USE enum status job_load_place(struct engine *engine, struct job *job);

#endif
