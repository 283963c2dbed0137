// SPDX-License-Identifier: MIT
// Metrics of jobs: counts and times by namespace and queue.
//
// The first `namespaces_max` namespaces and `queues_max` queues have a row of their own. In each
// namespace a row with queue="" has the rest: jobs in queues without a row, and measurements of
// queues that were deleted. A row with namespace="" has the namespaces without a row. So a sum over
// the rows is exact, and the number of rows is limited. Only the first `details_max` queues have
// histograms and priorities of their own; those of the others are in the rest too.
//
// All numbers are read in one call, so that they fit together: a few microseconds for a row with
// details and a fraction of one for the others. Writing them as text takes many times as long and
// is done in steps, between which the engines may change.
//
//     metrics_jobs_new --> metrics_jobs_step ... --> metrics_jobs_free
#ifndef SLUICE_SERVER_HTTP_METRICS_JOBS_H
#define SLUICE_SERVER_HTTP_METRICS_JOBS_H

#include "base/alloc.h"
#include "base/status.h"
#include "host/namespaces.h"
#include "server/http/metrics_text.h"

struct metrics_jobs;

struct metrics_jobs_options {
    const struct allocator *allocator;
    const struct namespaces *namespaces;
    uint64_t namespaces_max, queues_max; // with a row of their own
    uint64_t details_max;                // queues with histograms and priorities
    int64_t now_us;                      // the server's time
};

// Reads all numbers. NO_MEMORY or TOO_LARGE when they cannot be kept.
MUST_USE enum status metrics_jobs_new(const struct metrics_jobs_options *options,
                                      struct metrics_jobs **out);

// Writes a row of a family; false when all are written. `text` is the same for all steps.
bool metrics_jobs_step(struct metrics_jobs *jobs, struct metrics_text *text);

void metrics_jobs_free(struct metrics_jobs *jobs);

#endif
