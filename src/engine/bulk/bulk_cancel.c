// SPDX-License-Identifier: MIT
// A bulk cancel starts with the jobs on which no other job depends. The walk skips a job that
// others depend on. It is canceled as soon as the operation has canceled the last of those, whether
// or not the walk has reached it: it is then in the list of freed jobs. So each job and each
// dependency is visited once or twice, in whatever order the walk meets them.
#include "engine/bulk/bulk.h"

#include "engine/job/cancel.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/relations/depends.h"
#include "engine/state.h"

#include <assert.h>

static void freed_insert(struct engine *engine, struct job *job)
{
    assert(!job->extra->freed);
    struct job_extra *extra = job->extra;
    extra->freed = true;
    extra->freed_next = NULL;
    extra->freed_previous = engine->freed_last;
    *(engine->freed_last ? &engine->freed_last->extra->freed_next : &engine->freed_first) = job;
    engine->freed_last = job;
}

void bulk_freed_forget(struct engine *engine, struct job *job)
{
    struct job_extra *extra = job->extra;
    if (!extra->freed) {
        return;
    }
    struct job *next = extra->freed_next, *previous = extra->freed_previous;
    *(previous ? &previous->extra->freed_next : &engine->freed_first) = next;
    *(next ? &next->extra->freed_previous : &engine->freed_last) = previous;
    extra->freed = false;
}

void bulk_freed_clear(struct engine *engine)
{
    while (engine->freed_first) {
        bulk_freed_forget(engine, engine->freed_first);
    }
}

// Resets what the job has recorded for other operations.
static void touch(const struct bulk *bulk, struct job_extra *extra)
{
    if (extra->bulk != bulk->view.id) {
        extra->bulk = bulk->view.id;
        extra->bulk_canceled = 0;
        extra->bulk_counted = false;
    }
}

bool bulk_has_counted(const struct bulk *bulk, const struct job *job)
{
    return job->extra && job->extra->bulk == bulk->view.id && job->extra->bulk_counted;
}

void bulk_count(const struct bulk *bulk, const struct job *job)
{
    if (job->extra) {
        touch(bulk, job->extra);
        job->extra->bulk_counted = true;
    }
}

// To be called when the job is canceled, or would be: finds the dependencies on which nothing else
// depends.
static void free_dependencies(struct engine *engine, const struct bulk *bulk, const struct job *job)
{
    for (const struct edge *edge = job->extra ? job->extra->dependencies : NULL; edge;
         edge = edge->next_dependency) {
        struct job_extra *extra = edge->dependency->extra;
        engine_step(engine);
        touch(bulk, extra);
        extra->bulk_canceled++;
        uint32_t left = bulk->request.dry_run ? extra->dependent_count - extra->bulk_canceled
                                              : extra->dependent_count - 1;
        if (left == 0 && !extra->freed) {
            freed_insert(engine, edge->dependency);
        }
    }
}

enum status bulk_cancel_one(struct engine *engine, const struct bulk *bulk, struct job *job,
                            int64_t now_us, bool *did)
{
    const struct job_extra *extra = job->extra;
    bool held = extra && extra->dependent_count && !(bulk->request.dry_run && extra->freed);
    *did = job->state != JOB_COMPLETE && !held;
    if (!*did) {
        return STATUS_OK;
    }
    if (!bulk->request.dry_run && leave_reserve(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    free_dependencies(engine, bulk, job);
    if (!bulk->request.dry_run) {
        cancel_job(engine, job, now_us);
    }
    return STATUS_OK;
}

void bulk_progress_to_save(const struct bulk *bulk, struct bulk_view *view,
                           struct bulk_cursor *cursor)
{
    *view = bulk->view;
    *cursor = bulk->cursor;
    if (bulk->request.act != BULK_CANCEL || (view->done && !view->stopped)) {
        return;
    }
    *cursor = (struct bulk_cursor){ .stage = bulk_first_stage(&bulk->request.filter) };
    if (!view->done) {
        // The walk begins again. It does not meet jobs that were canceled, so they remain counted.
        view->changed = view->dry_run ? 0 : view->changed;
        view->matched = view->changed;
        view->looked_at = view->changed;
    }
}
