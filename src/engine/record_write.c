// SPDX-License-Identifier: MIT
// Numbers are little-endian and of fixed size; a string is its size (4 bytes) and its bytes.
#include "engine/record.h"

#include "base/bytes.h"
#include "engine/config.h"
#include "engine/depends.h"
#include "engine/failure.h"
#include "engine/group.h"
#include "engine/history.h"
#include "engine/job.h"
#include "engine/lease.h"
#include "engine/queue.h"
#include "engine/recurring.h"
#include "engine/state.h"
#include "engine/stats.h"
#include "engine/tag.h"
#include "engine/track.h"
#include "engine/worker.h"

#include <string.h>

static void put_u8(struct buffer *out, uint8_t value)
{
    buffer_append_char(out, (char)value);
}

static void put_u32(struct buffer *out, uint32_t value)
{
    char bytes[4];
    bytes_store_u32(bytes, value);
    buffer_append(out, slice_make(bytes, sizeof(bytes)));
}

static void put_u64(struct buffer *out, uint64_t value)
{
    char bytes[8];
    bytes_store_u64(bytes, value);
    buffer_append(out, slice_make(bytes, sizeof(bytes)));
}

static void put_i64(struct buffer *out, int64_t value)
{
    put_u64(out, (uint64_t)value);
}

static void put_double(struct buffer *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_u64(out, bits);
}

static void put_string(struct buffer *out, struct slice string)
{
    put_u32(out, (uint32_t)string.size);
    buffer_append(out, string);
}

static void put_key(struct buffer *out, struct index_key key)
{
    put_u64(out, key.high);
    put_u64(out, key.low);
}

void record_write_engine(const struct engine *engine, struct buffer *out)
{
    put_u8(out, (uint8_t)engine->clock);
    put_i64(out, engine->now_us);
    put_u64(out, engine->job_id);
    put_u64(out, engine->queue_id);
    put_u64(out, engine->worker_id);
    put_u64(out, engine->token);
    put_u64(out, engine->sequence);
}

void record_write_config(const struct engine *engine, struct buffer *out)
{
    struct slice name, value;
    for (size_t i = 0; config_option(&engine->config, i, &name, &value); i++) {
        put_string(out, name);
        put_string(out, value);
    }
}

void record_write_tracked(const struct engine *engine, struct buffer *out)
{
    struct index_cursor cursor = index_cursor_at(&engine->tracked_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct tracked *tracked = tracked_of_node(node);
        put_string(out, tracked_key(tracked));
        put_key(out, tracked->order.key);
        put_i64(out, tracked->when_us);
    }
}

void record_write_queue(const struct queue *queue, struct buffer *out)
{
    put_string(out, queue_name(queue));
    put_u8(out, queue->known);
    put_u8(out, queue->paused);
    put_i64(out, queue->first_seen_us);
    put_key(out, queue->order.key);
}

static void put_counts(struct buffer *out, const struct stats_counts *counts)
{
    put_u64(out, counts->count);
    put_double(out, counts->mean);
    put_double(out, counts->vk);
    // Most buckets are empty: the bucket and its count, then an end mark.
    put_u8(out, counts->histogram != NULL);
    for (uint32_t i = 0; counts->histogram && i < STATS_BUCKETS; i++) {
        if (counts->histogram[i]) {
            put_u32(out, i);
            put_u64(out, counts->histogram[i]);
        }
    }
    put_u32(out, STATS_BUCKETS);
}

void record_write_stats(const struct stats_day *day, struct buffer *out)
{
    put_i64(out, day->retries);
    put_i64(out, day->failed);
    put_i64(out, day->failures);
    put_counts(out, &day->wait);
    put_counts(out, &day->run);
}

void record_write_worker(const struct worker *worker, struct buffer *out)
{
    put_string(out, worker_name(worker));
    put_u8(out, worker->known);
    put_i64(out, worker->seen_us);
    for (const struct listener *at = worker->listeners; at; at = at->next) {
        put_u64(out, at->queue->id);
    }
}

void record_write_recurring(const struct engine *engine, const struct recurring *recurring,
                            struct buffer *out)
{
    put_string(out, recurring_key(recurring));
    put_u64(out, recurring->queue->id);
    put_i64(out, time_of_key(recurring->node.key));
    put_string(out, intern_get(&engine->names, recurring->klass));
    put_string(out, slice_make(recurring->data, recurring->data_size));
    put_u64(out, recurring->count);
    put_i64(out, recurring->interval_us);
    put_i64(out, recurring->backlog);
    put_u32(out, (uint32_t)recurring->priority);
    put_u32(out, (uint32_t)recurring->retries);
    for (size_t i = 0; i < recurring->tag_count; i++) {
        put_string(out, recurring_tag(engine, recurring, i));
    }
}

void record_write_body(const struct engine *engine, const struct job *job, struct buffer *out)
{
    const struct job_extra *extra = job->extra;
    put_string(out, job_jid(job));
    put_string(out, intern_get(&engine->names, job->klass));
    put_string(out, slice_make(job->data, job->data_size));
    put_u32(out, (uint32_t)job->priority);
    put_u32(out, (uint32_t)job->retries);
    put_i64(out, job->created_us);
    put_string(out, intern_get(&engine->names, job->created_queue));
    bool spawned = extra && extra->spawned_from != INTERN_NONE;
    put_u8(out, spawned);
    if (spawned) {
        put_string(out, intern_get(&engine->names, extra->spawned_from));
    }
    for (const struct tagging *at = extra ? extra->tags : NULL; at; at = at->next) {
        put_string(out, tag_key(at->tag));
        put_u64(out, at->tag->id);
        put_key(out, at->node.key);
    }
}

static void put_lease(struct buffer *out, const struct lease *lease)
{
    put_u64(out, lease->worker->id);
    put_string(out, worker_name(lease->worker));
    put_u64(out, lease->token);
    put_i64(out, lease->expires_us);
    put_i64(out, lease->pid);
    put_u8(out, lease->started);
    put_u8(out, lease->grace);
}

static void put_failure(struct buffer *out, const struct failure *failure)
{
    struct job_view view = { 0 };
    failure_view(failure, &view);
    put_u8(out, failure != NULL);
    if (failure) {
        put_string(out, view.failure_group);
        put_string(out, view.failure_message);
        put_string(out, view.failure_worker);
        put_i64(out, view.failure_when_us);
    }
}

void record_write_head(const struct engine *engine, const struct job *job, struct buffer *out)
{
    (void)engine;
    const struct job_extra *extra = job->extra;
    put_u8(out, job->state);
    put_u64(out, job->queue ? job->queue->id : 0);
    put_key(out, job->node.key);
    put_i64(out, job->time_us);
    put_u32(out, (uint32_t)job->remaining);
    put_u32(out, job->crashes);
    put_string(out, history_bytes(job));
    if (job->lease) {
        put_lease(out, job->lease);
    }
    if (job->state == JOB_FAILED) {
        put_u64(out, extra->group->order.key.high);
    }
    put_failure(out, extra ? extra->failure : NULL);
    put_string(out, extra ? slice_make(extra->result, extra->result_size) : SLICE_EMPTY);
    put_i64(out, extra ? extra->due_us : 0);
    for (const struct edge *at = extra ? extra->dependencies : NULL; at; at = at->next_dependency) {
        put_u64(out, at->dependency->id);
        put_u64(out, at->sequence);
    }
}
