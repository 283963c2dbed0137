// SPDX-License-Identifier: MIT
// Metrics of jobs: counts and times by namespace and queue.
//
// The first `namespaces_max` namespaces and `queues_max` queues have a row of their own. In each
// namespace a row with queue="" has the rest: jobs in queues without a row, and measurements of
// queues that were deleted. A row with namespace="" has the namespaces without a row. So a sum over
// the rows is exact, and the number of rows is limited.
//
// The rest is computed as the total less the rows, so its cost depends on the number of rows and
// not on the number of queues and jobs.
#ifndef SLUICE_SERVER_HTTP_METRICS_JOBS_H
#define SLUICE_SERVER_HTTP_METRICS_JOBS_H

#include "base/alloc.h"
#include "base/status.h"
#include "host/namespaces.h"
#include "server/http/metrics_text.h"

struct metrics_jobs_options {
    const struct allocator *allocator;
    const struct namespaces *namespaces;
    uint64_t namespaces_max, queues_max; // that have a row
    int64_t now_us;                      // time of the server
};

MUST_USE enum status metrics_jobs(struct metrics_text *text,
                                  const struct metrics_jobs_options *options);

#endif
