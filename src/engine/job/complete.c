// SPDX-License-Identifier: MIT
// Complete: a job ends or moves to its next queue; and the retention of complete jobs.
#include "engine/job/complete.h"

#include "engine/dedup/promise.h"
#include "engine/dedup/settled.h"
#include "engine/dedup/unique.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/job/put.h"
#include "engine/job/waiter.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/metrics.h"
#include "engine/measure/stats.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

enum {
    RETENTION_SLICE = 100,
};

static int64_t delay_of(const struct complete_request *request)
{
    return request->has_delay ? request->delay_us : 0;
}

static enum status check(struct engine *engine, int64_t now_us,
                         const struct complete_request *request, struct settling *out,
                         struct error *error)
{
    enum status status = data_check(request->data, error);
    if (!status) {
        status = data_check(request->result, error);
    }
    if (!status && request->next.size == 0 && request->has_delay) {
        status = error_set(error, STATUS_INVALID, "delay cannot be used without a next queue");
    }
    if (!status && request->next.size == 0 && request->has_depends) {
        status = error_set(error, STATUS_INVALID, "depends cannot be used without a next queue");
    }
    if (!status) {
        status = name_check_new_if_given(engine, request->next, "next queue", error);
    }
    if (!status) {
        status = delay_check(now_us, delay_of(request), error);
    }
    if (!status) {
        status = settled_check(engine, &request->holder, SETTLED_COMPLETE, out, error);
    }
    return status;
}

// Everything that a completion needs, before anything is changed.
struct plan {
    struct queue *next; // NULL: the job ends
    char *data;
    char *result;
    int64_t result_until_us;
    struct promise *promise; // the result is kept for it until then
    struct depends_plan depends;
};

static void plan_cancel(struct engine *engine, const struct complete_request *request,
                        struct plan *plan)
{
    mem_free(engine->allocator, plan->data, plan->data ? request->data.size : 0);
    mem_free(engine->allocator, plan->result, plan->result ? request->result.size : 0);
    promise_free(engine, plan->promise);
    if (plan->next) {
        queue_abandon(engine, plan->next);
    }
}

static enum status plan_next(struct engine *engine, const struct complete_request *request,
                             struct job *job, struct plan *plan, struct error *error)
{
    enum status status = queue_acquire(engine, request->next, &plan->next, error);
    if (!status) {
        plan->depends =
            (struct depends_plan){ .jids = request->depends, .missing = request->missing };
        status = depends_reserve(engine, job, request->holder.jid, &plan->depends, error);
    }
    if (status) {
        return status;
    }
    bool depends = plan->depends.count > 0 || (job->extra && job->extra->dependency_count > 0);
    const struct place place = place_for(job, plan->next, depends, delay_of(request) > 0);
    if (queue_reserve_known(engine, plan->next) || (depends && job_reserve_extra(engine, job)) ||
        place_reserve(engine, &place)) {
        return engine_no_memory(error);
    }
    return STATUS_OK;
}

// When the result is to be removed, or 0.
static int64_t result_end(const struct engine *engine, int64_t now_us,
                          const struct complete_request *request, const struct job *job)
{
    if (request->result.size == 0 || !job_has_options(engine, job)) {
        return 0;
    }
    struct job_options options;
    job_options_in_effect(engine, job, &options);
    bool ends = options.result_ttl_us > 0 && options.result_ttl_us < ENGINE_TIME_MAX - now_us;
    return ends ? now_us + options.result_ttl_us : 0;
}

static enum status plan_done(struct engine *engine, int64_t now_us,
                             const struct complete_request *request, struct job *job,
                             struct plan *plan)
{
    plan->result_until_us = result_end(engine, now_us, request, job);
    const struct place place = { .queue = job->queue,
                                 .priority = job->priority,
                                 .state = JOB_COMPLETE };
    if (place_reserve(engine, &place)) {
        return STATUS_NO_MEMORY;
    }
    if (plan->result_until_us) {
        plan->promise = promise_new_result(engine, job_jid(job));
        if (!plan->promise || job_reserve_rare(engine, job)) {
            return STATUS_NO_MEMORY;
        }
    }
    return depends_reserve_release(engine, job, now_us);
}

// The history entry of a job that moves on to another queue.
static struct history_entry put_entry(const struct complete_request *request, int64_t now_us)
{
    int64_t delay_us = delay_of(request);
    return (struct history_entry){ .kind = HISTORY_PUT,
                                   .when_us = now_us,
                                   .until_us = delay_us > 0 ? now_us + delay_us : 0,
                                   .queue = request->next };
}

static enum status plan_make(struct engine *engine, int64_t now_us,
                             const struct complete_request *request, struct job *job,
                             struct plan *plan, struct error *error)
{
    const struct history_entry entries[] = {
        { .kind = HISTORY_DONE, .when_us = now_us },
        put_entry(request, now_us),
    };
    if (history_reserve(engine, job, entries, request->next.size ? 2 : 1) ||
        leave_reserve(engine, job) ||
        (request->data.size && job_copy_data(engine, job, request->data, &plan->data)) ||
        bytes_copy(engine, request->result, &plan->result) ||
        (request->result.size && job_reserve_extra(engine, job))) {
        return engine_no_memory(error);
    }
    enum status status = STATUS_OK;
    if (request->next.size) {
        status = plan_next(engine, request, job, plan, error);
    } else if (plan_done(engine, now_us, request, job, plan)) {
        status = engine_no_memory(error);
    }
    // Last, because a new day is visible.
    if (!status && stats_reserve(engine, job->queue, now_us)) {
        status = engine_no_memory(error);
    }
    return status;
}

int64_t retention_due(const struct engine *engine)
{
    const struct index_node *oldest = index_first(&engine->completed);
    int64_t count_max = engine->config.jobs_history_count;
    if (!oldest) {
        return INT64_MAX;
    }
    if (count_max >= 0 && engine->completed.count > (size_t)count_max) {
        return 0;
    }
    int64_t time_us = time_of_key(oldest->key);
    int64_t kept_us = engine->config.jobs_history_us;
    return time_us > 0 && kept_us > INT64_MAX - time_us ? INT64_MAX : time_us + kept_us;
}

enum status retention_delete(struct engine *engine)
{
    struct job *job = job_of_node(index_first(&engine->completed));
    if (done_add(engine, job_jid(job), settled_digest(job))) {
        return STATUS_NO_MEMORY;
    }
    job_unlink(engine, job);
    job_remove(engine, job);
    return STATUS_OK;
}

// Deletes complete jobs that are too old or too many, at most a slice of them.
static void retain(struct engine *engine, int64_t now_us)
{
    for (int i = 0; i < RETENTION_SLICE && retention_due(engine) <= now_us; i++) {
        if (retention_delete(engine)) {
            break;
        }
    }
}

static void announce(struct engine *engine, int64_t now_us, const struct job *job,
                     enum event_kind kind, unsigned channel, struct slice to)
{
    if (!engine_has_listener(engine)) {
        return;
    }
    engine_emit(engine, &(struct event){ .kind = kind,
                                         .channels = channel,
                                         .when_us = now_us,
                                         .jid = job_jid(job),
                                         .queue = queue_name(job->queue),
                                         .worker = worker_name(job_lease(job)->worker),
                                         .to = to });
}

// The common part of ending and of moving on to another queue.
static void finish_run(struct engine *engine, int64_t now_us,
                       const struct complete_request *request, struct job *job, struct plan *plan)
{
    history_append(engine, job, &(struct history_entry){ .kind = HISTORY_DONE, .when_us = now_us });
    job_lease(job)->worker->done++;
    struct stats_day *day = stats_find(job->queue, now_us);
    stats_add(&day->run, now_us - job->time_us);
    stats_changed(engine, job->queue, day);
    metrics_run(engine, job, now_us);
    if (job->tracked) {
        announce(engine, now_us, job, EVENT_COMPLETED, EVENT_TO_TRACKER, SLICE_EMPTY);
    }
    announce(engine, now_us, job, plan->next ? EVENT_ADVANCED : EVENT_COMPLETED, EVENT_TO_LOG,
             request->next);
    job_take_out(engine, job);
    job_forget_outcome(engine, job);
    job_forget_checkpoint(engine, job);
    if (request->data.size) {
        job_set_data(engine, job, plan->data, request->data.size);
    }
    if (request->result.size) {
        job->extra->result = plan->result;
        job->extra->result_size = (uint32_t)request->result.size;
    }
    job->remaining = job->retries;
    job->time_us = now_us;
}

static void go_on(struct engine *engine, int64_t now_us, const struct complete_request *request,
                  const struct settling *settling, struct plan *plan)
{
    struct job *job = settling->job;
    const struct history_entry entry = put_entry(request, now_us);
    history_append(engine, job, &entry);
    queue_make_known(engine, plan->next, now_us);
    job_move_to(engine, job, plan->next);
    job->attempts = 0;
    depends_add(engine, job, &plan->depends);
    place_job(engine, job, now_us, delay_of(request));
    settled_note(job, settling, SETTLED_COMPLETE, (int32_t)job->state);
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

static void be_done(struct engine *engine, int64_t now_us, const struct settling *settling,
                    const struct plan *plan)
{
    struct job *job = settling->job;
    metrics_completed(engine, job, now_us);
    quota_uncount(engine, job);
    job->state = JOB_COMPLETE;
    settled_note(job, settling, SETTLED_COMPLETE, JOB_COMPLETE);
    job->node.key = time_key(now_us, job->id);
    if (plan->promise) {
        job->extra->rare->result = plan->promise;
        promise_give(engine, plan->promise, job, plan->result_until_us);
    }
    job_link(engine, job);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    if (job->extra) {
        unique_finished(engine, job);
        depends_release(engine, job, now_us);
        waiters_finish(engine, job, now_us, SLICE("complete"));
    }
    if (engine->clock == ENGINE_CLOCK_CLIENT) {
        promises_end(engine, now_us, RETENTION_SLICE);
    }
    retain(engine, now_us);
}

enum status engine_complete(struct engine *engine, int64_t now_us,
                            const struct complete_request *request, enum job_state *state,
                            struct error *error)
{
    struct settling settling;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(engine, now_us, request, &settling, error);
    }
    if (status) {
        return status;
    }
    if (settling.repeated) {
        *state = (enum job_state)settling.outcome;
        return STATUS_OK;
    }
    struct job *job = settling.job;
    struct plan plan = { 0 };
    status = plan_make(engine, now_us, request, job, &plan, error);
    if (status) {
        plan_cancel(engine, request, &plan);
        engine_settle(engine);
        return status;
    }
    finish_run(engine, now_us, request, job, &plan);
    if (plan.next) {
        go_on(engine, now_us, request, &settling, &plan);
        *state = job->state;
    } else {
        *state = JOB_COMPLETE;
        be_done(engine, now_us, &settling, &plan);
    }
    engine_settle(engine);
    return STATUS_OK;
}
