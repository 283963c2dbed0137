// SPDX-License-Identifier: MIT
// The engine's own struct, for the files of this folder.
#ifndef SLUICE_ENGINE_STATE_H
#define SLUICE_ENGINE_STATE_H

#include "engine/config.h"
#include "engine/engine.h"

#include "base/index.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/slab.h"

struct engine {
    const struct allocator *allocator;
    struct event_sink sink;
    enum engine_clock clock;
    int64_t now_us; // the last time seen, with the server clock

    struct map jobs;
    struct map queues;
    struct map workers;
    struct map groups;
    struct map tags;
    struct map recurring;
    struct map tracked;
    struct intern names; // klasses, queues in histories, spawners, tags of recurring jobs

    struct index_pool pool;
    struct index queue_order;   // the known queues, by when they were first seen
    struct index queue_all;     // all of them, by id
    struct index worker_order;  // the known workers, by when they were last seen
    struct index group_order;   // by when they came to be
    struct index tag_order;     // by how many jobs have them
    struct index tracked_order; // by when they were tracked
    struct index completed;     // jobs, by when they were completed

    struct slab leases;
    struct slab taggings;
    struct slab edges;
    struct slab extras;

    struct config config;

    // The queues that have something due some time, a heap by due_us and id.
    struct queue **due;
    size_t due_count;
    size_t due_capacity;

    // Those that were looked for last, since the next call is often about them again.
    struct queue *queue_last;
    struct worker *worker_last;
    uint32_t klass_last;

    // These only grow.
    uint64_t job_id;
    uint64_t queue_id;
    uint64_t worker_id;
    uint64_t token;
    uint64_t sequence; // for all that is ordered by when it came to be
    uint64_t visit;    // of the search for circles

    // While it is loaded: the jobs by their ids, and all of them in a list.
    struct map loading;
    struct job *loading_jobs;
    struct map loading_ids; // what other numbers are taken
    struct loading_id *loading_id_list;

    // What has changed since the host last asked, if it ever does.
    bool keeps_changes;
    struct job *dirty_jobs;
    struct queue *dirty_queues;
    struct worker *dirty_workers;
    struct recurring *dirty_recurring;
    bool dirty_tracked;
};

// The start of every call: checks the time, does what is due, and gives the time that counts.
MUST_USE enum status engine_begin(struct engine *engine, int64_t *now_us, struct error *error);

// The end of every call that reserved: what was reserved and not used is given up.
void engine_settle(struct engine *engine);

// Shorthand for what ends most checks.
MUST_USE enum status engine_no_memory(struct error *error);

// Whether `name` may name something: not empty unless `may_be_empty`, and not too long.
MUST_USE enum status name_check(struct slice name, const char *what, struct error *error);

void engine_emit(const struct engine *engine, const struct event *event);

#endif
