// SPDX-License-Identifier: MIT
// A job, and where it stands.
//
//                  put                     put with a delay            put with dependencies
//                   |                             |                              |
//                   v          due_move           v         depends_release      v
//      +-------> WAITING <------------------ SCHEDULED <-------------------- DEPENDS
//      |            | ^                                                          |
//      |   pop_take | | retry, unfail     <------------- depends_release --------+
//      |            v |
//      |         RUNNING --lease_lose--> STALLED --pop_take--> RUNNING
//      |          |    |
//      |          |    +--fail, retry or lease_lose without retries left--> FAILED
//      |          +--complete--> COMPLETE
//      +---------------------- put (from any state)
//
// Invariant: a job is in exactly one place through its `node`: its queue's line (WAITING, STALLED),
// scheduled, leased or grace (RUNNING), depends; its failure group's jobs (FAILED); the engine's
// completed jobs (COMPLETE). A finished job is, under the same key, also in the index of its
// queue's complete or failed jobs, and a failed one in the engine's. It has a lease exactly when it
// is RUNNING. It keeps the queue that it finished in; only a COMPLETE one of an old store has none.
#ifndef SLUICE_ENGINE_JOB_H
#define SLUICE_ENGINE_JOB_H

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
    struct tagging *tags; // in the order in which they were given
    struct edge *dependencies, *dependencies_last;
    struct edge *dependents, *dependents_last;
    struct failure *failure;
    struct group *group; // while it is failed
    char *data;          // in place of what stands behind the jid
    char *result;
    uint32_t data_size;
    uint32_t result_size;
    uint32_t tag_count;
    uint32_t dependency_count;
    uint32_t dependent_count;
    // Of its dependencies since it was last put: complete; failed and passed over; failed now.
    uint32_t members_done;
    uint32_t members_passed;
    uint32_t members_failed;
    uint32_t spawned_from; // a name, or INTERN_NONE
    int64_t due_us;        // while it depends: when it is due afterwards, 0 for at once
    // While it is failed: in the list of those whose dependents are to be dealt with.
    struct job *cascade_next;
    bool cascades;
    bool has_data;
    // For a bulk cancel (bulk_cancel.c): the list of jobs that nothing depends on any more; the
    // operation that the rest is about; how many dependents it has canceled, or would have; whether
    // it has counted the job.
    struct job *freed_next, *freed_previous;
    uint64_t bulk;
    uint32_t bulk_canceled;
    bool bulk_counted;
    bool freed;
    // For the search for circles.
    struct job *visit_next;
    uint64_t visit;
};

struct job {
    struct index_node node;
    uint64_t id;
    int64_t time_us;    // of its last put, pop or completion; wait and run times count from here
    int64_t created_us; // when the first entry of its history was made
    struct queue *queue;
    // A job that is not RUNNING keeps there when it last changed; a lease keeps that for its job.
    union {
        struct lease *held; // see job_lease; NULL for the moment in which it loses it
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
    PRIORITY_MAX = 1000000000,
    DATA_SIZE_MAX = 1 << 30,
};

enum job_dirty {
    JOB_DIRTY_LISTED = 1, // in the engine's list of changed jobs
    JOB_DIRTY_BODY = 2,
    JOB_DIRTY_HEAD = 4,
    JOB_DIRTY_GONE = 8, // the job is no more; an empty shell waits for the host to be told
};

static inline struct job *job_of_node(struct index_node *node)
{
    return (struct job *)(void *)node; // it is the first member
}

// NULL: it has none.
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

// Whether the job counts for its queue's quotas: a complete one does not.
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

// A job that is in no index and no map yet, with its data; NULL without memory. Jid and data stand
// in one block with it: most jobs live and die with the data they were born with.
struct job *job_new(struct engine *engine, struct slice jid, struct slice data);

// Frees a job that is nowhere any more, with all that belongs to it alone.
void job_free(struct engine *engine, struct job *job);

void job_free_shell(struct engine *engine, struct job *job);

// The job's extra, made if need be.
MUST_USE enum status job_reserve_extra(struct engine *engine, struct job *job);
// And what few have, with it.
MUST_USE enum status job_reserve_rare(struct engine *engine, struct job *job);

static inline struct job_rare *job_rare(const struct job *job)
{
    return job->extra ? job->extra->rare : NULL;
}

// A copy of bytes; NULL with STATUS_OK for none.
MUST_USE enum status bytes_copy(struct engine *engine, struct slice bytes, char **out);

// Makes a copy of data that is to be a job's. Then it is, in place of what it had.
MUST_USE enum status job_copy_data(struct engine *engine, struct job *job, struct slice data,
                                   char **out);
void job_set_data(struct engine *engine, struct job *job, char *copy, size_t size);

// Says that the job's records have changed, now: whatever of it is seen from outside.
void job_changed(struct engine *engine, struct job *job, unsigned dirty);

// Removes a job that is in no index any more from everything else, and frees it, or all of it but
// a shell if the host is to be told.
void job_remove(struct engine *engine, struct job *job);

// Says NOT_FOUND when there is no such job.
MUST_USE enum status job_find(const struct engine *engine, struct slice jid, struct job **out,
                              struct error *error);

// What a job that is put again or unfailed has once more: its retries and a clean record. A
// deadline that has passed goes.
void job_start_anew(struct job *job, int64_t now_us);

void job_drop_result(struct engine *engine, struct job *job);
void job_forget_checkpoint(struct engine *engine, struct job *job);
void job_forget_progress(struct engine *engine, struct job *job);
// All of what its runs have reported.
void job_forget_run(struct engine *engine, struct job *job);

MUST_USE enum status priority_check(int32_t priority, struct error *error);
MUST_USE enum status data_check(struct slice data, struct error *error);

#endif
