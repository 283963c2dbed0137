// SPDX-License-Identifier: MIT
// Calls about the runs of jobs: handing them out, renewing leases, settling, waiting for jobs, and
// running failed jobs again. engine.h states what holds for all calls.
#ifndef SLUICE_ENGINE_LEASE_WORK_H
#define SLUICE_ENGINE_LEASE_WORK_H

#include "base/slice.h"
#include "base/status.h"
#include "engine/job/jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The length of a lease. A shorter one would end before its job is delivered.
#define LEASE_US_MIN INT64_C(1000)
#define LEASE_US_MAX (INT64_C(100) * 366 * 86400 * 1000000)

enum pop_order {
    POP_ORDERED,     // the first queue while it has jobs, then the second, and so on
    POP_ROUND_ROBIN, // one job from each queue in turn
    POP_BEST,        // of the next jobs of all queues the one with the lowest priority; of equal
                     // ones first a lease that was lost, then one that was ended, then the lowest
                     // number
};

// Whether the caller can take a job in addition to those that this pop has handed out.
enum pop_fit {
    POP_FITS,
    POP_FITS_LATER, // not in addition to those: the pop ends before this job
    POP_FITS_NEVER, // not even alone: the job stays in line, and the pop goes on behind it
};

enum {
    POP_UNFIT_MAX = 1000, // how many jobs that never fit a pop passes over for each one it takes
};

struct pop_request {
    struct slice worker;
    struct slices queues;
    enum pop_order order;
    size_t count;
    int64_t lease_us; // the length of each lease, see engine_heartbeat; 0: that of the job
    bool no_grace;    // client clock: an expired lease is lost at once
    // Called before each job is handed out, with the jobs handed out so far; NULL: all fit.
    enum pop_fit (*fits)(void *context, const struct job *job, const struct job *const *popped,
                         size_t count);
    void *fits_context;
};

// Hands out up to `count` jobs into `jobs`, each under a new lease: first those whose lease was
// lost, then by priority and age. A pop that runs out of memory hands out nothing, but the worker
// counts as seen, and the work that was due is done.
MUST_USE enum status engine_pop(struct engine *engine, int64_t now_us,
                                const struct pop_request *request, const struct job **jobs,
                                size_t *popped, struct error *error);

// The job that a pop of one job from the queue would hand out now, or NULL. An estimate: a pop may
// decide differently. Only with the server clock.
const struct job *engine_next(const struct engine *engine, struct slice name);

struct take_request {
    struct slice worker;
    struct slice jid;
    int64_t lease_us; // as in pop_request
};

// Hands out one given job, wherever it is in line, under the limits that also apply to pop. `*out`
// is NULL if those do not let the job run now, or it is not in line. With the client clock the call
// first processes the deadlines and lanes of the queue, as pop does, and of the scheduled jobs and
// expired leases only those of this job.
MUST_USE enum status engine_take(struct engine *engine, int64_t now_us,
                                 const struct take_request *request, const struct job **out,
                                 struct error *error);

// The jobs that come next in line, without handing them out. Limits, fairness and pauses are
// ignored.
MUST_USE enum status engine_peek(struct engine *engine, int64_t now_us, struct slice queue,
                                 size_t count, const struct job **jobs, size_t *found,
                                 struct error *error);

// The worker that claims to hold a lease. A token of 0 and an empty queue are not compared.
struct holder {
    struct slice jid;
    struct slice worker;
    struct slice queue;
    uint64_t token;
};

struct heartbeat_request {
    struct holder holder;
    struct slice data; // replaces the job's when it is not empty
    bool has_lease;    // false: the lease keeps its length
    int64_t lease_us;  // LEASE_US_MIN to LEASE_US_MAX; 0: from now on the length of the job
};
// Renews the lease and returns its new end. A lease lasts, from the pop or the last heartbeat, as
// long as the pop, the take or a heartbeat since then said; else as the job's options in effect say;
// else the heartbeat of its queue; else that of the namespace.
MUST_USE enum status engine_heartbeat(struct engine *engine, int64_t now_us,
                                      const struct heartbeat_request *request, int64_t *expires_us,
                                      struct error *error);

// For a host that starts, before its first call after loading. Leases and grace periods that ended
// while there was no host are renewed as of `now_us`, so that no worker loses its lease; a run that
// has reached its longest duration is over. No worker listens to a queue until it pops again. Only
// with the server clock.
MUST_USE enum status engine_resume(struct engine *engine, int64_t now_us, struct error *error);

// The holder reports that the run has begun, and the id of the process (0: not given).
MUST_USE enum status engine_start(struct engine *engine, int64_t now_us,
                                  const struct holder *holder, int64_t pid, struct error *error);

// The job, if the holder holds its lease. Changes nothing.
MUST_USE enum status engine_held(struct engine *engine, int64_t now_us, const struct holder *holder,
                                 const struct job **out, struct error *error);

// The holder gives the job back: the lease ends now, the job is first in line, and no retry is
// counted.
MUST_USE enum status engine_return(struct engine *engine, int64_t now_us,
                                   const struct holder *holder, struct error *error);

struct complete_request {
    struct holder holder;
    struct slice data;   // replaces the job's when it is not empty
    struct slice result; // kept with the job when it is not empty
    struct slice next;   // the queue that the job advances to; empty: it is complete for good
    // Only with a next queue:
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
    bool forced; // fails the job in any state but failed (STATE); `holder.worker` names the caller,
                 // which need not hold the lease
    struct slice group, message;
    struct slice data; // replaces the job's when it is not empty
};
MUST_USE enum status engine_fail(struct engine *engine, int64_t now_us,
                                 const struct fail_request *request, struct error *error);

struct retry_request {
    struct holder holder;
    struct slice to; // the queue to retry in; empty: the job's own
    bool has_delay;  // false: the delay is that of the job's backoff, without one 0
    int64_t delay_us;
    uint64_t seed;  // for the jitter of the backoff
    bool uncounted; // as many retries remain as before
    bool has_failure;
    struct slice group, message;
};
// Returns how many retries remain; below zero the job has failed.
MUST_USE enum status engine_retry(struct engine *engine, int64_t now_us,
                                  const struct retry_request *request, int32_t *remaining,
                                  struct error *error);

// Reports the progress of a running job in parts per million; the message may be empty.
MUST_USE enum status engine_progress(struct engine *engine, int64_t now_us,
                                     const struct holder *holder, int32_t progress_ppm,
                                     struct slice message, struct error *error);
// Keeps a value that the job's next run receives (empty: none) until the job is completed or put.
MUST_USE enum status engine_checkpoint(struct engine *engine, int64_t now_us,
                                       const struct holder *holder, struct slice value,
                                       struct error *error);
// Appends a line to the job's log. The newest `max-job-log` lines are kept, until the job is put.
MUST_USE enum status engine_log_line(struct engine *engine, int64_t now_us,
                                     const struct holder *holder, struct slice line,
                                     struct error *error);

struct log_view {
    int64_t when_us;
    struct slice line;
};

// The lines of a job's log, from the oldest, until the call returns false. `*position` is 0 before
// the first call.
bool job_log_next(const struct job *job, size_t *position, struct log_view *view);

// Whether a job has finished, which means that it is complete or failed. If it has not, the waiter
// `id`, a number that the host chooses, receives EVENT_FINISHED once, when the job finishes or is
// gone. INVALID if the waiter already waits. Waiters are not saved.
MUST_USE enum status engine_wait(struct engine *engine, int64_t now_us, struct slice jid,
                                 uint64_t id, bool *finished, struct error *error);
// The result of a job that is gone, if it has a `result_ttl` that is not over (dedup/promise.h).
bool engine_result_kept(const struct engine *engine, int64_t now_us, struct slice jid,
                        struct slice *result);
// Ends the wait of a waiter; does nothing if it did not wait.
void engine_wait_end(struct engine *engine, uint64_t id);

// Moves the `count` jobs that failed first in a group into a queue, at most UNFAIL_MAX in one call,
// and returns how many. It passes over jobs whose lock another job holds by now, at most
// UNFAIL_KEPT_MAX of them; EXISTS if it finds no other job.
enum {
    UNFAIL_MAX = 10000,
    UNFAIL_KEPT_MAX = 1000,
};
MUST_USE enum status engine_unfail(struct engine *engine, int64_t now_us, struct slice queue,
                                   struct slice group, size_t count, size_t *moved,
                                   struct error *error);

// Moves one failed job back into its queue. STATE if the job has not failed, EXISTS if another job
// holds its lock by now.
MUST_USE enum status engine_unfail_job(struct engine *engine, int64_t now_us, struct slice jid,
                                       struct error *error);

// Makes jobs ready to run now: a failed job moves back into its queue as by unfail, and a scheduled
// job becomes due. All must be failed or scheduled (STATE), and the lock of a failed one must be
// free (EXISTS), or none is changed. Returns how many were kicked: of two jobs that want the same
// lock only the first is. When memory runs out some may have been kicked.
MUST_USE enum status engine_kick(struct engine *engine, int64_t now_us, struct slices jids,
                                 size_t *kicked, struct error *error);

#endif
