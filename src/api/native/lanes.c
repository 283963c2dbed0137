// SPDX-License-Identifier: MIT
// Commands about what delays the jobs of a queue: its lanes, and why none of its jobs runs.
#include "engine/lanes/lane_list.h"

#include "api/page.h"
#include "engine/explain/explain_queue.h"

// ---------------------------------------------------------------------------------------------
// Lanes

struct lanes_arguments {
    struct slice queue;
    struct page_words page;
};

static const struct argument lanes_takes[] = {
    ARGUMENT(lanes_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
    OPTION_HAS(lanes_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (25)", .min = 0, .max = PAGE_COUNT_MAX),
    OPTION(lanes_arguments, page.cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
};

static void write_lane(struct reply *reply, const struct lane_row *row)
{
    const struct limit *limit = &row->view.limit;
    reply_map(reply, 10);
    reply_key(reply, "domain");
    reply_text_or_null(reply, row->domain);
    reply_key(reply, "waiting");
    reply_count(reply, row->view.waiting);
    reply_key(reply, "running");
    reply_count(reply, row->view.running);
    reply_key(reply, "ready");
    if (row->view.ready_us == INT64_MAX) {
        reply_null(reply);
    } else {
        reply_moment(reply, row->view.ready_us);
    }
    reply_key(reply, "rate");
    reply_integer(reply, limit->rate_count);
    reply_key(reply, "period");
    reply_seconds(reply, limit->rate_period_us);
    reply_key(reply, "burst");
    reply_integer(reply, limit->burst);
    reply_key(reply, "tokens");
    if (limit->rate_count) {
        reply_integer(reply, row->tokens);
    } else {
        reply_null(reply);
    }
    reply_key(reply, "concurrency");
    reply_integer(reply, limit->concurrency);
    reply_key(reply, "weight");
    reply_integer(reply, limit->weight);
    reply_end(reply);
}

static enum status run_lanes(struct call *call, struct error *error)
{
    const struct lanes_arguments *given = call->arguments;
    struct lane_row rows[PAGE_COUNT_MAX];
    struct lane_page page = { .count = page_count(&given->page), .rows = rows };
    if (given->page.cursor.size) {
        enum status status = page_read_cursor(call, given->page.cursor, &page.after, error);
        if (status) {
            return status;
        }
        page.has_after = true;
    }
    enum status status = engine_lanes(call->engine, call->now_us, given->queue, &page, error);
    if (status) {
        return status;
    }
    reply_map(call->reply, 3);
    reply_key(call->reply, "total");
    reply_count(call->reply, page.total);
    reply_key(call->reply, "lanes");
    reply_list(call->reply, page.found);
    for (size_t i = 0; i < page.found; i++) {
        write_lane(call->reply, &rows[i]);
    }
    reply_end(call->reply);
    reply_key(call->reply, "next");
    reply_page_next(call->reply, page.more ? &page.last : NULL);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Explanation

struct queue_arguments {
    struct slice queue;
};

static const struct argument queue_takes[] = {
    ARGUMENT(queue_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
};

static enum status run_explain(struct call *call, struct error *error)
{
    const struct queue_arguments *given = call->arguments;
    struct reply *reply = call->reply;
    struct queue_explanation why;
    enum status status =
        engine_explain_queue(call->engine, call->now_us, given->queue, &why, error);
    if (status) {
        return status;
    }
    reply_map(reply, 9);
    reply_key(reply, "reason");
    reply_text(reply, slice_from_cstr(queue_reason_name(why.reason)));
    reply_key(reply, "sentence");
    reply_text(reply, slice_from_cstr(why.sentence));
    reply_key(reply, "earliest");
    if (why.earliest_us == INT64_MAX) {
        reply_null(reply);
    } else {
        reply_moment(reply, why.earliest_us);
    }
    reply_key(reply, "waiting");
    reply_count(reply, why.waiting);
    reply_key(reply, "running");
    reply_count(reply, why.running);
    reply_key(reply, "scheduled");
    reply_count(reply, why.scheduled);
    reply_key(reply, "depends");
    reply_count(reply, why.depends);
    reply_key(reply, "listeners");
    reply_count(reply, why.listeners);
    reply_key(reply, "paused");
    reply_boolean(reply, why.paused);
    reply_end(reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.LANES",
        .group = "queues",
        .flags = READS,
        TAKES(lanes_arguments, lanes_takes),
        .run = run_lanes,
        .summary = "Lists the lanes of a queue, with their limits and how much of them is used.",
        .details = "The default lane is the first; the others stand in an order that stays as long "
                   "as they do. A lane is there while it has jobs in line or leases, or has not "
                   "got back what its rate allows.",
        .replies = "How many there are; a page of them, each as in Q.LANE, with its domain (null: "
                   "the default lane) and how many runs its rate allows at once now (`tokens`, "
                   "null without a rate); and the CURSOR of the page behind it.",
        EXAMPLES({ "Q.LANES app mail", "1# \"total\" => (integer) 1\n"
                                       "2# \"lanes\" => 1)  1# \"domain\" => (nil)\n"
                                       "..." }),
    },
    {
        .name = "Q.EXPLAIN.QUEUE",
        .group = "queues",
        .flags = READS,
        TAKES(queue_arguments, queue_takes),
        .run = run_explain,
        .summary = "Says why a queue hands out no job now, and when it could.",
        .details = "Reasons: ready, no-workers, paused, queue-concurrency, lane-rate, "
                   "lane-concurrency, scheduled, depends, running, recurring, empty.",
        .replies = "A reason, a sentence, when a pop can get a job at the earliest (null: not as "
                   "things stand), and what they are made of.",
        EXAMPLES({ "Q.EXPLAIN.QUEUE app nowhere",
                   "1# \"reason\" => \"empty\"\n"
                   "2# \"sentence\" => \"Queue nowhere has no jobs.\"\n"
                   "3# \"earliest\" => (nil)\n"
                   "4# \"waiting\" => (integer) 0\n"
                   "5# \"running\" => (integer) 0\n"
                   "6# \"scheduled\" => (integer) 0\n"
                   "7# \"depends\" => (integer) 0\n"
                   "8# \"listeners\" => (integer) 0\n"
                   "9# \"paused\" => (false)" }),
    },
};

const struct command_table api_lanes = TABLE(commands);
