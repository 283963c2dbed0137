// SPDX-License-Identifier: MIT
// A pool of threads that take jobs and run a function for each.
//
//     static void send(void *context, struct sluice_job *job, struct sluice_run *run)
//     {
//         if (!send_mail(sluice_job_data(job))) {
//             sluice_run_retry(run, 60, "smtp", "the server does not answer");
//         }
//     }
//
//     const struct sluice_handler handlers[] = { { .klass = "Send", .run = send } };
//     const char *const queues[] = { "mail", NULL };
//     sluice_pool_new(queue, &SLUICE_POOL_NEW(.queues = queues, .handlers = handlers,
//                                         .handler_count = 1, .concurrency = 8), &pool, &error);
//     sluice_pool_run(pool, NULL, &error);     // until SIGTERM, SIGINT or sluice_pool_stop
//     sluice_pool_free(pool);
//
// The pool renews the leases of its jobs. While the server cannot be reached, it tries again, with
// growing pauses, and what has ended meanwhile is settled when the server is back.
//
// A pool that is stopped drains: it takes no more jobs, and the running ones have `grace` seconds to
// end. After that, or at a second signal, those that still run are given back, first in their
// queues, and their handlers are told so. If the server is away then, their leases expire.
#ifndef SLUICE_POOL_H
#define SLUICE_POOL_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sluice_pool;
struct sluice_run; // a run of a job by a pool, while its handler is called

// What runs the jobs of a klass. A pool calls handlers from several threads at the same time.
struct sluice_handler {
    const char *klass; // NULL: every klass that no other handler names
    // Runs a job, which it must neither settle nor free. Returns when the run has ended; the pool then
    // settles the job as the handler has said by a call of sluice_run_..., or completes it.
    void (*run)(void *context, struct sluice_job *job, struct sluice_run *run);
    // May be NULL. Called once from another thread if the worker no longer holds the job; never after
    // `run` has returned. It must return soon, and may do what ends `run`.
    void (*lost)(void *context, struct sluice_job *job, enum sluice_loss why);
    void *context;
};

struct sluice_pool_new_options {
    SLUICE_SIZE_OF(struct sluice_pool_new_options);
    const char *const *queues;             // required; ends with NULL
    const struct sluice_handler *handlers; // required. A job of a klass without one fails in the
    size_t handler_count;                  // group "no-handler"
    int64_t concurrency;                   // the number of threads, at most 1000; default: 1
    bool round_robin, best;                // as in struct sluice_take_options
    double lease;                          // as there
    double grace; // for the jobs that run when the pool is stopped. Default: 30
    double idle;  // the pool ends when no job runs and none has arrived for so long. Default: never
    bool no_signals; // SIGTERM and SIGINT do not stop it
};
#define SLUICE_POOL_NEW(...)                                                                       \
    ((struct sluice_pool_new_options){ .size = sizeof(struct sluice_pool_new_options),             \
                                       __VA_ARGS__ })

// What became of the jobs of a pool.
struct sluice_pool_tally {
    uint64_t done, failed, retried, returned;
    uint64_t lost;      // the worker no longer held the job when the run had ended
    uint64_t unsettled; // ended, but the server could not be told: their leases expire
};

// Makes a pool. The pool has connections of its own: sluice_interrupt does not reach it. `options`
// and what it points to are copied, except for the contexts.
SLUICE_API enum sluice_status sluice_pool_new(struct sluice *sluice,
                                              const struct sluice_pool_new_options *options,
                                              struct sluice_pool **out, struct sluice_error *error);
// Runs a pool, once, until it is stopped or idle. While it runs, SIGTERM and SIGINT stop it (unless
// `no_signals` is set, or the program ignores the signal). `tally` may be NULL. OK: it has drained.
// DENIED, INVALID, CORRUPT and others: it has drained because no more jobs could be taken. BUSY:
// handlers have not returned although their jobs were given back; the program should end then.
SLUICE_API enum sluice_status sluice_pool_run(struct sluice_pool *pool,
                                              struct sluice_pool_tally *tally,
                                              struct sluice_error *error);
// Stops a pool, as a signal does; at the second call without the rest of the grace time. May be
// called from any thread and from a signal handler.
SLUICE_API void sluice_pool_stop(struct sluice_pool *pool);
// Frees a pool that does not run. May be NULL.
SLUICE_API void sluice_pool_free(struct sluice_pool *pool);

// How a run has ended. The last call counts, texts are copied, and without any call the job is done.
// Out of memory: the job is given back.
SLUICE_API void sluice_run_done(struct sluice_run *run, const char *result); // JSON or NULL
SLUICE_API void sluice_run_fail(struct sluice_run *run, const char *group, const char *message);
// As sluice_retry: `delay` may be SLUICE_BACKOFF, `group` and `message` may be NULL.
SLUICE_API void sluice_run_retry(struct sluice_run *run, double delay, const char *group,
                                 const char *message);
SLUICE_API void sluice_run_return(struct sluice_run *run);
// Whether the pool was stopped: a long run may store a checkpoint now and be given back. Together
// with sluice_job_lost this is what a long run looks at. May be called from any thread.
SLUICE_API bool sluice_run_draining(const struct sluice_run *run);

#ifdef __cplusplus
}
#endif

#endif
