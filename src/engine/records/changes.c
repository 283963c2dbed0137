// SPDX-License-Identifier: MIT
#include "engine/records/changes.h"

#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/dedup/promise.h"
#include "engine/job/job.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/limit.h"
#include "engine/lease/worker.h"
#include "engine/measure/series.h"
#include "engine/measure/stats.h"
#include "engine/queue/queue.h"
#include "engine/recurring/recurring.h"
#include "engine/state.h"

#include <stddef.h>
#include <string.h>

// State for passing records to the visitor, one at a time.
struct giving {
    const struct engine *engine;
    const struct changes_sink *sink;
    struct buffer buffer;
};

static enum status give(struct giving *giving, struct record_key key)
{
    enum status status = giving->buffer.status;
    if (!status) {
        status = giving->sink->receive(giving->sink->context, key, buffer_slice(&giving->buffer));
    }
    buffer_clear(&giving->buffer);
    return status;
}

static enum status give_job(struct giving *giving, const struct job *job)
{
    const struct record_key body = { RECORD_BODY, job->id, 0 }, head = { RECORD_HEAD, job->id, 0 };
    bool gone = job->dirty & JOB_DIRTY_GONE;
    enum status status = STATUS_OK;
    if (gone || job->dirty & JOB_DIRTY_BODY) {
        if (!gone) {
            record_write_body(giving->engine, job, &giving->buffer);
        }
        status = give(giving, body);
    }
    if (!status && (gone || job->dirty & JOB_DIRTY_HEAD)) {
        if (!gone) {
            record_write_head(giving->engine, job, &giving->buffer);
        }
        status = give(giving, head);
    }
    return status;
}

// Deleted hours first: after the clock was set back an hour may exist again. If the queue is
// deleted, all its hours are.
static enum status give_series(struct giving *giving, const struct series *series, uint64_t id,
                               bool all_gone)
{
    enum status status = STATUS_OK;
    const struct series_hour *at = series ? series->gone : NULL;
    for (; !status && at; at = at->older) {
        status = give(giving, (struct record_key){ RECORD_SERIES, id, at->hour });
    }
    for (at = series ? series->hours : NULL; !status && at; at = at->older) {
        if (at->dirty && !all_gone) {
            series_hour_write(at, &giving->buffer);
        }
        if (at->dirty || all_gone) {
            status = give(giving, (struct record_key){ RECORD_SERIES, id, at->hour });
        }
    }
    return status;
}

static void forget_series(struct engine *engine, struct series *series)
{
    for (struct series_hour *at = series ? series->hours : NULL; at; at = at->older) {
        at->dirty = false;
    }
    if (series) {
        series_hours_forget_gone(engine, series);
    }
}

static enum status give_queue(struct giving *giving, const struct queue *queue)
{
    if (!queue_is_unused(queue)) {
        record_write_queue(queue, &giving->buffer);
    }
    enum status status = give(giving, (struct record_key){ RECORD_QUEUE, queue->id, 0 });
    // Deleted days first: with the client clock a day may exist again.
    for (const struct stats_day *day = queue->days_gone; !status && day; day = day->older) {
        status = give(giving, (struct record_key){ RECORD_STATS, queue->id, day->day });
    }
    for (const struct stats_day *day = queue->days; !status && day; day = day->older) {
        if (day->dirty) {
            record_write_stats(day, &giving->buffer);
            status = give(giving, (struct record_key){ RECORD_STATS, queue->id, day->day });
        }
    }
    return status ? status : give_series(giving, queue->series, queue->id, queue_is_unused(queue));
}

// Deleted lanes first: another lane may have the number of one.
static enum status give_lanes(struct giving *giving, bool gone)
{
    const struct engine *engine = giving->engine;
    enum status status = STATUS_OK;
    for (const struct lane *at = engine->dirty_lanes; !status && at; at = at->dirty_next) {
        if (at->gone != gone) {
            continue;
        }
        if (!gone) {
            record_write_lane(engine, at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_LANE, at->id, 0 });
    }
    return status;
}

static enum status give_single(struct giving *giving, enum record_kind kind,
                               void (*write)(const struct engine *engine, struct buffer *out))
{
    write(giving->engine, &giving->buffer);
    return give(giving, (struct record_key){ kind, 0, 0 });
}

static enum status give_bulk(struct giving *giving, const struct bulk *bulk)
{
    if (!bulk->gone) {
        record_write_bulk(bulk, &giving->buffer);
    }
    enum status status = give(giving, (struct record_key){ RECORD_BULK, bulk->view.id, 0 });
    const uint64_t *words;
    uint64_t number;
    for (size_t i = 0; !status && bulk->set && bulk->set_change != BULK_SET_SAME &&
                       id_set_chunk(bulk->set, i, &number, &words);
         i++) {
        if (bulk->set_change == BULK_SET_NEW) {
            record_write_bulk_set(words, &giving->buffer);
        }
        status =
            give(giving, (struct record_key){ RECORD_BULK_SET, bulk->view.id, (int64_t)number });
    }
    return status;
}

// What was set, passed in or begun.
static enum status give_settings(struct giving *giving)
{
    const struct engine *engine = giving->engine;
    enum status status = STATUS_OK;
    for (const struct limit_entry *at = engine->dirty_limits; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_limit(at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_LIMIT, at->id, 0 });
    }
    for (const struct policy *at = engine->dirty_policies; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_policy(at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_POLICY, at->id, 0 });
    }
    for (const struct zone *at = engine->dirty_zones; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_zone(at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_ZONE, at->id, 0 });
    }
    for (const struct bulk *at = engine->dirty_bulks; !status && at; at = at->dirty_next) {
        status = give_bulk(giving, at);
    }
    for (const struct promise *at = engine->dirty_promises; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_promise(at, &giving->buffer);
        }
        status = give(giving, promise_record_key(at));
    }
    for (const struct done_block *at = engine->dirty_done; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_done(at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_DONE, at->id, 0 });
    }
    for (const struct request *at = engine->dirty_requests; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_request(at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_REQUEST, at->id, 0 });
    }
    return status;
}

static enum status give_all(struct giving *giving)
{
    const struct engine *engine = giving->engine;
    enum status status = give_single(giving, RECORD_ENGINE, record_write_engine);
    if (!status && engine->config.dirty) {
        status = give_single(giving, RECORD_CONFIG, record_write_config);
    }
    if (!status && engine->dirty_tracked) {
        status = give_single(giving, RECORD_TRACKED, record_write_tracked);
    }
    if (!status) {
        status = give_settings(giving);
    }
    if (!status && engine->series.dirty) {
        status = give_series(giving, engine->series.whole, 0, false);
    }
    for (const struct queue *at = engine->dirty_queues; !status && at; at = at->dirty_next) {
        status = give_queue(giving, at);
    }
    if (!status) {
        status = give_lanes(giving, true);
    }
    if (!status) {
        status = give_lanes(giving, false);
    }
    for (const struct worker *at = engine->dirty_workers; !status && at; at = at->dirty_next) {
        if (at->known) {
            record_write_worker(at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_WORKER, at->id, 0 });
    }
    for (const struct recurring *at = engine->dirty_recurring; !status && at; at = at->dirty_next) {
        if (!at->gone) {
            record_write_recurring(engine, at, &giving->buffer);
        }
        status = give(giving, (struct record_key){ RECORD_RECURRING, at->id, 0 });
    }
    for (const struct job *at = engine->dirty_jobs; !status && at; at = at->dirty_next) {
        status = give_job(giving, at);
    }
    return status;
}

// Each counter only grows, and is part of the engine's record.
static void counters(const struct engine *engine, uint64_t out[ENGINE_COUNTERS])
{
    out[0] = engine->job_id;
    out[1] = engine->queue_id;
    out[2] = engine->worker_id;
    out[3] = engine->token;
    out[4] = engine->sequence;
}

static bool has_changed(const struct engine *engine)
{
    uint64_t now[ENGINE_COUNTERS];
    counters(engine, now);
    return engine->dirty_jobs || engine->dirty_queues || engine->dirty_workers ||
           engine->dirty_recurring || engine->dirty_lanes || engine->dirty_limits ||
           engine->dirty_policies || engine->dirty_zones || engine->dirty_bulks ||
           engine->dirty_promises || engine->dirty_done || engine->dirty_requests ||
           engine->dirty_tracked || engine->config.dirty || engine->series.dirty ||
           memcmp(now, engine->counters_given, sizeof(now)) != 0;
}

bool engine_has_changes(const struct engine *engine)
{
    return !engine->told || has_changed(engine);
}

bool engine_is_unused(const struct engine *engine)
{
    return !engine->told && !has_changed(engine);
}

enum status engine_changes(struct engine *engine, const struct changes_sink *sink)
{
    struct giving giving = { .engine = engine, .sink = sink };
    buffer_init(&giving.buffer, engine->allocator, UINT32_MAX);
    enum status status = give_all(&giving);
    buffer_release(&giving.buffer);
    if (!status) {
        changes_forget(engine);
        engine->told = true;
    }
    return status;
}

// Removes the changed objects of a kind from their list, and frees the deleted ones.
#define FORGET(engine, list, type, free_shell)                                                     \
    while ((engine)->list) {                                                                       \
        struct type *at = (engine)->list;                                                          \
        (engine)->list = at->dirty_next;                                                           \
        at->dirty = false;                                                                         \
        if (at->gone) {                                                                            \
            free_shell(engine, at);                                                                \
        }                                                                                          \
    }

void changes_forget(struct engine *engine)
{
    FORGET(engine, dirty_recurring, recurring, recurring_free_shell)
    FORGET(engine, dirty_lanes, lane, lane_free_shell)
    FORGET(engine, dirty_limits, limit_entry, limit_free_shell)
    FORGET(engine, dirty_policies, policy, policy_free_shell)
    FORGET(engine, dirty_zones, zone, zone_free_shell)
    for (struct bulk *at = engine->dirty_bulks; at; at = at->dirty_next) {
        bulk_set_told(engine, at);
    }
    FORGET(engine, dirty_bulks, bulk, bulk_free_shell)
    FORGET(engine, dirty_promises, promise, promise_free_shell)
    FORGET(engine, dirty_done, done_block, done_free_shell)
    FORGET(engine, dirty_requests, request, request_free_shell)
    engine->config.dirty = false;
    engine->series.dirty = false;
    forget_series(engine, engine->series.whole);
    engine->dirty_tracked = false;
    while (engine->dirty_jobs) {
        struct job *job = engine->dirty_jobs;
        engine->dirty_jobs = job->dirty_next;
        if (job->dirty & JOB_DIRTY_GONE) {
            job_free_shell(engine, job);
        } else {
            job->dirty = 0;
        }
    }
    while (engine->dirty_workers) {
        struct worker *worker = engine->dirty_workers;
        engine->dirty_workers = worker->dirty_next;
        worker->dirty = false;
        worker_settle(engine, worker);
    }
    while (engine->dirty_queues) {
        struct queue *queue = engine->dirty_queues;
        engine->dirty_queues = queue->dirty_next;
        queue->dirty = false;
        for (struct stats_day *day = queue->days; day; day = day->older) {
            day->dirty = false;
        }
        stats_forget_gone(engine, queue);
        forget_series(engine, queue->series);
        if (queue_is_unused(queue)) {
            queue_free(engine, queue);
        }
    }
    counters(engine, engine->counters_given);
}
