// SPDX-License-Identifier: MIT
// Waiters: clients that wait for a job to finish. The host suspends the client; the engine keeps the
// number of the waiter at the job and emits an event when the job finishes.
#ifndef SLUICE_ENGINE_JOB_WAITER_H
#define SLUICE_ENGINE_JOB_WAITER_H

#include "engine/engine.h"

struct waiter {
    struct waiter *next; // of the same job, the newest first
    struct job *job;
    uint64_t id;
};

struct slice waiter_key(const void *waiter);

// Emits EVENT_FINISHED to the waiters of a job, in the order in which they arrived, and removes them.
// `state` is how the job ended; the event also has its result or its failure, so the state of a job
// that is complete or failed must have been set before.
void waiters_finish(struct engine *engine, struct job *job, int64_t when_us, struct slice state);

// Removes the waiters of a job without an event.
void waiters_forget(struct engine *engine, struct job *job);

#endif
