// SPDX-License-Identifier: MIT
// What qless's `data` functions give, as JSON.
#ifndef SLUICE_FACES_QLESS_PRINT_H
#define SLUICE_FACES_QLESS_PRINT_H

#include "base/buffer.h"
#include "engine/engine.h"

// `split`: as the generation that has a script for each call does.
void qless_print_job(struct buffer *out, const struct engine *engine, const struct job *job,
                     bool split);
// As the unified script does.
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
