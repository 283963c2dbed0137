// SPDX-License-Identifier: MIT
// Commands about queues: their jobs, failures and statistics, and pausing them.
#include "api/job_words.h"
#include "api/native/measures.h"
#include "api/page.h"
#include "engine/lanes/limit.h"
#include "engine/lease/workers.h"
#include "engine/measure/metrics.h"
#include "engine/measure/series.h"

struct queue_arguments {
    struct slice queue;
};

static const struct argument queue_takes[] = {
    ARGUMENT(queue_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
};

// ---------------------------------------------------------------------------------------------
// Counts

static void write_queue(const struct call *call, const struct queue_view *view)
{
    struct reply *reply = call->reply;
    struct series_rates rates;
    reply_map(reply, 15);
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
    reply_key(reply, "paused_since");
    reply_moment_or_null(reply, view->paused_us);
    reply_key(reply, "failed");
    reply_count(reply, view->failed);
    reply_key(reply, "complete");
    reply_count(reply, view->complete);
    reply_key(reply, "bytes");
    reply_integer(reply, (int64_t)view->bytes);
    reply_key(reply, "age");
    reply_age(reply, view->oldest_us, call->now_us);
    reply_key(reply, "rates");
    engine_rates(call->engine, call->now_us, view->name, &rates);
    reply_rates(reply, &rates);
    reply_end(reply);
}

static enum status run_queue(struct call *call, struct error *error)
{
    const struct queue_arguments *given = call->arguments;
    struct queue_view view;
    enum status status = engine_queue(call->engine, call->now_us, given->queue, &view, error);
    if (!status) {
        write_queue(call, &view);
    }
    return status;
}

static const char *const order_words[] = {
    "seen", "name", "waiting", "running", "stalled", "failed", "age", "put", "completed", NULL,
};
_Static_assert(sizeof(order_words) / sizeof(order_words[0]) == QUEUE_ORDERS + 1,
               "one word for each order, in the order of enum queue_order");

struct queue_list_arguments {
    int64_t order;
    struct slice pattern;
    struct page_words page;
};

static const struct argument queue_list_takes[] = {
    OPTION(
        queue_list_arguments, order, WORD, "SORT",
        "the order (seen): when they were first seen, by name, or by a number, the largest first; "
        "age is that of the oldest job in line; put and completed are rates",
        .words = order_words),
    OPTION(queue_list_arguments, pattern, TEXT, "MATCH",
           "only queues whose name matches this pattern, in upper or lower case: * is any text, ? "
           "any byte, [a-c] one of a set"),
    OPTION(queue_list_arguments, page.offset, INTEGER, "OFFSET",
           "how many of the first to leave out (0)", .min = 0, .max = INT64_MAX),
    OPTION_HAS(queue_list_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (1000)", .min = 0, .max = PAGE_COUNT_MAX),
    OPTION(queue_list_arguments, page.cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
};
_Static_assert((int)PAGE_COUNT_MAX <= (int)QUEUE_PAGE_MAX, "a page has room for its queues");

// The cursor of a list that is sorted by name is the last name.
static enum status read_queue_cursor(const struct call *call, struct slice cursor,
                                     struct queue_page *page, struct error *error)
{
    struct index_key key;
    page->has_after = cursor.size > 0;
    page->after_name = cursor;
    if (!page->has_after || page->order == QUEUES_BY_NAME) {
        return STATUS_OK;
    }
    enum status status = page_read_cursor(call, cursor, &key, error);
    if (!status) {
        page->after_value = key.high;
        page->after_id = key.low;
    }
    return status;
}

static void write_queue_page(struct call *call, const struct queue_page *page)
{
    struct reply *reply = call->reply;
    struct queue_view view;
    reply_map(reply, 3);
    reply_key(reply, "total");
    reply_count(reply, page->total);
    reply_key(reply, "queues");
    reply_list(reply, page->found);
    for (size_t i = 0; i < page->found; i++) {
        if (engine_queue(call->engine, call->now_us, page->names[i], &view, NULL)) {
            view = (struct queue_view){ .name = page->names[i] };
        }
        write_queue(call, &view);
    }
    reply_end(reply);
    reply_key(reply, "next");
    if (page->more && page->order == QUEUES_BY_NAME) {
        reply_text(reply, page->names[page->found - 1]);
    } else if (page->more) {
        const struct index_key last = { page->last_value, page->last_id };
        reply_page_next(reply, &last);
    } else {
        reply_null(reply);
    }
    reply_end(reply);
}

// Fills in a page of the queues that match a pattern, or of all queues if it is empty.
static enum status find_queues(const struct call *call, struct slice pattern,
                               struct queue_page *page, struct error *error)
{
    struct glob *glob = NULL;
    if (pattern.size) {
        enum status status = glob_new(&allocator_system, pattern, GLOB_ANY_CASE, &glob, error);
        if (status) {
            return status;
        }
    }
    page->pattern = glob;
    engine_queues(call->engine, call->now_us, page);
    page->pattern = NULL;
    glob_free(&allocator_system, glob);
    return STATUS_OK;
}

static enum status run_queues(struct call *call, struct error *error)
{
    const struct queue_list_arguments *given = call->arguments;
    struct queue_page page = {
        .order = (enum queue_order)given->order,
        .offset = (size_t)given->page.offset,
        .count = given->page.has_count ? (size_t)given->page.count : PAGE_COUNT_MAX,
    };
    enum status status = read_queue_cursor(call, given->page.cursor, &page, error);
    if (!status) {
        status = engine_workers_prune(call->engine, call->now_us, error);
    }
    if (!status) {
        status = find_queues(call, given->pattern, &page, error);
    }
    if (status) {
        return status;
    }
    // With the client clock, the first read moves due jobs, which may need memory. So all queues
    // are read before the first value is written.
    for (size_t i = 0; !status && i < page.found; i++) {
        struct queue_view view;
        status = engine_queue(call->engine, call->now_us, page.names[i], &view, error);
    }
    if (!status) {
        write_queue_page(call, &page);
    }
    return status;
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
// Selection of queues

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
// Pausing

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

static enum status check_queues_exist(const struct call *call, struct slices queues,
                                      struct error *error)
{
    for (size_t i = 0; i < queues.count; i++) {
        if (!engine_queue_exists(call->engine, queues.items[i])) {
            return error_set(error, STATUS_NOT_FOUND, "there is no queue %.*s",
                             SLICE_PRINT(queues.items[i]));
        }
    }
    return STATUS_OK;
}

// A queue that is not listed while it holds jobs would hide them. Complete jobs do not count: what
// is to be known of them is in their own list.
static enum status check_empty(struct call *call, struct slice name, struct error *error)
{
    struct queue_view view;
    enum status status = engine_queue(call->engine, call->now_us, name, &view, error);
    if (status) {
        return status;
    }
    size_t jobs =
        view.waiting + view.running + view.stalled + view.scheduled + view.depends + view.failed;
    if (jobs || view.recurring) {
        return error_set(error, STATUS_STATE, "queue %.*s has %zu %s", SLICE_PRINT(name),
                         jobs ? jobs : view.recurring,
                         jobs ? "jobs that are not complete" : "recurring jobs");
    }
    return STATUS_OK;
}

static enum status run_forget(struct call *call, struct error *error)
{
    const struct queues_arguments *given = call->arguments;
    enum status status = check_queues_exist(call, given->queues, error);
    for (size_t i = 0; !status && i < given->queues.count; i++) {
        status = check_empty(call, given->queues.items[i], error);
    }
    if (status) {
        return status;
    }
    return call_ok(call, engine_forget(call->engine, call->now_us, given->queues, error));
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
        .summary = "Lists the queues, with how many jobs each has.",
        .details = "By when they were first seen, or in another order. CURSOR goes on where the "
                   "page before ended, also when queues come, go or change their places meanwhile; "
                   "it belongs to the same SORT and MATCH.",
        .replies = "How many match, a page of queues as in Q.QUEUE, and the CURSOR of the page "
                   "behind it.",
        EXAMPLES({ "Q.QUEUES app SORT waiting COUNT 1",
                   "1# \"total\" => (integer) 2\n"
                   "2# \"queues\" => 1)  1# \"queue\" => \"mail\"\n"
                   "       2# \"waiting\" => (integer) 0\n"
                   "       3# \"running\" => (integer) 0\n"
                   "       4# \"stalled\" => (integer) 1\n"
                   "       5# \"scheduled\" => (integer) 2\n"
                   "       6# \"depends\" => (integer) 0\n"
                   "       7# \"recurring\" => (integer) 0\n"
                   "       8# \"listeners\" => (integer) 2\n"
                   "       9# \"paused\" => (false)\n"
                   "      10# \"paused_since\" => (nil)\n"
                   "      11# \"failed\" => (integer) 3\n"
                   "      12# \"complete\" => (integer) 1\n"
                   "      13# \"bytes\" => (integer) 44\n"
                   "      14# \"age\" => (double) 0\n"
                   "      15# \"rates\" => 1# \"put\" => (double) 0.1\n"
                   "          2# \"popped\" => (double) 0.05\n"
                   "          3# \"completed\" => (double) 0\n"
                   "          4# \"failed\" => (double) 0\n"
                   "          5# \"retried\" => (double) 0\n"
                   "          6# \"lost\" => (double) 0\n"
                   "3# \"next\" => \"00000000000000000000000000000001\"" }),
    },
    {
        .name = "Q.QUEUE",
        .group = "queues",
        .flags = READS,
        TAKES(queue_arguments, queue_takes),
        .run = run_queue,
        .summary = "Says how many jobs a queue has in each state.",
        .details =
            "Each job counts by its state, as in Q.GET and Q.COUNT. Stalled jobs are first in line "
            "again, since their lease was lost or ended; a job whose lease has expired is running "
            "until its grace period is over (Q.JOBS expired lists such jobs). "
            "Complete and failed jobs count in the queue that they finished in. Listeners are "
            "workers that have popped from it and are not offline.",
        .replies =
            "The counts; whether it is paused, and since when; the bytes of data of its jobs "
            "that are not finished; for how many seconds the job in line that could run "
            "first could run, null when none is in line (with more than 32 priorities in "
            "line: of the 16 that run first and last); and how often each thing happened in "
            "a second, over the last minute. A queue that was never used has none.",
        EXAMPLES({ "Q.QUEUE app mail", " 1# \"queue\" => \"mail\"\n"
                                       " 2# \"waiting\" => (integer) 0\n"
                                       " 3# \"running\" => (integer) 0\n"
                                       " 4# \"stalled\" => (integer) 1\n"
                                       " 5# \"scheduled\" => (integer) 2\n"
                                       " 6# \"depends\" => (integer) 0\n"
                                       " 7# \"recurring\" => (integer) 0\n"
                                       " 8# \"listeners\" => (integer) 2\n"
                                       " 9# \"paused\" => (false)\n"
                                       "10# \"paused_since\" => (nil)\n"
                                       "11# \"failed\" => (integer) 3\n"
                                       "12# \"complete\" => (integer) 1\n"
                                       "13# \"bytes\" => (integer) 44\n"
                                       "14# \"age\" => (double) 0\n"
                                       "15# \"rates\" => 1# \"put\" => (double) 0.1\n"
                                       "    2# \"popped\" => (double) 0.05\n"
                                       "    3# \"completed\" => (double) 0\n"
                                       "    4# \"failed\" => (double) 0\n"
                                       "    5# \"retried\" => (double) 0\n"
                                       "    6# \"lost\" => (double) 0" }),
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
            "that it failed in, there is Q.BULK (retry, with GROUP).",
        .replies = "How many were put.",
        EXAMPLES({ "Q.UNFAIL app smtp mail COUNT 1", "(integer) 1" }),
    },
    {
        .name = "Q.PAUSE",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(queues_arguments, queues_takes),
        .run = run_pause,
        .summary = "Pauses queues: they hand out no jobs until they are unpaused.",
        .replies = "OK.",
        EXAMPLES({ "Q.PAUSE app mail reports", "OK" }),
    },
    {
        .name = "Q.UNPAUSE",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(queues_arguments, queues_takes),
        .run = run_unpause,
        .summary = "Ends the pause of queues.",
        .replies = "OK.",
        EXAMPLES({ "Q.UNPAUSE app mail reports", "OK" }),
    },
    {
        .name = "Q.FORGET",
        .group = "queues",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(queues_arguments, queues_takes),
        .run = run_forget,
        .summary = "Removes queues from the list of queues until they are used again.",
        .details = "Queues with jobs that are not complete, or with recurring jobs, are rejected.",
        .replies = "OK; NOT_FOUND when one of them does not exist, STATE when one holds jobs; then "
                   "none is taken off.",
        EXAMPLES({ "Q.FORGET app reports",
                   "(error) STATE queue reports has 1 jobs that are not complete" }),
    },
    {
        .name = "Q.LANE",
        .group = "queues",
        .flags = READS,
        TAKES(lane_arguments, lane_takes),
        .run = run_lane,
        .summary = "Shows a lane of a queue, and the limits that apply to it.",
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
