// SPDX-License-Identifier: MIT
// The engine's own struct, for the files of this folder.
#ifndef SLUICE_ENGINE_STATE_H
#define SLUICE_ENGINE_STATE_H

#include "engine/config.h"
#include "engine/done.h"
#include "engine/engine.h"
#include "engine/loading.h"
#include "engine/metrics.h"
#include "engine/name.h"
#include "engine/quota.h"
#include "engine/tally.h"

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
    int64_t now_us; // the last time seen, with the server clock
    // The latest time that was seen before it was set back (engine_set_time), 0 when it never was:
    // no job comes into a line by an earlier one.
    int64_t line_us;

    struct map jobs;
    struct map queues;
    struct map workers;
    struct map listeners; // by the numbers of the worker and the queue
    struct map groups;
    struct map tags;
    struct map recurring;
    struct map tracked;
    struct map lanes;    // but the default lanes
    struct map uniques;  // the locks that are held
    struct map promises; // by kind and key
    struct map waiters;  // by their numbers
    struct map watches;  // by the names of the queues
    struct map limits;   // by queue and domain
    struct map policies; // by scope and name
    struct map zones;
    struct intern names; // klasses, queues in histories, domains, options, spawners, ...

    struct index_pool pool;
    struct index queue_order;   // the known queues, by when they were first seen
    struct index queue_heard;   // those not known that workers listen to, by id
    struct index queue_all;     // all of them, by id
    struct index worker_order;  // the known workers, by when they were last seen
    struct index group_order;   // by when they came to be
    struct index tag_order;     // by how many jobs have them
    struct index tracked_order; // by when they were tracked
    struct index completed;     // jobs, by when they were completed
    struct index failed;        // jobs, by when they failed
    struct index running;       // leases, by their tokens
    struct index promise_order; // by when they end
    struct index lanes_saved;   // those that have a record, by their numbers
    struct index limit_order;   // by when they were first set
    struct index policy_order;  // by when they were first set
    struct index zone_order;    // by when they were first handed over
    struct index bulks;         // operations, by their numbers

    struct slab leases;
    struct slab taggings;
    struct slab edges;
    struct slab extras;
    struct slab rares;
    struct slab lane_slab;
    struct slab tally_slab;

    struct config config;
    struct done done;

    // The queues that have something due some time, a heap by due_us and id.
    struct queue **due;
    size_t due_count;
    size_t due_capacity;

    int64_t call_us;       // the time that counts for what is being done
    bool slice_full;       // a slice of what was left or due ended before that did
    int64_t slice_full_us; // at that time: other calls of the same instant do not start one more

    // All lanes; those first that have not seen the newest limits yet.
    struct lane *lanes_first, *lanes_last;
    struct lane *lanes_touched; // in this call
    struct limit_entry *patterns;
    size_t pattern_count;
    uint64_t limits_version;

    struct tallies tallies;
    struct tally *tally_empty;
    struct metrics metrics;

    // Failed jobs whose dependents are to be dealt with, in the order in which they failed.
    struct job *cascade_first, *cascade_last;

    // Jobs that nothing depends on any more, since the bulk cancel under way canceled what did.
    struct job *freed_first, *freed_last;

    // Those that were looked for last, since the next call is often about them again.
    struct queue *queue_last;
    struct worker *worker_last;
    uint32_t klass_last;

    // Who waits for jobs to pop.
    struct watch *watches_newest;
    struct watch *woken_first, *woken_last;
    bool watches_all;

    // These only grow.
    uint64_t changes; // of jobs, since the engine was made
    uint64_t job_id;
    uint64_t queue_id;
    uint64_t worker_id;
    uint64_t token;
    uint64_t sequence; // for all that is ordered by when it came to be
    uint64_t visit;    // of the search for circles

    // While it is loaded.
    bool loads;
    bool mends;    // while it loads: records may be missing, or older than others (salvage.h)
    size_t mended; // what was dropped for that
    bool keeps_changes_then; // when it is loaded; until then it does not
    struct loading loading;
    struct map loading_ids; // what other numbers are taken
    struct loading_id *loading_id_list;

    // What has changed since the host last asked, if it ever does.
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
    bool dirty_tracked;
    bool told; // the host knows that there is an engine
    uint64_t counters_told[ENGINE_COUNTERS];
};

// The start of every call: checks the time, does what is due, and gives the time that counts.
MUST_USE enum status engine_begin(struct engine *engine, int64_t *now_us, struct error *error);

// The end of every call that reserved: what was reserved and not used is given up.
void engine_settle(struct engine *engine);

// Puts an object into the list of those of its kind that have changed since the host last asked.
#define ENGINE_NOTE_CHANGE(engine, list, object)                                                   \
    do {                                                                                           \
        if ((engine)->keeps_changes && !(object)->dirty) {                                         \
            (object)->dirty = true;                                                                \
            (object)->dirty_next = (engine)->list;                                                 \
            (engine)->list = (object);                                                             \
        }                                                                                          \
    } while (0)

// The object is no more: it is freed, or waits as a shell until the host has been told.
#define ENGINE_NOTE_GONE(engine, list, object, free_shell)                                         \
    do {                                                                                           \
        (object)->gone = true;                                                                     \
        ENGINE_NOTE_CHANGE(engine, list, object);                                                  \
        if (!(object)->dirty) {                                                                    \
            free_shell(engine, object);                                                            \
        }                                                                                          \
    } while (0)

// One more object was visited on a walk. What is reached through an index counts itself.
static inline void engine_step(struct engine *engine)
{
    engine->pool.steps++;
}

// Shorthand for what ends most checks.
MUST_USE enum status engine_no_memory(struct error *error);

void engine_emit(const struct engine *engine, const struct event *event);

// Whether anybody listens; where every job comes by it is not worth making an event otherwise.
static inline bool engine_is_heard(const struct engine *engine)
{
    return engine->sink.receive != NULL;
}

#endif
