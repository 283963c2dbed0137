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
    struct lane *lane; // whose leases it counts among
    uint64_t token;
    int64_t expires_us;
    int64_t run_ends_us; // it is never renewed beyond; 0: no such limit
    int64_t lease_us;    // how long it lasts, said when it was taken or renewed; 0: as the job says
    int64_t updated_us;  // when its job last changed
    int64_t pid;
    bool started;
    bool grace; // it ran out, and its holder was told
};

static inline struct lease *lease_of_node(struct index_node *node)
{
    return (struct lease *)(void *)node; // it is the first member
}

static inline struct lease *lease_of_running(struct index_node *node)
{
    return (struct lease *)(void *)((char *)node - offsetof(struct lease, all));
}

// Puts a lease with all that it is to have among its worker's and the engine's. Room must have been
// reserved in both.
void lease_insert(struct engine *engine, struct lease *lease);

// The job that `holder` claims, if it holds it. Otherwise NOT_FOUND, STATE or STALE.
MUST_USE enum status lease_check(const struct engine *engine, const struct holder *holder,
                                 struct job **out, struct error *error);

// Takes the lease of a running job away, as engine_timeout does. Without an effect when there is no
// memory.
MUST_USE enum status lease_take_away(struct engine *engine, struct job *job, int64_t now_us);

// The index of its queue that a leased job is in.
struct index *lease_index(const struct engine *engine, const struct job *job);

// Makes room for a lease of a worker in a queue, then gives it: the job must be in no index, and
// its lane be there.
MUST_USE enum status lease_reserve(struct engine *engine, struct queue *queue,
                                   struct worker *worker, size_t count);
// `lease_us` is its own length; 0: as the job says.
void lease_give(struct engine *engine, struct job *job, struct worker *worker, int64_t lease_us,
                int64_t now_us);

// Whether a lease may be given a length of its own: LEASE_US_MIN to LEASE_US_MAX, or 0 for none.
MUST_USE enum status lease_length_check(int64_t lease_us, struct error *error);

// Ends the lease of a job that is in no index, without an event. The worker may be freed with it.
void lease_end(struct engine *engine, struct job *job);

// Takes a job out of its index; a running job loses its lease. The caller then gives it another
// state.
void job_take_out(struct engine *engine, struct job *job);

// The lease ran out: its holder is told and has the grace period left; or it is lost at once.
// Memory for it must be had: gives NO_MEMORY otherwise, and nothing has changed.
// `no_grace`: at once, whatever the grace period is.
MUST_USE enum status lease_run_out(struct engine *engine, struct job *job, int64_t when_us,
                                   bool no_grace);

// Whether a job whose lease is lost may run again; otherwise it fails.
bool lease_loss_is_survived(const struct engine *engine, const struct job *job);

// Tells the holder, and all who listen, that the lease is lost.
void lease_announce_lost(struct engine *engine, const struct job *job, int64_t when_us);

// The engine's time was set: the leases of a queue keep the time that they have left, and the runs
// under them the time that they have taken.
void leases_shift(struct engine *engine, struct queue *queue, int64_t change_us);

#endif
