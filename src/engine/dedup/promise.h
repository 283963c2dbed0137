// SPDX-License-Identifier: MIT
// Promises are what is kept for a stated time: a lock (UNIQUE_FOR_TIME) and a result
// (result_ttl_us). A promise lasts until its end, even if its job is canceled or deleted before, by
// retention or by a call.
//
//      put, complete                    job_remove                       its end
//           |                               |                               |
//           v        the job is there       v        the job is gone        v
//       promise_give ----------------> promises_keep ----------------> promises_end
//
// While its job exists, a promise is part of the job and of the job's records. Afterwards it has a
// record of its own with the jid, how the job ended, and the result; nothing else of the job is kept.
// A promise is in the map and in the order from the start, so that promises_keep needs no memory.
#ifndef SLUICE_ENGINE_DEDUP_PROMISE_H
#define SLUICE_ENGINE_DEDUP_PROMISE_H

#include "engine/engine.h"
#include "engine/records/record.h"

// The first byte of a promise's key; for locks the values of enum unique_by.
enum promise_kind {
    PROMISE_KEY = UNIQUE_BY_KEY,
    PROMISE_CONTENTS = UNIQUE_BY_CONTENTS,
    PROMISE_RESULT = 3, // the key is the jid
};

struct promise {
    struct index_node node; // by its end, then by job and kind
    struct job *job;        // NULL after the job is removed
    uint64_t job_id;
    char *value; // the result of a job that is gone; owned
    uint32_t value_size;
    uint16_t key_size;
    uint8_t jid_size;
    uint8_t state;              // of enum job_state, when the job was removed
    struct promise *dirty_next; // if it has a record
    bool given;                 // whether it is in the map and in the order
    bool dirty, gone;           // gone: kept as a shell until the host has taken the change
    char bytes[];               // the key, then the jid
};

struct slice promise_key(const void *promise);
struct slice promise_jid(const struct promise *promise);
int64_t promise_ends(const struct promise *promise);
enum promise_kind promise_kind(const struct promise *promise);
// The bytes that it counts for max-promise-bytes.
size_t promise_size(const struct promise *promise);

static inline struct promise *promise_of_node(struct index_node *node)
{
    return (struct promise *)(void *)node; // it is the first member
}

// Allocates a promise about the job with that jid and reserves room for it; `key` begins with its
// kind. promise_give then adds it. NULL without memory.
struct promise *promise_new(struct engine *engine, struct slice key, struct slice jid);

// The same for the result of a job.
struct promise *promise_new_result(struct engine *engine, struct slice jid);

// Checks the limit of a put that makes a promise (a lock for a time, or a result that is kept for a
// time): TOO_LARGE if the existing promises take max-promise-bytes. Completions are never rejected
// for this. `job` is NULL for a new job.
MUST_USE enum status promise_check_put(const struct engine *engine,
                                       const struct put_request *request, const struct job *job,
                                       struct error *error);

// Gives a promise to a job, until `ends_us`. An existing one with the same key, whose job is gone,
// ends.
void promise_give(struct engine *engine, struct promise *promise, struct job *job, int64_t ends_us);

// Ends a promise, given or not; it may be NULL.
void promise_free(struct engine *engine, struct promise *promise);
void promise_free_shell(struct engine *engine, struct promise *promise);

// The promise with this key whose job is gone and which has not ended by `now_us`, or NULL.
const struct promise *promise_kept(const struct engine *engine, struct slice key, int64_t now_us);

// Ends the promise with this key whose job is gone, if there is one.
void promise_drop(struct engine *engine, struct slice key);
// The same for the result of a removed job whose jid is put again.
void promise_drop_result(struct engine *engine, struct slice jid);

// Called when a job is removed: keeps its promises.
void promises_keep(struct engine *engine, struct job *job);

// Ends up to `count` promises whose end is not after `now_us`, and drops their results.
void promises_end(struct engine *engine, int64_t now_us, size_t count);

// The key of its record.
struct record_key promise_record_key(const struct promise *promise);

// Loads a promise whose job is gone from its record; CORRUPT if the record is invalid.
struct promise_record {
    uint64_t job_id;
    int64_t ends_us;
    uint8_t state;
    struct slice key, jid, value;
};
MUST_USE enum status promise_load(struct engine *engine, const struct promise_record *record);

#endif
