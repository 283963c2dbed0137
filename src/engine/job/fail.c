// SPDX-License-Identifier: MIT
// Fail, retry and unfail.
#include "base/hash.h"
#include "engine/dedup/settled.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/job/put.h"
#include "engine/job/requeue.h"
#include "engine/job/waiter.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/metrics.h"
#include "engine/measure/stats.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/cascade.h"
#include "engine/relations/failure.h"
#include "engine/relations/group.h"
#include "engine/state.h"

// Finds the job that is to fail: the holder's, or for an operator any job that has not failed.
static enum status find_to_fail(const struct engine *engine, const struct fail_request *request,
                                struct settling *out, struct error *error)
{
    const struct holder *holder = &request->holder;
    if (!request->forced) {
        return settled_check(engine, holder, SETTLED_FAIL, out, error);
    }
    enum status status = name_check_if_given(holder->worker, "worker", error);
    if (!status) {
        status = job_find(engine, holder->jid, &out->job, error);
    }
    const struct job *job = out->job;
    if (!status && (job->state == JOB_FAILED || !job->queue)) {
        status = error_set(error, STATUS_STATE, "job %.*s cannot be failed: it is %s%s",
                           SLICE_PRINT(holder->jid), job_state_name(job->state),
                           job->queue ? " already" : " and in no queue");
    }
    return status;
}

// Notifies a holder whose job an operator fails.
static void announce_lock_lost(struct engine *engine, int64_t now_us,
                               const struct fail_request *request, const struct job *job)
{
    if (request->forced && job_lease(job) &&
        !slice_equal(worker_name(job_lease(job)->worker), request->holder.worker)) {
        lease_announce_lost(engine, job, now_us);
    }
}

// Removes what only complete jobs have.
static void uncomplete(struct engine *engine, struct job *job)
{
    if (job->extra) {
        job_drop_result(engine, job);
    }
    quota_count(engine, job);
}

enum status engine_fail(struct engine *engine, int64_t now_us, const struct fail_request *request,
                        struct error *error)
{
    struct settling settling = { .job = NULL };
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, request->group, "group", error);
    }
    if (!status) {
        status = data_check(request->message, error);
    }
    if (!status) {
        status = data_check(request->data, error);
    }
    if (!status) {
        status = find_to_fail(engine, request, &settling, error);
    }
    if (status || settling.repeated) {
        return status;
    }
    struct job *job = settling.job;
    const struct slice worker = request->holder.worker;
    const struct failure_words words = {
        .group = request->group, .message = request->message, .worker = worker, .when_us = now_us
    };
    struct failing failing;
    char *data = NULL;
    if (request->data.size && job_copy_data(engine, job, request->data, &data)) {
        return engine_no_memory(error);
    }
    if (leave_reserve(engine, job) || failing_reserve(engine, job, job->queue, &words, &failing)) {
        mem_free(engine->allocator, data, data ? request->data.size : 0);
        engine_settle(engine);
        return engine_no_memory(error);
    }
    bool was_complete = job->state == JOB_COMPLETE;
    announce_lock_lost(engine, now_us, request, job);
    failure_announce(engine, job, EVENT_TO_LOG | (job->tracked ? EVENT_TO_TRACKER : 0), worker,
                     &words);
    failing_leave(engine, job, &failing);
    if (request->data.size) {
        job_set_data(engine, job, data, request->data.size);
    }
    if (!request->forced) {
        settled_note(job, &settling, SETTLED_FAIL, 0);
    }
    failing_apply(engine, job, &failing);
    if (was_complete) {
        uncomplete(engine, job);
    }
    waiters_finish(engine, job, now_us, SLICE("failed"));
    engine_settle(engine);
    cascade_run(engine);
    return STATUS_OK;
}

// No retries are left: the job fails in the queue in which it would have been retried.
static enum status retry_fail(struct engine *engine, int64_t now_us,
                              const struct retry_request *request, struct settling *settling,
                              struct queue *to, struct error *error)
{
    struct job *job = settling->job;
    char group[EXHAUSTED_SIZE], message[EXHAUSTED_SIZE];
    struct failure_words words = {
        .group = exhausted_group(SLICE("failed-retries-"), queue_name(to), group),
        .message = exhausted_message(queue_name(job->queue), message),
        .when_us = now_us,
    };
    if (request->has_failure) {
        words.group = request->group;
        words.message = request->message;
        words.worker = request->holder.worker;
    }
    struct failing failing;
    if (leave_reserve(engine, job) || failing_reserve(engine, job, to, &words, &failing)) {
        return engine_no_memory(error);
    }
    failing.entry.worker = SLICE_EMPTY;
    unsigned followers = engine_followers(engine, job->tracked);
    if (followers) {
        failure_announce(engine, job, followers, words.worker, &words);
    }
    failing_leave(engine, job, &failing);
    job_move_to(engine, job, to);
    job->remaining--;
    settled_note(job, settling, SETTLED_RETRY, job->remaining);
    failing_apply(engine, job, &failing);
    waiters_finish(engine, job, now_us, SLICE("failed"));
    return STATUS_OK;
}

// How long the job waits for its next attempt.
static int64_t retry_delay(const struct engine *engine, int64_t now_us,
                           const struct retry_request *request, const struct job *job)
{
    if (request->has_delay || !job_has_options(engine, job)) {
        return request->has_delay ? request->delay_us : 0;
    }
    struct job_options options;
    job_options_in_effect(engine, job, &options);
    int64_t delay_us = backoff_delay(&options.backoff, job->attempts ? job->attempts : 1,
                                     hash_mix(request->seed + job->id));
    return delay_us < ENGINE_TIME_MAX - now_us ? delay_us : ENGINE_TIME_MAX - now_us;
}

static void count_retry(struct engine *engine, struct queue *queue, int64_t now_us)
{
    struct stats_day *day = stats_find(queue, now_us);
    day->retries++;
    stats_changed(engine, queue, day);
}

static enum status retry_again(struct engine *engine, int64_t now_us,
                               const struct retry_request *request, struct settling *settling,
                               struct queue *to, struct error *error)
{
    struct job *job = settling->job;
    struct failure *failure = NULL;
    if (request->has_failure) {
        failure = failure_new(engine, &(struct failure_words){ .group = request->group,
                                                               .message = request->message,
                                                               .worker = request->holder.worker,
                                                               .when_us = now_us });
    }
    int64_t delay_us = retry_delay(engine, now_us, request, job);
    const struct history_entry entry = {
        .kind = HISTORY_RETRIED,
        .when_us = now_us,
        .until_us = delay_us > 0 ? now_us + delay_us : 0,
        .worker = request->holder.worker,
        .group = request->has_failure ? request->group : SLICE_EMPTY,
        .data = request->has_failure ? request->message : SLICE_EMPTY
    };
    const struct place place =
        place_for(job, to, job->extra && job->extra->dependency_count, delay_us > 0);
    if ((request->has_failure && (!failure || job_reserve_extra(engine, job))) ||
        history_reserve(engine, job, &entry, 1) || leave_reserve(engine, job) ||
        place_reserve(engine, &place) ||
        (!request->uncounted && stats_reserve(engine, to, now_us))) {
        failure_free(engine, failure);
        return engine_no_memory(error);
    }
    history_append(engine, job, &entry);
    metrics_retried(engine, to);
    job_take_out(engine, job);
    job_move_to(engine, job, to);
    if (!request->uncounted) {
        job->remaining--;
        count_retry(engine, to, now_us);
    }
    if (failure) {
        failure_free(engine, job->extra->failure);
        job->extra->failure = failure;
    }
    place_job(engine, job, now_us, delay_us);
    settled_note(job, settling, SETTLED_RETRY, job->remaining);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    if (engine_wanted(engine, EVENT_TO_WATCHER)) {
        engine_emit(engine, &(struct event){ .kind = EVENT_RETRIED,
                                             .channels = EVENT_TO_WATCHER,
                                             .when_us = now_us,
                                             .jid = job_jid(job),
                                             .queue = queue_name(to),
                                             .worker = request->holder.worker,
                                             .group = entry.group,
                                             .message = entry.data });
    }
    return STATUS_OK;
}

enum status engine_retry(struct engine *engine, int64_t now_us, const struct retry_request *request,
                         int32_t *remaining, struct error *error)
{
    struct settling settling;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new_if_given(engine, request->to, "queue", error);
    }
    if (!status) {
        status = delay_check(now_us, request->delay_us, error);
    }
    if (!status && request->has_failure) {
        status = name_check_new(engine, request->group, "group", error);
    }
    if (!status && request->has_failure) {
        status = data_check(request->message, error);
    }
    if (!status) {
        status = settled_check(engine, &request->holder, SETTLED_RETRY, &settling, error);
    }
    if (status) {
        return status;
    }
    if (settling.repeated) {
        *remaining = settling.outcome;
        return STATUS_OK;
    }
    struct job *job = settling.job;
    struct queue *to = job->queue;
    if (request->to.size && queue_acquire(engine, request->to, &to, error)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    if (queue_reserve_known(engine, to)) {
        status = engine_no_memory(error);
    }
    if (!status) {
        bool again = job->remaining > 0 || request->uncounted;
        status = again ? retry_again(engine, now_us, request, &settling, to, error)
                       : retry_fail(engine, now_us, request, &settling, to, error);
    }
    if (!status) {
        queue_make_known(engine, to, now_us);
        *remaining = job->remaining;
    } else {
        queue_abandon(engine, to);
    }
    engine_settle(engine);
    cascade_run(engine);
    return status;
}

enum status engine_unfail(struct engine *engine, int64_t now_us, struct slice name,
                          struct slice group_name, size_t count, size_t *moved, struct error *error)
{
    *moved = 0;
    count = count < UNFAIL_MAX ? count : UNFAIL_MAX;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, name, "queue", error);
    }
    if (!status) {
        status = name_check(group_name, "group", error);
    }
    const struct group *group = status ? NULL : map_find(&engine->groups, group_name);
    if (!group || count == 0) {
        return status;
    }
    struct queue *queue;
    status = queue_acquire(engine, name, &queue, error);
    if (status) {
        engine_settle(engine);
        return status;
    }
    // Jobs are moved one by one: if memory runs out, some have been moved. Jobs whose lock another
    // job holds stay, and precede those that are visited next.
    size_t kept = 0;
    struct index_node *node;
    while (*moved < count && kept < UNFAIL_KEPT_MAX &&
           (group = map_find(&engine->groups, group_name)) &&
           (node = index_at(&group->jobs, kept))) {
        status = job_requeue(engine, now_us, job_of_node(node), queue, error);
        engine_settle(engine);
        if (status == STATUS_NO_MEMORY) {
            break;
        }
        ++*(status ? &kept : moved);
    }
    if (*moved == 0) {
        queue_abandon(engine, queue);
    }
    engine_settle(engine);
    return *moved ? STATUS_OK : status;
}

enum status engine_unfail_job(struct engine *engine, int64_t now_us, struct slice jid,
                              struct error *error)
{
    struct job *job = NULL;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (!status && job->state != JOB_FAILED) {
        status = error_set(error, STATUS_STATE, "job %.*s has not failed: %s", SLICE_PRINT(jid),
                           job_state_name(job->state));
    }
    if (!status) {
        status = job_requeue(engine, now_us, job, job->queue, error);
    }
    engine_settle(engine);
    return status;
}
