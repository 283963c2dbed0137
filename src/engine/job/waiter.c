// SPDX-License-Identifier: MIT
#include "engine/job/waiter.h"

#include "engine/job/job.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

#include <assert.h>

struct slice waiter_key(const void *waiter)
{
    const struct waiter *of = waiter;
    return slice_make(&of->id, sizeof(of->id));
}

static struct waiter *find(const struct engine *engine, uint64_t id)
{
    return map_find(&engine->waiters, slice_make(&id, sizeof(id)));
}

static void waiter_free(struct engine *engine, struct waiter *waiter)
{
    map_remove(&engine->waiters, waiter_key(waiter));
    mem_free(engine->allocator, waiter, sizeof(*waiter));
}

void waiters_forget(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job_rare(job);
    while (rare && rare->waiters) {
        struct waiter *waiter = rare->waiters;
        rare->waiters = waiter->next;
        waiter_free(engine, waiter);
    }
}

static struct waiter *reversed(struct waiter *list)
{
    struct waiter *out = NULL;
    while (list) {
        struct waiter *next = list->next;
        list->next = out;
        out = list;
        list = next;
    }
    return out;
}

void waiters_finish(struct engine *engine, struct job *job, int64_t when_us, struct slice state)
{
    struct job_rare *rare = job_rare(job);
    if (!rare || !rare->waiters) {
        return;
    }
    rare->waiters = reversed(rare->waiters);
    struct event event = { .kind = EVENT_FINISHED,
                           .channels = EVENT_TO_WAITER,
                           .when_us = when_us,
                           .jid = job_jid(job),
                           .state = state };
    if (job->state == JOB_COMPLETE) {
        event.result = slice_make(job->extra->result, job->extra->result_size);
    } else if (job->state == JOB_FAILED) {
        struct job_view view = { 0 };
        failure_view(job->extra->failure, &view);
        event.group = view.failure_group;
        event.message = view.failure_message;
    }
    for (const struct waiter *at = rare->waiters; at; at = at->next) {
        event.waiter = at->id;
        event.first = at == rare->waiters;
        engine_emit(engine, &event);
    }
    waiters_forget(engine, job);
}

enum status engine_wait(struct engine *engine, int64_t now_us, struct slice jid, uint64_t id,
                        bool *finished, struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (!status && find(engine, id)) {
        status = error_set(error, STATUS_INVALID, "waiter %llu waits for a job already",
                           (unsigned long long)id);
    }
    if (status) {
        return status;
    }
    *finished = job->state == JOB_COMPLETE || job->state == JOB_FAILED;
    if (*finished) {
        return STATUS_OK;
    }
    struct waiter *waiter =
        job_reserve_rare(engine, job) ? NULL : mem_alloc(engine->allocator, sizeof(*waiter));
    if (!waiter) {
        return engine_no_memory(error);
    }
    *waiter = (struct waiter){ .next = job->extra->rare->waiters, .job = job, .id = id };
    if (map_insert(&engine->waiters, waiter)) {
        mem_free(engine->allocator, waiter, sizeof(*waiter));
        return engine_no_memory(error);
    }
    job->extra->rare->waiters = waiter;
    return STATUS_OK;
}

void engine_wait_end(struct engine *engine, uint64_t id)
{
    struct waiter *waiter = find(engine, id);
    if (waiter) {
        struct waiter **at = &job_rare(waiter->job)->waiters;
        while (*at != waiter) {
            assert(*at);
            at = &(*at)->next;
        }
        *at = waiter->next;
        waiter_free(engine, waiter);
    }
}
