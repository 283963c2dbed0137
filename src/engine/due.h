// SPDX-License-Identifier: MIT
// Due work: leases that expire, deadlines, recurring and scheduled jobs, lanes that may run again,
// promises that end, complete jobs whose retention ends.
#ifndef SLUICE_ENGINE_DUE_H
#define SLUICE_ENGINE_DUE_H

#include "engine/engine.h"

struct queue;

// How much due work one call does; the calls and ticks that follow do the rest. Steps (engine_steps)
// are limited too, because one thing may concern many jobs.
enum {
    DUE_SLICE_THINGS = 1000,
    DUE_SLICE_STEPS = 10000,
    DUE_WAKE_AGAIN_US = 1000000, // with the client clock, after a wake-up that changed nothing
};

// The heap of all queues, ordered by when something in them is next due.
MUST_USE enum status due_reserve(struct engine *engine);
void due_add(struct engine *engine, struct queue *queue);
void due_remove(struct engine *engine, struct queue *queue);

// Updates the position of a queue in the heap from its indexes. With the client clock nothing falls
// due by itself: a watched queue is ordered by when a tick must wake its waiters, and all other
// queues come last.
void due_update(struct engine *engine, struct queue *queue);

// When something in the queue is next due, computed from its indexes.
int64_t due_of(const struct engine *engine, const struct queue *queue);

// With the client clock: wakes the waiters of queues in which something is due by `now_us`, a slice
// of them. Their pops process it. Returns whether there may be more.
bool due_wake(struct engine *engine, int64_t now_us);

// Whether something may be due by `now_us`.
bool due_is_there(const struct engine *engine, int64_t now_us);

// Does the work that is due by `now_us`, in order, at most a slice of it. Returns whether there may be
// more.
bool due_run(struct engine *engine, int64_t now_us);

// When something will next be due, or INT64_MAX.
int64_t due_next(const struct engine *engine);

// Fails a job that has not been started by its deadline, as of `when_us`.
MUST_USE enum status deadline_pass(struct engine *engine, struct job *job, int64_t when_us);

// Moves a scheduled job that is due into the line, as of `time_us`.
MUST_USE enum status due_move(struct engine *engine, struct job *job, int64_t time_us);

// Moves up to `count` scheduled jobs that are due into the line, as of `now_us`.
MUST_USE enum status due_move_scheduled(struct engine *engine, struct queue *queue, int64_t now_us,
                                        size_t count);

#endif
