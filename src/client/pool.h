// SPDX-License-Identifier: MIT
// The inside of a pool (sluice/pool.h). Three kinds of threads, one mutex:
//
//      taker:   room? --> sluice_take --> a slot each ----+        drain: no more
//      slots:   FREE --> GIVEN --> RUNNING --> SETTLING --+--> FREE ... OVER
//                                     |
//      runner:  signals, drain -------+--> RETURNING --> RETURNED     (the grace time is over)
//
// The slot's thread makes each change of its state, except those to GIVEN (the taker) and to
// RETURNING and RETURNED (the runner, which then settles the job instead of the slot).
#ifndef SLUICE_CLIENT_POOL_H
#define SLUICE_CLIENT_POOL_H

#include "client/queue.h"

#include <sluice/pool.h>

#include <stdatomic.h>

enum slot_state {
    SLOT_FREE,
    SLOT_GIVEN,     // it has a job
    SLOT_RUNNING,   // the job's handler runs
    SLOT_SETTLING,  // the handler has returned
    SLOT_RETURNING, // the handler runs; the runner gives the job back
    SLOT_RETURNED,  // the handler runs; the job is settled
    SLOT_OVER,      // its thread ends
};

struct slot {
    struct sluice_pool *pool;
    pthread_t thread;
    bool started;
    enum slot_state state;
    struct sluice_job *job;
    pthread_mutex_t telling;              // held while the handler's `lost` is called
    const struct sluice_handler *handler; // while it runs; with `telling`
};

struct sluice_run {
    struct sluice_pool *pool;
    struct sluice_settle_options outcome;
    char *result, *group, *message; // owned, what `outcome` points to
};

struct sluice_pool {
    struct fork_guard guard;
    // Set by sluice_pool_new.
    struct sluice *taker;   // a copy of the queue, whose waits are interrupted to drain
    struct sluice *settler; // another for everything else
    char **queues;          // owned, ends with NULL
    struct sluice_handler *handlers;
    char **klasses; // of the handlers, owned
    size_t handler_count;
    struct sluice_pool_new_options options;
    struct slot *slots;
    struct sluice_job **taken; // room for the taker
    size_t size;
    int event; // readable when the runner has to look
    int hurry; // readable when the grace time is over

    atomic_uint stops;    // calls of sluice_pool_stop
    atomic_bool draining; // is set with the mutex held
    pthread_mutex_t mutex;
    pthread_cond_t changed; // of a slot, or it drains
    size_t free_count;      // of slots
    size_t holders;         // the program, and threads whose handlers have not returned in time
    bool ran;
    struct sluice_pool_tally tally;
    struct sluice_error why; // no more jobs can be taken
};

// Stops taking jobs, with an error or NULL. May be called from any thread.
void pool_drain(struct sluice_pool *pool, const struct sluice_error *why);
void pool_log(const struct sluice_pool *pool, const char *sentence);
// Wakes the runner.
void pool_wake(const struct sluice_pool *pool);
// Called with the mutex held, which it releases.
void pool_release(struct sluice_pool *pool);

void *pool_take(void *context); // pool_take.c: the taker's thread; its context is the pool
void *pool_work(void *context); // pool_work.c: a slot's thread; its context is the slot

// Tells the handler of a slot, if it still runs, that its job was lost.
void slot_tell(void *context, struct sluice_job *job, enum sluice_loss why);

#endif
