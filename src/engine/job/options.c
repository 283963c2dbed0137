// SPDX-License-Identifier: MIT
#include "engine/job/options.h"

#include "engine/config/policy.h"
#include "engine/job/job.h"
#include "engine/lease/lease.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <string.h>

static enum status check_backoff(const struct backoff *backoff, struct error *error)
{
    if ((unsigned)backoff->kind > BACKOFF_LIST) {
        return error_set(error, STATUS_INVALID, "unknown kind of backoff");
    }
    if (backoff->jitter_percent > 100) {
        return error_set(error, STATUS_INVALID, "the jitter of a backoff is at most 100 %%");
    }
    if (backoff->base_us < 0 || backoff->base_us > ENGINE_TIME_MAX || backoff->cap_us < 0 ||
        backoff->cap_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID,
                         "base and cap of a backoff must not be negative, nor reach beyond the "
                         "year 9999");
    }
    if (backoff->kind != BACKOFF_LIST) {
        return STATUS_OK;
    }
    if (backoff->list_count == 0 || backoff->list_count > BACKOFF_LIST_MAX) {
        return error_set(error, STATUS_INVALID, "the list of a backoff has 1 to %d delays",
                         BACKOFF_LIST_MAX);
    }
    for (size_t i = 0; i < backoff->list_count; i++) {
        if (backoff->list_us[i] < 0 || backoff->list_us[i] > ENGINE_TIME_MAX) {
            return error_set(error, STATUS_INVALID,
                             "delay %zu of a backoff must not be negative, nor reach beyond the "
                             "year 9999",
                             i + 1);
        }
    }
    return STATUS_OK;
}

enum status options_check(const struct job_options *options, struct error *error)
{
    if ((unsigned)options->dependency_policy > DEPENDENCY_RUN) {
        return error_set(error, STATUS_INVALID, "unknown dependency policy");
    }
    if (options->crashes_max > UINT16_MAX) {
        return error_set(error, STATUS_INVALID, "max-crashes is at most %d", UINT16_MAX);
    }
    if (options->timeout_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID, "timeout reaches beyond the year 9999");
    }
    if (options->result_ttl_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID, "result-ttl reaches beyond the year 9999");
    }
    enum status status =
        options->lease_us > 0 ? lease_length_check(options->lease_us, error) : STATUS_OK;
    return status ? status : check_backoff(&options->backoff, error);
}

struct job_options options_normal(const struct job_options *options)
{
    const struct backoff *backoff = &options->backoff;
    struct job_options out;
    memset(&out, 0, sizeof(out)); // including padding, because the bytes are compared
    out.timeout_us = options->timeout_us < 0 ? -1 : options->timeout_us;
    out.result_ttl_us = options->result_ttl_us < 0 ? -1 : options->result_ttl_us;
    out.crashes_max = options->crashes_max < 0 ? -1 : options->crashes_max;
    out.lease_us = options->lease_us < 0 ? -1 : options->lease_us;
    out.dependency_policy = options->dependency_policy;
    out.backoff.kind = backoff->kind;
    if (backoff->kind == BACKOFF_UNSET) {
        return out;
    }
    out.backoff.jitter_percent = backoff->jitter_percent;
    out.backoff.cap_us = backoff->cap_us;
    if (backoff->kind == BACKOFF_LIST) {
        out.backoff.list_count = backoff->list_count;
        memcpy(out.backoff.list_us, backoff->list_us,
               backoff->list_count * sizeof(backoff->list_us[0]));
    } else {
        out.backoff.base_us = backoff->base_us;
    }
    return out;
}

bool options_are_unset(const struct job_options *options)
{
    return options->backoff.kind == BACKOFF_UNSET && options->timeout_us == 0 &&
           options->result_ttl_us == 0 && options->crashes_max == 0 && options->lease_us == 0 &&
           options->dependency_policy == DEPENDENCY_UNSET;
}

enum status options_acquire(struct engine *engine, const struct job_options *options, uint32_t *id)
{
    *id = INTERN_NONE;
    if (options_are_unset(options)) {
        return STATUS_OK;
    }
    const struct job_options normal = options_normal(options);
    return intern_acquire(&engine->names, slice_make(&normal, sizeof(normal)), id);
}

void options_get(const struct engine *engine, uint32_t id, struct job_options *out)
{
    if (id == INTERN_NONE) {
        memset(out, 0, sizeof(*out));
    } else {
        memcpy(out, intern_get(&engine->names, id).data, sizeof(*out));
    }
}

bool options_are(const struct engine *engine, uint32_t id, const struct job_options *options)
{
    if (!options || options_are_unset(options)) {
        return id == INTERN_NONE;
    }
    const struct job_options normal = options_normal(options);
    return slice_equal(intern_get(&engine->names, id), slice_make(&normal, sizeof(normal)));
}

void options_merge(struct job_options *options, const struct job_options *other)
{
    if (options->backoff.kind == BACKOFF_UNSET) {
        options->backoff = other->backoff;
    }
    options->timeout_us = options->timeout_us ? options->timeout_us : other->timeout_us;
    options->result_ttl_us = options->result_ttl_us ? options->result_ttl_us : other->result_ttl_us;
    options->crashes_max = options->crashes_max ? options->crashes_max : other->crashes_max;
    options->lease_us = options->lease_us ? options->lease_us : other->lease_us;
    if (options->dependency_policy == DEPENDENCY_UNSET) {
        options->dependency_policy = other->dependency_policy;
    }
}

void job_options(const struct engine *engine, const struct job *job, struct job_options *out)
{
    options_get(engine, job->options, out);
}

bool job_has_options(const struct engine *engine, const struct job *job)
{
    return job->options != INTERN_NONE || engine->policies.count;
}

void job_options_in_effect(const struct engine *engine, const struct job *job,
                           struct job_options *out)
{
    options_get(engine, job->options, out);
    if (engine->policies.count) {
        struct job_options other;
        policy_find(engine, POLICY_KLASS, intern_get(&engine->names, job->klass), &other);
        options_merge(out, &other);
        if (job->queue) {
            policy_find(engine, POLICY_QUEUE, queue_name(job->queue), &other);
            options_merge(out, &other);
        }
    }
}

// A delay times `n`, or times 2^n, limited to the largest time.
static int64_t times(int64_t delay_us, uint64_t n)
{
    return delay_us > 0 && n > (uint64_t)(ENGINE_TIME_MAX / delay_us) ? ENGINE_TIME_MAX
                                                                      : delay_us * (int64_t)n;
}

static int64_t base_delay(const struct backoff *backoff, uint32_t n)
{
    switch (backoff->kind) {
    case BACKOFF_FIXED:
        return backoff->base_us;
    case BACKOFF_LINEAR:
        return times(backoff->base_us, n);
    case BACKOFF_EXPONENTIAL:
        return times(backoff->base_us, n > 62 ? UINT64_C(1) << 62 : UINT64_C(1) << (n - 1));
    case BACKOFF_LIST:
        return backoff->list_us[(n < backoff->list_count ? n : backoff->list_count) - 1];
    case BACKOFF_UNSET:
        break;
    }
    return 0;
}

int64_t backoff_delay(const struct backoff *backoff, uint32_t n, uint64_t random)
{
    int64_t delay_us = base_delay(backoff, n);
    if (backoff->cap_us > 0 && delay_us > backoff->cap_us) {
        delay_us = backoff->cap_us;
    }
    // In units of 1/100,000, to avoid overflow.
    int64_t share = (int64_t)backoff->jitter_percent * (int64_t)(random % 1001);
    return delay_us - (delay_us / 100000 * share + delay_us % 100000 * share / 100000);
}
