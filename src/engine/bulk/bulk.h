// SPDX-License-Identifier: MIT
// One act on all jobs that a filter matches, done in slices: the first 1,000 jobs looked at in the
// call itself, then 1,000 with each engine_tick, which asks to be called at once until it is done.
// After that one operation goes on at a time. A cancel begins when no other cancel is under way.
#ifndef SLUICE_ENGINE_BULK_BULK_H
#define SLUICE_ENGINE_BULK_BULK_H

#include "base/index.h"
#include "engine/bulk/id_set.h"
#include "engine/engine.h"

enum {
    BULK_JIDS_MAX = 10000,
    BULK_SETS_MAX = 8,             // dry runs whose sets are kept
    BULK_SET_BYTES_MAX = 16 << 20, // of one of them
};

// What is empty, 0, or has no `has_`, matches every job.
struct job_filter {
    struct slice queue, klass, tag, group; // group: failed in it
    struct slice worker;                   // that holds the job
    struct slice domain;
    struct slices jids;
    unsigned states; // 1 << enum job_state, one or more
    bool has_older, has_newer;
    int64_t older_us; // made at least so long before the operation began
    int64_t newer_us; // made at most so long before
};

enum bulk_act {
    BULK_CANCEL, // but complete jobs, and jobs that others depend on which it does not cancel
    BULK_RETRY,  // failed jobs go back into their queue, as by unfail; scheduled ones are due now
    BULK_MOVE,   // jobs that are waiting, stalled, scheduled, depending or failed go to `to`; of
                 // those that are there already only failed ones are looked at
    BULK_TAG,
    BULK_UNTAG,
    BULK_DELETE,   // complete and failed jobs that no job depends on
    BULK_PRIORITY, // jobs that have another priority, in any state
    BULK_TIMEOUT,  // running jobs: their leases are taken away
    BULK_ACTS,
};

struct bulk_request {
    struct job_filter filter;
    enum bulk_act act;
    struct slice to;    // BULK_MOVE: the queue
    struct slices tags; // BULK_TAG, BULK_UNTAG
    int32_t priority;   // BULK_PRIORITY
    bool dry_run;       // only count what would be changed
    struct slice user;  // who asks, for engine_bulk_get; or empty
};

// Gives the operation's number, under which its progress is read.
MUST_USE enum status engine_bulk(struct engine *engine, int64_t now_us,
                                 const struct bulk_request *request, uint64_t *id,
                                 struct error *error);

// The same with what a dry run would have changed: its act, its filter and so on, for just those of
// the jobs that still match. Jobs that came since, or match only since, are left out. STATE when
// the dry run is not done, and when its set is not kept (any more): each is for one use; the sets
// of the last BULK_SETS_MAX dry runs are kept, as far as they fit BULK_SET_BYTES_MAX, and none
// across a restart. The operation saves the set with it, and goes on after a restart.
MUST_USE enum status engine_bulk_as(struct engine *engine, int64_t now_us, uint64_t dry_run,
                                    enum bulk_act act, struct slice user, uint64_t *id,
                                    struct error *error);

struct bulk_view {
    uint64_t id;
    enum bulk_act act;
    uint64_t as;  // the dry run whose jobs it is about; 0: none
    bool has_set; // of a dry run: engine_bulk_as can be called with it, once it is done
    const struct bulk_request *request; // what was asked for
    bool dry_run;
    bool done;    // nothing more is to come
    bool stopped; // by engine_bulk_stop, before all jobs were looked at
    int64_t began_us;
    uint64_t looked_at, matched, changed; // matched: by the filter; changed, or would be
};

// The operations under way and the last 100 that are done, the oldest first: `index` from 0 until
// it returns false.
bool engine_bulk_at(const struct engine *engine, size_t index, struct bulk_view *view);
// False when there is none with that number.
bool engine_bulk_get(const struct engine *engine, uint64_t id, struct bulk_view *view);
// Ends an operation where it is. NOT_FOUND when none with that number is under way.
MUST_USE enum status engine_bulk_stop(struct engine *engine, int64_t now_us, uint64_t id,
                                      struct error *error);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

// What a filter has, in its record.
enum {
    FILTER_HAS_STATE = 1,
    FILTER_HAS_OLDER = 2,
    FILTER_HAS_NEWER = 4,
    FILTER_HAS_MORE = 8, // fields that the first version had not
    FILTER_HAS_ALL = FILTER_HAS_STATE | FILTER_HAS_OLDER | FILTER_HAS_NEWER | FILTER_HAS_MORE,
};

// Where an operation is: the next key to be looked at in an index of a container.
enum bulk_stage {
    BULK_TAGGED,
    BULK_QUEUES,
    BULK_GROUPS,
    BULK_COMPLETED,
    BULK_END,
    BULK_JIDS, // those that were named; behind the others, whose numbers are in records
    BULK_STAGES,
};

enum {
    BULK_PARTS = 6, // indexes of a queue
};

struct bulk_cursor {
    enum bulk_stage stage;
    uint64_t container; // the number of a queue, or the place of a group in the order
    unsigned part;      // which index of a queue
    struct index_key key;
};

// What the host has not been told of the set of an operation. Sets of dry runs are not saved.
enum bulk_set_change {
    BULK_SET_SAME,
    BULK_SET_NEW,  // it has no records yet
    BULK_SET_OVER, // its records are to be deleted; then it is freed
};

struct bulk {
    struct index_node node; // by its number
    struct bulk_request request;
    struct bulk_view view;
    uint64_t job_last;  // jobs made later are left out
    int64_t aged_us;    // ages count up to then
    struct id_set *set; // of a dry run what it would change; of AS the jobs it is about; or NULL
    enum bulk_set_change set_change;
    struct bulk_cursor cursor;
    struct bulk *dirty_next;
    bool dirty, gone;
    size_t size;          // of the whole block
    struct slice texts[]; // the tags, then the jids in order, each once
    // Then the bytes that the request's slices are made of.
};

static inline struct bulk *bulk_of_node(struct index_node *node)
{
    return (struct bulk *)(void *)node; // it is the first member
}

// Where jobs that a filter can match are first looked for.
enum bulk_stage bulk_first_stage(const struct job_filter *filter);

// Whether the filter, and what else the act asks for, matches a job.
bool bulk_matches(const struct engine *engine, const struct bulk *bulk, const struct job *job);

// Looks at one more job: it, if the filter matches it, else NULL. At the end the stage is BULK_END.
struct job *bulk_next(const struct engine *engine, struct bulk *bulk);

// BULK_CANCEL of a job that matches; says whether it was, or would be, canceled. The jobs that only
// it was left to depend on are then in the list of freed jobs, which the operation takes up before
// it walks on.
MUST_USE enum status bulk_cancel_one(struct engine *engine, const struct bulk *bulk,
                                     struct job *job, int64_t now_us, bool *did);
// Whether the operation has counted the job before; and that it has.
bool bulk_has_counted(const struct bulk *bulk, const struct job *job);
void bulk_count(const struct bulk *bulk, const struct job *job);
// Takes a job out of the list, if it is in it; or all of them.
void bulk_freed_forget(struct engine *engine, struct job *job);
void bulk_freed_clear(struct engine *engine);
// How far an operation is, as it is saved. The list of freed jobs is not saved: a cancel that is
// loaded walks once more over what is left.
void bulk_progress_to_save(const struct bulk *bulk, struct bulk_view *view,
                           struct bulk_cursor *cursor);

// What a dry run would change: makes room for a job, then notes it. A set that grows too large is
// dropped.
MUST_USE enum status bulk_set_reserve(struct engine *engine, struct bulk *bulk,
                                      const struct job *job);
void bulk_set_add(struct bulk *bulk, const struct job *job);
void bulk_set_free(struct engine *engine, struct bulk *bulk);
// An operation takes the set of the dry run that it executes, or is over and needs it no more; then
// the host was told.
void bulk_set_take(struct bulk *bulk, struct bulk *dry_run);
void bulk_set_end(struct engine *engine, struct bulk *bulk);
void bulk_set_told(struct engine *engine, struct bulk *bulk);
// Gives an operation an empty set.
MUST_USE enum status bulk_set_make(struct engine *engine, struct bulk *bulk);
// A dry run begins: it keeps a set, and the oldest that does so no more. Without memory it has none.
void bulk_set_begin(struct engine *engine, struct bulk *bulk);

// Does a slice of what is under way. Says whether there is more.
bool bulk_run(struct engine *engine, int64_t now_us);

// Makes an operation of a request that was checked; in no index yet. NULL without memory.
struct bulk *bulk_new(struct engine *engine, const struct bulk_request *request);
// Whether it may be one; how many tags are allowed, which may change, is looked at by engine_bulk.
MUST_USE enum status bulk_check(const struct bulk_request *request, struct error *error);
// Puts it among the others under its number, for which room must have been made.
void bulk_add(struct engine *engine, struct bulk *bulk, uint64_t id);
void bulk_free(struct engine *engine, struct bulk *bulk);
void bulk_free_shell(struct engine *engine, struct bulk *bulk);

#endif
