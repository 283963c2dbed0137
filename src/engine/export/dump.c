// SPDX-License-Identifier: MIT
#include "engine/export/dump.h"

#include "engine/dedup/promise.h"
#include "engine/job/job.h"
#include "engine/queue/queue.h"
#include "engine/recurring/recurring.h"
#include "engine/relations/track.h"
#include "engine/state.h"

enum stage {
    STAGE_NAMESPACE,
    STAGE_OPTIONS,
    STAGE_LIMITS,
    STAGE_POLICIES,
    STAGE_QUEUES,
    STAGE_RECURRING,
    STAGE_WAITING, // and everything in a queue that is neither finished nor depends
    STAGE_FAILED,
    STAGE_DEPENDING, // they may depend on failed ones
    STAGE_FAILED_DEPENDS,
    STAGE_COMPLETE,
    STAGE_PROMISES,
    STAGE_TRACKED,
    STAGE_NUMBER, // after all that increments it
    STAGE_OPTIONS_NARROW,
    STAGE_END,
};
_Static_assert((int)STAGE_END == (int)DUMP_STAGES, "one number for each stage");

// The state of a walk.
struct walk {
    const struct engine *engine;
    struct slice queue; // empty: all
    struct dump_cursor *cursor;
    struct dump_item *out;
};

static void next_stage(const struct walk *walk)
{
    *walk->cursor = (struct dump_cursor){ .stage = walk->cursor->stage + 1 };
}

static struct index_key key_after(struct index_key key)
{
    key.low++;
    key.high += key.low == 0;
    return key;
}

static bool is_wanted(const struct walk *walk, const struct queue *queue)
{
    return !walk->queue.size || (queue && slice_equal(queue_name(queue), walk->queue));
}

// The next node of an index, or NULL at its end.
static struct index_node *next_node(const struct walk *walk, const struct index *index)
{
    struct index_node *node = index_find(index, walk->cursor->key);
    if (node) {
        walk->cursor->key = key_after(node->key);
    }
    return node;
}

// ---------------------------------------------------------------------------------------------
// Settings

static bool step_options(const struct walk *walk, bool narrow)
{
    struct dump_item *out = walk->out;
    out->kind = DUMP_OPTION;
    if (walk->queue.size ||
        !config_option(&walk->engine->config, walk->cursor->container, &out->name, &out->value)) {
        next_stage(walk);
        return false;
    }
    walk->cursor->container++;
    return engine_config_narrows(out->name, out->value) == narrow;
}

static bool step_limits(const struct walk *walk)
{
    walk->out->kind = DUMP_LIMIT;
    if (walk->queue.size ||
        !engine_limit_at(walk->engine, walk->cursor->container, &walk->out->limit)) {
        next_stage(walk);
        return false;
    }
    walk->cursor->container++;
    return true;
}

static bool step_policies(const struct walk *walk)
{
    walk->out->kind = DUMP_POLICY;
    if (walk->queue.size ||
        !engine_policy_at(walk->engine, walk->cursor->container, &walk->out->policy)) {
        next_stage(walk);
        return false;
    }
    walk->cursor->container++;
    return true;
}

// ---------------------------------------------------------------------------------------------
// Queues and their jobs

// The queue of the cursor. NULL: the stage has ended.
static const struct queue *queue_at(const struct walk *walk)
{
    struct dump_cursor *cursor = walk->cursor;
    struct index_node *node = index_find(&walk->engine->queue_all,
                                         time_key((int64_t)cursor->container, cursor->container));
    if (!node) {
        next_stage(walk);
        return NULL;
    }
    const struct queue *queue = queue_of_all(node);
    if (queue->id != cursor->container) {
        *cursor = (struct dump_cursor){ .stage = cursor->stage, .container = queue->id };
    }
    return queue;
}

static void next_queue(const struct walk *walk, const struct queue *queue)
{
    *walk->cursor =
        (struct dump_cursor){ .stage = walk->cursor->stage, .container = queue->id + 1 };
}

static bool step_queues(const struct walk *walk)
{
    const struct queue *queue = queue_at(walk);
    if (!queue) {
        return false;
    }
    next_queue(walk, queue);
    // Restoring a job makes its queue known. A queue that has only statistics or listeners is not
    // part of the dump.
    bool listed = queue->known || queue->jobs || queue->recurring.count || queue->complete.count;
    *walk->out = (struct dump_item){ .kind = DUMP_QUEUE,
                                     .name = queue_name(queue),
                                     .queue = { .listed = listed,
                                                .first_seen_us = queue->first_seen_us,
                                                .paused = queue->paused } };
    return (listed || queue->paused) && is_wanted(walk, queue);
}

static bool step_recurring(const struct walk *walk)
{
    const struct queue *queue = queue_at(walk);
    if (!queue) {
        return false;
    }
    struct index_node *node = is_wanted(walk, queue) ? next_node(walk, &queue->recurring) : NULL;
    if (!node) {
        next_queue(walk, queue);
        return false;
    }
    *walk->out = (struct dump_item){ .kind = DUMP_RECURRING, .recurring = recurring_of_node(node) };
    return true;
}

static bool found_job(const struct walk *walk, const struct job *job)
{
    *walk->out = (struct dump_item){ .kind = DUMP_JOB, .job = job };
    return is_wanted(walk, job->queue);
}

// Leased jobs precede the waiting jobs with which they would be, because restored they are waiting.
static const struct {
    size_t offset; // of the index in the queue
    bool leased;
    bool has_domain; // of leased jobs: whether those with or without a domain are visited
} parts[DUMP_PARTS] = {
    { offsetof(struct queue, scheduled), false, false },
    { offsetof(struct queue, leased), true, false },
    { offsetof(struct queue, grace), true, false },
    { offsetof(struct queue, plain) + offsetof(struct lane, line), false, false },
    { offsetof(struct queue, leased), true, true },
    { offsetof(struct queue, grace), true, true },
    { offsetof(struct queue, laned), false, false },
};

static bool step_waiting(const struct walk *walk)
{
    struct dump_cursor *cursor = walk->cursor;
    const struct queue *queue = queue_at(walk);
    if (!queue) {
        return false;
    }
    if (cursor->part >= DUMP_PARTS || !is_wanted(walk, queue)) {
        next_queue(walk, queue);
        return false;
    }
    const struct index *index =
        (const struct index *)(const void *)((const char *)queue + parts[cursor->part].offset);
    struct index_node *node = next_node(walk, index);
    if (!node) {
        cursor->part++;
        cursor->key = (struct index_key){ 0 };
        return false;
    }
    const struct job *job = job_of_node(node);
    bool other = parts[cursor->part].leased &&
                 (job->domain != INTERN_NONE) != parts[cursor->part].has_domain;
    return found_job(walk, job) && !other;
}

static bool step_depending(const struct walk *walk)
{
    const struct queue *queue = queue_at(walk);
    if (!queue) {
        return false;
    }
    struct index_node *node = is_wanted(walk, queue) ? next_node(walk, &queue->depends) : NULL;
    if (!node) {
        next_queue(walk, queue);
        return false;
    }
    return found_job(walk, job_of_node(node));
}

static bool step_index(const struct walk *walk, const struct index *index)
{
    struct index_node *node = next_node(walk, index);
    if (!node) {
        next_stage(walk);
        return false;
    }
    return found_job(walk, job_of_node(node));
}

static bool step_failed_depends(const struct walk *walk)
{
    if (!step_index(walk, &walk->engine->failed)) {
        return false;
    }
    const struct job *job = walk->out->job;
    walk->out->kind = DUMP_DEPENDS;
    return job->extra && job->extra->dependency_count;
}

static bool step_promises(const struct walk *walk)
{
    struct index_node *node =
        walk->queue.size ? NULL : next_node(walk, &walk->engine->promise_order);
    if (!node) {
        next_stage(walk);
        return false;
    }
    const struct promise *promise = promise_of_node(node);
    bool lock = promise_kind(promise) != PROMISE_RESULT;
    *walk->out = (struct dump_item){
        .kind = DUMP_PROMISE,
        .name = promise_jid(promise),
        .promise = { .by = lock ? (enum unique_by)promise_kind(promise) : UNIQUE_NONE,
                     .key = lock ? slice_sub(promise_key(promise), 1, SIZE_MAX) : SLICE_EMPTY,
                     .jid = promise_jid(promise),
                     .state = (enum job_state)promise->state,
                     .until_us = promise_ends(promise),
                     .result = slice_make(promise->value, promise->value_size) },
    };
    return !promise->job; // otherwise it is part of the job
}

static bool step_tracked(const struct walk *walk)
{
    struct index_node *node = next_node(walk, &walk->engine->tracked_order);
    if (!node) {
        next_stage(walk);
        return false;
    }
    const struct tracked *tracked = tracked_of_node(node);
    struct slice jid = tracked_key(tracked);
    const struct job *job = map_find(&walk->engine->jobs, jid);
    *walk->out =
        (struct dump_item){ .kind = DUMP_TRACKED, .name = jid, .when_us = tracked->when_us };
    return is_wanted(walk, job ? job->queue : NULL);
}

static bool step_whole(const struct walk *walk, enum dump_kind kind)
{
    *walk->out = (struct dump_item){ .kind = kind,
                                     .clock = walk->engine->clock,
                                     .number = engine_last_number(walk->engine) };
    next_stage(walk);
    return kind == DUMP_NAMESPACE || !walk->queue.size;
}

bool engine_dump_step(const struct engine *engine, struct slice queue, struct dump_cursor *cursor,
                      struct dump_item *out, bool *found)
{
    const struct walk walk = { engine, queue, cursor, out };
    *found = false;
    *out = (struct dump_item){ 0 };
    switch ((enum stage)cursor->stage) {
    case STAGE_NAMESPACE:
        *found = step_whole(&walk, DUMP_NAMESPACE);
        break;
    case STAGE_OPTIONS:
        *found = step_options(&walk, false);
        break;
    case STAGE_LIMITS:
        *found = step_limits(&walk);
        break;
    case STAGE_POLICIES:
        *found = step_policies(&walk);
        break;
    case STAGE_QUEUES:
        *found = step_queues(&walk);
        break;
    case STAGE_RECURRING:
        *found = step_recurring(&walk);
        break;
    case STAGE_WAITING:
        *found = step_waiting(&walk);
        break;
    case STAGE_FAILED:
        *found = step_index(&walk, &engine->failed);
        break;
    case STAGE_DEPENDING:
        *found = step_depending(&walk);
        break;
    case STAGE_FAILED_DEPENDS:
        *found = step_failed_depends(&walk);
        break;
    case STAGE_COMPLETE:
        *found = step_index(&walk, &engine->completed);
        break;
    case STAGE_PROMISES:
        *found = step_promises(&walk);
        break;
    case STAGE_TRACKED:
        *found = step_tracked(&walk);
        break;
    case STAGE_NUMBER:
        *found = step_whole(&walk, DUMP_NUMBER);
        break;
    case STAGE_OPTIONS_NARROW:
        *found = step_options(&walk, true);
        break;
    case STAGE_END:
    default:
        return false;
    }
    return true;
}

uint64_t engine_change_count(const struct engine *engine)
{
    return engine->changes;
}
