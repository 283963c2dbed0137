// SPDX-License-Identifier: MIT
#include "engine/lease/lease.h"

#include "engine/dedup/settled.h"
#include "engine/due.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/watch.h"
#include "engine/lease/worker.h"
#include "engine/measure/metrics.h"
#include "engine/measure/stats.h"
#include "engine/queue/queue.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum status lease_check(const struct engine *engine, const struct holder *holder, struct job **out,
                        struct error *error)
{
    enum status status = name_check_if_given(holder->worker, "worker", error);
    if (!status) {
        status = name_check_if_given(holder->queue, "queue", error);
    }
    if (!status) {
        status = job_find(engine, holder->jid, out, error);
    }
    if (status) {
        return status;
    }
    const struct job *job = *out;
    if (job->state != JOB_RUNNING) {
        return error_set(error, STATUS_STATE, "job %.*s is not running: %s",
                         SLICE_PRINT(holder->jid), job_state_name(job->state));
    }
    struct slice worker = worker_name(job_lease(job)->worker);
    if (!slice_equal(worker, holder->worker)) {
        return error_set(error, STATUS_STALE, "job %.*s has been given to another worker: %.*s",
                         SLICE_PRINT(holder->jid), SLICE_PRINT(worker));
    }
    if (holder->token && holder->token != job_lease(job)->token) {
        return error_set(error, STATUS_STALE,
                         "job %.*s has been leased anew: the token %llu is no longer valid",
                         SLICE_PRINT(holder->jid), (unsigned long long)holder->token);
    }
    if (holder->queue.size && !slice_equal(holder->queue, queue_name(job->queue))) {
        return error_set(error, STATUS_STALE, "job %.*s is running in another queue: %.*s",
                         SLICE_PRINT(holder->jid), SLICE_PRINT(queue_name(job->queue)));
    }
    return STATUS_OK;
}

enum status lease_reserve(struct engine *engine, struct queue *queue, struct worker *worker,
                          size_t count)
{
    if (slab_promise(&engine->leases, count) || index_reserve(&queue->leased, count) ||
        index_reserve(&worker->leases, count) || index_reserve(&engine->running, count)) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

struct index *lease_index(const struct engine *engine, const struct job *job)
{
    return job_lease(job)->grace && engine->clock == ENGINE_CLOCK_SERVER ? &job->queue->grace
                                                                         : &job->queue->leased;
}

// Inserts the lease into the indexes by its end. Room must have been reserved.
static void place_lease(struct engine *engine, struct job *job, int64_t end_us)
{
    job->node.key = time_key(end_us, job->id);
    index_insert(lease_index(engine, job), &job->node);
    due_update(engine, job->queue);
}

enum status lease_length_check(int64_t lease_us, struct error *error)
{
    return lease_us && (lease_us < LEASE_US_MIN || lease_us > LEASE_US_MAX)
               ? error_set(error, STATUS_INVALID,
                           "lease must be between 0.001 and %lld seconds, or 0",
                           (long long)(LEASE_US_MAX / 1000000))
               : STATUS_OK;
}

// The options in effect for a job, all UNSET if there are none.
static void options_for(const struct engine *engine, const struct job *job, struct job_options *out)
{
    if (job_has_options(engine, job)) {
        job_options_in_effect(engine, job, out);
    } else {
        *out = (struct job_options){ 0 };
    }
}

// When a run that begins now ends regardless of heartbeats, or 0.
static int64_t run_end(const struct job_options *options, int64_t now_us)
{
    bool reaches = options->timeout_us > 0 && options->timeout_us <= ENGINE_TIME_MAX - now_us;
    return reaches ? now_us + options->timeout_us : 0;
}

// How long a lease lasts: `own_us`, unless that is 0.
static int64_t length_of(const struct engine *engine, const struct queue *queue, int64_t own_us,
                         const struct job_options *options)
{
    return own_us                  ? own_us
           : options->lease_us > 0 ? options->lease_us
           : queue->has_heartbeat  ? queue->heartbeat_us
                                   : engine->config.heartbeat_us;
}

// How long a heartbeat renews the lease of a running job now.
static int64_t length_now(const struct engine *engine, const struct job *job)
{
    struct job_options options;
    options_for(engine, job, &options);
    return length_of(engine, job->queue, job_lease(job)->lease_us, &options);
}

// When a lease ends that is granted or renewed now.
static int64_t end_of(int64_t length_us, int64_t run_ends_us, int64_t now_us)
{
    int64_t end_us = now_us + length_us;
    return run_ends_us && end_us > run_ends_us ? run_ends_us : end_us;
}

void lease_insert(struct engine *engine, struct lease *lease)
{
    lease->node.key = time_key(lease->expires_us, lease->job->id);
    lease->all.key = (struct index_key){ lease->token, lease->job->id };
    index_insert(&lease->worker->leases, &lease->node);
    index_insert(&engine->running, &lease->all);
}

void lease_give(struct engine *engine, struct job *job, struct worker *worker, int64_t lease_us,
                int64_t now_us)
{
    struct lease *lease = slab_take(&engine->leases);
    assert(lease);
    struct job_options options;
    options_for(engine, job, &options);
    int64_t run_ends_us = run_end(&options, now_us);
    int64_t length_us = length_of(engine, job->queue, lease_us, &options);
    int64_t expires_us = end_of(length_us, run_ends_us, now_us);
    *lease = (struct lease){
        .worker = worker,
        .job = job,
        .lane = lane_find(engine, job->queue, job->domain),
        .token = ++engine->token,
        .expires_us = expires_us,
        .run_ends_us = run_ends_us,
        .lease_us = lease_us,
    };
    lease->lane->running++;
    assert(job->state != JOB_RUNNING);
    lease_insert(engine, lease);
    job->held = lease;
    job->state = JOB_RUNNING;
    job->node.key = lease->node.key;
    job_link(engine, job);
}

void lease_end(struct engine *engine, struct job *job)
{
    struct lease *lease = job_lease(job);
    struct worker *worker = lease->worker;
    assert(lease->job == job && lease->lane->running > 0);
    lease->lane->running--;
    if (lease->lane->queue->lanes_count) {
        lane_touch(engine, lease->lane);
    }
    watch_wake(engine, lease->lane->queue);
    index_remove(&worker->leases, &lease->node);
    index_remove(&engine->running, &lease->all);
    slab_give(&engine->leases, lease);
    job->held = NULL;
    worker_settle(engine, worker);
    if (engine->sink.lease_ended) {
        engine->sink.lease_ended(engine->sink.context, job_jid(job));
    }
}

void job_take_out(struct engine *engine, struct job *job)
{
    job_unlink(engine, job);
    if (job_lease(job)) {
        lease_end(engine, job);
    }
}

void lease_announce_lost(struct engine *engine, const struct job *job, int64_t when_us)
{
    engine_emit(engine, &(struct event){ .kind = EVENT_LOCK_LOST,
                                         .channels = EVENT_TO_WORKER | EVENT_TO_LOG,
                                         .when_us = when_us,
                                         .jid = job_jid(job),
                                         .worker = worker_name(job_lease(job)->worker) });
}

// The first step: notifies the holder.
static void announce_end(struct engine *engine, struct job *job, int64_t when_us)
{
    unsigned followers = engine_followers(engine, job->tracked);
    if (followers) {
        engine_emit(engine, &(struct event){ .kind = EVENT_STALLED,
                                             .channels = followers,
                                             .when_us = when_us,
                                             .jid = job_jid(job),
                                             .queue = queue_name(job->queue) });
    }
    lease_announce_lost(engine, job, when_us);
    history_append(engine, job,
                   &(struct history_entry){ .kind = HISTORY_TIMED_OUT, .when_us = when_us });
    struct stats_day *day = stats_find(job->queue, when_us);
    day->lost_leases++;
    metrics_lost(engine, job->queue);
    stats_changed(engine, job->queue, day);
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

static enum status begin_grace(struct engine *engine, struct job *job, int64_t when_us)
{
    bool server = engine->clock == ENGINE_CLOCK_SERVER;
    const struct history_entry entry = { .kind = HISTORY_TIMED_OUT, .when_us = when_us };
    if (index_reserve(server ? &job->queue->grace : &job->queue->leased, 1) ||
        history_reserve(engine, job, &entry, 1) || stats_reserve(engine, job->queue, when_us)) {
        return STATUS_NO_MEMORY;
    }
    announce_end(engine, job, when_us);
    index_remove(lease_index(engine, job), &job->node);
    job_lease(job)->grace = true;
    place_lease(engine, job, when_us + engine->config.grace_us);
    engine_settle(engine);
    return STATUS_OK;
}

// The retries are exhausted, or the crashes are too many.
static enum status lose_and_fail(struct engine *engine, struct job *job, int64_t when_us,
                                 bool notify_first)
{
    char group[EXHAUSTED_SIZE], message[EXHAUSTED_SIZE];
    struct slice queue = queue_name(job->queue);
    struct failure_words words = {
        .group = exhausted_group(SLICE("failed-retries-"), queue, group),
        .message = exhausted_message(queue, message),
        .when_us = when_us,
    };
    if (job->remaining > 0) {
        words.group = exhausted_group(SLICE("failed-crashes-"), queue, group);
        words.message = crashed_message(queue, job->crashes + 1U, message);
    }
    const struct history_entry entries[] = {
        { .kind = HISTORY_TIMED_OUT, .when_us = when_us },
        { .kind = HISTORY_FAILED, .group = words.group, .data = words.message },
    };
    char worker[ENGINE_NAME_SIZE_MAX];
    struct slice name = worker_name(job_lease(job)->worker);
    memcpy(worker, name.data, name.size);
    struct failing failing;
    if (leave_reserve(engine, job) || history_reserve(engine, job, entries, 2) ||
        failing_reserve(engine, job, job->queue, &words, &failing)) {
        return STATUS_NO_MEMORY;
    }
    if (notify_first) {
        announce_end(engine, job, when_us);
    }
    failing_leave(engine, job, &failing);
    job->remaining--;
    count_up(&job->crashes);
    failing_apply_and_notify(engine, job, slice_make(worker, name.size), &words, &failing);
    return STATUS_OK;
}

// Whether one more lost lease exceeds the limit.
static bool crashes_too_often(const struct engine *engine, const struct job *job)
{
    if (!job_has_options(engine, job)) {
        return false;
    }
    struct job_options options;
    job_options_in_effect(engine, job, &options);
    return options.crashes_max > 0 && job->crashes + 1 >= options.crashes_max;
}

bool lease_loss_is_survived(const struct engine *engine, const struct job *job)
{
    return job->remaining > 0 && !crashes_too_often(engine, job);
}

static enum status lose(struct engine *engine, struct job *job, int64_t when_us, bool notify_first)
{
    const struct history_entry entry = { .kind = HISTORY_TIMED_OUT, .when_us = when_us };
    if (leave_reserve(engine, job) || line_reserve(engine, job->queue, job->domain) ||
        history_reserve(engine, job, &entry, 1) ||
        (notify_first && stats_reserve(engine, job->queue, when_us))) {
        return STATUS_NO_MEMORY;
    }
    if (notify_first) {
        announce_end(engine, job, when_us);
    }
    int64_t end_us = time_of_key(job->node.key);
    job_take_out(engine, job);
    job->remaining--;
    count_up(&job->crashes);
    job->state = JOB_STALLED;
    job->node.key = line_key(LINE_LOST, 0, end_us, job->id);
    job_link(engine, job);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status lease_run_out(struct engine *engine, struct job *job, int64_t when_us, bool no_grace)
{
    bool told = job_lease(job)->grace;
    if (!told && !no_grace && engine->config.grace_us > 0) {
        return begin_grace(engine, job, when_us);
    }
    bool lasts = lease_loss_is_survived(engine, job);
    enum status status =
        lasts ? lose(engine, job, when_us, !told) : lose_and_fail(engine, job, when_us, !told);
    engine_settle(engine);
    return status;
}

// Renews the lease and ends its grace. Room must have been reserved.
static void move_lease(struct engine *engine, struct job *job, int64_t now_us)
{
    struct lease *lease = job_lease(job);
    index_remove(lease_index(engine, job), &job->node);
    index_remove(&lease->worker->leases, &lease->node);
    lease->grace = false;
    lease->expires_us = end_of(length_now(engine, job), lease->run_ends_us, now_us);
    lease->node.key = time_key(lease->expires_us, job->id);
    index_insert(&lease->worker->leases, &lease->node);
    place_lease(engine, job, lease->expires_us);
}

enum status engine_heartbeat(struct engine *engine, int64_t now_us,
                             const struct heartbeat_request *request, int64_t *expires_us,
                             struct error *error)
{
    const struct holder *holder = &request->holder;
    struct slice data = request->data;
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = data_check(data, error);
    }
    if (!status && request->has_lease) {
        status = lease_length_check(request->lease_us, error);
    }
    if (!status) {
        status = lease_check(engine, holder, &job, error);
    }
    if (status) {
        return status;
    }
    struct lease *lease = job_lease(job);
    if (lease->run_ends_us && now_us >= lease->run_ends_us) {
        return error_set(error, STATUS_STALE, "job %.*s has reached its run timeout",
                         SLICE_PRINT(holder->jid));
    }
    char *copy = NULL;
    if (index_reserve(&job->queue->leased, 1) || index_reserve(&lease->worker->leases, 1) ||
        worker_reserve_seen(engine) || (data.size && job_copy_data(engine, job, data, &copy))) {
        engine_settle(engine);
        return engine_no_memory(error);
    }
    lease->lease_us = request->has_lease ? request->lease_us : lease->lease_us;
    move_lease(engine, job, now_us);
    worker_seen(engine, lease->worker, now_us);
    if (data.size) {
        job_set_data(engine, job, copy, data.size);
    }
    job_changed(engine, job, JOB_DIRTY_HEAD);
    engine_settle(engine);
    *expires_us = lease->expires_us;
    return STATUS_OK;
}

// Moves a lease to another end, and ends its grace.
static enum status extend(struct engine *engine, struct job *job, int64_t now_us)
{
    struct lease *lease = job_lease(job);
    if (index_reserve(&job->queue->leased, 1) || index_reserve(&lease->worker->leases, 1)) {
        return STATUS_NO_MEMORY;
    }
    move_lease(engine, job, now_us);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    engine_settle(engine);
    return STATUS_OK;
}

// Extends the leases of an index that ended by `now_us` and may be extended.
static enum status extend_all(struct engine *engine, const struct index *index, int64_t now_us)
{
    size_t skipped = 0;
    struct index_node *node;
    while ((node = index_at(index, skipped)) && time_of_key(node->key) <= now_us) {
        struct job *job = job_of_node(node);
        int64_t run_ends_us = job_lease(job)->run_ends_us;
        if (run_ends_us && run_ends_us <= now_us) {
            skipped++;
        } else if (extend(engine, job, now_us)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

enum status engine_resume(struct engine *engine, int64_t now_us, struct error *error)
{
    if (engine->clock != ENGINE_CLOCK_SERVER) {
        return STATUS_OK;
    }
    workers_unlisten(engine);
    if (now_us < engine->now_us) {
        return STATUS_OK;
    }
    struct index_cursor cursor = index_cursor_at(&engine->queue_all, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct queue *queue = queue_of_all(node);
        if (extend_all(engine, &queue->leased, now_us) ||
            extend_all(engine, &queue->grace, now_us)) {
            return engine_no_memory(error);
        }
    }
    return STATUS_OK;
}

static void shift_lease(struct engine *engine, struct job *job, int64_t change_us)
{
    struct lease *lease = job_lease(job);
    // The first lease of a worker that is met shifts the worker's whole index.
    if (time_of_key(lease->node.key) == lease->expires_us) {
        index_shift(&lease->worker->leases, change_us);
    }
    lease->expires_us += change_us;
    lease->run_ends_us += lease->run_ends_us ? change_us : 0;
    job->time_us += change_us;
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

static void shift_all(struct engine *engine, struct index *index, int64_t change_us)
{
    index_shift(index, change_us);
    struct index_cursor cursor = index_cursor_at(index, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        shift_lease(engine, job_of_node(node), change_us);
    }
}

void leases_shift(struct engine *engine, struct queue *queue, int64_t change_us)
{
    assert(change_us);
    shift_all(engine, &queue->leased, change_us);
    shift_all(engine, &queue->grace, change_us);
    due_update(engine, queue);
}

enum status engine_start(struct engine *engine, int64_t now_us, const struct holder *holder,
                         int64_t pid, struct error *error)
{
    struct job *job = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status && pid < 0) {
        status = error_set(error, STATUS_INVALID, "pid must not be negative");
    }
    if (!status) {
        status = lease_check(engine, holder, &job, error);
    }
    if (status || (job_lease(job)->started && job_lease(job)->pid == pid)) {
        return status;
    }
    struct history_pid data;
    history_pid(pid, &data);
    const struct history_entry entry = { .kind = HISTORY_STARTED,
                                         .when_us = now_us,
                                         .worker = worker_name(job_lease(job)->worker),
                                         .data = slice_make(data.bytes, data.size) };
    if (history_reserve(engine, job, &entry, 1)) {
        return engine_no_memory(error);
    }
    if (!job_lease(job)->started) {
        job_lease(job)->started = true;
        job_count_started(job);
    }
    job_lease(job)->pid = pid;
    job_lease(job)->worker->pid = pid;
    history_append(engine, job, &entry);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    return STATUS_OK;
}

enum status engine_held(struct engine *engine, int64_t now_us, const struct holder *holder,
                        const struct job **out, struct error *error)
{
    struct job *job;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = lease_check(engine, holder, &job, error);
    }
    if (!status) {
        *out = job;
    }
    return status;
}

static void time_out(struct engine *engine, struct job *job, int64_t now_us)
{
    lease_announce_lost(engine, job, now_us);
    job_take_out(engine, job);
    job->state = JOB_STALLED;
    job->node.key = line_key(LINE_TIMED_OUT, 0, now_us, job->id);
    job_link(engine, job);
    history_append(engine, job,
                   &(struct history_entry){ .kind = HISTORY_TIMED_OUT, .when_us = now_us });
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

static enum status time_out_reserve(struct engine *engine, struct job *job, int64_t now_us,
                                    struct error *error)
{
    const struct history_entry entry = { .kind = HISTORY_TIMED_OUT, .when_us = now_us };
    return leave_reserve(engine, job) || line_reserve(engine, job->queue, job->domain) ||
                   history_reserve(engine, job, &entry, 1)
               ? engine_no_memory(error)
               : STATUS_OK;
}

enum status engine_return(struct engine *engine, int64_t now_us, const struct holder *holder,
                          struct error *error)
{
    struct settling settling = { .job = NULL };
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = settled_check(engine, holder, SETTLED_RETURN, &settling, error);
    }
    if (status || settling.repeated) {
        return status;
    }
    struct job *job = settling.job;
    status = time_out_reserve(engine, job, now_us, error);
    if (!status) {
        settled_note(job, &settling, SETTLED_RETURN, 0);
        time_out(engine, job, now_us);
    }
    engine_settle(engine);
    return status;
}

enum status lease_take_away(struct engine *engine, struct job *job, int64_t now_us)
{
    enum status status = time_out_reserve(engine, job, now_us, NULL);
    if (!status) {
        time_out(engine, job, now_us);
    }
    engine_settle(engine);
    return status;
}

enum status engine_timeout(struct engine *engine, int64_t now_us, struct slices jids,
                           struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    for (size_t i = 0; !status && i < jids.count; i++) {
        struct job *job;
        status = job_find(engine, jids.items[i], &job, error);
        if (!status && job->state != JOB_RUNNING) {
            status = error_set(error, STATUS_STATE, "job %.*s is not running: %s",
                               SLICE_PRINT(jids.items[i]), job_state_name(job->state));
        }
        if (!status) {
            status = time_out_reserve(engine, job, now_us, error);
        }
    }
    for (size_t i = 0; !status && i < jids.count; i++) {
        struct job *job = map_find(&engine->jobs, jids.items[i]);
        // A jid that was given twice has lost its lease by then.
        if (job->state == JOB_RUNNING) {
            time_out(engine, job, now_us);
        }
    }
    engine_settle(engine);
    return status;
}
