// SPDX-License-Identifier: MIT
// More sentences to say to a world: engine_test.h.
#ifndef SLUICE_ENGINE_TEST_MORE_H
#define SLUICE_ENGINE_TEST_MORE_H

#include "engine_test.h"

#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/explain/explain.h"
#include "engine/lanes/limit.h"
#include "engine/measure/metrics.h"
#include "engine/recurring/zone.h"

#include <sys/resource.h>

// A jid made of a word and a number; valid until the fourth call after it.
const char *numbered(const char *word, size_t number);

// Many jobs: "j0", "j1", ... in one queue. Their events are forgotten.
void put_many(struct world *w, double now, const char *queue, size_t count);

// Options that say nothing but this; NULL for UNSET.
const struct job_options *options_with(enum dependency_policy policy);

// At the time of the last call.
void dependency_policy(struct world *w, enum policy_scope scope, const char *name,
                       enum dependency_policy policy);
void limit(struct world *w, const char *queue, const char *domain, struct limit limit);
void pause_queue(struct world *w, const char *queue);
void unpause_queue(struct world *w, const char *queue);

// Of all queues when it is NULL.
size_t count_of(const struct world *w, const char *queue, enum job_state state);
size_t count_all(const struct world *w, const char *queue);

struct explanation explain(struct world *w, double now, const char *jid);

struct bulk_view bulk(struct world *w, double now, struct bulk_request request);
struct bulk_view bulk_of(const struct world *w, uint64_t id);

// A zone that is `offset_s` from UTC, and from each `at` (in seconds) on something else.
struct shift {
    double at;
    int32_t offset_s;
};
void zone(struct world *w, const char *name, int32_t offset_s, const struct shift *shifts,
          size_t count);

// The stack is small until it is put back: recursion over many jobs would not fit.
void stack_limit(struct rlimit *old);
void stack_restore(const struct rlimit *old);

#endif
