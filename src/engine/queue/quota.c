// SPDX-License-Identifier: MIT
#include "engine/queue/quota.h"

#include "engine/export/restore.h"
#include "engine/job/job.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <assert.h>

enum {
    SHOWN_MAX = 40, // bytes of a queue's name in a message
};

void engine_set_quotas(struct engine *engine, const struct quotas *quotas)
{
    engine->quotas = *quotas;
}

static uint64_t in_effect(int64_t own, uint64_t host)
{
    return own > 0 ? (uint64_t)own : host;
}

void quota_add(struct engine *engine, struct queue *queue, size_t size)
{
    queue->bytes += size;
    engine->bytes += size;
}

void quota_subtract(struct engine *engine, struct queue *queue, size_t size)
{
    assert(queue->bytes >= size && engine->bytes >= size);
    queue->bytes -= size;
    engine->bytes -= size;
}

void quota_count(struct engine *engine, const struct job *job)
{
    assert(job->queue);
    job->queue->jobs++;
    quota_add(engine, job->queue, job_data(job).size);
}

void quota_uncount(struct engine *engine, const struct job *job)
{
    if (job_counts(job)) {
        assert(job->queue->jobs > 0);
        job->queue->jobs--;
        quota_subtract(engine, job->queue, job_data(job).size);
    }
}

// Whether so many more fit; a change that does not grow always does.
static bool fits(uint64_t there, uint64_t more, uint64_t less, uint64_t limit)
{
    return limit == 0 || more <= less || there - less + more <= limit;
}

static enum status refuse_queue(struct slice queue, uint64_t there, uint64_t limit,
                                const char *what, const char *option, struct error *error)
{
    struct slice name = slice_sub(queue, 0, SHOWN_MAX);
    return error_set(error, STATUS_TOO_LARGE,
                     "queue %.*s has %llu %s and may have %llu: complete or cancel jobs, or raise "
                     "the option %.*s-max-%s",
                     SLICE_PRINT(name), (unsigned long long)there, what, (unsigned long long)limit,
                     SLICE_PRINT(name), option);
}

static enum status refuse(uint64_t there, uint64_t limit, const char *what, const char *option,
                          struct error *error)
{
    return error_set(error, STATUS_TOO_LARGE,
                     "the namespace has %llu %s and may have %llu: remove some, or raise its "
                     "option %s",
                     (unsigned long long)there, what, (unsigned long long)limit, option);
}

enum status quota_check_job(const struct engine *engine, const struct queue *queue,
                            const struct job *job, size_t data_size, struct error *error)
{
    const struct quotas *host = &engine->quotas;
    const struct config *config = &engine->config;
    bool counted = job && job_counts(job);
    size_t old_size = counted ? job_data(job).size : 0;
    uint64_t jobs = engine->jobs.count - engine->completed.count;
    uint64_t limit = in_effect(config->max_jobs, host->jobs);
    if (!fits(jobs, 1, counted, limit)) {
        return refuse(jobs, limit, "jobs that are not complete", "max-jobs", error);
    }
    limit = in_effect(config->max_bytes, host->bytes);
    if (!fits(engine->bytes, data_size, old_size, limit)) {
        return refuse(engine->bytes, limit, "bytes of jobs that are not complete", "max-bytes",
                      error);
    }
    counted = counted && job->queue == queue;
    limit = in_effect(queue->jobs_max, host->queue_jobs);
    if (!fits(queue->jobs, 1, counted, limit)) {
        return refuse_queue(queue_name(queue), queue->jobs, limit, "jobs", "jobs", error);
    }
    limit = in_effect(queue->bytes_max, host->queue_bytes);
    if (!fits(queue->bytes, data_size, counted ? old_size : 0, limit)) {
        return refuse_queue(queue_name(queue), queue->bytes, limit, "bytes of jobs", "bytes",
                            error);
    }
    return STATUS_OK;
}

enum status quota_check_promises(const struct engine *engine, uint64_t bytes, struct error *error)
{
    const struct config *config = &engine->config;
    uint64_t limit =
        in_effect(config->max_promise_bytes, in_effect(config->max_bytes, engine->quotas.bytes));
    return fits(bytes, 1, 0, limit)
               ? STATUS_OK
               : refuse(bytes, limit, "bytes of locks and results that are kept for a time",
                        "max-promise-bytes", error);
}

enum status quota_check_queue(const struct engine *engine, struct error *error)
{
    uint64_t limit = in_effect(engine->config.max_queues, engine->quotas.queues);
    return fits(engine->queues.count, 1, 0, limit)
               ? STATUS_OK
               : refuse(engine->queues.count, limit, "queues", "max-queues", error);
}

enum status quota_check_recurring(const struct engine *engine, struct slice jid,
                                  struct error *error)
{
    uint64_t limit = in_effect(engine->config.max_recurring, engine->quotas.recurring);
    bool counted = map_find(&engine->recurring, jid) != NULL;
    return fits(engine->recurring.count, 1, counted, limit)
               ? STATUS_OK
               : refuse(engine->recurring.count, limit, "recurring jobs", "max-recurring", error);
}

enum status quota_check_interval(const struct engine *engine, int64_t interval_us,
                                 struct error *error)
{
    int64_t own_us = engine->config.min_interval_us;
    int64_t least_us = own_us > 0 ? own_us : engine->quotas.interval_us;
    if (interval_us >= least_us) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID,
                     "interval is %lld us, and must be at least %lld us: the option min-interval "
                     "says so, in seconds",
                     (long long)interval_us, (long long)least_us);
}

// Whether so many more jobs with so many bytes fit into the queue, or into a new one.
static enum status queue_has_room(const struct engine *engine, struct slice name,
                                  const struct room *room, struct error *error)
{
    int64_t jobs_max, bytes_max;
    const struct queue *queue = queue_find(engine, name);
    uint64_t jobs = queue ? queue->jobs : 0, bytes = queue ? queue->bytes : 0;
    config_queue_quotas(engine, name, &jobs_max, &bytes_max);
    uint64_t limit = in_effect(jobs_max, engine->quotas.queue_jobs);
    if (!fits(jobs, room->jobs, 0, limit)) {
        return refuse_queue(name, jobs, limit, "jobs", "jobs", error);
    }
    limit = in_effect(bytes_max, engine->quotas.queue_bytes);
    return fits(bytes, room->bytes, 0, limit)
               ? STATUS_OK
               : refuse_queue(name, bytes, limit, "bytes of jobs", "bytes", error);
}

enum status engine_has_room(const struct engine *engine, struct slice queue,
                            const struct room *room, struct error *error)
{
    if (queue.size) {
        enum status status = name_check(queue, "queue", error);
        return status ? status : queue_has_room(engine, queue, room, error);
    }
    const struct quotas *host = &engine->quotas;
    const struct config *config = &engine->config;
    const struct {
        uint64_t there, more, limit;
        const char *what, *option;
    } checks[] = {
        { engine->jobs.count - engine->completed.count, room->jobs,
          in_effect(config->max_jobs, host->jobs), "jobs that are not complete", "max-jobs" },
        { engine->bytes, room->bytes, in_effect(config->max_bytes, host->bytes),
          "bytes of jobs that are not complete", "max-bytes" },
        { engine->queues.count, room->queues, in_effect(config->max_queues, host->queues), "queues",
          "max-queues" },
        { engine->recurring.count, room->recurring,
          in_effect(config->max_recurring, host->recurring), "recurring jobs", "max-recurring" },
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (!fits(checks[i].there, checks[i].more, 0, checks[i].limit)) {
            return refuse(checks[i].there, checks[i].limit, checks[i].what, checks[i].option,
                          error);
        }
    }
    return STATUS_OK;
}
