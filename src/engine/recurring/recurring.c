// SPDX-License-Identifier: MIT
#include "engine/recurring/recurring.h"

#include "engine/due.h"
#include "engine/export/restore.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/put.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

struct slice recurring_key(const void *recurring)
{
    const struct recurring *of = recurring;
    return slice_make(of->jid, of->jid_size);
}

void recurring_changed(struct engine *engine, struct recurring *recurring)
{
    ENGINE_NOTE_CHANGE(engine, dirty_recurring, recurring);
}

static void drop_tags(struct engine *engine, uint32_t *tags, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        intern_drop(&engine->names, tags[i]);
    }
    mem_free(engine->allocator, tags, count * sizeof(*tags));
}

void recurring_free_shell(struct engine *engine, struct recurring *recurring)
{
    mem_free(engine->allocator, recurring, sizeof(*recurring) + recurring->jid_size);
}

static void strip(struct engine *engine, struct recurring *recurring)
{
    drop_tags(engine, recurring->tags, recurring->tag_count);
    recurring->tags = NULL;
    recurring->tag_count = 0;
    mem_free(engine->allocator, recurring->data, recurring->data_size);
    intern_drop(&engine->names, recurring->klass);
    intern_drop(&engine->names, recurring->cron_text);
    intern_drop(&engine->names, recurring->domain);
    intern_drop(&engine->names, recurring->options);
}

void recurring_free(struct engine *engine, struct recurring *recurring)
{
    struct queue *queue = recurring->queue;
    if (queue) {
        index_remove(&queue->recurring, &recurring->node);
        index_remove(&engine->recurring_order, &recurring->all);
        map_remove(&engine->recurring, recurring_key(recurring));
        due_update(engine, queue);
        queue_settle(engine, queue);
    }
    strip(engine, recurring);
    ENGINE_NOTE_GONE(engine, dirty_recurring, recurring, recurring_free_shell);
}

const struct recurring *engine_recurring_get(const struct engine *engine, struct slice jid)
{
    return map_find(&engine->recurring, jid);
}

void recurring_view(const struct engine *engine, const struct recurring *recurring,
                    struct recurring_view *view)
{
    *view = (struct recurring_view){
        .jid = recurring_key(recurring),
        .klass = intern_get(&engine->names, recurring->klass),
        .data = slice_make(recurring->data, recurring->data_size),
        .queue = queue_name(recurring->queue),
        .cron = intern_get(&engine->names, recurring->cron_text),
        .zone = recurring->zone ? zone_key(recurring->zone) : SLICE_EMPTY,
        .domain = intern_get(&engine->names, recurring->domain),
        .missed = (enum recur_missed)recurring->missed,
        .overlap = (enum recur_overlap)recurring->overlap,
        .interval_us = recurring->interval_us,
        .next_us = time_of_key(recurring->node.key),
        .last_us = recurring->last_us,
        .paused = recurring->paused,
        .priority = recurring->priority,
        .retries = recurring->retries,
        .count = recurring->count,
        .backlog = recurring->backlog,
        .tag_count = recurring->tag_count,
    };
}

struct slice recurring_tag(const struct engine *engine, const struct recurring *recurring,
                           size_t index)
{
    return intern_get(&engine->names, recurring->tags[index]);
}

void recurring_options(const struct engine *engine, const struct recurring *recurring,
                       struct job_options *out)
{
    options_get(engine, recurring->options, out);
}

size_t engine_recurring_all(const struct engine *engine, uint64_t after, size_t offset,
                            size_t count, const struct recurring **out, size_t *found, bool *more)
{
    const struct index *index = &engine->recurring_order;
    size_t before = after ? index_rank(index, (struct index_key){ 0, after + 1 }) : 0;
    size_t from = offset < index->count - before ? before + offset : index->count;
    struct index_cursor cursor = index_cursor_at(index, from);
    struct index_node *node;
    *found = 0;
    while (*found < count && (node = index_cursor_next(&cursor))) {
        out[(*found)++] = recurring_of_all(node);
    }
    *more = *found && from + *found < index->count;
    return index->count;
}

uint64_t recurring_number(const struct recurring *recurring)
{
    return recurring->id;
}

size_t engine_recurring(const struct engine *engine, struct slice name, size_t offset, size_t count,
                        const struct recurring **out, size_t *found)
{
    const struct queue *queue = queue_find(engine, name);
    *found = 0;
    if (!queue) {
        return 0;
    }
    struct index_cursor cursor = index_cursor_at(&queue->recurring, offset);
    struct index_node *node;
    while (*found < count && (node = index_cursor_next(&cursor))) {
        out[(*found)++] = recurring_of_node(node);
    }
    return queue->recurring.count;
}

// Acquires tags as names, without duplicates.
static enum status tags_make(struct engine *engine, struct slices tags, uint32_t **out,
                             size_t *out_count)
{
    *out = NULL;
    *out_count = 0;
    if (tags.count == 0) {
        return STATUS_OK;
    }
    uint32_t *made = mem_alloc(engine->allocator, tags.count * sizeof(*made));
    if (!made) {
        return STATUS_NO_MEMORY;
    }
    size_t count = 0;
    for (size_t i = 0; i < tags.count; i++) {
        if (intern_acquire(&engine->names, tags.items[i], &made[count])) {
            for (size_t j = 0; j < count; j++) {
                intern_drop(&engine->names, made[j]);
            }
            mem_free(engine->allocator, made, tags.count * sizeof(*made));
            return STATUS_NO_MEMORY;
        }
        bool twice = false;
        for (size_t j = 0; j < count; j++) {
            twice = twice || made[j] == made[count];
        }
        if (twice) {
            intern_drop(&engine->names, made[count]);
        } else {
            count++;
        }
    }
    // Shrinking a block cannot fail.
    *out = mem_resize(engine->allocator, made, tags.count * sizeof(*made), count * sizeof(*made));
    *out_count = count;
    return STATUS_OK;
}

static enum status check_interval(int64_t interval_us, struct error *error)
{
    if (interval_us <= 0 || interval_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID, "interval must be greater than 0");
    }
    return STATUS_OK;
}

static enum status check_numbers(int64_t backlog, int32_t retries, struct error *error)
{
    if (backlog < 0) {
        return error_set(error, STATUS_INVALID, "backlog must not be negative");
    }
    if (retries < 0) {
        return error_set(error, STATUS_INVALID, "retries must not be negative");
    }
    return STATUS_OK;
}

static enum status check_schedule(const struct engine *engine, const struct recur_request *request,
                                  struct error *error)
{
    struct cron cron;
    const struct zone *zone;
    if ((unsigned)request->missed > RECUR_MISSED_SKIP ||
        (unsigned)request->overlap > RECUR_OVERLAP_SKIP) {
        return error_set(error, STATUS_INVALID, "unknown value of missed or overlap");
    }
    if (request->cron.size == 0) {
        return request->zone.size
                   ? error_set(error, STATUS_INVALID, "a zone is only for a cron expression")
                   : check_interval(request->interval_us, error);
    }
    if (request->interval_us) {
        return error_set(error, STATUS_INVALID,
                         "an interval and a cron expression exclude each other");
    }
    enum status status = cron_parse(request->cron, &cron, error);
    return status ? status : zone_find(engine, request->zone, &zone, error);
}

static enum status check(const struct engine *engine, int64_t now_us,
                         const struct recur_request *request, struct error *error)
{
    enum status status =
        put_check(engine, request->queue, request->jid, request->klass, request->data, error);
    if (!status) {
        status = check_schedule(engine, request, error);
    }
    if (!status) {
        status = check_numbers(request->backlog, request->retries, error);
    }
    if (!status) {
        status = name_check_new_if_given(engine, request->domain, "domain", error);
    }
    if (!status && request->options) {
        status = options_check(request->options, error);
    }
    if (!status &&
        (request->offset_us < -now_us || request->offset_us > ENGINE_TIME_MAX - now_us)) {
        status = error_set(error, STATUS_INVALID,
                           "offset reaches before the year 1970 or beyond the year 9999");
    }
    if (!status && request->jid.size > RECURRING_JID_SIZE_MAX) {
        status = error_set(error, STATUS_INVALID,
                           "jid of a recurring job is %zu bytes long, and at most %d are allowed: "
                           "the jids of its jobs are longer",
                           request->jid.size, RECURRING_JID_SIZE_MAX);
    }
    return status ? status : tags_check(engine, request->tags, error);
}

// Allocates a recurring job that is in no index.
static struct recurring *recurring_new(struct engine *engine, struct slice jid)
{
    struct recurring *recurring = mem_zalloc(engine->allocator, sizeof(*recurring) + jid.size);
    if (recurring) {
        recurring->klass = recurring->cron_text = INTERN_NONE;
        recurring->domain = recurring->options = INTERN_NONE;
        recurring->jid_size = (uint8_t)jid.size;
        memcpy(recurring->jid, jid.data, jid.size);
    }
    return recurring;
}

// Sets what needs memory, and reserves its place in its queue.
static enum status fill(struct engine *engine, const struct recur_request *request,
                        struct recurring *made, struct queue *queue)
{
    size_t tag_count;
    if (bytes_copy(engine, request->data, &made->data)) {
        return STATUS_NO_MEMORY;
    }
    made->data_size = (uint32_t)request->data.size;
    if (intern_acquire(&engine->names, request->klass, &made->klass) ||
        tags_make(engine, request->tags, &made->tags, &tag_count)) {
        return STATUS_NO_MEMORY;
    }
    made->tag_count = (uint32_t)tag_count;
    if ((request->cron.size && intern_acquire(&engine->names, request->cron, &made->cron_text)) ||
        (request->domain.size && intern_acquire(&engine->names, request->domain, &made->domain)) ||
        (request->options && options_acquire(engine, request->options, &made->options))) {
        return STATUS_NO_MEMORY;
    }
    if (map_reserve(&engine->recurring, request->jid) || index_reserve(&queue->recurring, 1) ||
        index_reserve(&engine->recurring_order, 1) || queue_reserve_known(engine, queue)) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

// Creates a recurring job that was checked, replacing one with the same jid.
enum status recurring_load(struct engine *engine, const struct recur_request *request, uint64_t id,
                           int64_t next_us, uint64_t count)
{
    enum status status = check_schedule(engine, request, NULL);
    if (!status) {
        status = check_numbers(request->backlog, request->retries, NULL);
    }
    struct queue *queue = queue_find(engine, request->queue);
    struct recurring *made = status ? NULL : recurring_new(engine, request->jid);
    if (status || !made || fill(engine, request, made, queue)) {
        if (made) {
            strip(engine, made);
            recurring_free_shell(engine, made);
        }
        return status ? status : STATUS_NO_MEMORY;
    }
    made->priority = request->priority;
    made->retries = request->retries;
    made->interval_us = request->interval_us;
    made->backlog = request->backlog;
    made->missed = (uint8_t)request->missed;
    made->overlap = (uint8_t)request->overlap;
    if (request->cron.size) {
        status = cron_parse(request->cron, &made->cron, NULL);
        status = status ? status : zone_find(engine, request->zone, &made->zone, NULL);
        assert(!status);
    }
    made->id = id;
    made->count = count;
    made->queue = queue;
    struct recurring *old = map_find(&engine->recurring, request->jid);
    made->paused = request->paused || (old && old->paused);
    made->last_us = old ? old->last_us : 0;
    if (old) {
        recurring_free(engine, old);
    }
    made->node.key = time_key(next_us, id);
    index_insert(&queue->recurring, &made->node);
    made->all.key = (struct index_key){ 0, id };
    index_insert(&engine->recurring_order, &made->all);
    map_add(&engine->recurring, made);
    due_update(engine, queue);
    recurring_changed(engine, made);
    return STATUS_OK;
}

// The first run of a cron expression that was checked, not before `from_us`.
static int64_t first_run(const struct engine *engine, const struct recur_request *request,
                         int64_t from_us)
{
    struct cron cron;
    const struct zone *zone;
    if (cron_parse(request->cron, &cron, NULL) || zone_find(engine, request->zone, &zone, NULL)) {
        return INT64_MAX;
    }
    return cron_next(&cron, zone_rules_of(zone), from_us - 1);
}

// Whether it has exactly these tags. Duplicates count once.
static bool has_tags(const struct engine *engine, const struct recurring *recurring,
                     struct slices tags)
{
    size_t count = 0;
    for (size_t i = 0; i < tags.count; i++) {
        bool twice = false;
        for (size_t j = 0; j < i && !twice; j++) {
            twice = slice_equal(tags.items[i], tags.items[j]);
        }
        if (twice) {
            continue;
        }
        if (count == recurring->tag_count ||
            !slice_equal(recurring_tag(engine, recurring, count), tags.items[i])) {
            return false;
        }
        count++;
    }
    return count == recurring->tag_count;
}

static bool has_schedule(const struct engine *engine, const struct recurring *recurring,
                         const struct recur_request *request)
{
    struct slice zone = recurring->zone ? zone_key(recurring->zone) : SLICE_EMPTY;
    return recurring->interval_us == request->interval_us &&
           slice_equal(intern_get(&engine->names, recurring->cron_text), request->cron) &&
           slice_equal(zone, request->zone);
}

// Whether it equals the request, except for the time at which it began.
static bool is_as_requested(const struct engine *engine, const struct recurring *recurring,
                            const struct recur_request *request)
{
    return has_schedule(engine, recurring, request) &&
           slice_equal(queue_name(recurring->queue), request->queue) &&
           slice_equal(intern_get(&engine->names, recurring->klass), request->klass) &&
           slice_equal(slice_make(recurring->data, recurring->data_size), request->data) &&
           slice_equal(intern_get(&engine->names, recurring->domain), request->domain) &&
           recurring->missed == request->missed && recurring->overlap == request->overlap &&
           recurring->priority == request->priority && recurring->retries == request->retries &&
           recurring->backlog == request->backlog &&
           options_are(engine, recurring->options, request->options) &&
           has_tags(engine, recurring, request->tags);
}

// The next run of the request, which replaces `old` or nothing.
static int64_t next_run(const struct engine *engine, int64_t now_us, const struct recurring *old,
                        const struct recur_request *request)
{
    bool goes_on =
        old && !request->restart &&
        (has_schedule(engine, old, request) || (old->interval_us && request->interval_us));
    if (!goes_on) {
        int64_t from_us = now_us + request->offset_us;
        return request->cron.size ? first_run(engine, request, from_us) : from_us;
    }
    int64_t next_us = time_of_key(old->node.key);
    // A new interval counts from the last run. The first run, and a due run, remain.
    if (old->interval_us == request->interval_us || old->count == 0 || next_us <= now_us) {
        return next_us;
    }
    const struct recurring wanted = { .interval_us = request->interval_us };
    next_us += request->interval_us - old->interval_us;
    return recurring_run_from(&wanted, next_us, now_us + 1);
}

static void announce(const struct engine *engine, enum event_kind kind, struct slice jid,
                     const struct queue *queue)
{
    if (engine_wanted(engine, EVENT_TO_WATCHER)) {
        engine_emit(engine, &(struct event){ .kind = kind,
                                             .channels = EVENT_TO_WATCHER,
                                             .when_us = engine->call_us,
                                             .jid = jid,
                                             .queue = queue_name(queue) });
    }
}

enum status engine_recur(struct engine *engine, int64_t now_us, const struct recur_request *request,
                         struct error *error)
{
    struct queue *queue;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(engine, now_us, request, error);
    }
    if (!status) {
        status = quota_check_recurring(engine, request->jid, error);
    }
    if (!status && request->interval_us) {
        status = quota_check_interval(engine, request->interval_us, error);
    }
    const struct recurring *old = status ? NULL : map_find(&engine->recurring, request->jid);
    if (old && !request->restart && is_as_requested(engine, old, request)) {
        return STATUS_OK;
    }
    if (!status) {
        status = queue_acquire(engine, request->queue, &queue, error);
    }
    if (status) {
        return status;
    }
    int64_t next_us = next_run(engine, now_us, old, request);
    if (recurring_load(engine, request, engine->job_id + 1, next_us, old ? old->count : 0)) {
        queue_abandon(engine, queue);
        status = engine_no_memory(error);
    } else {
        engine->job_id++;
        queue_make_known(engine, queue, now_us);
        announce(engine, EVENT_RECURRING_SET, request->jid, queue);
    }
    engine_settle(engine);
    return status;
}

enum status engine_restore_recurring(struct engine *engine, int64_t now_us,
                                     const struct recur_request *request, int64_t next_us,
                                     uint64_t count, bool check_only, struct error *error)
{
    struct queue *queue = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(engine, now_us, request, error);
    }
    if (!status && map_find(&engine->recurring, request->jid)) {
        status = error_set(error, STATUS_EXISTS, "recurring job %.*s exists already",
                           SLICE_PRINT(slice_shown(request->jid)));
    }
    if (!status && (next_us < (request->cron.size ? 0 : -ENGINE_TIME_MAX) ||
                    next_us > ENGINE_TIME_MAX || count > INT64_MAX)) {
        status = error_set(error, STATUS_INVALID,
                           "the next run or the count of recurring job %.*s is out of range",
                           SLICE_PRINT(slice_shown(request->jid)));
    }
    if (!status) {
        status = quota_check_recurring(engine, request->jid, error);
    }
    if (!status && request->interval_us) {
        status = quota_check_interval(engine, request->interval_us, error);
    }
    if (!status) {
        status = queue_acquire(engine, request->queue, &queue, error);
    }
    if (!status && !check_only &&
        recurring_load(engine, request, engine->job_id + 1, next_us, count)) {
        status = engine_no_memory(error);
    }
    if (status || check_only) {
        if (queue) {
            queue_abandon(engine, queue);
        }
    } else {
        engine->job_id++;
        queue_make_known(engine, queue, now_us);
    }
    engine_settle(engine);
    return status;
}

enum status engine_unrecur(struct engine *engine, int64_t now_us, struct slice jid,
                           struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(jid, "jid", error);
    }
    if (status) {
        return status;
    }
    struct recurring *recurring = map_find(&engine->recurring, jid);
    if (recurring) {
        announce(engine, EVENT_RECURRING_UNSET, jid, recurring->queue);
        recurring_free(engine, recurring);
    }
    return STATUS_OK;
}

enum status recurring_find(const struct engine *engine, struct slice jid, struct recurring **out,
                           struct error *error)
{
    enum status status = name_check(jid, "jid", error);
    *out = status ? NULL : map_find(&engine->recurring, jid);
    if (!status && !*out) {
        status = error_set(error, STATUS_NOT_FOUND, "recurring job %.*s does not exist",
                           SLICE_PRINT(jid));
    }
    return status;
}

static enum status check_update(const struct engine *engine, const struct recur_update *request,
                                const struct recurring *recurring, struct error *error)
{
    if (request->has_interval && recurring->interval_us == 0) {
        return error_set(error, STATUS_INVALID, "recurring job %.*s is by cron and has no interval",
                         SLICE_PRINT(request->jid));
    }
    enum status status =
        request->has_interval ? check_interval(request->interval_us, error) : STATUS_OK;
    if (!status) {
        status = check_numbers(request->has_backlog ? request->backlog : recurring->backlog,
                               request->has_retries ? request->retries : recurring->retries, error);
    }
    if (!status && request->has_klass) {
        status = name_check_new(engine, request->klass, "klass", error);
    }
    if (!status && request->has_queue) {
        status = name_check_new(engine, request->queue, "queue", error);
    }
    if (!status && request->has_data) {
        status = data_check(request->data, error);
    }
    return status;
}

// The memory for the changes was allocated; makes all of them.
static void apply_update(struct engine *engine, const struct recur_update *request,
                         struct recurring *recurring, struct queue *queue, char *data,
                         uint32_t klass)
{
    int64_t next_us = time_of_key(recurring->node.key);
    if (request->has_interval) {
        next_us += request->interval_us - recurring->interval_us;
        recurring->interval_us = request->interval_us;
    }
    struct queue *old = recurring->queue;
    index_remove(&old->recurring, &recurring->node);
    recurring->queue = queue;
    recurring->node.key = time_key(next_us, recurring->id);
    index_insert(&queue->recurring, &recurring->node);
    due_update(engine, queue);
    if (old != queue) {
        due_update(engine, old);
        queue_settle(engine, old);
    }
    if (request->has_data) {
        mem_free(engine->allocator, recurring->data, recurring->data_size);
        recurring->data = data;
        recurring->data_size = (uint32_t)request->data.size;
    }
    if (request->has_klass) {
        intern_drop(&engine->names, recurring->klass);
        recurring->klass = klass;
    }
    recurring->priority = request->has_priority ? request->priority : recurring->priority;
    recurring->retries = request->has_retries ? request->retries : recurring->retries;
    recurring->backlog = request->has_backlog ? request->backlog : recurring->backlog;
    recurring_changed(engine, recurring);
}

static bool registers_again(const struct recur_update *request)
{
    return request->has_cron || request->has_zone || request->has_missed || request->has_overlap ||
           request->has_domain || request->has_options;
}

// Registers the recurring job again with the changes.
static enum status register_again(struct engine *engine, int64_t now_us,
                                  const struct recur_update *request,
                                  const struct recurring *recurring, struct error *error)
{
    struct recurring_view view;
    struct job_options options;
    recurring_view(engine, recurring, &view);
    recurring_options(engine, recurring, &options);
    size_t tags_size = (view.tag_count + 1) * sizeof(struct slice);
    struct slice *tags = mem_alloc(engine->allocator, tags_size);
    if (!tags) {
        return engine_no_memory(error);
    }
    for (size_t i = 0; i < view.tag_count; i++) {
        tags[i] = recurring_tag(engine, recurring, i);
    }
    bool by_interval = request->has_interval;
    int64_t interval_us = by_interval ? request->interval_us : view.interval_us;
    struct slice cron = request->has_cron ? request->cron : by_interval ? SLICE_EMPTY : view.cron;
    bool had_options = recurring->options != INTERN_NONE;
    const struct recur_request whole = {
        .jid = view.jid,
        .queue = request->has_queue ? request->queue : view.queue,
        .klass = request->has_klass ? request->klass : view.klass,
        .data = request->has_data ? request->data : view.data,
        .cron = cron,
        .interval_us = request->has_cron && !by_interval ? 0 : interval_us,
        .zone = request->has_zone ? request->zone
                : cron.size       ? view.zone
                                  : SLICE_EMPTY,
        .missed = request->has_missed ? request->missed : view.missed,
        .overlap = request->has_overlap ? request->overlap : view.overlap,
        .priority = request->has_priority ? request->priority : view.priority,
        .retries = request->has_retries ? request->retries : view.retries,
        .backlog = request->has_backlog ? request->backlog : view.backlog,
        .tags = { tags, view.tag_count },
        .domain = request->has_domain ? request->domain : view.domain,
        .options = request->has_options ? request->options
                   : had_options        ? &options
                                        : NULL,
    };
    enum status status = engine_recur(engine, now_us, &whole, error);
    mem_free(engine->allocator, tags, tags_size);
    return status;
}

enum status engine_recur_update(struct engine *engine, int64_t now_us,
                                const struct recur_update *request, struct error *error)
{
    struct recurring *recurring = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = recurring_find(engine, request->jid, &recurring, error);
    }
    if (!status && registers_again(request)) {
        return register_again(engine, now_us, request, recurring, error);
    }
    if (!status) {
        status = check_update(engine, request, recurring, error);
    }
    if (!status && request->has_interval) {
        status = quota_check_interval(engine, request->interval_us, error);
    }
    if (status) {
        return status;
    }
    struct queue *queue = recurring->queue;
    char *data = NULL;
    uint32_t klass = INTERN_NONE;
    if (request->has_queue) {
        status = queue_acquire(engine, request->queue, &queue, error);
    }
    if (!status &&
        ((request->has_data && bytes_copy(engine, request->data, &data)) ||
         (request->has_klass && intern_acquire(&engine->names, request->klass, &klass)) ||
         index_reserve(&queue->recurring, 1) ||
         (request->has_queue && queue_reserve_known(engine, queue)))) {
        status = engine_no_memory(error);
        mem_free(engine->allocator, data, data ? request->data.size : 0);
        intern_drop(&engine->names, klass);
        queue_abandon(engine, queue);
    }
    if (!status) {
        if (request->has_queue) {
            queue_make_known(engine, queue, now_us);
        }
        apply_update(engine, request, recurring, queue, data, klass);
        announce(engine, EVENT_RECURRING_SET, request->jid, queue);
    }
    engine_settle(engine);
    return status;
}

static enum status retag(struct engine *engine, struct recurring *recurring, struct slices tags,
                         struct error *error)
{
    uint32_t *made;
    size_t count;
    if (tags_make(engine, tags, &made, &count)) {
        return engine_no_memory(error);
    }
    // The limit may be lower than the number it has already.
    enum status status =
        count > recurring->tag_count ? tags_check_count(engine, count, error) : STATUS_OK;
    if (status) {
        drop_tags(engine, made, count);
        return status;
    }
    drop_tags(engine, recurring->tags, recurring->tag_count);
    recurring->tags = made;
    recurring->tag_count = (uint32_t)count;
    recurring_changed(engine, recurring);
    return STATUS_OK;
}

// Sets the tags of the recurring job to its tags and `added`, without `removed`.
static enum status change_tags(struct engine *engine, struct recurring *recurring,
                               struct slices added, struct slices removed, struct error *error)
{
    size_t had = recurring->tag_count;
    struct slice *all = mem_alloc(engine->allocator, (had + added.count + 1) * sizeof(*all));
    if (!all) {
        return engine_no_memory(error);
    }
    size_t count = 0;
    for (size_t i = 0; i < had; i++) {
        struct slice tag = recurring_tag(engine, recurring, i);
        bool kept = true;
        for (size_t j = 0; j < removed.count; j++) {
            kept = kept && !slice_equal(tag, removed.items[j]);
        }
        if (kept) {
            all[count++] = tag;
        }
    }
    for (size_t i = 0; i < added.count; i++) {
        all[count++] = added.items[i];
    }
    enum status status = retag(engine, recurring, (struct slices){ all, count }, error);
    if (!status) {
        announce(engine, EVENT_RECURRING_SET, recurring_key(recurring), recurring->queue);
    }
    mem_free(engine->allocator, all, (had + added.count + 1) * sizeof(*all));
    return status;
}

enum status engine_recur_tag(struct engine *engine, int64_t now_us, struct slice jid,
                             struct slices tags, struct error *error)
{
    struct recurring *recurring = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = recurring_find(engine, jid, &recurring, error);
    }
    if (!status) {
        status = tags_check(engine, tags, error);
    }
    return status ? status : change_tags(engine, recurring, tags, (struct slices){ 0 }, error);
}

enum status engine_recur_untag(struct engine *engine, int64_t now_us, struct slice jid,
                               struct slices tags, struct error *error)
{
    struct recurring *recurring = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = recurring_find(engine, jid, &recurring, error);
    }
    if (!status) {
        status = names_check(tags, "tag", error);
    }
    return status ? status : change_tags(engine, recurring, (struct slices){ 0 }, tags, error);
}
