// SPDX-License-Identifier: MIT
// Restores a job from another namespace. The job is built completely before it is inserted, so that
// after any failure it only needs to be freed.
#include "engine/export/restore.h"

#include "engine/dedup/done.h"
#include "engine/dedup/promise.h"
#include "engine/dedup/unique.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/job/put.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

#include <assert.h>

// ---------------------------------------------------------------------------------------------
// Checks

static enum status invalid(const struct restore_request *request, const char *what,
                           struct error *error)
{
    return error_set(error, STATUS_INVALID, "job %.*s: %s", SLICE_PRINT(slice_shown(request->jid)),
                     what);
}

static bool is_time(int64_t us)
{
    return us >= 0 && us <= ENGINE_TIME_MAX;
}

static enum status check_names(const struct engine *engine, const struct restore_request *request,
                               struct error *error)
{
    bool complete = request->state == JOB_COMPLETE;
    struct slice queue = complete && !request->queue.size ? request->created_queue : request->queue;
    enum status status =
        put_check(engine, queue, request->jid, request->klass, request->data, error);
    if (!status) {
        status = name_check(request->created_queue, "the queue of the first put", error);
    }
    if (!status) {
        status = name_check_new_if_given(engine, request->domain, "domain", error);
    }
    if (!status) {
        status = name_check_if_given(request->spawned_from, "spawned-from", error);
    }
    if (!status) {
        status = name_check_new_if_given(engine, request->failure_group, "group", error);
    }
    return status ? status : name_check_if_given(request->failure_worker, "worker", error);
}

static enum status check_numbers(const struct restore_request *request, struct error *error)
{
    bool ended = request->state == JOB_FAILED || request->state == JOB_COMPLETE;
    if (request->retries < 0) {
        return invalid(request, "retries must not be negative", error);
    }
    if (request->remaining < (ended ? -1 : 0)) {
        return invalid(request, "remaining must not be negative; of a failed job it may be -1",
                       error);
    }
    if (request->progress_ppm > 1000000) {
        return invalid(request, "progress must lie between 0 and 1", error);
    }
    return STATUS_OK;
}

static enum status check_times(const struct restore_request *request, struct error *error)
{
    bool good = is_time(request->created_us) && is_time(request->updated_us) &&
                is_time(request->moved_us) && is_time(request->line_us) &&
                is_time(request->scheduled_us) && is_time(request->deadline_us) &&
                is_time(request->failure_when_us) && is_time(request->result_until_us) &&
                is_time(request->unique_until_us);
    for (size_t i = 0; i < request->tags.count && good; i++) {
        good = is_time(request->tag_times[i]);
    }
    return good ? STATUS_OK
                : invalid(request, "its times must lie between the years 1970 and 9999", error);
}

// Checks what a state requires and what it excludes.
static enum status check_state(const struct restore_request *request, struct error *error)
{
    enum job_state state = request->state;
    if ((unsigned)state >= JOB_STATE_COUNT) {
        return invalid(request, "its state is not known", error);
    }
    if (state == JOB_RUNNING) {
        return invalid(request, "a lease cannot be restored: say stalled in place of running",
                       error);
    }
    if (state == JOB_SCHEDULED && !request->scheduled_us) {
        return invalid(request, "a scheduled job needs the time at which it is due", error);
    }
    if (state != JOB_SCHEDULED && state != JOB_DEPENDS && request->scheduled_us) {
        return invalid(request, "only a job that is scheduled or depends is due at a time", error);
    }
    if (state == JOB_DEPENDS && !request->depends.count) {
        return invalid(request, "a job in the state depends needs a dependency", error);
    }
    if (state != JOB_DEPENDS && state != JOB_FAILED && request->depends.count) {
        return invalid(request, "only a job that depends or failed has dependencies", error);
    }
    if (state == JOB_FAILED && !request->failure_group.size) {
        return invalid(request, "a failed job needs the group of its failure", error);
    }
    if (request->result_until_us && (state != JOB_COMPLETE || !request->result.size)) {
        return invalid(
            request, "only a complete job with a result has a time until which it is kept", error);
    }
    if (state != JOB_STALLED && request->rank != LINE_RANK_PRIORITY) {
        return invalid(request, "only a stalled job stands before all others", error);
    }
    return STATUS_OK;
}

static enum status check_unique(const struct restore_request *request, int64_t now_us,
                                struct error *error)
{
    // The lock may have expired, which a put would refuse.
    const struct unique_request unique = { .by = request->unique_by,
                                           .key = request->unique_key,
                                           .until = request->unique_until,
                                           .for_us = 1 };
    return unique_check(&unique, now_us < ENGINE_TIME_MAX ? now_us : 0, request->data, error);
}

static enum status check(const struct engine *engine, const struct restore_request *request,
                         int64_t now_us, struct error *error)
{
    enum status status = check_names(engine, request, error);
    if (!status) {
        status = check_state(request, error);
    }
    if (!status) {
        status = check_numbers(request, error);
    }
    if (!status) {
        status = check_times(request, error);
    }
    if (!status) {
        status = data_check(request->result, error);
    }
    if (!status && request->options) {
        status = options_check(request->options, error);
    }
    if (!status) {
        status = history_check(request->history, request->history_count, error);
    }
    return status ? status : check_unique(request, now_us, error);
}

// ---------------------------------------------------------------------------------------------
// Everything that is needed, before anything is changed

struct plan {
    enum job_state state; // the state that the job will have
    struct queue *queue;
    struct job *job;
    struct group *group;
    struct map_spot spot;
    struct depends_plan depends;
    uint32_t done; // number of complete dependencies
    bool tags_reserved;
};

static void plan_cancel(struct engine *engine, const struct restore_request *request,
                        const struct plan *plan)
{
    if (plan->tags_reserved) {
        tags_unreserve(engine, request->tags);
    }
    if (plan->group) {
        group_settle(engine, plan->group);
    }
    if (plan->job) {
        job_free(engine, plan->job);
    }
    if (plan->queue) {
        queue_abandon(engine, plan->queue);
    }
}

// Whether all dependencies exist, or did, and how many of them are complete.
static enum status find_depends(const struct engine *engine, struct slices depends, uint32_t *done,
                                struct slice *missing, struct error *error)
{
    for (size_t i = 0; i < depends.count; i++) {
        const struct job *job = map_find(&engine->jobs, depends.items[i]);
        if (!job && !done_has(engine, depends.items[i])) {
            if (missing) {
                *missing = depends.items[i];
            }
            return error_set(error, STATUS_NOT_FOUND, "job %.*s, a dependency, does not exist",
                             SLICE_PRINT(slice_shown(depends.items[i])));
        }
        *done += !job || job->state == JOB_COMPLETE;
    }
    return STATUS_OK;
}

static enum status make_failure(struct engine *engine, const struct restore_request *request,
                                struct plan *plan)
{
    if (!request->failure_group.size) {
        return STATUS_OK;
    }
    const struct failure_words words = { .group = request->failure_group,
                                         .message = request->failure_message,
                                         .worker = request->failure_worker,
                                         .when_us = request->failure_when_us };
    if (job_reserve_extra(engine, plan->job)) {
        return STATUS_NO_MEMORY;
    }
    plan->job->extra->failure = failure_new(engine, &words);
    if (!plan->job->extra->failure) {
        return STATUS_NO_MEMORY;
    }
    return plan->state == JOB_FAILED ? group_acquire(engine, words.group, &plan->group) : STATUS_OK;
}

static enum status make_extra(struct engine *engine, const struct restore_request *request,
                              struct plan *plan)
{
    bool needed = request->tags.count || request->depends.count || request->spawned_from.size ||
                  request->result.size || request->members_done || request->members_passed;
    if (!needed) {
        return STATUS_OK;
    }
    if (job_reserve_extra(engine, plan->job)) {
        return STATUS_NO_MEMORY;
    }
    struct job_extra *extra = plan->job->extra;
    extra->members_done = request->members_done + plan->done;
    extra->members_passed = request->members_passed;
    extra->due_us = plan->state == JOB_DEPENDS ? request->scheduled_us : 0;
    if (request->spawned_from.size &&
        intern_acquire(&engine->names, request->spawned_from, &extra->spawned_from)) {
        return STATUS_NO_MEMORY;
    }
    if (bytes_copy(engine, request->result, &extra->result)) {
        return STATUS_NO_MEMORY;
    }
    extra->result_size = (uint32_t)request->result.size;
    return STATUS_OK;
}

static enum status make_rare(struct engine *engine, const struct restore_request *request,
                             struct job *job)
{
    bool needed = request->deadline_us || request->result_until_us || request->progress_ppm >= 0 ||
                  request->checkpoint.size || request->log_count ||
                  request->unique_by != UNIQUE_NONE;
    if (!needed) {
        return STATUS_OK;
    }
    if (job_reserve_rare(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    struct job_rare *rare = job->extra->rare;
    rare->deadline_us = request->deadline_us;
    if (request->result_until_us) {
        rare->result = promise_new_result(engine, request->jid);
        if (!rare->result) {
            return STATUS_NO_MEMORY;
        }
    }
    if (request->progress_ppm >= 0) {
        rare->progress_ppm = request->progress_ppm;
        if (bytes_copy(engine, request->progress_message, &rare->progress)) {
            return STATUS_NO_MEMORY;
        }
        rare->progress_size = (uint32_t)request->progress_message.size;
    }
    if (bytes_copy(engine, request->checkpoint, &rare->checkpoint)) {
        return STATUS_NO_MEMORY;
    }
    rare->checkpoint_size = (uint32_t)request->checkpoint.size;
    return log_restore(engine, job, request->log, request->log_count);
}

static enum status make_unique(struct engine *engine, int64_t now_us,
                               const struct restore_request *request, struct job *job,
                               struct error *error)
{
    if (request->unique_by == UNIQUE_NONE) {
        return STATUS_OK;
    }
    const struct put_request asked = { .jid = request->jid,
                                       .klass = request->klass,
                                       .data = request->data,
                                       .unique = { .by = request->unique_by,
                                                   .key = request->unique_key,
                                                   .until = request->unique_until } };
    struct unique *unique;
    struct unique_holder holder;
    enum status status = unique_new(engine, now_us, &asked, &unique, &holder, error);
    if (status) {
        return status;
    }
    unique->until_us = request->unique_until == UNIQUE_FOR_TIME ? request->unique_until_us : 0;
    unique->job = job;
    job->extra->rare->unique = unique;
    if (!request->unique_held) {
        promise_free(engine, unique_take_promise(unique));
        return STATUS_OK;
    }
    if (!holder.job && !holder.kept) {
        return STATUS_OK;
    }
    struct slice jid = holder.job ? job_jid(holder.job) : promise_jid(holder.kept);
    return error_set(error, STATUS_EXISTS, "job %.*s holds the lock of job %.*s",
                     SLICE_PRINT(slice_shown(jid)), SLICE_PRINT(slice_shown(request->jid)));
}

// Makes the job with everything that belongs to it.
static enum status make_job(struct engine *engine, int64_t now_us,
                            const struct restore_request *request, struct plan *plan,
                            struct error *error)
{
    plan->job = job_new(engine, request->jid, request->data);
    struct job *job = plan->job;
    if (!job || intern_acquire(&engine->names, request->klass, &job->klass) ||
        intern_acquire(&engine->names, request->created_queue, &job->created_queue) ||
        (request->domain.size && intern_acquire(&engine->names, request->domain, &job->domain)) ||
        (request->options && options_acquire(engine, request->options, &job->options)) ||
        make_extra(engine, request, plan) || make_failure(engine, request, plan) ||
        make_rare(engine, request, job) ||
        history_restore(engine, job, request->history, request->history_count)) {
        return engine_no_memory(error);
    }
    job->created_us = request->created_us;
    job->time_us = request->moved_us;
    job->priority = request->priority;
    job->retries = request->retries;
    job->remaining = request->remaining;
    job->attempts = request->attempts;
    job->crashes = request->crashes;
    return make_unique(engine, now_us, request, job, error);
}

static enum status make_queue(struct engine *engine, const struct restore_request *request,
                              struct plan *plan, struct error *error)
{
    if (!request->queue.size) {
        return STATUS_OK;
    }
    enum status status = queue_acquire(engine, request->queue, &plan->queue, error);
    if (!status && plan->state != JOB_COMPLETE) {
        status = quota_check_job(engine, plan->queue, NULL, request->data.size, error);
    }
    if (!status && queue_reserve_known(engine, plan->queue)) {
        status = engine_no_memory(error);
    }
    return status;
}

// A job whose dependencies are all complete does not wait for them. A stalled job without a rank
// of its own is in line as waiting jobs are, and becomes one.
static enum job_state state_of(const struct restore_request *request, uint32_t done, int64_t now_us)
{
    if (request->state == JOB_STALLED && request->rank == LINE_RANK_PRIORITY) {
        return JOB_WAITING;
    }
    if (request->state != JOB_DEPENDS || done < request->depends.count) {
        return request->state;
    }
    return request->scheduled_us > now_us ? JOB_SCHEDULED : JOB_WAITING;
}

static enum status plan_make(struct engine *engine, int64_t now_us,
                             const struct restore_request *request, struct plan *plan,
                             struct slice *missing, struct error *error)
{
    enum status status = find_depends(engine, request->depends, &plan->done, missing, error);
    plan->state = state_of(request, plan->done, now_us);
    if (!status) {
        status = make_queue(engine, request, plan, error);
    }
    if (!status) {
        status = make_job(engine, now_us, request, plan, error);
    }
    if (!status) {
        plan->depends = (struct depends_plan){ .jids = request->depends };
        status = depends_reserve(engine, NULL, request->jid, &plan->depends, error);
    }
    if (!status && request->tags.count) {
        status = tags_reserve(engine, NULL, request->tags, error);
        plan->tags_reserved = !status;
    }
    if (status) {
        return status;
    }
    const struct place place = { .queue = plan->queue,
                                 .domain = plan->job->domain,
                                 .priority = request->priority,
                                 .state = plan->state,
                                 .timed = job_rare(plan->job) != NULL };
    return place_reserve(engine, &place) || map_reserve_at(&engine->jobs, plan->spot)
               ? engine_no_memory(error)
               : STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static struct index_key key_of(struct engine *engine, int64_t now_us,
                               const struct restore_request *request, const struct plan *plan,
                               uint64_t id)
{
    static const enum line_class classes[] = { [LINE_RANK_PRIORITY] = LINE_WAITING,
                                               [LINE_RANK_TIMED_OUT] = LINE_TIMED_OUT,
                                               [LINE_RANK_LOST] = LINE_LOST };
    bool released = request->state == JOB_DEPENDS && plan->state != JOB_DEPENDS;
    int64_t after_us = now_us > engine->line_us ? now_us : engine->line_us;
    switch (plan->state) {
    case JOB_SCHEDULED:
        return time_key(request->scheduled_us, id);
    case JOB_DEPENDS:
        return time_key(request->line_us, id);
    case JOB_COMPLETE:
        return time_key(request->moved_us, id);
    case JOB_FAILED:
        return (struct index_key){ ++engine->sequence, id };
    case JOB_WAITING:
    case JOB_STALLED:
    case JOB_RUNNING:
    case JOB_STATE_COUNT:
        break;
    }
    return line_key(classes[request->rank], request->priority,
                    released ? after_us : request->line_us, id);
}

static void add_tags(struct engine *engine, const struct restore_request *request, struct job *job)
{
    for (size_t i = 0; i < request->tags.count; i++) {
        tags_add(engine, job, (struct slices){ &request->tags.items[i], 1 }, request->tag_times[i]);
    }
    if (request->tags.count) {
        tags_unreserve(engine, request->tags);
    }
}

static void take_lock(struct engine *engine, const struct restore_request *request, struct job *job)
{
    if (request->unique_held && request->unique_by != UNIQUE_NONE) {
        struct unique *unique = job->extra->rare->unique;
        job->extra->rare->unique = NULL;
        unique_give(engine, job, unique);
    }
}

static void apply(struct engine *engine, int64_t now_us, const struct restore_request *request,
                  const struct plan *plan)
{
    struct job *job = plan->job;
    job->id = ++engine->job_id;
    job->tracked = engine->tracked.count && map_find(&engine->tracked, job_jid(job));
    map_add_at(&engine->jobs, plan->spot, job);
    promise_drop_result(engine, job_jid(job));
    if (plan->queue) {
        queue_make_known(engine, plan->queue, now_us);
    }
    // Policies about failed dependencies were applied in the original namespace; until the job has
    // its state, they are not applied here.
    job->state = JOB_STATE_COUNT;
    depends_add(engine, job, &plan->depends);
    add_tags(engine, request, job);
    job->state = (uint8_t)plan->state;
    if (plan->state == JOB_COMPLETE) {
        job->queue = plan->queue; // the job is not counted for it yet
    } else {
        job_move_to(engine, job, plan->queue);
    }
    job->node.key = key_of(engine, now_us, request, plan, job->id);
    if (plan->group) {
        group_add(engine, plan->group, job, engine->sequence);
    }
    job_link(engine, job);
    take_lock(engine, request, job);
    if (job_rare(job) && job_rare(job)->result) {
        promise_give(engine, job_rare(job)->result, job, request->result_until_us);
    }
    job_changed(engine, job, JOB_DIRTY_BODY | JOB_DIRTY_HEAD);
    job->updated_us = request->updated_us ? request->updated_us : request->created_us;
}

enum status engine_restore(struct engine *engine, int64_t now_us,
                           const struct restore_request *request, bool check_only,
                           struct slice *missing, struct error *error)
{
    struct plan plan = { .state = request->state };
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(engine, request, now_us, error);
    }
    if (status) {
        return status;
    }
    plan.spot = map_spot(&engine->jobs, request->jid);
    if (map_find_at(&engine->jobs, plan.spot, request->jid)) {
        return error_set(error, STATUS_EXISTS, "job %.*s exists already",
                         SLICE_PRINT(slice_shown(request->jid)));
    }
    status = plan_make(engine, now_us, request, &plan, missing, error);
    if (status || check_only) {
        plan_cancel(engine, request, &plan);
    } else {
        apply(engine, now_us, request, &plan);
    }
    engine_settle(engine);
    return status;
}

enum status engine_restore_depends(struct engine *engine, int64_t now_us, struct slice jid,
                                   struct slices depends, bool check_only, struct slice *missing,
                                   struct error *error)
{
    struct job *job;
    uint32_t done = 0;
    struct depends_plan plan = { .jids = depends };
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (status) {
        if (missing && status == STATUS_NOT_FOUND) {
            *missing = jid;
        }
        return status;
    }
    if (job->state != JOB_FAILED) {
        return error_set(error, STATUS_STATE, "job %.*s has not failed: %s",
                         SLICE_PRINT(slice_shown(jid)), job_state_name(job->state));
    }
    status = find_depends(engine, depends, &done, missing, error);
    if (!status && job_reserve_extra(engine, job)) {
        status = engine_no_memory(error);
    }
    if (!status) {
        status = depends_reserve(engine, job, jid, &plan, error);
    }
    if (!status && !plan.count) {
        status = error_set(error, STATUS_EXISTS, "job %.*s depends on nothing else",
                           SLICE_PRINT(slice_shown(jid)));
    }
    if (!status && !check_only) {
        int64_t updated_us = job->updated_us; // the job keeps its time of the last change
        depends_add(engine, job, &plan);
        job->updated_us = updated_us;
    }
    engine_settle(engine);
    return status;
}

void restore_view(const struct engine *engine, const struct job *job, struct restore_view *out)
{
    const struct job_rare *rare = job_rare(job);
    *out = (struct restore_view){ .created_queue = intern_get(&engine->names, job->created_queue) };
    if (job->state == JOB_WAITING || job->state == JOB_STALLED) {
        enum line_class line_class = line_class_of(job->node.key);
        out->line_us = line_time(job->node.key);
        out->rank = line_class == LINE_LOST        ? LINE_RANK_LOST
                    : line_class == LINE_TIMED_OUT ? LINE_RANK_TIMED_OUT
                                                   : LINE_RANK_PRIORITY;
    } else if (job->state == JOB_DEPENDS) {
        out->line_us = time_of_key(job->node.key);
    }
    if (job->extra) {
        out->members_passed = job->extra->members_passed;
    }
    if (rare && rare->unique) {
        out->unique_until = (enum unique_until)rare->unique->until;
        out->unique_until_us = rare->unique->until_us;
    }
}
