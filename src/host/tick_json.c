// SPDX-License-Identifier: MIT
#include "host/tick_json.h"

#include "base/json_writer.h"
#include "engine/measure/series.h"

enum {
    END_SIZE = 32, // of what follows the queues
};

static void write_count(struct json_writer *writer, const char *key, uint64_t count)
{
    json_write_key(writer, slice_from_cstr(key));
    json_write_uint(writer, count);
}

static void write_rates(struct json_writer *writer, const struct series_rates *rates)
{
    json_write_key(writer, SLICE("rates"));
    json_write_begin_object(writer);
    for (int count = 0; count < SERIES_COUNTS; count++) {
        write_count(writer, series_count_name((enum series_count)count), rates->second[count]);
    }
    json_write_end_object(writer);
}

static void write_totals(struct json_writer *writer, struct engine *engine, int64_t now_us)
{
    struct totals_view totals;
    struct series_rates rates;
    if (engine_totals(engine, now_us, &totals, NULL)) {
        totals = (struct totals_view){ 0 };
    }
    engine_rates(engine, now_us, SLICE_EMPTY, &rates);
    json_write_key(writer, SLICE("when"));
    json_write_seconds(writer, now_us);
    json_write_key(writer, SLICE("jobs"));
    json_write_begin_object(writer);
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        write_count(writer, job_state_name((enum job_state)state), totals.states[state]);
    }
    json_write_end_object(writer);
    write_count(writer, "queue_count", totals.queues);
    write_count(writer, "paused", totals.paused);
    write_count(writer, "workers", totals.workers);
    write_count(writer, "failures", totals.failed_groups);
    write_rates(writer, &rates);
}

static void write_queue(struct json_writer *writer, struct engine *engine, int64_t now_us,
                        struct slice name)
{
    struct queue_view view;
    struct series_rates rates;
    if (engine_queue(engine, now_us, name, &view, NULL)) {
        view = (struct queue_view){ .name = name };
    }
    engine_rates(engine, now_us, name, &rates);
    json_write_begin_object(writer);
    json_write_key(writer, SLICE("queue"));
    json_write_string(writer, name);
    write_count(writer, "waiting", view.waiting);
    write_count(writer, "running", view.running);
    write_count(writer, "stalled", view.stalled);
    write_count(writer, "scheduled", view.scheduled);
    write_count(writer, "depends", view.depends);
    write_count(writer, "failed", view.failed);
    json_write_key(writer, SLICE("paused"));
    json_write_bool(writer, view.paused);
    write_rates(writer, &rates);
    json_write_end_object(writer);
}

// Returns whether all of them fit.
static bool write_queues(struct json_writer *writer, struct engine *engine, int64_t now_us,
                         struct buffer *out, size_t start)
{
    const void *position = NULL;
    struct slice name;
    while (engine_changed_next(engine, now_us, &position, &name)) {
        struct json_writer before = *writer;
        size_t size = out->size;
        write_queue(writer, engine, now_us, name);
        if (out->size - start > TICK_SIZE_MAX - END_SIZE) {
            *writer = before;
            buffer_truncate(out, size);
            return false;
        }
    }
    return true;
}

void tick_json(struct engine *engine, int64_t now_us, struct buffer *out)
{
    size_t start = out->size;
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_begin_object(&writer);
    json_write_key(&writer, SLICE("event"));
    json_write_string(&writer, slice_from_cstr(event_kind_name(EVENT_TICK)));
    write_totals(&writer, engine, now_us);
    json_write_key(&writer, SLICE("queues"));
    json_write_begin_array(&writer);
    bool all = write_queues(&writer, engine, now_us, out, start);
    json_write_end_array(&writer);
    json_write_key(&writer, SLICE("more"));
    json_write_bool(&writer, !all);
    json_write_end_object(&writer);
}
