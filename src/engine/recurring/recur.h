// SPDX-License-Identifier: MIT
// Calls about recurring jobs. engine.h states what holds for all calls.
#ifndef SLUICE_ENGINE_RECURRING_RECUR_H
#define SLUICE_ENGINE_RECURRING_RECUR_H

#include "base/slice.h"
#include "base/status.h"
#include "engine/job/jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recurring;

enum {
    RECURRING_JID_SIZE_MAX = 234, // the jids of its jobs append a dash and up to 20 digits
};

// How runs are treated that the engine comes to later than `missed-after` seconds.
enum recur_missed {
    RECUR_MISSED_ALL,  // all are made; with a backlog only the last ones
    RECUR_MISSED_ONE,  // only the last one is made
    RECUR_MISSED_SKIP, // none is made
};

// How a run is treated while the job that was made last has not finished.
enum recur_overlap {
    RECUR_OVERLAP_ALLOW,
    RECUR_OVERLAP_SKIP,
};

struct recur_request {
    struct slice queue, jid, klass, data;
    int64_t interval_us; // above 0; 0 with a cron expression
    int64_t offset_us;   // until the first run; of a cron expression: until the schedule begins
    struct slice cron;   // an expression (cron.h), or empty
    struct slice zone;   // the time zone of the expression (zone.h); empty: UTC
    enum recur_missed missed;
    enum recur_overlap overlap;
    int32_t priority;
    int32_t retries;
    int64_t backlog; // how many missed runs are made; 0: all
    struct slices tags;
    struct slice domain;               // of the jobs it makes
    const struct job_options *options; // of the jobs it makes, or NULL
    bool restart;                      // one that exists starts again, `offset_us` from now
    bool paused; // it makes no jobs until it is resumed; one that is paused stays paused
};
// Creates a recurring job, or changes the one with that jid. One that is already as requested stays
// as it is, its next run included. One that changes keeps its phase and the number of the job that
// it made last; only another cron expression or zone, or another kind of schedule, starts again.
MUST_USE enum status engine_recur(struct engine *engine, int64_t now_us,
                                  const struct recur_request *request, struct error *error);
// OK if there is no such recurring job.
MUST_USE enum status engine_unrecur(struct engine *engine, int64_t now_us, struct slice jid,
                                    struct error *error);

struct recurring_view {
    struct slice jid, klass, data, queue;
    int64_t interval_us; // 0 with a cron expression
    struct slice cron, zone, domain;
    enum recur_missed missed;
    enum recur_overlap overlap;
    int64_t next_us; // when the next job is due; while paused, when it would be due
    int64_t last_us; // when it made its last job; 0: never, or unknown
    bool paused;
    int32_t priority;
    int32_t retries;
    uint64_t count; // the number of the job that it made last; 0: none
    int64_t backlog;
    size_t tag_count;
};

// NULL if there is no such recurring job.
const struct recurring *engine_recurring_get(const struct engine *engine, struct slice jid);
void recurring_view(const struct engine *engine, const struct recurring *recurring,
                    struct recurring_view *view);
struct slice recurring_tag(const struct engine *engine, const struct recurring *recurring,
                           size_t index);

// The options of the jobs that it makes, all UNSET if none were given.
void recurring_options(const struct engine *engine, const struct recurring *recurring,
                       struct job_options *out);

// Pauses or resumes a recurring job. While paused it keeps its schedule; the runs of that time are
// not made.
MUST_USE enum status engine_recur_pause(struct engine *engine, int64_t now_us, struct slice jid,
                                        bool paused, struct error *error);
// Makes a job now, in addition to those of the schedule, also if the recurring job is paused or an
// earlier job has not finished. Returns the job.
MUST_USE enum status engine_recur_run(struct engine *engine, int64_t now_us, struct slice jid,
                                      const struct job **out, struct error *error);

struct recur_update {
    struct slice jid;
    // With one of these the recurring job is registered again (engine_recur), with its other values.
    bool has_cron, has_zone, has_missed, has_overlap, has_domain, has_options;
    struct slice cron, zone, domain;
    enum recur_missed missed;
    enum recur_overlap overlap;
    const struct job_options *options;
    bool has_priority, has_interval, has_retries, has_backlog, has_data, has_klass, has_queue;
    int32_t priority;
    int64_t interval_us;
    int32_t retries;
    int64_t backlog;
    struct slice data, klass, queue;
};
MUST_USE enum status engine_recur_update(struct engine *engine, int64_t now_us,
                                         const struct recur_update *request, struct error *error);
MUST_USE enum status engine_recur_tag(struct engine *engine, int64_t now_us, struct slice jid,
                                      struct slices tags, struct error *error);
MUST_USE enum status engine_recur_untag(struct engine *engine, int64_t now_us, struct slice jid,
                                        struct slices tags, struct error *error);
// The next `count` runs of a recurring job; `*found` is how many there are.
MUST_USE enum status engine_recurring_runs(const struct engine *engine, struct slice jid,
                                           size_t count, int64_t *out, size_t *found,
                                           struct error *error);
// The next `count` runs of a cron expression after `after_us`.
MUST_USE enum status engine_cron_runs(const struct engine *engine, struct slice cron,
                                      struct slice zone, int64_t after_us, size_t count,
                                      int64_t *out, size_t *found, struct error *error);
// The recurring jobs of all queues, ordered by the number that each received when it was created or
// last changed, from the first number above `after`. Returns how many there are in all.
size_t engine_recurring_all(const struct engine *engine, uint64_t after, size_t offset,
                            size_t count, const struct recurring **out, size_t *found, bool *more);
uint64_t recurring_number(const struct recurring *recurring);
// The recurring jobs of a queue, ordered by their next run. Returns how many there are in all.
size_t engine_recurring(const struct engine *engine, struct slice name, size_t offset, size_t count,
                        const struct recurring **out, size_t *found);

#endif
