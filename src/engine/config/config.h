// SPDX-License-Identifier: MIT
// The configuration of a namespace: options by name, and the values of those that have a meaning.
#ifndef SLUICE_ENGINE_CONFIG_CONFIG_H
#define SLUICE_ENGINE_CONFIG_CONFIG_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATE_CATCH_UP_MAX_US INT64_C(60000000)

struct option;
struct queue;

struct config {
    struct option **options; // those that were set, by name; owned
    size_t count;
    size_t capacity;
    bool dirty;
    // The values of the options, or their defaults.
    int64_t heartbeat_us;
    int64_t grace_us;
    int64_t jobs_history_us;
    int64_t jobs_history_count;
    int64_t jobs_history_jids;
    int64_t request_history_us;
    int64_t request_history_count;
    int64_t stats_history;     // days
    int64_t histogram_history; // days
    int64_t max_worker_age_us;
    int64_t max_job_history;
    int64_t max_job_log;
    int64_t missed_after_us;
    int64_t rate_catch_up_us;
    int64_t max_tags;
    int64_t max_depends;
    int64_t max_dependents;
    int64_t max_dependency_search;
    int64_t max_limit_patterns;
    // Quotas; 0 or below: the host's limit.
    int64_t max_jobs;
    int64_t max_bytes;
    int64_t max_promise_bytes;
    int64_t max_queues;
    int64_t max_recurring;
    int64_t min_interval_us;
};

void config_init(struct config *config);
void config_release(const struct allocator *allocator, struct config *config);

// The quotas of a queue, which need not exist; 0: none.
void config_queue_quotas(const struct engine *engine, struct slice queue, int64_t *jobs_max,
                         int64_t *bytes_max);

// Applies the options that name this queue.
void config_apply_to_queue(const struct engine *engine, struct queue *queue);

// The options that were set: `index` from 0 until the call returns false.
bool config_option(const struct config *config, size_t index, struct slice *name,
                   struct slice *value);

// Checks a value of an option. With the client clock most numeric options accept any number, as in
// qless; with the server clock each has a range.
MUST_USE enum status config_check(enum engine_clock clock, struct slice option, struct slice value,
                                  struct error *error);

// Sets an option to a value that config_check has accepted.
MUST_USE enum status config_put(struct engine *engine, struct slice option, struct slice value);

#endif
