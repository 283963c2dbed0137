// SPDX-License-Identifier: MIT
// Writes all records of an engine in the order in which they are read.
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
#include "engine/records/record.h"
#include "engine/records/walk.h"
#include "engine/recurring/recurring.h"
#include "engine/recurring/zone.h"
#include "engine/state.h"

struct saving {
    const struct engine *engine;
    const struct changes_sink *sink;
    struct buffer out; // of the record that is being written
    enum status status;
};

// Passes on what was written as the record with that key.
static void save(struct saving *saving, struct record_key key)
{
    if (!saving->status) {
        saving->status = saving->out.status;
    }
    if (!saving->status) {
        saving->status =
            saving->sink->receive(saving->sink->context, key, buffer_slice(&saving->out));
    }
    buffer_clear(&saving->out);
}

static void save_queue(void *context, struct queue *queue)
{
    struct saving *saving = context;
    // It may only wait until the host is notified of its deletion.
    if (queue_is_unused(queue)) {
        return;
    }
    record_write_queue(queue, &saving->out);
    save(saving, (struct record_key){ RECORD_QUEUE, queue->id, 0 });
}

static void save_stats(void *context, struct queue *queue)
{
    struct saving *saving = context;
    for (const struct stats_day *day = queue->days; day; day = day->older) {
        record_write_stats(day, &saving->out);
        save(saving, (struct record_key){ RECORD_STATS, queue->id, day->day });
    }
}

static void save_hours(struct saving *saving, const struct series *series, uint64_t id)
{
    for (const struct series_hour *hour = series ? series->hours : NULL; hour; hour = hour->older) {
        series_hour_write(hour, &saving->out);
        save(saving, (struct record_key){ RECORD_SERIES, id, hour->hour });
    }
}

static void save_series(void *context, struct queue *queue)
{
    if (!queue_is_unused(queue)) {
        save_hours(context, queue->series, queue->id);
    }
}

static void save_recurring(void *context, struct queue *queue)
{
    struct saving *saving = context;
    struct index_cursor cursor = index_cursor_at(&queue->recurring, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct recurring *recurring = recurring_of_node(node);
        record_write_recurring(saving->engine, recurring, &saving->out);
        save(saving, (struct record_key){ RECORD_RECURRING, recurring->id, 0 });
    }
}

static void save_body(void *context, struct job *job)
{
    struct saving *saving = context;
    record_write_body(saving->engine, job, &saving->out);
    save(saving, (struct record_key){ RECORD_BODY, job->id, 0 });
}

static void save_head(void *context, struct job *job)
{
    struct saving *saving = context;
    record_write_head(saving->engine, job, &saving->out);
    save(saving, (struct record_key){ RECORD_HEAD, job->id, 0 });
}

static void save_one(struct saving *saving, enum record_kind kind,
                     void (*write)(const struct engine *engine, struct buffer *out))
{
    write(saving->engine, &saving->out);
    save(saving, (struct record_key){ kind, 0, 0 });
}

// What was set or passed in.
static void save_settings(struct saving *saving)
{
    const struct engine *engine = saving->engine;
    struct index_cursor cursor = index_cursor_at(&engine->limit_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        record_write_limit(limit_of_node(node), &saving->out);
        save(saving, (struct record_key){ RECORD_LIMIT, node->key.low, 0 });
    }
    cursor = index_cursor_at(&engine->policy_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        record_write_policy(policy_of_node(node), &saving->out);
        save(saving, (struct record_key){ RECORD_POLICY, node->key.low, 0 });
    }
    cursor = index_cursor_at(&engine->zone_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        record_write_zone(zone_of_node(node), &saving->out);
        save(saving, (struct record_key){ RECORD_ZONE, node->key.low, 0 });
    }
}

static void save_lanes(struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->lanes_saved, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        record_write_lane(saving->engine, lane_of_saved(node), &saving->out);
        save(saving, (struct record_key){ RECORD_LANE, node->key.low, 0 });
    }
}

static void save_bulks(struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        record_write_bulk(bulk_of_node(node), &saving->out);
        save(saving, (struct record_key){ RECORD_BULK, node->key.low, 0 });
    }
}

static void save_bulk_sets(struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct bulk *bulk = bulk_of_node(node);
        const uint64_t *words;
        uint64_t number;
        for (size_t i = 0; bulk->view.as && !bulk->view.done && bulk->set &&
                           id_set_chunk(bulk->set, i, &number, &words);
             i++) {
            record_write_bulk_set(words, &saving->out);
            save(saving, (struct record_key){ RECORD_BULK_SET, node->key.low, (int64_t)number });
        }
    }
}

static void save_promises(struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->promise_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct promise *promise = promise_of_node(node);
        if (!promise->job) {
            record_write_promise(promise, &saving->out);
            save(saving, promise_record_key(promise));
        }
    }
}

static void save_done(struct saving *saving)
{
    for (const struct done_block *at = saving->engine->done.first; at; at = at->next) {
        record_write_done(at, &saving->out);
        save(saving, (struct record_key){ RECORD_DONE, at->id, 0 });
    }
}

static void save_requests(struct saving *saving)
{
    for (const struct request *at = saving->engine->requests.first; at; at = at->next) {
        record_write_request(at, &saving->out);
        save(saving, (struct record_key){ RECORD_REQUEST, at->id, 0 });
    }
}

static void save_workers(struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->worker_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct worker *worker = worker_of_node(node);
        record_write_worker(worker, &saving->out);
        save(saving, (struct record_key){ RECORD_WORKER, worker->id, 0 });
    }
}

enum status engine_records(const struct engine *engine, const struct changes_sink *sink)
{
    struct saving saving = { .engine = engine, .sink = sink };
    buffer_init(&saving.out, engine->allocator, SIZE_MAX - 1);
    save_one(&saving, RECORD_ENGINE, record_write_engine);
    save_one(&saving, RECORD_CONFIG, record_write_config);
    save_settings(&saving);
    walk_queues(engine, save_queue, &saving);
    walk_queues(engine, save_stats, &saving);
    save_lanes(&saving);
    save_workers(&saving);
    walk_queues(engine, save_recurring, &saving);
    walk_jobs(engine, save_body, &saving);
    walk_jobs(engine, save_head, &saving);
    save_one(&saving, RECORD_TRACKED, record_write_tracked);
    save_bulks(&saving);
    save_promises(&saving);
    save_done(&saving);
    save_requests(&saving);
    save_hours(&saving, engine->series.whole, 0);
    walk_queues(engine, save_series, &saving);
    save_bulk_sets(&saving);
    buffer_release(&saving.out);
    return saving.status;
}
