// SPDX-License-Identifier: MIT
// The engine: one namespace's jobs, queues, workers, tags and configuration, and all rules about
// them. In memory, on one thread, without a clock, a file or a global.
//
// Every call takes `now_us`, microseconds since the epoch, 0 up to ENGINE_TIME_MAX. Given the same
// calls two engines hold the same bytes.
//
// Every fallible call returns a status and fills `error` (which may be NULL) with a sentence that
// names the argument, the job and its state. A call that fails, for whatever reason, has changed
// nothing that can be observed.
//
// Every name is 1 to ENGINE_NAME_SIZE_MAX bytes long, and each call checks the names that it is
// given: a call with a status refuses others as INVALID; a call that only looks something up, and
// has no status, finds nothing under them. Where the header says so a name may be left out.
//
// What a call returns (jobs, slices, views) is borrowed and valid until the next call that takes
// the engine without const.
#ifndef SLUICE_ENGINE_ENGINE_H
#define SLUICE_ENGINE_ENGINE_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/event.h"
#include "engine/queue/queues.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_TIME_MAX INT64_C(253402300799999999) // the end of the year 9999

enum {
    ENGINE_NAME_SIZE_MAX = 255,   // jids, names of queues, klasses, workers, tags, groups, options
    RECURRING_JID_SIZE_MAX = 234, // the jids of its jobs have a dash and up to 20 digits more
};

// Whose clock rules. With the server's, time never goes back, and what is due happens by itself:
// each call first does all that was due by then, dated by when it was due. With the clients', time
// is what each call says, and only pop, peek and the counts look at what is due.
enum engine_clock {
    ENGINE_CLOCK_SERVER,
    ENGINE_CLOCK_CLIENT,
};

// How long a lease may last: a shorter one would end before its job is delivered.
#define LEASE_US_MIN INT64_C(1000)
#define LEASE_US_MAX (INT64_C(100) * 366 * 86400 * 1000000)

struct engine;
struct job;
struct recurring;

struct engine_options {
    const struct allocator *allocator; // borrowed for the engine's life
    struct hash_seed seed;
    enum engine_clock clock;
    struct event_sink sink;
    uint64_t token;     // those of leases are larger
    bool keeps_changes; // whether the host will ask for changed records (changes.h)
};

MUST_USE enum status engine_new(const struct engine_options *options, struct engine **out);
// Which may be NULL, or half loaded; tells nothing.
void engine_free(struct engine *engine);

// Does what is due by `now_us` and says when it next wants to be called: INT64_MAX when nothing is
// to come, `now_us` when it did a slice and there is more. A tick that cannot get memory does what
// it can. With the client clock it changes nothing, and tells of watched queues (watch.h) in which
// something is due by the host's clock.
int64_t engine_tick(struct engine *engine, int64_t now_us);

// When it wants to be called, as things stand now: the calls since the last tick may have changed
// that.
int64_t engine_due(const struct engine *engine);

// The latest time that the engine has seen; 0 with the client clock.
int64_t engine_time(const struct engine *engine);

// The host's clock was set, or lies behind the engine's time. Does what is due by `now_us`, the
// time by which the host went so far (0: as of the latest time seen), then makes the engine's time
// `to_us`, be it earlier or later. What is a span of time keeps what is left of it: leases, runs,
// what a rate allows, the intervals of recurring jobs. What is a moment stays: delays, deadlines,
// locks for a time, results; cron expressions follow the new time. INVALID when a time is out of
// range, STATE with the client clock.
MUST_USE enum status engine_set_time(struct engine *engine, int64_t now_us, int64_t to_us,
                                     struct error *error);

enum engine_clock engine_clock_of(const struct engine *engine);

// How many objects all calls so far have visited: jobs, edges, lanes, entries of indexes. What a
// call costs is counted so, and never timed. A call that may have to visit more than some 20,000
// does a part and leaves the rest to the calls and ticks that follow.
uint64_t engine_steps(const struct engine *engine);

// While they are held, recurring jobs make no jobs. Afterwards the runs that were missed are
// treated as those that were missed while the engine was not called.
void engine_hold_recurring(struct engine *engine, bool held);

// ---------------------------------------------------------------------------------------------
// Jobs

enum job_state {
    JOB_SCHEDULED, // not before its time
    JOB_DEPENDS,   // waits for other jobs
    JOB_WAITING,   // in line
    JOB_RUNNING,   // leased
    JOB_STALLED,   // its lease was lost; first in line
    JOB_COMPLETE,
    JOB_FAILED,
    JOB_STATE_COUNT,
};

// A stable word ("scheduled").
const char *job_state_name(enum job_state state);

struct slices {
    const struct slice *items;
    size_t count;
};

// How long a job waits before it is tried again. After its n-th run it waits: FIXED `base_us`;
// LINEAR n times that; EXPONENTIAL 2^(n-1) times that; LIST the n-th of `list_us`, or the last.
// Never longer than `cap_us` (0: no cap), then less a random part of up to `jitter_percent`.
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

// What becomes of a job that depends on one that fails.
enum dependency_policy {
    DEPENDENCY_UNSET,
    DEPENDENCY_HOLD,   // it waits on: what failed may be unfailed
    DEPENDENCY_CANCEL, // it is canceled; or fails if others depend on it
    DEPENDENCY_FAIL,   // it fails too, in the group `dependency-failed`
    DEPENDENCY_RUN,    // it runs without
};

// How a job is run. What is 0 or UNSET here is as its klass's policy says, else its queue's
// (policy.h), else without such a limit.
struct job_options {
    struct backoff backoff;
    int64_t timeout_us;    // the longest run, however well it heartbeats; below 0: none
    int64_t result_ttl_us; // how long its result is kept; below 0: as long as the job
    int64_t crashes_max;   // with so many leases lost it fails; below 0: none
    int64_t lease_us;      // LEASE_US_MIN to LEASE_US_MAX; below 0: as its queue's heartbeat says
    enum dependency_policy dependency_policy;
};

// That no two jobs do the same. The lock is part of the job that holds it.
enum unique_by {
    UNIQUE_NONE,
    UNIQUE_BY_KEY,
    UNIQUE_BY_CONTENTS, // klass and data, however the same data is written
};

enum unique_until {
    UNIQUE_UNTIL_FINISHED, // complete for good, failed, canceled or deleted
    UNIQUE_UNTIL_STARTED,  // its first pop
    UNIQUE_FOR_TIME,       // `for_us` after the put, also when the job is gone
};

enum unique_conflict {
    UNIQUE_EXISTING, // put gives the job that holds the lock, and changes nothing
    UNIQUE_REPLACE, // the holder is canceled, unless it is running, complete (be it that it is gone
                    // by now) or depended on: STATE
    UNIQUE_REFUSE,  // STATUS_EXISTS
    UNIQUE_ONCE,    // as EXISTING, also when the holder is the job that is put: it is not put again
};

struct unique_request {
    enum unique_by by;
    struct slice key; // of UNIQUE_BY_CONTENTS empty, or the SHA-256 that klass and data once had
    enum unique_until until;
    int64_t for_us;
    enum unique_conflict conflict;
};

// What becomes of a dependency that does not exist. One that completed, and was deleted since, does
// not count as missing as long as its jid is remembered (`jobs-history-jids`).
enum missing_dependencies {
    MISSING_COMPLETE, // it counts as complete
    MISSING_REFUSED,  // NOT_FOUND
};

struct put_request {
    struct slice queue;
    struct slice jid;
    struct slice klass;
    struct slice data;   // JSON; not looked into
    struct slice worker; // who puts it; if it is the holder, it is not told that it lost the lease
    int64_t delay_us;
    // Of a job that exists already, what is not given stays as it was.
    bool keeps_time; // without a delay: a time that it is scheduled for, and that is to come, stays
    bool has_priority;
    int32_t priority; // lower runs sooner; 0
    bool has_retries;
    int32_t retries; // 5
    bool has_tags;
    struct slices tags;
    bool has_domain;
    struct slice domain; // the lane of the queue it is in; empty: the queue's default lane
    bool has_deadline;
    int64_t deadline_us; // not started by then it fails in the group `expired`; 0: none
    const struct job_options *options; // NULL: as they were, or none
    struct unique_request unique;
    struct slices depends; // jids; those that are complete do not count
    enum missing_dependencies missing;
    bool must_exist;    // requeue: STATUS_NOT_FOUND when there is no such job
    struct slice *gone; // the jid of the holder when `*out` is NULL; may be NULL without a lock
};

// Makes a job, or moves the job with that jid into the queue: its lease is lost, its retries start
// anew. Dependencies given replace those it had; none given keeps them. `*out` has another jid than
// the request when another job holds the lock asked for (UNIQUE_EXISTING, UNIQUE_ONCE); it is NULL
// when that job is gone, and its lock was promised for a time.
MUST_USE enum status engine_put(struct engine *engine, int64_t now_us,
                                const struct put_request *request, const struct job **out,
                                struct error *error);

// A number that, in decimal digits, is no job's jid: for a job that is put next, and that is to
// have a number for its name. A number that was used is not given again, also when its job is gone:
// it is that of the next new job (job_view.id), but for what falls due meanwhile.
uint64_t engine_next_number(struct engine *engine);

// NULL when there is none.
const struct job *engine_get(const struct engine *engine, struct slice jid);

struct job_view {
    uint64_t id; // the number under which its records are kept; never used twice
    struct slice jid, klass, data, queue, domain, worker, result, spawned_from;
    enum job_state state;
    bool tracked;
    bool grace; // its lease ran out, and the grace period runs
    int32_t priority;
    int32_t retries;
    int32_t remaining;
    uint32_t crashes;        // leases lost since it was put or unfailed
    uint32_t attempts;       // runs since it was put, unfailed or went on to its queue
    uint64_t token;          // of the lease, 0 when there is none
    int64_t expires_us;      // of the lease, 0 when there is none
    int64_t lease_us;        // the length that its taking or a heartbeat gave it; 0: none
    int64_t scheduled_us;    // when it is due, also after its dependencies; else 0
    int64_t line_us;         // while it waits: since when; 0 once its priority was changed
    int64_t time_us;         // of its last move, pop or completion
    int64_t created_us;      // when it was first put
    int64_t updated_us;      // when anything of it last changed
    int64_t deadline_us;     // 0 when there is none, or it has started
    int64_t run_ends_us;     // the lease ends then however often it is renewed; 0: no such limit
    int64_t result_until_us; // when the result is dropped; 0: with the job
    bool started;            // the holder said so,
    int64_t pid;             // with this process id
    // How it failed last; the group is empty when it has not.
    struct slice failure_group, failure_message, failure_worker;
    int64_t failure_when_us;
    size_t tag_count, dependency_count, dependent_count, history_count, log_count;
    // Of the jobs it depends or depended on since it was last put: complete; failed.
    size_t members_done, members_failed;
    int32_t progress_ppm; // 0 to 1,000,000; below 0 when nothing was reported in this run
    struct slice progress_message;
    struct slice checkpoint;
    enum unique_by unique_by;
    struct slice unique_key; // of UNIQUE_BY_CONTENTS the SHA-256, 32 bytes
    bool unique_held;        // it holds the lock
};

void job_view(const struct engine *engine, const struct job *job, struct job_view *view);
struct slice job_jid(const struct job *job);

// How long its data is; and how many texts a pop tells of it (jid, klass, queue, data, domain,
// checkpoint, tags), and how long they are in all. For each job of a pop, which needs no view then.
size_t job_data_size(const struct job *job);
struct job_texts {
    size_t count, size;
};
struct job_texts job_texts(const struct engine *engine, const struct job *job);

// In the order in which they were given.
struct slice job_tag(const struct engine *engine, const struct job *job, size_t index);
// When the job got a tag that it has.
int64_t job_tag_time(const struct job *job, struct slice tag);
// What the job depends on and what depends on it, in the order in which they were added.
// `*position` is NULL at first.
bool job_dependency_next(const struct job *job, const void **position, struct slice *jid);
bool job_dependent_next(const struct job *job, const void **position, struct slice *jid);

// The options as they were given, all UNSET when none were; and what holds for the job.
void job_options(const struct engine *engine, const struct job *job, struct job_options *out);
void job_options_in_effect(const struct engine *engine, const struct job *job,
                           struct job_options *out);

struct history_view {
    int64_t when_us;
    struct slice what; // put, popped, started, done, failed, retried, timed-out, or a logger's word
    bool noted;        // it is a logger's
    struct slice queue, worker, group;
    struct slice message; // of a failure; cut after 1,024 bytes
    struct slice data;    // JSON of a logger, or with the pid of started; or empty
    // Of put, retried: when it was to run, if that was later. Of the first popped: since when it
    // could run, if that was later than its put. Else 0.
    int64_t until_us;
};

// The entries of a job's history, from the oldest. `*position` is 0 at first.
bool job_history_next(const struct engine *engine, const struct job *job, size_t *position,
                      struct history_view *view);

// What its history tells of a job besides, as far as it is kept: when it was or is to run, as its
// last put or retry said; its last run, also after its end. 0 and empty for none.
struct job_past {
    int64_t eta_us;
    int64_t popped_us, started_us;
    struct slice worker;
    int64_t pid;
};
void job_past(const struct engine *engine, const struct job *job, struct job_past *out);

// A job that cannot be canceled, and one that depends on it and is not to be canceled.
struct cancel_blocker {
    struct slice jid, dependent;
};

// Removes jobs that are in any state but complete. A job that others depend on is refused unless
// all of them are named too: STATE, and `blocker` says which, unless it is NULL. A jid that does
// not exist is passed over, as is one that is complete.
MUST_USE enum status engine_cancel(struct engine *engine, int64_t now_us, struct slices jids,
                                   size_t *canceled, struct cancel_blocker *blocker,
                                   struct error *error);

// The same with all jobs that depend on those named, directly or through others: first those named,
// then those that depend on them, in the order in which they are found. TOO_LARGE when more than
// `max-dependency-search` do; then none is removed.
MUST_USE enum status engine_cancel_dependents(struct engine *engine, int64_t now_us,
                                              struct slices jids, size_t *canceled,
                                              struct error *error);

// Removes a job that is complete or failed.
MUST_USE enum status engine_delete(struct engine *engine, int64_t now_us, struct slice jid,
                                   struct error *error);

MUST_USE enum status engine_priority(struct engine *engine, int64_t now_us, struct slice jid,
                                     int32_t priority, struct error *error);
MUST_USE enum status engine_update_data(struct engine *engine, int64_t now_us, struct slice jid,
                                        struct slice data, struct error *error);

// Appends an entry to the history. A worker that is given must hold the job's lease.
struct log_request {
    struct slice jid, message, data;
    struct slice worker; // empty: not checked
    uint64_t token;      // 0: not checked
};
MUST_USE enum status engine_log(struct engine *engine, int64_t now_us,
                                const struct log_request *request, struct error *error);

// The lease is lost now. All must be running, or none is touched.
MUST_USE enum status engine_timeout(struct engine *engine, int64_t now_us, struct slices jids,
                                    struct error *error);

// Only for a job in the state depends. A dependency that is complete does not count; one that would
// create a dependency cycle is rejected.
MUST_USE enum status engine_depends_on(struct engine *engine, int64_t now_us, struct slice jid,
                                       struct slices depends, enum missing_dependencies missing,
                                       struct error *error);
MUST_USE enum status engine_depends_off(struct engine *engine, int64_t now_us, struct slice jid,
                                        struct slices depends, struct error *error);
MUST_USE enum status engine_depends_off_all(struct engine *engine, int64_t now_us, struct slice jid,
                                            struct error *error);

// A page of a list: how many there are in all, and those from `offset` on, at most `count`. With
// `after`, which a page before left as its `last`, the offset counts from behind that place,
// whatever has come or gone in front of it meanwhile.
struct page {
    size_t offset;
    size_t count;
    bool has_after;
    struct index_key after;
    const struct job **jobs; // room for `count`
    // Filled in:
    size_t total;
    size_t found;
    bool more;             // others come behind those found
    struct index_key last; // where the last one stands
};

// ---------------------------------------------------------------------------------------------
// Work

enum pop_order {
    POP_ORDERED,     // the first queue as long as it has jobs, then the second, ...
    POP_ROUND_ROBIN, // a job from each in turn
    POP_BEST,        // of the first jobs of all queues the one with the lowest priority; of those
                     // one whose lease was lost or ended; then the one with the lowest number
};

// Whether the caller can take a job beside those that this pop has handed out already.
enum pop_fit {
    POP_FITS,
    POP_FITS_LATER, // not beside those: the pop ends before it
    POP_FITS_NEVER, // not even alone: it is left in line, and those behind it are looked at
};

enum {
    POP_UNFIT_MAX = 1000, // jobs that a pop passes over because they never fit, for each it takes
};

struct pop_request {
    struct slice worker;
    struct slices queues;
    enum pop_order order;
    size_t count;
    int64_t lease_us; // how long each lease lasts, see engine_heartbeat; 0: as the job says
    bool no_grace;    // client clock: a lease that ran out is lost at once
    // Asked before each job is handed out, with those that were; NULL: all fit.
    enum pop_fit (*fits)(void *context, const struct job *job, const struct job *const *popped,
                         size_t count);
    void *fits_context;
};

// Hands out up to `count` jobs under a new lease each, into `jobs`: first those whose lease was
// lost, then by priority and age. One that fails for want of memory hands out nothing, but the
// worker counts as seen, and what was due has happened.
MUST_USE enum status engine_pop(struct engine *engine, int64_t now_us,
                                const struct pop_request *request, const struct job **jobs,
                                size_t *popped, struct error *error);

// The job that a pop of one from the queue would hand out now, as far as can be told without one;
// NULL when there is none. Only with the server clock.
const struct job *engine_next(const struct engine *engine, struct slice name);

struct take_request {
    struct slice worker;
    struct slice jid;
    int64_t lease_us; // as of a pop
};

// Hands out one job out of its turn, under the limits that hold for pop too. `*out` is NULL when
// these do not let it run now, and when it is not in line (any more). With the client clock the
// deadlines and the lanes of its queue are looked at first, as by pop, and of what else is due only
// what concerns the job.
MUST_USE enum status engine_take(struct engine *engine, int64_t now_us,
                                 const struct take_request *request, const struct job **out,
                                 struct error *error);

// The jobs that a pop would hand out next, without doing so.
MUST_USE enum status engine_peek(struct engine *engine, int64_t now_us, struct slice queue,
                                 size_t count, const struct job **jobs, size_t *found,
                                 struct error *error);

// Who claims to hold a lease. A token of 0 is not looked at, an empty queue neither.
struct holder {
    struct slice jid;
    struct slice worker;
    struct slice queue;
    uint64_t token;
};

struct heartbeat_request {
    struct holder holder;
    struct slice data; // replaces the job's when it is not empty
    bool has_lease;    // otherwise the lease lasts as long as it did
    int64_t lease_us;  // LEASE_US_MIN to LEASE_US_MAX; 0: as the job says, from now on
};
// Renews the lease; gives its new end. How long a lease lasts, from the pop or the last heartbeat
// on: as its taking said or a heartbeat since then, else as the job's options in effect say, else
// its queue's heartbeat, else that of the namespace.
MUST_USE enum status engine_heartbeat(struct engine *engine, int64_t now_us,
                                      const struct heartbeat_request *request, int64_t *expires_us,
                                      struct error *error);

// For a host that was away, before its first call after loading: leases that ran out meanwhile, and
// those whose grace did, are renewed as of `now_us`, so that the time without a host costs no
// worker its lease. No worker listens to a queue until it pops again. Only with the server clock. A
// run that has lasted as long as it may is over.
MUST_USE enum status engine_resume(struct engine *engine, int64_t now_us, struct error *error);

// The holder has begun, in a process of that id; 0: it does not say in which.
MUST_USE enum status engine_start(struct engine *engine, int64_t now_us,
                                  const struct holder *holder, int64_t pid, struct error *error);

// The job that the holder claims, if it holds it. Changes nothing.
MUST_USE enum status engine_held(struct engine *engine, int64_t now_us, const struct holder *holder,
                                 const struct job **out, struct error *error);

// The holder gives the job back: its lease ends now, the job is first in line, and no retry is
// counted.
MUST_USE enum status engine_return(struct engine *engine, int64_t now_us,
                                   const struct holder *holder, struct error *error);

struct complete_request {
    struct holder holder;
    struct slice data;   // replaces the job's when it is not empty
    struct slice result; // kept with the job when it is not empty
    struct slice next;   // the queue to put it into; empty: it is done
    // Only with a next queue.
    bool has_delay;
    int64_t delay_us;
    bool has_depends;
    struct slices depends;
    enum missing_dependencies missing;
};
MUST_USE enum status engine_complete(struct engine *engine, int64_t now_us,
                                     const struct complete_request *request, enum job_state *state,
                                     struct error *error);

struct fail_request {
    struct holder holder;
    bool forced; // the job fails in whatever state it is: `holder.worker` says by whom, who need
                 // not hold it. STATE when it has failed already
    struct slice group, message;
    struct slice data; // replaces the job's when it is not empty
};
MUST_USE enum status engine_fail(struct engine *engine, int64_t now_us,
                                 const struct fail_request *request, struct error *error);

struct retry_request {
    struct holder holder;
    struct slice to; // the queue to retry in; empty: where it is
    bool has_delay;  // otherwise as the job's backoff says; none: at once
    int64_t delay_us;
    uint64_t seed;  // for the jitter of the backoff
    bool uncounted; // it was not the job's fault: as many retries remain as before
    bool has_failure;
    struct slice group, message;
};
// Gives how many retries remain; below zero the job is failed.
MUST_USE enum status engine_retry(struct engine *engine, int64_t now_us,
                                  const struct retry_request *request, int32_t *remaining,
                                  struct error *error);

// A running job says how far it is, in parts of a million; the message may be empty.
MUST_USE enum status engine_progress(struct engine *engine, int64_t now_us,
                                     const struct holder *holder, int32_t progress_ppm,
                                     struct slice message, struct error *error);
// Keeps a value that the job's next run receives; empty: none. Completing and put forget it.
MUST_USE enum status engine_checkpoint(struct engine *engine, int64_t now_us,
                                       const struct holder *holder, struct slice value,
                                       struct error *error);
// Appends a line to the job's log, of which the newest `max-job-log` lines are kept. Put forgets
// it.
MUST_USE enum status engine_log_line(struct engine *engine, int64_t now_us,
                                     const struct holder *holder, struct slice line,
                                     struct error *error);

struct log_view {
    int64_t when_us;
    struct slice line;
};

// The lines of a job's log, from the oldest. `*position` is 0 at first.
bool job_log_next(const struct job *job, size_t *position, struct log_view *view);

// Whether a job has finished: is complete or failed. If not, `waiter`, a number of the host's,
// waits for it: when it finishes or is gone, EVENT_FINISHED goes to it, once. A waiter that waits
// for something already is INVALID. Waiters are not saved.
MUST_USE enum status engine_wait(struct engine *engine, int64_t now_us, struct slice jid,
                                 uint64_t id, bool *finished, struct error *error);
// The result of a job that is gone, if it was to be kept for a time that is not over.
bool engine_result_kept(const struct engine *engine, int64_t now_us, struct slice jid,
                        struct slice *result);
// The waiter waits no more. No error when it did not.
void engine_wait_end(struct engine *engine, uint64_t id);

// Moves the `count` jobs that failed first in a group into a queue, at most UNFAIL_MAX in one call.
// Gives how many. One whose lock
// another job holds by now stays failed; EXISTS when no other is found. At most UNFAIL_KEPT_MAX of
// those are passed over.
enum {
    UNFAIL_MAX = 10000,
    UNFAIL_KEPT_MAX = 1000,
};
MUST_USE enum status engine_unfail(struct engine *engine, int64_t now_us, struct slice queue,
                                   struct slice group, size_t count, size_t *moved,
                                   struct error *error);

// Moves one failed job into its queue again. STATE when it has not failed, EXISTS when another job
// holds its lock meanwhile.
MUST_USE enum status engine_unfail_job(struct engine *engine, int64_t now_us, struct slice jid,
                                       struct error *error);

// Jobs are to run now: a failed one goes back into its queue, as by unfail, a scheduled one is due.
// All must be failed or scheduled, and the lock of a failed one must be free (STATE, EXISTS), or
// none is touched. Gives how many were kicked: of two that want the same lock only the first is,
// and when memory ends some may have been.
MUST_USE enum status engine_kick(struct engine *engine, int64_t now_us, struct slices jids,
                                 size_t *kicked, struct error *error);

// ---------------------------------------------------------------------------------------------
// Failures, tags, tracked jobs

struct count_view {
    struct slice name;
    size_t count;
};

// The groups of failures in the order in which they came to be: `index` from 0 until it returns
// false.
bool engine_failure_group(const struct engine *engine, size_t index, struct count_view *view);

// The groups in the same order: `index` counts from the first one behind the place `after`, or from
// the first of all with NULL.
struct failure_group_view {
    struct slice name;
    size_t count;
    int64_t first_us, last_us; // when the first and the last of its jobs failed
    const struct job *newest;  // that one
    struct index_key place;    // for `after`
};
bool engine_failure_group_after(const struct engine *engine, const struct index_key *after,
                                size_t index, struct failure_group_view *view);
size_t engine_failure_group_count(const struct engine *engine);

// A group's jobs, the newest failure first.
void engine_failed(const struct engine *engine, struct slice name, struct page *page);

MUST_USE enum status engine_tag_add(struct engine *engine, int64_t now_us, struct slice jid,
                                    struct slices tags, const struct job **out,
                                    struct error *error);
MUST_USE enum status engine_tag_remove(struct engine *engine, int64_t now_us, struct slice jid,
                                       struct slices tags, const struct job **out,
                                       struct error *error);
// The jobs with a tag, in the order in which they got it.
void engine_tagged(const struct engine *engine, struct slice name, struct page *page);
// The tags with two jobs or more, most used first (when memory was short, by how much they were
// used before); `index` from 0 until it returns false.
bool engine_tag_top(const struct engine *engine, size_t index, struct count_view *view);
size_t engine_tag_top_count(const struct engine *engine);

// Gives whether it was not tracked before, or was.
MUST_USE enum status engine_track(struct engine *engine, int64_t now_us, struct slice jid,
                                  bool *changed, struct error *error);
MUST_USE enum status engine_untrack(struct engine *engine, int64_t now_us, struct slice jid,
                                    bool *changed, struct error *error);
// In the order in which they were tracked; `*job` is NULL when it is gone by now.
bool engine_tracked(const struct engine *engine, size_t index, struct slice *jid,
                    const struct job **job);
size_t engine_tracked_count(const struct engine *engine);

// ---------------------------------------------------------------------------------------------
// Queues

// How many jobs they have, and lists of them: queues.h.

enum list {
    LIST_WAITING,
    LIST_RUNNING,
    LIST_STALLED, // whose lease ran out
    LIST_SCHEDULED,
    LIST_DEPENDS,
    LIST_COMPLETE, // the newest first
    LIST_FAILED,   // the newest failure first
};

// Whether there is such a list of all queues: an empty name stands for them. That of LIST_RUNNING
// has every leased job, stalled ones too, the one popped first first.
bool list_has_all(enum list list);

MUST_USE enum status engine_jobs(struct engine *engine, int64_t now_us, enum list list,
                                 struct slice queue, struct page *page, struct error *error);

MUST_USE enum status engine_pause(struct engine *engine, int64_t now_us, struct slices queues,
                                  struct error *error);
MUST_USE enum status engine_unpause(struct engine *engine, int64_t now_us, struct slices queues,
                                    struct error *error);
// Takes queues off the list of queues; their jobs stay.
MUST_USE enum status engine_forget(struct engine *engine, int64_t now_us, struct slices queues,
                                   struct error *error);

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
    int64_t lost_leases; // that ran out; qless calls them retries
    int64_t retries;     // jobs that were given back to be tried again
    int64_t failed;      // that failed then, and are failed still
    int64_t failures;
    struct stats_series wait, run;
};

// Of the day that `date_us` lies in.
void engine_stats(const struct engine *engine, struct slice name, int64_t date_us,
                  struct stats_view *view);

// ---------------------------------------------------------------------------------------------
// Recurring jobs

// What becomes of runs that are looked at later than `missed-after` seconds.
enum recur_missed {
    RECUR_MISSED_ALL,  // all are made up for; with a backlog only the last ones
    RECUR_MISSED_ONE,  // of all that are due only the last one is made
    RECUR_MISSED_SKIP, // they are not made
};

// What becomes of a run while the job that was made last has not finished.
enum recur_overlap {
    RECUR_OVERLAP_ALLOW,
    RECUR_OVERLAP_SKIP,
};

struct recur_request {
    struct slice queue, jid, klass, data;
    int64_t interval_us; // above 0; 0 with a cron expression
    int64_t offset_us;   // until the first; with a cron expression: from when on
    struct slice cron;   // an expression (cron.h), or empty
    struct slice zone;   // the time zone of the expression (zone.h); empty: UTC
    enum recur_missed missed;
    enum recur_overlap overlap;
    int32_t priority;
    int32_t retries;
    int64_t backlog; // how many missed runs are made up for; 0: all
    struct slices tags;
    struct slice domain;               // of the jobs it makes
    const struct job_options *options; // of the jobs it makes, or NULL
    bool restart;                      // one that exists starts anew, `offset_us` from now
    bool paused; // it makes no jobs until it is resumed; one that exists and is paused stays so
};
// Makes a recurring job, or changes the one with that jid. One that is as requested already is left
// as it is, next run included. One that changes keeps its phase and the number of the job that it
// made last; only another cron expression or zone, or another kind of schedule, starts anew.
MUST_USE enum status engine_recur(struct engine *engine, int64_t now_us,
                                  const struct recur_request *request, struct error *error);
// No error when there is none.
MUST_USE enum status engine_unrecur(struct engine *engine, int64_t now_us, struct slice jid,
                                    struct error *error);

struct recurring_view {
    struct slice jid, klass, data, queue;
    int64_t interval_us; // 0 with a cron expression
    struct slice cron, zone, domain;
    enum recur_missed missed;
    enum recur_overlap overlap;
    int64_t next_us; // when the next job is due; while it is paused, when it would be
    int64_t last_us; // when it made its last job; 0: never, or not known
    bool paused;
    int32_t priority;
    int32_t retries;
    uint64_t count; // the number of the job that it made last; 0: none
    int64_t backlog;
    size_t tag_count;
};

// NULL when there is none.
const struct recurring *engine_recurring_get(const struct engine *engine, struct slice jid);
void recurring_view(const struct engine *engine, const struct recurring *recurring,
                    struct recurring_view *view);
struct slice recurring_tag(const struct engine *engine, const struct recurring *recurring,
                           size_t index);

// The options of the jobs it makes, all UNSET when none were given.
void recurring_options(const struct engine *engine, const struct recurring *recurring,
                       struct job_options *out);

// A paused one keeps its schedule and makes no jobs: the runs of that time are left out.
MUST_USE enum status engine_recur_pause(struct engine *engine, int64_t now_us, struct slice jid,
                                        bool paused, struct error *error);
// Makes a job now, besides those of the schedule, also while it is paused and while an earlier job
// has not finished. Gives the job.
MUST_USE enum status engine_recur_run(struct engine *engine, int64_t now_us, struct slice jid,
                                      const struct job **out, struct error *error);

struct recur_update {
    struct slice jid;
    // With one of these it is registered again, with all that it had otherwise (engine_recur).
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
// The next `count` runs of a recurring job, as things stand; gives how many there are.
MUST_USE enum status engine_recurring_runs(const struct engine *engine, struct slice jid,
                                           size_t count, int64_t *out, size_t *found,
                                           struct error *error);
// The next `count` runs after `after_us` of a cron expression.
MUST_USE enum status engine_cron_runs(const struct engine *engine, struct slice cron,
                                      struct slice zone, int64_t after_us, size_t count,
                                      int64_t *out, size_t *found, struct error *error);
// The recurring jobs of all queues, by the number that each got when it was made or last changed:
// those behind the number `after`, or with 0 all. Gives how many there are.
size_t engine_recurring_all(const struct engine *engine, uint64_t after, size_t offset,
                            size_t count, const struct recurring **out, size_t *found, bool *more);
uint64_t recurring_number(const struct recurring *recurring);
// The recurring jobs of a queue by when they are next due; gives how many there are in all.
size_t engine_recurring(const struct engine *engine, struct slice name, size_t offset, size_t count,
                        const struct recurring **out, size_t *found);

// ---------------------------------------------------------------------------------------------
// Configuration

// The value that was set, else the default, else an empty slice.
struct slice engine_config_get(const struct engine *engine, struct slice option);
// Whether it was set, be it to the default.
bool engine_config_is_set(const struct engine *engine, struct slice option);
// Every option that has a value, by name; `index` from 0 until it returns false.
bool engine_config_at(const struct engine *engine, size_t index, struct slice *option,
                      struct slice *value);
// Whether it is an option that has a meaning, or one of the caller's own (`x-...`).
// engine_config_set takes any name, as qless does; native commands check it first.
MUST_USE enum status engine_config_check_name(struct slice option, struct error *error);
// Whether a value may refuse what its default lets in: of a copy of a namespace it is set last,
// since what is there already may be more than it allows.
bool engine_config_narrows(struct slice option, struct slice value);
MUST_USE enum status engine_config_set(struct engine *engine, int64_t now_us, struct slice option,
                                       struct slice value, struct error *error);
MUST_USE enum status engine_config_unset(struct engine *engine, int64_t now_us, struct slice option,
                                         struct error *error);

#endif
