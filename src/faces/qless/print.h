// SPDX-License-Identifier: MIT
// Prints the results of qless's `data` functions as JSON.
#ifndef SLUICE_FACES_QLESS_PRINT_H
#define SLUICE_FACES_QLESS_PRINT_H

#include "base/buffer.h"
#include "engine/engine.h"

// `split`: in the format of the split generation.
void qless_print_job(struct buffer *out, const struct engine *engine, const struct job *job,
                     bool split);
// In the format of the unified script.
enum {
    QLESS_JOB_LEAST = 200, // bytes of a printed job, at least
};

// Stops when `out` has failed.
void qless_print_jobs(struct buffer *out, const struct engine *engine,
                      const struct job *const *jobs, size_t count);
void qless_print_recurring(struct buffer *out, const struct engine *engine,
                           const struct recurring *recurring, bool split);
void qless_print_recurring_tags(struct buffer *out, const struct engine *engine,
                                const struct recurring *recurring);
void qless_print_tags(struct buffer *out, const struct engine *engine, const struct job *job);
void qless_print_queue(struct buffer *out, const struct queue_view *view, bool split);
void qless_print_stats(struct buffer *out, const struct stats_view *view);

#endif
