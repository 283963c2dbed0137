// SPDX-License-Identifier: MIT
// Calls by a thread of the handle, on a copy of the queue. Interrupts
// of the program do not reach it:
//
//      program:  IDLE --(begin)--> BEGUN                    ENDED --(finish)--> IDLE
//      thread:                     BEGUN --> the call --> ENDED, `event` is readable
#include "client/deadline.h"
#include "client/job.h"
#include "client/memory.h"
#include "client/pause.h"
#include "os/thread.h"

#include <sluice/async.h>

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum kind {
    KIND_TAKE,
    KIND_WAIT,
    KIND_PUT,
    KIND_SETTLE,
    KIND_CALL,
};

// A call with its arguments, which are borrowed.
struct request {
    enum kind kind;
    union {
        struct {
            const struct sluice_take_options *options;
            struct sluice_job **jobs;
            size_t count, *taken;
        } take;
        struct {
            const char *jid;
            double wait;
            struct sluice_value **out;
        } wait;
        struct {
            const struct sluice_put_options *puts;
            size_t count;
            struct sluice_result *results;
        } put;
        struct {
            struct sluice_job *const *jobs;
            const struct sluice_settle_options *options;
            size_t count;
            struct sluice_result *results;
        } settle;
        struct {
            const char *const *words;
            const size_t *sizes;
            size_t count;
            struct sluice_value **out;
        } call;
    };
};

enum state {
    STATE_IDLE,
    STATE_BEGUN,
    STATE_ENDED,
};

struct sluice_async {
    struct fork_guard guard;
    struct sluice *sluice; // the program's
    struct sluice *own;    // a copy
    pthread_t thread;
    bool has_thread;
    int event;
    pthread_mutex_t mutex;
    pthread_cond_t begun;
    enum state state;
    bool stopping;
    struct request request;
    int64_t deadline_us; // of the thread that began it
    enum sluice_status status;
    struct sluice_error error;
};

// ---------------------------------------------------------------------------------------------
// The thread

static enum sluice_status take(struct sluice_async *async)
{
    const struct request *request = &async->request;
    size_t *taken = request->take.taken;
    enum sluice_status status = sluice_take(async->own, request->take.options, request->take.jobs,
                                            request->take.count, taken, &async->error);
    for (size_t i = 0; !status && i < *taken; i++) {
        request->take.jobs[i]->sluice = async->sluice; // they may live longer than the handle
    }
    return status;
}

static enum sluice_status make_call(struct sluice_async *async)
{
    const struct request *of = &async->request;
    struct sluice *own = async->own;
    struct sluice_error *error = &async->error;
    switch (of->kind) {
    case KIND_TAKE:
        return take(async);
    case KIND_WAIT:
        return sluice_wait(own, of->wait.jid, of->wait.wait, of->wait.out, error);
    case KIND_PUT:
        return sluice_put_many(own, of->put.puts, of->put.count, of->put.results, error);
    case KIND_SETTLE:
        return sluice_settle_many(of->settle.jobs, of->settle.options, of->settle.count,
                                  of->settle.results, error);
    case KIND_CALL:
        return sluice_call(own, of->call.words, of->call.sizes, of->call.count, of->call.out,
                           error);
    }
    return SLUICE_INVALID;
}

static void *run(void *context)
{
    struct sluice_async *async = context;
    pthread_setname_np(pthread_self(), "async");
    pthread_mutex_lock(&async->mutex);
    for (;;) {
        while (async->state != STATE_BEGUN && !async->stopping) {
            pthread_cond_wait(&async->begun, &async->mutex);
        }
        if (async->state != STATE_BEGUN) {
            break;
        }
        pthread_mutex_unlock(&async->mutex);
        deadline_set_for_thread(async->deadline_us);
        enum sluice_status status = make_call(async);
        pthread_mutex_lock(&async->mutex);
        async->status = status;
        async->state = STATE_ENDED;
        wake_set(async->event, true);
    }
    pthread_mutex_unlock(&async->mutex);
    return NULL;
}

static enum sluice_status start(struct sluice_async *async, struct sluice_error *error)
{
    async->has_thread = !thread_start(&async->thread, run, async);
    return async->has_thread ? SLUICE_OK
                             : fault(error, SLUICE_NO_MEMORY, "no thread can be started for calls");
}

// A call that is under way goes on in the parent. The child's handle is as a new one.
static void forget(struct fork_guard *guard)
{
    struct sluice_async *async =
        (struct sluice_async *)((char *)guard - offsetof(struct sluice_async, guard));
    fork_renew_mutex(&async->mutex);
    fork_renew_event(async->event);
    (void)condition_init(&async->begun);
    async->has_thread = false;
    async->state = STATE_IDLE;
}

// ---------------------------------------------------------------------------------------------
// Calls

static enum sluice_status begin(struct sluice_async *async, const struct request *request,
                                struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    if (!async) {
        return fault_null(error, "async");
    }
    pthread_mutex_lock(&async->mutex);
    if (async->state != STATE_IDLE) {
        status = fault(error, SLUICE_BUSY, "the handle has a call that was not finished");
    } else if (!async->has_thread) { // after a fork()
        status = start(async, error);
    }
    if (!status) {
        sluice_interrupt(async->own, false);
        async->request = *request;
        async->deadline_us = deadline_of_thread();
        async->error = (struct sluice_error){ .status = SLUICE_OK };
        async->state = STATE_BEGUN;
        pthread_cond_signal(&async->begun);
    }
    pthread_mutex_unlock(&async->mutex);
    return status;
}

enum sluice_status sluice_async_take(struct sluice_async *async,
                                     const struct sluice_take_options *options,
                                     struct sluice_job **jobs, size_t count, size_t *taken,
                                     struct sluice_error *error)
{
    const struct request request = { .kind = KIND_TAKE, .take = { options, jobs, count, taken } };
    if (!jobs || !taken) {
        return fault_null(error, jobs ? "taken" : "jobs");
    }
    return begin(async, &request, error);
}

enum sluice_status sluice_async_wait(struct sluice_async *async, const char *jid, double wait,
                                     struct sluice_value **out, struct sluice_error *error)
{
    const struct request request = { .kind = KIND_WAIT, .wait = { jid, wait, out } };
    return out ? begin(async, &request, error) : fault_null(error, "out");
}

enum sluice_status sluice_async_put(struct sluice_async *async,
                                    const struct sluice_put_options *puts, size_t count,
                                    struct sluice_result *results, struct sluice_error *error)
{
    const struct request request = { .kind = KIND_PUT, .put = { puts, count, results } };
    return begin(async, &request, error);
}

enum sluice_status sluice_async_settle(struct sluice_async *async, struct sluice_job *const *jobs,
                                       const struct sluice_settle_options *options, size_t count,
                                       struct sluice_result *results, struct sluice_error *error)
{
    const struct request request = { .kind = KIND_SETTLE,
                                     .settle = { jobs, options, count, results } };
    return begin(async, &request, error);
}

enum sluice_status sluice_async_call(struct sluice_async *async, const char *const *words,
                                     const size_t *sizes, size_t count, struct sluice_value **out,
                                     struct sluice_error *error)
{
    const struct request request = { .kind = KIND_CALL, .call = { words, sizes, count, out } };
    return begin(async, &request, error);
}

enum sluice_status sluice_async_finish(struct sluice_async *async, struct sluice_error *error)
{
    if (!async) {
        return fault_null(error, "async");
    }
    enum sluice_status status;
    pthread_mutex_lock(&async->mutex);
    if (async->state == STATE_ENDED) {
        status = async->status;
        if (status) {
            (void)fault(error, status, "%s", async->error.message);
        }
        async->state = STATE_IDLE;
        wake_set(async->event, false);
    } else if (async->state == STATE_BEGUN) {
        status = fault(error, SLUICE_BUSY, "the call has not ended");
    } else {
        status = fault(error, SLUICE_STATE, "the handle has no call");
    }
    pthread_mutex_unlock(&async->mutex);
    return status;
}

void sluice_async_cancel(struct sluice_async *async)
{
    if (async) {
        pthread_mutex_lock(&async->mutex);
        if (async->state == STATE_BEGUN) {
            sluice_interrupt(async->own, true);
        }
        pthread_mutex_unlock(&async->mutex);
    }
}

int sluice_async_fd(const struct sluice_async *async)
{
    return async ? async->event : -1;
}

// ---------------------------------------------------------------------------------------------
// Life

// Frees the results of a call that was not finished.
static void drop_results(struct sluice_async *async)
{
    const struct request *request = &async->request;
    if (async->state != STATE_ENDED || async->status) {
        return;
    }
    if (request->kind == KIND_TAKE) {
        for (size_t i = 0; i < *request->take.taken; i++) {
            (void)sluice_return(request->take.jobs[i], NULL);
            sluice_job_free(request->take.jobs[i]);
        }
    } else if (request->kind == KIND_WAIT) {
        sluice_value_free(*request->wait.out);
    } else if (request->kind == KIND_CALL && request->call.out) {
        sluice_value_free(*request->call.out);
    }
}

void sluice_async_free(struct sluice_async *async)
{
    if (!async) {
        return;
    }
    fork_guard_remove(&async->guard);
    if (async->has_thread) {
        pthread_mutex_lock(&async->mutex);
        async->stopping = true;
        sluice_interrupt(async->own, true);
        pthread_cond_signal(&async->begun);
        pthread_mutex_unlock(&async->mutex);
        (void)pthread_join(async->thread, NULL);
        drop_results(async);
    }
    sluice_close(async->own);
    if (async->event >= 0) {
        (void)close(async->event);
    }
    pthread_mutex_destroy(&async->mutex);
    pthread_cond_destroy(&async->begun);
    memory_free(async);
}

enum sluice_status sluice_async_new(struct sluice *sluice, struct sluice_async **out,
                                    struct sluice_error *error)
{
    if (!sluice || !out) {
        return fault_null(error, sluice ? "out" : "sluice");
    }
    *out = NULL;
    struct sluice_async *async = memory_zalloc(1, sizeof(*async));
    if (!async || pthread_mutex_init(&async->mutex, NULL) || condition_init(&async->begun)) {
        memory_free(async);
        return fault_no_memory(error);
    }
    async->sluice = sluice;
    async->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum sluice_status status =
        async->event < 0 ? fault(error, SLUICE_IO, "no event can be made: %s", strerror(errno))
                         : queue_copy(sluice, sluice->timeout_us, &async->own, error);
    status = status ? status : start(async, error);
    if (status) {
        sluice_async_free(async);
        return status;
    }
    fork_guard_add(&async->guard, forget);
    *out = async;
    return SLUICE_OK;
}
