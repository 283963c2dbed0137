// SPDX-License-Identifier: MIT
// Reads the records that record_write.c writes; see record_reader.h.
#include "engine/records/record.h"

#include "engine/config/config.h"
#include "engine/dedup/promise.h"
#include "engine/dedup/unique.h"
#include "engine/due.h"
#include "engine/job/history.h"
#include "engine/job/job.h"
#include "engine/job/options.h"
#include "engine/job/place.h"
#include "engine/lanes/lane.h"
#include "engine/lease/lease.h"
#include "engine/lease/worker.h"
#include "engine/measure/series.h"
#include "engine/measure/stats.h"
#include "engine/queue/quota.h"
#include "engine/records/changes.h"
#include "engine/records/record_reader.h"
#include "engine/relations/cascade.h"
#include "engine/relations/depends.h"
#include "engine/relations/failure.h"
#include "engine/relations/group.h"
#include "engine/relations/tag.h"
#include "engine/relations/track.h"

// A number that is in use.
struct loading_id {
    uint64_t kind_and_id[2];
    struct loading_id *next;
};

struct slice record_id_key(const void *value)
{
    const struct loading_id *taken = value;
    return slice_make(taken->kind_and_id, sizeof(taken->kind_and_id));
}

enum status record_take_id(struct engine *engine, enum record_kind kind, uint64_t id, uint64_t last)
{
    struct loading_id *taken = mem_alloc(engine->allocator, sizeof(*taken));
    if (!taken) {
        return STATUS_NO_MEMORY;
    }
    *taken = (struct loading_id){ .kind_and_id = { (uint64_t)kind, id } };
    enum status status = id == 0 || id > last ? STATUS_CORRUPT : STATUS_OK;
    if (!status) {
        status = map_insert(&engine->loading_ids, taken);
    }
    if (status) {
        mem_free(engine->allocator, taken, sizeof(*taken));
        return status == STATUS_EXISTS ? STATUS_CORRUPT : status;
    }
    taken->next = engine->loading_id_list;
    engine->loading_id_list = taken;
    return STATUS_OK;
}

static void forget_ids(struct engine *engine)
{
    map_release(&engine->loading_ids);
    while (engine->loading_id_list) {
        struct loading_id *taken = engine->loading_id_list;
        engine->loading_id_list = taken->next;
        mem_free(engine->allocator, taken, sizeof(*taken));
    }
}

static enum status read_engine(struct engine *engine, struct reader *reader)
{
    uint8_t clock = take_u8(reader);
    engine->now_us = take_i64(reader);
    engine->job_id = take_u64(reader);
    engine->queue_id = take_u64(reader);
    engine->worker_id = take_u64(reader);
    engine->token = take_u64(reader);
    engine->sequence = take_u64(reader);
    engine->line_us = reader->left ? take_i64(reader) : 0;
    reader->bad = reader->bad || clock > ENGINE_CLOCK_CLIENT || engine->now_us < 0 ||
                  engine->now_us > ENGINE_TIME_MAX || engine->line_us < 0 ||
                  engine->line_us > ENGINE_TIME_MAX;
    engine->clock = clock;
    engine->told = true;
    return STATUS_OK;
}

static enum status read_config(struct engine *engine, struct reader *reader)
{
    while (!reader->bad && reader->left) {
        struct slice name = take_name(reader);
        struct slice value = take_string(reader);
        // A value that older versions accepted and this one refuses is ignored: the default
        // applies.
        bool refused = reader->bad || config_check(engine->clock, name, value, NULL);
        if (!refused && config_put(engine, name, value)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static enum status read_tracked(struct engine *engine, struct reader *reader)
{
    while (!reader->bad && reader->left) {
        struct slice jid = take_name(reader);
        struct index_key key = take_key(reader);
        int64_t when_us = take_i64(reader);
        reader->bad = reader->bad || map_find(&engine->tracked, jid) ||
                      key.low > engine->sequence || index_has(&engine->tracked_order, key);
        if (!reader->bad && tracked_load(engine, jid, when_us, key)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static enum status read_queue(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct slice name = take_name(reader);
    bool known = take_bool(reader);
    bool paused = take_bool(reader);
    int64_t first_seen_us = take_i64(reader);
    struct index_key order = take_key(reader);
    uint64_t clock = take_u64(reader);
    int64_t paused_us = reader->left ? take_i64(reader) : 0;
    reader->bad = reader->bad || queue_find(engine, name) || queue_by_id(engine, id) || id == 0 ||
                  id > engine->queue_id || order.low > engine->sequence ||
                  index_has(&engine->queue_order, order) || paused_us < 0 ||
                  paused_us > ENGINE_TIME_MAX;
    if (reader->bad) {
        return STATUS_OK;
    }
    // The queue gets the number that it had.
    uint64_t next = engine->queue_id;
    engine->queue_id = id - 1;
    struct queue *queue;
    enum status status = queue_acquire(engine, name, &queue, NULL);
    engine->queue_id = next;
    if (status) {
        return status;
    }
    queue_set_paused(engine, queue, paused, paused_us);
    queue->clock = clock;
    if (known) {
        if (queue_reserve_known(engine, queue)) {
            return STATUS_NO_MEMORY;
        }
        queue->known = true;
        queue->order.key = order;
        index_insert(&engine->queue_order, &queue->order);
    }
    queue->first_seen_us = first_seen_us;
    queue->order.key = order;
    return STATUS_OK;
}

// Returns whether it has a histogram.
static bool read_counts(struct reader *reader, struct stats_counts *counts)
{
    counts->count = take_u64(reader);
    counts->mean = take_double(reader);
    counts->vk = take_double(reader);
    bool has_histogram = take_bool(reader);
    for (uint32_t i; (i = take_u32(reader)) != STATS_BUCKETS && !reader->bad;) {
        uint64_t count = take_u64(reader);
        reader->bad = reader->bad || i > STATS_BUCKETS || !has_histogram || !counts->histogram;
        if (!reader->bad) {
            counts->histogram[i] = count;
        }
    }
    return has_histogram;
}

static enum status read_stats(struct engine *engine, struct record_key key, struct reader *reader)
{
    struct queue *queue = queue_by_id(engine, key.id);
    if (!queue || key.extra > ENGINE_TIME_MAX / STATS_DAY_US || key.extra < -STATS_DAY_US) {
        reader->bad = true;
        return STATUS_OK;
    }
    struct stats_day *day = stats_load(engine, queue, key.extra);
    if (!day) {
        return STATUS_NO_MEMORY;
    }
    day->lost_leases = take_i64(reader);
    day->failed = take_i64(reader);
    day->failures = take_i64(reader);
    bool has_histograms = read_counts(reader, &day->wait);
    if (!(read_counts(reader, &day->run) && has_histograms)) {
        stats_drop_histograms(engine, day);
    }
    day->retries = reader->left ? take_i64(reader) : 0;
    return STATUS_OK;
}

static enum status read_series(struct engine *engine, struct record_key key, struct reader *reader)
{
    struct queue *queue = key.id ? queue_by_id(engine, key.id) : NULL;
    int64_t hour_us = (int64_t)SERIES_MINUTE_S * SERIES_HOUR_MINUTES * 1000000;
    if ((key.id && !queue) || key.extra < 0 || key.extra > ENGINE_TIME_MAX / hour_us) {
        reader->bad = true;
        return STATUS_OK;
    }
    struct series *series = series_acquire(engine, queue);
    if (!series) {
        return STATUS_NO_MEMORY;
    }
    size_t size = reader->left;
    struct slice bytes = slice_make(take(reader, size), size);
    enum status status = series_hour_load(engine, series, key.extra, bytes);
    reader->bad = reader->bad || status == STATUS_CORRUPT;
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

static enum status worker_load(struct engine *engine, uint64_t id, struct slice name,
                               struct worker **out)
{
    uint64_t next = engine->worker_id;
    enum status status = record_take_id(engine, RECORD_WORKER, id, next);
    if (status) {
        return status;
    }
    engine->worker_id = id - 1;
    status = worker_acquire(engine, name, out);
    engine->worker_id = next;
    return status;
}

static enum status read_worker(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct slice name = take_name(reader);
    uint8_t form = take_u8(reader);
    int64_t seen_us = take_i64(reader);
    bool has_origin = form == WORKER_RECORD_ORIGIN;
    int64_t started_us = has_origin ? take_i64(reader) : seen_us;
    struct slice host = has_origin ? take_optional(reader) : SLICE_EMPTY;
    reader->bad = reader->bad || worker_find(engine, name) || id == 0 ||
                  (form != WORKER_RECORD_PLAIN && !has_origin) ||
                  index_has(&engine->worker_order, time_key(seen_us, id));
    struct worker *worker;
    if (reader->bad) {
        return STATUS_OK;
    }
    enum status status = worker_load(engine, id, name, &worker);
    if (status) {
        return status;
    }
    if (worker_reserve_seen(engine)) {
        worker_settle(engine, worker);
        return STATUS_NO_MEMORY;
    }
    worker_seen(engine, worker, seen_us);
    // They were written from the first to the last, and each new one becomes the first.
    size_t count = reader->left / 8;
    reader->bad = reader->left % 8 != 0;
    const char *ids = reader->at;
    for (size_t i = count; i > 0 && !reader->bad; i--) {
        struct queue *queue = queue_by_id(engine, bytes_load_u64(ids + (i - 1) * 8));
        struct listener *listener = NULL;
        if (!queue) {
            reader->bad = true;
        } else if (worker_reserve_listener(engine, worker, queue, &listener)) {
            return STATUS_NO_MEMORY;
        }
        if (listener) {
            worker_listen(engine, worker, listener);
        }
    }
    worker->started_us = started_us;
    worker_set_host(engine, worker, host);
    reader->left = 0;
    return STATUS_OK;
}

static enum status read_tags(struct engine *engine, struct job *job, struct reader *reader)
{
    while (!reader->bad && reader->left) {
        struct slice tag = take_name(reader);
        uint64_t tag_id = take_u64(reader);
        struct index_key key = take_key(reader);
        enum status status = reader->bad ? STATUS_OK : tags_load(engine, job, tag, tag_id, key);
        if (status == STATUS_NO_MEMORY) {
            return status;
        }
        engine->mended += status && engine->mends;
        reader->bad = reader->bad || (status && !engine->mends);
    }
    return STATUS_OK;
}

// Acquires a name, which is often that of the job before.
static enum status acquire_name(struct engine *engine, struct slice name, uint32_t before,
                                uint32_t *out)
{
    if (before != INTERN_NONE && slice_equal(intern_get(&engine->names, before), name)) {
        intern_share(&engine->names, before);
        *out = before;
        return STATUS_OK;
    }
    return intern_acquire(&engine->names, name, out);
}

static enum status read_unique(struct engine *engine, struct job *job, struct reader *reader)
{
    struct slice key = take_string(reader);
    uint8_t until = take_u8(reader);
    int64_t until_us = take_i64(reader);
    return reader->bad ? STATUS_CORRUPT : unique_load(engine, job, key, until, until_us);
}

// Makes the job. Until its head is read it is in no index, and its state says so.
static enum status read_body(struct engine *engine, uint64_t id, struct reader *reader)
{
    struct slice jid = take_name(reader);
    struct slice klass = take_name(reader);
    struct slice data = take_string(reader);
    int32_t priority = (int32_t)take_u32(reader);
    int32_t retries = (int32_t)take_u32(reader);
    int64_t created_us = take_i64(reader);
    struct slice created_queue = take_name(reader);
    struct slice spawned_from = take_optional(reader);
    struct slice domain = take_optional(reader);
    struct job_options options;
    bool has_options = take_bool(reader);
    if (has_options) {
        take_options(reader, &options);
    }
    bool unique = take_bool(reader);
    reader->bad = reader->bad || id == 0 || id > engine->job_id;
    if (reader->bad) {
        return STATUS_OK;
    }
    struct job *job = job_new(engine, jid, data);
    if (!job) {
        return STATUS_NO_MEMORY;
    }
    job->id = id;
    job->state = JOB_STATE_COUNT;
    job->priority = priority;
    job->retries = retries;
    job->created_us = created_us;
    const struct job *before = loading_last(&engine->loading);
    enum status status = loading_add(&engine->loading, job, map_spot(&engine->jobs, jid));
    if (status) {
        job_free(engine, job);
        return status;
    }
    // From here on the engine owns the job, also after a failure.
    if (acquire_name(engine, klass, before ? before->klass : INTERN_NONE, &job->klass) ||
        acquire_name(engine, created_queue, before ? before->created_queue : INTERN_NONE,
                     &job->created_queue) ||
        (domain.size &&
         acquire_name(engine, domain, before ? before->domain : INTERN_NONE, &job->domain)) ||
        (has_options && options_acquire(engine, &options, &job->options)) ||
        ((spawned_from.size || reader->left) && job_reserve_extra(engine, job)) ||
        (spawned_from.size &&
         intern_acquire(&engine->names, spawned_from, &job->extra->spawned_from))) {
        return STATUS_NO_MEMORY;
    }
    status = unique ? read_unique(engine, job, reader) : STATUS_OK;
    return status ? status : read_tags(engine, job, reader);
}

static enum status read_lease(struct engine *engine, struct job *job, struct queue *queue,
                              bool has_length, struct reader *reader)
{
    uint64_t worker_id = take_u64(reader);
    struct slice name = take_name(reader);
    uint64_t token = take_u64(reader);
    int64_t expires_us = take_i64(reader);
    int64_t run_ends_us = take_i64(reader);
    int64_t pid = take_i64(reader);
    bool started = take_bool(reader);
    bool grace = take_bool(reader);
    int64_t lease_us = has_length ? take_i64(reader) : 0;
    if (reader->bad || token > engine->token || has_length != (lease_us != 0) ||
        lease_length_check(lease_us, NULL)) {
        reader->bad = true;
        return STATUS_OK;
    }
    struct worker *worker = worker_find(engine, name);
    enum status status = worker ? STATUS_OK : worker_load(engine, worker_id, name, &worker);
    if (status) {
        return status;
    }
    struct lane *lane;
    if (slab_promise(&engine->leases, 1) || index_reserve(&worker->leases, 1) ||
        index_reserve(&engine->running, 1) || lane_acquire(engine, queue, job->domain, &lane)) {
        worker_settle(engine, worker);
        return STATUS_NO_MEMORY;
    }
    lane->running++;
    lane_touch(engine, lane);
    struct lease *lease = slab_take(&engine->leases);
    *lease = (struct lease){ .worker = worker,
                             .job = job,
                             .lane = lane,
                             .token = token,
                             .expires_us = expires_us,
                             .run_ends_us = run_ends_us,
                             .lease_us = lease_us,
                             .pid = pid,
                             .started = started,
                             .grace = grace };
    lease_insert(engine, lease);
    job->held = lease;
    return STATUS_OK;
}

static enum status read_outcome(struct engine *engine, struct job *job, struct reader *reader,
                                struct group **group)
{
    bool has_failure = take_bool(reader);
    struct failure_words words = { 0 };
    if (has_failure) {
        words.group = take_name(reader);
        words.message = take_string(reader);
        words.worker = take_string(reader);
        words.when_us = take_i64(reader);
    }
    struct slice result = take_string(reader);
    int64_t due_us = take_i64(reader);
    uint32_t done = take_u32(reader);
    uint32_t passed = take_u32(reader);
    if (reader->bad || words.worker.size > ENGINE_NAME_SIZE_MAX ||
        (job->state == JOB_FAILED && !has_failure)) {
        reader->bad = true;
        return STATUS_OK;
    }
    if ((has_failure || result.size || due_us || done || passed || reader->left > 1) &&
        job_reserve_extra(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    if (has_failure) {
        job->extra->failure = failure_new(engine, &words);
        if (!job->extra->failure) {
            return STATUS_NO_MEMORY;
        }
    }
    if (job->state == JOB_FAILED && group_acquire(engine, words.group, group)) {
        return STATUS_NO_MEMORY;
    }
    if (result.size) {
        if (bytes_copy(engine, result, &job->extra->result)) {
            return STATUS_NO_MEMORY;
        }
        job->extra->result_size = (uint32_t)result.size;
    }
    if (job->extra) {
        job->extra->due_us = due_us;
        job->extra->members_done = done;
        job->extra->members_passed = passed;
    }
    return STATUS_OK;
}

static enum status read_rare(struct engine *engine, struct job *job, struct reader *reader)
{
    struct unique *unique = job_rare(job) ? job_rare(job)->unique : NULL;
    if (!take_bool(reader)) {
        reader->bad = reader->bad || (unique && !engine->mends);
        return STATUS_OK;
    }
    int64_t deadline_us = take_i64(reader);
    int64_t result_until_us = take_i64(reader);
    bool held = take_bool(reader);
    int32_t progress_ppm = (int32_t)take_u32(reader);
    struct slice progress = take_string(reader);
    struct slice checkpoint = take_string(reader);
    struct slice log = take_string(reader);
    if (engine->mends && held && !unique) {
        engine->mended++;
        held = false;
    }
    if (reader->bad || deadline_us < 0 || result_until_us < 0 || (held && !unique) ||
        result_until_us > ENGINE_TIME_MAX) {
        reader->bad = true;
        return STATUS_OK;
    }
    if (job_reserve_rare(engine, job)) {
        return STATUS_NO_MEMORY;
    }
    struct job_rare *rare = job->extra->rare;
    rare->deadline_us = deadline_us;
    rare->progress_ppm = progress_ppm;
    if (bytes_copy(engine, progress, &rare->progress)) {
        return STATUS_NO_MEMORY;
    }
    rare->progress_size = (uint32_t)progress.size;
    if (bytes_copy(engine, checkpoint, &rare->checkpoint)) {
        return STATUS_NO_MEMORY;
    }
    rare->checkpoint_size = (uint32_t)checkpoint.size;
    enum status status = trail_load(engine, &rare->log, log);
    if (!status && result_until_us && job->state == JOB_COMPLETE) {
        rare->result = promise_new_result(engine, job_jid(job));
        if (!rare->result) {
            return STATUS_NO_MEMORY;
        }
        promise_give(engine, rare->result, job, result_until_us);
    }
    if (!status && held) {
        status = unique_load_held(engine, unique);
    }
    if (status == STATUS_EXISTS && engine->mends) {
        engine->mended++;
        return STATUS_OK; // another job has the lock
    }
    return status == STATUS_EXISTS ? STATUS_CORRUPT : status;
}

static enum status read_dependencies(struct engine *engine, struct job *job, struct reader *reader)
{
    while (!reader->bad && reader->left) {
        uint64_t id = take_u64(reader);
        uint64_t sequence = take_u64(reader);
        struct job *dependency = loading_find(&engine->loading, id);
        if (!dependency || dependency == job || dependency->state == JOB_COMPLETE ||
            sequence > engine->sequence) {
            if (engine->mends && !reader->bad) {
                engine->mended++;
                continue;
            }
            reader->bad = true;
        }
        if (!reader->bad && depends_load(engine, job, dependency, sequence)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

// A job that waited only for jobs that are lost or complete becomes ready at its time.
static void mend_depends(const struct engine *engine, struct job *job, struct index_key *key)
{
    if (engine->mends && job->state == JOB_DEPENDS &&
        !(job->extra && job->extra->dependency_count)) {
        int64_t due_us = job->extra ? job->extra->due_us : 0;
        job->state = JOB_SCHEDULED;
        *key = time_key(due_us ? due_us : job->time_us, job->id);
        if (job->extra) {
            job->extra->due_us = 0;
        }
    }
}

static void set_updated(struct job *job, int64_t updated_us)
{
    if (job->state == JOB_RUNNING) {
        job_lease(job)->updated_us = updated_us;
    } else {
        job->updated_us = updated_us;
    }
}

static enum status read_settled(struct engine *engine, struct job *job, struct reader *reader)
{
    struct settled settled;
    enum settled_act act = (enum settled_act)take_u8(reader);
    settled.token = take_u64(reader);
    settled.worker = take_u32(reader);
    settled.outcome = (int32_t)take_u32(reader);
    return reader->bad ? STATUS_CORRUPT : settled_load(engine, job, act, &settled);
}

static enum status read_head(struct engine *engine, uint64_t id, struct reader *reader)
{
    enum status status = loading_fill(&engine->loading, &engine->jobs);
    if (status) {
        return status;
    }
    struct job *job = loading_next(&engine->loading, id);
    uint8_t first = take_u8(reader);
    uint8_t state = first & (uint8_t)~HEAD_FLAGS;
    uint64_t queue_id = take_u64(reader);
    struct index_key key = take_key(reader);
    struct queue *queue = queue_id ? queue_by_id(engine, queue_id) : NULL;
    if (reader->bad || !job || job->state != JOB_STATE_COUNT || state >= JOB_STATE_COUNT ||
        !queue != (queue_id == 0) || (!queue && state != JOB_COMPLETE) ||
        (first & HEAD_HAS_LEASE && state != JOB_RUNNING)) {
        reader->bad = true;
        return STATUS_OK;
    }
    job->time_us = take_i64(reader);
    int64_t updated_us = first & HEAD_HAS_UPDATED ? take_i64(reader) : job->time_us;
    job->remaining = (int32_t)take_u32(reader);
    job->crashes = (uint16_t)take_u32(reader);
    job->attempts = (uint16_t)take_u32(reader);
    status = trail_load(engine, &job->history, take_string(reader));
    if (!status && first & HEAD_HAS_SETTLED) {
        status = read_settled(engine, job, reader);
    }
    reader->bad = reader->bad || status == STATUS_CORRUPT;
    job->state = state;
    if (!status && !reader->bad && state == JOB_RUNNING) {
        status = read_lease(engine, job, queue, first & HEAD_HAS_LEASE, reader);
    }
    struct group *group = NULL;
    uint64_t group_sequence = state == JOB_FAILED ? take_u64(reader) : 0;
    bool cascades = state == JOB_FAILED && take_bool(reader);
    if (!status && !reader->bad) {
        status = read_outcome(engine, job, reader, &group);
    }
    if (!status && !reader->bad) {
        status = read_rare(engine, job, reader);
        reader->bad = reader->bad || status == STATUS_CORRUPT;
    }
    if (!status && !reader->bad) {
        status = read_dependencies(engine, job, reader);
        mend_depends(engine, job, &key);
        state = job->state;
    }
    if (!status && !reader->bad && state != JOB_FAILED) {
        bool depends = job->extra && job->extra->dependency_count;
        bool depended_on = job->extra && job->extra->dependent_count;
        reader->bad = depends != (state == JOB_DEPENDS) || (depended_on && state == JOB_COMPLETE);
    }
    if (!status && !reader->bad) {
        if (state == JOB_COMPLETE) {
            job->queue = queue; // it is not counted for it
        } else {
            job_move_to(engine, job, queue);
        }
        job->node.key = key;
        if (state == JOB_WAITING || state == JOB_STALLED) {
            // Up to version 2 of the format a stalled job stayed stalled in the class LINE_WAITING.
            state = line_class_of(key) == LINE_WAITING ? JOB_WAITING : JOB_STALLED;
            job->state = state;
        }
        if (group) {
            const struct index_key order = { group_sequence, 0 };
            reader->bad = key.high > engine->sequence || group_sequence > engine->sequence ||
                          (!group->listed && index_has(&engine->group_order, order));
        }
        if (group && !reader->bad) {
            group_add(engine, group, job, group_sequence);
        }
    }
    if (!status && !reader->bad) {
        status = job_load_place(engine, job);
        reader->bad = status == STATUS_CORRUPT;
        if (!status && cascades) {
            cascade_insert(engine, job);
        }
    }
    if (status || reader->bad) {
        // It is in no index, so it is freed with the others like it.
        if (job_lease(job)) {
            lease_end(engine, job);
        }
        if (group) {
            job->extra->group = NULL;
            group_settle(engine, group);
        }
        job->queue = state == JOB_COMPLETE ? NULL : job->queue;
        job->state = JOB_STATE_COUNT;
    } else {
        set_updated(job, updated_us);
        engine->loading.placed++;
    }
    return status;
}

static enum status read_kind(struct engine *engine, struct record_key key, struct reader *reader)
{
    switch (key.kind) {
    case RECORD_ENGINE:
        return read_engine(engine, reader);
    case RECORD_CONFIG:
        return read_config(engine, reader);
    case RECORD_LIMIT:
        return read_limit(engine, key.id, reader);
    case RECORD_POLICY:
        return read_policy(engine, key.id, reader);
    case RECORD_ZONE:
        return read_zone(engine, key.id, reader);
    case RECORD_QUEUE:
        return read_queue(engine, key.id, reader);
    case RECORD_STATS:
        return read_stats(engine, key, reader);
    case RECORD_LANE:
        return read_lane(engine, key.id, reader);
    case RECORD_WORKER:
        return read_worker(engine, key.id, reader);
    case RECORD_RECURRING:
        return read_recurring(engine, key.id, reader);
    case RECORD_BODY:
        return read_body(engine, key.id, reader);
    case RECORD_HEAD:
        return read_head(engine, key.id, reader);
    case RECORD_TRACKED:
        return read_tracked(engine, reader);
    case RECORD_BULK:
        return read_bulk(engine, key.id, reader);
    case RECORD_PROMISE:
        return read_promise(engine, key, reader);
    case RECORD_DONE:
        return read_done(engine, key.id, reader);
    case RECORD_REQUEST:
        return read_request(engine, key.id, reader);
    case RECORD_SERIES:
        return read_series(engine, key, reader);
    case RECORD_BULK_SET:
        return read_bulk_set(engine, key, reader);
    case RECORD_END:
    case RECORD_TAG:
        break;
    }
    reader->bad = true;
    return STATUS_OK;
}

enum status record_read(struct engine *engine, struct record_key key, struct slice bytes,
                        struct error *error)
{
    struct reader reader = { bytes.data, bytes.size, false };
    if (!engine->loads) {
        engine->loads = true;
        engine->keeps_changes_then = engine->keeps_changes;
        engine->keeps_changes = false;
    }
    engine->call_us = engine->now_us;
    enum status status = read_kind(engine, key, &reader);
    engine_settle(engine);
    if (status == STATUS_NO_MEMORY) {
        return engine_no_memory(error);
    }
    if (status || reader.bad || reader.left) {
        return error_set(error, STATUS_CORRUPT,
                         "the record of kind %d with the number %llu is damaged", (int)key.kind,
                         (unsigned long long)key.id);
    }
    return STATUS_OK;
}

// Frees the jobs without a head, which only the map refers to. Returns the number of one, or 0.
static uint64_t free_headless(struct engine *engine)
{
    const struct loading *loading = &engine->loading;
    uint64_t headless = 0;
    for (size_t i = 0; loading->placed < loading->count && i < loading->count; i++) {
        struct job *job = loading->jobs[i].job;
        if (job->state == JOB_STATE_COUNT) {
            headless = job->id;
            map_remove(&engine->jobs, job_jid(job));
            quota_uncount(engine, job);
            job_free(engine, job);
        }
    }
    return headless;
}

enum status record_read_end(struct engine *engine, struct error *error)
{
    uint64_t headless = free_headless(engine);
    loading_release(&engine->loading);
    forget_ids(engine);
    enum status status = lanes_load_end(engine);
    if (engine->loads) {
        changes_forget(engine);
        engine->keeps_changes = engine->keeps_changes_then;
        engine->loads = false;
    }
    if (status) {
        return engine_no_memory(error);
    }
    if (headless) {
        return error_set(error, STATUS_CORRUPT, "the job with the number %llu has no head",
                         (unsigned long long)headless);
    }
    return STATUS_OK;
}
