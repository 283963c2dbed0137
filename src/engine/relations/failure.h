// SPDX-License-Identifier: MIT
// How a job failed last.
#ifndef SLUICE_ENGINE_RELATIONS_FAILURE_H
#define SLUICE_ENGINE_RELATIONS_FAILURE_H

#include "engine/engine.h"
#include "engine/job/history.h"

struct failure {
    int64_t when_us;
    uint8_t group_size;
    uint8_t worker_size;
    uint32_t message_size;
    char bytes[]; // group, worker, message
};

struct failure_words {
    struct slice group, message, worker;
    int64_t when_us;
};

struct failure *failure_new(struct engine *engine, const struct failure_words *words);
void failure_free(struct engine *engine, struct failure *failure);

// Puts what it says into a view; `failure` may be NULL.
void failure_view(const struct failure *failure, struct job_view *view);

// All that it takes for a job to be failed. After it the job cannot but fail. The words are
// borrowed until it leaves.
struct failing {
    struct failure *failure;
    struct group *group;
    struct queue *counted_in; // whose statistics count it
    struct history_entry entry;
};
MUST_USE enum status failing_reserve(struct engine *engine, struct job *job,
                                     struct queue *counted_in, const struct failure_words *words,
                                     struct failing *out);
void failing_cancel(struct engine *engine, const struct failing *failing);
// The job leaves where it is, for which leave_reserve must have been called; then it is failed.
void failing_leave(struct engine *engine, struct job *job, const struct failing *failing);
void failing_apply(struct engine *engine, struct job *job, const struct failing *failing);

// The latter for a job that fails by itself: then the tracker and the log are told.
void failing_apply_and_notify(struct engine *engine, struct job *job, struct slice worker,
                              const struct failure_words *words, const struct failing *failing);

// The whole of it for a job that is in an index, not in the hands of a worker.
MUST_USE enum status fail_by_itself(struct engine *engine, struct job *job,
                                    const struct failure_words *words);

// What a job whose retries or crashes are exhausted fails in, and with; `text` holds it.
enum {
    EXHAUSTED_SIZE = ENGINE_NAME_SIZE_MAX + 64,
};
struct slice exhausted_group(struct slice prefix, struct slice queue, char text[EXHAUSTED_SIZE]);
struct slice exhausted_message(struct slice queue, char text[EXHAUSTED_SIZE]);
struct slice crashed_message(struct slice queue, unsigned crashes, char text[EXHAUSTED_SIZE]);

// Tells that a job failed, in the hands of `worker`.
void failure_announce(struct engine *engine, const struct job *job, unsigned channels,
                      struct slice worker, const struct failure_words *words);

// Takes a failed job's failure out of the statistics of the day and the queue it failed in. For a
// job in another state nothing happens.
void failure_forget(struct engine *engine, struct job *job);

#endif
