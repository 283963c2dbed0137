// SPDX-License-Identifier: MIT
// Commands about measurements: totals, series, statistics of days, times.
#include "api/native/measures.h"

#include "api/page.h"
#include "api/table.h"
#include "engine/measure/metrics.h"
#include "engine/measure/stats.h"
#include "engine/queue/queues.h"

struct queue_arguments {
    struct slice queue;
};

static const struct argument queue_or_all_takes[] = {
    OPTIONAL(queue_arguments, queue, NAME, "queue", "the queue; all of them when it is not given",
             .about = ABOUT_QUEUE),
};

static void write_count_name(struct reply *reply, size_t count)
{
    reply_text(reply, slice_from_cstr(series_count_name((enum series_count)count)));
}

void reply_age(struct reply *reply, int64_t since_us, int64_t now_us)
{
    if (since_us) {
        reply_seconds(reply, now_us > since_us ? now_us - since_us : 0);
    } else {
        reply_null(reply);
    }
}

void reply_rates(struct reply *reply, const struct series_rates *rates)
{
    reply_map(reply, SERIES_COUNTS);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        write_count_name(reply, i);
        reply_number(reply, (double)rates->minute[i] / SERIES_PERIODS);
    }
    reply_end(reply);
}

// ---------------------------------------------------------------------------------------------
// Totals

static void write_states(struct reply *reply, const struct totals_view *totals)
{
    reply_map(reply, JOB_STATE_COUNT);
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        reply_text(reply, slice_from_cstr(job_state_name((enum job_state)state)));
        reply_count(reply, totals->states[state]);
    }
    reply_end(reply);
}

static void write_last_second(struct reply *reply, const struct series_rates *rates)
{
    reply_map(reply, SERIES_COUNTS);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        write_count_name(reply, i);
        reply_integer(reply, rates->second[i]);
    }
    reply_end(reply);
}

static void write_oldest(struct reply *reply, const struct totals_view *totals, int64_t now_us)
{
    if (!totals->oldest_us) {
        reply_null(reply);
        return;
    }
    reply_map(reply, 2);
    reply_key(reply, "queue");
    reply_text(reply, totals->oldest_queue);
    reply_key(reply, "age");
    reply_age(reply, totals->oldest_us, now_us);
    reply_end(reply);
}

void reply_totals_members(struct reply *reply, struct engine *engine, int64_t now_us,
                          const struct totals_view *totals)
{
    struct series_rates rates;
    engine_rates(engine, now_us, SLICE_EMPTY, &rates);
    reply_key(reply, "jobs");
    write_states(reply, totals);
    reply_key(reply, "queues");
    reply_count(reply, totals->queues);
    reply_key(reply, "paused");
    reply_count(reply, totals->paused);
    reply_key(reply, "workers");
    reply_count(reply, totals->workers);
    reply_key(reply, "recurring");
    reply_count(reply, totals->recurring);
    reply_key(reply, "failures");
    reply_count(reply, totals->failed_groups);
    reply_key(reply, "bytes");
    reply_integer(reply, (int64_t)totals->bytes);
    reply_key(reply, "oldest");
    write_oldest(reply, totals, now_us);
    reply_key(reply, "rates");
    reply_rates(reply, &rates);
    reply_key(reply, "last_second");
    write_last_second(reply, &rates);
}

static enum status run_totals(struct call *call, struct error *error)
{
    struct totals_view totals;
    enum status status = engine_totals(call->engine, call->now_us, &totals, error);
    if (!status) {
        reply_map(call->reply, TOTALS_MEMBERS);
        reply_totals_members(call->reply, call->engine, call->now_us, &totals);
        reply_end(call->reply);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Series

static const char *const step_words[] = { "1", "15", "60", NULL };
static const int64_t steps[] = { 1, SERIES_SPAN_S, SERIES_MINUTE_S };

struct series_arguments {
    struct slice queue;
    int64_t step, count;
    bool has_count;
};

static const struct argument series_takes[] = {
    OPTIONAL(series_arguments, queue, NAME, "queue", "the queue; all of them when it is not given",
             .about = ABOUT_QUEUE),
    OPTION(series_arguments, step, WORD, "STEP",
           "the length of a period in seconds: 1 (60 of them), 15 (60) or 60 (1440) (1)",
           .words = step_words),
    OPTION_HAS(series_arguments, count, has_count, INTEGER, "COUNT",
               "how many periods at most, the newest ones (all)", .min = 0, .max = SERIES_MINUTES),
};

static void write_bucket(struct reply *reply, uint8_t bucket)
{
    if (bucket == SERIES_NO_BUCKET) {
        reply_null(reply);
    } else {
        reply_seconds(reply, histogram_bound(bucket));
    }
}

static uint64_t sum(const uint64_t buckets[HISTOGRAM_BUCKETS])
{
    uint64_t total = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        total += buckets[i];
    }
    return total;
}

static const struct {
    const char *name;
    unsigned per_mille;
} quantile_words[SERIES_QUANTILES] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 } };

// The quantiles of each period, and of the window.
static void write_quantiles(struct reply *reply, const struct series_point *points, size_t count,
                            bool run, const uint64_t window[HISTOGRAM_BUCKETS])
{
    reply_map(reply, SERIES_QUANTILES + 1);
    for (size_t i = 0; i < SERIES_QUANTILES; i++) {
        reply_text(reply, slice_from_cstr(quantile_words[i].name));
        reply_list(reply, count);
        for (size_t j = 0; j < count; j++) {
            write_bucket(reply, run ? points[j].run[i] : points[j].wait[i]);
        }
        reply_end(reply);
    }
    reply_key(reply, "window");
    reply_map(reply, SERIES_QUANTILES + 1);
    reply_key(reply, "count");
    reply_count(reply, sum(window));
    for (size_t i = 0; i < SERIES_QUANTILES; i++) {
        reply_text(reply, slice_from_cstr(quantile_words[i].name));
        write_bucket(reply, series_quantile(window, quantile_words[i].per_mille));
    }
    reply_end(reply);
    reply_end(reply);
}

static void write_depths(struct reply *reply, const struct series_point *points, size_t count)
{
    reply_map(reply, SERIES_DEPTHS);
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        if (state == JOB_COMPLETE) {
            continue;
        }
        size_t place = series_depth_of((enum job_state)state);
        reply_text(reply, slice_from_cstr(job_state_name((enum job_state)state)));
        reply_list(reply, count);
        for (size_t i = 0; i < count; i++) {
            reply_integer(reply, points[i].depths[place]);
        }
        reply_end(reply);
    }
    reply_end(reply);
}

static enum status run_series(struct call *call, struct error *error)
{
    const struct series_arguments *given = call->arguments;
    struct reply *reply = call->reply;
    int64_t step_s = steps[given->step];
    struct series_point room[SERIES_MINUTES];
    struct series_view view = { .points = room };
    enum status status =
        engine_series(call->engine, call->now_us, given->queue, step_s, &view, error);
    if (status) {
        return status;
    }
    size_t count = view.count;
    count = given->has_count && (size_t)given->count < count ? (size_t)given->count : count;
    const struct series_point *points = room + (view.count - count);
    reply_map(reply, 6 + SERIES_COUNTS);
    reply_key(reply, "step");
    reply_integer(reply, step_s);
    reply_key(reply, "from");
    reply_moment(reply, view.from_us + (int64_t)(view.count - count) * step_s * 1000000);
    reply_key(reply, "count");
    reply_count(reply, count);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        write_count_name(reply, i);
        reply_list(reply, count);
        for (size_t j = 0; j < count; j++) {
            reply_integer(reply, points[j].counts[i]);
        }
        reply_end(reply);
    }
    reply_key(reply, "depth");
    write_depths(reply, points, count);
    reply_key(reply, "wait");
    write_quantiles(reply, points, count, false, view.times.wait);
    reply_key(reply, "run");
    write_quantiles(reply, points, count, true, view.times.run);
    reply_end(reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Statistics

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

static void write_series(struct reply *reply, const struct stats_series *series)
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
    write_series(call->reply, &view.wait);
    reply_key(call->reply, "run");
    write_series(call->reply, &view.run);
    reply_end(call->reply);
    return STATUS_OK;
}

// Writes a histogram of times, in seconds.
static void write_times(struct reply *reply, const struct histogram *histogram)
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

static void write_attempts(struct reply *reply, const struct histogram *histogram)
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

static void write_rates(struct reply *reply, const struct meter *meter, int64_t now_us)
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
    write_times(call->reply, &metrics->latency);
    reply_key(call->reply, "runtime");
    write_times(call->reply, &metrics->runtime);
    reply_key(call->reply, "lifetime");
    write_times(call->reply, &metrics->lifetime);
    reply_key(call->reply, "time-to-completion");
    write_times(call->reply, &metrics->time_to_completion);
    reply_key(call->reply, "time-to-failure");
    write_times(call->reply, &metrics->time_to_failure);
    reply_key(call->reply, "attempts");
    write_attempts(call->reply, &metrics->attempts);
    reply_key(call->reply, "queued");
    write_rates(call->reply, &metrics->queued, call->now_us);
    reply_key(call->reply, "run");
    write_rates(call->reply, &metrics->run, call->now_us);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// All days

enum {
    DAYS_COUNT = 100, // the default
};

struct days_arguments {
    struct slice queue, cursor;
    int64_t from, count;
    bool has_from, has_count, histograms;
};

static const struct argument days_takes[] = {
    OPTIONAL(days_arguments, queue, NAME, "queue", "the queue; all of them when it is not given",
             .about = ABOUT_QUEUE),
    OPTION_HAS(days_arguments, from, has_from, MOMENT, "FROM",
               "only the day, in UTC, that it lies in and later ones"),
    OPTION(days_arguments, histograms, FLAG, "HISTOGRAMS", "with the histograms of Q.STATS"),
    OPTION_HAS(days_arguments, count, has_count, INTEGER, "COUNT", "how many at most (100)",
               .min = 1, .max = STATS_DAYS_MAX),
    OPTION(days_arguments, cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
};

static void write_day_series(struct reply *reply, const struct stats_series *series, bool histogram)
{
    if (histogram) {
        write_series(reply, series);
        return;
    }
    reply_map(reply, 3);
    reply_key(reply, "count");
    reply_count(reply, series->count);
    reply_key(reply, "mean");
    reply_number(reply, series->mean);
    reply_key(reply, "std");
    reply_number(reply, series->std);
    reply_end(reply);
}

static void write_day(struct reply *reply, const struct stats_day_view *day, bool histograms)
{
    struct stats_view view;
    stats_day_view(day, &view);
    reply_map(reply, 8);
    reply_key(reply, "queue");
    reply_text(reply, day->queue);
    reply_key(reply, "date");
    reply_moment(reply, day->start_us);
    reply_key(reply, "retries");
    reply_integer(reply, view.retries);
    reply_key(reply, "lost_leases");
    reply_integer(reply, view.lost_leases);
    reply_key(reply, "failures");
    reply_integer(reply, view.failures);
    reply_key(reply, "failed");
    reply_integer(reply, view.failed);
    reply_key(reply, "wait");
    write_day_series(reply, &view.wait, histograms);
    reply_key(reply, "run");
    write_day_series(reply, &view.run, histograms);
    reply_end(reply);
}

static enum status run_days(struct call *call, struct error *error)
{
    const struct days_arguments *given = call->arguments;
    struct stats_days_page page = {
        .queue = given->queue,
        .from_us = given->has_from ? given->from : INT64_MIN,
        .count = given->has_count ? (size_t)given->count : DAYS_COUNT,
        .has_after = given->cursor.size > 0,
    };
    struct index_key after;
    if (page.has_after) {
        enum status status = page_read_cursor(call, given->cursor, &after, error);
        if (status) {
            return status;
        }
        page.after_id = after.high;
        page.after_day = (int64_t)after.low;
    }
    engine_stats_days(call->engine, &page);
    reply_map(call->reply, 2);
    reply_key(call->reply, "days");
    reply_list(call->reply, page.found);
    for (size_t i = 0; i < page.found; i++) {
        write_day(call->reply, &page.days[i], given->histograms);
    }
    reply_end(call->reply);
    reply_key(call->reply, "next");
    const struct index_key last = { page.last_id, (uint64_t)page.last_day };
    reply_page_next(call->reply, page.more ? &last : NULL);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.TOTALS",
        .group = "measures",
        .flags = READS,
        .run = run_totals,
        .summary = "Shows a namespace as a whole.",
        .details = "It costs the same however many jobs there are. With more than 1,024 queues the "
                   "oldest job is looked for over several calls, 1,024 queues with each.",
        .replies = "How many jobs are in each state; how many queues there are, and paused ones, "
                   "workers, recurring jobs and groups of failures; the bytes of data of jobs that "
                   "are not finished; the queue of the job in line that could run first, and for "
                   "how many seconds it could; how often each thing happened in a second, over the "
                   "last minute; and how often it did in the last full second.",
        EXAMPLES({ "Q.TOTALS app", " 1# \"jobs\" => 1# \"scheduled\" => (integer) 3\n"
                                   "    2# \"depends\" => (integer) 0\n"
                                   "    3# \"waiting\" => (integer) 1\n"
                                   "    4# \"running\" => (integer) 0\n"
                                   "    5# \"stalled\" => (integer) 1\n"
                                   "    6# \"complete\" => (integer) 1\n"
                                   "    7# \"failed\" => (integer) 2\n"
                                   " 2# \"queues\" => (integer) 2\n"
                                   " 3# \"paused\" => (integer) 0\n"
                                   " 4# \"workers\" => (integer) 2\n"
                                   " 5# \"recurring\" => (integer) 0\n"
                                   " 6# \"failures\" => (integer) 1\n"
                                   " 7# \"bytes\" => (integer) 46\n"
                                   " 8# \"oldest\" => 1# \"queue\" => \"mail\"\n"
                                   "    2# \"age\" => (double) 0\n"
                                   " 9# \"rates\" => 1# \"put\" => (double) 0.11666666666666667\n"
                                   "    2# \"popped\" => (double) 0.05\n"
                                   "    3# \"completed\" => (double) 0\n"
                                   "    4# \"failed\" => (double) 0\n"
                                   "    5# \"retried\" => (double) 0\n"
                                   "    6# \"lost\" => (double) 0\n"
                                   "10# \"last_second\" => 1# \"put\" => (integer) 0\n"
                                   "    2# \"popped\" => (integer) 0\n"
                                   "    3# \"completed\" => (integer) 0\n"
                                   "    4# \"failed\" => (integer) 0\n"
                                   "    5# \"retried\" => (integer) 0\n"
                                   "    6# \"lost\" => (integer) 0" }),
    },
    {
        .name = "Q.SERIES",
        .group = "measures",
        .flags = READS,
        TAKES(series_arguments, series_takes),
        .run = run_series,
        .summary = "Shows what happened lately, period by period: the last 60 seconds, a quarter "
                   "of an hour or a day.",
        .details =
            "Only full periods are shown, the oldest first. Completed are runs, also those that "
            "went on to another queue; lost are leases that ran out. The depths are how many jobs "
            "there were in each state when the period ended. wait: from when a job could first run "
            "to its first run. run: of runs that completed. The quantiles of `window` are those of "
            "the last minute, quarter of an hour or day as a whole, until now; it may reach back a "
            "quarter longer, that of a day an hour. A quantile is at most a quarter too large. "
            "Minutes survive a restart, but for the one that is not over.",
        .replies =
            "The length of a period in seconds, when the first one began, and how many there "
            "are; for each thing how often it happened in each of them; the depths; and of "
            "the times quantiles in seconds, null where there were none.",
        EXAMPLES({ "Q.SERIES app mail STEP 60 COUNT 2", " 1# \"step\" => (integer) 60\n"
                                                        " 2# \"from\" => (double) 1783999860\n"
                                                        " 3# \"count\" => (integer) 2\n"
                                                        " 4# \"put\" => 1) (integer) 0\n"
                                                        "    2) (integer) 0\n"
                                                        " 5# \"popped\" => 1) (integer) 0\n"
                                                        "    2) (integer) 0\n"
                                                        " 6# \"completed\" => 1) (integer) 0\n"
                                                        "    2) (integer) 0\n"
                                                        " 7# \"failed\" => 1) (integer) 0\n"
                                                        "    2) (integer) 0\n"
                                                        " 8# \"retried\" => 1) (integer) 0\n"
                                                        "    2) (integer) 0\n"
                                                        " 9# \"lost\" => 1) (integer) 0\n"
                                                        "..." }),
    },
    {
        .name = "Q.STATS",
        .group = "measures",
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
                   "5# \"wait\" => 1# \"count\" => (integer) 10\n"
                   "   2# \"mean\" => (double) 0\n"
                   "   3# \"std\" => (double) 0\n"
                   "   4# \"histogram\" =>   1) (integer) 10\n"
                   "        2) (integer) 0\n"
                   "        3) (integer) 0\n"
                   "        4) (integer) 0\n"
                   "..." }),
    },
    {
        .name = "Q.STATS.DAYS",
        .group = "measures",
        .flags = READS,
        TAKES(days_arguments, days_takes),
        .run = run_days,
        .summary = "Shows how all queues did on all days of which statistics are kept.",
        .details =
            "Queue by queue in the order in which they were made, and of each the newest day "
            "first. A page may have fewer days than COUNT, or none, though there are more: "
            "`next` is null on the last one.",
        .replies =
            "A page of days, each with the queue and what Q.STATS says of it, and the CURSOR "
            "of the page behind it.",
        EXAMPLES({ "Q.STATS.DAYS app mail COUNT 1",
                   "1# \"days\" => 1) 1# \"queue\" => \"mail\"\n"
                   "      2# \"date\" => (double) 1783987200\n"
                   "      3# \"retries\" => (integer) 2\n"
                   "      4# \"lost_leases\" => (integer) 0\n"
                   "      5# \"failures\" => (integer) 3\n"
                   "      6# \"failed\" => (integer) 2\n"
                   "      7# \"wait\" => 1# \"count\" => (integer) 10\n"
                   "         2# \"mean\" => (double) 0\n"
                   "         3# \"std\" => (double) 0\n"
                   "      8# \"run\" => 1# \"count\" => (integer) 2\n"
                   "         2# \"mean\" => (double) 30\n"
                   "         3# \"std\" => (double) 0\n"
                   "2# \"next\" => (nil)" }),
    },
    {
        .name = "Q.METRICS",
        .group = "measures",
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
                   "1# \"latency\" => 1# \"count\" => (integer) 8\n"
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
                   "   2# \"1m\" => (double) 0.1\n"
                   "   3# \"15m\" => (double) 0.006666666666666667\n"
                   "8# \"run\" => 1# \"1s\" => (double) 0\n"
                   "   2# \"1m\" => (double) 0.05\n"
                   "   3# \"15m\" => (double) 0.0033333333333333335" }),
    },
};

const struct command_table api_measures = TABLE(commands);
