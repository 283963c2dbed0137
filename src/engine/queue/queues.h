// SPDX-License-Identifier: MIT
// What there is in queues: of one, of some of them in an order, and of a namespace as a whole.
#ifndef SLUICE_ENGINE_QUEUE_QUEUES_H
#define SLUICE_ENGINE_QUEUE_QUEUES_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

// A job counts by its state, as Q.GET says it: one whose lease ran out for good is stalled, and
// during its grace period it is running. With the client clock a job whose lease has run out by
// then is stalled too, though its state changes with the next pop.
struct queue_view {
    struct slice name;
    size_t waiting, running, stalled, scheduled, depends, recurring;
    size_t complete, failed; // that finished in it
    size_t listeners;        // workers that have popped from it and are not offline
    size_t lost;             // stalled for good: in line before all others
    size_t lapsed;  // whose lease has run out and whose worker may still finish: running with the
                    // server clock, stalled with the client clock
    uint64_t bytes; // of the data of its jobs that are not finished
    bool paused;
    int64_t paused_us;     // since when; 0 when it is not, or that is not known
    int64_t first_seen_us; // since when it is listed; 0 when it is not
    // Since when the job in line that could run first could run; 0: there is none. With more than
    // 2 * OLDEST_PRIORITIES priorities in line only those that run first and last are looked at.
    int64_t oldest_us;
};

enum {
    OLDEST_PRIORITIES = 16,
};

// With the client clock this moves what has fallen due, as qless does.
MUST_USE enum status engine_queue(struct engine *engine, int64_t now_us, struct slice name,
                                  struct queue_view *view, struct error *error);
// The queues in the order in which they were first seen; `index` from 0 until it returns false.
bool engine_queue_name(const struct engine *engine, size_t index, struct slice *name);
size_t engine_queue_count(const struct engine *engine);
// The same, and behind them those that have no job so far and that a worker listens to.
bool engine_queue_listed(const struct engine *engine, size_t index, struct slice *name);
// Waiting, running and scheduled jobs together.
size_t engine_length(const struct engine *engine, struct slice name);

// ---------------------------------------------------------------------------------------------
// In an order

enum queue_order {
    QUEUES_BY_SEEN, // the one first seen first; then those that only have listeners
    QUEUES_BY_NAME,
    // The largest first.
    QUEUES_BY_WAITING,
    QUEUES_BY_RUNNING,
    QUEUES_BY_STALLED,
    QUEUES_BY_FAILED,
    QUEUES_BY_AGE, // of the job in line that could run first
    QUEUES_BY_PUT, // in the last minute or a quarter more; and so on
    QUEUES_BY_COMPLETED,
    QUEUE_ORDERS,
};

enum {
    QUEUE_PAGE_MAX = 1000,
};

// A page of the listed queues. Behind a cursor: what the page before gave. But by when they were
// first seen every page looks at all queues, at a few nanoseconds each.
struct queue_page {
    enum queue_order order;
    bool has_after;
    uint64_t after_value, after_id; // the cursor; by name:
    struct slice after_name;        // the last name
    size_t offset, count;           // at most QUEUE_PAGE_MAX
    // Given:
    size_t total, found;
    bool more;
    uint64_t last_value, last_id;
    struct slice names[QUEUE_PAGE_MAX];
};
void engine_queues(const struct engine *engine, int64_t now_us, struct queue_page *page);

// ---------------------------------------------------------------------------------------------
// Days of statistics

struct stats_day;
struct stats_view;

// A day of a queue: borrowed.
struct stats_day_view {
    struct slice queue;
    int64_t start_us;
    const struct stats_day *day;
};
void stats_day_view(const struct stats_day_view *day, struct stats_view *out);

enum {
    STATS_DAYS_MAX = 1000,    // of a page
    STATS_QUEUES_MAX = 10000, // that a page looks at
};

// A page of the days of a queue, or with an empty name of all, from the day on that `from_us` lies
// in: queue by queue, the newest day first. It may have fewer days than it could though there are
// more.
struct stats_days_page {
    struct slice queue;
    int64_t from_us;
    bool has_after;
    uint64_t after_id; // the cursor
    int64_t after_day;
    size_t count; // at most STATS_DAYS_MAX
    // Given:
    size_t found;
    bool more;
    uint64_t last_id;
    int64_t last_day;
    struct stats_day_view days[STATS_DAYS_MAX];
};
void engine_stats_days(const struct engine *engine, struct stats_days_page *page);

// ---------------------------------------------------------------------------------------------
// Of a namespace

struct totals_view {
    size_t states[7]; // by enum job_state; as in struct queue_view
    size_t queues;    // that are listed
    size_t paused;
    size_t workers, recurring, failed_groups;
    uint64_t bytes; // of the data of jobs that are not finished
    // The job in line that could run first, of all queues: since when, 0 when there is none; and
    // in which queue. With more than OLDEST_QUEUES queues a call looks at so many of them, and the
    // next one goes on.
    int64_t oldest_us;
    struct slice oldest_queue;
};

enum {
    OLDEST_QUEUES = 1024,
};

MUST_USE enum status engine_totals(struct engine *engine, int64_t now_us, struct totals_view *view,
                                   struct error *error);

#endif
