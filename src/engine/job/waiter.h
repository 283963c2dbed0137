// SPDX-License-Identifier: MIT
// Who waits for a job to finish. The host blocks; the engine knows for what, and says when.
#ifndef SLUICE_ENGINE_JOB_WAITER_H
#define SLUICE_ENGINE_JOB_WAITER_H

#include "engine/engine.h"

struct waiter {
    struct waiter *next; // of the same job, the newest first
    struct job *job;
    uint64_t id;
};

struct slice waiter_key(const void *waiter);

// The job has finished: tells all who wait for it how, with its result or why it failed, in the
// order in which they came. A job that is complete or failed must be so by now.
void waiters_finish(struct engine *engine, struct job *job, int64_t when_us, struct slice state);

// Removes the waiters of a job without an event.
void waiters_forget(struct engine *engine, struct job *job);

#endif
