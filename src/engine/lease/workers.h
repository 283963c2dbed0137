// SPDX-License-Identifier: MIT
// Calls about workers: who they are, what they hold, and which queues they listen to.
#ifndef SLUICE_ENGINE_LEASE_WORKERS_H
#define SLUICE_ENGINE_LEASE_WORKERS_H

#include "engine/engine.h"

struct worker_view {
    struct slice name;
    struct slice host; // where it runs, as the host of the engine says; or empty
    int64_t seen_us;
    int64_t started_us; // since when it is known, or listens after it was offline
    size_t running, stalled;
    bool offline;
    int64_t pid;        // of the process that it last said a job runs in; 0: it has not
    uint64_t done;      // jobs that it has completed since it is known, or the engine was loaded
    size_t queue_count; // that it listens to
};

// Forgets workers not seen for `max-worker-age`, a part of them when they are many. With the server
// clock every call does so.
MUST_USE enum status engine_workers_prune(struct engine *engine, int64_t now_us,
                                          struct error *error);
// How many were seen within that time.
size_t engine_worker_count(const struct engine *engine, int64_t now_us);
// The workers, the most recently seen first: `index` from 0 until it returns false. Behind those
// that engine_worker_count counts come those that a prune has left.
bool engine_worker(const struct engine *engine, int64_t now_us, size_t index,
                   struct worker_view *view);
// One of them; false when it is not known and holds nothing.
bool engine_worker_find(const struct engine *engine, int64_t now_us, struct slice name,
                        struct worker_view *view);
// The queues that a worker listens to, the newest first. `*position` is NULL at first.
bool engine_worker_queue(const struct engine *engine, struct slice name, const void **position,
                         struct slice *queue);
// The workers that listen to a queue, in the order in which they were first seen: `index` from 0
// until it returns false.
bool engine_listener(const struct engine *engine, int64_t now_us, struct slice name, size_t index,
                     struct worker_view *view);
// The host knows of a connection of the worker, from `host`: while it has one it is not forgotten.
// False when it is not known.
bool engine_worker_attach(struct engine *engine, struct slice name, struct slice host);
// One connection less. If it is `gone`, was closed, and was the last one, the worker listens to no
// queue any more.
void engine_worker_detach(struct engine *engine, struct slice name, bool gone);
// The jobs that a worker holds, the longest lease first: those whose lease has (stalled) or has not
// run out.
void engine_worker_jobs(const struct engine *engine, int64_t now_us, struct slice name,
                        bool stalled, struct page *page);
MUST_USE enum status engine_worker_deregister(struct engine *engine, int64_t now_us,
                                              struct slices workers, struct error *error);
// The worker listens to no queue any more.
MUST_USE enum status engine_worker_offline(struct engine *engine, int64_t now_us,
                                           struct slice worker, struct error *error);

#endif
