// SPDX-License-Identifier: MIT
// The figures of jobs: how many there are, and how long things took, by namespace and queue.
//
// So many namespaces and queues have a row of their own, the first ones there were. In each
// namespace a row with queue="" has the rest: jobs in queues that have no row, and what was
// measured in queues that are gone. One with namespace="" has the namespaces that have no row. So a
// sum over the rows is right, and there are never more of them.
//
// The rest is the whole less the rows, so it takes as long as there are rows, however many queues
// and jobs there are.
#ifndef SLUICE_SERVER_HTTP_METRICS_JOBS_H
#define SLUICE_SERVER_HTTP_METRICS_JOBS_H

#include "base/alloc.h"
#include "base/status.h"
#include "host/namespaces.h"
#include "server/http/metrics_text.h"

struct metrics_jobs_options {
    const struct allocator *allocator;
    const struct namespaces *namespaces;
    uint64_t namespaces_max, queues_max; // with a row
    int64_t now_us;                      // the server's
};

MUST_USE enum status metrics_jobs(struct metrics_text *text,
                                  const struct metrics_jobs_options *options);

#endif
