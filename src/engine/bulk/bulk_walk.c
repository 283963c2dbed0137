// SPDX-License-Identifier: MIT
// Walks over jobs while these change. The position of the walk consists of keys, never of pointers,
// so it can be saved, and stays valid when jobs are added or removed. A job that does not move is
// visited exactly once.
#include "engine/bulk/bulk.h"
#include "engine/job/job.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/queue/queue.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

static bool is_named(const struct job_filter *filter, const struct job *job)
{
    struct slice jid = job_jid(job);
    size_t low = 0, high = filter->jids.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool before = slice_compare(filter->jids.items[middle], jid) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < filter->jids.count && slice_equal(filter->jids.items[low], jid);
}

bool bulk_matches(const struct engine *engine, const struct bulk *bulk, const struct job *job)
{
    const struct job_filter *filter = &bulk->request.filter;
    int64_t age_us = bulk->aged_us - job->created_us;
    if (job->id > bulk->job_last || (filter->states && !(filter->states >> job->state & 1U)) ||
        (filter->has_older && age_us < filter->older_us) ||
        (filter->has_newer && age_us > filter->newer_us)) {
        return false;
    }
    if (filter->queue.size &&
        (!job->queue || !slice_equal(queue_name(job->queue), filter->queue))) {
        return false;
    }
    if (filter->klass.size && !slice_equal(intern_get(&engine->names, job->klass), filter->klass)) {
        return false;
    }
    if (!bulk->request.dry_run && bulk->view.as && !id_set_has(bulk->set, job->id)) {
        return false;
    }
    if (filter->jids.count && !is_named(filter, job)) {
        return false;
    }
    if (filter->worker.size &&
        (!job_lease(job) || !slice_equal(worker_name(job_lease(job)->worker), filter->worker))) {
        return false;
    }
    if (filter->domain.size &&
        !slice_equal(intern_get(&engine->names, job->domain), filter->domain)) {
        return false;
    }
    // The job moves behind the position at which the walk met it.
    if (bulk->request.act == BULK_PRIORITY && job->priority == bulk->request.priority) {
        return false;
    }
    if (bulk->request.act == BULK_MOVE && job->state != JOB_FAILED && job->queue &&
        slice_equal(queue_name(job->queue), bulk->request.to)) {
        return false;
    }
    if (filter->group.size &&
        (job->state != JOB_FAILED || !slice_equal(group_key(job->extra->group), filter->group))) {
        return false;
    }
    return !filter->tag.size || job_has_tag(job, filter->tag);
}

static struct index_key key_after(struct index_key key)
{
    key.low++;
    key.high += key.low == 0;
    return key;
}

// The states of the jobs in each part of a queue.
static bool part_concerns(const struct job_filter *filter, unsigned part)
{
    static const enum job_state states[BULK_PARTS] = { JOB_WAITING, JOB_WAITING, JOB_SCHEDULED,
                                                       JOB_RUNNING, JOB_RUNNING, JOB_DEPENDS };
    unsigned here = 1U << states[part];
    here |= states[part] == JOB_WAITING ? 1U << JOB_STALLED : 0;
    bool held = states[part] == JOB_RUNNING || !filter->worker.size;
    return held && (filter->states == 0 || filter->states & here);
}

static const struct index *queue_part(const struct queue *queue, unsigned part)
{
    const struct index *parts[BULK_PARTS] = { &queue->plain.line, &queue->laned, &queue->scheduled,
                                              &queue->leased,     &queue->grace, &queue->depends };
    return parts[part];
}

static void go_to(struct bulk_cursor *cursor, enum bulk_stage stage, uint64_t container,
                  unsigned part)
{
    *cursor = (struct bulk_cursor){ .stage = stage, .container = container, .part = part };
}

// Whether any job in queues, failed, or complete, can match.
static bool stage_concerns(const struct job_filter *filter, enum bulk_stage stage)
{
    const unsigned finished = 1U << JOB_FAILED | 1U << JOB_COMPLETE;
    unsigned states = filter->states ? filter->states : ~0U;
    switch (stage) {
    case BULK_QUEUES:
        return !filter->group.size && (states & ~finished);
    case BULK_GROUPS:
        return !filter->worker.size && states >> JOB_FAILED & 1U;
    case BULK_COMPLETED:
        return !filter->worker.size && !filter->group.size && states >> JOB_COMPLETE & 1U;
    case BULK_TAGGED:
    case BULK_END:
    case BULK_JIDS:
    case BULK_STAGES:
        break;
    }
    return true;
}

enum bulk_stage bulk_first_stage(const struct job_filter *filter)
{
    enum bulk_stage stage = filter->jids.count ? BULK_JIDS
                            : filter->tag.size ? BULK_TAGGED
                                               : BULK_QUEUES;
    while (!stage_concerns(filter, stage)) {
        stage++;
    }
    return stage;
}

static void next_stage(const struct bulk *bulk, struct bulk_cursor *cursor)
{
    bool last = cursor->stage == BULK_TAGGED || cursor->stage == BULK_JIDS;
    enum bulk_stage stage = last ? BULK_END : cursor->stage + 1;
    while (!stage_concerns(&bulk->request.filter, stage)) {
        stage++;
    }
    go_to(cursor, stage, 0, 0);
}

// The index of the cursor; NULL if the cursor moved on, to the next index or the next stage.
static const struct index *index_in_queues(const struct engine *engine, const struct bulk *bulk,
                                           struct bulk_cursor *cursor)
{
    const struct bulk_request *request = &bulk->request;
    struct index_node *node =
        index_find(&engine->queue_all, time_key((int64_t)cursor->container, cursor->container));
    if (!node) {
        next_stage(bulk, cursor);
        return NULL;
    }
    const struct queue *queue = queue_of_all(node);
    if (queue->id != cursor->container) {
        go_to(cursor, BULK_QUEUES, queue->id, 0);
    }
    bool elsewhere =
        request->filter.queue.size && !slice_equal(queue_name(queue), request->filter.queue);
    bool there = request->act == BULK_MOVE && slice_equal(queue_name(queue), request->to);
    if (elsewhere || there || cursor->part == BULK_PARTS) {
        go_to(cursor, BULK_QUEUES, queue->id + 1, 0);
        return NULL;
    }
    if (!part_concerns(&request->filter, cursor->part)) {
        go_to(cursor, BULK_QUEUES, queue->id, cursor->part + 1);
        return NULL;
    }
    return queue_part(queue, cursor->part);
}

static const struct index *index_in_groups(const struct engine *engine, const struct bulk *bulk,
                                           struct bulk_cursor *cursor)
{
    struct slice wanted = bulk->request.filter.group;
    struct index_node *node =
        index_find(&engine->group_order, (struct index_key){ cursor->container, 0 });
    if (!node) {
        next_stage(bulk, cursor);
        return NULL;
    }
    const struct group *group = group_of_node(node);
    if (node->key.high != cursor->container) {
        go_to(cursor, BULK_GROUPS, node->key.high, 0);
    }
    if (wanted.size && !slice_equal(group_key(group), wanted)) {
        go_to(cursor, BULK_GROUPS, cursor->container + 1, 0);
        return NULL;
    }
    return &group->jobs;
}

static const struct index *index_of_complete(const struct engine *engine, const struct bulk *bulk,
                                             struct bulk_cursor *cursor)
{
    struct slice name = bulk->request.filter.queue;
    if (name.size == 0) {
        return &engine->completed;
    }
    const struct queue *queue = queue_find(engine, name);
    if (!queue) {
        next_stage(bulk, cursor);
    }
    return queue ? &queue->complete : NULL;
}

static const struct index *index_at_cursor(const struct engine *engine, const struct bulk *bulk,
                                           struct bulk_cursor *cursor)
{
    const struct tag *tag;
    switch (cursor->stage) {
    case BULK_TAGGED:
        tag = map_find(&engine->tags, bulk->request.filter.tag);
        if (!tag) {
            next_stage(bulk, cursor);
        }
        return tag ? &tag->taggings : NULL;
    case BULK_QUEUES:
        return index_in_queues(engine, bulk, cursor);
    case BULK_GROUPS:
        return index_in_groups(engine, bulk, cursor);
    case BULK_COMPLETED:
        return index_of_complete(engine, bulk, cursor);
    case BULK_END:
    case BULK_JIDS:
    case BULK_STAGES:
        break;
    }
    return NULL;
}

// The index has no more jobs: moves to the next one.
static void leave_index(const struct bulk *bulk, struct bulk_cursor *cursor)
{
    if (cursor->stage == BULK_QUEUES) {
        go_to(cursor, BULK_QUEUES, cursor->container, cursor->part + 1);
    } else if (cursor->stage == BULK_GROUPS) {
        go_to(cursor, BULK_GROUPS, cursor->container + 1, 0);
    } else {
        next_stage(bulk, cursor);
    }
}

// A waiting job whose priority changes may move to a position that the walk reaches later. It has
// no time there.
static bool was_moved_on(const struct bulk *bulk, const struct job *job)
{
    bool in_line = job->state == JOB_WAITING || job->state == JOB_STALLED;
    return bulk->request.act == BULK_PRIORITY && in_line &&
           job->priority == bulk->request.priority && line_time(job->node.key) == 0;
}

// The next job of a named set.
static struct job *next_named(const struct engine *engine, struct bulk *bulk)
{
    const struct slices *jids = &bulk->request.filter.jids;
    if (bulk->cursor.container >= jids->count) {
        next_stage(bulk, &bulk->cursor);
        return NULL;
    }
    struct job *job = map_find(&engine->jobs, jids->items[bulk->cursor.container++]);
    bulk->view.looked_at += job != NULL;
    return job && bulk_matches(engine, bulk, job) ? job : NULL;
}

struct job *bulk_next(const struct engine *engine, struct bulk *bulk)
{
    struct bulk_cursor *cursor = &bulk->cursor;
    if (cursor->stage == BULK_JIDS) {
        return next_named(engine, bulk);
    }
    const struct index *index = index_at_cursor(engine, bulk, cursor);
    if (!index) {
        return NULL;
    }
    struct index_node *node = index_find(index, cursor->key);
    if (!node) {
        leave_index(bulk, cursor);
        return NULL;
    }
    cursor->key = key_after(node->key);
    struct job *job = cursor->stage == BULK_TAGGED ? tagging_of_node(node)->job : job_of_node(node);
    bulk->view.looked_at += !was_moved_on(bulk, job);
    return bulk_matches(engine, bulk, job) ? job : NULL;
}
