// SPDX-License-Identifier: MIT
#include "engine/job/job.h"

#include "engine/bulk/bulk.h"

#include "engine/dedup/promise.h"
#include "engine/dedup/settled.h"
#include "engine/dedup/unique.h"
#include "engine/job/history.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/job/waiter.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

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

static size_t block_size(size_t jid_size, size_t data_size)
{
    return offsetof(struct job, jid) + jid_size + data_size;
}

struct job *job_new(struct engine *engine, struct slice jid, struct slice data)
{
    struct job *job = mem_alloc(engine->allocator, block_size(jid.size, data.size));
    assert(jid.size <= ENGINE_NAME_SIZE_MAX && data.size <= DATA_SIZE_MAX);
    if (job) {
        memset(job, 0, offsetof(struct job, jid));
        job->jid_size = (uint8_t)jid.size;
        memcpy(job->jid, jid.data, jid.size);
        job->data_size = (uint32_t)data.size;
        if (data.size) {
            memcpy(job->jid + jid.size, data.data, data.size);
        }
        job->klass = job->created_queue = job->domain = job->options = INTERN_NONE;
    }
    return job;
}

static void free_rare(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job->extra->rare;
    if (!rare) {
        return;
    }
    assert(rare->job == job);
    unique_release(engine, job);
    unique_free(engine, rare->unique);
    promise_free(engine, rare->result);
    waiters_forget(engine, job);
    job_forget_run(engine, job);
    slab_give(&engine->rares, rare);
}

static void free_extra(struct engine *engine, struct job *job)
{
    struct job_extra *extra = job->extra;
    if (!extra) {
        return;
    }
    free_rare(engine, job);
    bulk_freed_forget(engine, job);
    tags_clear(engine, job);
    depends_clear(engine, job);
    failure_free(engine, extra->failure);
    mem_free(engine->allocator, extra->result, extra->result_size);
    mem_free(engine->allocator, extra->data, extra->data_size);
    intern_drop(&engine->names, extra->spawned_from);
    slab_give(&engine->extras, extra);
    job->extra = NULL;
}

// Frees everything that belongs to the job alone.
static void strip(struct engine *engine, struct job *job)
{
    free_extra(engine, job);
    trail_free(engine, job->history);
    intern_drop(&engine->names, job->klass);
    intern_drop(&engine->names, job->created_queue);
    intern_drop(&engine->names, job->domain);
    intern_drop(&engine->names, job->options);
}

void job_free_shell(struct engine *engine, struct job *job)
{
    mem_free(engine->allocator, job, block_size(job->jid_size, job->data_size));
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

enum status job_reserve_rare(struct engine *engine, struct job *job)
{
    if (job_reserve_extra(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    if (!job->extra->rare) {
        struct job_rare *rare = slab_take(&engine->rares);
        if (!rare) {
            return STATUS_NO_MEMORY;
        }
        *rare = (struct job_rare){ .job = job, .progress_ppm = -1 };
        job->extra->rare = rare;
    }
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

enum status job_copy_data(struct engine *engine, struct job *job, struct slice data, char **out)
{
    *out = NULL;
    return job_reserve_extra(engine, job) ? STATUS_NO_MEMORY : bytes_copy(engine, data, out);
}

void job_set_data(struct engine *engine, struct job *job, char *copy, size_t size)
{
    struct job_extra *extra = job->extra;
    assert(extra && size <= DATA_SIZE_MAX && (copy || size == 0));
    if (job_counts(job)) {
        quota_subtract(engine, job->queue, job_data(job).size);
        quota_add(engine, job->queue, size);
    }
    mem_free(engine->allocator, extra->data, extra->data_size);
    extra->data = copy;
    extra->data_size = (uint32_t)size;
    extra->has_data = true;
    job_changed(engine, job, JOB_DIRTY_BODY);
}

// Code that removes a lease calls job_change when the job has its new state. Work that was due
// before the job was made changes it at the time at which it is made.
static void note_change(const struct engine *engine, struct job *job)
{
    int64_t when_us = engine->call_us > job->created_us ? engine->call_us : job->created_us;
    if (job->state != JOB_RUNNING) {
        job->updated_us = when_us;
    } else if (job->held) {
        job->held->updated_us = when_us;
    }
}

void job_changed(struct engine *engine, struct job *job, unsigned dirty)
{
    if (dirty != JOB_DIRTY_GONE) {
        note_change(engine, job);
        dirty |= JOB_DIRTY_HEAD;
    }
    engine->changes++;
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
    assert(!job_lease(job) && !(job->dirty & JOB_DIRTY_GONE));
    map_remove(&engine->jobs, job_jid(job));
    if (job->queue) {
        quota_uncount(engine, job);
        queue_settle(engine, job->queue);
    }
    promises_keep(engine, job);
    if (job->state != JOB_COMPLETE) {
        done_forget(engine, job_jid(job));
    }
    strip(engine, job);
    job_changed(engine, job, JOB_DIRTY_GONE);
    if (!engine->keeps_changes) {
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

enum status job_begin(struct engine *engine, int64_t *now_us, struct slice jid, struct job **out,
                      struct error *error)
{
    enum status status = engine_begin(engine, now_us, error);
    return status ? status : job_find(engine, jid, out, error);
}

const struct job *engine_get(const struct engine *engine, struct slice jid)
{
    return map_find(&engine->jobs, jid);
}

static void view_rare(const struct job_rare *rare, struct job_view *view)
{
    if (!rare) {
        return;
    }
    view->deadline_us = rare->deadline_us;
    view->result_until_us = rare->result ? promise_ends(rare->result) : 0;
    view->log_count = log_count(rare->job);
    view->progress_ppm = rare->progress_ppm;
    view->progress_message = slice_make(rare->progress, rare->progress_size);
    view->checkpoint = slice_make(rare->checkpoint, rare->checkpoint_size);
    if (rare->unique) {
        view->unique_by = (enum unique_by)rare->unique->key[0];
        view->unique_key = slice_sub(unique_key(rare->unique), 1, SIZE_MAX);
        view->unique_held = rare->unique->held;
    }
}

struct slice job_jid(const struct job *job)
{
    return slice_make(job->jid, job->jid_size);
}

size_t job_data_size(const struct job *job)
{
    return job_data(job).size;
}

struct job_texts job_texts(const struct engine *engine, const struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    struct job_texts texts = {
        .count = 6, // and the tags
        .size = job->jid_size + intern_get(&engine->names, job->klass).size +
                (job->queue ? queue_name(job->queue).size : 0) + job_data(job).size +
                intern_get(&engine->names, job->domain).size + (rare ? rare->checkpoint_size : 0),
    };
    for (const struct tagging *at = job->extra ? job->extra->tags : NULL; at; at = at->next) {
        texts.count++;
        texts.size += tag_key(at->tag).size;
    }
    return texts;
}

void job_view(const struct engine *engine, const struct job *job, struct job_view *view)
{
    const struct job_extra *extra = job->extra;
    const struct lease *lease = job_lease(job);
    *view = (struct job_view){
        .id = job->id,
        .jid = job_jid(job),
        .klass = intern_get(&engine->names, job->klass),
        .data = job_data(job),
        .queue = job->queue ? queue_name(job->queue) : SLICE_EMPTY,
        .domain = intern_get(&engine->names, job->domain),
        .state = job->state,
        .tracked = job->tracked,
        .priority = job->priority,
        .retries = job->retries,
        .remaining = job->remaining,
        .crashes = job->crashes,
        .attempts = job->attempts,
        .scheduled_us = job->state == JOB_SCHEDULED ? time_of_key(job->node.key) : 0,
        .line_us = job->state == JOB_WAITING ? line_time(job->node.key) : 0,
        .time_us = job->time_us,
        .updated_us = lease ? lease->updated_us : job->updated_us,
        .created_us = job->created_us,
        .progress_ppm = -1,
        .history_count = history_count(job),
    };
    if (lease) {
        view->worker = worker_name(lease->worker);
        view->grace = lease->grace;
        view->token = lease->token;
        view->expires_us = lease->expires_us;
        view->lease_us = lease->lease_us;
        view->run_ends_us = lease->run_ends_us;
        view->started = lease->started;
        view->pid = lease->pid;
    }
    if (extra) {
        view->result = slice_make(extra->result, extra->result_size);
        view->spawned_from = intern_get(&engine->names, extra->spawned_from);
        view->tag_count = extra->tag_count;
        view->dependency_count = extra->dependency_count;
        view->dependent_count = extra->dependent_count;
        failure_view(extra->failure, view);
        view->scheduled_us = job->state == JOB_DEPENDS ? extra->due_us : view->scheduled_us;
        view->members_done = extra->members_done;
        view->members_failed = extra->members_passed + extra->members_failed;
        view_rare(extra->rare, view);
    }
}

enum status job_delete(struct engine *engine, struct job *job)
{
    if (job->state == JOB_COMPLETE && done_add(engine, job_jid(job), settled_digest(job))) {
        return STATUS_NO_MEMORY;
    }
    failure_forget(engine, job);
    job_unlink(engine, job);
    if (job->extra) {
        job_drop_result(engine, job);
    }
    job_remove(engine, job);
    engine_settle(engine);
    return STATUS_OK;
}

enum status engine_delete(struct engine *engine, int64_t now_us, struct slice jid,
                          struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (status) {
        return status;
    }
    if (job->state != JOB_COMPLETE && job->state != JOB_FAILED) {
        return error_set(error, STATUS_STATE, "job %.*s is %s; only a finished job can be deleted",
                         SLICE_PRINT(jid), job_state_name(job->state));
    }
    if (job->extra && job->extra->dependent_count) {
        struct slice dependent = job_jid(job->extra->dependents->dependent);
        return error_set(error, STATUS_STATE, "job %.*s is a dependency of %.*s", SLICE_PRINT(jid),
                         SLICE_PRINT(dependent));
    }
    return job_delete(engine, job) ? engine_no_memory(error) : STATUS_OK;
}

enum status job_set_priority(struct engine *engine, struct job *job, int32_t priority)
{
    bool in_line = job->state == JOB_WAITING || job->state == JOB_STALLED;
    const struct place place = { .queue = job->queue,
                                 .domain = job->domain,
                                 .priority = priority,
                                 .state = in_line ? JOB_WAITING : job->state,
                                 .timed = job_rare(job) != NULL };
    if (place_reserve(engine, &place)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    job_count(engine, job, SIZE_MAX);
    if (in_line) {
        job->state = JOB_WAITING;
        line_move(engine, job, line_key(LINE_WAITING, priority, 0, job->id));
    }
    job->priority = priority;
    job_count(engine, job, 1);
    job_changed(engine, job, JOB_DIRTY_BODY | JOB_DIRTY_HEAD);
    engine_settle(engine);
    return STATUS_OK;
}

enum status engine_priority(struct engine *engine, int64_t now_us, struct slice jid,
                            int32_t priority, struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    return status                                    ? status
           : job_set_priority(engine, job, priority) ? engine_no_memory(error)
                                                     : STATUS_OK;
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
    if (!status && job_counts(job)) {
        status = quota_check_job(engine, job->queue, job, data.size, error);
    }
    if (status) {
        return status;
    }
    if (job_copy_data(engine, job, data, &copy)) {
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
        job_drop_result(engine, job);
    }
}

void job_drop_result(struct engine *engine, struct job *job)
{
    struct job_extra *extra = job->extra;
    mem_free(engine->allocator, extra->result, extra->result_size);
    extra->result = NULL;
    extra->result_size = 0;
    if (extra->rare) {
        promise_free(engine, extra->rare->result);
        extra->rare->result = NULL;
    }
}

void job_forget_checkpoint(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job_rare(job);
    if (rare) {
        mem_free(engine->allocator, rare->checkpoint, rare->checkpoint_size);
        rare->checkpoint = NULL;
        rare->checkpoint_size = 0;
    }
}

void job_forget_progress(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job_rare(job);
    if (rare) {
        mem_free(engine->allocator, rare->progress, rare->progress_size);
        rare->progress = NULL;
        rare->progress_size = 0;
        rare->progress_ppm = -1;
    }
}

void job_forget_run(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job_rare(job);
    if (rare) {
        job_forget_checkpoint(engine, job);
        job_forget_progress(engine, job);
        trail_free(engine, rare->log);
        rare->log = NULL;
    }
}

void job_start_anew(struct job *job, int64_t now_us)
{
    struct job_rare *rare = job_rare(job);
    job->remaining = job->retries;
    job->attempts = 0;
    job->crashes = 0;
    if (rare && rare->deadline_us <= now_us) {
        rare->deadline_us = 0;
    }
}
