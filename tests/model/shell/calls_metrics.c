// SPDX-License-Identifier: MIT
// Calls: counts of jobs, and what was measured.
#include "arguments.h"
#include "base/histogram.h"
#include "base/meter.h"
#include "engine/measure/metrics.h"
#include "engine/measure/series.h"
#include "member.h"
#include "shell.h"

#include <stdio.h>

static enum status call_count(struct shell *shell)
{
    const json_t *request = shell->request;
    const struct count_filter filter = {
        .queue = arg_text(request, "queue"),
        .has_priority = arg_has(request, "priority"),
        .has_state = arg_has(request, "state"),
        .priority = arg_number32(request, "priority"),
        .state = arg_state(request, "state"),
        .tried = arg_has(request, "tried"),
        .started = arg_has(request, "started"),
    };
    json_write_uint(&shell->out, engine_count(shell->engine, &filter));
    return STATUS_OK;
}

static enum status call_priorities(struct shell *shell)
{
    struct priority_view view = { 0 };
    struct slice queue = arg_text(shell->request, "queue");
    json_write_begin_array(&shell->out);
    int64_t from = INT32_MIN;
    while (from <= INT32_MAX && engine_priorities(shell->engine, queue, (int32_t)from, &view, 1)) {
        json_write_int(&shell->out, view.priority);
        from = (int64_t)view.priority + 1;
    }
    json_write_end_array(&shell->out);
    return STATUS_OK;
}

// Most buckets are empty; only the others are written, by their number.
static void write_buckets(struct json_writer *out, const struct histogram *histogram)
{
    char number[24];
    json_write_begin_object(out);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i]) {
            (void)snprintf(number, sizeof(number), "%zu", i);
            member_uint(out, number, histogram->buckets[i]);
        }
    }
    json_write_end_object(out);
}

static void write_histogram(struct shell *shell, const char *name,
                            const struct histogram *histogram)
{
    struct json_writer *out = &shell->out;
    member_key(out, name);
    json_write_begin_object(out);
    member_uint(out, "count", histogram->count);
    member_key(out, "buckets");
    write_buckets(out, histogram);
    json_write_end_object(out);
}

static void write_meter(struct shell *shell, const char *name, const struct meter *meter)
{
    struct json_writer *out = &shell->out;
    struct meter_rates rates;
    meter_read(meter, shell->now_us, &rates);
    member_key(out, name);
    json_write_begin_array(out);
    json_write_double(out, rates.per_second_1s);
    json_write_double(out, rates.per_second_1m);
    json_write_double(out, rates.per_second_15m);
    json_write_end_array(out);
}

static void write_ends(struct json_writer *out, const struct metrics *metrics)
{
    member_key(out, "ends");
    json_write_begin_object(out);
    member_uint(out, "completed", metrics->completed_count);
    member_uint(out, "failed", metrics->failed_count);
    member_uint(out, "canceled", metrics->canceled_count);
    member_uint(out, "retried", metrics->retried_count);
    member_uint(out, "lost", metrics->lost_count);
    json_write_end_object(out);
}

static enum status call_metrics(struct shell *shell)
{
    const struct metrics *metrics =
        engine_metrics(shell->engine, arg_text(shell->request, "queue"));
    if (!metrics) {
        return STATUS_OK;
    }
    json_write_begin_object(&shell->out);
    write_histogram(shell, "lifetime", &metrics->lifetime);
    write_histogram(shell, "time_to_completion", &metrics->time_to_completion);
    write_histogram(shell, "time_to_failure", &metrics->time_to_failure);
    write_histogram(shell, "runtime", &metrics->runtime);
    write_histogram(shell, "latency", &metrics->latency);
    write_histogram(shell, "attempts", &metrics->attempts);
    write_meter(shell, "queued", &metrics->queued);
    write_meter(shell, "run", &metrics->run);
    write_ends(&shell->out, metrics);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

static void write_counts(struct shell *shell, const char *name,
                         const uint32_t counts[SERIES_COUNTS])
{
    member_key(&shell->out, name);
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        if (i != SERIES_FAILED) {
            json_write_uint(&shell->out, counts[i]);
        }
    }
    json_write_end_array(&shell->out);
}

static enum status call_rates(struct shell *shell)
{
    struct series_rates rates;
    engine_rates(shell->engine, shell->now_us, arg_text(shell->request, "queue"), &rates);
    json_write_begin_object(&shell->out);
    write_counts(shell, "minute", rates.minute);
    write_counts(shell, "second", rates.second);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

const struct call calls_metrics[] = {
    { "count", call_count },
    { "priorities", call_priorities },
    { "metrics", call_metrics },
    { "rates", call_rates },
    { NULL, NULL },
};
