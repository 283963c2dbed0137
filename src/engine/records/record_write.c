// SPDX-License-Identifier: MIT
// Numbers are little-endian and of fixed size; a string is its size (4 bytes) and its bytes.
#include "engine/records/record.h"

#include "base/bytes.h"
#include "engine/bulk/bulk.h"
#include "engine/config/config.h"
#include "engine/config/policy.h"
#include "engine/dedup/promise.h"
#include "engine/dedup/unique.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/limit.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/stats.h"
#include "engine/queue/queue.h"
#include "engine/recurring/recurring.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/relations/track.h"
#include "engine/state.h"

#include <string.h>

static inline void put_u8(struct buffer *out, uint8_t value)
{
    buffer_append_char(out, (char)value);
}

static inline void put_u32(struct buffer *out, uint32_t value)
{
    char bytes[4];
    bytes_store_u32(bytes, value);
    buffer_append(out, slice_make(bytes, sizeof(bytes)));
}

static inline void put_u64(struct buffer *out, uint64_t value)
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

static inline void put_string(struct buffer *out, struct slice string)
{
    char *at = buffer_reserve(out, 4 + string.size);
    if (at) {
        bytes_store_u32(at, (uint32_t)string.size);
        if (string.size) {
            memcpy(at + 4, string.data, string.size);
        }
        buffer_commit(out, 4 + string.size);
    }
}

static void put_key(struct buffer *out, struct index_key key)
{
    put_u64(out, key.high);
    put_u64(out, key.low);
}

// Writes a name; no name is an empty string.
static void put_name(const struct engine *engine, struct buffer *out, uint32_t name)
{
    put_string(out, intern_get(&engine->names, name));
}

static void put_options(struct buffer *out, const struct job_options *options)
{
    const struct backoff *backoff = &options->backoff;
    put_u8(out, (uint8_t)backoff->kind);
    put_u8(out, (uint8_t)backoff->jitter_percent);
    put_u8(out, (uint8_t)backoff->list_count);
    put_u8(out,
           (uint8_t)(options->dependency_policy | (options->lease_us ? OPTIONS_HAVE_LEASE : 0)));
    put_i64(out, backoff->base_us);
    put_i64(out, backoff->cap_us);
    for (size_t i = 0; i < backoff->list_count; i++) {
        put_i64(out, backoff->list_us[i]);
    }
    put_i64(out, options->timeout_us);
    put_i64(out, options->result_ttl_us);
    put_i64(out, options->crashes_max);
    if (options->lease_us) {
        put_i64(out, options->lease_us);
    }
}

static void put_named_options(const struct engine *engine, struct buffer *out, uint32_t name)
{
    put_u8(out, name != INTERN_NONE);
    if (name != INTERN_NONE) {
        struct job_options options;
        options_get(engine, name, &options);
        put_options(out, &options);
    }
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
    if (engine->line_us) {
        put_i64(out, engine->line_us);
    }
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
    put_key(out, queue->known ? queue->order.key : (struct index_key){ 0 });
    put_u64(out, queue->clock);
    if (queue->paused) {
        put_i64(out, queue->paused_us);
    }
}

static void put_counts(struct buffer *out, const struct stats_counts *counts)
{
    put_u64(out, counts->count);
    put_double(out, counts->mean);
    put_double(out, counts->vk);
    // Most buckets are empty: writes pairs of a bucket and its count, then an end mark.
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
    put_i64(out, day->lost_leases);
    put_i64(out, day->failed);
    put_i64(out, day->failures);
    put_counts(out, &day->wait);
    put_counts(out, &day->run);
    put_i64(out, day->retries);
}

void record_write_worker(const struct worker *worker, struct buffer *out)
{
    put_string(out, worker_name(worker));
    put_u8(out, WORKER_RECORD_ORIGIN);
    put_i64(out, worker->seen_us);
    put_i64(out, worker->started_us);
    put_string(out, worker_host(worker));
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
    put_name(engine, out, recurring->cron_text);
    put_string(out, recurring->zone ? zone_key(recurring->zone) : SLICE_EMPTY);
    put_u8(out, recurring->missed);
    bool more = recurring->paused || recurring->last_us;
    put_u8(out, (uint8_t)(recurring->overlap | (more ? RECURRING_HAS_MORE : 0)));
    if (more) {
        put_u8(out, recurring->paused);
        put_i64(out, recurring->last_us);
    }
    put_name(engine, out, recurring->domain);
    put_named_options(engine, out, recurring->options);
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
    put_string(out, job_data(job));
    put_u32(out, (uint32_t)job->priority);
    put_u32(out, (uint32_t)job->retries);
    put_i64(out, job->created_us);
    put_string(out, intern_get(&engine->names, job->created_queue));
    put_name(engine, out, extra ? extra->spawned_from : INTERN_NONE);
    put_name(engine, out, job->domain);
    put_named_options(engine, out, job->options);
    const struct unique *unique = extra && extra->rare ? extra->rare->unique : NULL;
    put_u8(out, unique != NULL);
    if (unique) {
        put_string(out, unique_key(unique));
        put_u8(out, unique->until);
        put_i64(out, unique->until_us);
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
    put_i64(out, lease->run_ends_us);
    put_i64(out, lease->pid);
    put_u8(out, lease->started);
    put_u8(out, lease->grace);
    if (lease->lease_us) {
        put_i64(out, lease->lease_us);
    }
}

static void put_failure(struct buffer *out, const struct failure *failure)
{
    put_u8(out, failure != NULL);
    if (failure) {
        struct job_view view = { 0 };
        failure_view(failure, &view);
        put_string(out, view.failure_group);
        put_string(out, view.failure_message);
        put_string(out, view.failure_worker);
        put_i64(out, view.failure_when_us);
    }
}

static void put_rare(struct buffer *out, const struct job_rare *rare)
{
    bool nothing =
        !rare || (!rare->deadline_us && !rare->result && !rare->unique &&
                  !trail_bytes(rare->log).size && !rare->checkpoint && rare->progress_ppm < 0);
    put_u8(out, !nothing);
    if (!nothing) {
        put_i64(out, rare->deadline_us);
        put_i64(out, rare->result ? promise_ends(rare->result) : 0);
        put_u8(out, rare->unique && rare->unique->held);
        put_u32(out, (uint32_t)rare->progress_ppm);
        put_string(out, slice_make(rare->progress, rare->progress_size));
        put_string(out, slice_make(rare->checkpoint, rare->checkpoint_size));
        put_string(out, trail_bytes(rare->log));
    }
}

// The numbers at the beginning of every head. A head is written at each step of a job's life, so
// they are written at once.
static void put_head_numbers(struct buffer *out, const struct job *job, int64_t updated_us)
{
    enum {
        NUMBERS_SIZE = 1 + 8 + 16 + 8,
        COUNTS_SIZE = 4 + 4 + 4,
    };
    bool changed = updated_us != job->time_us;
    bool settled = job->history && job->history->settled_act != SETTLED_NOT;
    size_t size = NUMBERS_SIZE + (changed ? sizeof(updated_us) : 0) + COUNTS_SIZE;
    char *at = buffer_reserve(out, size);
    if (!at) {
        return;
    }
    const struct lease *lease = job_lease(job);
    *at = (char)(job->state | (changed ? HEAD_HAS_UPDATED : 0) | (settled ? HEAD_HAS_SETTLED : 0) |
                 (lease && lease->lease_us ? HEAD_HAS_LEASE : 0));
    bytes_store_u64(at + 1, job->queue ? job->queue->id : 0);
    bytes_store_u64(at + 9, job->node.key.high);
    bytes_store_u64(at + 17, job->node.key.low);
    bytes_store_u64(at + 25, (uint64_t)job->time_us);
    if (changed) {
        bytes_store_u64(at + NUMBERS_SIZE, (uint64_t)updated_us);
    }
    at += size - COUNTS_SIZE;
    bytes_store_u32(at, (uint32_t)job->remaining);
    bytes_store_u32(at + 4, job->crashes);
    bytes_store_u32(at + 8, job->attempts);
    buffer_commit(out, size);
}

static void put_settled(struct buffer *out, const struct job *job)
{
    enum {
        SETTLED_SIZE = 1 + 8 + 4 + 4,
    };
    struct settled settled;
    enum settled_act act = job_settled(job, &settled);
    char *at = act != SETTLED_NOT ? buffer_reserve(out, SETTLED_SIZE) : NULL;
    if (at) {
        *at = (char)act;
        bytes_store_u64(at + 1, settled.token);
        bytes_store_u32(at + 9, settled.worker);
        bytes_store_u32(at + 13, (uint32_t)settled.outcome);
        buffer_commit(out, SETTLED_SIZE);
    }
}

static void put_extra(struct buffer *out, const struct job_extra *extra)
{
    put_failure(out, extra->failure);
    put_string(out, slice_make(extra->result, extra->result_size));
    put_i64(out, extra->due_us);
    put_u32(out, extra->members_done);
    put_u32(out, extra->members_passed);
    put_rare(out, extra->rare);
    for (const struct edge *at = extra->dependencies; at; at = at->next_dependency) {
        put_u64(out, at->dependency->id);
        put_u64(out, at->sequence);
    }
}

// Writes what put_extra writes for a job without such data: no failure, an empty result, zeros.
static void put_no_extra(struct buffer *out)
{
    static const char none[1 + 4 + 8 + 4 + 4 + 1];
    buffer_append(out, slice_make(none, sizeof(none)));
}

void record_write_head(const struct engine *engine, const struct job *job, struct buffer *out)
{
    (void)engine;
    const struct job_extra *extra = job->extra;
    const struct lease *lease = job_lease(job);
    put_head_numbers(out, job, lease ? lease->updated_us : job->updated_us);
    put_string(out, trail_bytes(job->history));
    put_settled(out, job);
    if (lease) {
        put_lease(out, lease);
    }
    if (job->state == JOB_FAILED) {
        put_u64(out, extra->group->order.key.high);
        put_u8(out, extra->cascades);
    }
    if (extra) {
        put_extra(out, extra);
    } else {
        put_no_extra(out);
    }
}

void record_write_limit(const struct limit_entry *entry, struct buffer *out)
{
    const struct limit *limit = &entry->limit;
    put_string(out, limit_queue(entry));
    put_string(out, limit_domain(entry));
    put_u8(out, limit->has_rate);
    put_u8(out, limit->has_concurrency);
    put_u8(out, limit->has_weight);
    put_i64(out, limit->rate_count);
    put_i64(out, limit->rate_period_us);
    put_i64(out, limit->burst);
    put_i64(out, limit->concurrency);
    put_i64(out, limit->weight);
}

void record_write_policy(const struct policy *policy, struct buffer *out)
{
    put_u8(out, (uint8_t)policy->key[0]);
    put_string(out, slice_sub(policy_key(policy), 1, SIZE_MAX));
    put_options(out, &policy->options);
}

void record_write_zone(const struct zone *zone, struct buffer *out)
{
    put_string(out, zone_key(zone));
    put_u32(out, (uint32_t)zone->rules.offset_s);
    for (size_t i = 0; i < zone->rules.count; i++) {
        put_i64(out, zone->rules.transitions[i].at_us);
        put_u32(out, (uint32_t)zone->rules.transitions[i].offset_s);
    }
}

void record_write_lane(const struct engine *engine, const struct lane *lane, struct buffer *out)
{
    put_u64(out, lane->queue->id);
    put_name(engine, out, (uint32_t)lane->key.domain);
    put_i64(out, lane->rate_count);
    put_i64(out, lane->rate_period_us);
    put_i64(out, lane->burst);
    put_i64(out, lane->level);
    put_i64(out, lane->level_us);
    put_u64(out, lane->turn);
}

static bool bulk_has_more(const struct bulk *bulk)
{
    const struct job_filter *filter = &bulk->request.filter;
    bool several = filter->states & (filter->states - 1);
    return several || filter->worker.size || filter->domain.size || filter->jids.count ||
           bulk->request.priority || bulk->request.user.size || bulk->view.as ||
           bulk->aged_us != bulk->view.began_us;
}

static void put_bulk_more(const struct bulk *bulk, struct buffer *out)
{
    const struct job_filter *filter = &bulk->request.filter;
    put_u32(out, filter->states);
    put_string(out, filter->worker);
    put_string(out, filter->domain);
    put_u32(out, (uint32_t)bulk->request.priority);
    put_string(out, bulk->request.user);
    put_u64(out, bulk->view.as);
    put_i64(out, bulk->aged_us);
    put_u32(out, (uint32_t)filter->jids.count);
    for (size_t i = 0; i < filter->jids.count; i++) {
        put_string(out, filter->jids.items[i]);
    }
}

void record_write_bulk(const struct bulk *bulk, struct buffer *out)
{
    const struct bulk_request *request = &bulk->request;
    const struct job_filter *filter = &request->filter;
    put_u8(out, (uint8_t)request->act);
    put_u8(out, request->dry_run);
    put_string(out, filter->queue);
    put_string(out, filter->klass);
    put_string(out, filter->tag);
    put_string(out, filter->group);
    bool more = bulk_has_more(bulk);
    bool one = filter->states && !(filter->states & (filter->states - 1));
    put_u8(out,
           (uint8_t)((one ? FILTER_HAS_STATE : 0) | (filter->has_older ? FILTER_HAS_OLDER : 0) |
                     (filter->has_newer ? FILTER_HAS_NEWER : 0) | (more ? FILTER_HAS_MORE : 0)));
    put_u8(out, (uint8_t)(one ? __builtin_ctz(filter->states) : 0));
    put_i64(out, filter->older_us);
    put_i64(out, filter->newer_us);
    put_string(out, request->to);
    struct bulk_view view;
    struct bulk_cursor cursor;
    bulk_progress_to_save(bulk, &view, &cursor);
    put_u8(out, view.done);
    put_i64(out, view.began_us);
    put_u64(out, view.looked_at);
    put_u64(out, view.matched);
    put_u64(out, view.changed);
    put_u64(out, bulk->job_last);
    put_u8(out, (uint8_t)cursor.stage);
    put_u64(out, cursor.container);
    put_u32(out, cursor.part);
    put_key(out, cursor.key);
    if (more) {
        put_bulk_more(bulk, out);
    }
    for (size_t i = 0; i < request->tags.count; i++) {
        put_string(out, request->tags.items[i]);
    }
}

void record_write_bulk_set(const uint64_t words[], struct buffer *out)
{
    for (size_t i = 0; i < ID_SET_WORDS; i++) {
        put_u64(out, words[i]);
    }
}

void record_write_promise(const struct promise *promise, struct buffer *out)
{
    put_i64(out, promise_ends(promise));
    put_u8(out, promise->state);
    put_string(out, promise_key(promise));
    put_string(out, promise_jid(promise));
    put_string(out, slice_make(promise->value, promise->value_size));
}

void record_write_done(const struct done_block *block, struct buffer *out)
{
    put_u8(out, DONE_RECORD_DIGESTS);
    for (size_t i = 0; i < block->count; i++) {
        put_u64(out, block->entries[i].hash);
        put_u32(out, block->entries[i].digest);
    }
}

void record_write_request(const struct request *request, struct buffer *out)
{
    put_i64(out, request->when_us);
    put_u64(out, request->digest);
    put_string(out, request_key(request));
    put_string(out, request_answer(request));
}
