// SPDX-License-Identifier: MIT
// What falls due by itself: leases that run out, deadlines, recurring and scheduled jobs, lanes
// that may run again, promises that end, complete jobs that are not kept any longer.
#ifndef SLUICE_ENGINE_DUE_H
#define SLUICE_ENGINE_DUE_H

#include "engine/engine.h"

struct queue;

// What one call does of what is due; the rest is left to the calls and ticks that follow. The steps
// (engine_steps) count because one thing may concern many jobs.
enum {
    DUE_SLICE_THINGS = 1000,
    DUE_SLICE_STEPS = 10000,
    DUE_WAKE_AGAIN_US = 1000000, // with the client clock, after a look that changed nothing
};

// The heap of queues by when something in them is next due. All queues are in it.
MUST_USE enum status due_reserve(struct engine *engine);
void due_add(struct engine *engine, struct queue *queue);
void due_remove(struct engine *engine, struct queue *queue);

// Brings the queue's place into line with what is in its indexes. With the client clock nothing
// falls due by itself: a queue that is watched has a place, by when a tick is to wake those who
// wait for it; all others come last.
void due_update(struct engine *engine, struct queue *queue);

// Where that is, looked up anew.
int64_t due_of(const struct engine *engine, const struct queue *queue);

// With the client clock: wakes those who wait for queues in which something is due by `now_us`, a
// slice of them. What they pop with does it. Says whether there may be more.
bool due_wake(struct engine *engine, int64_t now_us);

// Whether something may be due by `now_us`.
bool due_is_there(const struct engine *engine, int64_t now_us);

// Does what is due by `now_us`, in order, at most a slice of it. Says whether there may be more.
bool due_run(struct engine *engine, int64_t now_us);

// When something will next be due, or INT64_MAX.
int64_t due_next(const struct engine *engine);

// A job that has not been started by its deadline fails, as of `when_us`.
MUST_USE enum status deadline_pass(struct engine *engine, struct job *job, int64_t when_us);

// Moves a scheduled job that is due into the line, as of `time_us`.
MUST_USE enum status due_move(struct engine *engine, struct job *job, int64_t time_us);

// Moves up to `count` scheduled jobs that are due into the line, as of `now_us`.
MUST_USE enum status due_move_scheduled(struct engine *engine, struct queue *queue, int64_t now_us,
                                        size_t count);

#endif
