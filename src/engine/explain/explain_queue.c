// SPDX-License-Identifier: MIT
#include "engine/explain/explain_queue.h"

#include "base/timefmt.h"
#include "engine/lanes/lane.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const names[QUEUE_REASON_COUNT] = {
    [QUEUE_READY] = "ready",         [QUEUE_NO_WORKERS] = "no-workers",
    [QUEUE_PAUSED] = "paused",       [QUEUE_CONCURRENCY] = "queue-concurrency",
    [QUEUE_LANE_RATE] = "lane-rate", [QUEUE_LANE_CONCURRENCY] = "lane-concurrency",
    [QUEUE_SCHEDULED] = "scheduled", [QUEUE_DEPENDS] = "depends",
    [QUEUE_RUNNING] = "running",     [QUEUE_RECURRING] = "recurring",
    [QUEUE_EMPTY] = "empty",
};

const char *queue_reason_name(enum queue_reason reason)
{
    assert(reason < QUEUE_REASON_COUNT);
    return names[reason];
}

static int64_t first_time(const struct index *index)
{
    struct index_node *node = index_first(index);
    return node ? time_of_key(node->key) : INT64_MAX;
}

static enum queue_reason reason_in_line(const struct engine *engine, const struct queue *queue,
                                        int64_t now_us, struct queue_explanation *out)
{
    if (queue_room(engine, queue, now_us) == 0) {
        return QUEUE_CONCURRENCY;
    }
    int64_t limited_us = first_time(&queue->lanes[LANE_LIMITED]);
    bool ready = queue->lanes_count ? lane_next(queue) != NULL : queue->plain.line.count > 0;
    // the latter with the client clock: the next pop refills it
    if (ready || limited_us <= now_us) {
        out->earliest_us = now_us;
        return queue->listeners.count ? QUEUE_READY : QUEUE_NO_WORKERS;
    }
    out->earliest_us = limited_us;
    return limited_us < INT64_MAX ? QUEUE_LANE_RATE : QUEUE_LANE_CONCURRENCY;
}

static enum queue_reason find_reason(const struct engine *engine, const struct queue *queue,
                                     int64_t now_us, struct queue_explanation *out)
{
    int64_t scheduled_us = first_time(&queue->scheduled);
    bool due = scheduled_us <= now_us; // with the client clock: the next pop moves it
    if (queue->paused && (out->waiting || out->scheduled || out->depends)) {
        return QUEUE_PAUSED;
    }
    if (out->waiting) {
        return reason_in_line(engine, queue, now_us, out);
    }
    if (due) {
        out->earliest_us = now_us;
        return queue->listeners.count ? QUEUE_READY : QUEUE_NO_WORKERS;
    }
    if (out->scheduled) {
        out->earliest_us = scheduled_us;
        return QUEUE_SCHEDULED;
    }
    if (out->depends) {
        return QUEUE_DEPENDS;
    }
    if (out->running) {
        return QUEUE_RUNNING;
    }
    struct index_node *recurring = index_first(&queue->recurring);
    if (!recurring) {
        return QUEUE_EMPTY;
    }
    int64_t next_us = time_of_key(recurring->key);
    out->earliest_us = next_us > ENGINE_TIME_MAX || queue->paused ? INT64_MAX : next_us;
    return QUEUE_RECURRING;
}

// ---------------------------------------------------------------------------------------------
// The sentence

struct moment {
    char text[TIMEFMT_SIZE_MAX + 1];
};

static struct moment moment(int64_t us)
{
    struct moment out = { "" };
    if (us < 0 || us > ENGINE_TIME_MAX) {
        return out;
    }
    out.text[timefmt_format(us, out.text)] = '\0';
    return out;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void __attribute__((format(printf, 2, 3)))
write_sentence(struct queue_explanation *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(out->sentence, sizeof(out->sentence), format, arguments);
    va_end(arguments);
}

static void write_reason(struct queue_explanation *out, struct slice queue)
{
    struct moment earliest = moment(out->earliest_us);
    switch (out->reason) {
    case QUEUE_READY:
        write_sentence(out, "Queue %.*s has a job to hand out, and %zu worker%s listen%s.",
                       SLICE_PRINT(queue), out->listeners, plural(out->listeners),
                       out->listeners == 1 ? "s" : "");
        break;
    case QUEUE_NO_WORKERS:
        write_sentence(out, "Queue %.*s has a job to hand out, and no worker listens.",
                       SLICE_PRINT(queue));
        break;
    case QUEUE_PAUSED:
        write_sentence(out, "Queue %.*s is paused.", SLICE_PRINT(queue));
        break;
    case QUEUE_CONCURRENCY:
        write_sentence(out, "Queue %.*s runs as many jobs as it may: %zu.", SLICE_PRINT(queue),
                       out->running);
        break;
    case QUEUE_LANE_RATE:
        write_sentence(out, "All lanes with jobs of queue %.*s are limited until %s.",
                       SLICE_PRINT(queue), earliest.text);
        break;
    case QUEUE_LANE_CONCURRENCY:
        write_sentence(out, "All lanes with jobs of queue %.*s run as many jobs as they may.",
                       SLICE_PRINT(queue));
        break;
    case QUEUE_SCHEDULED:
        write_sentence(out, "No job of queue %.*s is in line; %zu %s scheduled, the first for %s.",
                       SLICE_PRINT(queue), out->scheduled, out->scheduled == 1 ? "is" : "are",
                       earliest.text);
        break;
    case QUEUE_DEPENDS:
        write_sentence(out, "No job of queue %.*s is in line; %zu %s for other jobs.",
                       SLICE_PRINT(queue), out->depends, out->depends == 1 ? "waits" : "wait");
        break;
    case QUEUE_RUNNING:
        write_sentence(out, "All jobs of queue %.*s are running: %zu.", SLICE_PRINT(queue),
                       out->running);
        break;
    case QUEUE_RECURRING:
        write_sentence(out, "Queue %.*s has no jobs; the next recurring job is due %s%s.",
                       SLICE_PRINT(queue), out->earliest_us == INT64_MAX ? "never" : "at ",
                       earliest.text);
        break;
    case QUEUE_EMPTY:
    case QUEUE_REASON_COUNT:
        write_sentence(out, "Queue %.*s has no jobs.", SLICE_PRINT(queue));
        break;
    }
}

enum status engine_explain_queue(struct engine *engine, int64_t now_us, struct slice name,
                                 struct queue_explanation *out, struct error *error)
{
    struct queue_view view;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = engine_queue(engine, now_us, name, &view, error);
    }
    if (status) {
        return status;
    }
    const struct queue *queue = queue_find(engine, name);
    *out = (struct queue_explanation){ .reason = QUEUE_EMPTY,
                                       .earliest_us = INT64_MAX,
                                       .waiting = view.waiting,
                                       .running = view.running,
                                       .scheduled = view.scheduled,
                                       .depends = view.depends,
                                       .listeners = view.listeners,
                                       .paused = view.paused };
    if (queue) {
        out->reason = find_reason(engine, queue, now_us, out);
    }
    write_reason(out, name);
    return STATUS_OK;
}
