// SPDX-License-Identifier: MIT
// Calls about queues: counts and lists of their jobs, pages of queues in an order, statistics, and
// the totals of a namespace. engine.h states what holds for all calls.
#ifndef SLUICE_ENGINE_QUEUE_QUEUES_H
#define SLUICE_ENGINE_QUEUE_QUEUES_H

#include "base/glob.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/job/jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Each job counts by its state, as Q.GET shows it: a job whose lease has expired is running until the
// lease is lost, and stalled from then on.
struct queue_view {
    struct slice name;
    size_t waiting, running, stalled, scheduled, depends, recurring;
    size_t complete, failed; // jobs that finished in this queue
    size_t listeners;        // workers that have popped from it and are not offline
    size_t expired; // running jobs whose lease has expired and whose worker may still finish them
    uint64_t bytes; // of the data of its unfinished jobs
    bool paused;
    int64_t paused_us;     // paused since; 0: not paused, or unknown
    int64_t first_seen_us; // listed since; 0: not listed
    // The earliest time since which a job in line could run; 0: none. With more than
    // 2 * OLDEST_PRIORITIES priorities in line only those that run first and last are considered.
    int64_t oldest_us;
};

enum {
    OLDEST_PRIORITIES = 16,
};

// With the client clock this first processes what is due in the queue, as qless does.
MUST_USE enum status engine_queue(struct engine *engine, int64_t now_us, struct slice name,
                                  struct queue_view *view, struct error *error);
// The queues in the order in which they were first seen; `index` from 0 until the call returns
// false.
bool engine_queue_name(const struct engine *engine, size_t index, struct slice *name);
size_t engine_queue_count(const struct engine *engine);
// Whether there is such a queue, listed or not.
bool engine_queue_exists(const struct engine *engine, struct slice name);
// Waiting, running and scheduled jobs together.
size_t engine_length(const struct engine *engine, struct slice name);

enum list {
    // The jobs in a state.
    LIST_WAITING,
    LIST_RUNNING, // by the end of the lease, or of the grace period
    LIST_STALLED,
    LIST_SCHEDULED,
    LIST_DEPENDS,
    LIST_COMPLETE, // the newest first
    LIST_FAILED,   // the newest failure first
    // Parts of these, or several together, as qless lists them.
    LIST_EXPIRED,   // running jobs whose lease has expired
    LIST_UNEXPIRED, // running jobs whose lease has not expired
    LIST_LINE,      // stalled and waiting jobs
};

// Whether there is such a list of all queues, which engine_jobs gives for an empty name. That of
// LIST_RUNNING is in the order of the pops.
bool list_has_all(enum list list);

MUST_USE enum status engine_jobs(struct engine *engine, int64_t now_us, enum list list,
                                 struct slice queue, struct page *page, struct error *error);

MUST_USE enum status engine_pause(struct engine *engine, int64_t now_us, struct slices queues,
                                  struct error *error);
MUST_USE enum status engine_unpause(struct engine *engine, int64_t now_us, struct slices queues,
                                    struct error *error);
// Removes queues from the list of queues; their jobs stay.
MUST_USE enum status engine_forget(struct engine *engine, int64_t now_us, struct slices queues,
                                   struct error *error);

// ---------------------------------------------------------------------------------------------
// In an order

enum queue_order {
    QUEUES_BY_SEEN, // in the order in which they were first seen; then those with listeners only
    QUEUES_BY_NAME,
    // The largest first.
    QUEUES_BY_WAITING,
    QUEUES_BY_RUNNING,
    QUEUES_BY_STALLED,
    QUEUES_BY_FAILED,
    QUEUES_BY_AGE, // by queue_view.oldest_us
    QUEUES_BY_PUT, // jobs put in the last 60 to 75 seconds
    QUEUES_BY_COMPLETED,
    QUEUE_ORDERS,
};

enum {
    QUEUE_PAGE_MAX = 1000,
    QUEUES_FRESH_MAX = 1000,
};

// A page of the listed queues, from the start or behind a cursor: the `last_*` of an earlier page
// of the same order and pattern. In every order but QUEUES_BY_SEEN, and with a pattern in every
// order, a page visits all queues, at a few nanoseconds each. What takes
// longer to find, the age and the recent rates, is found for QUEUES_FRESH_MAX queues by each page:
// with more queues, the order of the others is that of a few pages ago.
struct queue_page {
    enum queue_order order;
    const struct glob *pattern; // only queues whose name matches; NULL: all
    bool has_after;
    uint64_t after_value, after_id; // the cursor
    struct slice after_name;        // the cursor by name: the last name
    size_t offset, count;           // at most QUEUE_PAGE_MAX
    // Filled in:
    size_t total; // queues in all pages
    size_t found;
    bool more;
    uint64_t last_value, last_id;
    struct slice names[QUEUE_PAGE_MAX];
};
void engine_queues(struct engine *engine, int64_t now_us, struct queue_page *page);

// ---------------------------------------------------------------------------------------------
// Statistics

enum {
    STATS_BUCKETS = 148, // 60 seconds, 59 minutes, 23 hours, 6 days
};

struct stats_series {
    uint64_t count;
    double mean; // seconds
    double std;
    uint64_t histogram[STATS_BUCKETS];
};

struct stats_view {
    int64_t lost_leases; // leases that expired; qless calls them retries
    int64_t retries;     // calls of retry after which the job is tried again
    int64_t failed;      // jobs that failed on that day and are still failed
    int64_t failures;    // all failures of that day
    struct stats_series wait, run;
};

// The statistics of the day that contains `date_us`.
void engine_stats(const struct engine *engine, struct slice name, int64_t date_us,
                  struct stats_view *view);

struct stats_day;

// The statistics of a queue on one day; borrowed.
struct stats_day_view {
    struct slice queue;
    int64_t start_us;
    const struct stats_day *day;
};
void stats_day_view(const struct stats_day_view *day, struct stats_view *out);

enum {
    STATS_DAYS_MAX = 1000,    // of a page
    STATS_QUEUES_MAX = 10000, // that a page visits
};

// A page of the days of a queue, or with an empty name of all queues, from the day that contains
// `from_us`: queue by queue, the newest day first. A page may have fewer than `count` days although
// more follow.
struct stats_days_page {
    struct slice queue;
    int64_t from_us;
    bool has_after;
    uint64_t after_id; // the cursor
    int64_t after_day;
    size_t count; // at most STATS_DAYS_MAX
    // Filled in:
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
    size_t queues;    // listed queues
    size_t paused;
    size_t workers, recurring, failed_groups;
    uint64_t bytes; // of the data of unfinished jobs
    // The earliest queue_view.oldest_us of all queues (0: none), and its queue. With more than
    // OLDEST_QUEUES queues a call visits that many of them, and the next call continues.
    int64_t oldest_us;
    struct slice oldest_queue;
};

enum {
    OLDEST_QUEUES = 1024,
};

MUST_USE enum status engine_totals(struct engine *engine, int64_t now_us, struct totals_view *view,
                                   struct error *error);

#endif
