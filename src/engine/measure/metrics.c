// SPDX-License-Identifier: MIT
#include "engine/measure/metrics.h"

#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/measure/series.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

void metrics_free(struct engine *engine, struct metrics *metrics)
{
    mem_free(engine->allocator, metrics, metrics ? sizeof(*metrics) : 0);
}

const struct metrics *engine_metrics(const struct engine *engine, struct slice name)
{
    if (name.size == 0) {
        return &engine->metrics;
    }
    const struct queue *queue = queue_find(engine, name);
    return queue ? queue->metrics : NULL;
}

// The metrics of a queue; NULL if there is no memory for them.
static struct metrics *metrics_of(struct engine *engine, struct queue *queue)
{
    if (!queue->metrics) {
        queue->metrics = mem_zalloc(engine->allocator, sizeof(*queue->metrics));
    }
    return queue->metrics;
}

// Adds a value to a histogram of the namespace, and to the same one of a queue.
#define MEASURE(engine, own, member, value)                                                        \
    do {                                                                                           \
        histogram_add(&(engine)->metrics.member, value);                                           \
        if (own) {                                                                                 \
            histogram_add(&(own)->member, value);                                                  \
        }                                                                                          \
    } while (0)

// Counts in the metrics of the whole, and in those of a queue.
#define COUNT(engine, own, member)                                                                 \
    do {                                                                                           \
        (engine)->metrics.member++;                                                                \
        if (own) {                                                                                 \
            (own)->member++;                                                                       \
        }                                                                                          \
    } while (0)

void metrics_queued(struct engine *engine, struct queue *queue, int64_t now_us)
{
    struct metrics *own = metrics_of(engine, queue);
    series_count(engine, queue, SERIES_PUT);
    meter_add(&engine->metrics.queued, now_us, 1);
    COUNT(engine, own, queued_count);
    if (own) {
        meter_add(&own->queued, now_us, 1);
    }
}

// Since when a waiting job could run. A change of the priority resets that.
static int64_t since(const struct job *job)
{
    int64_t line_us = line_time(job->node.key);
    return line_us > 0 ? line_us : job->time_us;
}

void metrics_popped(struct engine *engine, const struct job *job, int64_t now_us)
{
    struct metrics *own = metrics_of(engine, job->queue);
    series_count(engine, job->queue, SERIES_POPPED);
    meter_add(&engine->metrics.run, now_us, 1);
    COUNT(engine, own, run_count);
    if (own) {
        meter_add(&own->run, now_us, 1);
    }
    if (job->attempts == 0) {
        int64_t latency_us = now_us - since(job);
        MEASURE(engine, own, latency, latency_us);
        series_time(engine, job->queue, false, histogram_bucket(latency_us));
    }
}

void metrics_run(struct engine *engine, const struct job *job, int64_t now_us)
{
    struct metrics *own = metrics_of(engine, job->queue);
    int64_t runtime_us = now_us - job->time_us;
    MEASURE(engine, own, runtime, runtime_us);
    series_count(engine, job->queue, SERIES_COMPLETED);
    series_time(engine, job->queue, true, histogram_bucket(runtime_us));
}

void metrics_completed(struct engine *engine, const struct job *job, int64_t now_us)
{
    struct metrics *own = metrics_of(engine, job->queue);
    int64_t lifetime_us = now_us - job->created_us;
    int64_t since_first_run_us = now_us - history_first_run(job, job->created_us);
    MEASURE(engine, own, lifetime, lifetime_us);
    MEASURE(engine, own, time_to_completion, since_first_run_us);
    MEASURE(engine, own, attempts, job->attempts);
    COUNT(engine, own, completed_count);
}

void metrics_failed(struct engine *engine, const struct job *job, int64_t when_us)
{
    struct metrics *own = metrics_of(engine, job->queue);
    int64_t lifetime_us = when_us - job->created_us;
    MEASURE(engine, own, time_to_failure, lifetime_us);
    COUNT(engine, own, failed_count);
    series_count(engine, job->queue, SERIES_FAILED);
}

void metrics_retried(struct engine *engine, struct queue *queue)
{
    struct metrics *own = metrics_of(engine, queue);
    COUNT(engine, own, retried_count);
    series_count(engine, queue, SERIES_RETRIED);
}

void metrics_lost(struct engine *engine, struct queue *queue)
{
    struct metrics *own = metrics_of(engine, queue);
    COUNT(engine, own, lost_count);
    series_count(engine, queue, SERIES_LOST);
}

void metrics_canceled(struct engine *engine, struct queue *queue)
{
    struct metrics *own = queue ? metrics_of(engine, queue) : NULL;
    COUNT(engine, own, canceled_count);
}
