// SPDX-License-Identifier: MIT
#include "client/pool.h"

#include "client/deadline.h"
#include "client/drain.h"
#include "client/job.h"
#include "client/memory.h"
#include "client/options.h"
#include "client/pause.h"
#include "os/thread.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    CONCURRENCY_MAX = 1000,
    HANDLERS_MAX = 10000,
    QUEUES_MAX = 10000,
    SETTLE_US = 10000000,  // of one attempt at most, so that a pool ends when the server is away
    PATIENCE_US = 5000000, // for handlers that were told that their job was given back
};

static const double grace_default_s = 30;

// ---------------------------------------------------------------------------------------------
// Life

// A pool that was not run before the fork can be run in the child.
static void forget(struct fork_guard *guard)
{
    struct sluice_pool *pool =
        (struct sluice_pool *)((char *)guard - offsetof(struct sluice_pool, guard));
    fork_renew_mutex(&pool->mutex);
    fork_renew_event(pool->event);
    fork_renew_event(pool->hurry);
}

static void destroy(struct sluice_pool *pool)
{
    fork_guard_remove(&pool->guard);
    for (size_t i = 0; pool->slots && i < pool->size; i++) {
        pthread_mutex_destroy(&pool->slots[i].telling);
    }
    for (size_t i = 0; pool->queues && pool->queues[i]; i++) {
        memory_free(pool->queues[i]);
    }
    for (size_t i = 0; pool->klasses && i < pool->handler_count; i++) {
        memory_free(pool->klasses[i]);
    }
    sluice_close(pool->taker);
    sluice_close(pool->settler);
    memory_free(pool->queues);
    memory_free(pool->handlers);
    memory_free(pool->klasses);
    memory_free(pool->slots);
    memory_free(pool->taken);
    if (pool->event >= 0) {
        (void)close(pool->event);
    }
    if (pool->hurry >= 0) {
        (void)close(pool->hurry);
    }
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->changed);
    memory_free(pool);
}

void pool_release(struct sluice_pool *pool)
{
    assert(pool->holders);
    bool last = --pool->holders == 0;
    pthread_mutex_unlock(&pool->mutex);
    if (last) {
        destroy(pool);
    }
}

void sluice_pool_free(struct sluice_pool *pool)
{
    if (pool) {
        pthread_mutex_lock(&pool->mutex);
        pool_release(pool);
    }
}

static size_t queue_count(const char *const *queues)
{
    size_t count = 0;
    while (queues && queues[count]) {
        count++;
    }
    return count;
}

static enum sluice_status check(const struct sluice_pool_new_options *options,
                                struct sluice_error *error)
{
    size_t queues = queue_count(options->queues);
    if (queues == 0 || queues > QUEUES_MAX) {
        return fault(error, SLUICE_INVALID, "queues has %zu queues: it must have 1 to %d", queues,
                     QUEUES_MAX);
    }
    if (!options->handlers || !options->handler_count || options->handler_count > HANDLERS_MAX) {
        return fault(error, SLUICE_INVALID, "a pool needs 1 to %d handlers", HANDLERS_MAX);
    }
    for (size_t i = 0; i < options->handler_count; i++) {
        if (!options->handlers[i].run) {
            return fault(error, SLUICE_INVALID, "run of handler %zu is NULL", i);
        }
    }
    if (options->concurrency < 0 || options->concurrency > CONCURRENCY_MAX) {
        return fault(error, SLUICE_INVALID, "concurrency is %lld: it must be from 1 to %d",
                     (long long)options->concurrency, CONCURRENCY_MAX);
    }
    if ((options->grace < 0 && options->grace != (double)SLUICE_ZERO) || options->idle < 0) {
        return fault(error, SLUICE_INVALID, "%s must not be negative",
                     options->idle < 0 ? "idle" : "grace");
    }
    if (options->round_robin && options->best) {
        return fault(error, SLUICE_INVALID, "either round_robin or best, not both");
    }
    return SLUICE_OK;
}

static bool copy_text(char **out, const char *text)
{
    *out = text ? memory_copy_text(text) : NULL;
    return *out || !text;
}

static bool copy_options(struct sluice_pool *pool, const struct sluice_pool_new_options *options)
{
    size_t queues = queue_count(options->queues);
    pool->options = *options;
    pool->handler_count = options->handler_count;
    pool->queues = memory_zalloc(queues + 1, sizeof(*pool->queues));
    pool->handlers = memory_zalloc(pool->handler_count, sizeof(*pool->handlers));
    pool->klasses = memory_zalloc(pool->handler_count, sizeof(*pool->klasses));
    bool good = pool->queues && pool->handlers && pool->klasses;
    for (size_t i = 0; good && i < queues; i++) {
        good = copy_text(&pool->queues[i], options->queues[i]);
    }
    for (size_t i = 0; good && i < pool->handler_count; i++) {
        good = copy_text(&pool->klasses[i], options->handlers[i].klass);
        pool->handlers[i] = options->handlers[i];
        pool->handlers[i].klass = pool->klasses[i];
    }
    return good;
}

static bool make_slots(struct sluice_pool *pool)
{
    pool->size = pool->options.concurrency ? (size_t)pool->options.concurrency : 1;
    pool->slots = memory_zalloc(pool->size, sizeof(*pool->slots));
    pool->taken = memory_zalloc(pool->size, sizeof(struct sluice_job *));
    for (size_t i = 0; pool->slots && i < pool->size; i++) {
        pool->slots[i].pool = pool;
        (void)pthread_mutex_init(&pool->slots[i].telling, NULL);
    }
    pool->free_count = pool->size;
    return pool->slots && pool->taken;
}

static enum sluice_status set_up(struct sluice_pool *pool, const struct sluice *sluice,
                                 const struct sluice_pool_new_options *options,
                                 struct sluice_error *error)
{
    if (!copy_options(pool, options) || !make_slots(pool)) {
        return fault_no_memory(error);
    }
    pool->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pool->hurry = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->event < 0 || pool->hurry < 0) {
        return fault(error, SLUICE_IO, "no event can be made: %s", strerror(errno));
    }
    int64_t settle_us = sluice->timeout_us < SETTLE_US ? sluice->timeout_us : SETTLE_US;
    enum sluice_status status = queue_copy(sluice, sluice->timeout_us, &pool->taker, error);
    return status ? status : queue_copy(sluice, settle_us, &pool->settler, error);
}

enum sluice_status sluice_pool_new(struct sluice *sluice,
                                   const struct sluice_pool_new_options *options,
                                   struct sluice_pool **out, struct sluice_error *error)
{
    struct sluice_pool_new_options own;
    if (!sluice || !out) {
        return fault_null(error, sluice ? "out" : "sluice");
    }
    *out = NULL;
    enum sluice_status status = pool_options_read(options, &own, error);
    status = status ? status : check(&own, error);
    if (status) {
        return status;
    }
    struct sluice_pool *pool = memory_zalloc(1, sizeof(*pool));
    if (!pool || pthread_mutex_init(&pool->mutex, NULL) || condition_init(&pool->changed)) {
        memory_free(pool);
        return fault_no_memory(error);
    }
    pool->holders = 1;
    pool->event = pool->hurry = -1;
    status = set_up(pool, sluice, &own, error);
    if (status) {
        sluice_pool_free(pool);
        return status;
    }
    fork_guard_add(&pool->guard, forget);
    *out = pool;
    return SLUICE_OK;
}

void pool_log(const struct sluice_pool *pool, const char *sentence)
{
    queue_log(pool->settler, SLUICE_LOG_WARNING, sentence);
}

void pool_wake(const struct sluice_pool *pool)
{
    wake_set(pool->event, true);
}

void sluice_pool_stop(struct sluice_pool *pool)
{
    if (pool) {
        atomic_fetch_add(&pool->stops, 1);
        pool_wake(pool);
    }
}

// ---------------------------------------------------------------------------------------------
// Running

// Worker threads have the signal mask of the program, which processes that handlers start inherit.
static enum sluice_status start_slots(struct sluice_pool *pool, struct sluice_error *error)
{
    for (size_t i = 0; i < pool->size; i++) {
        struct slot *slot = &pool->slots[i];
        int failed = pthread_create(&slot->thread, NULL, pool_work, slot);
        if (failed) {
            return fault(error, SLUICE_NO_MEMORY, "thread %zu of %zu cannot be started: %s", i + 1,
                         pool->size, strerror(failed));
        }
        pthread_mutex_lock(&pool->mutex);
        slot->started = true;
        pool->holders++;
        pthread_mutex_unlock(&pool->mutex);
    }
    return SLUICE_OK;
}

void pool_drain(struct sluice_pool *pool, const struct sluice_error *why)
{
    pthread_mutex_lock(&pool->mutex);
    if (why && !pool->why.status) {
        pool->why = *why;
    }
    atomic_store(&pool->draining, true);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    pool_wake(pool);
    sluice_interrupt(pool->taker, true);
}

// Counts the slots that have not ended, and of these the ones that settle a job.
static size_t count_busy(struct sluice_pool *pool, size_t *unsettled)
{
    size_t busy = 0;
    *unsettled = 0;
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < pool->size; i++) {
        const struct slot *slot = &pool->slots[i];
        busy += slot->started && slot->state != SLOT_OVER;
        *unsettled += slot->started && slot->state == SLOT_SETTLING;
    }
    pthread_mutex_unlock(&pool->mutex);
    return busy;
}

// What stops a pool: signals, and calls of sluice_pool_stop.
struct stops {
    int fd; // of the signals, or -1
    unsigned before;
};

static unsigned count_stops(const struct sluice_pool *pool, const struct stops *stops)
{
    unsigned signals = stops->fd >= 0 ? drain_count(stops->fd) - stops->before : 0;
    return signals + atomic_load(&pool->stops);
}

// Waits until something has happened, at most until the deadline.
static void rest(const struct sluice_pool *pool, const struct stops *stops, int64_t deadline_us)
{
    struct pollfd of[2] = { { .fd = pool->event, .events = POLLIN },
                            { .fd = stops->fd, .events = POLLIN } };
    int64_t left_us = deadline_us == INT64_MAX ? INT64_MAX : deadline_us - monotonic_us();
    const struct timespec left = timespec_from_us(left_us > 0 ? left_us : 0);
    if (ppoll(of, 2, left_us == INT64_MAX ? NULL : &left, NULL) > 0 && of[0].revents) {
        wake_set(pool->event, false);
    }
}

static bool begin_giving_back(struct sluice_pool *pool, struct slot *slot)
{
    pthread_mutex_lock(&pool->mutex);
    bool running = slot->state == SLOT_RUNNING;
    if (running) {
        slot->state = SLOT_RETURNING;
    }
    pthread_mutex_unlock(&pool->mutex);
    return running;
}

static void end_giving_back(struct sluice_pool *pool, struct slot *slot, enum sluice_status status)
{
    struct sluice_pool_tally *tally = &pool->tally;
    pthread_mutex_lock(&pool->mutex);
    if (!status) {
        tally->returned++;
    } else if (loss_of(status) != SLUICE_KEPT) {
        tally->lost++;
    } else {
        tally->unsettled++;
    }
    slot->state = SLOT_RETURNED;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

// Gives the jobs back whose handlers run, and tells the handlers. A server that is away is asked
// for the first job only: the leases of the others expire as well.
static void give_all_back(struct sluice_pool *pool)
{
    const struct sluice_settle_options back = SLUICE_SETTLE(.verdict = SLUICE_RETURN);
    enum sluice_status status = SLUICE_OK;
    wake_set(pool->hurry, true);
    for (size_t i = 0; i < pool->size; i++) {
        struct slot *slot = &pool->slots[i];
        if (!begin_giving_back(pool, slot)) {
            continue;
        }
        struct sluice_job *job = slot->job;
        if (status != SLUICE_UNREACHABLE && status != SLUICE_UNKNOWN) {
            status = sluice_settle(job, &back, NULL);
        }
        int kept = SLUICE_KEPT;
        if (atomic_compare_exchange_strong(&job->lost, &kept, SLUICE_RETURNED)) {
            slot_tell(slot, job, SLUICE_RETURNED);
        }
        end_giving_back(pool, slot, status);
    }
}

// Waits for the jobs that run: for the grace time, or until the pool is stopped again.
static void wait_for_grace(struct sluice_pool *pool, const struct stops *stops)
{
    size_t unsettled;
    double grace = pool->options.grace;
    grace = grace == 0 ? grace_default_s : grace == (double)SLUICE_ZERO ? 0 : grace;
    int64_t deadline_us = deadline_in(wait_us_of(grace));
    while (count_busy(pool, &unsettled) && monotonic_us() < deadline_us &&
           count_stops(pool, stops) <= 1) {
        rest(pool, stops, deadline_us);
    }
}

static void wait_for_ends(struct sluice_pool *pool, const struct stops *stops)
{
    size_t unsettled;
    int64_t deadline_us = deadline_in(PATIENCE_US);
    while (count_busy(pool, &unsettled) && (unsettled || monotonic_us() < deadline_us)) {
        rest(pool, stops, unsettled ? INT64_MAX : deadline_us);
    }
}

static void run(struct sluice_pool *pool, const struct stops *stops)
{
    while (!count_stops(pool, stops) && !atomic_load(&pool->draining)) {
        rest(pool, stops, INT64_MAX);
    }
    pool_drain(pool, NULL);
    wait_for_grace(pool, stops);
    give_all_back(pool);
}

// Threads whose handlers have not returned are left alone. Says how many there are.
static size_t leave_slots(struct sluice_pool *pool)
{
    size_t left = 0;
    for (size_t i = 0; i < pool->size; i++) {
        struct slot *slot = &pool->slots[i];
        pthread_mutex_lock(&pool->mutex);
        bool over = slot->state == SLOT_OVER;
        pthread_mutex_unlock(&pool->mutex);
        if (slot->started && over) {
            (void)pthread_join(slot->thread, NULL);
        } else if (slot->started) {
            (void)pthread_detach(slot->thread);
            left++;
        }
    }
    return left;
}

static enum sluice_status result_of(struct sluice_pool *pool, size_t left,
                                    struct sluice_pool_tally *tally, struct sluice_error *error)
{
    pthread_mutex_lock(&pool->mutex);
    if (tally) {
        *tally = pool->tally;
    }
    struct sluice_error why = pool->why;
    pthread_mutex_unlock(&pool->mutex);
    if (left) {
        return fault(error, SLUICE_BUSY, "%zu handlers have not returned", left);
    }
    return why.status ? fault(error, why.status, "%s", why.message) : SLUICE_OK;
}

static bool begin_run(struct sluice_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    bool first = !pool->ran;
    pool->ran = true;
    pthread_mutex_unlock(&pool->mutex);
    return first;
}

enum sluice_status sluice_pool_run(struct sluice_pool *pool, struct sluice_pool_tally *tally,
                                   struct sluice_error *error)
{
    pthread_t taker;
    struct sluice_error why;
    if (!pool) {
        return fault_null(error, "pool");
    }
    if (!begin_run(pool)) {
        return fault(error, SLUICE_STATE, "a pool runs only once");
    }
    struct stops stops = { .fd = pool->options.no_signals ? -1 : drain_begin() };
    stops.before = stops.fd >= 0 ? drain_count(stops.fd) : 0;
    if (start_slots(pool, &why)) {
        pool_drain(pool, &why);
    }
    bool taking = !atomic_load(&pool->draining) && !thread_start(&taker, pool_take, pool);
    if (!taking) {
        (void)fault(&why, SLUICE_NO_MEMORY, "no thread can be started to take jobs");
        pool_drain(pool, &why);
    }
    run(pool, &stops);
    wait_for_ends(pool, &stops);
    if (taking) {
        (void)pthread_join(taker, NULL);
    }
    size_t left = leave_slots(pool);
    drain_end(stops.fd);
    return result_of(pool, left, tally, error);
}
