// SPDX-License-Identifier: MIT
// struct engine, for the files of this folder.
#ifndef SLUICE_ENGINE_STATE_H
#define SLUICE_ENGINE_STATE_H

#include "engine/config/config.h"
#include "engine/dedup/done.h"
#include "engine/dedup/request.h"
#include "engine/engine.h"
#include "engine/measure/metrics.h"
#include "engine/measure/series.h"
#include "engine/measure/tally.h"
#include "engine/name.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/records/loading.h"

#include "base/index.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/slab.h"

enum {
    ENGINE_COUNTERS = 5,
};

struct engine {
    const struct allocator *allocator;
    struct event_sink sink;
    enum engine_clock clock;
    int64_t now_us; // with the server clock: the largest time passed so far
    // The largest time before it was set back (engine_set_time), or 0. A job never enters a line
    // under an earlier time.
    int64_t line_us;

    struct map jobs;
    struct map queues;
    struct map workers;
    struct map listeners; // by the numbers of the worker and the queue
    struct map groups;
    struct map tags;
    struct map recurring;
    struct map tracked;
    struct map lanes;    // all but the default lanes
    struct map uniques;  // the locks that jobs hold
    struct map promises; // by kind and key
    struct map waiters;  // by their numbers
    struct map watches;  // by the names of the queues
    struct map limits;   // by queue and domain
    struct map policies; // by scope and name
    struct map zones;
    struct intern names; // klasses, queues in histories, domains, options, spawners, ...

    struct index_pool pool;
    struct index queue_order;     // known queues, by the time first seen
    struct index recurring_order; // recurring jobs, by number
    struct index queue_listened;  // unknown queues that workers listen to, by id
    struct index queue_all;       // all queues, by id
    struct index worker_order;    // known workers, by the time last seen
    struct index group_order;     // in order of creation
    struct index tag_order;       // by number of jobs
    struct index tracked_order;   // by the time of tracking
    struct index completed;       // jobs, by the time of completion
    struct index failed;          // jobs, in order of failure
    struct index running;         // leases, by token
    struct index promise_order;   // by end
    struct index lanes_saved;     // lanes with a record, by number
    struct index limit_order;     // in the order first set
    struct index policy_order;    // in the order first set
    struct index zone_order;      // in the order first set
    struct index bulks;           // operations, by number

    struct slab leases;
    struct slab taggings;
    struct slab edges;
    struct slab extras;
    struct slab rares;
    struct slab lane_slab;
    struct slab tally_slab;

    struct config config;
    struct done done;
    struct requests requests;

    // All queues: a heap by due_us and id.
    struct queue **due;
    size_t due_count;
    size_t due_capacity;

    int64_t call_us;       // the time of the work under way: of the call, or of what fell due
    bool slice_full;       // the slice of due work ended before the work did
    int64_t slice_full_us; // when: other calls at the same time do not start another slice

    // All lanes. The lanes to which the newest limits are not yet applied come first.
    struct lane *lanes_first, *lanes_last;
    struct lane *lanes_touched; // in this call
    struct limit_entry *patterns;
    size_t pattern_count;
    uint64_t limits_version;

    struct tallies tallies;
    struct tally *tally_empty;
    struct metrics metrics;
    struct series_all series;
    size_t paused_count; // queues
    size_t queues_fresh; // where engine_queues finds the values of queues anew
    // The queue whose job has been in line for the longest time, and the search for the next one.
    struct oldest {
        int64_t since_us, new_us;
        uint64_t id, new_id;
        size_t position;
    } oldest;

    // Failed jobs whose dependents are still to be canceled, failed or run, in order of failure.
    struct job *cascade_first, *cascade_last;

    // Jobs whose last dependent was canceled by the bulk cancel under way.
    struct job *freed_first, *freed_last;

    // The last ones that were looked up: the next call is often about them again.
    struct queue *queue_last;
    struct worker *worker_last;
    uint32_t klass_last;

    // Queues that blocked pops wait for.
    struct watch *watches_newest;
    struct watch *woken_first, *woken_last;
    bool watches_all;

    // Counters that never decrease.
    uint64_t changes; // of jobs, since the engine was created
    uint64_t job_id;
    uint64_t queue_id;
    uint64_t worker_id;
    uint64_t token;
    uint64_t sequence; // of tags, groups, settings and bulk operations, in order of creation
    uint64_t visit;    // of the latest search for dependency cycles
    uint64_t find_id;  // of the searches for jobs, which are not saved

    struct find *finds;

    // While the engine is loaded.
    bool loads;
    bool mends;    // while loading: records may be missing, or older than others (salvage.h)
    size_t mended; // how much was dropped because of that
    bool keeps_changes_then; // the value of keeps_changes after loading
    struct loading loading;
    struct map loading_ids; // other numbers that are in use
    struct loading_id *loading_id_list;

    // What has changed since the host last took the changes, if keeps_changes is set.
    bool keeps_changes;
    bool recurring_held;  // engine_hold_recurring
    struct quotas quotas; // the host's
    uint64_t bytes;       // of the data of jobs that are not complete
    uint64_t promise_bytes;
    struct job *dirty_jobs;
    struct queue *dirty_queues;
    struct worker *dirty_workers;
    struct recurring *dirty_recurring;
    struct lane *dirty_lanes;
    struct limit_entry *dirty_limits;
    struct policy *dirty_policies;
    struct zone *dirty_zones;
    struct bulk *dirty_bulks;
    struct promise *dirty_promises; // whose jobs are gone
    struct done_block *dirty_done;
    struct request *dirty_requests;
    bool dirty_tracked;
    bool told; // the host has taken changes before
    uint64_t counters_given[ENGINE_COUNTERS];
};

// Called at the start of every call: checks the time, does what is due, and sets `*now_us` to the
// engine's time.
MUST_USE enum status engine_begin(struct engine *engine, int64_t *now_us, struct error *error);

// Called at the end of every call that reserved: releases what was reserved and not used.
void engine_settle(struct engine *engine);

// Puts an object into the list of changed objects of its kind.
#define ENGINE_NOTE_CHANGE(engine, list, object)                                                   \
    do {                                                                                           \
        if ((engine)->keeps_changes && !(object)->dirty) {                                         \
            (object)->dirty = true;                                                                \
            (object)->dirty_next = (engine)->list;                                                 \
            (engine)->list = (object);                                                             \
        }                                                                                          \
    } while (0)

// The object is deleted: it is freed, or kept as a shell until the host takes the changes.
#define ENGINE_NOTE_GONE(engine, list, object, free_shell)                                         \
    do {                                                                                           \
        (object)->gone = true;                                                                     \
        ENGINE_NOTE_CHANGE(engine, list, object);                                                  \
        if (!(object)->dirty) {                                                                    \
            free_shell(engine, object);                                                            \
        }                                                                                          \
    } while (0)

// Counts one object that a walk visited. Indexes count their own steps.
static inline void engine_step(struct engine *engine)
{
    engine->pool.steps++;
}

// Called before anything changes that the series of a queue report.
static inline void series_touch(struct engine *engine, struct queue *queue)
{
    if (queue->series_second != engine->series.second) {
        series_advance(engine, queue);
    }
}

// Sets the error for out of memory.
MUST_USE enum status engine_no_memory(struct error *error);

void engine_emit(const struct engine *engine, const struct event *event);

// Whether events are received. The code that every job runs through makes none otherwise.
static inline bool engine_has_listener(const struct engine *engine)
{
    return engine->sink.receive != NULL;
}

// Those of the channels that the host wants to hear of now.
static inline unsigned engine_wanted(const struct engine *engine, unsigned channels)
{
    return engine->sink.wanted ? *engine->sink.wanted & channels : 0;
}

// To whom an event goes that is told to those who follow tracked jobs, or this one.
static inline unsigned engine_followers(const struct engine *engine, bool tracked)
{
    return (tracked ? (unsigned)EVENT_TO_TRACKER : 0) | engine_wanted(engine, EVENT_TO_JOB);
}

#endif
