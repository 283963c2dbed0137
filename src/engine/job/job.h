// SPDX-License-Identifier: MIT
// A job and its states.
//
//                  put                     put with a delay            put with dependencies
//                   |                             |                              |
//                   v          due_move           v         depends_release      v
//      +-------> WAITING <------------------ SCHEDULED <-------------------- DEPENDS
//      |            | ^                                                          |
//      |        pop | | retry, unfail     <------------- depends_release --------+
//      |            v |
//      |         RUNNING --lease_run_out--> STALLED --pop--> RUNNING
//      |          |    |
//      |          |    +--fail; retry or lease_run_out without retries left--> FAILED
//      |          +--complete--> COMPLETE
//      +---------------------- put (from any state)
//
// Invariant: a job is in exactly one place through its `node`: its queue's line (WAITING, STALLED),
// scheduled, leased or grace (RUNNING), depends; its failure group's jobs (FAILED); the engine's
// completed jobs (COMPLETE). A finished job is, under the same key, also in the index of its
// queue's complete or failed jobs, and a failed one in the engine's. It has a lease exactly when it
// is RUNNING. It keeps the queue that it finished in; only a COMPLETE one of an old store has none.
#ifndef SLUICE_ENGINE_JOB_JOB_H
#define SLUICE_ENGINE_JOB_JOB_H

#include "engine/engine.h"

#include "base/index.h"

struct edge;
struct failure;
struct promise;
struct trail;
struct unique;
struct waiter;
struct group;
struct lease;
struct queue;
struct tagging;

// What few jobs have.
struct job_rare {
    struct index_node timed; // among the deadlines of its queue
    struct job *job;
    int64_t deadline_us;    // 0: none
    struct promise *result; // for how long it is kept; NULL: as long as the job
    struct unique *unique;
    struct waiter *waiters;
    struct trail *log;
    char *checkpoint;
    char *progress; // the message
    uint32_t checkpoint_size;
    uint32_t progress_size;
    int32_t progress_ppm; // below 0: none
};

// What most jobs do not have.
struct job_extra {
    struct job_rare *rare;
    struct tagging *tags; // in the order of tagging
    struct edge *dependencies, *dependencies_last;
    struct edge *dependents, *dependents_last;
    struct failure *failure;
    struct group *group; // while it is failed
    char *data;          // replaces the data behind the jid
    char *result;
    uint32_t data_size;
    uint32_t result_size;
    uint32_t tag_count;
    uint32_t dependency_count;
    uint32_t dependent_count;
    // Dependencies since the last put: completed; failed and passed over; failed at present.
    uint32_t members_done;
    uint32_t members_passed;
    uint32_t members_failed;
    uint32_t spawned_from; // a name, or INTERN_NONE
    int64_t due_us;        // in the state depends: when it may run once released, 0 for at once
    // In the state failed: the list of jobs whose dependents are still to be handled (cascade.c).
    struct job *cascade_next;
    bool cascades;
    bool has_data;
    // For a bulk cancel (bulk/bulk_cancel.c): the list of jobs without dependents left; the
    // operation that the other fields belong to; how many dependents it has canceled, or would
    // cancel; whether it has counted the job.
    struct job *freed_next, *freed_previous;
    uint64_t bulk;
    uint32_t bulk_canceled;
    bool bulk_counted;
    bool freed;
    // For the search for dependency cycles.
    struct job *visit_next;
    uint64_t visit;
};

struct job {
    struct index_node node;
    uint64_t id;
    int64_t time_us; // of the last put, pop or completion; wait and run times are measured from it
    int64_t created_us; // of the first entry of the history
    struct queue *queue;
    // The lease of a RUNNING job stores the time of the last change; other jobs store it here.
    union {
        struct lease *held; // see job_lease; NULL after lease_end until the state changes
        int64_t updated_us;
    };
    struct job_extra *extra;
    struct trail *history; // the entries after the first, or NULL
    struct job *dirty_next;
    uint32_t data_size; // of the data behind the jid, which its extra may replace
    uint32_t klass;     // names
    uint32_t created_queue;
    uint32_t domain;  // a name, or INTERN_NONE
    uint32_t options; // the bytes of a struct job_options among the names, or INTERN_NONE
    uint16_t crashes; // it and the next stay at their maximum
    uint16_t attempts;
    int32_t priority;
    int32_t retries;
    int32_t remaining;
    uint8_t state;
    uint8_t dirty; // of enum job_dirty
    uint8_t jid_size;
    bool tracked;
    char jid[];
};

enum {
    DATA_SIZE_MAX = 1 << 30,
};

enum job_dirty {
    JOB_DIRTY_LISTED = 1, // in the engine's list of changed jobs
    JOB_DIRTY_BODY = 2,
    JOB_DIRTY_HEAD = 4,
    JOB_DIRTY_GONE =
        8, // the job is deleted; an empty shell is kept until the host takes the changes
};

static inline struct job *job_of_node(struct index_node *node)
{
    return (struct job *)(void *)node; // it is the first member
}

// NULL for a job that is not running.
static inline struct lease *job_lease(const struct job *job)
{
    return job->state == JOB_RUNNING ? job->held : NULL;
}

static inline struct slice job_data(const struct job *job)
{
    const struct job_extra *extra = job->extra;
    return extra && extra->has_data ? slice_make(extra->data, extra->data_size)
                                    : slice_make(job->jid + job->jid_size, job->data_size);
}

// Whether the job counts against the quotas of its queue: a complete job does not.
static inline bool job_counts(const struct job *job)
{
    return job->queue && job->state != JOB_COMPLETE;
}

static inline void count_up(uint16_t *count)
{
    if (*count < UINT16_MAX) {
        ++*count;
    }
}

static inline struct job *job_of_timed(struct index_node *node)
{
    return ((struct job_rare *)(void *)node)->job; // it is the first member
}

// Creates a job with its data, in no index and no map; NULL without memory. Jid and data are in one
// block with the job, because the data of most jobs never changes.
struct job *job_new(struct engine *engine, struct slice jid, struct slice data);

// Frees a job that is in no index and no map, with everything that it owns.
void job_free(struct engine *engine, struct job *job);

void job_free_shell(struct engine *engine, struct job *job);

// Allocates the job's extra if it has none.
MUST_USE enum status job_reserve_extra(struct engine *engine, struct job *job);
// Allocates the job's extra and its rare part if it has none.
MUST_USE enum status job_reserve_rare(struct engine *engine, struct job *job);

static inline struct job_rare *job_rare(const struct job *job)
{
    return job->extra ? job->extra->rare : NULL;
}

// A copy of bytes; NULL with STATUS_OK for none.
MUST_USE enum status bytes_copy(struct engine *engine, struct slice bytes, char **out);

// job_copy_data makes a copy of new data; job_set_data then gives the copy to the job.
MUST_USE enum status job_copy_data(struct engine *engine, struct job *job, struct slice data,
                                   char **out);
void job_set_data(struct engine *engine, struct job *job, char *copy, size_t size);

// Called after every change of the job that a client can see: records the time of the change, and
// which of the job's records are to be written.
void job_changed(struct engine *engine, struct job *job, unsigned dirty);

// Deletes a job that is in no index. If changes are kept, a shell stays until the host takes them.
void job_remove(struct engine *engine, struct job *job);

// NOT_FOUND when there is no such job.
MUST_USE enum status job_find(const struct engine *engine, struct slice jid, struct job **out,
                              struct error *error);
// Starts a call about a job: engine_begin, then job_find.
MUST_USE enum status job_begin(struct engine *engine, int64_t *now_us, struct slice jid,
                               struct job **out, struct error *error);

// Resets retries, crashes and attempts, for a job that is put again or unfailed. Removes a deadline
// that has passed.
void job_start_anew(struct job *job, int64_t now_us);

// Frees the failure and the result of the job.
void job_forget_outcome(struct engine *engine, struct job *job);
void job_drop_result(struct engine *engine, struct job *job);
void job_forget_checkpoint(struct engine *engine, struct job *job);
void job_forget_progress(struct engine *engine, struct job *job);
// Frees everything that the job's runs have reported.
void job_forget_run(struct engine *engine, struct job *job);

// Removes a finished job that no other depends on.
MUST_USE enum status job_delete(struct engine *engine, struct job *job);
// Without an effect when there is no memory.
MUST_USE enum status job_set_priority(struct engine *engine, struct job *job, int32_t priority);

MUST_USE enum status data_check(struct slice data, struct error *error);

#endif
