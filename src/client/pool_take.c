// SPDX-License-Identifier: MIT
// The thread of a pool that takes jobs, as many as there are slots without one.
#include "client/job.h"
#include "client/pause.h"
#include "client/pool.h"

#include <assert.h>
#include <stdio.h>

// Waits until a slot is free. 0: the pool drains.
static size_t wait_for_room(struct sluice_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (!pool->free_count && !pool->draining) {
        pthread_cond_wait(&pool->changed, &pool->mutex);
    }
    size_t room = pool->draining ? 0 : pool->free_count;
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

static void give(struct sluice_pool *pool, struct sluice_job *job)
{
    struct slot *slot = pool->slots;
    while (slot->state != SLOT_FREE) {
        slot++;
        assert(slot < pool->slots + pool->size);
    }
    slot->job = job;
    slot->state = SLOT_GIVEN;
    pool->free_count--;
}

static void hand_out(struct sluice_pool *pool, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pool->taken[i]->sluice = pool->settler;
    }
    pthread_mutex_lock(&pool->mutex);
    bool too_late = pool->draining;
    for (size_t i = 0; i < count && !too_late; i++) {
        give(pool, pool->taken[i]);
    }
    if (too_late) {
        pool->tally.returned += count;
    }
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < count && too_late; i++) {
        // A job that cannot be given back comes back when its lease expires.
        const struct sluice_settle_options back = SLUICE_SETTLE(.verdict = SLUICE_RETURN);
        (void)sluice_settle(pool->taken[i], &back, NULL);
        sluice_job_free(pool->taken[i]);
    }
}

static void end_if_idle(struct sluice_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    bool idle = pool->free_count == pool->size;
    pthread_mutex_unlock(&pool->mutex);
    if (idle) {
        pool_drain(pool, NULL);
    }
}

// Whether another attempt may succeed. A folder whose disk has failed accepts nothing any more.
static bool may_pass(const struct sluice_pool *pool, enum sluice_status status)
{
    switch (status) {
    case SLUICE_NO_MEMORY:
    case SLUICE_BUSY:
    case SLUICE_NO_SPACE:
    case SLUICE_UNREACHABLE:
    case SLUICE_UNKNOWN:
        return true;
    case SLUICE_IO:
        return pool->taker->url.kind != URL_FILE;
    default:
        return false;
    }
}

static void refused(struct sluice_pool *pool, const struct sluice_error *error, unsigned attempts)
{
    char sentence[SLUICE_MESSAGE_SIZE + 64];
    if (!may_pass(pool, error->status)) {
        pool_drain(pool, error);
        return;
    }
    if (attempts == 0) {
        (void)snprintf(sentence, sizeof(sentence), "no jobs can be taken: %s; trying again",
                       error->message);
        pool_log(pool, sentence);
    }
    (void)pause_before(attempts, INT64_MAX, pool->hurry);
}

void *pool_take(void *context)
{
    struct sluice_pool *pool = context;
    const struct sluice_take_options take =
        SLUICE_TAKE(.queues = (const char *const *)pool->queues,
                    .round_robin = pool->options.round_robin, .best = pool->options.best,
                    .lease = pool->options.lease,
                    .wait = pool->options.idle > 0 ? pool->options.idle : SLUICE_FOREVER);
    unsigned attempts = 0;
    size_t room;
    pthread_setname_np(pthread_self(), "pool");
    while ((room = wait_for_room(pool))) {
        struct sluice_error error = { .status = SLUICE_OK };
        size_t count;
        switch (sluice_take(pool->taker, &take, pool->taken, room, &count, &error)) {
        case SLUICE_OK:
            attempts = 0;
            hand_out(pool, count);
            break;
        case SLUICE_TIMED_OUT:
            attempts = 0;
            end_if_idle(pool);
            break;
        case SLUICE_INTERRUPTED: // it drains
            break;
        default:
            refused(pool, &error, attempts++);
        }
    }
    return NULL;
}
