// SPDX-License-Identifier: MIT
// Put: a new job into a queue, or an existing job into another queue or state.
#include "engine/job/put.h"

#include "engine/dedup/promise.h"
#include "engine/dedup/unique.h"
#include "engine/job/cancel.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/metrics.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

enum {
    RETRIES_DEFAULT = 5,
};

enum status delay_check(int64_t now_us, int64_t delay_us, struct error *error)
{
    if (delay_us > ENGINE_TIME_MAX - now_us) {
        return error_set(error, STATUS_INVALID, "delay reaches beyond the year 9999");
    }
    return STATUS_OK;
}

enum status put_check(const struct engine *engine, struct slice queue, struct slice jid,
                      struct slice klass, struct slice data, struct error *error)
{
    enum status status = name_check_new(engine, queue, "queue", error);
    if (!status) {
        status = name_check_new(engine, jid, "jid", error);
    }
    if (!status) {
        status = name_check_new(engine, klass, "klass", error);
    }
    return status ? status : data_check(data, error);
}

static enum status check(const struct engine *engine, const struct put_request *request,
                         int64_t now_us, struct error *error)
{
    enum status status =
        put_check(engine, request->queue, request->jid, request->klass, request->data, error);
    if (!status) {
        status = delay_check(now_us, request->delay_us, error);
    }
    if (!status && request->has_retries && request->retries < 0) {
        status = error_set(error, STATUS_INVALID, "retries must not be negative");
    }
    if (!status && request->has_domain) {
        status = name_check_new_if_given(engine, request->domain, "domain", error);
    }
    if (!status) {
        status = name_check_if_given(request->worker, "worker", error);
    }
    if (!status && request->has_deadline && request->deadline_us &&
        (request->deadline_us <= now_us || request->deadline_us > ENGINE_TIME_MAX)) {
        status = error_set(error, STATUS_INVALID,
                           "deadline must lie in the future, and not beyond the year 9999");
    }
    if (!status && request->options) {
        status = options_check(request->options, error);
    }
    return status ? status : unique_check(&request->unique, now_us, request->data, error);
}

// Everything that a put needs, before anything is changed.
struct plan {
    struct queue *queue;
    struct job *made;     // NULL if the job exists
    struct job *replaced; // holds the lock and will be canceled
    struct unique *unique;
    char *data;
    uint32_t klass, domain, options;
    struct map_spot spot;
    struct depends_plan depends;
    int64_t delay_us;
    bool tags_reserved;
};

static void plan_cancel(struct engine *engine, const struct put_request *request, struct plan *plan)
{
    if (plan->tags_reserved) {
        tags_unreserve(engine, request->tags);
    }
    unique_free(engine, plan->unique);
    mem_free(engine->allocator, plan->data, plan->data ? request->data.size : 0);
    if (plan->made) {
        job_free(engine, plan->made);
    }
    if (plan->queue) {
        queue_abandon(engine, plan->queue);
    }
    intern_drop(&engine->names, plan->klass);
    intern_drop(&engine->names, plan->domain);
    intern_drop(&engine->names, plan->options);
}

// The history entry of a put of an existing job.
static struct history_entry entry_of(const struct put_request *request, const struct plan *plan,
                                     int64_t now_us)
{
    return (struct history_entry){ .kind = HISTORY_PUT,
                                   .when_us = now_us,
                                   .until_us = plan->delay_us > 0 ? now_us + plan->delay_us : 0,
                                   .queue = request->queue };
}

// Reserves what an existing job needs, in contrast to a new one.
static enum status reserve_old_job(struct engine *engine, int64_t now_us,
                                   const struct put_request *request, struct job *job,
                                   struct plan *plan)
{
    const struct history_entry entry = entry_of(request, plan, now_us);
    if (history_reserve(engine, job, &entry, 1) || leave_reserve(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    return job_copy_data(engine, job, request->data, &plan->data);
}

static enum status reserve_new_job(struct engine *engine, const struct put_request *request,
                                   struct plan *plan)
{
    if (map_reserve_at(&engine->jobs, plan->spot)) {
        return STATUS_NO_MEMORY;
    }
    plan->made = job_new(engine, request->jid, request->data);
    if (!plan->made) {
        return STATUS_NO_MEMORY;
    }
    plan->made->created_queue = plan->queue->name_id;
    intern_share(&engine->names, plan->queue->name_id);
    return STATUS_OK;
}

// Most jobs have the same klass as the one before.
static enum status acquire_klass(struct engine *engine, struct slice klass, uint32_t *out)
{
    if (engine->klass_last == INTERN_NONE ||
        !slice_equal(intern_get(&engine->names, engine->klass_last), klass)) {
        uint32_t id;
        if (intern_acquire(&engine->names, klass, &id)) {
            return STATUS_NO_MEMORY;
        }
        intern_drop(&engine->names, engine->klass_last);
        engine->klass_last = id;
    }
    intern_share(&engine->names, engine->klass_last);
    *out = engine->klass_last;
    return STATUS_OK;
}

// Acquires the given names; an existing job keeps its other names.
static enum status acquire_names(struct engine *engine, const struct put_request *request,
                                 struct plan *plan)
{
    if (acquire_klass(engine, request->klass, &plan->klass)) {
        return STATUS_NO_MEMORY;
    }
    if (request->domain.size && intern_acquire(&engine->names, request->domain, &plan->domain)) {
        return STATUS_NO_MEMORY;
    }
    return request->options ? options_acquire(engine, request->options, &plan->options) : STATUS_OK;
}

// The place for the job.
static struct place target(const struct put_request *request, const struct job *job,
                           const struct plan *plan, bool depends)
{
    struct place place = place_for(job, plan->queue, depends, plan->delay_us > 0);
    place.domain = request->has_domain ? plan->domain : job->domain;
    place.priority = request->has_priority ? request->priority : job->priority;
    place.timed = place.timed || (request->has_deadline && request->deadline_us);
    return place;
}

static enum status plan_make(struct engine *engine, int64_t now_us,
                             const struct put_request *request, struct job *job, struct plan *plan,
                             struct error *error)
{
    enum status status = queue_acquire(engine, request->queue, &plan->queue, error);
    if (status) {
        return status;
    }
    status = quota_check_job(engine, plan->queue, job, request->data.size, error);
    if (status) {
        return status;
    }
    if (queue_reserve_known(engine, plan->queue) ||
        (job ? reserve_old_job(engine, now_us, request, job, plan)
             : reserve_new_job(engine, request, plan)) ||
        acquire_names(engine, request, plan) ||
        (plan->replaced && leave_reserve(engine, plan->replaced))) {
        return engine_no_memory(error);
    }
    plan->depends = (struct depends_plan){ .jids = request->depends, .missing = request->missing };
    status = depends_reserve(engine, job, request->jid, &plan->depends, error);
    if (!status && request->tags.count) {
        status = tags_reserve(engine, NULL, request->tags, error);
        plan->tags_reserved = !status;
    }
    struct job *any = job ? job : plan->made;
    bool depends =
        plan->depends.count + (job ? depends_kept(engine, job, request->depends) : 0) > 0;
    if (status) {
        return status;
    }
    const struct place place = target(request, any, plan, depends);
    if (((request->tags.count || depends) && job_reserve_extra(engine, any)) ||
        ((plan->unique || place.timed) && job_reserve_rare(engine, any)) ||
        place_reserve(engine, &place)) {
        return engine_no_memory(error);
    }
    return STATUS_OK;
}

static void announce_put(struct engine *engine, const struct job *job, unsigned channel,
                         int64_t now_us, struct slice queue)
{
    if (!engine_has_listener(engine)) {
        return;
    }
    engine_emit(engine, &(struct event){ .kind = EVENT_PUT,
                                         .channels = channel,
                                         .when_us = now_us,
                                         .jid = job_jid(job),
                                         .queue = queue });
}

// Takes an existing job out of its place.
static void take_out(struct engine *engine, int64_t now_us, const struct put_request *request,
                     struct job *job, const struct plan *plan)
{
    if (job_lease(job) && !slice_equal(worker_name(job_lease(job)->worker), request->worker)) {
        lease_announce_lost(engine, job, now_us);
    }
    failure_forget(engine, job);
    job_take_out(engine, job);
    const struct history_entry entry = entry_of(request, plan, now_us);
    history_append(engine, job, &entry);
    if (request->depends.count) {
        depends_drop(engine, job, request->depends);
    }
    if (request->has_tags) {
        tags_clear(engine, job);
    }
    if (job->extra) {
        job_drop_result(engine, job);
    }
    job_forget_run(engine, job);
    intern_drop(&engine->names, job->klass);
    if (job->extra) {
        job->extra->members_done = job->extra->members_passed = 0;
    }
}

// Replaces the values of the job that were given.
static void set_given(struct engine *engine, const struct put_request *request, struct job *job,
                      const struct plan *plan)
{
    job->klass = plan->klass;
    job->priority = request->has_priority ? request->priority : job->priority;
    job->retries = request->has_retries ? request->retries : job->retries;
    if (request->has_domain) {
        intern_drop(&engine->names, job->domain);
        job->domain = plan->domain;
    }
    if (request->options) {
        intern_drop(&engine->names, job->options);
        job->options = plan->options;
    }
    if (request->has_deadline && job_rare(job)) {
        job_rare(job)->deadline_us = request->deadline_us;
    }
    if (plan->unique) {
        unique_give(engine, job, plan->unique);
    } else {
        unique_take_again(engine, job);
    }
}

static void add_new(struct engine *engine, int64_t now_us, struct job *job, struct map_spot spot)
{
    promise_drop_result(engine, job_jid(job));
    job->id = ++engine->job_id;
    job->created_us = now_us;
    job->retries = RETRIES_DEFAULT;
    job->tracked = engine->tracked.count && map_find(&engine->tracked, job_jid(job));
    map_add_at(&engine->jobs, spot, job);
}

static void apply(struct engine *engine, int64_t now_us, const struct put_request *request,
                  struct job *job, struct plan *plan)
{
    // First, because the replaced job may be the last one of the queue.
    queue_make_known(engine, plan->queue, now_us);
    if (plan->replaced) {
        cancel_job(engine, plan->replaced, now_us);
    }
    announce_put(engine, job ? job : plan->made, EVENT_TO_LOG, now_us, request->queue);
    if (job) {
        take_out(engine, now_us, request, job, plan);
        job_set_data(engine, job, plan->data, request->data.size);
    } else {
        job = plan->made;
        add_new(engine, now_us, job, plan->spot);
    }
    job_move_to(engine, job, plan->queue);
    set_given(engine, request, job, plan);
    job_start_anew(job, now_us);
    job->time_us = now_us;
    metrics_queued(engine, plan->queue, now_us);
    if (request->tags.count) {
        tags_add(engine, job, request->tags, now_us);
        tags_unreserve(engine, request->tags);
    }
    depends_add(engine, job, &plan->depends);
    place_job(engine, job, now_us, plan->delay_us);
    job_changed(engine, job, JOB_DIRTY_BODY | JOB_DIRTY_HEAD);
    if (job->tracked) {
        announce_put(engine, job, EVENT_TO_TRACKER, now_us, request->queue);
    }
}

// The result of a put when another job holds the requested lock. With STATUS_OK and no `*existing`
// the put continues, possibly replacing that job.
static enum status resolve_conflict(const struct put_request *request, struct job *holder,
                                    struct plan *plan, struct job **existing, struct error *error)
{
    struct slice jid = job_jid(holder);
    if (request->unique.conflict == UNIQUE_EXISTING || request->unique.conflict == UNIQUE_ONCE) {
        *existing = holder;
        return STATUS_OK;
    }
    if (request->unique.conflict == UNIQUE_REFUSE) {
        return error_set(error, STATUS_EXISTS, "job %.*s holds the lock and is %s",
                         SLICE_PRINT(jid), job_state_name(holder->state));
    }
    if (holder->state == JOB_RUNNING || holder->state == JOB_COMPLETE) {
        return error_set(error, STATUS_STATE,
                         "job %.*s holds the lock and is %s; it cannot be replaced",
                         SLICE_PRINT(jid), job_state_name(holder->state));
    }
    bool depended_on = holder->extra && holder->extra->dependent_count;
    for (size_t i = 0; i < request->depends.count; i++) {
        depended_on = depended_on || slice_equal(request->depends.items[i], jid);
    }
    if (depended_on) {
        return error_set(error, STATUS_STATE,
                         "job %.*s holds the lock, and other jobs depend on it", SLICE_PRINT(jid));
    }
    plan->replaced = holder;
    return STATUS_OK;
}

// The same when the job that held the lock is gone. With STATUS_OK and `*answered` the put returns
// its jid and changes nothing.
static enum status resolve_kept(const struct put_request *request, const struct promise *kept,
                                bool *answered, struct error *error)
{
    struct slice jid = promise_jid(kept);
    bool complete = kept->state == JOB_COMPLETE;
    const char *end = complete ? "complete" : kept->state == JOB_FAILED ? "deleted" : "canceled";
    switch (request->unique.conflict) {
    case UNIQUE_EXISTING:
    case UNIQUE_ONCE:
        *answered = true;
        if (request->gone) {
            *request->gone = jid;
        }
        return STATUS_OK;
    case UNIQUE_REPLACE:
        return !complete
                   ? STATUS_OK
                   : error_set(error, STATUS_STATE,
                               "job %.*s holds the lock and is complete; it cannot be replaced",
                               SLICE_PRINT(jid));
    case UNIQUE_REFUSE:
        break;
    }
    return error_set(error, STATUS_EXISTS, "job %.*s holds the lock and is %s", SLICE_PRINT(jid),
                     end);
}

// Decides what the put does about the requested lock. With STATUS_OK and `*answered` it returns
// `*out` and changes nothing.
static enum status plan_lock(struct engine *engine, int64_t now_us,
                             const struct put_request *request, struct job *job, struct plan *plan,
                             bool *answered, const struct job **out, struct error *error)
{
    if (request->unique.by == UNIQUE_NONE) {
        return job ? unique_reserve_again(engine, now_us, job, error) : STATUS_OK;
    }
    struct unique_holder holder;
    struct job *existing = NULL;
    bool once = request->unique.conflict == UNIQUE_ONCE;
    enum status status = unique_new(engine, now_us, request, &plan->unique, &holder, error);
    if (!status && holder.job && (holder.job != job || once)) {
        status = resolve_conflict(request, holder.job, plan, &existing, error);
        *answered = existing != NULL;
    } else if (!status && holder.kept &&
               (once || !slice_equal(promise_jid(holder.kept), request->jid))) {
        status = resolve_kept(request, holder.kept, answered, error);
    }
    if (!status && *answered) {
        *out = existing;
    }
    return status;
}

enum status engine_put(struct engine *engine, int64_t now_us, const struct put_request *request,
                       const struct job **out, struct error *error)
{
    // First, so that the memory is cached when it is needed.
    struct plan plan = { .klass = INTERN_NONE,
                         .domain = INTERN_NONE,
                         .options = INTERN_NONE,
                         .spot = map_spot(&engine->jobs, request->jid) };
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(engine, request, now_us, error);
    }
    if (status) {
        return status;
    }
    struct job *job = map_find_at(&engine->jobs, plan.spot, request->jid);
    if (!job && request->must_exist) {
        return error_set(error, STATUS_NOT_FOUND, "job %.*s does not exist",
                         SLICE_PRINT(request->jid));
    }
    bool keeps_time =
        request->keeps_time && request->delay_us <= 0 && job && job_due_time(job) > now_us;
    plan.delay_us = keeps_time ? job_due_time(job) - now_us : request->delay_us;
    bool answered = false;
    status = plan_lock(engine, now_us, request, job, &plan, &answered, out, error);
    if (!status && !answered) {
        status = promise_check_put(engine, request, job, error);
    }
    if (!status && !answered) {
        status = plan_make(engine, now_us, request, job, &plan, error);
    }
    if (status || answered) {
        plan_cancel(engine, request, &plan);
    } else {
        apply(engine, now_us, request, job, &plan);
        *out = job ? job : plan.made;
    }
    engine_settle(engine);
    return status;
}
