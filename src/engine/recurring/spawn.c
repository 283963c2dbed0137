// SPDX-License-Identifier: MIT
// When a recurring job spawns its jobs, and which missed runs are caught up.
#include "engine/dedup/promise.h"
#include "engine/due.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/measure/metrics.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/recurring/recurring.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Runs

int64_t recurring_after(const struct recurring *recurring, int64_t run_us)
{
    return recurring->interval_us
               ? run_us + recurring->interval_us
               : cron_next(&recurring->cron, zone_rules_of(recurring->zone), run_us);
}

int64_t recurring_run_from(const struct recurring *recurring, int64_t due_us, int64_t from_us)
{
    if (from_us <= due_us) {
        return due_us;
    }
    if (recurring->interval_us == 0) {
        return recurring_after(recurring, from_us - 1);
    }
    int64_t late_us = from_us - due_us, interval_us = recurring->interval_us;
    return due_us + (late_us / interval_us + (late_us % interval_us != 0)) * interval_us;
}

// Of the due runs from `due_us` on: the `count`-th from the end, or the first one; and how many are
// due from it on. For cron, ever longer times before now are searched, so that the cost depends on
// what is found.
static int64_t run_before(const struct recurring *recurring, int64_t due_us, int64_t now_us,
                          int64_t count, int64_t *left)
{
    const int64_t second_us = 1000000;
    for (int64_t window_us = second_us;; window_us *= 4) {
        bool whole = window_us >= now_us - due_us;
        int64_t first_us =
            whole ? due_us : recurring_run_from(recurring, due_us, now_us - window_us);
        int64_t found = 0;
        for (int64_t at = first_us; at <= now_us; at = recurring_after(recurring, at)) {
            found++;
        }
        if (found >= count || whole) {
            for (; found > count; found--) {
                first_us = recurring_after(recurring, first_us);
            }
            *left = found;
            return first_us;
        }
    }
}

// The same as run_before for the backlog. While the runs are caught up one by one they are not
// counted again each time: only runs that have fallen due since are.
static int64_t skip_by_cron(const struct recurring *recurring, int64_t due_us, int64_t now_us,
                            int64_t *left)
{
    int64_t backlog = recurring->backlog, fresh = 0;
    if (recurring->due_count && recurring->due_count_us <= now_us) {
        int64_t at = recurring_after(recurring, recurring->due_count_us);
        for (; at <= now_us && fresh < backlog; fresh++) {
            at = recurring_after(recurring, at);
        }
        if (at > now_us) {
            for (*left = recurring->due_count + fresh; *left > backlog; --*left) {
                due_us = recurring_after(recurring, due_us);
            }
            return due_us;
        }
    }
    return run_before(recurring, due_us, now_us, backlog, left);
}

// If more runs were missed than the backlog allows, only the last ones are caught up.
static int64_t skip_backlog(const struct recurring *recurring, int64_t due_us, int64_t now_us,
                            int64_t *left)
{
    if (recurring->backlog == 0) {
        return due_us;
    }
    if (recurring->interval_us == 0) {
        return skip_by_cron(recurring, due_us, now_us, left);
    }
    if ((now_us - due_us) / recurring->interval_us < recurring->backlog) {
        return due_us;
    }
    return recurring_run_from(recurring, due_us,
                              now_us - recurring->backlog * recurring->interval_us);
}

// The run to process instead of the due one; and how many are due from it on, if they were counted.
static int64_t skip_missed(const struct engine *engine, const struct recurring *recurring,
                           int64_t due_us, int64_t now_us, int64_t *left)
{
    if (recurring->missed == RECUR_MISSED_ALL) {
        return skip_backlog(recurring, due_us, now_us, left);
    }
    int64_t allowed_us = engine->config.missed_after_us > 0 ? engine->config.missed_after_us : 0;
    if (now_us - due_us <= allowed_us) {
        return due_us;
    }
    if (recurring->missed == RECUR_MISSED_SKIP) {
        return recurring_run_from(recurring, due_us, now_us - allowed_us);
    }
    if (recurring->interval_us) {
        return now_us - (now_us - due_us) % recurring->interval_us;
    }
    return run_before(recurring, due_us, now_us, 1, left);
}

void recurring_set_next(struct engine *engine, struct recurring *recurring, int64_t next_us)
{
    struct queue *queue = recurring->queue;
    index_remove(&queue->recurring, &recurring->node);
    recurring->node.key = time_key(next_us, recurring->id);
    recurring->due_count = 0;
    index_insert(&queue->recurring, &recurring->node);
    recurring_changed(engine, recurring);
    due_update(engine, queue);
}

// ---------------------------------------------------------------------------------------------
// Jobs

enum {
    CHILD_SIZE = ENGINE_NAME_SIZE_MAX + 32,
    NUMBERS_ONE_BY_ONE = 100,
};

// The jid of the job with that number.
static struct slice child_jid(const struct recurring *recurring, uint64_t number,
                              char text[CHILD_SIZE])
{
    // Copied without snprintf, because a name may contain a zero byte.
    struct slice key = recurring_key(recurring);
    memcpy(text, key.data, key.size);
    int size =
        snprintf(text + key.size, CHILD_SIZE - key.size, "-%llu", (unsigned long long)number);
    return slice_make(text, key.size + (size_t)size);
}

// Whether a run is skipped because the last job has not finished.
static bool overlaps(const struct engine *engine, const struct recurring *recurring)
{
    if (recurring->overlap == RECUR_OVERLAP_ALLOW || recurring->count == 0) {
        return false;
    }
    char text[CHILD_SIZE];
    const struct job *last = map_find(&engine->jobs, child_jid(recurring, recurring->count, text));
    return last && last->state != JOB_COMPLETE && last->state != JOB_FAILED;
}

static void share_name(struct engine *engine, uint32_t name, uint32_t *out)
{
    *out = name;
    intern_share(&engine->names, name);
}

// Makes a job with everything that it needs.
static struct job *child_new(struct engine *engine, struct recurring *recurring, struct slice jid,
                             struct slices tags)
{
    struct slice data = slice_make(recurring->data, recurring->data_size);
    struct job *job = job_new(engine, jid, data);
    if (!job) {
        return NULL;
    }
    job->priority = recurring->priority;
    share_name(engine, recurring->klass, &job->klass);
    share_name(engine, recurring->domain, &job->domain);
    share_name(engine, recurring->options, &job->options);
    const struct place place = place_for(job, recurring->queue, false, false);
    if (map_reserve(&engine->jobs, jid) || place_reserve(engine, &place) ||
        job_reserve_extra(engine, job)) {
        job_free(engine, job);
        return NULL;
    }
    if (intern_acquire(&engine->names, queue_name(recurring->queue), &job->created_queue) ||
        intern_acquire(&engine->names, recurring_key(recurring), &job->extra->spawned_from) ||
        tags_reserve(engine, NULL, tags, NULL)) {
        job_free(engine, job);
        return NULL;
    }
    return job;
}

// The number of the next job: the first one after the last whose jid is free. If a recurring job
// was removed and created again, the jids of its earlier jobs may be in use: so after a hundred
// attempts the steps double, and no search is long. 0 if no jid is short enough.
static uint64_t next_number(const struct engine *engine, const struct recurring *recurring)
{
    char text[CHILD_SIZE];
    uint64_t number = recurring->count + 1, step = 1;
    for (int tries = 1; number > recurring->count; tries++) {
        struct slice jid = child_jid(recurring, number, text);
        if (jid.size > ENGINE_NAME_SIZE_MAX) {
            return 0;
        }
        if (!map_find(&engine->jobs, jid)) {
            return number;
        }
        step *= tries < NUMBERS_ONE_BY_ONE ? 1 : 2;
        number += step;
    }
    return 0; // above the largest number
}

static enum status make_child(struct engine *engine, struct recurring *recurring, int64_t due_us,
                              uint64_t number)
{
    char text[CHILD_SIZE];
    struct slice jid = child_jid(recurring, number, text);
    size_t tags_size = (recurring->tag_count + 1) * sizeof(struct slice);
    struct slice *tags = mem_alloc(engine->allocator, tags_size);
    if (!tags) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < recurring->tag_count; i++) {
        tags[i] = recurring_tag(engine, recurring, i);
    }
    struct slices all = { tags, recurring->tag_count };
    struct job *job = child_new(engine, recurring, jid, all);
    if (job) {
        series_begin(engine, due_us); // the time may be later than the first of many missed runs
        promise_drop_result(engine, job_jid(job));
        job->id = ++engine->job_id;
        job->created_us = job->time_us = due_us;
        job->retries = job->remaining = recurring->retries;
        job->tracked = map_find(&engine->tracked, jid) != NULL;
        map_add(&engine->jobs, job);
        job_move_to(engine, job, recurring->queue);
        tags_add(engine, job, all, due_us);
        tags_unreserve(engine, all);
        place_job(engine, job, due_us, 0);
        metrics_queued(engine, recurring->queue, due_us);
        job_changed(engine, job, JOB_DIRTY_BODY | JOB_DIRTY_HEAD);
    }
    mem_free(engine->allocator, tags, tags_size);
    engine_settle(engine);
    return job ? STATUS_OK : STATUS_NO_MEMORY;
}

// Processes the next run; returns whether it counts towards the slice.
static enum status spawn(struct engine *engine, struct recurring *recurring, int64_t now_us,
                         bool *counted)
{
    int64_t left = 0;
    int64_t due_us =
        skip_missed(engine, recurring, time_of_key(recurring->node.key), now_us, &left);
    bool runs = due_us <= now_us;
    uint64_t number = 0;
    if (runs && !recurring->paused && !overlaps(engine, recurring) &&
        !quota_check_job(engine, recurring->queue, NULL, recurring->data_size, NULL)) {
        number = next_number(engine, recurring);
    }
    bool made = number > 0;
    *counted = made;
    if (made && make_child(engine, recurring, due_us, number)) {
        return STATUS_NO_MEMORY;
    }
    if (index_reserve(&recurring->queue->recurring, 1)) {
        return STATUS_NO_MEMORY;
    }
    recurring->count = made ? number : recurring->count;
    recurring->last_us = made ? due_us : recurring->last_us;
    bool to_next = made || (runs && engine->clock == ENGINE_CLOCK_SERVER);
    int64_t next_us = due_us;
    if (to_next) {
        next_us = recurring_after(recurring, due_us);
    } else if (runs) {
        // With the client clock nothing happens between due runs, so all of them overlap.
        next_us = recurring_run_from(recurring, due_us, now_us + 1);
    }
    recurring_set_next(engine, recurring, next_us);
    recurring->due_count = to_next && left > 0 ? left - 1 : 0;
    recurring->due_count_us = now_us;
    engine_settle(engine);
    return STATUS_OK;
}

enum status recurring_spawn(struct engine *engine, struct recurring *recurring, int64_t now_us)
{
    bool counted;
    return spawn(engine, recurring, now_us, &counted);
}

enum status recurring_spawn_due(struct engine *engine, struct queue *queue, int64_t now_us,
                                size_t count)
{
    // As in qless: each due recurring job in turn spawns its jobs, until there are `count`. Runs
    // without a job count towards the slice.
    size_t moved = 0, spawned = 0;
    while (moved < count && spawned < count + DUE_SLICE_THINGS && !engine->recurring_held) {
        struct index_node *node = index_first(&queue->recurring);
        if (!node || time_of_key(node->key) > now_us) {
            break;
        }
        struct recurring *recurring = recurring_of_node(node);
        while (moved < count && time_of_key(recurring->node.key) <= now_us &&
               spawned++ < count + DUE_SLICE_THINGS) {
            bool counted;
            if (spawn(engine, recurring, now_us, &counted)) {
                return STATUS_NO_MEMORY;
            }
            moved += counted;
        }
    }
    return STATUS_OK;
}

enum status engine_recur_run(struct engine *engine, int64_t now_us, struct slice jid,
                             const struct job **out, struct error *error)
{
    struct recurring *recurring = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = recurring_find(engine, jid, &recurring, error);
    }
    if (!status) {
        status = quota_check_job(engine, recurring->queue, NULL, recurring->data_size, error);
    }
    if (status) {
        return status;
    }
    uint64_t number = next_number(engine, recurring);
    if (number == 0) {
        return error_set(error, STATUS_STATE, "recurring job %.*s has no jid left for a job",
                         SLICE_PRINT(slice_shown(jid)));
    }
    if (make_child(engine, recurring, now_us, number)) {
        return engine_no_memory(error);
    }
    recurring->count = number;
    recurring->last_us = now_us;
    recurring_changed(engine, recurring);
    char text[CHILD_SIZE];
    *out = map_find(&engine->jobs, child_jid(recurring, number, text));
    return STATUS_OK;
}

enum status engine_recur_pause(struct engine *engine, int64_t now_us, struct slice jid, bool paused,
                               struct error *error)
{
    struct recurring *recurring = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = recurring_find(engine, jid, &recurring, error);
    }
    if (!status && recurring->paused != paused) {
        recurring->paused = paused;
        recurring_changed(engine, recurring);
    }
    return status;
}
