// SPDX-License-Identifier: MIT
// Pop hands out jobs under a lease; take hands out a certain one; peek only reads.
#include "engine/dedup/unique.h"
#include "engine/due.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/lanes/lane.h"
#include "engine/lanes/watch.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/metrics.h"
#include "engine/measure/stats.h"
#include "engine/page.h"
#include "engine/queue/line.h"
#include "engine/queue/queue.h"
#include "engine/queue/quota.h"
#include "engine/recurring/recurring.h"
#include "engine/state.h"

// Moves up to `count` due recurring jobs, and as many scheduled jobs, to the waiting ones.
static enum status bring_in(struct engine *engine, struct queue *queue, int64_t now_us,
                            size_t count)
{
    if (recurring_spawn_due(engine, queue, now_us, count)) {
        return STATUS_NO_MEMORY;
    }
    return due_move_scheduled(engine, queue, now_us, count);
}

// With the client clock pop first processes a slice of the deadlines of a queue.
static enum status pass_deadlines(struct engine *engine, struct queue *queue, int64_t now_us)
{
    struct index_node *timed;
    for (int i = 0; i < DUE_SLICE_THINGS && (timed = index_first(&queue->deadlines)) &&
                    time_of_key(timed->key) <= now_us;
         i++) {
        if (deadline_pass(engine, job_of_timed(timed), now_us)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

// With the client clock pop does due work as far as it concerns `count` jobs: at most so many
// expired leases, then recurring, then scheduled jobs for the rest.
static enum status do_due(struct engine *engine, struct queue *queue, int64_t now_us, size_t count,
                          bool no_grace)
{
    size_t lost = line_count(queue);
    for (size_t i = 0; i < count; i++) {
        struct index_node *node = index_first(&queue->leased);
        if (!node || time_of_key(node->key) > now_us) {
            break;
        }
        if (lease_run_out(engine, job_of_node(node), now_us, no_grace)) {
            return STATUS_NO_MEMORY;
        }
    }
    lost = line_count(queue) - lost;
    enum status status = bring_in(engine, queue, now_us, lost < count ? count - lost : 0);
    return status ? status : lanes_move_due(engine, queue, now_us);
}

enum {
    LINE_IN_CACHE = 1024, // waiting jobs that fit into a processor's cache
};

// Prefetches memory that the next calls will need and that in a long queue is not cached: the job
// after the next one, and the map entry of the next one, which is needed when it is completed.
static void foresee(const struct engine *engine, const struct lane *lane)
{
    if (lane->line.count <= LINE_IN_CACHE) {
        return;
    }
    struct index_cursor cursor = index_cursor_at(&lane->line, 0);
    struct index_node *next = index_cursor_next(&cursor);
    const char *after = (const char *)index_cursor_next(&cursor);
    if (after) {
        (void)map_spot(&engine->jobs, job_jid(job_of_node(next)));
        __builtin_prefetch(after);
        __builtin_prefetch(after + 64);
        __builtin_prefetch(after + 128);
    }
}

// Updates the job itself at the beginning of a run.
static void begin_run(struct engine *engine, struct job *job, int64_t now_us)
{
    metrics_popped(engine, job, now_us);
    count_up(&job->attempts);
    job->time_us = now_us;
    struct job_rare *rare = job_rare(job);
    if (rare) {
        rare->deadline_us = 0;
        job_forget_progress(engine, job);
        unique_started(engine, job);
    }
}

// Since when a job that was not ready from its first put could run, if nothing else in its history
// says so; otherwise 0.
static int64_t since(const struct job *job, int64_t now_us)
{
    if (job->state != JOB_WAITING || trail_bytes(job->history).size) {
        return 0;
    }
    int64_t line_us = line_time(job->node.key);
    return line_us > job->created_us && line_us <= now_us ? line_us : 0;
}

// The worker that gets the jobs, and its lease.
struct taker {
    struct worker *worker;
    int64_t lease_us; // 0: as the job says
};

// Hands out a job of a lane that may run.
static enum status hand_out(struct engine *engine, struct lane *lane, struct job *job,
                            const struct taker *taker, int64_t now_us, const struct job **out)
{
    struct worker *worker = taker->worker;
    struct queue *queue = lane->queue;
    const struct history_entry entry = { .kind = HISTORY_POPPED,
                                         .when_us = now_us,
                                         .until_us = since(job, now_us),
                                         .worker = worker_name(worker) };
    if (lease_reserve(engine, queue, worker, 1) || history_reserve(engine, job, &entry, 1) ||
        leave_reserve(engine, job) || stats_reserve(engine, queue, now_us)) {
        engine_settle(engine);
        return STATUS_NO_MEMORY;
    }
    *out = NULL;
    if (queue->lanes_count && !lane_take(engine, lane)) {
        engine_settle(engine);
        return STATUS_OK;
    }
    job_unlink(engine, job);
    foresee(engine, lane);
    history_append(engine, job, &entry);
    struct stats_day *day = stats_find(queue, now_us);
    stats_add(&day->wait, now_us - job->time_us);
    stats_changed(engine, queue, day);
    begin_run(engine, job, now_us);
    lease_give(engine, job, worker, taker->lease_us, now_us);
    job_changed(engine, job, JOB_DIRTY_HEAD);
    unsigned followers = engine_followers(engine, job->tracked);
    if (followers) {
        engine_emit(engine, &(struct event){ .kind = EVENT_POPPED,
                                             .channels = followers,
                                             .when_us = now_us,
                                             .jid = job_jid(job),
                                             .queue = queue_name(queue),
                                             .worker = worker_name(worker) });
    }
    engine_settle(engine);
    *out = job;
    return STATUS_OK;
}

// A pop in progress.
struct popping {
    struct engine *engine;
    int64_t now_us;
    const struct pop_request *request;
    struct taker taker;
    const struct job **jobs;
    size_t count; // popped so far
    size_t unfit; // skipped since the last one
    bool over;    // the next job does not fit
};

// Whether the job is to be handed out; if not, whether the pop continues after it.
static bool takes(struct popping *popping, const struct job *job)
{
    const struct pop_request *request = popping->request;
    enum pop_fit fit =
        request->fits ? request->fits(request->fits_context, job, popping->jobs, popping->count)
                      : POP_FITS;
    popping->unfit = fit == POP_FITS ? 0 : popping->unfit + 1;
    popping->over = fit == POP_FITS_LATER || popping->unfit >= POP_UNFIT_MAX;
    return fit == POP_FITS;
}

// The first job of a lane that fits, or NULL.
static struct job *first_that_fits(struct popping *popping, const struct lane *lane)
{
    struct job *job = job_of_node(index_first(&lane->line));
    if (takes(popping, job)) {
        return job;
    }
    struct index_cursor cursor = index_cursor_at(&lane->line, 1);
    struct index_node *node;
    while (!popping->over && (node = index_cursor_next(&cursor))) {
        job = job_of_node(node);
        if (takes(popping, job)) {
            return job;
        }
    }
    return NULL;
}

// The job that a queue hands out next, and its lane; NULL if there is none that may run and fits.
static struct job *next_job(struct popping *popping, struct queue *queue, struct lane **lane)
{
    struct job *job = NULL;
    if (!queue->lanes_count) {
        *lane = &queue->plain;
        return queue->plain.line.count ? first_that_fits(popping, *lane) : NULL;
    }
    struct index_cursor cursor = index_cursor_at(&queue->lanes[LANE_READY], 0);
    struct index_node *node;
    while (!job && !popping->over && (node = index_cursor_next(&cursor))) {
        *lane = lane_of_node(node);
        job = first_that_fits(popping, *lane);
    }
    return job;
}

// The lane that the next job comes from, or NULL.
static struct lane *next_lane(struct queue *queue)
{
    if (queue->lanes_count) {
        return lane_next(queue);
    }
    return queue->plain.line.count ? &queue->plain : NULL;
}

// How many jobs, up to `count`, a queue may hand out now. With the client clock due work is done
// first, as far as it concerns so many jobs.
static enum status look_at_queue(struct popping *popping, struct queue *queue, size_t *count)
{
    struct engine *engine = popping->engine;
    int64_t now_us = popping->now_us;
    size_t wanted = *count;
    *count = 0;
    if (queue->paused) {
        return STATUS_OK;
    }
    if (engine->clock == ENGINE_CLOCK_CLIENT && pass_deadlines(engine, queue, now_us)) {
        return STATUS_NO_MEMORY;
    }
    size_t room = queue_room(engine, queue, now_us);
    wanted = wanted < room ? wanted : room;
    if (wanted > 0 && engine->clock == ENGINE_CLOCK_CLIENT &&
        do_due(engine, queue, now_us, wanted, popping->request->no_grace)) {
        return STATUS_NO_MEMORY;
    }
    *count = wanted;
    return STATUS_OK;
}

static enum status hand_out_next(struct popping *popping, struct lane *lane, struct job *job)
{
    const struct job **out = &popping->jobs[popping->count];
    if (hand_out(popping->engine, lane, job, &popping->taker, popping->now_us, out)) {
        return STATUS_NO_MEMORY;
    }
    popping->count += *out != NULL;
    return STATUS_OK;
}

// Pops up to `count` jobs from one queue. If memory runs out it may have popped some, and returns
// that status.
static enum status pop_queue(struct popping *popping, struct queue *queue, size_t count)
{
    if (look_at_queue(popping, queue, &count)) {
        return STATUS_NO_MEMORY;
    }
    size_t end = popping->count + count;
    struct lane *lane;
    struct job *job;
    while (popping->count < end && (job = next_job(popping, queue, &lane))) {
        if (hand_out_next(popping, lane, job)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static enum status pop_ordered(struct popping *popping)
{
    const struct pop_request *request = popping->request;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && !popping->over && i < request->queues.count; i++) {
        struct queue *queue = queue_find(popping->engine, request->queues.items[i]);
        if (queue && popping->count < request->count) {
            status = pop_queue(popping, queue, request->count - popping->count);
        }
    }
    return status;
}

static enum status pop_in_turn(struct popping *popping)
{
    const struct pop_request *request = popping->request;
    size_t in_vain = 0; // consecutive queues without a job
    for (size_t i = 0;
         popping->count < request->count && !popping->over && in_vain < request->queues.count;
         i++) {
        struct slice name = request->queues.items[i % request->queues.count];
        struct queue *queue = queue_find(popping->engine, name);
        size_t before = popping->count;
        enum status status = queue ? pop_queue(popping, queue, 1) : STATUS_OK;
        in_vain = popping->count > before ? 0 : in_vain + 1;
        if (status) {
            return status;
        }
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// The best job of all queues

// The first job of a queue, or a later one if the first does not fit.
struct head {
    struct job *job;
    struct lane *lane;
    struct queue *queue;
};

// A heap: no head precedes its parent.
struct heads {
    struct head *items;
    size_t count;
};

static bool head_before(const struct head *a, const struct head *b)
{
    if (a->job->priority != b->job->priority) {
        return a->job->priority < b->job->priority;
    }
    enum line_class of_a = line_class_of(a->job->node.key);
    enum line_class of_b = line_class_of(b->job->node.key);
    return of_a != of_b ? of_a < of_b : a->job->id < b->job->id;
}

// Moves the head at `index` down to its place.
static void sift_down(struct heads *heads, size_t index)
{
    struct head head = heads->items[index];
    for (size_t child; (child = 2 * index + 1) < heads->count; index = child) {
        if (child + 1 < heads->count &&
            head_before(&heads->items[child + 1], &heads->items[child])) {
            child++;
        }
        if (!head_before(&heads->items[child], &head)) {
            break;
        }
        heads->items[index] = heads->items[child];
    }
    heads->items[index] = head;
}

// The job that a queue would hand out, whether it fits or not.
static bool find_head(const struct popping *popping, struct queue *queue, struct head *head)
{
    bool has_room = queue_room(popping->engine, queue, popping->now_us) > 0;
    struct lane *lane = has_room ? next_lane(queue) : NULL;
    if (lane) {
        *head = (struct head){ job_of_node(index_first(&lane->line)), lane, queue };
    }
    return lane != NULL;
}

static enum status find_heads(struct popping *popping, struct heads *heads)
{
    const struct pop_request *request = popping->request;
    for (size_t i = 0; i < request->queues.count; i++) {
        struct queue *queue = queue_find(popping->engine, request->queues.items[i]);
        size_t count = request->count;
        if (queue && look_at_queue(popping, queue, &count)) {
            return STATUS_NO_MEMORY;
        }
        if (queue && count && find_head(popping, queue, &heads->items[heads->count])) {
            heads->count++;
        }
    }
    for (size_t i = heads->count / 2; i-- > 0;) {
        sift_down(heads, i);
    }
    return STATUS_OK;
}

// The queue of the best head has another next job, or none.
static void replace_best(struct heads *heads, const struct head *next)
{
    heads->items[0] = next ? *next : heads->items[--heads->count];
    if (heads->count) {
        sift_down(heads, 0);
    }
}

static enum status take_best(struct popping *popping, struct heads *heads)
{
    struct head best = heads->items[0], next;
    // A queue that is named twice has two heads.
    bool is_there = best.job->state == JOB_WAITING || best.job->state == JOB_STALLED;
    if (is_there && !takes(popping, best.job)) {
        if (popping->over) {
            return STATUS_OK;
        }
        next = (struct head){ next_job(popping, best.queue, &next.lane), next.lane, best.queue };
        replace_best(heads, next.job ? &next : NULL);
        return STATUS_OK;
    }
    if (is_there && hand_out_next(popping, best.lane, best.job)) {
        return STATUS_NO_MEMORY;
    }
    replace_best(heads, find_head(popping, best.queue, &next) ? &next : NULL);
    return STATUS_OK;
}

static enum status pop_best(struct popping *popping)
{
    const struct pop_request *request = popping->request;
    struct engine *engine = popping->engine;
    size_t size = (request->queues.count + 1) * sizeof(struct head);
    struct heads heads = { .items = mem_alloc(engine->allocator, size) };
    if (!heads.items) {
        return STATUS_NO_MEMORY;
    }
    enum status status = find_heads(popping, &heads);
    while (!status && popping->count < request->count && !popping->over && heads.count) {
        status = take_best(popping, &heads);
    }
    mem_free(engine->allocator, heads.items, size);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Calls

// Records that the worker was seen and pops from the queues that are not paused.
static enum status see_worker(struct engine *engine, int64_t now_us,
                              const struct pop_request *request, struct worker **out)
{
    bool seen = false;
    for (size_t i = 0; i < request->queues.count; i++) {
        const struct queue *queue = queue_find(engine, request->queues.items[i]);
        seen = seen || !queue || !queue->paused;
    }
    *out = NULL;
    if (!seen) {
        return STATUS_OK;
    }
    struct worker *worker;
    if (worker_acquire(engine, request->worker, &worker)) {
        return STATUS_NO_MEMORY;
    }
    if (!worker_seen_in_place(engine, worker, now_us)) {
        if (worker_reserve_seen(engine)) {
            worker_settle(engine, worker);
            return STATUS_NO_MEMORY;
        }
        worker_seen(engine, worker, now_us);
        engine_settle(engine);
    }
    *out = worker;
    for (size_t i = 0; i < request->queues.count; i++) {
        struct queue *queue = queue_find(engine, request->queues.items[i]);
        struct listener *listener;
        if (!queue) {
            if (quota_check_queue(engine, NULL)) {
                continue; // it has no jobs and is not listed
            }
            if (queue_acquire(engine, request->queues.items[i], &queue, NULL)) {
                return STATUS_NO_MEMORY;
            }
            engine_settle(engine);
        }
        if (queue->paused) {
            continue;
        }
        if (worker_reserve_listener(engine, worker, queue, &listener)) {
            engine_settle(engine);
            queue_abandon(engine, queue);
            return STATUS_NO_MEMORY;
        }
        if (listener) {
            worker_listen(engine, worker, listener);
            engine_settle(engine);
        }
    }
    return STATUS_OK;
}

enum status engine_pop(struct engine *engine, int64_t now_us, const struct pop_request *request,
                       const struct job **jobs, size_t *popped, struct error *error)
{
    *popped = 0;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, request->worker, "worker", error);
    }
    if (!status) {
        status = names_check_new(engine, request->queues, "queue", error);
    }
    if (!status) {
        status = lease_length_check(request->lease_us, error);
    }
    if (status) {
        return status;
    }
    struct worker *worker;
    status = see_worker(engine, now_us, request, &worker);
    if (!status && worker) {
        struct popping popping = {
            .engine = engine,
            .now_us = now_us,
            .request = request,
            .taker = { worker, request->lease_us },
            .jobs = jobs,
        };
        status = request->order == POP_BEST          ? pop_best(&popping)
                 : request->order == POP_ROUND_ROBIN ? pop_in_turn(&popping)
                                                     : pop_ordered(&popping);
        *popped = popping.count;
    }
    // Jobs that were handed out remain so if memory does not suffice for more.
    return status && *popped == 0 ? engine_no_memory(error) : STATUS_OK;
}

const struct job *engine_next(const struct engine *engine, struct slice name)
{
    struct queue *queue = queue_find(engine, name);
    if (!queue || !engine_is_ready(engine, name)) {
        return NULL;
    }
    const struct lane *lane = next_lane(queue);
    return lane ? job_of_node(index_first(&lane->line)) : NULL;
}

// With the client clock: does the due work of the job itself, and of its queue except for other
// jobs.
static enum status bring_job(struct engine *engine, struct job *job, int64_t now_us)
{
    struct queue *queue = job->queue;
    if (!queue || queue->paused) {
        return STATUS_OK;
    }
    if (pass_deadlines(engine, queue, now_us)) {
        return STATUS_NO_MEMORY;
    }
    bool is_due = (job->state == JOB_SCHEDULED || job->state == JOB_RUNNING) &&
                  time_of_key(job->node.key) <= now_us;
    enum status status = !is_due                       ? STATUS_OK
                         : job->state == JOB_SCHEDULED ? due_move(engine, job, now_us)
                                                       : lease_run_out(engine, job, now_us, false);
    return status ? status : lanes_move_due(engine, queue, now_us);
}

// The lane of a job, if the job is waiting and may run now; otherwise NULL.
static struct lane *lane_to_run(const struct engine *engine, const struct job *job, int64_t now_us)
{
    struct queue *queue = job->queue;
    if ((job->state != JOB_WAITING && job->state != JOB_STALLED) || queue->paused ||
        queue_room(engine, queue, now_us) == 0) {
        return NULL;
    }
    struct lane *lane = lane_find(engine, queue, job->domain);
    return !queue->lanes_count || lane->place == LANE_READY ? lane : NULL;
}

enum status engine_take(struct engine *engine, int64_t now_us, const struct take_request *request,
                        const struct job **out, struct error *error)
{
    *out = NULL;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, request->worker, "worker", error);
    }
    if (!status) {
        status = lease_length_check(request->lease_us, error);
    }
    struct job *job;
    if (!status) {
        status = job_find(engine, request->jid, &job, error);
    }
    if (status) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    if (engine->clock == ENGINE_CLOCK_CLIENT && bring_job(engine, job, now_us)) {
        return engine_no_memory(error);
    }
    struct lane *lane = lane_to_run(engine, job, now_us);
    if (!lane) {
        return STATUS_OK;
    }
    const struct slice queue = queue_name(job->queue);
    const struct pop_request seen = { .worker = request->worker, .queues = { &queue, 1 } };
    struct taker taker = { .lease_us = request->lease_us };
    if (see_worker(engine, now_us, &seen, &taker.worker) || !taker.worker ||
        hand_out(engine, lane, job, &taker, now_us, out)) {
        return engine_no_memory(error);
    }
    return STATUS_OK;
}

enum status engine_peek(struct engine *engine, int64_t now_us, struct slice name, size_t count,
                        const struct job **jobs, size_t *found, struct error *error)
{
    *found = 0;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(name, "queue", error);
    }
    struct queue *queue = status ? NULL : queue_find(engine, name);
    if (!queue) {
        return status;
    }
    if (engine->clock == ENGINE_CLOCK_CLIENT) {
        struct page expired = { .count = count, .jobs = jobs };
        page_fill(&expired,
                  &(struct page_source){ .index = &queue->leased,
                                         .to = index_rank(&queue->leased, time_key_after(now_us)),
                                         .job_of = job_of_node });
        *found = expired.found;
        if (bring_in(engine, queue, now_us, count - *found)) {
            return engine_no_memory(error);
        }
    }
    struct page line = { .count = count - *found, .jobs = jobs + *found };
    line_page(&line, queue, LIST_LINE);
    *found += line.found;
    return STATUS_OK;
}
