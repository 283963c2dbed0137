// SPDX-License-Identifier: MIT
#include "engine/look/list.h"

#include "engine/job/job.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/name.h"
#include "engine/page.h"
#include "engine/queue/line.h"
#include "engine/queue/queue.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/state.h"

enum {
    BLOCK = 32, // nodes that are read at once
};

// The indexes that are walked, in this order.
enum stage {
    STAGE_ONE,    // an index of exactly the requested jobs: a worker's, a tag's, a group's
    STAGE_QUEUES, // the parts of each queue, or of the requested one
    STAGE_FAILED,
    STAGE_COMPLETE,
    STAGE_END,
};

// The indexes of a queue.
enum part {
    PART_PLAIN,
    PART_LANED,
    PART_LEASED,
    PART_GRACE,
    PART_SCHEDULED,
    PART_DEPENDS,
    PART_FAILED,
    PART_COMPLETE,
    PART_COUNT,
};

// An index without any has the `index` NULL.
#define NO_SOURCE ((struct page_source){ .index = NULL })

struct walk {
    struct engine *engine;
    const struct list_request *request;
    int64_t now_us;
    uint32_t domain;
    struct list_cursor at;
    struct list_result *out;
};

static struct job *job_of_tagging(struct index_node *node)
{
    return ((struct tagging *)(void *)node)->job; // it is the first member
}

static struct job *job_of_lease(struct index_node *node)
{
    return lease_of_node(node)->job;
}

// ---------------------------------------------------------------------------------------------
// What matches

static bool ran_out(const struct engine *engine, const struct job *job, int64_t now_us)
{
    return job_lease(job)->grace ||
           (engine->clock == ENGINE_CLOCK_CLIENT && time_of_key(job->node.key) <= now_us);
}

static enum list list_of(const struct job *job)
{
    switch ((enum job_state)job->state) {
    case JOB_SCHEDULED:
        return LIST_SCHEDULED;
    case JOB_DEPENDS:
        return LIST_DEPENDS;
    case JOB_RUNNING:
        return LIST_RUNNING;
    case JOB_STALLED:
        return LIST_STALLED;
    case JOB_COMPLETE:
        return LIST_COMPLETE;
    case JOB_FAILED:
        return LIST_FAILED;
    case JOB_WAITING:
    case JOB_STATE_COUNT:
        break;
    }
    return LIST_WAITING;
}

static bool is_in_lists(const struct walk *walk, const struct job *job)
{
    unsigned lists = walk->request->lists;
    return lists == 0 || lists >> list_of(job) & 1U ||
           (lists >> LIST_EXPIRED & 1U && job->state == JOB_RUNNING &&
            ran_out(walk->engine, job, walk->now_us));
}

static bool matches(const struct walk *walk, const struct job *job)
{
    const struct list_request *request = walk->request;
    const struct engine *engine = walk->engine;
    if (!is_in_lists(walk, job)) {
        return false;
    }
    if (request->domain.size && job->domain != walk->domain) {
        return false;
    }
    if (request->klass.size &&
        !slice_equal(intern_get(&engine->names, job->klass), request->klass)) {
        return false;
    }
    if (request->queue.size &&
        (!job->queue || !slice_equal(queue_name(job->queue), request->queue))) {
        return false;
    }
    if (request->worker.size &&
        (!job_lease(job) || !slice_equal(worker_name(job_lease(job)->worker), request->worker))) {
        return false;
    }
    if (request->group.size &&
        (job->state != JOB_FAILED || !slice_equal(group_key(job->extra->group), request->group))) {
        return false;
    }
    return !request->tag.size || job_has_tag(job, request->tag);
}

// ---------------------------------------------------------------------------------------------
// Selection of indexes

static bool wants(const struct list_request *request, enum list list)
{
    return request->lists == 0 || request->lists >> list & 1U;
}

// Whether one index contains all requested jobs.
static bool has_one(const struct list_request *request)
{
    return request->worker.size || request->tag.size || request->group.size;
}

// All of an index, or none if it is NULL.
static struct page_source all_of(const struct index *index, bool backwards,
                                 struct job *(*job_of)(struct index_node *node))
{
    return (struct page_source){
        .index = index, .to = index ? index->count : 0, .backwards = backwards, .job_of = job_of
    };
}

static struct page_source source_one(const struct walk *walk)
{
    const struct list_request *request = walk->request;
    if (request->worker.size) {
        const struct worker *worker = worker_find(walk->engine, request->worker);
        return all_of(worker ? &worker->leases : NULL, false, job_of_lease);
    }
    if (request->group.size) {
        const struct group *group = map_find(&walk->engine->groups, request->group);
        return all_of(group ? &group->jobs : NULL, true, job_of_node);
    }
    const struct tag *tag = map_find(&walk->engine->tags, request->tag);
    return all_of(tag ? &tag->taggings : NULL, false, job_of_tagging);
}

static const struct index *laned(const struct walk *walk, struct queue *queue)
{
    if (!walk->request->domain.size) {
        return &queue->laned;
    }
    const struct lane *lane = lane_find(walk->engine, queue, walk->domain);
    return lane ? &lane->line : NULL;
}

static struct page_source source_in_queue(const struct walk *walk, struct queue *queue,
                                          unsigned part)
{
    const struct list_request *request = walk->request;
    bool running = wants(request, LIST_RUNNING), expired = wants(request, LIST_EXPIRED);
    bool waiting = wants(request, LIST_WAITING), stalled = wants(request, LIST_STALLED);
    bool client = walk->engine->clock == ENGINE_CLOCK_CLIENT;
    bool wanted[PART_COUNT] = {
        [PART_PLAIN] = (waiting || stalled) && !request->domain.size,
        [PART_LANED] = waiting || stalled,
        [PART_LEASED] = running || (client && expired),
        [PART_GRACE] = running || expired,
        [PART_SCHEDULED] = wants(request, LIST_SCHEDULED),
        [PART_DEPENDS] = wants(request, LIST_DEPENDS),
        // Without a queue in the request, those of all queues come last.
        [PART_FAILED] = wants(request, LIST_FAILED) && request->queue.size,
        [PART_COMPLETE] = wants(request, LIST_COMPLETE) && request->queue.size,
    };
    const struct index *parts[PART_COUNT] = {
        [PART_PLAIN] = &queue->plain.line,
        [PART_LANED] = wanted[part] && part == PART_LANED ? laned(walk, queue) : NULL,
        [PART_LEASED] = &queue->leased,
        [PART_GRACE] = &queue->grace,
        [PART_SCHEDULED] = &queue->scheduled,
        [PART_DEPENDS] = &queue->depends,
        [PART_FAILED] = &queue->failed,
        [PART_COMPLETE] = &queue->complete,
    };
    if (!wanted[part] || !parts[part]) {
        return NO_SOURCE;
    }
    if (part == PART_PLAIN || part == PART_LANED) {
        return line_source(parts[part], waiting && stalled ? LIST_LINE
                                        : waiting          ? LIST_WAITING
                                                           : LIST_STALLED);
    }
    if (part == PART_LEASED && !running) {
        struct page_source source = all_of(parts[part], false, job_of_node);
        source.to = queue_run_out(queue, walk->now_us);
        return source;
    }
    return all_of(parts[part], part >= PART_FAILED, job_of_node);
}

static void go_to(struct list_cursor *at, unsigned stage, uint64_t container, unsigned part)
{
    *at = (struct list_cursor){
        .set = true, .stage = (uint8_t)stage, .part = (uint8_t)part, .container = container
    };
}

static void next_stage(const struct walk *walk, struct list_cursor *at)
{
    bool last = at->stage == STAGE_ONE || (walk->request->queue.size && at->stage == STAGE_QUEUES);
    go_to(at, last ? STAGE_END : at->stage + 1U, 0, 0);
}

// The queue of the cursor, or the next one; NULL at the end.
static struct queue *queue_at(const struct walk *walk, uint64_t container)
{
    struct slice name = walk->request->queue;
    if (name.size) {
        struct queue *queue = queue_find(walk->engine, name);
        return queue && queue->id >= container ? queue : NULL;
    }
    struct index_node *node =
        index_find(&walk->engine->queue_all, time_key((int64_t)container, container));
    return node ? queue_of_all(node) : NULL;
}

// The index of the cursor. Without an index if the cursor has moved on.
static struct page_source source_at(struct walk *walk)
{
    struct list_cursor *at = &walk->at;
    const struct list_request *request = walk->request;
    struct page_source source = NO_SOURCE;
    switch (at->stage) {
    case STAGE_ONE:
        source = source_one(walk);
        break;
    case STAGE_QUEUES: {
        struct queue *queue = at->container <= INT64_MAX ? queue_at(walk, at->container) : NULL;
        if (!queue) {
            break;
        }
        if (queue->id != at->container) {
            go_to(at, STAGE_QUEUES, queue->id, 0);
        }
        while (at->part < PART_COUNT) {
            source = source_in_queue(walk, queue, at->part);
            if (source.index && source.from < source.to) {
                return source;
            }
            go_to(at, STAGE_QUEUES, queue->id, at->part + 1U);
        }
        go_to(at, STAGE_QUEUES, queue->id + 1, 0);
        return NO_SOURCE;
    }
    case STAGE_FAILED:
        source =
            all_of(wants(request, LIST_FAILED) ? &walk->engine->failed : NULL, true, job_of_node);
        break;
    case STAGE_COMPLETE:
        source = all_of(wants(request, LIST_COMPLETE) ? &walk->engine->completed : NULL, true,
                        job_of_node);
        break;
    default:
        break;
    }
    if (!source.index) {
        next_stage(walk, at);
    }
    return source;
}

static void leave_index(struct walk *walk)
{
    struct list_cursor *at = &walk->at;
    if (at->stage == STAGE_QUEUES) {
        go_to(at, STAGE_QUEUES, at->container, at->part + 1U);
    } else {
        next_stage(walk, at);
    }
}

// ---------------------------------------------------------------------------------------------
// The walk

// Reads the next nodes of an index after the cursor, in the order of the list.
static size_t read_block(const struct page_source *source, const struct list_cursor *at,
                         struct index_node *block[BLOCK])
{
    const struct index *index = source->index;
    size_t from = source->from, to = source->to;
    if (at->inside && source->backwards) {
        to = index_rank(index, at->key);
    } else if (at->inside) {
        size_t rank = index_rank(index, page_key_after(at->key));
        from = rank < from ? from : rank > to ? to : rank;
    }
    size_t count = to - from < BLOCK ? to - from : BLOCK;
    struct index_cursor cursor = index_cursor_at(index, source->backwards ? to - count : from);
    for (size_t i = 0; i < count; i++) {
        block[source->backwards ? count - 1 - i : i] = index_cursor_next(&cursor);
    }
    return count;
}

static bool is_full(const struct walk *walk)
{
    const struct list_request *request = walk->request;
    return walk->out->found == request->count || walk->out->looked_at >= LIST_LOOKS_MAX ||
           (request->is_enough && request->is_enough(request->context));
}

static void walk_index(struct walk *walk, const struct page_source *source)
{
    struct index_node *block[BLOCK];
    size_t count = read_block(source, &walk->at, block);
    for (size_t i = 0; i < count && !is_full(walk); i++) {
        const struct job *job = source->job_of(block[i]);
        walk->at.inside = true;
        walk->at.key = block[i]->key;
        walk->out->looked_at++;
        walk->out->jobs_looked_at++;
        if (matches(walk, job) &&
            (!walk->request->accepts || walk->request->accepts(walk->request->context, job))) {
            walk->request->jobs[walk->out->found++] = job;
        }
    }
    if (count < BLOCK && (count == 0 || index_key_equal(walk->at.key, block[count - 1]->key))) {
        leave_index(walk);
    }
}

// ---------------------------------------------------------------------------------------------
// Totals

// The total of the whole namespace, if it is counted.
static bool total_of_all(const struct walk *walk, size_t *total)
{
    const size_t *counts = walk->engine->tallies.counts;
    bool running = wants(walk->request, LIST_RUNNING);
    *total = running ? counts[JOB_RUNNING] : 0;
    *total += wants(walk->request, LIST_WAITING) ? counts[JOB_WAITING] : 0;
    *total += wants(walk->request, LIST_STALLED) ? counts[JOB_STALLED] : 0;
    *total += wants(walk->request, LIST_SCHEDULED) ? counts[JOB_SCHEDULED] : 0;
    *total += wants(walk->request, LIST_DEPENDS) ? counts[JOB_DEPENDS] : 0;
    *total += wants(walk->request, LIST_COMPLETE) ? counts[JOB_COMPLETE] : 0;
    *total += wants(walk->request, LIST_FAILED) ? counts[JOB_FAILED] : 0;
    return running || !wants(walk->request, LIST_EXPIRED);
}

static size_t total_of_queue(const struct walk *walk)
{
    struct queue *queue = queue_find(walk->engine, walk->request->queue);
    size_t total = 0;
    for (unsigned part = 0; queue && part < PART_COUNT; part++) {
        struct page_source source = source_in_queue(walk, queue, part);
        total += source.to - source.from;
    }
    return total;
}

static bool find_total(const struct walk *walk, size_t *total)
{
    const struct list_request *request = walk->request;
    int one = (request->worker.size > 0) + (request->tag.size > 0) + (request->group.size > 0);
    *total = 0;
    if (request->klass.size || request->domain.size || one > 1) {
        return false;
    }
    if (one == 1) {
        struct page_source source = source_one(walk);
        *total = source.to - source.from;
        bool all =
            request->lists == 0 || (request->group.size && request->lists == 1U << LIST_FAILED);
        return all && request->queue.size == 0;
    }
    if (request->queue.size) {
        *total = total_of_queue(walk);
        return true;
    }
    return total_of_all(walk, total);
}

// ---------------------------------------------------------------------------------------------

enum status list_check(const struct list_request *request, struct error *error)
{
    const struct {
        struct slice name;
        const char *what;
    } names[] = {
        { request->queue, "queue" }, { request->klass, "klass" }, { request->worker, "worker" },
        { request->tag, "tag" },     { request->group, "group" }, { request->domain, "domain" },
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        enum status status = name_check_if_given(names[i].name, names[i].what, error);
        if (status) {
            return status;
        }
    }
    if (request->lists >> LIST_COUNT) {
        return error_set(error, STATUS_INVALID, "unknown list");
    }
    return STATUS_OK;
}

void list_walk(struct engine *engine, int64_t now_us, const struct list_request *request,
               struct list_result *out)
{
    *out = (struct list_result){ 0 };
    struct walk walk = { .engine = engine,
                         .request = request,
                         .now_us = now_us,
                         .domain = intern_find(&engine->names, request->domain),
                         .at = request->from,
                         .out = out };
    out->has_total = find_total(&walk, &out->total);
    if (!walk.at.set) {
        go_to(&walk.at, has_one(request) ? STAGE_ONE : STAGE_QUEUES, 0, 0);
    }
    if (request->domain.size && walk.domain == INTERN_NONE) {
        return; // no job has it
    }
    while (!is_full(&walk) && walk.at.stage < STAGE_END) {
        struct page_source source = source_at(&walk);
        if (source.index) {
            walk_index(&walk, &source);
        } else {
            out->looked_at++;
        }
    }
    out->more = walk.at.stage < STAGE_END && request->count > 0;
    out->next = walk.at;
}

enum status engine_list(struct engine *engine, int64_t now_us, const struct list_request *request,
                        struct list_result *out, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = list_check(request, error);
    }
    if (!status) {
        list_walk(engine, now_us, request, out);
    }
    return status;
}
