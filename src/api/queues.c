// SPDX-License-Identifier: MIT
// Commands about queues: what is in them, what failed in them, how they did; to hold them up.
#include "api/job_words.h"
#include "api/page.h"
#include "engine/limit.h"
#include "engine/metrics.h"
#include "engine/workers.h"

struct queue_arguments {
    struct slice queue;
};

static const struct argument queue_takes[] = {
    ARGUMENT(queue_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
};

static const struct argument queue_or_all_takes[] = {
    OPTIONAL(queue_arguments, queue, NAME, "queue", "the queue; all of them when it is not given",
             .about = ABOUT_QUEUE),
};

// ---------------------------------------------------------------------------------------------
// How many

static void say_queue(struct reply *reply, const struct queue_view *view)
{
    reply_map(reply, 9);
    reply_key(reply, "queue");
    reply_text(reply, view->name);
    reply_key(reply, "waiting");
    reply_count(reply, view->waiting);
    reply_key(reply, "running");
    reply_count(reply, view->running);
    reply_key(reply, "stalled");
    reply_count(reply, view->stalled);
    reply_key(reply, "scheduled");
    reply_count(reply, view->scheduled);
    reply_key(reply, "depends");
    reply_count(reply, view->depends);
    reply_key(reply, "recurring");
    reply_count(reply, view->recurring);
    reply_key(reply, "listeners");
    reply_count(reply, view->listeners);
    reply_key(reply, "paused");
    reply_boolean(reply, view->paused);
    reply_end(reply);
}

static enum status run_queue(struct call *call, struct error *error)
{
    const struct queue_arguments *given = call->arguments;
    struct queue_view view;
    enum status status = engine_queue(call->engine, call->now_us, given->queue, &view, error);
    if (!status) {
        say_queue(call->reply, &view);
    }
    return status;
}

struct queue_list_arguments {
    struct page_words page;
};

static const struct argument queue_list_takes[] = {
    OPTION(queue_list_arguments, page.offset, INTEGER, "OFFSET",
           "how many of the first to leave out (0)", .min = 0, .max = INT64_MAX),
    OPTION_HAS(queue_list_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (1000)", .min = 0, .max = PAGE_COUNT_MAX),
};

static enum status run_queues(struct call *call, struct error *error)
{
    const struct queue_list_arguments *given = call->arguments;
    struct slice name;
    struct queue_view view;
    size_t offset = (size_t)given->page.offset;
    size_t max = given->page.has_count ? (size_t)given->page.count : PAGE_COUNT_MAX;
    size_t count = 0;
    enum status pruned = engine_workers_prune(call->engine, call->now_us, error);
    if (pruned) {
        return pruned;
    }
    // With the client clock the first look moves what is due, for which there may be no memory; so
    // all are looked at before the first word is said.
    for (; count < max && engine_queue_listed(call->engine, offset + count, &name); count++) {
        enum status status = engine_queue(call->engine, call->now_us, name, &view, error);
        if (status) {
            return status;
        }
    }
    reply_list(call->reply, count);
    for (size_t i = 0; i < count; i++) {
        if (!engine_queue_listed(call->engine, offset + i, &name) ||
            engine_queue(call->engine, call->now_us, name, &view, NULL)) {
            view = (struct queue_view){ .name = name };
        }
        say_queue(call->reply, &view);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_length(struct call *call, struct error *error)
{
    (void)error;
    const struct queue_arguments *given = call->arguments;
    reply_count(call->reply, engine_length(call->engine, given->queue));
    return STATUS_OK;
}

static const char *const state_words[] = { "scheduled", "depends",  "waiting", "running",
                                           "stalled",   "complete", "failed",  NULL };
_Static_assert(sizeof(state_words) / sizeof(state_words[0]) == JOB_STATE_COUNT + 1,
               "one word for each state, in the order of enum job_state");

struct count_arguments {
    struct slice queue;
    int64_t state, priority;
    bool has_state, has_priority;
};

static const struct argument count_takes[] = {
    OPTION(count_arguments, queue, NAME, "QUEUE", "only those in it", .about = ABOUT_QUEUE),
    OPTION_HAS(count_arguments, state, has_state, WORD, "STATE", "only those in that state",
               .words = state_words),
    OPTION_HAS(count_arguments, priority, has_priority, INTEGER, "PRIORITY",
               "only those with that priority", PRIORITY_RANGE),
};

static enum status run_count(struct call *call, struct error *error)
{
    (void)error;
    const struct count_arguments *given = call->arguments;
    const struct count_filter filter = {
        .queue = given->queue,
        .has_priority = given->has_priority,
        .has_state = given->has_state,
        .priority = (int32_t)given->priority,
        .state = (enum job_state)given->state,
        .now_us = call->now_us,
    };
    reply_count(call->reply, engine_count(call->engine, &filter));
    return STATUS_OK;
}

struct priorities_arguments {
    struct slice queue;
    int64_t from, count;
    bool has_from, has_count;
};

static const struct argument priorities_takes[] = {
    OPTIONAL(priorities_arguments, queue, NAME, "queue",
             "the queue; all of them when it is not given", .about = ABOUT_QUEUE),
    OPTION_HAS(priorities_arguments, from, has_from, INTEGER, "FROM",
               "only priorities that are not below it", PRIORITY_RANGE),
    OPTION_HAS(priorities_arguments, count, has_count, INTEGER, "COUNT", "how many at most (1000)",
               .min = 1, .max = PAGE_COUNT_MAX),
};

static enum status run_priorities(struct call *call, struct error *error)
{
    (void)error;
    const struct priorities_arguments *given = call->arguments;
    struct priority_view views[PAGE_COUNT_MAX];
    size_t count = engine_priorities(call->engine, given->queue,
                                     given->has_from ? (int32_t)given->from : INT32_MIN, views,
                                     given->has_count ? (size_t)given->count : PAGE_COUNT_MAX);
    reply_list(call->reply, count);
    for (size_t i = 0; i < count; i++) {
        reply_map(call->reply, 2);
        reply_key(call->reply, "priority");
        reply_integer(call->reply, views[i].priority);
        reply_key(call->reply, "count");
        reply_count(call->reply, views[i].count);
        reply_end(call->reply);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Which

static const char *const list_words[] = { "waiting", "running",  "stalled", "scheduled",
                                          "depends", "complete", "failed",  NULL };

struct jobs_arguments {
    int64_t list;
    struct slice queue;
    struct page_words page;
};

static const struct argument jobs_takes[] = {
    ARGUMENT(jobs_arguments, list, WORD, "state", "the state that they are in",
             .words = list_words),
    OPTIONAL(jobs_arguments, queue, NAME, "queue",
             "the queue that they are in, or finished in; needed but for running, complete and "
             "failed jobs",
             .about = ABOUT_QUEUE),
    LONG_PAGE_OPTIONS(jobs_arguments),
};

static enum status run_jobs(struct call *call, struct error *error)
{
    const struct jobs_arguments *given = call->arguments;
    if (!given->queue.size && !list_has_all((enum list)given->list)) {
        return error_set(error, STATUS_INVALID,
                         "%s: queue must be given for %s jobs; only running, complete and failed "
                         "ones are listed without",
                         call->command->name, list_words[given->list]);
    }
    const struct job *room[PAGE_COUNT_MAX];
    struct page page;
    enum status status = page_start(call, &given->page, room, &page, error);
    if (!status) {
        status = engine_jobs(call->engine, call->now_us, (enum list)given->list, given->queue,
                             &page, error);
    }
    if (!status) {
        reply_page(call, &given->page, &page);
    }
    return status;
}

struct groups_arguments {
    struct page_words page;
};

static const struct argument groups_takes[] = {
    PAGE_OPTIONS(groups_arguments),
};

static enum status run_failures(struct call *call, struct error *error)
{
    (void)error;
    const struct groups_arguments *given = call->arguments;
    reply_counts(call, &given->page, SLICE("group"), engine_failure_group);
    return STATUS_OK;
}

struct failed_arguments {
    struct slice group;
    struct page_words page;
};

static const struct argument failed_takes[] = {
    ARGUMENT(failed_arguments, group, NAME, "group", "the kind of failure"),
    LONG_PAGE_OPTIONS(failed_arguments),
};

static enum status run_failed(struct call *call, struct error *error)
{
    const struct failed_arguments *given = call->arguments;
    const struct job *room[PAGE_COUNT_MAX];
    struct page page;
    enum status status = page_start(call, &given->page, room, &page, error);
    if (!status) {
        engine_failed(call->engine, given->group, &page);
        reply_page(call, &given->page, &page);
    }
    return status;
}

struct unfail_arguments {
    struct slice group, queue;
    struct page_words page;
};

static const struct argument unfail_takes[] = {
    ARGUMENT(unfail_arguments, group, NAME, "group", "the kind of failure"),
    ARGUMENT(unfail_arguments, queue, NAME, "queue", "where they go", .about = ABOUT_TARGET),
    OPTION_HAS(unfail_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (25)", .min = 0, .max = PAGE_COUNT_MAX),
};

static enum status run_unfail(struct call *call, struct error *error)
{
    const struct unfail_arguments *given = call->arguments;
    size_t moved = 0;
    enum status status = engine_unfail(call->engine, call->now_us, given->queue, given->group,
                                       page_count(&given->page), &moved, error);
    if (!status) {
        reply_count(call->reply, moved);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// To hold up

struct queues_arguments {
    struct slices queues;
};

static const struct argument queues_takes[] = {
    REST(queues_arguments, queues, NAME, "queue", "the queues", .about = ABOUT_QUEUE),
};

static enum status run_pause(struct call *call, struct error *error)
{
    const struct queues_arguments *given = call->arguments;
    return call_ok(call, engine_pause(call->engine, call->now_us, given->queues, error));
}

static enum status run_unpause(struct call *call, struct error *error)
{
    const struct queues_arguments *given = call->arguments;
    return call_ok(call, engine_unpause(call->engine, call->now_us, given->queues, error));
}

static enum status run_forget(struct call *call, struct error *error)
{
    const struct queues_arguments *given = call->arguments;
    return call_ok(call, engine_forget(call->engine, call->now_us, given->queues, error));
}

// ---------------------------------------------------------------------------------------------
// How they did

struct stats_arguments {
    struct slice queue;
    int64_t date;
    bool has_date;
};

static const struct argument stats_takes[] = {
    ARGUMENT(stats_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
    OPTION_HAS(stats_arguments, date, has_date, MOMENT, "DATE",
               "any time of the day, in UTC, that is asked for (today)"),
};

static void say_series(struct reply *reply, const struct stats_series *series)
{
    reply_map(reply, 4);
    reply_key(reply, "count");
    reply_count(reply, series->count);
    reply_key(reply, "mean");
    reply_number(reply, series->mean);
    reply_key(reply, "std");
    reply_number(reply, series->std);
    reply_key(reply, "histogram");
    reply_list(reply, STATS_BUCKETS);
    for (size_t i = 0; i < STATS_BUCKETS; i++) {
        reply_count(reply, series->histogram[i]);
    }
    reply_end(reply);
    reply_end(reply);
}

static enum status run_stats(struct call *call, struct error *error)
{
    (void)error;
    const struct stats_arguments *given = call->arguments;
    struct stats_view view;
    engine_stats(call->engine, given->queue, given->has_date ? given->date : call->now_us, &view);
    reply_map(call->reply, 6);
    reply_key(call->reply, "retries");
    reply_integer(call->reply, view.retries);
    reply_key(call->reply, "lost_leases");
    reply_integer(call->reply, view.lost_leases);
    reply_key(call->reply, "failures");
    reply_integer(call->reply, view.failures);
    reply_key(call->reply, "failed");
    reply_integer(call->reply, view.failed);
    reply_key(call->reply, "wait");
    say_series(call->reply, &view.wait);
    reply_key(call->reply, "run");
    say_series(call->reply, &view.run);
    reply_end(call->reply);
    return STATUS_OK;
}

// Of times, in seconds.
static void say_times(struct reply *reply, const struct histogram *histogram)
{
    static const struct {
        struct slice name;
        unsigned per_mille;
    } quantiles[] = {
        { { "p50", 3 }, 500 },
        { { "p90", 3 }, 900 },
        { { "p99", 3 }, 990 },
        { { "p999", 4 }, 999 },
    };
    uint64_t count = histogram->count;
    reply_map(reply, 7);
    reply_key(reply, "count");
    reply_count(reply, count);
    reply_key(reply, "mean");
    reply_seconds(reply, count ? (int64_t)(histogram->sum / count) : 0);
    reply_key(reply, "max");
    reply_seconds(reply, histogram->max);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        reply_text(reply, quantiles[i].name);
        reply_seconds(reply, histogram_quantile(histogram, quantiles[i].per_mille));
    }
    reply_end(reply);
}

static void say_attempts(struct reply *reply, const struct histogram *histogram)
{
    uint64_t count = histogram->count;
    reply_map(reply, 3);
    reply_key(reply, "count");
    reply_count(reply, count);
    reply_key(reply, "mean");
    reply_number(reply, count ? (double)histogram->sum / (double)count : 0);
    reply_key(reply, "max");
    reply_integer(reply, histogram->max);
    reply_end(reply);
}

static void say_rates(struct reply *reply, const struct meter *meter, int64_t now_us)
{
    struct meter_rates rates;
    meter_read(meter, now_us, &rates);
    reply_map(reply, 3);
    reply_key(reply, "1s");
    reply_number(reply, rates.per_second_1s);
    reply_key(reply, "1m");
    reply_number(reply, rates.per_second_1m);
    reply_key(reply, "15m");
    reply_number(reply, rates.per_second_15m);
    reply_end(reply);
}

static enum status run_metrics(struct call *call, struct error *error)
{
    (void)error;
    const struct queue_arguments *given = call->arguments;
    static const struct metrics nothing;
    const struct metrics *metrics = engine_metrics(call->engine, given->queue);
    if (!metrics) {
        metrics = &nothing;
    }
    reply_map(call->reply, 8);
    reply_key(call->reply, "latency");
    say_times(call->reply, &metrics->latency);
    reply_key(call->reply, "runtime");
    say_times(call->reply, &metrics->runtime);
    reply_key(call->reply, "lifetime");
    say_times(call->reply, &metrics->lifetime);
    reply_key(call->reply, "time-to-completion");
    say_times(call->reply, &metrics->time_to_completion);
    reply_key(call->reply, "time-to-failure");
    say_times(call->reply, &metrics->time_to_failure);
    reply_key(call->reply, "attempts");
    say_attempts(call->reply, &metrics->attempts);
    reply_key(call->reply, "queued");
    say_rates(call->reply, &metrics->queued, call->now_us);
    reply_key(call->reply, "run");
    say_rates(call->reply, &metrics->run, call->now_us);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Lanes

struct lane_arguments {
    struct slice queue, domain;
};

static const struct argument lane_takes[] = {
    ARGUMENT(lane_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
    OPTIONAL(lane_arguments, domain, TEXT, "domain",
             "the lane; the queue's default lane when it is not given"),
};

static enum status run_lane(struct call *call, struct error *error)
{
    const struct lane_arguments *given = call->arguments;
    struct lane_view view;
    enum status status =
        engine_lane(call->engine, call->now_us, given->queue, given->domain, &view, error);
    if (status) {
        return status;
    }
    const struct limit *limit = &view.limit;
    reply_map(call->reply, 8);
    reply_key(call->reply, "waiting");
    reply_count(call->reply, view.waiting);
    reply_key(call->reply, "running");
    reply_count(call->reply, view.running);
    reply_key(call->reply, "ready");
    if (view.ready_us == INT64_MAX) {
        reply_null(call->reply);
    } else {
        reply_moment(call->reply, view.ready_us);
    }
    reply_key(call->reply, "rate");
    reply_integer(call->reply, limit->rate_count);
    reply_key(call->reply, "period");
    reply_seconds(call->reply, limit->rate_period_us);
    reply_key(call->reply, "burst");
    reply_integer(call->reply, limit->burst);
    reply_key(call->reply, "concurrency");
    reply_integer(call->reply, limit->concurrency);
    reply_key(call->reply, "weight");
    reply_integer(call->reply, limit->weight);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.QUEUES",
        .group = "queues",
        .flags = READS,
        TAKES(queue_list_arguments, queue_list_takes),
        .run = run_queues,
        .summary = "Lists the queues in the order in which they were first seen, with how many "
                   "jobs each has.",
        .details = "With as many as COUNT there may be more, which OFFSET leads to.",
        .replies = "A list of queues as in Q.QUEUE.",
        EXAMPLES({ "Q.QUEUES app", "1) 1# \"queue\" => \"mail\"\n"
                                   "   2# \"waiting\" => (integer) 1\n"
                                   "   3# \"running\" => (integer) 0\n"
                                   "   4# \"stalled\" => (integer) 0\n"
                                   "   5# \"scheduled\" => (integer) 2\n"
                                   "   6# \"depends\" => (integer) 0\n"
                                   "   7# \"recurring\" => (integer) 0\n"
                                   "   8# \"listeners\" => (integer) 2\n"
                                   "   9# \"paused\" => (false)\n"
                                   "2) 1# \"queue\" => \"reports\"\n"
                                   "..." }),
    },
    {
        .name = "Q.QUEUE",
        .group = "queues",
        .flags = READS,
        TAKES(queue_arguments, queue_takes),
        .run = run_queue,
        .summary = "Says how many jobs a queue has in each state.",
        .details = "Stalled are those whose lease has run out while their worker may still "
                   "finish; once that time is over they count as waiting. Listeners are workers "
                   "that have popped from it and are not offline.",
        .replies = "The counts, and whether it is paused. A queue that nobody has used has none.",
        EXAMPLES({ "Q.QUEUE app mail", "1# \"queue\" => \"mail\"\n"
                                       "2# \"waiting\" => (integer) 1\n"
                                       "3# \"running\" => (integer) 0\n"
                                       "4# \"stalled\" => (integer) 0\n"
                                       "5# \"scheduled\" => (integer) 2\n"
                                       "6# \"depends\" => (integer) 0\n"
                                       "7# \"recurring\" => (integer) 0\n"
                                       "8# \"listeners\" => (integer) 2\n"
                                       "9# \"paused\" => (false)" }),
    },
    {
        .name = "Q.LENGTH",
        .group = "queues",
        .flags = READS,
        TAKES(queue_arguments, queue_takes),
        .run = run_length,
        .summary = "Says how many jobs a queue has that are waiting, running or scheduled.",
        .replies = "How many.",
        EXAMPLES({ "Q.LENGTH app mail", "(integer) 3" }),
    },
    {
        .name = "Q.COUNT",
        .group = "queues",
        .flags = READS,
        TAKES(count_arguments, count_takes),
        .run = run_count,
        .summary = "Counts jobs by queue, state and priority, at the same cost however many "
                   "there are.",
        .replies = "How many.",
        EXAMPLES({ "Q.COUNT app QUEUE mail STATE scheduled", "(integer) 2" }),
    },
    {
        .name = "Q.PRIORITIES",
        .group = "queues",
        .flags = READS,
        TAKES(priorities_arguments, priorities_takes),
        .run = run_priorities,
        .summary = "Lists the priorities that jobs have, the lowest, which run first, first.",
        .details = "With as many as COUNT there may be more: FROM the last one and 1 goes on.",
        .replies = "A list of priorities, each with how many jobs have it.",
        EXAMPLES({ "Q.PRIORITIES app mail", "1) 1# \"priority\" => (integer) -10\n"
                                            "   2# \"count\" => (integer) 1\n"
                                            "2) 1# \"priority\" => (integer) 0\n"
                                            "   2# \"count\" => (integer) 5\n"
                                            "3) 1# \"priority\" => (integer) 5\n"
                                            "   2# \"count\" => (integer) 1" }),
    },
    {
        .name = "Q.JOBS",
        .group = "queues",
        .flags = READS,
        TAKES(jobs_arguments, jobs_takes),
        .run = run_jobs,
        .summary = "Lists the jobs of a queue, or of all queues, in one state.",
        .details = "Complete and failed jobs are listed from the newest on, by the queue that they "
                   "finished in; Q.FAILED lists those of one group. Without a queue: running lists "
                   "every leased job from the one popped first on, with those in grace; waiting, "
                   "stalled, scheduled and depends are refused.",
        .replies = "How many there are, a page of them, and the CURSOR of the page behind it.",
        EXAMPLES({ "Q.JOBS app scheduled mail COUNT 10 JIDS", "1# \"total\" => (integer) 2\n"
                                                              "2# \"jids\" => 1) \"cat\"\n"
                                                              "   2) \"gil\"\n"
                                                              "3# \"next\" => (nil)" },
                 { "Q.JOBS app complete mail JIDS", "1# \"total\" => (integer) 1\n"
                                                    "2# \"jids\" => 1) \"ann\"\n"
                                                    "3# \"next\" => (nil)" }),
    },
    {
        .name = "Q.FAILURES",
        .group = "queues",
        .flags = READS,
        TAKES(groups_arguments, groups_takes),
        .run = run_failures,
        .summary = "Lists the kinds of failures, in the order in which they came to be.",
        .replies = "A list of groups, each with how many jobs have failed in it.",
        EXAMPLES({ "Q.FAILURES app", "1) 1# \"group\" => \"smtp\"\n"
                                     "   2# \"count\" => (integer) 3" }),
    },
    {
        .name = "Q.FAILED",
        .group = "queues",
        .flags = READS,
        TAKES(failed_arguments, failed_takes),
        .run = run_failed,
        .summary = "Lists the jobs that have failed in a group, the newest failure first.",
        .replies = "How many there are, a page of them, and the CURSOR of the page behind it.",
        EXAMPLES({ "Q.FAILED app smtp COUNT 2 JIDS", "1# \"total\" => (integer) 3\n"
                                                     "2# \"jids\" => 1) \"fay\"\n"
                                                     "   2) \"eve\"\n"
                                                     "3# \"next\" => "
                                                     "\"00000000000000060000000000000006\"" }),
    },
    {
        .name = "Q.UNFAIL",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(unfail_arguments, unfail_takes),
        .run = run_unfail,
        .summary = "Puts the jobs that failed first in a group into a queue.",
        .details =
            "Their retries start anew. A job whose lock (UNIQUE) another job holds by now stays "
            "failed; EXISTS names the holder when no other job is found. For more than a thousand, "
            "or each into the queue "
            "that it failed in, there is `Q.BULK ns retry GROUP group`.",
        .replies = "How many were put.",
        EXAMPLES({ "Q.UNFAIL app smtp mail COUNT 1", "(integer) 1" }),
    },
    {
        .name = "Q.PAUSE",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(queues_arguments, queues_takes),
        .run = run_pause,
        .summary = "Holds queues up: nothing comes out of them until they are unpaused.",
        .replies = "OK.",
        EXAMPLES({ "Q.PAUSE app mail reports", "OK" }),
    },
    {
        .name = "Q.UNPAUSE",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(queues_arguments, queues_takes),
        .run = run_unpause,
        .summary = "Lets queues go on.",
        .replies = "OK.",
        EXAMPLES({ "Q.UNPAUSE app mail reports", "OK" }),
    },
    {
        .name = "Q.FORGET",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(queues_arguments, queues_takes),
        .run = run_forget,
        .summary = "Takes queues off the list of queues until they are used again; their jobs "
                   "stay.",
        .replies = "OK.",
        EXAMPLES({ "Q.FORGET app reports", "OK" }),
    },
    {
        .name = "Q.STATS",
        .group = "queues",
        .flags = READS,
        TAKES(stats_arguments, stats_takes),
        .run = run_stats,
        .summary = "Shows how a queue did on one day.",
        .details = "The histograms count by seconds (60 of them), then minutes (59), hours (23) "
                   "and days (6).",
        .replies = "How many times jobs were given back to be tried again (Q.RETRY), how many "
                   "leases ran out, how many times jobs failed, how many of those are failed "
                   "still; and of the times that jobs waited and ran how many there were, their "
                   "mean and standard deviation in seconds, and a histogram.",
        EXAMPLES({ "Q.STATS app mail DATE 2026-07-14T00:00:00Z",
                   "1# \"retries\" => (integer) 2\n"
                   "2# \"lost_leases\" => (integer) 0\n"
                   "3# \"failures\" => (integer) 3\n"
                   "4# \"failed\" => (integer) 2\n"
                   "5# \"wait\" => 1# \"count\" => (integer) 9\n"
                   "   2# \"mean\" => (double) 0\n"
                   "   3# \"std\" => (double) 0\n"
                   "   4# \"histogram\" =>   1) (integer) 9\n"
                   "        2) (integer) 0\n"
                   "        3) (integer) 0\n"
                   "        4) (integer) 0\n"
                   "..." }),
    },
    {
        .name = "Q.METRICS",
        .group = "queues",
        .flags = READS,
        TAKES(queue_arguments, queue_or_all_takes),
        .run = run_metrics,
        .summary = "Shows how long things took and how many jobs came and ran lately, since the "
                   "start of the server.",
        .details = "latency: from when a job could first run to its first run. runtime: of runs "
                   "that completed. lifetime, time-to-completion: of complete jobs, from the "
                   "first put, from the first run. time-to-failure: of failed jobs, from the "
                   "first put. The quantiles are at most a quarter too large.",
        .replies = "For each how many, the mean, the largest and quantiles, in seconds; for the "
                   "attempts of complete jobs the mean and the largest; for the jobs queued and "
                   "run how many per second, over a second, a minute and a quarter of an hour.",
        EXAMPLES({ "Q.METRICS app mail",
                   "1# \"latency\" => 1# \"count\" => (integer) 7\n"
                   "   2# \"mean\" => (double) 0\n"
                   "   3# \"max\" => (double) 0\n"
                   "   4# \"p50\" => (double) 0\n"
                   "   5# \"p90\" => (double) 0\n"
                   "   6# \"p99\" => (double) 0\n"
                   "   7# \"p999\" => (double) 0\n"
                   "2# \"runtime\" => 1# \"count\" => (integer) 2\n"
                   "   2# \"mean\" => (double) 30\n"
                   "   3# \"max\" => (double) 30\n"
                   "   4# \"p50\" => (double) 30\n"
                   "   5# \"p90\" => (double) 30\n"
                   "   6# \"p99\" => (double) 30\n"
                   "   7# \"p999\" => (double) 30\n"
                   "3# \"lifetime\" => 1# \"count\" => (integer) 2\n"
                   "   2# \"mean\" => (double) 30\n"
                   "   3# \"max\" => (double) 30\n"
                   "   4# \"p50\" => (double) 30\n"
                   "   5# \"p90\" => (double) 30\n"
                   "   6# \"p99\" => (double) 30\n"
                   "   7# \"p999\" => (double) 30\n"
                   "4# \"time-to-completion\" => 1# \"count\" => (integer) 2\n"
                   "   2# \"mean\" => (double) 30\n"
                   "   3# \"max\" => (double) 30\n"
                   "   4# \"p50\" => (double) 30\n"
                   "   5# \"p90\" => (double) 30\n"
                   "   6# \"p99\" => (double) 30\n"
                   "   7# \"p999\" => (double) 30\n"
                   "5# \"time-to-failure\" => 1# \"count\" => (integer) 3\n"
                   "   2# \"mean\" => (double) 0\n"
                   "   3# \"max\" => (double) 0\n"
                   "   4# \"p50\" => (double) 0\n"
                   "   5# \"p90\" => (double) 0\n"
                   "   6# \"p99\" => (double) 0\n"
                   "   7# \"p999\" => (double) 0\n"
                   "6# \"attempts\" => 1# \"count\" => (integer) 2\n"
                   "   2# \"mean\" => (double) 1\n"
                   "   3# \"max\" => (integer) 1\n"
                   "7# \"queued\" => 1# \"1s\" => (double) 0\n"
                   "   2# \"1m\" => (double) 0.06666666666666667\n"
                   "   3# \"15m\" => (double) 0.0044444444444444444\n"
                   "8# \"run\" => 1# \"1s\" => (double) 0\n"
                   "   2# \"1m\" => (double) 0.03333333333333333\n"
                   "   3# \"15m\" => (double) 0.0022222222222222222" }),
    },
    {
        .name = "Q.LANE",
        .group = "queues",
        .flags = READS,
        TAKES(lane_arguments, lane_takes),
        .run = run_lane,
        .summary = "Shows a lane of a queue, and the limits that hold for it.",
        .replies = "How many jobs wait and run in it; when its next one may run as far as its "
                   "limits go, null while it runs as many as it may; the limits, 0 for none.",
        EXAMPLES({ "Q.LANE app mail customer-7", "1# \"waiting\" => (integer) 0\n"
                                                 "2# \"running\" => (integer) 0\n"
                                                 "3# \"ready\" => (double) 1784000030.5\n"
                                                 "4# \"rate\" => (integer) 0\n"
                                                 "5# \"period\" => (double) 0\n"
                                                 "6# \"burst\" => (integer) 0\n"
                                                 "7# \"concurrency\" => (integer) 100\n"
                                                 "8# \"weight\" => (integer) 1" }),
    },
};

const struct command_table api_queues = TABLE(commands);
