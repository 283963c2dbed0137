// SPDX-License-Identifier: MIT
#include "engine/relations/track.h"

#include "engine/export/restore.h"
#include "engine/job/job.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <string.h>

struct slice tracked_key(const void *tracked)
{
    const struct tracked *of = tracked;
    return slice_make(of->jid, of->jid_size);
}

enum status tracked_load(struct engine *engine, struct slice jid, int64_t when_us,
                         struct index_key key)
{
    if (map_reserve(&engine->tracked, jid) || index_reserve(&engine->tracked_order, 1)) {
        return STATUS_NO_MEMORY;
    }
    struct tracked *tracked = mem_alloc(engine->allocator, sizeof(*tracked) + jid.size);
    if (!tracked) {
        return STATUS_NO_MEMORY;
    }
    tracked->when_us = when_us;
    tracked->jid_size = (uint8_t)jid.size;
    memcpy(tracked->jid, jid.data, jid.size);
    tracked->order.key = key;
    index_insert(&engine->tracked_order, &tracked->order);
    map_add(&engine->tracked, tracked);
    struct job *job = map_find(&engine->jobs, jid);
    if (job) {
        job->tracked = true;
    }
    return STATUS_OK;
}

void tracked_free(struct engine *engine, struct tracked *tracked)
{
    index_remove(&engine->tracked_order, &tracked->order);
    map_remove(&engine->tracked, tracked_key(tracked));
    struct job *job = map_find(&engine->jobs, tracked_key(tracked));
    if (job) {
        job->tracked = false;
    }
    mem_free(engine->allocator, tracked, sizeof(*tracked) + tracked->jid_size);
}

static void announce(struct engine *engine, enum event_kind kind, struct slice jid, int64_t now_us)
{
    engine_emit(engine, &(struct event){ .kind = kind,
                                         .channels = engine_followers(engine, true),
                                         .when_us = now_us,
                                         .jid = jid });
}

enum status engine_track(struct engine *engine, int64_t now_us, struct slice jid, bool *changed,
                         struct error *error)
{
    struct job *job;
    enum status status = job_begin(engine, &now_us, jid, &job, error);
    if (status) {
        return status;
    }
    *changed = !job->tracked;
    if (*changed) {
        status = tracked_load(engine, jid, now_us, time_key(now_us, engine->sequence + 1));
        engine_settle(engine);
        if (status) {
            return engine_no_memory(error);
        }
        engine->sequence++;
        engine->dirty_tracked = true;
        job_changed(engine, job, JOB_DIRTY_HEAD);
    }
    announce(engine, EVENT_TRACK, jid, now_us);
    return STATUS_OK;
}

enum status engine_untrack(struct engine *engine, int64_t now_us, struct slice jid, bool *changed,
                           struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(jid, "jid", error);
    }
    if (status) {
        return status;
    }
    struct tracked *tracked = map_find(&engine->tracked, jid);
    struct job *job = map_find(&engine->jobs, jid);
    if (!tracked && !job) {
        return error_set(error, STATUS_NOT_FOUND, "job %.*s does not exist", SLICE_PRINT(jid));
    }
    *changed = tracked != NULL;
    if (tracked) {
        tracked_free(engine, tracked);
        engine->dirty_tracked = true;
    }
    if (tracked && job) {
        job_changed(engine, job, JOB_DIRTY_HEAD);
    }
    announce(engine, EVENT_UNTRACK, jid, now_us);
    return STATUS_OK;
}

enum status engine_restore_tracked(struct engine *engine, int64_t now_us, struct slice jid,
                                   int64_t when_us, bool check_only, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, jid, "jid", error);
    }
    if (!status && (when_us < 0 || when_us > ENGINE_TIME_MAX)) {
        status = error_set(error, STATUS_INVALID, "when must lie between the years 1970 and 9999");
    }
    if (!status && map_find(&engine->tracked, jid)) {
        status = error_set(error, STATUS_EXISTS, "job %.*s is tracked already",
                           SLICE_PRINT(slice_shown(jid)));
    }
    if (status || check_only) {
        return status;
    }
    status = tracked_load(engine, jid, when_us, time_key(when_us, engine->sequence + 1));
    engine_settle(engine);
    if (status) {
        return engine_no_memory(error);
    }
    engine->sequence++;
    engine->dirty_tracked = true;
    return STATUS_OK;
}

bool engine_tracked(const struct engine *engine, size_t index, struct slice *jid,
                    const struct job **job)
{
    struct index_node *node = index_at(&engine->tracked_order, index);
    if (!node) {
        return false;
    }
    *jid = tracked_key(tracked_of_node(node));
    *job = map_find(&engine->jobs, *jid);
    return true;
}

size_t engine_tracked_count(const struct engine *engine)
{
    return engine->tracked_order.count;
}
