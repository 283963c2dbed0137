// SPDX-License-Identifier: MIT
// A failed job whose dependents must not keep waiting is in a list until these have been processed.
// Adding it needs no memory, so a job never fails to fail because of its dependents. Processing
// them may fail, and is repeated by the next call.
#include "engine/relations/cascade.h"

#include "engine/due.h"
#include "engine/job/cancel.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/queue/queue.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/group.h"
#include "engine/state.h"

#include <assert.h>
#include <stdio.h>

#define DEPENDENCY_FAILED SLICE("dependency-failed")

enum {
    SLICE_JOBS = 1000,
    MESSAGE_SIZE = ENGINE_NAME_SIZE_MAX + 64,
};

static enum dependency_policy policy_of(const struct engine *engine, const struct job *job)
{
    struct job_options options;
    if (!job_has_options(engine, job)) {
        return DEPENDENCY_HOLD;
    }
    job_options_in_effect(engine, job, &options);
    return options.dependency_policy;
}

static bool is_concerned(const struct engine *engine, const struct edge *edge)
{
    return edge->dependent->state == JOB_DEPENDS &&
           policy_of(engine, edge->dependent) > DEPENDENCY_HOLD;
}

void cascade_insert(struct engine *engine, struct job *job)
{
    struct job_extra *extra = job->extra;
    assert(extra);
    if (extra->cascades) {
        return;
    }
    struct job *last = engine->cascade_last;
    extra->cascades = true;
    if (!last || index_key_less(last->node.key, job->node.key)) {
        extra->cascade_next = NULL;
        *(last ? &last->extra->cascade_next : &engine->cascade_first) = job;
        engine->cascade_last = job;
        return;
    }
    struct job **at = &engine->cascade_first;
    while (index_key_less((*at)->node.key, job->node.key)) {
        at = &(*at)->extra->cascade_next;
        engine_step(engine);
    }
    extra->cascade_next = *at;
    *at = job;
}

void cascade_note(struct engine *engine, const struct edge *edge)
{
    // The mark is stored.
    if (!engine->loads && is_concerned(engine, edge)) {
        cascade_insert(engine, edge->dependency);
        job_changed(engine, edge->dependency, JOB_DIRTY_HEAD);
    }
}

void cascade_note_placed(struct engine *engine, const struct job *job)
{
    const struct job_extra *extra = job->extra;
    for (const struct edge *edge = extra->members_failed ? extra->dependencies : NULL; edge;
         edge = edge->next_dependency) {
        engine_step(engine);
        if (edge->dependency->state == JOB_FAILED) {
            cascade_note(engine, edge);
        }
    }
}

void cascade_note_all(struct engine *engine, struct job *failed)
{
    for (const struct edge *edge = failed->extra->dependents; edge && !failed->extra->cascades;
         edge = edge->next_dependent) {
        engine_step(engine);
        cascade_note(engine, edge);
    }
}

void cascade_forget(struct engine *engine, struct job *job)
{
    if (!job->extra->cascades) {
        return;
    }
    struct job *before = NULL;
    struct job **at = &engine->cascade_first;
    while (*at != job) {
        assert(*at);
        before = *at;
        at = &before->extra->cascade_next;
        engine_step(engine);
    }
    *at = job->extra->cascade_next;
    if (engine->cascade_last == job) {
        engine->cascade_last = before;
    }
    job->extra->cascades = false;
}

static enum status fail_too(struct engine *engine, struct job *job, const struct job *failed,
                            int64_t when_us)
{
    char text[MESSAGE_SIZE];
    int size = snprintf(text, sizeof(text), "Job %.*s failed, and this one depends on it",
                        SLICE_PRINT(job_jid(failed)));
    const struct failure_words words = { .group = DEPENDENCY_FAILED,
                                         .message = slice_make(text, (size_t)size),
                                         .when_us = when_us };
    return fail_by_itself(engine, job, &words);
}

// Whether a failed job was to be canceled, failed only because jobs depended on it, and has no
// dependents any more.
static bool is_to_be_canceled(const struct engine *engine, const struct job *job)
{
    return job->state == JOB_FAILED && job->extra->dependent_count == 0 &&
           job->extra->members_failed && policy_of(engine, job) == DEPENDENCY_CANCEL &&
           slice_equal(group_key(job->extra->group), DEPENDENCY_FAILED);
}

// Cancels a job. A job that failed because of it is checked again, and canceled in turn.
static enum status cancel_too(struct engine *engine, struct job *job, int64_t when_us)
{
    if (leave_reserve(engine, job)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    for (const struct edge *edge = job->extra->dependencies; edge; edge = edge->next_dependency) {
        struct job *dependency = edge->dependency;
        engine_step(engine);
        if (dependency->state == JOB_FAILED && dependency->extra->dependent_count == 1 &&
            !dependency->extra->cascades) {
            cascade_insert(engine, dependency);
            job_changed(engine, dependency, JOB_DIRTY_HEAD);
        }
    }
    cancel_job(engine, job, when_us);
    engine_settle(engine);
    return STATUS_OK;
}

// Processes one dependent of a failed job.
static enum status deal_with(struct engine *engine, struct edge *edge)
{
    struct job *job = edge->dependent;
    const struct job *failed = edge->dependency;
    int64_t failed_us = failed->extra->failure->when_us;
    int64_t when_us = failed_us > job->time_us ? failed_us : job->time_us;
    // With the client clock, or after the time was set back, that may be later than now, which
    // lanes must not see.
    if (engine->clock == ENGINE_CLOCK_SERVER) {
        engine->call_us = when_us < engine->now_us ? when_us : engine->now_us;
    }
    switch (policy_of(engine, job)) {
    case DEPENDENCY_RUN:
        return depends_pass(engine, edge, when_us);
    case DEPENDENCY_CANCEL:
        return job->extra->dependent_count == 0 ? cancel_too(engine, job, when_us)
                                                : fail_too(engine, job, failed, when_us);
    case DEPENDENCY_FAIL:
        return fail_too(engine, job, failed, when_us);
    case DEPENDENCY_UNSET:
    case DEPENDENCY_HOLD:
        break;
    }
    return STATUS_OK;
}

// A slice processes at least one dependent, or ends with one failed job, regardless of the steps.
static bool run(struct engine *engine)
{
    int done = 0;
    uint64_t start = engine->pool.steps;
    while (engine->cascade_first) {
        struct job *failed = engine->cascade_first;
        struct edge *next;
        for (struct edge *edge = failed->extra->dependents; edge; edge = next) {
            next = edge->next_dependent;
            engine_step(engine);
            if (!is_concerned(engine, edge)) {
                continue;
            }
            if (done >= SLICE_JOBS || (done && engine->pool.steps - start > DUE_SLICE_STEPS)) {
                engine->slice_full = true;
                return true;
            }
            if (deal_with(engine, edge)) {
                return true;
            }
            done++;
        }
        if (is_to_be_canceled(engine, failed)) {
            if (cancel_too(engine, failed, failed->extra->failure->when_us)) {
                return true;
            }
            done++;
        } else {
            cascade_forget(engine, failed);
            job_changed(engine, failed, JOB_DIRTY_HEAD);
        }
        if (engine->cascade_first &&
            (done >= SLICE_JOBS || engine->pool.steps - start > DUE_SLICE_STEPS)) {
            engine->slice_full = true;
            return true;
        }
    }
    return false;
}

bool cascade_run(struct engine *engine)
{
    int64_t call_us = engine->call_us;
    bool more = engine->cascade_first && run(engine);
    engine->call_us = call_us;
    return more;
}
