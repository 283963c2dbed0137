// SPDX-License-Identifier: MIT
// A worker: when it was last seen, the leases that it holds, the queues that it listens to.
//
// A worker listens to the queues that it pops from. This ends when the worker is set offline, when
// the host reports that its last connection is closed (engine_worker_detach), or when the worker is
// forgotten: it was not seen for max-worker-age and has no connection.
#ifndef SLUICE_ENGINE_LEASE_WORKER_H
#define SLUICE_ENGINE_LEASE_WORKER_H

#include "engine/engine.h"

#include "base/index.h"
#include "engine/lease/workers.h"

struct queue;

// A worker that listens to a queue.
struct listener {
    struct index_node node; // among those of its queue, by the worker's number
    struct listener *next, *previous;
    struct worker *worker;
    struct queue *queue;
    uint64_t key[2]; // the numbers of the worker and the queue
};

enum {
    LISTENERS_MAX = 1000, // queues that a worker listens to; another one replaces the oldest
};

struct worker {
    struct index_node order; // in the engine's list of known workers, by when they were seen
    struct index leases;     // by their end
    struct listener *listeners, *listeners_last; // the newest first
    size_t listener_count;
    int64_t seen_us;
    int64_t started_us; // known since, or listening again since, after it was offline
    int64_t pid;        // of the process of its last engine_start; 0: none. Not saved
    uint64_t done;      // jobs that it has completed; not saved
    size_t connections; // those that the host reported; not saved
    char *host;         // where it runs, as the host of the engine reported; owned
    uint8_t host_size;
    uint64_t id;
    struct worker *dirty_next;
    bool dirty;
    bool known;
    uint8_t name_size;
    char name[];
};

static inline struct slice worker_name(const struct worker *worker)
{
    return slice_make(worker->name, worker->name_size);
}

static inline struct worker *worker_of_node(struct index_node *node)
{
    return (struct worker *)(void *)node; // it is the first member
}

static inline struct slice worker_host(const struct worker *worker)
{
    return slice_make(worker->host, worker->host_size);
}

static inline struct listener *listener_of_node(struct index_node *node)
{
    return (struct listener *)(void *)node; // it is the first member
}

struct slice listener_key(const void *listener);
struct worker *worker_find(const struct engine *engine, struct slice name);
MUST_USE enum status worker_acquire(struct engine *engine, struct slice name, struct worker **out);
// Frees the worker if it is not known and holds nothing.
void worker_settle(struct engine *engine, struct worker *worker);
void worker_free(struct engine *engine, struct worker *worker);

// worker_reserve_seen reserves memory for worker_seen, which sets when the worker was last seen.
MUST_USE enum status worker_reserve_seen(struct engine *engine);
void worker_seen(struct engine *engine, struct worker *worker, int64_t now_us);

// The same without a reservation, if the order of the workers does not change; otherwise false.
MUST_USE bool worker_seen_in_place(struct engine *engine, struct worker *worker, int64_t now_us);

// Allocates a listener, which worker_listen then adds; `*out` is NULL if the worker listens already.
MUST_USE enum status worker_reserve_listener(struct engine *engine, struct worker *worker,
                                             struct queue *queue, struct listener **out);
void worker_listen(struct engine *engine, struct worker *worker, struct listener *listener);

// Sets where the worker runs; when memory is short it stays unknown.
void worker_set_host(struct engine *engine, struct worker *worker, struct slice host);

// Removes all listeners: after a restart of the host there are no connections.
void workers_unlisten(struct engine *engine);

// With the server clock: forgets workers that were not seen for max-worker-age, some of them per
// call. A worker with a connection counts as seen.
bool workers_are_old(const struct engine *engine, int64_t now_us);
void workers_forget_old(struct engine *engine, int64_t now_us);

#endif
