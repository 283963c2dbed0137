// SPDX-License-Identifier: MIT
// The engine as a whole: creation and release, and the start and the end of each call.
#include "engine/engine.h"

#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/dedup/promise.h"
#include "engine/dedup/unique.h"
#include "engine/due.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/job/waiter.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/limit.h"
#include "engine/lanes/watch.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/look/find.h"
#include "engine/measure/metrics.h"
#include "engine/measure/series.h"
#include "engine/queue/queue.h"
#include "engine/records/changes.h"
#include "engine/records/record.h"
#include "engine/records/walk.h"
#include "engine/recurring/recurring.h"
#include "engine/recurring/zone.h"
#include "engine/relations/cascade.h"
#include "engine/relations/depends.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/relations/track.h"
#include "engine/state.h"

#include <assert.h>

static struct slice job_key(const void *value)
{
    return job_jid(value);
}

static struct slice queue_key(const void *value)
{
    return queue_name(value);
}

static struct slice worker_key(const void *value)
{
    return worker_name(value);
}

enum {
    REFRESH_SLICE = 1000,
    INDEX_COUNT = 17,
};

// The indexes of the engine itself, in turn.
static struct index *engine_index(struct engine *engine, size_t i)
{
    struct index *indexes[INDEX_COUNT] = {
        &engine->recurring_order, &engine->queue_order,    &engine->queue_all,
        &engine->worker_order,    &engine->group_order,    &engine->tag_order,
        &engine->tracked_order,   &engine->completed,      &engine->promise_order,
        &engine->lanes_saved,     &engine->limit_order,    &engine->policy_order,
        &engine->zone_order,      &engine->bulks,          &engine->failed,
        &engine->running,         &engine->queue_listened,
    };
    return indexes[i];
}

enum status engine_new(const struct engine_options *options, struct engine **out)
{
    const struct allocator *allocator = options->allocator;
    struct engine *engine = mem_zalloc(allocator, sizeof(*engine));
    if (!engine) {
        return STATUS_NO_MEMORY;
    }
    engine->allocator = allocator;
    engine->sink = options->sink;
    engine->clock = options->clock;
    engine->token = options->token;
    engine->slice_full_us = -1;
    engine->series.second = -1;
    engine->keeps_changes = options->keeps_changes;

    map_init(&engine->jobs, allocator, options->seed, job_key);
    map_init(&engine->queues, allocator, options->seed, queue_key);
    map_init(&engine->workers, allocator, options->seed, worker_key);
    map_init(&engine->listeners, allocator, options->seed, listener_key);
    map_init(&engine->groups, allocator, options->seed, group_key);
    map_init(&engine->tags, allocator, options->seed, tag_key);
    map_init(&engine->recurring, allocator, options->seed, recurring_key);
    map_init(&engine->tracked, allocator, options->seed, tracked_key);
    map_init(&engine->lanes, allocator, options->seed, lane_key);
    map_init(&engine->uniques, allocator, options->seed, unique_key);
    map_init(&engine->promises, allocator, options->seed, promise_key);
    done_init(engine, options->seed);
    requests_init(engine, options->seed);
    map_init(&engine->waiters, allocator, options->seed, waiter_key);
    map_init(&engine->watches, allocator, options->seed, watch_key);
    map_init(&engine->limits, allocator, options->seed, limit_key);
    map_init(&engine->policies, allocator, options->seed, policy_key);
    map_init(&engine->zones, allocator, options->seed, zone_key);
    loading_init(&engine->loading, allocator, options->seed);
    map_init(&engine->loading_ids, allocator, options->seed, record_id_key);
    intern_init(&engine->names, allocator, options->seed);

    index_pool_init(&engine->pool, allocator);
    for (size_t i = 0; i < INDEX_COUNT; i++) {
        index_init(engine_index(engine, i), &engine->pool);
    }
    slab_init(&engine->leases, allocator, sizeof(struct lease));
    slab_init(&engine->taggings, allocator, sizeof(struct tagging));
    slab_init(&engine->edges, allocator, sizeof(struct edge));
    slab_init(&engine->extras, allocator, sizeof(struct job_extra));
    slab_init(&engine->rares, allocator, sizeof(struct job_rare));
    slab_init(&engine->lane_slab, allocator, sizeof(struct lane));
    slab_init(&engine->tally_slab, allocator, sizeof(struct tally));
    tallies_init(&engine->tallies, &engine->pool);
    config_init(&engine->config);
    engine->klass_last = INTERN_NONE;
    changes_forget(engine); // later changes are relative to the state now
    *out = engine;
    return STATUS_OK;
}

static void free_jobs_of(struct engine *engine, struct index *index)
{
    for (struct index_node *node; (node = index_first(index));) {
        struct job *job = job_of_node(node);
        job_take_out(engine, job);
        job_free(engine, job);
    }
}

// There may be many complete jobs, and the indexes that they are in are released as a whole:
// engine->completed here, that of each queue with the queue.
static void free_completed(struct engine *engine)
{
    struct index_cursor cursor = index_cursor_at(&engine->completed, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        job_free(engine, job_of_node(node));
    }
    index_release(&engine->completed);
}

static void free_contents(void *context, struct queue *queue)
{
    struct engine *engine = context;
    free_jobs_of(engine, &queue->plain.line);
    free_jobs_of(engine, &queue->laned);
    free_jobs_of(engine, &queue->scheduled);
    free_jobs_of(engine, &queue->leased);
    free_jobs_of(engine, &queue->grace);
    free_jobs_of(engine, &queue->depends);
    for (struct index_node *node; (node = index_first(&queue->recurring));) {
        recurring_free(engine, recurring_of_node(node));
    }
}

// Frees what was set, passed in or begun.
static void free_settings(struct engine *engine)
{
    for (struct index_node *node; (node = index_first(&engine->limit_order));) {
        limit_free(engine, limit_of_node(node));
    }
    for (struct index_node *node; (node = index_first(&engine->policy_order));) {
        policy_free(engine, policy_of_node(node));
    }
    for (struct index_node *node; (node = index_first(&engine->zone_order));) {
        zone_free(engine, zone_of_node(node));
    }
    for (struct index_node *node; (node = index_first(&engine->bulks));) {
        bulk_free(engine, bulk_of_node(node));
    }
}

void engine_free(struct engine *engine)
{
    if (!engine) {
        return;
    }
    // In an engine whose loading has failed, some jobs are in no index yet. The error was reported
    // with the record that ended the loading.
    if (engine->loads) {
        enum status status = record_read_end(engine, NULL);
        (void)status;
    }
    finds_free(engine);
    changes_forget(engine);
    engine->keeps_changes = false;
    engine->sink = (struct event_sink){ 0 }; // the listener may have been freed
    for (struct index_node *node; (node = index_first(&engine->tracked_order));) {
        tracked_free(engine, tracked_of_node(node));
    }
    // A paused queue is not freed automatically when it is empty.
    for (size_t i = 0; i < engine->due_count; i++) {
        engine->due[i]->paused = true;
    }
    walk_queues(engine, free_contents, engine);
    for (struct index_node *node; (node = index_first(&engine->group_order));) {
        // The group is freed with its last job.
        struct job *job = job_of_node(index_first(&group_of_node(node)->jobs));
        job_unlink(engine, job);
        job_free(engine, job);
    }
    free_completed(engine);
    for (struct index_node *node; (node = index_first(&engine->promise_order));) {
        promise_free(engine, promise_of_node(node));
    }
    free_settings(engine);
    lanes_free_all(engine);
    for (struct index_node *node; (node = index_first(&engine->worker_order));) {
        worker_free(engine, worker_of_node(node));
    }
    while (engine->due_count > 0) {
        queue_free(engine, engine->due[engine->due_count - 1]);
    }
    assert(engine->leases.live == 0 && engine->edges.live == 0 && engine->taggings.live == 0);
    assert(engine->lane_slab.live == 0 && engine->extras.live == 0 && engine->rares.live == 0);
    assert(engine->promise_bytes == 0 && engine->promises.count == 0);
    tallies_release(engine, &engine->tallies);
    series_free(engine, engine->series.whole);
    for (size_t i = 0; i < INDEX_COUNT; i++) {
        index_release(engine_index(engine, i));
    }
    index_pool_release(&engine->pool);
    config_release(engine->allocator, &engine->config);
    map_release(&engine->jobs);
    map_release(&engine->queues);
    map_release(&engine->workers);
    map_release(&engine->listeners);
    map_release(&engine->groups);
    map_release(&engine->tags);
    map_release(&engine->recurring);
    map_release(&engine->tracked);
    map_release(&engine->lanes);
    map_release(&engine->uniques);
    map_release(&engine->promises);
    done_release(engine);
    requests_release(engine);
    map_release(&engine->waiters);
    watches_free(engine);
    map_release(&engine->watches);
    map_release(&engine->limits);
    map_release(&engine->policies);
    map_release(&engine->zones);
    intern_release(&engine->names);
    slab_release(&engine->leases);
    slab_release(&engine->taggings);
    slab_release(&engine->edges);
    slab_release(&engine->extras);
    slab_release(&engine->rares);
    slab_release(&engine->lane_slab);
    slab_release(&engine->tally_slab);
    mem_free(engine->allocator, engine->due, engine->due_capacity * sizeof(*engine->due));
    mem_free(engine->allocator, engine, sizeof(*engine));
}

// Continues unfinished work, and does what is due. Returns whether there may be more.
static bool catch_up(struct engine *engine, int64_t now_us)
{
    engine->call_us = now_us;
    engine->slice_full = false;
    if (engine->lanes_first && engine->lanes_first->version != engine->limits_version) {
        lanes_refresh(engine, REFRESH_SLICE);
    }
    bool more = (engine->cascade_first && cascade_run(engine)) ||
                (due_is_there(engine, now_us) && due_run(engine, now_us));
    if (engine->clock == ENGINE_CLOCK_SERVER && workers_are_old(engine, now_us)) {
        workers_forget_old(engine, now_us);
    }
    if (engine->clock == ENGINE_CLOCK_SERVER &&
        requests_have_old(&engine->requests, engine->config.request_history_us, now_us)) {
        requests_forget_old(engine, now_us);
    }
    engine->slice_full_us = engine->slice_full ? now_us : -1;
    return more;
}

// With the server clock, time never goes back.
static int64_t time_that_counts(struct engine *engine, int64_t now_us)
{
    if (engine->clock == ENGINE_CLOCK_SERVER) {
        engine->now_us = now_us > engine->now_us ? now_us : engine->now_us;
        now_us = engine->now_us;
    }
    return now_us;
}

// Changes from now on are dated with that time.
static void begin_second(struct engine *engine, int64_t now_us)
{
    if (now_us >= engine->series.next_us) {
        series_begin(engine, now_us);
    }
}

enum status engine_begin(struct engine *engine, int64_t *now_us, struct error *error)
{
    if (*now_us < 0 || *now_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID, "now must lie between the years 1970 and 9999");
    }
    *now_us = time_that_counts(engine, *now_us);
    engine->call_us = *now_us;
    // Only the first of several calls in a turn of the host does due work.
    if (engine->slice_full_us != *now_us) {
        (void)catch_up(engine, *now_us);
    }
    begin_second(engine, *now_us);
    return STATUS_OK;
}

void engine_settle(struct engine *engine)
{
    if (engine->lanes_touched && !engine->loads) {
        lanes_settle(engine);
    }
    if (engine->tally_empty) {
        tally_settle(engine);
    }
    index_pool_settle(&engine->pool);
    slab_settle(&engine->leases);
    slab_settle(&engine->taggings);
    slab_settle(&engine->edges);
    slab_settle(&engine->extras);
}

int64_t engine_tick(struct engine *engine, int64_t now_us)
{
    if (now_us < 0 || now_us > ENGINE_TIME_MAX) {
        return INT64_MAX;
    }
    now_us = time_that_counts(engine, now_us);
    bool more = catch_up(engine, now_us);
    begin_second(engine, now_us);
    more = bulk_run(engine, now_us) || more || engine->cascade_first;
    more = find_run(engine, now_us) || more;
    if (engine->clock == ENGINE_CLOCK_CLIENT) {
        more = due_wake(engine, now_us) || more;
    }
    return more ? now_us : due_next(engine);
}

int64_t engine_due(const struct engine *engine)
{
    return due_next(engine);
}

uint64_t engine_steps(const struct engine *engine)
{
    return engine->pool.steps;
}

enum status engine_no_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "out of memory; nothing was changed");
}

enum engine_clock engine_clock_of(const struct engine *engine)
{
    return engine->clock;
}
