// SPDX-License-Identifier: MIT
// A lease: a worker's exclusive right to a running job.
#ifndef SLUICE_ENGINE_LEASE_LEASE_H
#define SLUICE_ENGINE_LEASE_LEASE_H

#include "engine/engine.h"

#include "base/index.h"

struct lane;
struct queue;
struct worker;

struct lease {
    struct index_node node; // in its worker's leases, by end
    struct index_node all;  // among the engine's, by token
    struct worker *worker;
    struct job *job;
    struct lane *lane; // whose concurrency it counts for
    uint64_t token;
    int64_t expires_us;
    int64_t run_ends_us; // it is never renewed beyond this; 0: no such limit
    int64_t lease_us;    // its own length, given by a pop, take or heartbeat; 0: that of the job
    int64_t updated_us;  // when its job last changed
    int64_t pid;
    bool started;
    bool grace; // it has expired, and its holder was notified
};

static inline struct lease *lease_of_node(struct index_node *node)
{
    return (struct lease *)(void *)node; // it is the first member
}

static inline struct lease *lease_of_running(struct index_node *node)
{
    return (struct lease *)(void *)((char *)node - offsetof(struct lease, all));
}

// Inserts a lease, whose fields are set, into the indexes of its worker and of the engine. The caller
// must have reserved room in both.
void lease_insert(struct engine *engine, struct lease *lease);

// The job, if `holder` holds its lease. Otherwise NOT_FOUND, STATE or STALE.
MUST_USE enum status lease_check(const struct engine *engine, const struct holder *holder,
                                 struct job **out, struct error *error);

// Ends the lease of a running job, as engine_timeout does. On NO_MEMORY nothing has changed.
MUST_USE enum status lease_take_away(struct engine *engine, struct job *job, int64_t now_us);

// The index of its queue that a leased job is in.
struct index *lease_index(const struct engine *engine, const struct job *job);

// Reserves memory for `count` leases of a worker in a queue; lease_give then gives one to a job that
// is in no index and whose lane exists.
MUST_USE enum status lease_reserve(struct engine *engine, struct queue *queue,
                                   struct worker *worker, size_t count);
// `lease_us` is the lease's own length; 0: that of the job.
void lease_give(struct engine *engine, struct job *job, struct worker *worker, int64_t lease_us,
                int64_t now_us);

// Checks a length that a caller gives: LEASE_US_MIN to LEASE_US_MAX, or 0 for none.
MUST_USE enum status lease_length_check(int64_t lease_us, struct error *error);

// Ends the lease of a job that is in no index, without an event. The worker may be freed with it.
void lease_end(struct engine *engine, struct job *job);

// Takes a job out of its index; a running job loses its lease. The caller then gives it another
// state.
void job_take_out(struct engine *engine, struct job *job);

// For a lease that has expired, or whose grace period has ended: starts the grace period and
// notifies the holder, or ends the lease as lost. `no_grace` skips the grace period. On NO_MEMORY
// nothing has changed.
MUST_USE enum status lease_run_out(struct engine *engine, struct job *job, int64_t when_us,
                                   bool no_grace);

// Whether a job whose lease is lost may run again; otherwise it fails.
bool lease_loss_is_survived(const struct engine *engine, const struct job *job);

// Emits EVENT_LOCK_LOST to the holder and to the listeners of the namespace.
void lease_announce_lost(struct engine *engine, const struct job *job, int64_t when_us);

// For engine_set_time: the leases of a queue keep the time that is left of them, and their runs the
// time that they have taken.
void leases_shift(struct engine *engine, struct queue *queue, int64_t change_us);

#endif
