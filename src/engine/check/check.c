// SPDX-License-Identifier: MIT
// The jobs themselves are assumed to be correct. Counts and references are derived from them and
// can be repaired; a broken index is reported and cannot be repaired.
#include "engine/check/check.h"

#include "engine/check/checking.h"
#include "engine/dedup/done.h"
#include "engine/dedup/promise.h"
#include "engine/dedup/settled.h"
#include "engine/dedup/unique.h"
#include "engine/due.h"
#include "engine/job/job.h"
#include "engine/job/place.h"
#include "engine/lanes/lane.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/series.h"
#include "engine/measure/tally.h"
#include "engine/queue/line.h"
#include "engine/queue/queue.h"
#include "engine/records/walk.h"
#include "engine/recurring/recurring.h"
#include "engine/relations/depends.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/relations/track.h"
#include "engine/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void check_problem(struct check *check, const char *format, ...)
{
    check->problems++;
    if (check->report) {
        char sentence[ERROR_DETAIL_SIZE];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
        va_end(arguments);
        check->report(check->context, sentence);
    }
}

void check_index(struct check *check, const struct index *index, const char *what,
                 struct slice name)
{
    check->engine->pool.steps += index->count;
    if (!index_check(index)) {
        check_problem(check, "the index of %s of %.*s is broken", what, SLICE_PRINT(name));
    }
}

static void check_edges(struct check *check, struct job *job)
{
    struct job_extra *extra = job->extra;
    uint32_t dependencies = 0, dependents = 0;
    for (const struct edge *at = extra->dependencies; at; at = at->next_dependency) {
        engine_step(check->engine);
        dependencies++;
        if (at->dependent != job ||
            map_find(&check->engine->jobs, job_jid(at->dependency)) != at->dependency) {
            check_problem(check, "job %.*s depends on a job that is gone",
                          SLICE_PRINT(job_jid(job)));
        } else if (at->dependency->state == JOB_COMPLETE) {
            check_problem(check, "job %.*s depends on %.*s, which is complete",
                          SLICE_PRINT(job_jid(job)), SLICE_PRINT(job_jid(at->dependency)));
        }
    }
    for (const struct edge *at = extra->dependents; at; at = at->next_dependent) {
        engine_step(check->engine);
        dependents++;
    }
    check->edges += dependencies;
    CHECK_COUNT(check, extra->dependency_count, dependencies, "the number of dependencies",
                job_jid(job));
    CHECK_COUNT(check, extra->dependent_count, dependents, "the number of dependents",
                job_jid(job));
    if ((job->state == JOB_DEPENDS) != (dependencies > 0) && job->state != JOB_FAILED) {
        check_problem(check, "job %.*s is %s with %u dependencies", SLICE_PRINT(job_jid(job)),
                      job_state_name(job->state), dependencies);
    }
}

static void check_tags(struct check *check, struct job *job)
{
    uint32_t count = 0;
    for (struct tagging *at = job->extra->tags; at; at = at->next) {
        count++;
        if (at->job != job || index_find(&at->tag->taggings, at->node.key) != &at->node) {
            check_problem(check, "job %.*s is not among the jobs of its tag %.*s",
                          SLICE_PRINT(job_jid(job)), SLICE_PRINT(tag_key(at->tag)));
        }
    }
    check->taggings += count;
    CHECK_COUNT(check, job->extra->tag_count, count, "the number of tags", job_jid(job));
}

// A time of 0 was lost, unless the engine existed at that time.
static void check_updated(struct check *check, const struct job *job)
{
    const struct lease *lease = job_lease(job);
    int64_t updated_us = lease ? lease->updated_us : job->updated_us;
    if (updated_us == 0 && job->created_us > 0 && check->engine->clock == ENGINE_CLOCK_SERVER) {
        check_problem(check, "when job %.*s last changed is not known", SLICE_PRINT(job_jid(job)));
    }
}

static void check_lease(struct check *check, struct job *job)
{
    if (job->state == JOB_RUNNING && !job_lease(job)) {
        check_problem(check, "job %.*s is running without a lease", SLICE_PRINT(job_jid(job)));
    }
    if (job_lease(job)) {
        check->leases++;
        job_lease(job)->lane->counted++;
        struct worker *worker = job_lease(job)->worker;
        if (job_lease(job)->job != job ||
            index_find(&worker->leases, job_lease(job)->node.key) != &job_lease(job)->node) {
            check_problem(check, "job %.*s is not among the leases of its worker %.*s",
                          SLICE_PRINT(job_jid(job)), SLICE_PRINT(worker_name(worker)));
        }
        if (job_lease(job)->token > check->engine->token) {
            check_problem(check, "the token of job %.*s lies ahead", SLICE_PRINT(job_jid(job)));
        }
    }
}

// A waiting job with a domain is in its lane.
static void check_lane_of(struct check *check, struct job *job)
{
    if (job->state != JOB_WAITING && job->state != JOB_STALLED) {
        return;
    }
    const struct lane *lane = lane_find(check->engine, job->queue, job->domain);
    if (!lane || index_find(&lane->line, job->node.key) != &job->node) {
        check_problem(check, "job %.*s is not in the line of its lane", SLICE_PRINT(job_jid(job)));
    }
}

static void check_rare(struct check *check, struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    const struct unique *unique = rare ? rare->unique : NULL;
    check->promises_of_jobs += rare && rare->result && rare->result->given;
    check->promises_of_jobs += unique && unique->promise && unique->promise->given;
    if (unique && unique->held) {
        check->uniques++;
        if (map_find(&check->engine->uniques, unique_key(unique)) != unique) {
            check_problem(check, "the lock of job %.*s is not among those that are held",
                          SLICE_PRINT(job_jid(job)));
        }
    }
    uint32_t failed = 0;
    for (const struct edge *at = job->extra ? job->extra->dependencies : NULL; at;
         at = at->next_dependency) {
        engine_step(check->engine);
        failed += at->dependency->state == JOB_FAILED;
    }
    if (job->extra) {
        CHECK_COUNT(check, job->extra->members_failed, failed, "the number of failed members",
                    job_jid(job));
    }
}

// The part of the tallies that counts a job in addition to its state.
static void check_part(struct check *check, struct job *job)
{
    bool running = job_lease(job) != NULL;
    bool open = job->state != JOB_RUNNING && job->state != JOB_COMPLETE && job->state != JOB_FAILED;
    size_t part = running && job_lease(job)->started ? TALLY_STARTED : TALLY_TRIED;
    if (job->queue && (part == TALLY_STARTED || (open && job->attempts))) {
        job->queue->counted.states[part]++;
        check->states[part]++;
    }
}

static void check_settled(struct check *check, const struct job *job)
{
    struct settled settled;
    if (job_settled(job, &settled) != SETTLED_NOT && settled.token > check->engine->token) {
        check_problem(check, "job %.*s was settled under a token that was never given out",
                      SLICE_PRINT(job_jid(job)));
    }
}

static void check_job(void *context, struct job *job)
{
    struct check *check = context;
    struct engine *engine = check->engine;
    engine_step(engine);
    check->jobs++;
    if (map_find(&engine->jobs, job_jid(job)) != job) {
        check_problem(check, "job %.*s cannot be found by its jid", SLICE_PRINT(job_jid(job)));
        if (check->repair && !map_find(&engine->jobs, job_jid(job))) {
            (void)!map_insert(&engine->jobs, job);
        }
    }
    bool tracked = map_find(&engine->tracked, job_jid(job)) != NULL;
    if (job->tracked != tracked) {
        check_problem(check, "job %.*s is%s tracked, and does not know it",
                      SLICE_PRINT(job_jid(job)), tracked ? "" : " not");
        if (check->repair) {
            job->tracked = tracked;
        }
    }
    if (job->queue == NULL && job->state != JOB_COMPLETE) {
        check_problem(check, "job %.*s is %s without a queue", SLICE_PRINT(job_jid(job)),
                      job_state_name(job->state));
    }
    if (job->state == JOB_FAILED && job->queue) {
        job->queue->counted.failed++;
    }
    if (job->queue) {
        job->queue->counted.states[job->state]++;
        size_t bytes = job_counts(job) ? job_data(job).size : 0;
        job->queue->counted.bytes += bytes;
        check->bytes += bytes;
    }
    check->states[job->state]++;
    check_part(check, job);
    check_lane_of(check, job);
    check_rare(check, job);
    check_settled(check, job);
    if (job->id > engine->job_id) {
        check_problem(check, "the number of job %.*s lies ahead", SLICE_PRINT(job_jid(job)));
        if (check->repair) {
            engine->job_id = job->id;
        }
    }
    check_lease(check, job);
    check_updated(check, job);
    if (job->extra) {
        check_edges(check, job);
        check_tags(check, job);
    }
}

// The jobs of an index must be in a state that belongs there, and in that queue.
static void check_states(struct check *check, const struct queue *queue, const struct index *index,
                         enum job_state state, enum job_state or_state)
{
    struct index_cursor cursor = index_cursor_at(index, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct job *job = job_of_node(node);
        if (job->queue != queue || (job->state != state && job->state != or_state)) {
            check_problem(check, "job %.*s is %s, but not where such jobs of queue %.*s are",
                          SLICE_PRINT(job_jid(job)), job_state_name(job->state),
                          SLICE_PRINT(queue_name(queue)));
        }
    }
}

static void check_counts(struct check *check, struct tallies *tallies,
                         const size_t states[TALLY_PARTS], struct slice name)
{
    size_t counted[TALLY_PARTS] = { 0 };
    struct index_cursor cursor = index_cursor_at(&tallies->by_priority, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        for (size_t i = 0; i < TALLY_PARTS; i++) {
            counted[i] += tally_of_node(node)->counts[i];
        }
    }
    for (size_t i = 0; i < TALLY_PARTS; i++) {
        const char *part = i == TALLY_TRIED     ? "to be tried again"
                           : i == TALLY_STARTED ? "begun"
                                                : job_state_name((enum job_state)i);
        if (counted[i] != states[i] || tallies->counts[i] != states[i]) {
            check_problem(check,
                          "%zu jobs of %.*s that are %s are counted, %zu by priority, and there "
                          "are %zu",
                          tallies->counts[i], SLICE_PRINT(name), part, counted[i], states[i]);
            check->recount = true;
        }
    }
}

static void forget_counts(struct tallies *tallies)
{
    struct index_cursor cursor = index_cursor_at(&tallies->by_priority, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        memset(tally_of_node(node)->counts, 0, sizeof(tallies->counts));
    }
    memset(tallies->counts, 0, sizeof(tallies->counts));
}

static void forget_counts_of(void *context, struct queue *queue)
{
    (void)context;
    forget_counts(&queue->tallies);
}

static void count_again(void *context, struct job *job)
{
    struct engine *engine = context;
    if (!tally_make(engine, job->queue, job->priority)) {
        job_count(engine, job, 1);
    }
}

// Counts all jobs again.
static void recount(struct engine *engine)
{
    walk_queues(engine, forget_counts_of, NULL);
    forget_counts(&engine->tallies);
    walk_jobs(engine, count_again, engine);
    engine_settle(engine);
}

// A lane with a number has a record, and is in the index of such lanes under that number.
static void check_lane_saved(struct check *check, struct lane *lane)
{
    struct index *saved = &check->engine->lanes_saved;
    const struct index_key key = { 0, lane->id };
    check->lanes_saved += lane->id != 0;
    if (!lane->id || index_find(saved, key) == &lane->saved) {
        return;
    }
    check_problem(check, "a lane of queue %.*s is not among the lanes with a record",
                  SLICE_PRINT(queue_name(lane->queue)));
    if (check->repair && !index_has(saved, key) && !index_reserve(saved, 1)) {
        lane->saved.key = key;
        index_insert(saved, &lane->saved);
    }
}

// What the limits of a lane have of it.
static void check_use(struct check *check, const struct lane *lane)
{
    bool limited = false;
    for (enum limit_kind kind = LIMIT_RATE; kind < LIMIT_KINDS; kind++) {
        struct limit_entry *limit = lane->limits.of[kind];
        if (limit_is_first(&lane->limits, kind)) {
            size_t held = limit == lane->held_by ? lane->line.count : 0;
            limit->counted += lane->line.count + lane->running + held;
            limited = true;
        }
    }
    if (limited &&
        (lane->used.waiting != lane->line.count || lane->used.running != lane->running)) {
        check_problem(check, "the limits of a lane of queue %.*s do not count its jobs",
                      SLICE_PRINT(queue_name(lane->queue)));
    }
}

static void check_lanes(struct check *check)
{
    check_index(check, &check->engine->lanes_saved, "the lanes with a record", SLICE("the engine"));
    for (struct lane *lane = check->engine->lanes_first; lane; lane = lane->next) {
        engine_step(check->engine);
        struct slice name = queue_name(lane->queue);
        CHECK_COUNT(check, lane->running, lane->counted, "the number of leases of a lane", name);
        lane->counted = 0;
        check_index(check, &lane->line, "the line of a lane", name);
        check_lane_saved(check, lane);
        check_use(check, lane);
        if (!lane_check(check->engine, lane)) {
            check_problem(check, "a lane of queue %.*s is not where it belongs", SLICE_PRINT(name));
        }
    }
    if (check->engine->lanes_saved.count != check->lanes_saved) {
        check_problem(check, "%zu lanes have a record, and there should be %zu",
                      check->engine->lanes_saved.count, check->lanes_saved);
    }
}

// A job in line is stalled exactly when it stands before all waiting jobs.
static void check_line(struct check *check, const struct queue *queue, const struct index *line)
{
    check_states(check, queue, line, JOB_WAITING, JOB_STALLED);
    struct index_cursor cursor = index_cursor_at(line, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct job *job = job_of_node(node);
        if ((job->state == JOB_WAITING) != (line_class_of(node->key) == LINE_WAITING)) {
            check_problem(check, "job %.*s is %s, but does not stand where such jobs stand in line",
                          SLICE_PRINT(job_jid(job)), job_state_name(job->state));
        }
    }
}

static void check_places(void *context, struct queue *queue)
{
    struct check *check = context;
    check_line(check, queue, &queue->plain.line);
    check_line(check, queue, &queue->laned);
    check_states(check, queue, &queue->scheduled, JOB_SCHEDULED, JOB_SCHEDULED);
    check_states(check, queue, &queue->leased, JOB_RUNNING, JOB_RUNNING);
    check_states(check, queue, &queue->grace, JOB_RUNNING, JOB_RUNNING);
    check_states(check, queue, &queue->depends, JOB_DEPENDS, JOB_DEPENDS);
    check_states(check, queue, &queue->complete, JOB_COMPLETE, JOB_COMPLETE);
    check_states(check, queue, &queue->failed, JOB_FAILED, JOB_FAILED);
}

// The list must contain all of them; that they belong into it was checked before.
static void check_listed(struct check *check, const struct index *index, size_t count,
                         const char *what, struct slice name)
{
    if (index->count != count) {
        check_problem(check, "%zu jobs of %.*s are listed as %s, and there are %zu", index->count,
                      SLICE_PRINT(name), what, count);
    }
}

static void check_queue(void *context, struct queue *queue)
{
    struct check *check = context;
    struct slice name = queue_name(queue);
    check_index(check, &queue->plain.line, "the line", name);
    check_index(check, &queue->laned, "the line of the lanes", name);
    check_index(check, &queue->deadlines, "the deadlines", name);
    check_index(check, &queue->scheduled, "the scheduled jobs", name);
    check_index(check, &queue->leased, "the leased jobs", name);
    check_index(check, &queue->grace, "the jobs in grace", name);
    check_index(check, &queue->depends, "the depending jobs", name);
    check_index(check, &queue->recurring, "the recurring jobs", name);
    check_index(check, &queue->lanes_listed, "the lanes", name);
    if (queue->lanes_listed.count != queue->lane_count) {
        check_problem(check, "queue %.*s lists %zu lanes, and has %zu", SLICE_PRINT(name),
                      queue->lanes_listed.count, queue->lane_count);
    }
    check_index(check, &queue->complete, "the complete jobs", name);
    check_index(check, &queue->failed, "the failed jobs", name);
    check_listed(check, &queue->complete, queue->counted.states[JOB_COMPLETE], "complete", name);
    check_listed(check, &queue->failed, queue->counted.states[JOB_FAILED], "failed", name);
    check_counts(check, &queue->tallies, queue->counted.states, name);

    size_t jobs = line_count(queue) + queue->scheduled.count + queue->leased.count +
                  queue->grace.count + queue->depends.count + queue->counted.failed;
    CHECK_COUNT(check, queue->jobs, jobs, "the number of jobs", name);
    CHECK_COUNT(check, queue->bytes, queue->counted.bytes, "the bytes of its jobs", name);
    bool heard = !queue->known && queue->listeners.count > 0;
    if (queue->heard != heard) {
        check_problem(check, "queue %.*s is %samong those that only have listeners",
                      SLICE_PRINT(name), heard ? "not " : "");
    }
    check_index(check, &queue->listeners, "the listeners", name);
    if (queue->listeners.count != queue->counted.listeners) {
        check_problem(check, "queue %.*s has %zu listeners, and should have %zu", SLICE_PRINT(name),
                      queue->listeners.count, queue->counted.listeners);
    }
    if (queue->due_us != due_of(check->engine, queue)) {
        check_problem(check, "queue %.*s does not know when it is next due", SLICE_PRINT(name));
        if (check->repair) {
            due_update(check->engine, queue);
        }
    }
    if (queue_find(check->engine, name) != queue) {
        check_problem(check, "queue %.*s cannot be found by its name", SLICE_PRINT(name));
    }
}

// Each promise is found by its key, and its job refers to it; a promise whose job is gone has only
// its key.
static void check_promises(struct check *check)
{
    struct engine *engine = check->engine;
    uint64_t bytes = 0;
    check_index(check, &engine->promise_order, "the promises", SLICE("the engine"));
    if (engine->promises.count != engine->promise_order.count) {
        check_problem(check, "%zu promises are known by their key, and there are %zu",
                      engine->promises.count, engine->promise_order.count);
    }
    struct index_cursor cursor = index_cursor_at(&engine->promise_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct promise *promise = promise_of_node(node);
        bytes += promise_size(promise);
        check->promises_of_jobs -= promise->job != NULL;
        const struct unique *held = map_find(&engine->uniques, promise_key(promise));
        const struct job_rare *rare = promise->job ? job_rare(promise->job) : NULL;
        bool known = !promise->job                             ? !held
                     : promise_kind(promise) == PROMISE_RESULT ? rare && rare->result == promise
                                                               : held && held->promise == promise;
        if (!known || map_find(&engine->promises, promise_key(promise)) != promise) {
            check_problem(check, "what was promised about job %.*s is not where it belongs",
                          SLICE_PRINT(promise_jid(promise)));
        }
    }
    if (check->promises_of_jobs) {
        check_problem(check, "%zd more promises belong to jobs than are in the order of promises",
                      (ssize_t)check->promises_of_jobs);
    }
    CHECK_COUNT(check, engine->promise_bytes, bytes, "the bytes of the promises",
                SLICE("the engine"));
    CHECK_COUNT(check, engine->bytes, check->bytes, "the bytes of the jobs", SLICE("the engine"));
}

static void check_totals(struct check *check)
{
    const struct engine *engine = check->engine;
    struct slice all = SLICE("the engine");
    if (engine->jobs.count != check->jobs) {
        check_problem(check, "%zu jobs are known by their jid, and there are %zu",
                      engine->jobs.count, check->jobs);
    }
    if (engine->leases.live != check->leases) {
        check_problem(check, "there are %zu leases, and %zu jobs have one", engine->leases.live,
                      check->leases);
    }
    check_counts(check, &check->engine->tallies, check->states, all);
    if (engine->uniques.count != check->uniques) {
        check_problem(check, "%zu locks are held, and %zu jobs hold one", engine->uniques.count,
                      check->uniques);
    }
    if (engine->taggings.live != check->taggings) {
        check_problem(check, "there are %zu taggings, and the jobs have %zu", engine->taggings.live,
                      check->taggings);
    }
    if (engine->edges.live != check->edges) {
        check_problem(check, "there are %zu dependencies, and the jobs have %zu",
                      engine->edges.live, check->edges);
    }
    check_index(check, &engine->queue_order, "the queues", all);
    check_index(check, &engine->queue_listened, "the queues with listeners alone", all);
    check_index(check, &engine->queue_all, "all queues", all);
    check_index(check, &engine->worker_order, "the workers", all);
    check_index(check, &engine->group_order, "the groups", all);
    check_index(check, &engine->tag_order, "the tags", all);
    check_index(check, &engine->tracked_order, "the tracked jobs", all);
    check_promises(check);
    check->engine->pool.steps += done_size(engine);
    if (!done_check(engine)) {
        check_problem(check, "the jids of complete jobs that are gone contradict each other");
    }
    check->engine->pool.steps += engine->requests.count;
    if (!requests_check(engine)) {
        check_problem(check, "the requests that are remembered contradict each other");
    }
    check->engine->pool.steps += engine->queue_all.count;
    if (!series_check(engine)) {
        check_problem(check, "the lists of measured queues contradict each other");
    }
    check_index(check, &engine->completed, "the complete jobs", all);
    check_index(check, &engine->failed, "the failed jobs", all);
    check_index(check, &engine->running, "the leases", all);
    check_listed(check, &engine->failed, check->states[JOB_FAILED], "failed", all);
    check_listed(check, &engine->running, check->leases, "running", all);
}

static void clear_counts(void *context, struct queue *queue)
{
    (void)context;
    memset(&queue->counted, 0, sizeof(queue->counted));
}

static void count_listeners(struct engine *engine)
{
    struct index_cursor cursor = index_cursor_at(&engine->worker_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        for (struct listener *at = worker_of_node(node)->listeners; at; at = at->next) {
            engine_step(engine);
            at->queue->counted.listeners++;
        }
    }
}

size_t engine_check(struct engine *engine, bool repair,
                    void (*report)(void *context, const char *sentence), void *context)
{
    struct check check = {
        .engine = engine, .repair = repair, .report = report, .context = context
    };
    walk_queues(engine, clear_counts, NULL);
    count_listeners(engine);
    walk_queues(engine, check_places, &check);
    walk_jobs(engine, check_job, &check);
    walk_queues(engine, check_queue, &check);
    check_lanes(&check);
    check_totals(&check);
    check_settings(&check);
    if (repair && check.recount) {
        recount(engine);
    }
    return check.problems;
}

size_t engine_check_size(const struct engine *engine)
{
    return engine->jobs.count + engine->edges.live + engine->taggings.live + engine->leases.live +
           engine->lane_slab.live + engine->tally_slab.live + engine->queue_all.count +
           engine->worker_order.count + engine->listeners.count + engine->groups.count +
           engine->tags.count + engine->tracked.count + engine->recurring.count +
           engine->promises.count + engine->limits.count + engine->policies.count +
           engine->zones.count + engine->bulks.count + engine->requests.count + done_size(engine);
}
