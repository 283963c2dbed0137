// SPDX-License-Identifier: MIT
// Fail, retry and unfail.
#include "engine/failure.h"
#include "engine/group.h"
#include "engine/history.h"
#include "engine/job.h"
#include "engine/lease.h"
#include "engine/put.h"
#include "engine/queue.h"
#include "engine/state.h"
#include "engine/worker.h"

enum status engine_fail(struct engine *engine, int64_t now_us, const struct fail_request *request,
                        struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(request->group, "group", error);
    }
    if (!status) {
        status = data_check(request->message, error);
    }
    if (!status) {
        status = data_check(request->data, error);
    }
    if (!status) {
        status = lease_check(engine, &request->holder, &job, error);
    }
    if (status) {
        return status;
    }
    const struct slice worker = request->holder.worker;
    const struct failure_words words = {
        .group = request->group, .message = request->message, .worker = worker, .when_us = now_us
    };
    const struct history_entry entry = {
        .kind = HISTORY_FAILED, .when_us = now_us, .worker = worker, .group = request->group
    };
    struct failing failing;
    char *data;
    if (history_reserve(engine, job, &entry, 1) || bytes_copy(engine, request->data, &data)) {
        return engine_no_memory(error);
    }
    if (failing_reserve(engine, job, job->queue, &words, &failing)) {
        mem_free(engine->allocator, data, data ? request->data.size : 0);
        engine_settle(engine);
        return engine_no_memory(error);
    }
    failure_announce(engine, job, EVENT_TO_LOG | (job->tracked ? EVENT_TO_TRACKER : 0), worker,
                     &words);
    history_append(engine, job, &entry);
    // The worker may go with its last lease, and its name may be what the caller gave.
    job_leave(engine, job);
    if (request->data.size) {
        job_set_data(engine, job, data, request->data.size);
    }
    failing_apply(engine, job, &failing);
    engine_settle(engine);
    return STATUS_OK;
}

// No retries are left: the job fails in the queue that it was to be retried in.
static enum status retry_fail(struct engine *engine, int64_t now_us,
                              const struct retry_request *request, struct job *job,
                              struct queue *to, struct error *error)
{
    char group[EXHAUSTED_SIZE], message[EXHAUSTED_SIZE];
    struct failure_words words = {
        .group = exhausted_group(queue_name(to), group),
        .message = exhausted_message(queue_name(job->queue), message),
        .when_us = now_us,
    };
    if (request->has_failure) {
        words.group = request->group;
        words.message = request->message;
        words.worker = request->holder.worker;
    }
    const struct history_entry entry = { .kind = HISTORY_FAILED,
                                         .when_us = now_us,
                                         .group = words.group };
    struct failing failing;
    if (history_reserve(engine, job, &entry, 1) ||
        failing_reserve(engine, job, to, &words, &failing)) {
        return engine_no_memory(error);
    }
    if (job->tracked) {
        failure_announce(engine, job, EVENT_TO_TRACKER, words.worker, &words);
    }
    history_append(engine, job, &entry);
    job_leave(engine, job);
    job_move_to(engine, job, to);
    job->remaining--;
    failing_apply(engine, job, &failing);
    return STATUS_OK;
}

static enum status retry_again(struct engine *engine, int64_t now_us,
                               const struct retry_request *request, struct job *job,
                               struct queue *to, struct error *error)
{
    struct failure *failure = NULL;
    if (request->has_failure) {
        failure = failure_new(engine, &(struct failure_words){ .group = request->group,
                                                               .message = request->message,
                                                               .worker = request->holder.worker,
                                                               .when_us = now_us });
    }
    if ((request->has_failure && (!failure || job_reserve_extra(engine, job))) ||
        index_reserve(
            place_for(to, job->extra && job->extra->dependency_count, request->delay_us > 0), 1)) {
        failure_free(engine, failure);
        return engine_no_memory(error);
    }
    job_leave(engine, job);
    job_move_to(engine, job, to);
    job->remaining--;
    if (failure) {
        failure_free(engine, job->extra->failure);
        job->extra->failure = failure;
    }
    place_job(engine, job, now_us, request->delay_us);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status engine_retry(struct engine *engine, int64_t now_us, const struct retry_request *request,
                         int32_t *remaining, struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status && request->to.size) {
        status = name_check(request->to, "queue", error);
    }
    if (!status) {
        status = delay_check(now_us, request->delay_us, error);
    }
    if (!status && request->has_failure) {
        status = name_check(request->group, "group", error);
    }
    if (!status && request->has_failure) {
        status = data_check(request->message, error);
    }
    if (!status) {
        status = lease_check(engine, &request->holder, &job, error);
    }
    if (status) {
        return status;
    }
    struct queue *to = job->queue;
    if (request->to.size && queue_acquire(engine, request->to, &to, error)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    if (queue_reserve_known(engine, to)) {
        status = engine_no_memory(error);
    }
    if (!status) {
        status = job->remaining > 0 ? retry_again(engine, now_us, request, job, to, error)
                                    : retry_fail(engine, now_us, request, job, to, error);
    }
    if (!status) {
        queue_make_known(engine, to, now_us);
        *remaining = job->remaining;
    } else {
        queue_abandon(engine, to);
    }
    engine_settle(engine);
    return status;
}

static enum status unfail_one(struct engine *engine, int64_t now_us, struct job *job,
                              struct queue *queue)
{
    const struct history_entry entry = { .kind = HISTORY_PUT,
                                         .when_us = now_us,
                                         .queue = queue_name(queue) };
    bool depends = job->extra->dependency_count > 0;
    if (history_reserve(engine, job, &entry, 1) ||
        index_reserve(place_for(queue, depends, false), 1)) {
        return STATUS_NO_MEMORY;
    }
    failure_forget(engine, job);
    job_leave(engine, job);
    job_move_to(engine, job, queue);
    job->remaining = job->retries;
    job->time_us = now_us;
    history_append(engine, job, &entry);
    place_job(engine, job, now_us, 0);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status engine_unfail(struct engine *engine, int64_t now_us, struct slice name,
                          struct slice group_name, size_t count, size_t *moved, struct error *error)
{
    *moved = 0;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(name, "queue", error);
    }
    if (!status) {
        status = name_check(group_name, "group", error);
    }
    const struct group *group = status ? NULL : map_find(&engine->groups, group_name);
    if (!group || count == 0) {
        return status;
    }
    struct queue *queue;
    if (queue_acquire(engine, name, &queue, error)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    // Each job on its own: of a thousand that are to be moved some may have been when memory ends.
    for (; *moved < count && (group = map_find(&engine->groups, group_name)); ++*moved) {
        if (queue_reserve_known(engine, queue) ||
            unfail_one(engine, now_us, job_of_node(index_first(&group->jobs)), queue)) {
            break;
        }
        queue_make_known(engine, queue, now_us);
        engine_settle(engine);
    }
    engine_settle(engine);
    if (*moved == 0) {
        queue_abandon(engine, queue);
        return engine_no_memory(error);
    }
    return STATUS_OK;
}
