// SPDX-License-Identifier: MIT
#include "engine/explain/explain.h"

#include "base/timefmt.h"
#include "engine/explain/foresee.h"
#include "engine/job/job.h"
#include "engine/lanes/lane.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/queue/queue.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/group.h"
#include "engine/state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    DEPENDENCIES_MAX = 1000, // that are visited for one answer
    NAME_SHOWN_SIZE = 64,    // bytes of a name that is not the subject of the sentence
};

static const char *const names[EXPLAIN_REASON_COUNT] = {
    [EXPLAIN_NEXT] = "next",
    [EXPLAIN_BEHIND] = "behind",
    [EXPLAIN_PAUSED] = "paused",
    [EXPLAIN_LANE_RATE] = "lane-rate",
    [EXPLAIN_LANE_CONCURRENCY] = "lane-concurrency",
    [EXPLAIN_QUEUE_CONCURRENCY] = "queue-concurrency",
    [EXPLAIN_SCHEDULED] = "scheduled",
    [EXPLAIN_DEPENDS] = "depends",
    [EXPLAIN_RUNNING] = "running",
    [EXPLAIN_GRACE] = "grace",
    [EXPLAIN_EXPIRED] = "expired",
    [EXPLAIN_FAILED] = "failed",
    [EXPLAIN_COMPLETE] = "complete",
};

const char *explain_reason_name(enum explain_reason reason)
{
    assert(reason < EXPLAIN_REASON_COUNT);
    return names[reason];
}

// ---------------------------------------------------------------------------------------------
// The time at which it can run

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// With the client clock: whether the time of a job has come, so that the next pop will move it.
static bool is_due_to_a_pop(const struct engine *engine, const struct job *job, int64_t now_us)
{
    return engine->clock == ENGINE_CLOCK_CLIENT && time_of_key(job->node.key) <= now_us;
}

// When a job is popped that becomes ready at a later time.
static void foresee_later(struct engine *engine, const struct job *job, int64_t now_us,
                          int64_t from_us, bool lane_only, struct foresight *out)
{
    from_us = later(from_us, now_us);
    const struct foresee_request request = {
        .job = job,
        .from_us = from_us,
        .key = line_key(LINE_WAITING, job->priority, later(from_us, engine->line_us), job->id),
        .lane_only = lane_only,
    };
    foresee(engine, now_us, &request, out);
    if (job->state == JOB_SCHEDULED && is_due_to_a_pop(engine, job, now_us)) {
        out->behind += index_rank(&job->queue->scheduled, job->node.key); // become ready with it
    }
}

// When a job in its grace period is popped by another worker, if its holder does not report.
static void foresee_grace(struct engine *engine, const struct job *job, int64_t now_us,
                          bool lane_only, struct foresight *out)
{
    int64_t lost_us = time_of_key(job->node.key);
    if (!lease_loss_is_survived(engine, job)) {
        *out = (struct foresight){ .when_us = INT64_MAX };
        return;
    }
    const struct foresee_request request = {
        .job = job,
        .from_us = lost_us,
        .key = line_key(LINE_LOST, 0, lost_us, job->id),
        .lease_ends = true,
        .lane_only = lane_only,
    };
    foresee(engine, now_us, &request, out);
}

static int64_t earliest_after_dependencies(struct engine *engine, struct job *job, int64_t now_us);

// With `lane_only`, jobs of other lanes are ignored.
static void foresee_job(struct engine *engine, struct job *job, int64_t now_us, bool lane_only,
                        struct foresight *out)
{
    *out = (struct foresight){ .when_us = INT64_MAX };
    switch ((enum job_state)job->state) {
    case JOB_WAITING:
    case JOB_STALLED:
        foresee(engine, now_us,
                &(struct foresee_request){
                    .job = job, .from_us = now_us, .key = job->node.key, .lane_only = lane_only },
                out);
        break;
    case JOB_SCHEDULED:
        foresee_later(engine, job, now_us, time_of_key(job->node.key), lane_only, out);
        break;
    case JOB_DEPENDS:
        foresee_later(engine, job, now_us, earliest_after_dependencies(engine, job, now_us),
                      lane_only, out);
        break;
    case JOB_RUNNING:
        out->when_us = now_us;
        if (job_lease(job)->grace && !is_due_to_a_pop(engine, job, now_us)) {
            foresee_grace(engine, job, now_us, lane_only, out);
        }
        break;
    case JOB_FAILED:
    case JOB_COMPLETE:
    case JOB_STATE_COUNT:
        break;
    }
}

// Whether failed dependencies do not hold the job.
static bool runs_anyway(const struct engine *engine, const struct job *job)
{
    struct job_options options;
    job_options_in_effect(engine, job, &options);
    return options.dependency_policy == DEPENDENCY_RUN;
}

// The latest time at which a job that it depends on, directly or indirectly, is ready. Jobs still
// to be visited form a list through the jobs themselves.
static int64_t earliest_after_dependencies(struct engine *engine, struct job *job, int64_t now_us)
{
    uint64_t visit = ++engine->visit;
    struct job *open = job;
    int64_t latest_us = now_us;
    int looked_at = 0;
    job->extra->visit = visit;
    job->extra->visit_next = NULL;
    while (open) {
        struct job *at = open;
        open = at->extra->visit_next;
        latest_us = later(latest_us, at->extra->due_us);
        latest_us = at != job && at->queue->paused ? INT64_MAX : latest_us;
        bool anyway = at->extra->members_failed && runs_anyway(engine, at);
        for (struct edge *edge = at->extra->dependencies; edge && looked_at < DEPENDENCIES_MAX;
             edge = edge->next_dependency, looked_at++) {
            struct job *dependency = edge->dependency;
            if (dependency->extra->visit == visit || (anyway && dependency->state == JOB_FAILED)) {
                continue;
            }
            dependency->extra->visit = visit;
            if (dependency->state == JOB_DEPENDS) {
                dependency->extra->visit_next = open;
                open = dependency;
            } else {
                struct foresight foresight;
                foresee_job(engine, dependency, now_us, true, &foresight);
                latest_us = later(latest_us, foresight.when_us);
            }
        }
    }
    return latest_us;
}

// ---------------------------------------------------------------------------------------------
// The reason

static enum explain_reason reason_in_line(const struct engine *engine, const struct job *job,
                                          int64_t now_us, struct explanation *out)
{
    const struct queue *queue = job->queue;
    const struct lane *lane = lane_find(engine, job->queue, job->domain);
    if (queue->paused) {
        return EXPLAIN_PAUSED;
    }
    if (queue_room(engine, queue, now_us) == 0) {
        return EXPLAIN_QUEUE_CONCURRENCY;
    }
    if (lane && lane_room(lane) == 0) {
        return EXPLAIN_LANE_CONCURRENCY;
    }
    int64_t ready_us = lane ? lane_ready_us(engine, lane, now_us, 0) : now_us;
    if (ready_us > now_us) {
        out->until_us = ready_us;
        return EXPLAIN_LANE_RATE;
    }
    return out->behind ? EXPLAIN_BEHIND : EXPLAIN_NEXT;
}

static enum explain_reason find_reason(const struct engine *engine, const struct job *job,
                                       int64_t now_us, struct explanation *out)
{
    switch ((enum job_state)job->state) {
    case JOB_WAITING:
    case JOB_STALLED:
        return reason_in_line(engine, job, now_us, out);
    case JOB_SCHEDULED:
        if (is_due_to_a_pop(engine, job, now_us)) {
            return reason_in_line(engine, job, now_us, out); // the next pop moves it there
        }
        out->until_us = time_of_key(job->node.key);
        return EXPLAIN_SCHEDULED;
    case JOB_DEPENDS:
        out->until_us = job->extra->due_us;
        out->behind = job->extra->dependency_count;
        for (const struct edge *edge = job->extra->dependencies;
             edge && out->blocker_count < EXPLAIN_BLOCKERS_MAX; edge = edge->next_dependency) {
            out->blockers[out->blocker_count++] = edge->dependency;
        }
        return EXPLAIN_DEPENDS;
    case JOB_RUNNING:
        out->worker = worker_name(job_lease(job)->worker);
        if (is_due_to_a_pop(engine, job, now_us)) {
            return EXPLAIN_EXPIRED;
        }
        out->until_us = time_of_key(job->node.key);
        return job_lease(job)->grace ? EXPLAIN_GRACE : EXPLAIN_RUNNING;
    case JOB_FAILED:
        out->group = group_key(job->extra->group);
        return EXPLAIN_FAILED;
    case JOB_COMPLETE:
    case JOB_STATE_COUNT:
        break;
    }
    return EXPLAIN_COMPLETE;
}

// ---------------------------------------------------------------------------------------------
// The sentence

struct sentence {
    char *text;
    size_t size;
    size_t used;
};

static void __attribute__((format(printf, 2, 3)))
append(struct sentence *sentence, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(sentence->text + sentence->used, sentence->size - sentence->used, format,
                         arguments);
    va_end(arguments);
    size_t left = sentence->size - sentence->used - 1;
    sentence->used += size >= 0 && (size_t)size < left ? (size_t)size : left;
}

// A name, truncated between two characters for the sentence.
static struct slice short_name(struct slice name)
{
    size_t size = NAME_SHOWN_SIZE;
    if (name.size <= size) {
        return name;
    }
    while (size > 0 && ((unsigned char)name.data[size] & 0xC0U) == 0x80U) {
        size--;
    }
    return slice_sub(name, 0, size);
}

struct moment {
    char text[TIMEFMT_SIZE_MAX + 1];
};

static struct moment moment(int64_t us)
{
    struct moment out = { "" };
    size_t size = timefmt_format(us, out.text);
    out.text[size] = '\0';
    return out;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

// Writes the reason of a job that another one waits for, as what follows "which".
static void write_blocker(const struct engine *engine, const struct job *job, int64_t now_us,
                          struct sentence *sentence)
{
    struct explanation why = { 0 };
    append(sentence, "%.*s, which ", SLICE_PRINT(short_name(job_jid(job))));
    switch (find_reason(engine, job, now_us, &why)) {
    case EXPLAIN_SCHEDULED:
        append(sentence, "is scheduled for %s", moment(why.until_us).text);
        break;
    case EXPLAIN_DEPENDS:
        append(sentence, "itself waits for %zu job%s", why.behind, plural(why.behind));
        break;
    case EXPLAIN_RUNNING:
    case EXPLAIN_GRACE:
        append(sentence, "is running");
        break;
    case EXPLAIN_FAILED:
        append(sentence, "has failed in group %.*s", SLICE_PRINT(short_name(why.group)));
        break;
    case EXPLAIN_EXPIRED:
        append(sentence, "is running");
        break;
    case EXPLAIN_NEXT:
    case EXPLAIN_BEHIND:
    case EXPLAIN_PAUSED:
    case EXPLAIN_LANE_RATE:
    case EXPLAIN_LANE_CONCURRENCY:
    case EXPLAIN_QUEUE_CONCURRENCY:
    case EXPLAIN_COMPLETE:
    case EXPLAIN_REASON_COUNT:
        append(sentence, "is %s", job_state_name(job->state));
        break;
    }
}

static void write_depends(const struct engine *engine, const struct job *job, int64_t now_us,
                          const struct explanation *why, struct sentence *sentence)
{
    append(sentence, "waits for %zu job%s: ", why->behind, plural(why->behind));
    for (size_t i = 0; i < why->blocker_count; i++) {
        append(sentence, "%s", i ? "; " : "");
        write_blocker(engine, why->blockers[i], now_us, sentence);
    }
    if (why->behind > why->blocker_count) {
        append(sentence, "; and %zu more", why->behind - why->blocker_count);
    }
    if (why->until_us) {
        append(sentence, "; and then until %s", moment(why->until_us).text);
    }
    (void)job;
}

// Writes "the lane" of a domain, or of the jobs without one.
static void write_lane(const struct explanation *why, struct sentence *sentence)
{
    if (why->domain.size) {
        append(sentence, "the lane %.*s", SLICE_PRINT(short_name(why->domain)));
    } else {
        append(sentence, "the default lane");
    }
    append(sentence, " of queue %.*s", SLICE_PRINT(short_name(why->queue)));
}

static void write_reason(const struct engine *engine, const struct job *job, int64_t now_us,
                         const struct explanation *why, struct sentence *sentence)
{
    struct slice queue = short_name(why->queue), worker = short_name(why->worker);
    switch (why->reason) {
    case EXPLAIN_NEXT:
        append(sentence, "is next in queue %.*s: no worker has asked for it yet",
               SLICE_PRINT(queue));
        break;
    case EXPLAIN_BEHIND:
        append(sentence, "waits behind %s%zu job%s in queue %.*s", why->at_least ? "at least " : "",
               why->behind, plural(why->behind), SLICE_PRINT(queue));
        break;
    case EXPLAIN_PAUSED:
        append(sentence, "waits: queue %.*s is paused", SLICE_PRINT(queue));
        break;
    case EXPLAIN_LANE_RATE:
        append(sentence, "waits: ");
        write_lane(why, sentence);
        append(sentence, " has used up its rate until %s", moment(why->until_us).text);
        break;
    case EXPLAIN_LANE_CONCURRENCY:
        append(sentence, "waits: ");
        write_lane(why, sentence);
        append(sentence, " runs as many jobs as it may");
        break;
    case EXPLAIN_QUEUE_CONCURRENCY:
        append(sentence, "waits: queue %.*s runs as many jobs as it may", SLICE_PRINT(queue));
        break;
    case EXPLAIN_SCHEDULED:
        append(sentence, "is scheduled for %s", moment(why->until_us).text);
        break;
    case EXPLAIN_DEPENDS:
        write_depends(engine, job, now_us, why, sentence);
        break;
    case EXPLAIN_RUNNING:
        append(sentence, "is leased by %.*s until %s", SLICE_PRINT(worker),
               moment(why->until_us).text);
        break;
    case EXPLAIN_GRACE:
        append(sentence, "has lost its lease: %.*s has until %s to finish", SLICE_PRINT(worker),
               moment(why->until_us).text);
        break;
    case EXPLAIN_EXPIRED:
        append(
            sentence,
            "is running, but the lease of %.*s has expired: the next pop from queue %.*s ends it",
            SLICE_PRINT(worker), SLICE_PRINT(queue));
        break;
    case EXPLAIN_FAILED:
        append(sentence, "has failed in group %.*s after %u attempt%s",
               SLICE_PRINT(short_name(why->group)), why->attempts, plural(why->attempts));
        break;
    case EXPLAIN_COMPLETE:
    case EXPLAIN_REASON_COUNT:
        append(sentence, "is complete");
        break;
    }
}

// Writes what will keep a job from running after the current reason has ended.
static void write_more(const struct job *job, const struct explanation *why,
                       struct sentence *sentence)
{
    bool comes = why->reason == EXPLAIN_SCHEDULED || why->reason == EXPLAIN_DEPENDS ||
                 why->reason == EXPLAIN_GRACE;
    if (comes && job->queue->paused) {
        append(sentence, "; queue %.*s is paused", SLICE_PRINT(short_name(why->queue)));
    }
    if (why->expires_us) {
        append(sentence, "; it cannot start by its deadline and fails at %s",
               moment(why->expires_us).text);
    }
}

static void write_sentence(const struct engine *engine, const struct job *job, int64_t now_us,
                           struct explanation *out)
{
    struct sentence sentence = { out->sentence, sizeof(out->sentence) - 1, 0 };
    append(&sentence, "Job %.*s ", SLICE_PRINT(job_jid(job)));
    write_reason(engine, job, now_us, out, &sentence);
    write_more(job, out, &sentence);
    out->sentence[sentence.used] = '.';
    out->sentence[sentence.used + 1] = '\0';
}

// Whether it is waiting, or will be at the next pop.
static bool is_in_line(const struct engine *engine, const struct job *job, int64_t now_us)
{
    return job->state == JOB_WAITING || job->state == JOB_STALLED ||
           (job->state == JOB_SCHEDULED && is_due_to_a_pop(engine, job, now_us));
}

enum status engine_explain(struct engine *engine, int64_t now_us, struct slice jid,
                           struct explanation *out, struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (status) {
        return status;
    }
    *out = (struct explanation){
        .state = job->state,
        .queue = job->queue ? queue_name(job->queue) : SLICE_EMPTY,
        .domain = intern_get(&engine->names, job->domain),
        .attempts = job->attempts,
    };
    struct foresight foresight;
    foresee_job(engine, job, now_us, false, &foresight);
    out->earliest_us = foresight.when_us;
    out->expires_us = foresight.expires ? job_rare(job)->deadline_us : 0;
    if (is_in_line(engine, job, now_us)) {
        out->behind = foresight.behind;
        out->at_least = foresight.at_least;
    }
    out->reason = find_reason(engine, job, now_us, out);
    write_sentence(engine, job, now_us, out);
    return STATUS_OK;
}
