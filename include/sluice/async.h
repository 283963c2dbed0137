// SPDX-License-Identifier: MIT
// Calls that do not block, for programs with an event loop (epoll, libevent, libuv, GLib).
//
//     struct sluice_async *async;
//     sluice_async_new(queue, &async, &error);
//     watch(sluice_async_fd(async));                        // becomes readable when a call has ended
//     sluice_async_take(async, &SLUICE_TAKE(.queues = queues, .wait = SLUICE_FOREVER), &job, 1,
//                       &taken, &error);
//     ...                                                   // the descriptor is readable:
//     enum sluice_status status = sluice_async_finish(async, &error);   // what sluice_take returns
//
// A handle makes one call at a time, in a thread of its own, and works for a queue in the process
// and on a server. A program opens as many as it needs, for example one that waits for jobs and one
// that settles them. What is passed to a call is borrowed until the call has ended: do not change or
// free it before sluice_async_finish has returned something else than BUSY. Results are written
// there by then.
//
// sluice_events_fd makes events pollable.
#ifndef SLUICE_ASYNC_H
#define SLUICE_ASYNC_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sluice_async;

SLUICE_API enum sluice_status sluice_async_new(struct sluice *sluice, struct sluice_async **out,
                                               struct sluice_error *error);
// A descriptor that is readable when a call has ended and sluice_async_finish was not called yet.
// Only poll it. It is the same for as long as the handle lives.
SLUICE_API int sluice_async_fd(const struct sluice_async *async);

// Begin a call. OK: it is under way. BUSY: the handle has a call that was not finished.
SLUICE_API enum sluice_status sluice_async_take(struct sluice_async *async,
                                                const struct sluice_take_options *take,
                                                struct sluice_job **jobs, size_t count,
                                                size_t *taken, struct sluice_error *error);
SLUICE_API enum sluice_status sluice_async_wait(struct sluice_async *async, const char *jid,
                                                double wait, struct sluice_value **out,
                                                struct sluice_error *error);
SLUICE_API enum sluice_status sluice_async_put(struct sluice_async *async,
                                               const struct sluice_put_options *puts, size_t count,
                                               struct sluice_result *results,
                                               struct sluice_error *error);
SLUICE_API enum sluice_status sluice_async_settle(struct sluice_async *async,
                                                  struct sluice_job *const *jobs,
                                                  const struct sluice_settle_options *options,
                                                  size_t count, struct sluice_result *results,
                                                  struct sluice_error *error);
SLUICE_API enum sluice_status sluice_async_call(struct sluice_async *async,
                                                const char *const *words, const size_t *sizes,
                                                size_t count, struct sluice_value **out,
                                                struct sluice_error *error);

// Returns the status of the call that has ended. BUSY: it has not. STATE: there is none.
SLUICE_API enum sluice_status sluice_async_finish(struct sluice_async *async,
                                                  struct sluice_error *error);
// Ends the call that is under way if it waits for something: with INTERRUPTED, unless it has ended
// already. No job is lost. The call still has to be finished.
SLUICE_API void sluice_async_cancel(struct sluice_async *async);
// Cancels the call that is under way and waits until it has ended. Jobs that it has taken are given
// back, other results are dropped. Call it before sluice_close. May be NULL.
SLUICE_API void sluice_async_free(struct sluice_async *async);

#ifdef __cplusplus
}
#endif

#endif
