// SPDX-License-Identifier: MIT
#include "engine/relations/failure.h"

#include "engine/dedup/unique.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/job/waiter.h"
#include "engine/lease/lease.h"
#include "engine/measure/metrics.h"
#include "engine/measure/stats.h"
#include "engine/queue/queue.h"
#include "engine/relations/group.h"
#include "engine/state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static size_t failure_size(size_t group, size_t worker, size_t message)
{
    return sizeof(struct failure) + group + worker + message;
}

static char *put_bytes(char *at, struct slice bytes)
{
    if (bytes.size) {
        memcpy(at, bytes.data, bytes.size);
    }
    return at + bytes.size;
}

struct failure *failure_new(struct engine *engine, const struct failure_words *words)
{
    struct failure *failure =
        mem_alloc(engine->allocator,
                  failure_size(words->group.size, words->worker.size, words->message.size));
    if (failure) {
        failure->when_us = words->when_us;
        failure->group_size = (uint8_t)words->group.size;
        failure->worker_size = (uint8_t)words->worker.size;
        failure->message_size = (uint32_t)words->message.size;
        char *at = put_bytes(failure->bytes, words->group);
        at = put_bytes(at, words->worker);
        (void)put_bytes(at, words->message);
    }
    return failure;
}

void failure_free(struct engine *engine, struct failure *failure)
{
    if (failure) {
        mem_free(engine->allocator, failure,
                 failure_size(failure->group_size, failure->worker_size, failure->message_size));
    }
}

void failure_view(const struct failure *failure, struct job_view *view)
{
    if (failure) {
        const char *worker = failure->bytes + failure->group_size;
        view->failure_group = slice_make(failure->bytes, failure->group_size);
        view->failure_worker = slice_make(worker, failure->worker_size);
        view->failure_message = slice_make(worker + failure->worker_size, failure->message_size);
        view->failure_when_us = failure->when_us;
    }
}

// Concatenates three pieces.
static struct slice join(char text[EXHAUSTED_SIZE], struct slice first, struct slice name,
                         struct slice last)
{
    char *at = put_bytes(text, first);
    at = put_bytes(at, name);
    at = put_bytes(at, last);
    return slice_make(text, (size_t)(at - text));
}

struct slice exhausted_group(struct slice prefix, struct slice queue, char text[EXHAUSTED_SIZE])
{
    // A group's name has the same maximum size as any other name.
    struct slice whole = join(text, prefix, queue, SLICE_EMPTY);
    return slice_sub(whole, 0, ENGINE_NAME_SIZE_MAX);
}

struct slice exhausted_message(struct slice queue, char text[EXHAUSTED_SIZE])
{
    return join(text, SLICE("Job exhausted retries in queue \""), queue, SLICE("\""));
}

struct slice crashed_message(struct slice queue, unsigned crashes, char text[EXHAUSTED_SIZE])
{
    int size = snprintf(text, EXHAUSTED_SIZE, "Job crashed %u times in queue \"", crashes);
    char *at = put_bytes(text + size, queue);
    at = put_bytes(at, SLICE("\""));
    return slice_make(text, (size_t)(at - text));
}

enum status failing_reserve(struct engine *engine, struct job *job, struct queue *counted_in,
                            const struct failure_words *words, struct failing *out)
{
    if (job_reserve_extra(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    struct failing failing = { .counted_in = counted_in,
                               .entry = { .kind = HISTORY_FAILED,
                                          .when_us = words->when_us,
                                          .worker = words->worker,
                                          .group = words->group,
                                          .data = words->message } };
    const struct place place = { .queue = counted_in,
                                 .priority = job->priority,
                                 .state = JOB_FAILED };
    if (history_reserve(engine, job, &failing.entry, 1) || place_reserve(engine, &place)) {
        return STATUS_NO_MEMORY;
    }
    failing.failure = failure_new(engine, words);
    if (!failing.failure) {
        return STATUS_NO_MEMORY;
    }
    if (group_acquire(engine, words->group, &failing.group) ||
        stats_reserve(engine, counted_in, words->when_us)) {
        failing_cancel(engine, &failing);
        return STATUS_NO_MEMORY;
    }
    *out = failing;
    return STATUS_OK;
}

void failing_cancel(struct engine *engine, const struct failing *failing)
{
    failure_free(engine, failing->failure);
    if (failing->group) {
        group_settle(engine, failing->group);
    }
}

void failing_leave(struct engine *engine, struct job *job, const struct failing *failing)
{
    // First, because a worker may be removed with its last lease, and its name may be one of the
    // strings.
    history_append(engine, job, &failing->entry);
    job_take_out(engine, job);
}

void failing_apply(struct engine *engine, struct job *job, const struct failing *failing)
{
    assert(!job_lease(job) && failing->failure && failing->group);
    struct job_extra *extra = job->extra;
    failure_free(engine, extra->failure);
    extra->failure = failing->failure;
    job->state = JOB_FAILED;
    job->node.key = (struct index_key){ ++engine->sequence, job->id };
    group_add(engine, failing->group, job, engine->sequence);
    job_link(engine, job);
    unique_finished(engine, job);
    metrics_failed(engine, job, failing->failure->when_us);

    struct stats_day *day = stats_find(failing->counted_in, failing->failure->when_us);
    day->failures++;
    day->failed++;
    stats_changed(engine, failing->counted_in, day);
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

void failing_apply_and_notify(struct engine *engine, struct job *job, struct slice worker,
                              const struct failure_words *words, const struct failing *failing)
{
    failing_apply(engine, job, failing);
    if (job->tracked) {
        failure_announce(engine, job, EVENT_TO_TRACKER, worker, words);
    }
    failure_announce(engine, job, EVENT_TO_LOG, worker, words);
    waiters_finish(engine, job, words->when_us, SLICE("failed"));
}

enum status fail_by_itself(struct engine *engine, struct job *job,
                           const struct failure_words *words)
{
    struct failing failing;
    if (leave_reserve(engine, job) || failing_reserve(engine, job, job->queue, words, &failing)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    failing_leave(engine, job, &failing);
    failing_apply_and_notify(engine, job, SLICE_EMPTY, words, &failing);
    engine_settle(engine);
    return STATUS_OK;
}

void failure_announce(struct engine *engine, const struct job *job, unsigned channels,
                      struct slice worker, const struct failure_words *words)
{
    engine_emit(engine, &(struct event){ .kind = EVENT_FAILED,
                                         .channels = channels,
                                         .when_us = words->when_us,
                                         .jid = job_jid(job),
                                         .queue = queue_name(job->queue),
                                         .worker = worker,
                                         .group = words->group,
                                         .message = words->message });
}

void failure_forget(struct engine *engine, struct job *job)
{
    if (job->state != JOB_FAILED) {
        return;
    }
    struct stats_day *day = stats_find(job->queue, job->extra->failure->when_us);
    if (day) {
        day->failed--;
        stats_changed(engine, job->queue, day);
    }
}
