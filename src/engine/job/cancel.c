// SPDX-License-Identifier: MIT
// Cancel: removes jobs that are not finished.
#include "engine/job/cancel.h"

#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/job/waiter.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/metrics.h"
#include "engine/queue/queue.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

#include <assert.h>

static void announce(struct engine *engine, int64_t now_us, const struct job *job)
{
    const struct slice worker = job_lease(job) ? worker_name(job_lease(job)->worker) : SLICE_EMPTY;
    engine_emit(engine, &(struct event){ .kind = EVENT_CANCELED,
                                         .channels = EVENT_TO_LOG |
                                                     (job_lease(job) ? EVENT_TO_WORKER : 0U) |
                                                     (job->tracked ? EVENT_TO_TRACKER : 0U),
                                         .when_us = now_us,
                                         .jid = job_jid(job),
                                         .queue = job->queue ? queue_name(job->queue) : SLICE_EMPTY,
                                         .worker = worker });
}

void cancel_job(struct engine *engine, struct job *job, int64_t now_us)
{
    assert(job->state != JOB_COMPLETE);
    announce(engine, now_us, job);
    metrics_canceled(engine, job->queue);
    waiters_finish(engine, job, now_us, SLICE("canceled"));
    failure_forget(engine, job);
    job_take_out(engine, job);
    job_remove(engine, job);
}

// Marks the jobs to be canceled, so that checking whether a dependent is among them needs no
// search.
static enum status mark(struct engine *engine, struct slices jids, struct error *error)
{
    uint64_t visit = ++engine->visit;
    for (size_t i = 0; i < jids.count; i++) {
        enum status status = name_check(jids.items[i], "jid", error);
        if (status) {
            return status;
        }
        struct job *job = map_find(&engine->jobs, jids.items[i]);
        if (job && job->extra) {
            job->extra->visit = visit;
        }
        if (job && leave_reserve(engine, job)) {
            return engine_no_memory(error);
        }
    }
    return STATUS_OK;
}

// The first dependency of an unmarked job on a marked one; NULL if there is none.
static const struct edge *find_blocker(struct engine *engine, struct slices jids)
{
    for (size_t i = 0; i < jids.count; i++) {
        const struct job *job = map_find(&engine->jobs, jids.items[i]);
        const struct edge *edge = job && job->extra ? job->extra->dependents : NULL;
        for (; edge; edge = edge->next_dependent) {
            engine_step(engine);
            if (edge->dependent->extra->visit != engine->visit) {
                return edge;
            }
        }
    }
    return NULL;
}

static enum status check_dependents(struct engine *engine, struct slices jids,
                                    struct cancel_blocker *blocker, struct error *error)
{
    const struct edge *edge = find_blocker(engine, jids);
    if (!edge) {
        return STATUS_OK;
    }
    *blocker = (struct cancel_blocker){ job_jid(edge->dependency), job_jid(edge->dependent) };
    return error_set(error, STATUS_STATE,
                     "job %.*s is a dependency of %.*s, which is not to be canceled",
                     SLICE_PRINT(blocker->jid), SLICE_PRINT(blocker->dependent));
}

static void cancel_named(struct engine *engine, int64_t now_us, struct slices jids,
                         size_t *canceled)
{
    for (size_t i = 0; i < jids.count; i++) {
        struct job *job = map_find(&engine->jobs, jids.items[i]);
        if (job && job->state != JOB_COMPLETE) {
            cancel_job(engine, job, now_us);
            ++*canceled;
        }
    }
}

enum status engine_cancel(struct engine *engine, int64_t now_us, struct slices jids,
                          size_t *canceled, struct cancel_blocker *blocker, struct error *error)
{
    struct cancel_blocker unwanted;
    *canceled = 0;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = mark(engine, jids, error);
    }
    if (!status) {
        status = check_dependents(engine, jids, blocker ? blocker : &unwanted, error);
    }
    if (!status) {
        cancel_named(engine, now_us, jids, canceled);
    }
    engine_settle(engine);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Cancel with all dependents

// Jobs that depend on the named ones and are not named themselves, in the order in which they are
// found: a list through the jobs.
struct closure {
    struct job *first, *last;
    int64_t count;
};

// Adds the dependents of a job that are not marked yet.
static enum status add_dependents(struct engine *engine, const struct job *job,
                                  struct closure *closure, struct error *error)
{
    int64_t max = engine->config.max_dependency_search;
    const struct edge *edge = job->extra ? job->extra->dependents : NULL;
    for (; edge; edge = edge->next_dependent) {
        struct job *dependent = edge->dependent;
        engine_step(engine);
        if (dependent->extra->visit == engine->visit) {
            continue;
        }
        if (++closure->count > max) {
            return error_set(error, STATUS_TOO_LARGE,
                             "more jobs depend on those to be canceled than max-dependency-search "
                             "allows: %lld",
                             (long long)max);
        }
        if (leave_reserve(engine, dependent)) {
            return engine_no_memory(error);
        }
        dependent->extra->visit = engine->visit;
        dependent->extra->visit_next = NULL;
        *(closure->last ? &closure->last->extra->visit_next : &closure->first) = dependent;
        closure->last = dependent;
    }
    return STATUS_OK;
}

static enum status find_closure(struct engine *engine, struct slices jids, struct closure *closure,
                                struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < jids.count; i++) {
        const struct job *job = map_find(&engine->jobs, jids.items[i]);
        status = job ? add_dependents(engine, job, closure, error) : STATUS_OK;
    }
    for (struct job *job = closure->first; !status && job; job = job->extra->visit_next) {
        status = add_dependents(engine, job, closure, error);
    }
    return status;
}

enum status engine_cancel_dependents(struct engine *engine, int64_t now_us, struct slices jids,
                                     size_t *canceled, struct error *error)
{
    struct closure closure = { 0 };
    *canceled = 0;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = mark(engine, jids, error);
    }
    if (!status) {
        status = find_closure(engine, jids, &closure, error);
    }
    if (!status) {
        cancel_named(engine, now_us, jids, canceled);
        for (struct job *job = closure.first, *next; job; job = next) {
            next = job->extra->visit_next;
            cancel_job(engine, job, now_us);
            ++*canceled;
        }
    }
    engine_settle(engine);
    return status;
}
