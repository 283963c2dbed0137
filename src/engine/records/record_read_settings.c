// SPDX-License-Identifier: MIT
// Reads the records of everything except jobs, queues and workers.
#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/dedup/promise.h"
#include "engine/job/options.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/limit.h"
#include "engine/records/record.h"
#include "engine/records/record_reader.h"
#include "engine/recurring/recurring.h"
#include "engine/recurring/zone.h"

void take_options(struct reader *reader, struct job_options *out)
{
    *out = (struct job_options){ 0 };
    struct backoff *backoff = &out->backoff;
    backoff->kind = take_u8(reader);
    backoff->jitter_percent = take_u8(reader);
    backoff->list_count = take_u8(reader);
    uint8_t policy = take_u8(reader);
    out->dependency_policy = policy & (uint8_t)~OPTIONS_HAVE_LEASE;
    backoff->base_us = take_i64(reader);
    backoff->cap_us = take_i64(reader);
    reader->bad = reader->bad || backoff->list_count > BACKOFF_LIST_MAX;
    for (size_t i = 0; !reader->bad && i < backoff->list_count; i++) {
        backoff->list_us[i] = take_i64(reader);
    }
    out->timeout_us = take_i64(reader);
    out->result_ttl_us = take_i64(reader);
    out->crashes_max = take_i64(reader);
    if (policy & OPTIONS_HAVE_LEASE) {
        out->lease_us = take_i64(reader);
        reader->bad = reader->bad || out->lease_us == 0;
    }
    reader->bad = reader->bad || options_check(out, NULL);
}

// Invalid contents set the reader's error; any other failure is a lack of memory.
static enum status outcome(struct reader *reader, enum status status)
{
    reader->bad = reader->bad || (status && status != STATUS_NO_MEMORY);
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

enum status read_limit(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct limit limit;
    struct slice queue = take_optional(reader);
    struct slice domain = take_optional(reader);
    limit.has_rate = take_bool(reader);
    limit.has_concurrency = take_bool(reader);
    limit.has_weight = take_bool(reader);
    limit.rate_count = take_i64(reader);
    limit.rate_period_us = take_i64(reader);
    limit.burst = take_i64(reader);
    limit.concurrency = take_i64(reader);
    limit.weight = take_i64(reader);
    size_t count = engine->limits.count;
    if (reader->bad) {
        return STATUS_OK;
    }
    enum status status = record_take_id(engine, RECORD_LIMIT, id, engine->sequence);
    if (!status) {
        status = limit_put(engine, queue, domain, &limit, id, NULL);
    }
    reader->bad = !status && engine->limits.count == count; // it existed already
    return outcome(reader, status);
}

enum status read_policy(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct job_options options;
    enum policy_scope scope = take_u8(reader);
    struct slice name = take_name(reader);
    take_options(reader, &options);
    size_t count = engine->policies.count;
    if (reader->bad) {
        return STATUS_OK;
    }
    enum status status = record_take_id(engine, RECORD_POLICY, id, engine->sequence);
    if (!status) {
        status = policy_put(engine, scope, name, &options, id, NULL);
    }
    reader->bad = !status && engine->policies.count == count;
    return outcome(reader, status);
}

enum status read_zone(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct slice name = take_name(reader);
    struct zone_rules rules = { .offset_s = (int32_t)take_u32(reader) };
    rules.count = reader->left / 12;
    if (reader->bad || reader->left % 12 || map_find(&engine->zones, name)) {
        reader->bad = true;
        return STATUS_OK;
    }
    size_t size = (rules.count + 1) * sizeof(struct zone_transition);
    struct zone_transition *transitions = mem_alloc(engine->allocator, size);
    if (!transitions) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < rules.count; i++) {
        transitions[i].at_us = take_i64(reader);
        transitions[i].offset_s = (int32_t)take_u32(reader);
    }
    rules.transitions = transitions;
    enum status status = record_take_id(engine, RECORD_ZONE, id, engine->sequence);
    if (!status) {
        status = zone_put(engine, name, &rules, id, NULL);
    }
    mem_free(engine->allocator, transitions, size);
    return outcome(reader, status);
}

enum status read_lane(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct queue *queue = queue_by_id(engine, take_u64(reader));
    struct slice domain = take_optional(reader);
    struct lane_record record = { .rate.has_rate = true };
    record.rate.rate_count = take_i64(reader);
    record.rate.rate_period_us = take_i64(reader);
    record.rate.burst = take_i64(reader);
    record.level = take_i64(reader);
    record.level_us = take_i64(reader);
    record.turn = take_u64(reader);
    if (reader->bad || !queue) {
        reader->bad = true;
        return STATUS_OK;
    }
    uint32_t name = INTERN_NONE;
    enum status status = record_take_id(engine, RECORD_LANE, id, UINT64_MAX);
    if (!status && domain.size) {
        status = intern_acquire(&engine->names, domain, &name);
    }
    struct lane *lane;
    if (!status) {
        status = lane_acquire(engine, queue, name, &lane);
    }
    if (!status) {
        status = lane_load(engine, lane, id, &record);
    }
    intern_drop(&engine->names, name);
    return outcome(reader, status);
}

enum status read_recurring(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct recur_request request = { .jid = take_name(reader) };
    struct queue *queue = queue_by_id(engine, take_u64(reader));
    int64_t next_us = take_i64(reader);
    request.klass = take_name(reader);
    request.data = take_string(reader);
    uint64_t count = take_u64(reader);
    request.interval_us = take_i64(reader);
    request.cron = take_string(reader);
    request.zone = take_string(reader);
    request.missed = take_u8(reader);
    uint8_t overlap = take_u8(reader);
    request.overlap = overlap & ~(unsigned)RECURRING_HAS_MORE;
    request.paused = overlap & RECURRING_HAS_MORE && take_bool(reader);
    int64_t last_us = overlap & RECURRING_HAS_MORE ? take_i64(reader) : 0;
    request.domain = take_optional(reader);
    struct job_options options;
    if (take_bool(reader)) {
        take_options(reader, &options);
        request.options = &options;
    }
    request.backlog = take_i64(reader);
    request.priority = (int32_t)take_u32(reader);
    request.retries = (int32_t)take_u32(reader);
    struct slice *tags = mem_alloc(engine->allocator, (reader->left + 1) * sizeof(*tags));
    if (!tags) {
        return STATUS_NO_MEMORY;
    }
    size_t room = reader->left + 1;
    while (!reader->bad && reader->left) {
        tags[request.tags.count++] = take_name(reader);
    }
    request.tags.items = tags;
    enum status status = STATUS_OK;
    // A change of the interval may have moved the next run to before 1970.
    if (!queue || map_find(&engine->recurring, request.jid) ||
        index_has(&queue->recurring, time_key(next_us, id)) ||
        next_us < (request.cron.size ? 0 : -ENGINE_TIME_MAX)) {
        reader->bad = true;
    }
    if (!reader->bad) {
        request.queue = queue_name(queue);
        status = record_take_id(engine, RECORD_RECURRING, id, engine->job_id);
    }
    if (!reader->bad && !status) {
        status = recurring_load(engine, &request, id, next_us, count);
    }
    struct recurring *made =
        reader->bad || status ? NULL : map_find(&engine->recurring, request.jid);
    if (made) {
        made->last_us = last_us;
    }
    mem_free(engine->allocator, tags, room * sizeof(*tags));
    return status == STATUS_NO_MEMORY || !status ? status : STATUS_CORRUPT;
}

// Returns whether fields follow that the first version did not have.
static bool take_filter(struct reader *reader, struct job_filter *filter)
{
    filter->queue = take_optional(reader);
    filter->klass = take_optional(reader);
    filter->tag = take_optional(reader);
    filter->group = take_optional(reader);
    uint8_t has = take_u8(reader);
    uint8_t state = take_u8(reader);
    filter->states = has & FILTER_HAS_STATE ? 1U << (state & 31U) : 0;
    reader->bad = reader->bad || state >= JOB_STATE_COUNT;
    filter->older_us = take_i64(reader);
    filter->newer_us = take_i64(reader);
    // Older records have no flags for the ages; there 0 means none.
    filter->has_older = (has & FILTER_HAS_OLDER) || filter->older_us;
    filter->has_newer = (has & FILTER_HAS_NEWER) || filter->newer_us;
    reader->bad = reader->bad || (has & ~(unsigned)FILTER_HAS_ALL);
    return has & FILTER_HAS_MORE;
}

// Reads the progress and the position of an operation.
static void take_progress(struct reader *reader, struct bulk_view *view, uint64_t *job_last,
                          struct bulk_cursor *cursor)
{
    view->done = take_bool(reader);
    view->began_us = take_i64(reader);
    view->looked_at = take_u64(reader);
    view->matched = take_u64(reader);
    view->changed = take_u64(reader);
    *job_last = take_u64(reader);
    cursor->stage = take_u8(reader);
    cursor->container = take_u64(reader);
    cursor->part = take_u32(reader);
    cursor->key = take_key(reader);
    reader->bad = reader->bad || view->changed > view->matched || cursor->stage >= BULK_STAGES ||
                  cursor->part > BULK_PARTS || (!view->done && cursor->stage == BULK_END);
    view->stopped = view->done && cursor->stage != BULK_END;
}

// Reads what the first version did not have. `texts` has room for the remaining ones.
static void take_more(struct reader *reader, struct bulk_request *request, struct bulk_view *view,
                      int64_t *aged_us, struct slice *texts)
{
    request->filter.states = take_u32(reader);
    request->filter.worker = take_optional(reader);
    request->filter.domain = take_optional(reader);
    request->priority = (int32_t)take_u32(reader);
    request->user = take_optional(reader);
    view->as = take_u64(reader);
    *aged_us = take_i64(reader);
    uint32_t count = take_u32(reader);
    for (uint32_t i = 0; i < count && !reader->bad; i++) {
        texts[i] = take_name(reader);
    }
    request->filter.jids = (struct slices){ texts, reader->bad ? 0 : count };
}

enum status read_bulk(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct bulk_request request = { .act = take_u8(reader), .dry_run = take_bool(reader) };
    struct bulk_view view = { 0 };
    struct bulk_cursor cursor = { 0 };
    uint64_t job_last;
    bool more = take_filter(reader, &request.filter);
    request.to = take_optional(reader);
    take_progress(reader, &view, &job_last, &cursor);
    int64_t aged_us = view.began_us;
    size_t room = reader->left + 1;
    struct slice *tags = mem_alloc(engine->allocator, room * sizeof(*tags));
    if (!tags) {
        return STATUS_NO_MEMORY;
    }
    if (more) {
        take_more(reader, &request, &view, &aged_us, tags);
    }
    request.tags.items = tags + request.filter.jids.count;
    while (!reader->bad && reader->left) {
        tags[request.filter.jids.count + request.tags.count++] = take_name(reader);
    }
    enum status status = reader->bad ? STATUS_OK : bulk_check(&request, NULL);
    if (!status && !reader->bad) {
        status = record_take_id(engine, RECORD_BULK, id, engine->sequence);
    }
    struct bulk *bulk = NULL;
    if (!status && !reader->bad) {
        bulk = index_reserve(&engine->bulks, 1) ? NULL : bulk_new(engine, &request);
        status = bulk ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (bulk) {
        bulk->view = view;
        bulk->view.act = request.act;
        bulk->view.dry_run = request.dry_run;
        bulk->job_last = job_last;
        bulk->aged_us = aged_us;
        bulk->cursor = cursor;
        bulk_add(engine, bulk, id);
        if (view.as && !view.done && engine->mends) {
            // Some of the jobs that it is about may be among what was lost.
            bulk->view.done = bulk->view.stopped = true;
        } else if (view.as && !view.done) {
            status = bulk_set_make(engine, bulk);
        }
    }
    mem_free(engine->allocator, tags, room * sizeof(*tags));
    return outcome(reader, status);
}

enum status read_bulk_set(struct engine *engine, struct record_key key, struct reader *reader)
{
    struct index_node *node = index_find(&engine->bulks, (struct index_key){ 0, key.id });
    struct bulk *bulk = node && node->key.low == key.id ? bulk_of_node(node) : NULL;
    uint64_t words[ID_SET_WORDS];
    for (size_t i = 0; i < ID_SET_WORDS; i++) {
        words[i] = take_u64(reader);
    }
    if (engine->mends) {
        return STATUS_OK; // the operation was stopped
    }
    reader->bad = reader->bad || !bulk || !bulk->set || key.extra < 0;
    return reader->bad ? STATUS_OK
                       : outcome(reader, id_set_load(bulk->set, engine->allocator,
                                                     (uint64_t)key.extra, words));
}

enum status read_promise(struct engine *engine, struct record_key key, struct reader *reader)
{
    struct promise_record record = { .job_id = key.id };
    record.ends_us = take_i64(reader);
    record.state = take_u8(reader);
    record.key = take_string(reader);
    record.jid = take_name(reader);
    record.value = take_string(reader);
    reader->bad = reader->bad || loading_find(&engine->loading, key.id) || !record.key.size ||
                  key.extra != record.key.data[0];
    return reader->bad ? STATUS_OK : outcome(reader, promise_load(engine, &record));
}

enum status read_request(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct request_words words;
    int64_t when_us = take_i64(reader);
    words.digest = take_u64(reader);
    words.id = take_name(reader);
    struct slice answer = take_string(reader);
    words.answer_max = answer.size;
    if (reader->bad) {
        return STATUS_OK;
    }
    enum status status = record_take_id(engine, RECORD_REQUEST, id, engine->sequence);
    return outcome(reader, status ? status : request_load(engine, id, when_us, &words, answer));
}

enum status read_done(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct slice hashes = slice_make(reader->at, reader->left);
    enum status status = record_take_id(engine, RECORD_DONE, id, engine->sequence);
    reader->left = 0;
    return outcome(reader, status ? status : done_load(engine, id, hashes));
}
