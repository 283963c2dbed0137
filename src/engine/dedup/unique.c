// SPDX-License-Identifier: MIT
#include "engine/dedup/unique.h"

#include "base/json.h"
#include "base/json_sorted.h"
#include "base/sha256.h"
#include "engine/dedup/promise.h"
#include "engine/job/job.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

struct slice unique_key(const void *unique)
{
    const struct unique *of = unique;
    return slice_make(of->key, of->key_size);
}

enum status unique_check(const struct unique_request *request, int64_t now_us, struct slice data,
                         struct error *error)
{
    if ((unsigned)request->by > UNIQUE_BY_CONTENTS || (unsigned)request->until > UNIQUE_FOR_TIME ||
        (unsigned)request->conflict > UNIQUE_ONCE) {
        return error_set(error, STATUS_INVALID, "unknown kind of uniqueness");
    }
    if (request->by == UNIQUE_NONE) {
        return STATUS_OK;
    }
    if (request->until == UNIQUE_FOR_TIME &&
        (request->for_us <= 0 || request->for_us > ENGINE_TIME_MAX - now_us)) {
        return error_set(error, STATUS_INVALID,
                         "the time of uniqueness must be above 0, and not reach beyond the year "
                         "9999");
    }
    if (request->by == UNIQUE_BY_KEY) {
        return name_check(request->key, "the key of uniqueness", error);
    }
    if (request->key.size) {
        return request->key.size == SHA256_SIZE
                   ? STATUS_OK
                   : error_set(error, STATUS_INVALID, "the SHA-256 of contents has %d bytes",
                               SHA256_SIZE);
    }
    if (json_validate(data, JSON_DEPTH_MAX, NULL)) {
        return error_set(error, STATUS_INVALID, "data must be JSON for uniqueness by contents");
    }
    return STATUS_OK;
}

static enum status digest(struct engine *engine, const struct put_request *request,
                          uint8_t out[SHA256_SIZE])
{
    struct buffer canonical;
    buffer_init(&canonical, engine->allocator, UINT32_MAX);
    enum status status = json_sorted(request->data, engine->allocator, &canonical);
    if (!status) {
        struct sha256 sha256;
        sha256_init(&sha256);
        sha256_add(&sha256, request->klass);
        sha256_add(&sha256, slice_make("", 1));
        sha256_add(&sha256, buffer_slice(&canonical));
        sha256_end(&sha256, out);
    }
    buffer_release(&canonical);
    return status;
}

static struct unique *make(struct engine *engine, enum unique_by by, struct slice key)
{
    struct unique *unique = mem_zalloc(engine->allocator, sizeof(*unique) + 1 + key.size);
    assert(key.data);
    if (unique) {
        unique->key_size = (uint16_t)(1 + key.size);
        unique->key[0] = (char)by;
        memcpy(unique->key + 1, key.data, key.size);
    }
    return unique;
}

void unique_free(struct engine *engine, struct unique *unique)
{
    if (unique) {
        assert(!unique->held);
        promise_free(engine, unique->promise);
        mem_free(engine->allocator, unique, sizeof(*unique) + unique->key_size);
    }
}

static bool is_over(const struct unique *unique, int64_t now_us)
{
    return unique->until == UNIQUE_FOR_TIME && unique->until_us <= now_us;
}

static struct unique_holder holder_of(const struct engine *engine, struct slice key, int64_t now_us)
{
    const struct unique *held = map_find(&engine->uniques, key);
    return (struct unique_holder){ .job = held && !is_over(held, now_us) ? held->job : NULL,
                                   .kept = promise_kept(engine, key, now_us) };
}

enum status unique_new(struct engine *engine, int64_t now_us, const struct put_request *request,
                       struct unique **out, struct unique_holder *holder, struct error *error)
{
    const struct unique_request *asked = &request->unique;
    *out = NULL;
    *holder = (struct unique_holder){ 0 };
    if (asked->by == UNIQUE_NONE) {
        return STATUS_OK;
    }
    uint8_t contents[SHA256_SIZE];
    struct slice key = asked->key;
    if (asked->by == UNIQUE_BY_CONTENTS && !key.size) {
        if (digest(engine, request, contents)) {
            return engine_no_memory(error);
        }
        key = slice_make(contents, sizeof(contents));
    }
    struct unique *unique = make(engine, asked->by, key);
    if (!unique || map_reserve(&engine->uniques, unique_key(unique))) {
        unique_free(engine, unique);
        return engine_no_memory(error);
    }
    unique->until = (uint8_t)asked->until;
    if (asked->until == UNIQUE_FOR_TIME) {
        unique->until_us = now_us + asked->for_us;
        unique->promise = promise_new(engine, unique_key(unique), request->jid);
        if (!unique->promise) {
            unique_free(engine, unique);
            return engine_no_memory(error);
        }
    }
    *holder = holder_of(engine, unique_key(unique), now_us);
    *out = unique;
    return STATUS_OK;
}

// Removes a lock from the held locks.
static void let_go(struct engine *engine, struct unique *unique)
{
    if (unique->held) {
        map_remove(&engine->uniques, unique_key(unique));
        unique->held = false;
        promise_free(engine, unique_take_promise(unique));
        job_changed(engine, unique->job, JOB_DIRTY_HEAD);
    }
}

// The job holds its lock from now on. An expired promise for it may still exist.
static void hold(struct engine *engine, struct unique *unique)
{
    assert(unique->job && !unique->held);
    struct unique *over = map_find(&engine->uniques, unique_key(unique));
    if (over) {
        let_go(engine, over);
    }
    promise_drop(engine, unique_key(unique));
    unique->held = true;
    map_add(&engine->uniques, unique);
    if (unique->promise) {
        promise_give(engine, unique->promise, unique->job, unique->until_us);
    }
}

void unique_give(struct engine *engine, struct job *job, struct unique *unique)
{
    assert(job_rare(job));
    unique_release(engine, job);
    unique_free(engine, job->extra->rare->unique);
    unique->job = job;
    job->extra->rare->unique = unique;
    hold(engine, unique);
}

struct promise *unique_take_promise(struct unique *unique)
{
    struct promise *promise = unique->promise;
    unique->promise = NULL;
    return promise;
}

void unique_release(struct engine *engine, struct job *job)
{
    struct job_rare *rare = job_rare(job);
    if (rare && rare->unique) {
        let_go(engine, rare->unique);
    }
}

void unique_started(struct engine *engine, struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    if (rare && rare->unique && rare->unique->until == UNIQUE_UNTIL_STARTED) {
        let_go(engine, rare->unique);
    }
}

void unique_finished(struct engine *engine, struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    if (rare && rare->unique && rare->unique->until != UNIQUE_FOR_TIME) {
        let_go(engine, rare->unique);
    }
}

// Whether the job has a lock that it does not hold, but would hold if it were put again.
static bool is_given_up(const struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    return rare && rare->unique && !rare->unique->held && rare->unique->until != UNIQUE_FOR_TIME;
}

enum status unique_reserve_again(struct engine *engine, int64_t now_us, const struct job *job,
                                 struct error *error)
{
    if (!is_given_up(job)) {
        return STATUS_OK;
    }
    struct slice key = unique_key(job_rare(job)->unique);
    const struct unique_holder holder = holder_of(engine, key, now_us);
    if (holder.job || holder.kept) {
        struct slice jid = holder.job ? job_jid(holder.job) : promise_jid(holder.kept);
        return error_set(error, STATUS_EXISTS, "job %.*s holds the lock of job %.*s",
                         SLICE_PRINT(jid), SLICE_PRINT(job_jid(job)));
    }
    return map_reserve(&engine->uniques, key) ? engine_no_memory(error) : STATUS_OK;
}

void unique_take_again(struct engine *engine, struct job *job)
{
    if (!is_given_up(job)) {
        return;
    }
    hold(engine, job_rare(job)->unique);
    job_changed(engine, job, JOB_DIRTY_HEAD);
}

bool unique_key_is_sane(struct slice key)
{
    return key.size >= 2 && (key.data[0] == UNIQUE_BY_KEY ? key.size <= 1 + ENGINE_NAME_SIZE_MAX
                                                          : key.data[0] == UNIQUE_BY_CONTENTS &&
                                                                key.size == 1 + SHA256_SIZE);
}

enum status unique_load_held(struct engine *engine, struct unique *unique)
{
    if (map_find(&engine->uniques, unique_key(unique))) {
        return STATUS_EXISTS;
    }
    if (unique->until == UNIQUE_FOR_TIME) {
        unique->promise = promise_new(engine, unique_key(unique), job_jid(unique->job));
        if (!unique->promise) {
            return STATUS_NO_MEMORY;
        }
    }
    if (map_reserve(&engine->uniques, unique_key(unique))) {
        return STATUS_NO_MEMORY;
    }
    hold(engine, unique);
    return STATUS_OK;
}

enum status unique_load(struct engine *engine, struct job *job, struct slice key,
                        enum unique_until until, int64_t until_us)
{
    if (!unique_key_is_sane(key) || until > UNIQUE_FOR_TIME ||
        (until == UNIQUE_FOR_TIME && (until_us <= 0 || until_us > ENGINE_TIME_MAX))) {
        return STATUS_CORRUPT;
    }
    if (job_reserve_rare(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    struct unique *unique = make(engine, (enum unique_by)key.data[0], slice_sub(key, 1, SIZE_MAX));
    if (!unique) {
        return STATUS_NO_MEMORY;
    }
    unique->job = job;
    unique->until = (uint8_t)until;
    unique->until_us = until_us;
    job->extra->rare->unique = unique;
    return STATUS_OK;
}
