// SPDX-License-Identifier: MIT
#include "engine/job/place.h"

#include "engine/due.h"
#include "engine/job/job.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/watch.h"
#include "engine/lease/lease.h"
#include "engine/measure/tally.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/relations/cascade.h"
#include "engine/relations/depends.h"
#include "engine/relations/group.h"
#include "engine/state.h"

#include <assert.h>

static bool in_line(const struct job *job)
{
    return job->state == JOB_WAITING || job->state == JOB_STALLED;
}

// The index of a job that is not waiting.
static inline struct index *index_of(struct engine *engine, struct job *job)
{
    switch ((enum job_state)job->state) {
    case JOB_SCHEDULED:
        return &job->queue->scheduled;
    case JOB_DEPENDS:
        return &job->queue->depends;
    case JOB_RUNNING:
        return lease_index(engine, job);
    case JOB_FAILED:
        return &job->extra->group->jobs;
    case JOB_WAITING:
    case JOB_STALLED:
    case JOB_COMPLETE:
    default:
        return &engine->completed;
    }
}

// A finished job is also in an index of its queue, a failed one in the index of all failed jobs.
static void list_finished(struct engine *engine, struct job *job)
{
    if (job->state == JOB_FAILED) {
        index_insert(&engine->failed, &job->node);
        index_insert(&job->queue->failed, &job->node);
    } else if (job->state == JOB_COMPLETE && job->queue) {
        index_insert(&job->queue->complete, &job->node);
    }
}

static void unlist_finished(struct engine *engine, struct job *job)
{
    if (job->state == JOB_FAILED) {
        index_remove(&engine->failed, &job->node);
        index_remove(&job->queue->failed, &job->node);
    } else if (job->state == JOB_COMPLETE && job->queue) {
        index_remove(&job->queue->complete, &job->node);
    }
}

// The index of the job that is ordered by time, or NULL.
static struct index *timed_index(const struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    if (!rare) {
        return NULL;
    }
    switch ((enum job_state)job->state) {
    case JOB_SCHEDULED:
    case JOB_DEPENDS:
    case JOB_WAITING:
        return rare->deadline_us ? &job->queue->deadlines : NULL;
    case JOB_RUNNING:
    case JOB_STALLED:
    case JOB_COMPLETE:
    case JOB_FAILED:
    default:
        return NULL;
    }
}

// Whether a job in this state changes at a certain time.
static bool falls_due(const struct job *job)
{
    return job->state == JOB_RUNNING || job->state == JOB_SCHEDULED;
}

// The part of the tallies that counts a job in addition to its state; TALLY_PARTS: none.
static inline unsigned part_of(const struct job *job)
{
    if (job_lease(job)) {
        return job_lease(job)->started ? TALLY_STARTED : TALLY_PARTS;
    }
    bool open = job->state != JOB_COMPLETE && job->state != JOB_FAILED;
    return open && job->attempts ? TALLY_TRIED : TALLY_PARTS;
}

static void count_part(const struct job *job, unsigned part, size_t change)
{
    assert(job->queue);
    struct tally *tally = tally_find(&job->queue->tallies, job->priority);
    tally_count(tally, part, change);
    tally_count(tally->total, part, change);
}

// Inlined, because every call about a job counts it.
static inline __attribute__((always_inline)) void count(struct engine *engine,
                                                        const struct job *job, size_t change)
{
    struct tally *total;
    if (job->queue) {
        if (job->state != JOB_COMPLETE) {
            series_touch(engine, job->queue); // series_touch covers all queues
        }
        struct tally *tally = tally_find(&job->queue->tallies, job->priority);
        tally_count(tally, job->state, change);
        total = tally->total;
        if (change != 1 && tally != job->queue->tallies.last) {
            tally_note_empty(engine, tally);
        }
    } else {
        total = tally_find(&engine->tallies, job->priority);
    }
    tally_count(total, job->state, change);
    unsigned part = part_of(job);
    if (part < TALLY_PARTS) {
        count_part(job, part, change);
    }
    if (change != 1 && total != engine->tallies.last) {
        tally_note_empty(engine, total);
    }
}

void job_count(struct engine *engine, const struct job *job, size_t change)
{
    count(engine, job, change);
}

void job_count_started(const struct job *job)
{
    count_part(job, TALLY_STARTED, 1);
}

struct place place_for(const struct job *job, struct queue *queue, bool depends, bool delayed)
{
    const struct job_rare *rare = job_rare(job);
    return (struct place){
        .queue = queue,
        .domain = job->domain,
        .priority = job->priority,
        .state = depends   ? JOB_DEPENDS
                 : delayed ? JOB_SCHEDULED
                           : JOB_WAITING,
        .timed = rare && rare->deadline_us,
    };
}

enum status place_reserve(struct engine *engine, const struct place *place)
{
    struct queue *queue = place->queue;
    enum status status =
        tally_reserve(engine, queue, queue ? &queue->tallies : &engine->tallies, place->priority);
    if (!status && place->timed && queue) {
        status = index_reserve(&queue->deadlines, 1);
    }
    if (status) {
        return status;
    }
    switch (place->state) {
    case JOB_WAITING:
    case JOB_STALLED:
        return line_reserve(engine, queue, place->domain);
    case JOB_SCHEDULED:
        return index_reserve(&queue->scheduled, 1);
    case JOB_DEPENDS:
        return index_reserve(&queue->depends, 1);
    case JOB_COMPLETE:
        status = index_reserve(&engine->completed, 1);
        return status || !queue ? status : index_reserve(&queue->complete, 1);
    case JOB_FAILED:
        status = index_reserve(&engine->failed, 1);
        return status ? status : index_reserve(&queue->failed, 1);
    case JOB_RUNNING:
    case JOB_STATE_COUNT:
        break;
    }
    return STATUS_OK;
}

// Links what only some jobs have. Returns whether the job has a deadline now.
static bool enter_more(struct engine *engine, struct job *job)
{
    assert(job->state != JOB_FAILED || (job->extra->group && job->extra->failure));
    struct index *timed = timed_index(job);
    if (timed) {
        struct job_rare *rare = job_rare(job);
        rare->timed.key = time_key(rare->deadline_us, job->id);
        index_insert(timed, &rare->timed);
    }
    if (job->state == JOB_FAILED) {
        depends_count_failed(engine, job, true);
        cascade_note_all(engine, job);
    }
    return timed != NULL;
}

static bool leave_more(struct engine *engine, struct job *job)
{
    struct index *timed = timed_index(job);
    if (timed) {
        index_remove(timed, &job_rare(job)->timed);
    }
    if (job->state == JOB_FAILED) {
        depends_count_failed(engine, job, false);
        assert(job->extra->group);
        cascade_forget(engine, job);
        group_settle(engine, job->extra->group);
        job->extra->group = NULL;
    }
    return timed != NULL;
}

void job_link(struct engine *engine, struct job *job)
{
    assert(job->queue || job->state == JOB_COMPLETE);
    if (in_line(job)) {
        line_insert(engine, job);
        watch_wake(engine, job->queue);
    } else {
        index_insert(index_of(engine, job), &job->node);
        list_finished(engine, job);
    }
    count(engine, job, 1);
    if ((job->extra && enter_more(engine, job)) || falls_due(job)) {
        due_update(engine, job->queue);
    }
}

enum status lane_leave_reserve(struct engine *engine, struct job *job)
{
    if (!in_line(job) && !job_lease(job)) {
        return STATUS_OK;
    }
    return lane_reserve(engine, lane_find(engine, job->queue, job->domain));
}

void job_unlink(struct engine *engine, struct job *job)
{
    count(engine, job, SIZE_MAX);
    if (in_line(job)) {
        line_remove(engine, job);
    } else {
        index_remove(index_of(engine, job), &job->node);
        unlist_finished(engine, job);
    }
    if ((job->extra && leave_more(engine, job)) || falls_due(job)) {
        due_update(engine, job->queue);
    }
}

void place_job(struct engine *engine, struct job *job, int64_t now_us, int64_t delay_us)
{
    assert(job->queue && now_us <= ENGINE_TIME_MAX);
    bool delayed = delay_us > 0;
    if (job->extra && job->extra->dependency_count > 0) {
        job->state = JOB_DEPENDS;
        job->extra->due_us = delayed ? now_us + delay_us : 0;
        job->node.key = time_key(now_us, job->id);
    } else if (delayed) {
        job->state = JOB_SCHEDULED;
        job->node.key = time_key(now_us + delay_us, job->id);
    } else {
        job->state = JOB_WAITING;
        // After the time was set back, new jobs still come after the jobs that wait already.
        int64_t line_us = now_us > engine->line_us ? now_us : engine->line_us;
        job->node.key = line_key(LINE_WAITING, job->priority, line_us, job->id);
    }
    job_link(engine, job);
    if (job->state == JOB_DEPENDS) {
        cascade_note_placed(engine, job);
    }
}

int64_t job_due_time(const struct job *job)
{
    return job->state == JOB_SCHEDULED ? time_of_key(job->node.key)
           : job->state == JOB_DEPENDS ? job->extra->due_us
                                       : 0;
}

void job_move_to(struct engine *engine, struct job *job, struct queue *queue)
{
    struct queue *old = job->queue;
    quota_uncount(engine, job);
    job->queue = queue;
    quota_count(engine, job);
    if (old && old != queue) {
        queue_settle(engine, old);
    }
}

enum status job_load_place(struct engine *engine, struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    const struct place place = { .queue = job->queue,
                                 .domain = job->domain,
                                 .priority = job->priority,
                                 .state = job->state,
                                 .timed = rare != NULL };
    bool taken = in_line(job)
                     ? index_has(&job->queue->plain.line, job->node.key) ||
                           index_has(&job->queue->laned, job->node.key)
                     : index_has(index_of(engine, job), job->node.key) ||
                           (job->state == JOB_FAILED && index_has(&engine->failed, job->node.key));
    if (taken) {
        return STATUS_CORRUPT;
    }
    if (place_reserve(engine, &place) ||
        (!in_line(job) && index_reserve(index_of(engine, job), 1))) {
        return STATUS_NO_MEMORY;
    }
    job_link(engine, job);
    return STATUS_OK;
}
