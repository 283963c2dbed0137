// SPDX-License-Identifier: MIT
#include "engine/job.h"

#include "engine/depends.h"
#include "engine/due.h"
#include "engine/failure.h"
#include "engine/group.h"
#include "engine/history.h"
#include "engine/lease.h"
#include "engine/put.h"
#include "engine/queue.h"
#include "engine/state.h"
#include "engine/tag.h"
#include "engine/worker.h"

#include <assert.h>
#include <string.h>

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_SCHEDULED] = "scheduled", [JOB_DEPENDS] = "depends", [JOB_WAITING] = "waiting",
    [JOB_RUNNING] = "running",     [JOB_STALLED] = "stalled", [JOB_COMPLETE] = "complete",
    [JOB_FAILED] = "failed",
};

const char *job_state_name(enum job_state state)
{
    assert(state < JOB_STATE_COUNT);
    return state_names[state];
}

static size_t block_size(size_t jid_size, size_t inline_size)
{
    return offsetof(struct job, jid) + jid_size + inline_size;
}

static bool data_is_inline(const struct job *job)
{
    return job->data == job->jid + job->jid_size;
}

struct job *job_new(struct engine *engine, struct slice jid, struct slice data)
{
    struct job *job = mem_alloc(engine->allocator, block_size(jid.size, data.size));
    if (job) {
        memset(job, 0, offsetof(struct job, jid));
        job->jid_size = (uint8_t)jid.size;
        memcpy(job->jid, jid.data, jid.size);
        job->data = job->jid + jid.size;
        job->data_size = job->inline_size = (uint32_t)data.size;
        if (data.size) {
            memcpy(job->data, data.data, data.size);
        }
        job->klass = job->created_queue = INTERN_NONE;
    }
    return job;
}

static void free_data(struct engine *engine, struct job *job)
{
    if (!data_is_inline(job)) {
        mem_free(engine->allocator, job->data, job->data ? job->data_size : 0);
    }
}

static void free_extra(struct engine *engine, struct job *job)
{
    struct job_extra *extra = job->extra;
    if (!extra) {
        return;
    }
    tags_clear(engine, job);
    depends_clear(engine, job);
    failure_free(engine, extra->failure);
    mem_free(engine->allocator, extra->result, extra->result_size);
    if (extra->spawned_from != INTERN_NONE) {
        intern_drop(&engine->names, extra->spawned_from);
    }
    slab_give(&engine->extras, extra);
    job->extra = NULL;
}

// Frees all that belongs to the job alone.
static void strip(struct engine *engine, struct job *job)
{
    free_extra(engine, job);
    history_release(engine, job);
    free_data(engine, job);
    if (job->klass != INTERN_NONE) {
        intern_drop(&engine->names, job->klass);
    }
    if (job->created_queue != INTERN_NONE) {
        intern_drop(&engine->names, job->created_queue);
    }
}

void job_free_shell(struct engine *engine, struct job *job)
{
    mem_free(engine->allocator, job, block_size(job->jid_size, job->inline_size));
}

void job_free(struct engine *engine, struct job *job)
{
    strip(engine, job);
    job_free_shell(engine, job);
}

enum status job_reserve_extra(struct engine *engine, struct job *job)
{
    if (job->extra) {
        return STATUS_OK;
    }
    struct job_extra *extra = slab_take(&engine->extras);
    if (!extra) {
        return STATUS_NO_MEMORY;
    }
    *extra = (struct job_extra){ .spawned_from = INTERN_NONE };
    job->extra = extra;
    return STATUS_OK;
}

enum status bytes_copy(struct engine *engine, struct slice bytes, char **out)
{
    *out = NULL;
    if (bytes.size == 0) {
        return STATUS_OK;
    }
    char *copy = mem_alloc(engine->allocator, bytes.size);
    if (!copy) {
        return STATUS_NO_MEMORY;
    }
    memcpy(copy, bytes.data, bytes.size);
    *out = copy;
    return STATUS_OK;
}

void job_set_data(struct engine *engine, struct job *job, char *copy, size_t size)
{
    free_data(engine, job);
    job->data = copy;
    job->data_size = (uint32_t)size;
    job_changed(engine, job, JOB_DIRTY_BODY);
}

static struct index *index_of(struct engine *engine, struct job *job)
{
    switch ((enum job_state)job->state) {
    case JOB_SCHEDULED:
        return &job->queue->scheduled;
    case JOB_DEPENDS:
        return &job->queue->depends;
    case JOB_WAITING:
    case JOB_STALLED:
        return &job->queue->line;
    case JOB_RUNNING:
        return lease_index(engine, job);
    case JOB_FAILED:
        return &job->extra->group->jobs;
    case JOB_COMPLETE:
    default:
        return &engine->completed;
    }
}

void job_leave(struct engine *engine, struct job *job)
{
    index_remove(index_of(engine, job), &job->node);
    if (job->lease) {
        lease_end(engine, job);
    }
    if (job->state == JOB_FAILED) {
        group_settle(engine, job->extra->group);
        job->extra->group = NULL;
    }
    if (job->queue) {
        due_update(engine, job->queue);
    }
}

enum status job_load_place(struct engine *engine, struct job *job)
{
    struct index *index = index_of(engine, job);
    if (index_has(index, job->node.key)) {
        return STATUS_CORRUPT;
    }
    if (index_reserve(index, 1)) {
        return STATUS_NO_MEMORY;
    }
    index_insert(index, &job->node);
    if (job->queue) {
        due_update(engine, job->queue);
    }
    return STATUS_OK;
}

void job_changed(struct engine *engine, struct job *job, unsigned dirty)
{
    if (!engine->keeps_changes) {
        return;
    }
    if (!(job->dirty & JOB_DIRTY_LISTED)) {
        job->dirty_next = engine->dirty_jobs;
        engine->dirty_jobs = job;
    }
    job->dirty |= (uint8_t)(dirty | JOB_DIRTY_LISTED);
}

void job_remove(struct engine *engine, struct job *job)
{
    map_remove(&engine->jobs, job_jid(job));
    if (job->queue) {
        struct queue *queue = job->queue;
        queue->jobs--;
        queue_settle(engine, queue);
    }
    strip(engine, job);
    if (engine->keeps_changes) {
        job_changed(engine, job, JOB_DIRTY_GONE);
    } else {
        job_free_shell(engine, job);
    }
}

enum status job_find(const struct engine *engine, struct slice jid, struct job **out,
                     struct error *error)
{
    enum status status = name_check(jid, "jid", error);
    if (status) {
        return status;
    }
    *out = map_find(&engine->jobs, jid);
    if (!*out) {
        return error_set(error, STATUS_NOT_FOUND, "job %.*s does not exist", SLICE_PRINT(jid));
    }
    return STATUS_OK;
}

const struct job *engine_get(const struct engine *engine, struct slice jid)
{
    return map_find(&engine->jobs, jid);
}

void job_view(const struct engine *engine, const struct job *job, struct job_view *view)
{
    const struct job_extra *extra = job->extra;
    const struct lease *lease = job->lease;
    *view = (struct job_view){
        .id = job->id,
        .jid = job_jid(job),
        .klass = intern_get(&engine->names, job->klass),
        .data = slice_make(job->data, job->data_size),
        .queue = job->queue ? queue_name(job->queue) : SLICE_EMPTY,
        .state = job->state,
        .tracked = job->tracked,
        .priority = job->priority,
        .retries = job->retries,
        .remaining = job->remaining,
        .crashes = job->crashes,
        .scheduled_us = job->state == JOB_SCHEDULED ? time_of_key(job->node.key) : 0,
        .time_us = job->time_us,
        .history_count = history_count(job),
    };
    if (lease) {
        view->worker = worker_name(lease->worker);
        view->grace = lease->grace;
        view->token = lease->token;
        view->expires_us = lease->expires_us;
        view->started = lease->started;
        view->pid = lease->pid;
    }
    if (extra) {
        view->result = slice_make(extra->result, extra->result_size);
        if (extra->spawned_from != INTERN_NONE) {
            view->spawned_from = intern_get(&engine->names, extra->spawned_from);
        }
        view->tag_count = extra->tag_count;
        view->dependency_count = extra->dependency_count;
        view->dependent_count = extra->dependent_count;
        failure_view(extra->failure, view);
        view->scheduled_us = job->state == JOB_DEPENDS ? extra->due_us : view->scheduled_us;
    }
}

enum status engine_delete(struct engine *engine, int64_t now_us, struct slice jid,
                          struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = job_find(engine, jid, &job, error);
    }
    if (status) {
        return status;
    }
    if (job->state != JOB_COMPLETE && job->state != JOB_FAILED) {
        return error_set(error, STATUS_STATE, "job %.*s is %s; only a finished job can be deleted",
                         SLICE_PRINT(jid), job_state_name(job->state));
    }
    if (job->extra && job->extra->dependent_count) {
        struct slice dependent = job_dependent(job, 0);
        return error_set(error, STATUS_STATE, "job %.*s is a dependency of %.*s", SLICE_PRINT(jid),
                         SLICE_PRINT(dependent));
    }
    failure_forget(engine, job);
    job_leave(engine, job);
    job_remove(engine, job);
    return STATUS_OK;
}

enum status engine_priority(struct engine *engine, int64_t now_us, struct slice jid,
                            int32_t priority, struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = priority_check(priority, error);
    }
    if (!status) {
        status = job_find(engine, jid, &job, error);
    }
    if (status) {
        return status;
    }
    if (job->state == JOB_WAITING || job->state == JOB_STALLED) {
        if (index_reserve(&job->queue->line, 1)) {
            return engine_no_memory(error);
        }
        index_remove(&job->queue->line, &job->node);
        job->node.key = line_key(LINE_WAITING, priority, 0, job->id);
        index_insert(&job->queue->line, &job->node);
        engine_settle(engine);
    }
    job->priority = priority;
    job_changed(engine, job, JOB_DIRTY_BODY | JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status engine_update_data(struct engine *engine, int64_t now_us, struct slice jid,
                               struct slice data, struct error *error)
{
    struct job *job;
    char *copy;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = data_check(data, error);
    }
    if (!status) {
        status = job_find(engine, jid, &job, error);
    }
    if (status) {
        return status;
    }
    if (bytes_copy(engine, data, &copy)) {
        return engine_no_memory(error);
    }
    job_set_data(engine, job, copy, data.size);
    return STATUS_OK;
}

enum status engine_log(struct engine *engine, int64_t now_us, const struct log_request *request,
                       struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(request->message, "message", error);
    }
    if (!status) {
        status = data_check(request->data, error);
    }
    if (!status) {
        const struct holder holder = { .jid = request->jid,
                                       .worker = request->worker,
                                       .token = request->token };
        status = request->worker.size || request->token
                     ? lease_check(engine, &holder, &job, error)
                     : job_find(engine, request->jid, &job, error);
    }
    if (status) {
        return status;
    }
    const struct history_entry entry = {
        .kind = HISTORY_LOG, .when_us = now_us, .what = request->message, .data = request->data
    };
    if (history_reserve(engine, job, &entry, 1)) {
        return engine_no_memory(error);
    }
    history_append(engine, job, &entry);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status priority_check(int32_t priority, struct error *error)
{
    if (priority < -PRIORITY_MAX || priority > PRIORITY_MAX) {
        return error_set(error, STATUS_INVALID, "priority must lie between -%d and %d",
                         PRIORITY_MAX, PRIORITY_MAX);
    }
    return STATUS_OK;
}

enum status data_check(struct slice data, struct error *error)
{
    if (data.size > DATA_SIZE_MAX) {
        return error_set(error, STATUS_TOO_LARGE,
                         "data is %zu bytes long, and at most %d are allowed", data.size,
                         DATA_SIZE_MAX);
    }
    return STATUS_OK;
}

void job_forget_outcome(struct engine *engine, struct job *job)
{
    struct job_extra *extra = job->extra;
    if (extra) {
        failure_free(engine, extra->failure);
        extra->failure = NULL;
        mem_free(engine->allocator, extra->result, extra->result_size);
        extra->result = NULL;
        extra->result_size = 0;
    }
}
