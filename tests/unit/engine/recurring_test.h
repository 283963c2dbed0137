// SPDX-License-Identifier: MIT
// What the tests of recurring jobs share: the recurring job `r` of the queue `q`, and its runs.
#ifndef SLUICE_RECURRING_TEST_H
#define SLUICE_RECURRING_TEST_H

#include "engine_test_more.h"

// The request for it, by cron in UTC, by cron in a zone, or by interval in seconds.
struct recur_request by(const char *cron);
struct recur_request in_zone(const char *cron, const char *zone);
struct recur_request every(double interval, enum recur_missed missed, int64_t backlog);

// Its next runs, in seconds.
const char *runs_of(struct world *w, size_t count);
const char *cron_runs(struct world *w, const char *cron, const char *zone_name, double after,
                      size_t count);

// When the jobs in line were put, in seconds. made_by first peeks, so that with the client clock too
// what is due is made.
const char *made_at(struct world *w, double now);
const char *made_by(struct world *w, double now);

// When its next run is due, in seconds.
double next_of(struct world *w);

#endif
