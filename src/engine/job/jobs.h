// SPDX-License-Identifier: MIT
// Calls about jobs: putting, reading, changing and removing them. engine.h states what holds for all
// calls.
#ifndef SLUICE_ENGINE_JOB_JOBS_H
#define SLUICE_ENGINE_JOB_JOBS_H

#include "base/index.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct job;

enum job_state {
    JOB_SCHEDULED, // not ready before its time
    JOB_DEPENDS,   // waits for other jobs
    JOB_WAITING,   // in line
    JOB_RUNNING,   // leased to a worker
    JOB_STALLED,   // first in line again, because its lease was lost or ended
    JOB_COMPLETE,
    JOB_FAILED,
    JOB_STATE_COUNT,
};

// The state in lower case ("scheduled"); these words do not change between versions.
const char *job_state_name(enum job_state state);

// How long a job waits before it is tried again. The delay after the n-th run is: FIXED `base_us`;
// LINEAR n times `base_us`; EXPONENTIAL 2^(n-1) times `base_us`; LIST the n-th delay of `list_us`,
// or its last. `cap_us` limits the delay (0: no cap); then a random part of up to `jitter_percent`
// is subtracted.
enum backoff_kind {
    BACKOFF_UNSET,
    BACKOFF_FIXED,
    BACKOFF_LINEAR,
    BACKOFF_EXPONENTIAL,
    BACKOFF_LIST,
};

enum {
    BACKOFF_LIST_MAX = 16,
};

struct backoff {
    enum backoff_kind kind;
    uint32_t jitter_percent; // up to 100
    int64_t base_us;
    int64_t cap_us;
    uint64_t list_count;
    int64_t list_us[BACKOFF_LIST_MAX];
};

// What happens to a job that depends on a job that fails.
enum dependency_policy {
    DEPENDENCY_UNSET,
    DEPENDENCY_HOLD,   // it waits on, because the failed job may be unfailed
    DEPENDENCY_CANCEL, // it is canceled, or fails if other jobs depend on it
    DEPENDENCY_FAIL,   // it fails too, in the group `dependency-failed`
    DEPENDENCY_RUN,    // it runs without the failed job
};

// How a job is run. A value of 0 or UNSET comes from the policy of its klass, else from that of its
// queue (config/policy.h); without one there is no such limit.
struct job_options {
    struct backoff backoff;
    int64_t timeout_us;    // the longest run, in spite of heartbeats; below 0: none
    int64_t result_ttl_us; // how long its result is kept; below 0: as long as the job
    int64_t crashes_max;   // the job fails with so many lost leases; below 0: none
    int64_t lease_us;      // LEASE_US_MIN to LEASE_US_MAX; below 0: the heartbeat of its queue
    enum dependency_policy dependency_policy;
};

// What names the lock of a unique job. The lock is part of the job that holds it.
enum unique_by {
    UNIQUE_NONE,
    UNIQUE_BY_KEY,
    UNIQUE_BY_CONTENTS, // klass and data, the data as a JSON value
};

// When the lock is released.
enum unique_until {
    UNIQUE_UNTIL_FINISHED, // complete for good, failed, canceled or deleted
    UNIQUE_UNTIL_STARTED,  // its first pop
    UNIQUE_FOR_TIME,       // `for_us` after the put, also when the job is gone
};

// What a put does when another job holds the lock.
enum unique_conflict {
    UNIQUE_EXISTING, // returns the job that holds the lock, and changes nothing
    UNIQUE_REPLACE,  // cancels the holder. STATE if it is running, has dependents, or is complete,
                     // be it gone or not
    UNIQUE_REFUSE,   // EXISTS
    UNIQUE_ONCE,     // as EXISTING; also when the job that is put is the holder
};

struct unique_request {
    enum unique_by by;
    struct slice key; // of UNIQUE_BY_CONTENTS empty, or the SHA-256 that klass and data once had
    enum unique_until until;
    int64_t for_us;
    enum unique_conflict conflict;
};

// How a dependency that does not exist is treated. A job that completed and was deleted since is not
// missing as long as its jid is remembered (`jobs-history-jids`).
enum missing_dependencies {
    MISSING_COMPLETE, // as complete
    MISSING_REFUSED,  // the call is NOT_FOUND
};

struct put_request {
    struct slice queue;
    struct slice jid;
    struct slice klass;
    struct slice data;   // JSON, which the engine does not read
    struct slice worker; // the worker that puts it; as the holder it gets no `lock_lost`
    int64_t delay_us;
    // A job that exists keeps what is not given here. The defaults are those of a new job.
    bool keeps_time; // without a delay, the job keeps a time in the future that it is scheduled for
    bool has_priority;
    int32_t priority; // lower runs sooner; default 0
    bool has_retries;
    int32_t retries; // default 5
    bool has_tags;
    struct slices tags;
    bool has_domain;
    struct slice domain; // names the lane of the queue; empty: the default lane
    bool has_deadline;
    int64_t deadline_us; // not started by then the job fails in the group `expired`; 0: none
    const struct job_options *options; // NULL: the job's own, or none
    struct unique_request unique;
    struct slices depends; // jids; complete jobs do not count
    enum missing_dependencies missing;
    bool must_exist;    // NOT_FOUND if there is no such job (requeue)
    struct slice *gone; // receives the holder's jid when `*out` is NULL; may be NULL without a lock
};

// Creates a job, or moves the job with that jid into the queue: it loses its lease, and its retries
// start again. Dependencies that are given replace those of the job; an empty list keeps them.
// `*out` is another job than the requested one when that job holds the lock (UNIQUE_EXISTING,
// UNIQUE_ONCE). It is NULL when the holder is gone and its lock is kept for a time.
MUST_USE enum status engine_put(struct engine *engine, int64_t now_us,
                                const struct put_request *request, const struct job **out,
                                struct error *error);

// A number that is not the jid of any job, in decimal digits, for a caller that puts a job under a
// number. The put must follow at once: the number is that of the next new job (job_view.id), which
// may also be a job that falls due. The number of a job that is gone is not used again.
uint64_t engine_next_number(struct engine *engine);

// NULL if there is no such job.
const struct job *engine_get(const struct engine *engine, struct slice jid);

struct job_view {
    uint64_t id; // the number under which its records are kept; never used twice
    struct slice jid, klass, data, queue, domain, worker, result, spawned_from;
    enum job_state state;
    bool tracked;
    bool grace; // its lease has expired, and its grace period runs
    int32_t priority;
    int32_t retries;
    int32_t remaining;
    uint32_t crashes;        // leases lost since it was put or unfailed
    uint32_t attempts;       // runs since it was put, unfailed or advanced to its queue
    uint64_t token;          // of the lease; 0: none
    int64_t expires_us;      // when the lease expires; 0: none
    int64_t lease_us;        // the length that a pop, take or heartbeat gave the lease; 0: none
    int64_t scheduled_us;    // when it is due, also if it waits for dependencies first; else 0
    int64_t line_us;         // in line since; 0 if it is not, or its priority was changed since
    int64_t time_us;         // of its last move, pop or completion
    int64_t created_us;      // when it was first put
    int64_t updated_us;      // of its last visible change
    int64_t deadline_us;     // 0: none, or the job has started
    int64_t run_ends_us;     // no heartbeat extends the lease beyond this; 0: no such limit
    int64_t result_until_us; // when the result is dropped; 0: with the job
    bool started;            // the holder reported the start
    int64_t pid;             // the process that it reported; 0: none
    // The last failure; the group is empty if there was none.
    struct slice failure_group, failure_message, failure_worker;
    int64_t failure_when_us;
    size_t tag_count, dependency_count, dependent_count, history_count, log_count;
    // Of the jobs that it depends on, or depended on since its last put: complete; failed.
    size_t members_done, members_failed;
    int32_t progress_ppm; // 0 to 1,000,000; below 0: this run has reported none
    struct slice progress_message;
    struct slice checkpoint;
    enum unique_by unique_by;
    struct slice unique_key; // of UNIQUE_BY_CONTENTS the SHA-256, 32 bytes
    bool unique_held;        // whether it holds the lock
};

void job_view(const struct engine *engine, const struct job *job, struct job_view *view);
struct slice job_jid(const struct job *job);

// The size of the data; and the number and total size of the texts in a pop's answer (jid, klass,
// queue, data, domain, checkpoint, tags). Cheaper than a view of the job.
size_t job_data_size(const struct job *job);
struct job_texts {
    size_t count, size;
};
struct job_texts job_texts(const struct engine *engine, const struct job *job);

// The tags in the order in which they were added; `index` is below job_view.tag_count.
struct slice job_tag(const struct engine *engine, const struct job *job, size_t index);
// When a tag that the job has was added.
int64_t job_tag_time(const struct job *job, struct slice tag);
// The jobs that a job depends on, and the jobs that depend on it, in the order in which they were
// added, until the call returns false. `*position` is NULL before the first call.
bool job_dependency_next(const struct job *job, const void **position, struct slice *jid);
bool job_dependent_next(const struct job *job, const void **position, struct slice *jid);

// The options that were given, all UNSET if none were; and those in effect, policies included.
void job_options(const struct engine *engine, const struct job *job, struct job_options *out);
void job_options_in_effect(const struct engine *engine, const struct job *job,
                           struct job_options *out);

struct history_view {
    int64_t when_us;
    struct slice what; // put, popped, started, done, failed, retried, timed-out, or a note's word
    bool noted;        // whether it is a note (engine_log)
    struct slice queue, worker, group;
    struct slice message; // of a failure; cut after 1,024 bytes
    struct slice data;    // the JSON of a note, or the pid of started; or empty
    // Of put and retried: the time that the job was scheduled for, if any. Of the first popped:
    // since when the job could run, if that was later than its put. Else 0.
    int64_t until_us;
};

// The entries of a job's history, from the oldest, until the call returns false. `*position` is 0
// before the first call.
bool job_history_next(const struct engine *engine, const struct job *job, size_t *position,
                      struct history_view *view);

// What the kept history says about the job's last put or retry and its last run, which may have
// ended. 0 and empty: none.
struct job_past {
    int64_t eta_us; // the time for which the last put or retry scheduled the job
    int64_t popped_us, started_us;
    struct slice worker;
    int64_t pid;
};
void job_past(const struct engine *engine, const struct job *job, struct job_past *out);

// A job that cannot be canceled, and one that depends on it and was not named.
struct cancel_blocker {
    struct slice jid, dependent;
};

// Removes jobs in any state but complete. It ignores jids that do not exist, and complete jobs.
// STATE if other jobs depend on a job and are not named too; then `blocker`, unless it is NULL, says
// which.
MUST_USE enum status engine_cancel(struct engine *engine, int64_t now_us, struct slices jids,
                                   size_t *canceled, struct cancel_blocker *blocker,
                                   struct error *error);

// As engine_cancel, and also cancels all jobs that depend on the named ones, directly or through
// others: first the named jobs, then the others in the order in which they are found. TOO_LARGE if
// these are more than `max-dependency-search`; then none is removed.
MUST_USE enum status engine_cancel_dependents(struct engine *engine, int64_t now_us,
                                              struct slices jids, size_t *canceled,
                                              struct error *error);

// Removes a complete or failed job.
MUST_USE enum status engine_delete(struct engine *engine, int64_t now_us, struct slice jid,
                                   struct error *error);

MUST_USE enum status engine_priority(struct engine *engine, int64_t now_us, struct slice jid,
                                     int32_t priority, struct error *error);
MUST_USE enum status engine_update_data(struct engine *engine, int64_t now_us, struct slice jid,
                                        struct slice data, struct error *error);

// Appends a note to the history. A worker that is given must hold the job's lease.
struct log_request {
    struct slice jid, message, data;
    struct slice worker; // empty: not checked
    uint64_t token;      // 0: not checked
};
MUST_USE enum status engine_log(struct engine *engine, int64_t now_us,
                                const struct log_request *request, struct error *error);

// Ends the leases of the jobs now. All jobs must be running, or none is changed.
MUST_USE enum status engine_timeout(struct engine *engine, int64_t now_us, struct slices jids,
                                    struct error *error);

// Adds and removes dependencies of a job in the state depends. Complete dependencies do not count.
// Dependency cycles are rejected.
MUST_USE enum status engine_depends_on(struct engine *engine, int64_t now_us, struct slice jid,
                                       struct slices depends, enum missing_dependencies missing,
                                       struct error *error);
MUST_USE enum status engine_depends_off(struct engine *engine, int64_t now_us, struct slice jid,
                                        struct slices depends, struct error *error);
MUST_USE enum status engine_depends_off_all(struct engine *engine, int64_t now_us, struct slice jid,
                                            struct error *error);

// A page of a list of jobs. The offset counts from the start of the list or, with `has_after`, from
// the entry behind `after`, the `last` of an earlier page; so changes before it do not matter.
struct page {
    size_t offset;
    size_t count;
    bool has_after;
    struct index_key after;
    const struct job **jobs; // room for `count`
    // Filled in:
    size_t total; // the length of the whole list
    size_t found;
    bool more;             // whether entries follow those found
    struct index_key last; // the key of the last one found
};

#endif
