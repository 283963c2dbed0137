// SPDX-License-Identifier: MIT
// What was promised for a time: a lock (UNIQUE_FOR_TIME) and a result (result_ttl_us). A promise is
// kept until its end, also when its job is canceled or deleted, by retention or by a call.
//
//      put, complete                    job_remove                       its end
//           |                               |                               |
//           v        the job is there       v        the job is gone        v
//       promise_give ----------------> promises_keep ----------------> promises_end
//
// While its job is there a promise is part of the job: the job's records say all of it. Then it has
// a record of its own, with the jid, how the job ended, and the result. Nothing else of the job is
// kept. It is in the map and in the order from the start, so that keeping it needs no memory.
#ifndef SLUICE_ENGINE_DEDUP_PROMISE_H
#define SLUICE_ENGINE_DEDUP_PROMISE_H

#include "engine/engine.h"
#include "engine/records/record.h"

// The first byte of a promise's key. Those of locks are those of enum unique_by.
enum promise_kind {
    PROMISE_KEY = UNIQUE_BY_KEY,
    PROMISE_CONTENTS = UNIQUE_BY_CONTENTS,
    PROMISE_RESULT = 3, // the key is the jid
};

struct promise {
    struct index_node node; // by when it ends, then by job and kind
    struct job *job;        // NULL when it is gone
    uint64_t job_id;
    char *value; // the result of a job that is gone; owned
    uint32_t value_size;
    uint16_t key_size;
    uint8_t jid_size;
    uint8_t state;              // of enum job_state, when the job went
    struct promise *dirty_next; // of one that has a record
    bool given;                 // it is in the map and in the order
    bool dirty, gone;           // gone: it waits as a shell until the host has been told
    char bytes[];               // the key, then the jid
};

struct slice promise_key(const void *promise);
struct slice promise_jid(const struct promise *promise);
int64_t promise_ends(const struct promise *promise);
enum promise_kind promise_kind(const struct promise *promise);
// What it counts for the limit of bytes.
size_t promise_size(const struct promise *promise);

static inline struct promise *promise_of_node(struct index_node *node)
{
    return (struct promise *)(void *)node; // it is the first member
}

// A promise about the job with that jid that is not given yet, with room for it; `key` begins with
// its kind. NULL without memory.
struct promise *promise_new(struct engine *engine, struct slice key, struct slice jid);

// The same about the result of a job.
struct promise *promise_new_result(struct engine *engine, struct slice jid);

// Whether a put may promise something, if it does: a lock for a time, or that the result is kept
// for one. TOO_LARGE when the promises there are take too many bytes. A completion is never refused
// for that. `job` is NULL for a new one.
MUST_USE enum status promise_check_put(const struct engine *engine,
                                       const struct put_request *request, const struct job *job,
                                       struct error *error);

// Gives it to a job, until `ends_us`. One with the same key whose job is gone ends.
void promise_give(struct engine *engine, struct promise *promise, struct job *job, int64_t ends_us);

// Ends it, given or not; NULL is none.
void promise_free(struct engine *engine, struct promise *promise);
void promise_free_shell(struct engine *engine, struct promise *promise);

// That with this key whose job is gone, if its end is still to come; NULL when there is none.
const struct promise *promise_kept(const struct engine *engine, struct slice key, int64_t now_us);

// Ends that with this key whose job is gone, if there is one.
void promise_drop(struct engine *engine, struct slice key);
// The same for the result of a job that was gone, and is put again.
void promise_drop_result(struct engine *engine, struct slice jid);

// The job goes: what was promised about it is kept.
void promises_keep(struct engine *engine, struct job *job);

// Ends up to `count` that are over by `now_us`. Results that are over are dropped with them.
void promises_end(struct engine *engine, int64_t now_us, size_t count);

// Under which its record is kept.
struct record_key promise_record_key(const struct promise *promise);

// A promise whose job is gone, as it was saved; for loading. CORRUPT when it cannot be one.
struct promise_record {
    uint64_t job_id;
    int64_t ends_us;
    uint8_t state;
    struct slice key, jid, value;
};
MUST_USE enum status promise_load(struct engine *engine, const struct promise_record *record);

#endif
