// SPDX-License-Identifier: MIT
#include "engine/dedup/promise.h"

#include "engine/config/policy.h"
#include "engine/dedup/unique.h"
#include "engine/export/restore.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include "base/sha256.h"

#include <assert.h>
#include <string.h>

enum {
    KIND_BITS = 2,
};

struct slice promise_key(const void *promise)
{
    const struct promise *of = promise;
    return slice_make(of->bytes, of->key_size);
}

struct slice promise_jid(const struct promise *promise)
{
    return slice_make(promise->bytes + promise->key_size, promise->jid_size);
}

int64_t promise_ends(const struct promise *promise)
{
    return time_of_key(promise->node.key);
}

enum promise_kind promise_kind(const struct promise *promise)
{
    return (enum promise_kind)promise->bytes[0];
}

// A job has at most one promise of each kind, so the keys differ.
static struct index_key order_key(const struct promise *promise, int64_t ends_us)
{
    return time_key(ends_us, promise->job_id << KIND_BITS | (uint64_t)promise_kind(promise));
}

size_t promise_size(const struct promise *promise)
{
    return sizeof(*promise) + promise->key_size + promise->jid_size + promise->value_size;
}

static struct promise *make(struct engine *engine, struct slice key, struct slice jid)
{
    struct promise *promise = mem_alloc(engine->allocator, sizeof(*promise) + key.size + jid.size);
    if (promise) {
        *promise =
            (struct promise){ .key_size = (uint16_t)key.size, .jid_size = (uint8_t)jid.size };
        memcpy(promise->bytes, key.data, key.size);
        memcpy(promise->bytes + key.size, jid.data, jid.size);
    }
    return promise;
}

// The key of a job's result.
static struct slice result_key(struct slice jid, char key[1 + ENGINE_NAME_SIZE_MAX])
{
    size_t size = jid.size < ENGINE_NAME_SIZE_MAX ? jid.size : ENGINE_NAME_SIZE_MAX;
    key[0] = PROMISE_RESULT;
    memcpy(key + 1, jid.data, size);
    return slice_make(key, 1 + size);
}

struct promise *promise_new(struct engine *engine, struct slice key, struct slice jid)
{
    struct promise *promise = make(engine, key, jid);
    if (promise &&
        (map_reserve(&engine->promises, key) || index_reserve(&engine->promise_order, 1))) {
        promise_free_shell(engine, promise);
        return NULL;
    }
    return promise;
}

struct promise *promise_new_result(struct engine *engine, struct slice jid)
{
    char key[1 + ENGINE_NAME_SIZE_MAX];
    return promise_new(engine, result_key(jid, key), jid);
}

static void add(struct engine *engine, struct promise *promise, int64_t ends_us)
{
    assert(!promise->given && ends_us > 0);
    promise->node.key = order_key(promise, ends_us);
    promise->given = true;
    map_add(&engine->promises, promise);
    index_insert(&engine->promise_order, &promise->node);
    engine->promise_bytes += promise_size(promise);
}

void promise_give(struct engine *engine, struct promise *promise, struct job *job, int64_t ends_us)
{
    promise_drop(engine, promise_key(promise));
    promise->job = job;
    promise->job_id = job->id;
    add(engine, promise, ends_us);
}

void promise_free_shell(struct engine *engine, struct promise *promise)
{
    mem_free(engine->allocator, promise, sizeof(*promise) + promise->key_size + promise->jid_size);
}

void promise_free(struct engine *engine, struct promise *promise)
{
    if (!promise) {
        return;
    }
    if (promise->given) {
        assert(engine->promise_bytes >= promise_size(promise));
        engine->promise_bytes -= promise_size(promise);
        map_remove(&engine->promises, promise_key(promise));
        index_remove(&engine->promise_order, &promise->node);
    }
    mem_free(engine->allocator, promise->value, promise->value_size);
    promise->value = NULL;
    promise->value_size = 0;
    if (promise->given && !promise->job) {
        ENGINE_NOTE_GONE(engine, dirty_promises, promise, promise_free_shell);
    } else {
        promise_free_shell(engine, promise);
    }
}

static struct promise *find_kept(const struct engine *engine, struct slice key)
{
    struct promise *promise = engine->promises.count ? map_find(&engine->promises, key) : NULL;
    return promise && !promise->job ? promise : NULL;
}

const struct promise *promise_kept(const struct engine *engine, struct slice key, int64_t now_us)
{
    const struct promise *promise = find_kept(engine, key);
    return promise && promise_ends(promise) > now_us ? promise : NULL;
}

void promise_drop(struct engine *engine, struct slice key)
{
    promise_free(engine, find_kept(engine, key));
}

void promise_drop_result(struct engine *engine, struct slice jid)
{
    if (engine->promises.count) {
        char key[1 + ENGINE_NAME_SIZE_MAX];
        promise_drop(engine, result_key(jid, key));
    }
}

static bool put_promises(const struct engine *engine, const struct put_request *request,
                         const struct job *job)
{
    struct job_options options = { 0 }, other;
    if (request->unique.by != UNIQUE_NONE && request->unique.until == UNIQUE_FOR_TIME) {
        return true;
    }
    if (request->options) {
        options = *request->options;
    } else if (job) {
        job_options(engine, job, &options);
    }
    policy_find(engine, POLICY_KLASS, request->klass, &other);
    options_merge(&options, &other);
    policy_find(engine, POLICY_QUEUE, request->queue, &other);
    options_merge(&options, &other);
    return options.result_ttl_us > 0;
}

enum status promise_check_put(const struct engine *engine, const struct put_request *request,
                              const struct job *job, struct error *error)
{
    return quota_check_promises(engine, engine->promise_bytes, NULL) &&
                   put_promises(engine, request, job)
               ? quota_check_promises(engine, engine->promise_bytes, error)
               : STATUS_OK;
}

// From now on the promise has a record of its own.
static void keep(struct engine *engine, struct promise *promise)
{
    assert(promise->given && promise->job);
    promise->state = promise->job->state;
    promise->job = NULL;
    ENGINE_NOTE_CHANGE(engine, dirty_promises, promise);
}

void promises_keep(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job_rare(job);
    if (!rare) {
        return;
    }
    if (rare->unique && rare->unique->promise) {
        keep(engine, unique_take_promise(rare->unique));
    }
    struct promise *result = rare->result;
    if (result) {
        rare->result = NULL;
        result->value = job->extra->result;
        result->value_size = job->extra->result_size;
        engine->promise_bytes += result->value_size;
        job->extra->result = NULL;
        job->extra->result_size = 0;
        keep(engine, result);
    }
}

void promises_end(struct engine *engine, int64_t now_us, size_t count)
{
    struct index_node *node;
    for (; count > 0 && (node = index_first(&engine->promise_order)); count--) {
        struct promise *promise = promise_of_node(node);
        struct job *job = promise->job;
        if (time_of_key(node->key) > now_us) {
            break;
        }
        if (!job) {
            promise_free(engine, promise);
        } else if (promise_kind(promise) == PROMISE_RESULT) {
            job_drop_result(engine, job);
            job_changed(engine, job, JOB_DIRTY_HEAD);
        } else {
            unique_release(engine, job);
        }
    }
}

bool engine_result_kept(const struct engine *engine, int64_t now_us, struct slice jid,
                        struct slice *result)
{
    char key[1 + ENGINE_NAME_SIZE_MAX];
    if (name_check(jid, "jid", NULL)) {
        return false;
    }
    const struct promise *promise = promise_kept(engine, result_key(jid, key), now_us);
    if (promise) {
        *result = slice_make(promise->value, promise->value_size);
    }
    return promise != NULL;
}

struct record_key promise_record_key(const struct promise *promise)
{
    return (struct record_key){ RECORD_PROMISE, promise->job_id, promise_kind(promise) };
}

static bool is_sane(const struct engine *engine, const struct promise_record *record)
{
    char key[1 + ENGINE_NAME_SIZE_MAX];
    bool result = record->key.size && record->key.data[0] == PROMISE_RESULT;
    bool keyed = result ? slice_equal(record->key, result_key(record->jid, key))
                        : unique_key_is_sane(record->key);
    return keyed && record->job_id && record->job_id <= engine->job_id && record->ends_us > 0 &&
           record->ends_us <= ENGINE_TIME_MAX && record->state < JOB_STATE_COUNT &&
           result == (record->value.size > 0);
}

enum status promise_load(struct engine *engine, const struct promise_record *record)
{
    if (!is_sane(engine, record) || map_find(&engine->promises, record->key) ||
        map_find(&engine->uniques, record->key)) {
        return STATUS_CORRUPT;
    }
    struct promise *promise = promise_new(engine, record->key, record->jid);
    if (!promise) {
        return STATUS_NO_MEMORY;
    }
    promise->job_id = record->job_id;
    promise->state = record->state;
    enum status status = index_has(&engine->promise_order, order_key(promise, record->ends_us))
                             ? STATUS_CORRUPT
                             : bytes_copy(engine, record->value, &promise->value);
    if (status) {
        promise_free_shell(engine, promise);
        return status;
    }
    promise->value_size = (uint32_t)record->value.size;
    add(engine, promise, record->ends_us);
    return STATUS_OK;
}

// Makes the key of a promise from its kind and name. False if the name is invalid.
static bool make_key(const struct promise_past *past, char key[1 + ENGINE_NAME_SIZE_MAX],
                     struct slice *out)
{
    if (past->by == UNIQUE_NONE) {
        *out = result_key(past->jid, key);
        return past->result.size > 0;
    }
    if (!past->key.size || past->key.size > ENGINE_NAME_SIZE_MAX) {
        return false;
    }
    key[0] = (char)past->by;
    memcpy(key + 1, past->key.data, past->key.size);
    *out = slice_make(key, 1 + past->key.size);
    return unique_key_is_sane(*out) && !past->result.size;
}

static enum status check_past(const struct engine *engine, const struct promise_past *past,
                              struct slice key, struct error *error)
{
    bool there = map_find(&engine->promises, key) || map_find(&engine->uniques, key) ||
                 (past->by == UNIQUE_NONE && map_find(&engine->jobs, past->jid));
    if (there) {
        return error_set(error, STATUS_EXISTS, "what was promised about job %.*s exists already",
                         SLICE_PRINT(slice_shown(past->jid)));
    }
    return quota_check_promises(engine, engine->promise_bytes, error);
}

// Restores a promise under the number that its job would have.
static enum status restore(struct engine *engine, const struct promise_past *past, struct slice key)
{
    const struct promise_record record = { .job_id = engine->job_id + 1,
                                           .ends_us = past->until_us,
                                           .state = (uint8_t)past->state,
                                           .key = key,
                                           .jid = past->jid,
                                           .value = past->result };
    engine->job_id++;
    if (promise_load(engine, &record)) {
        engine->job_id--;
        return STATUS_NO_MEMORY;
    }
    struct promise *promise = map_find(&engine->promises, key);
    ENGINE_NOTE_CHANGE(engine, dirty_promises, promise);
    return STATUS_OK;
}

enum status engine_restore_promise(struct engine *engine, int64_t now_us,
                                   const struct promise_past *past, bool check_only,
                                   struct error *error)
{
    char bytes[1 + ENGINE_NAME_SIZE_MAX];
    struct slice key;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, past->jid, "jid", error);
    }
    if (!status && ((unsigned)past->state >= JOB_STATE_COUNT || !make_key(past, bytes, &key) ||
                    past->until_us <= 0 || past->until_us > ENGINE_TIME_MAX)) {
        status = error_set(error, STATUS_INVALID,
                           "what was promised about job %.*s is no lock and no result",
                           SLICE_PRINT(slice_shown(past->jid)));
    }
    if (!status) {
        status = check_past(engine, past, key, error);
    }
    if (!status && !check_only && restore(engine, past, key)) {
        status = engine_no_memory(error);
    }
    engine_settle(engine);
    return status;
}
