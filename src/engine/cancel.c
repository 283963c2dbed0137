// SPDX-License-Identifier: MIT
// Cancel: jobs that are not to be done after all are removed without a trace.
#include "engine/cancel.h"

#include "engine/depends.h"
#include "engine/failure.h"
#include "engine/job.h"
#include "engine/lease.h"
#include "engine/place.h"
#include "engine/queue.h"
#include "engine/state.h"
#include "engine/waiter.h"
#include "engine/worker.h"

static void announce(struct engine *engine, int64_t now_us, const struct job *job)
{
    const struct slice worker = job->lease ? worker_name(job->lease->worker) : SLICE_EMPTY;
    engine_emit(engine,
                &(struct event){ .kind = EVENT_CANCELED,
                                 .channels = EVENT_TO_LOG | (job->lease ? EVENT_TO_WORKER : 0U) |
                                             (job->tracked ? EVENT_TO_TRACKER : 0U),
                                 .when_us = now_us,
                                 .jid = job_jid(job),
                                 .queue = job->queue ? queue_name(job->queue) : SLICE_EMPTY,
                                 .worker = worker });
}

void cancel_job(struct engine *engine, struct job *job, int64_t now_us)
{
    announce(engine, now_us, job);
    waiters_finish(engine, job, now_us, SLICE("canceled"));
    failure_forget(engine, job);
    job_leave(engine, job);
    job_remove(engine, job);
}

// Marks the jobs to be canceled, so that looking whether a dependent is among them takes no search.
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

// The first edge that leads from a marked job to one that is not; NULL when there is none.
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
    for (size_t i = 0; !status && i < jids.count; i++) {
        struct job *job = map_find(&engine->jobs, jids.items[i]);
        if (!job || job->state == JOB_COMPLETE) {
            continue;
        }
        cancel_job(engine, job, now_us);
        ++*canceled;
    }
    engine_settle(engine);
    return status;
}
