// SPDX-License-Identifier: MIT
// With the server clock every call starts with due_run. It takes the queue with the earliest due
// work (from a heap), does one piece of work, dated by its due time, and repeats this until nothing
// is due or the slice is used up. The retention of complete jobs, which is not per queue, is
// included by its own due time. If memory runs out it stops; the next call continues.
#include "engine/due.h"

#include "engine/dedup/promise.h"
#include "engine/job/complete.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/watch.h"
#include "engine/lease/lease.h"
#include "engine/queue/queue.h"
#include "engine/recurring/recurring.h"
#include "engine/relations/cascade.h"
#include "engine/relations/failure.h"
#include "engine/state.h"

#include <assert.h>

static bool due_before(const struct queue *a, const struct queue *b)
{
    return a->due_us < b->due_us || (a->due_us == b->due_us && a->id < b->id);
}

static void place(struct engine *engine, struct queue *queue, size_t position)
{
    engine->due[position] = queue;
    queue->due_position = position;
}

static void sift_up(struct engine *engine, struct queue *queue)
{
    size_t position = queue->due_position;
    while (position > 0) {
        struct queue *parent = engine->due[(position - 1) / 2];
        if (!due_before(queue, parent)) {
            break;
        }
        place(engine, parent, position);
        position = (position - 1) / 2;
    }
    place(engine, queue, position);
}

static void sift_down(struct engine *engine, struct queue *queue)
{
    size_t position = queue->due_position;
    for (;;) {
        size_t child = 2 * position + 1;
        if (child >= engine->due_count) {
            break;
        }
        if (child + 1 < engine->due_count &&
            due_before(engine->due[child + 1], engine->due[child])) {
            child++;
        }
        if (!due_before(engine->due[child], queue)) {
            break;
        }
        place(engine, engine->due[child], position);
        position = child;
    }
    place(engine, queue, position);
}

enum status due_reserve(struct engine *engine)
{
    if (engine->due_count < engine->due_capacity) {
        return STATUS_OK;
    }
    size_t capacity = engine->due_capacity ? engine->due_capacity * 2 : 8;
    struct queue **due =
        mem_resize(engine->allocator, engine->due, engine->due_capacity * sizeof(struct queue *),
                   capacity * sizeof(struct queue *));
    if (!due) {
        return STATUS_NO_MEMORY;
    }
    engine->due = due;
    engine->due_capacity = capacity;
    return STATUS_OK;
}

void due_add(struct engine *engine, struct queue *queue)
{
    assert(engine->due_count < engine->due_capacity);
    queue->due_us = INT64_MAX;
    queue->due_position = engine->due_count++;
    sift_up(engine, queue);
}

void due_remove(struct engine *engine, struct queue *queue)
{
    assert(queue->due_position < engine->due_count && engine->due[queue->due_position] == queue);
    struct queue *last = engine->due[--engine->due_count];
    if (last == queue) {
        return;
    }
    place(engine, last, queue->due_position);
    sift_up(engine, last);
    sift_down(engine, last);
}

static int64_t first_time(const struct index *index)
{
    return index->count ? time_of_key(index_first(index)->key) : INT64_MAX;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// When the first work of the queue falls due.
static int64_t due_in(const struct engine *engine, const struct queue *queue)
{
    int64_t due_us = earlier(first_time(&queue->leased), first_time(&queue->grace));
    due_us = earlier(due_us, first_time(&queue->deadlines));
    due_us = earlier(due_us, engine->recurring_held ? INT64_MAX : first_time(&queue->recurring));
    due_us = earlier(due_us, first_time(&queue->scheduled));
    return earlier(due_us, first_time(&queue->lanes[LANE_LIMITED]));
}

// The key of that work, as far as two pieces of work can be distinguished.
static struct index_key due_key_in(const struct engine *engine, const struct queue *queue)
{
    const struct index *indexes[] = { &queue->leased,
                                      &queue->grace,
                                      &queue->deadlines,
                                      &queue->scheduled,
                                      &queue->lanes[LANE_LIMITED],
                                      engine->recurring_held ? NULL : &queue->recurring };
    struct index_key key = { UINT64_MAX, UINT64_MAX };
    for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++) {
        struct index_node *node = indexes[i] ? index_first(indexes[i]) : NULL;
        if (node && index_key_less(node->key, key)) {
            key = node->key;
        }
    }
    return key;
}

// With the client clock: when waiters for the queue are woken. If waking them the last time has
// changed nothing (because of other limits), they are woken again after some time.
static int64_t due_for_watchers(const struct engine *engine, const struct queue *queue)
{
    if (!queue->watched || queue->paused) {
        return INT64_MAX;
    }
    int64_t due_us = due_in(engine, queue);
    bool in_vain =
        due_us <= queue->looked_us && index_key_equal(due_key_in(engine, queue), queue->looked_key);
    return in_vain ? queue->looked_us + DUE_WAKE_AGAIN_US : due_us;
}

int64_t due_of(const struct engine *engine, const struct queue *queue)
{
    return engine->clock == ENGINE_CLOCK_SERVER ? due_in(engine, queue)
                                                : due_for_watchers(engine, queue);
}

void due_update(struct engine *engine, struct queue *queue)
{
    if (engine->clock != ENGINE_CLOCK_SERVER && !queue->watched && queue->due_us == INT64_MAX) {
        return;
    }
    int64_t due_us = due_of(engine, queue);
    if (due_us != queue->due_us) {
        queue->due_us = due_us;
        sift_up(engine, queue);
        sift_down(engine, queue);
    }
}

void engine_hold_recurring(struct engine *engine, bool held)
{
    if (engine->recurring_held == held) {
        return;
    }
    engine->recurring_held = held;
    for (size_t i = 0; i < engine->due_count; i++) {
        engine->due[i]->due_us = due_of(engine, engine->due[i]);
    }
    for (size_t i = engine->due_count / 2; i-- > 0;) {
        sift_down(engine, engine->due[i]);
    }
}

enum status due_move(struct engine *engine, struct job *job, int64_t time_us)
{
    const struct place place = place_for(job, job->queue, false, false);
    if (place_reserve(engine, &place)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    job_unlink(engine, job);
    place_job(engine, job, time_us, 0);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    if (engine_wanted(engine, EVENT_TO_WATCHER)) {
        engine_emit(engine, &(struct event){ .kind = EVENT_DUE,
                                             .channels = EVENT_TO_WATCHER,
                                             .when_us = time_us,
                                             .jid = job_jid(job),
                                             .queue = queue_name(job->queue) });
    }
    engine_settle(engine);
    return STATUS_OK;
}

enum status deadline_pass(struct engine *engine, struct job *job, int64_t when_us)
{
    const struct failure_words words = { .group = SLICE("expired"),
                                         .message = SLICE("Job was not started by its deadline"),
                                         .when_us = when_us };
    return fail_by_itself(engine, job, &words);
}

enum status due_move_scheduled(struct engine *engine, struct queue *queue, int64_t now_us,
                               size_t count)
{
    struct index_node *node;
    for (; count > 0 && (node = index_first(&queue->scheduled)); count--) {
        if (time_of_key(node->key) > now_us) {
            break;
        }
        if (due_move(engine, job_of_node(node), now_us)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

// Does the first due work of a queue, dated by its due time.
static enum status do_first(struct engine *engine, struct queue *queue)
{
    int64_t due_us = queue->due_us;
    struct index_node *lease = index_first(&queue->leased);
    struct index_node *grace = index_first(&queue->grace);
    if (!lease || (grace && index_key_less(grace->key, lease->key))) {
        lease = grace;
    }
    if (lease && time_of_key(lease->key) == due_us) {
        return lease_run_out(engine, job_of_node(lease), due_us, false);
    }
    if (first_time(&queue->deadlines) == due_us) {
        return deadline_pass(engine, job_of_timed(index_first(&queue->deadlines)), due_us);
    }
    if (!engine->recurring_held && first_time(&queue->recurring) == due_us) {
        return recurring_spawn(engine, recurring_of_node(index_first(&queue->recurring)),
                               engine->now_us);
    }
    if (first_time(&queue->scheduled) == due_us) {
        return due_move(engine, job_of_node(index_first(&queue->scheduled)), due_us);
    }
    return lane_due(engine, lane_of_node(index_first(&queue->lanes[LANE_LIMITED])));
}

static bool run(struct engine *engine, int64_t now_us)
{
    uint64_t start = engine->pool.steps;
    for (int done = 0; done < DUE_SLICE_THINGS && engine->pool.steps - start < DUE_SLICE_STEPS;
         done++) {
        int64_t first_us = engine->due_count ? engine->due[0]->due_us : INT64_MAX;
        int64_t retention_us = retention_due(engine);
        if (earlier(first_us, retention_us) > now_us) {
            return false;
        }
        if (retention_us < first_us) {
            enum status status = retention_delete(engine);
            engine_settle(engine);
            if (status) {
                return true;
            }
            continue;
        }
        struct queue *queue = engine->due[0];
        engine->call_us = queue->due_us;
        series_begin(engine, queue->due_us);
        if (do_first(engine, queue)) {
            engine_settle(engine);
            return true;
        }
        due_update(engine, queue);
        // Its consequences are processed before the next due work.
        if (engine->cascade_first && cascade_run(engine)) {
            return true;
        }
    }
    engine->slice_full = true;
    return true;
}

bool due_is_there(const struct engine *engine, int64_t now_us)
{
    return engine->clock == ENGINE_CLOCK_SERVER &&
           ((engine->due_count && engine->due[0]->due_us <= now_us) ||
            first_time(&engine->promise_order) <= now_us || retention_due(engine) <= now_us);
}

bool due_run(struct engine *engine, int64_t now_us)
{
    bool more = run(engine, now_us);
    engine->call_us = now_us;
    // An expired promise has no effect, so the order in which they are removed does not matter.
    promises_end(engine, now_us, DUE_SLICE_THINGS);
    return more || first_time(&engine->promise_order) <= now_us;
}

bool due_wake(struct engine *engine, int64_t now_us)
{
    for (int i = 0; i < DUE_SLICE_THINGS; i++) {
        if (engine->due_count == 0 || engine->due[0]->due_us > now_us) {
            return false;
        }
        struct queue *queue = engine->due[0];
        queue->looked_us = now_us;
        queue->looked_key = due_key_in(engine, queue);
        watch_wake(engine, queue);
        due_update(engine, queue);
        engine_step(engine);
    }
    return true;
}

int64_t due_next(const struct engine *engine)
{
    int64_t due_us = engine->due_count ? engine->due[0]->due_us : INT64_MAX;
    if (engine->clock == ENGINE_CLOCK_SERVER) {
        due_us = earlier(due_us, first_time(&engine->promise_order));
        due_us = earlier(due_us, retention_due(engine));
    }
    return due_us;
}
