// SPDX-License-Identifier: MIT
// The threads of a pool that run jobs, and the calls by which handlers set the outcome of a run.
#include "client/deadline.h"
#include "client/job.h"
#include "client/memory.h"
#include "client/pause.h"
#include "client/pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Outcomes

static void clear(struct sluice_run *run)
{
    memory_free(run->result);
    memory_free(run->group);
    memory_free(run->message);
    run->result = run->group = run->message = NULL;
    run->outcome = SLUICE_SETTLE(.verdict = SLUICE_DONE);
}

// Out of memory: the outcome is unknown, and the job is given back.
static const char *copy(struct sluice_run *run, char **copied, const char *text)
{
    *copied = text ? memory_copy_text(text) : NULL;
    if (text && !*copied) {
        run->outcome.verdict = SLUICE_RETURN;
    }
    return *copied;
}

static void set(struct sluice_run *run, enum sluice_verdict verdict, const char *result,
                const char *group, const char *message)
{
    if (!run) {
        return;
    }
    clear(run);
    run->outcome.verdict = verdict;
    (void)copy(run, &run->result, result);
    (void)copy(run, &run->group, group);
    (void)copy(run, &run->message, message);
    if (run->outcome.verdict == verdict) {
        run->outcome.result = run->result;
        run->outcome.group = run->group;
        run->outcome.message = run->message;
    }
}

void sluice_run_done(struct sluice_run *run, const char *result)
{
    set(run, SLUICE_DONE, result, NULL, NULL);
}

void sluice_run_fail(struct sluice_run *run, const char *group, const char *message)
{
    set(run, SLUICE_FAIL, NULL, group ? group : "failed", message ? message : "");
}

void sluice_run_retry(struct sluice_run *run, double delay, const char *group, const char *message)
{
    set(run, SLUICE_RETRY, NULL, group, message);
    if (run && run->outcome.verdict == SLUICE_RETRY) {
        run->outcome.delay = delay > 0 ? delay : delay < 0 ? 0 : (double)SLUICE_ZERO;
    }
}

void sluice_run_return(struct sluice_run *run)
{
    set(run, SLUICE_RETURN, NULL, NULL, NULL);
}

bool sluice_run_draining(const struct sluice_run *run)
{
    return run && atomic_load(&run->pool->draining);
}

// ---------------------------------------------------------------------------------------------
// Settling

static void count(struct sluice_pool *pool, enum sluice_verdict verdict)
{
    struct sluice_pool_tally *tally = &pool->tally;
    uint64_t *counters[] = {
        [SLUICE_DONE] = &tally->done,
        [SLUICE_FAIL] = &tally->failed,
        [SLUICE_RETRY] = &tally->retried,
        [SLUICE_RETURN] = &tally->returned,
    };
    pthread_mutex_lock(&pool->mutex);
    ++*counters[verdict];
    pthread_mutex_unlock(&pool->mutex);
}

static void count_unsettled(struct sluice_pool *pool, const struct sluice_error *error)
{
    char sentence[SLUICE_MESSAGE_SIZE + 64];
    pthread_mutex_lock(&pool->mutex);
    pool->tally.unsettled++;
    pthread_mutex_unlock(&pool->mutex);
    (void)snprintf(sentence, sizeof(sentence), "a job could not be settled: %s", error->message);
    pool_log(pool, sentence);
}

// The queue refuses the outcome: the job fails with the reason.
static void replace_outcome(struct sluice_run *run, const struct sluice_error *error)
{
    char message[SLUICE_MESSAGE_SIZE];
    (void)snprintf(message, sizeof(message), "%s", error->message);
    sluice_run_fail(run, "bad-outcome", message);
}

// Tries until the queue has answered, or until the grace time is over.
static void settle(struct sluice_pool *pool, struct sluice_job *job, struct sluice_run *run)
{
    struct sluice_error error = { .status = SLUICE_OK };
    bool replaced = false;
    for (unsigned attempts = 0;;) {
        switch (sluice_settle(job, &run->outcome, &error)) {
        case SLUICE_OK:
            count(pool, run->outcome.verdict);
            return;
        case SLUICE_STALE:
        case SLUICE_STATE:
        case SLUICE_NOT_FOUND:
            pthread_mutex_lock(&pool->mutex);
            pool->tally.lost++;
            pthread_mutex_unlock(&pool->mutex);
            return;
        case SLUICE_INVALID:
        case SLUICE_TOO_LARGE:
            if (replaced) {
                count_unsettled(pool, &error);
                return;
            }
            replaced = true;
            replace_outcome(run, &error);
            break;
        case SLUICE_NO_MEMORY:
        case SLUICE_BUSY:
        case SLUICE_IO:
        case SLUICE_NO_SPACE:
        case SLUICE_UNREACHABLE:
        case SLUICE_UNKNOWN:
        case SLUICE_INTERRUPTED:
        case SLUICE_TIMED_OUT:
            if (pause_before(attempts++, INT64_MAX, pool->hurry)) {
                break;
            }
            count_unsettled(pool, &error);
            return;
        default:
            count_unsettled(pool, &error);
            return;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Running

static const struct sluice_handler *find_handler(const struct sluice_pool *pool, const char *klass)
{
    const struct sluice_handler *other = NULL;
    for (size_t i = 0; i < pool->handler_count; i++) {
        const struct sluice_handler *handler = &pool->handlers[i];
        if (!handler->klass) {
            other = handler;
        } else if (strcmp(handler->klass, klass) == 0) {
            return handler;
        }
    }
    return other;
}

void slot_tell(void *context, struct sluice_job *job, enum sluice_loss why)
{
    struct slot *slot = context;
    pthread_mutex_lock(&slot->telling);
    if (slot->handler && slot->handler->lost) {
        slot->handler->lost(slot->handler->context, job, why);
    }
    pthread_mutex_unlock(&slot->telling);
}

static void set_handler(struct slot *slot, const struct sluice_handler *handler)
{
    pthread_mutex_lock(&slot->telling);
    slot->handler = handler;
    pthread_mutex_unlock(&slot->telling);
}

static void call_handler(struct slot *slot, struct sluice_run *run)
{
    char message[SLUICE_NAME_SIZE + 64];
    struct sluice_error error;
    struct sluice_job *job = slot->job;
    const struct sluice_handler *handler = find_handler(slot->pool, sluice_job_klass(job));
    if (!handler) {
        (void)snprintf(message, sizeof(message), "this worker has no handler for the klass %.200s",
                       sluice_job_klass(job));
        sluice_run_fail(run, "no-handler", message);
        return;
    }
    set_handler(slot, handler);
    if (sluice_keepalive(job, slot_tell, slot, &error)) {
        set_handler(slot, NULL);
        pool_log(slot->pool, error.message);
        sluice_run_retry(run, 1, NULL, NULL); // out of memory: the job cannot be kept
        return;
    }
    handler->run(handler->context, job, run);
    deadline_set_for_thread(INT64_MAX); // what the handler has set is not for the pool
    set_handler(slot, NULL);
}

// Called with the mutex held, which is held at the end too. False: the runner has given the job
// back.
static bool begin_settling(struct slot *slot)
{
    while (slot->state == SLOT_RETURNING) {
        pthread_cond_wait(&slot->pool->changed, &slot->pool->mutex);
    }
    if (slot->state == SLOT_RETURNED) {
        return false;
    }
    assert(slot->state == SLOT_RUNNING);
    slot->state = SLOT_SETTLING;
    return true;
}

// Called with the mutex held, which is held at the end too.
static void run_job(struct slot *slot)
{
    struct sluice_pool *pool = slot->pool;
    struct sluice_run run = { .pool = pool };
    bool draining = pool->draining;
    clear(&run);
    slot->state = SLOT_RUNNING;
    pthread_mutex_unlock(&pool->mutex);
    if (draining) {
        sluice_run_return(&run);
    } else {
        call_handler(slot, &run);
    }
    pthread_mutex_lock(&pool->mutex);
    if (begin_settling(slot)) {
        pthread_mutex_unlock(&pool->mutex);
        settle(pool, slot->job, &run);
        pthread_mutex_lock(&pool->mutex);
    }
    struct sluice_job *job = slot->job;
    slot->job = NULL;
    pthread_mutex_unlock(&pool->mutex);
    clear(&run);
    sluice_job_free(job); // no callback about the job runs after this
    pthread_mutex_lock(&pool->mutex);
    slot->state = SLOT_FREE;
    pool->free_count++;
    pthread_cond_broadcast(&pool->changed);
}

void *pool_work(void *context)
{
    struct slot *slot = context;
    struct sluice_pool *pool = slot->pool;
    pthread_setname_np(pthread_self(), "pool-worker");
    pthread_mutex_lock(&pool->mutex);
    while (slot->state == SLOT_GIVEN || !pool->draining) {
        if (slot->state == SLOT_GIVEN) {
            run_job(slot);
        } else {
            pthread_cond_wait(&pool->changed, &pool->mutex);
        }
    }
    slot->state = SLOT_OVER;
    pool->free_count--;
    pool_wake(pool);
    pool_release(pool);
    return NULL;
}
