// SPDX-License-Identifier: MIT
// Calls about workers: the known workers, the jobs that they hold, and the queues that they listen
// to. engine.h states what holds for all calls.
#ifndef SLUICE_ENGINE_LEASE_WORKERS_H
#define SLUICE_ENGINE_LEASE_WORKERS_H

#include "engine/engine.h"

struct worker_view {
    struct slice name;
    struct slice host; // where it runs, as the host of the engine reported; or empty
    int64_t seen_us;
    int64_t started_us; // known since, or listening again since, after it was offline
    size_t running;     // jobs that it holds
    size_t expired;     // those of them whose lease has expired
    bool offline;
    int64_t pid;        // of the process of its last engine_start; 0: none
    uint64_t done;      // jobs completed since it is known, or since the engine was loaded
    size_t queue_count; // queues that it listens to
};

// Forgets workers that were not seen for `max-worker-age`, some of them per call. With the server
// clock every call of the engine does so.
MUST_USE enum status engine_workers_prune(struct engine *engine, int64_t now_us,
                                          struct error *error);
// How many workers were seen within that time.
size_t engine_worker_count(const struct engine *engine, int64_t now_us);
// The workers, the most recently seen first: `index` from 0 until the call returns false. Workers
// that are too old and not yet forgotten follow those that engine_worker_count counts.
bool engine_worker(const struct engine *engine, int64_t now_us, size_t index,
                   struct worker_view *view);
// The worker with that name; false if it is not known and holds no job.
bool engine_worker_find(const struct engine *engine, int64_t now_us, struct slice name,
                        struct worker_view *view);
// The queues that a worker listens to, the newest first, until the call returns false. `*position`
// is NULL before the first call.
bool engine_worker_queue(const struct engine *engine, struct slice name, const void **position,
                         struct slice *queue);
// The workers that listen to a queue, in the order in which they were first seen: `index` from 0
// until the call returns false.
bool engine_listener(const struct engine *engine, int64_t now_us, struct slice name, size_t index,
                     struct worker_view *view);
// The host reports a connection of the worker, from `host`. A worker with a connection is not
// forgotten. False if the worker is not known.
bool engine_worker_attach(struct engine *engine, struct slice name, struct slice host);
// The host reports that a connection is no longer the worker's. If it is `gone`, which means closed,
// and was the last one, the worker stops listening to all queues.
void engine_worker_detach(struct engine *engine, struct slice name, bool gone);
// The jobs that a worker holds, the longest lease first: all (LIST_RUNNING), those whose lease has
// expired (LIST_EXPIRED), or those whose lease has not (LIST_UNEXPIRED).
void engine_worker_jobs(const struct engine *engine, int64_t now_us, struct slice name,
                        enum list list, struct page *page);
MUST_USE enum status engine_worker_deregister(struct engine *engine, int64_t now_us,
                                              struct slices workers, struct error *error);
// Sets the worker offline: it stops listening to all queues.
MUST_USE enum status engine_worker_offline(struct engine *engine, int64_t now_us,
                                           struct slice worker, struct error *error);

#endif
