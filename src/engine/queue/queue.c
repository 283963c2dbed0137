// SPDX-License-Identifier: MIT
#include "engine/queue/queue.h"

#include "engine/due.h"
#include "engine/export/restore.h"
#include "engine/job/job.h"
#include "engine/lanes/watch.h"
#include "engine/lease/lease.h"
#include "engine/measure/metrics.h"
#include "engine/measure/series.h"
#include "engine/measure/stats.h"
#include "engine/page.h"
#include "engine/queue/line.h"
#include "engine/queue/quota.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    // The key of a waiting job: 32 bits of class and priority, 58 of the time, 38 of the id.
    KEY_TIME_LOW_BITS = 26,
    KEY_ID_BITS = 38,
    COARSE_US = 16,
};

// The two classes of lost leases and all priorities are two more values than 32 bits have. The time
// has room above its maximum: there, in the class LINE_TIMED_OUT, are the jobs of the two lowest
// priorities, by their time in units of COARSE_US. After them come the others.
#define COARSE_TIMES (ENGINE_TIME_MAX / COARSE_US + 1)
_Static_assert(ENGINE_TIME_MAX + 2 * COARSE_TIMES < INT64_C(1) << (32 + KEY_TIME_LOW_BITS),
               "the coarse times are above all times, and a key has room for them");

struct index_key line_key(enum line_class line_class, int32_t priority, int64_t time_us,
                          uint64_t id)
{
    uint64_t rank = line_class == LINE_WAITING ? (uint64_t)((int64_t)priority - INT32_MIN)
                                               : (uint64_t)line_class;
    // A time before the epoch, which a negative heartbeat can cause, is replaced by the epoch.
    uint64_t time = time_us > 0 ? (uint64_t)time_us : 0;
    if (line_class == LINE_WAITING && rank < LINE_WAITING) {
        time = ENGINE_TIME_MAX + 1 + rank * COARSE_TIMES + time / COARSE_US;
        rank = LINE_TIMED_OUT;
    }
    return (struct index_key){
        rank << 32 | time >> KEY_TIME_LOW_BITS,
        time << KEY_ID_BITS | (id & (((uint64_t)1 << KEY_ID_BITS) - 1)),
    };
}

// The time in a key.
static int64_t key_time(struct index_key key)
{
    return (int64_t)((key.high & UINT32_MAX) << KEY_TIME_LOW_BITS | key.low >> KEY_ID_BITS);
}

static bool is_coarse(struct index_key key)
{
    return key.high >> 32 == LINE_TIMED_OUT && key_time(key) > ENGINE_TIME_MAX;
}

int64_t line_time(struct index_key key)
{
    return is_coarse(key) ? (key_time(key) - ENGINE_TIME_MAX - 1) % COARSE_TIMES * COARSE_US
                          : key_time(key);
}

enum line_class line_class_of(struct index_key key)
{
    uint64_t rank = key.high >> 32;
    return rank < LINE_WAITING && !is_coarse(key) ? (enum line_class)rank : LINE_WAITING;
}

struct index_key line_key_waiting(void)
{
    return line_key(LINE_WAITING, INT32_MIN, 0, 0);
}

struct index_key time_key(int64_t time_us, uint64_t id)
{
    return (struct index_key){ index_key_signed(time_us), id };
}

int64_t time_of_key(struct index_key key)
{
    return (int64_t)(key.high ^ (uint64_t)1 << 63);
}

struct index_key time_key_after(int64_t time_us)
{
    return (struct index_key){ index_key_signed(time_us) + 1, 0 };
}

struct queue *queue_find(const struct engine *engine, struct slice name)
{
    struct queue *last = engine->queue_last;
    return last && slice_equal(queue_name(last), name) ? last : map_find(&engine->queues, name);
}

struct queue *queue_by_id(const struct engine *engine, uint64_t id)
{
    struct index_key key = time_key((int64_t)id, id);
    struct index_node *node = index_find(&engine->queue_all, key);
    if (!node || !index_key_equal(node->key, key)) {
        return NULL;
    }
    return queue_of_all(node);
}

static size_t queue_size(size_t name_size)
{
    return sizeof(struct queue) + name_size;
}

enum {
    QUEUE_INDEXES = 11 + LANE_PLACES,
};

// The indexes of a queue, in turn.
static struct index *queue_index(struct queue *queue, size_t i)
{
    struct index *indexes[] = { &queue->laned,     &queue->scheduled,   &queue->leased,
                                &queue->grace,     &queue->depends,     &queue->recurring,
                                &queue->deadlines, &queue->complete,    &queue->failed,
                                &queue->listeners, &queue->lanes_listed };
    size_t own = sizeof(indexes) / sizeof(indexes[0]);
    return i < own ? indexes[i] : &queue->lanes[i - own];
}

enum status queue_acquire(struct engine *engine, struct slice name, struct queue **out,
                          struct error *error)
{
    struct queue *queue = queue_find(engine, name);
    if (queue) {
        engine->queue_last = queue;
        *out = queue;
        return STATUS_OK;
    }
    if (!engine->loads) {
        enum status status = quota_check_queue(engine, error);
        if (status) {
            return status;
        }
    }
    if (map_reserve(&engine->queues, name) || due_reserve(engine) ||
        index_reserve(&engine->queue_all, 1)) {
        return engine_no_memory(error);
    }
    queue = mem_zalloc(engine->allocator, queue_size(name.size));
    if (!queue) {
        return engine_no_memory(error);
    }
    if (intern_acquire(&engine->names, name, &queue->name_id)) {
        mem_free(engine->allocator, queue, queue_size(name.size));
        return engine_no_memory(error);
    }
    queue->series_second = queue->oldest_second = -1;
    queue->name_size = (uint8_t)name.size;
    memcpy(queue->name, name.data, name.size);
    for (size_t i = 0; i < QUEUE_INDEXES; i++) {
        index_init(queue_index(queue, i), &engine->pool);
    }
    tallies_init(&queue->tallies, &engine->pool);
    queue->id = ++engine->queue_id;
    queue->all.key = time_key((int64_t)queue->id, queue->id);
    index_insert(&engine->queue_all, &queue->all);
    map_add(&engine->queues, queue);
    due_add(engine, queue);
    queue->watched = watch_is_named(engine, name);
    config_apply_to_queue(engine, queue);
    lane_init(engine, &queue->plain, queue, INTERN_NONE);
    *out = queue;
    return STATUS_OK;
}

void queue_free(struct engine *engine, struct queue *queue)
{
    assert(queue->lane_count == 0 && queue->recurring.count == 0);
    if (queue->known || queue->heard) {
        index_remove(queue->known ? &engine->queue_order : &engine->queue_listened, &queue->order);
    }
    lane_release(engine, &queue->plain);
    for (size_t i = 0; i < QUEUE_INDEXES; i++) {
        index_release(queue_index(queue, i));
    }
    tallies_release(engine, &queue->tallies);
    metrics_free(engine, queue->metrics);
    series_free(engine, queue->series);
    engine->paused_count -= queue->paused;
    stats_release(engine, queue);
    index_remove(&engine->queue_all, &queue->all);
    due_remove(engine, queue);
    map_remove(&engine->queues, queue_name(queue));
    intern_drop(&engine->names, queue->name_id);
    if (engine->queue_last == queue) {
        engine->queue_last = NULL;
    }
    mem_free(engine->allocator, queue, queue_size(queue->name_size));
}

size_t queue_running(const struct engine *engine, const struct queue *queue, int64_t now_us)
{
    size_t run_out = engine->clock == ENGINE_CLOCK_CLIENT
                         ? index_rank(&queue->leased, time_key_after(now_us))
                         : 0;
    return queue->leased.count + queue->grace.count - run_out;
}

size_t queue_room(const struct engine *engine, const struct queue *queue, int64_t now_us)
{
    if (queue->concurrency_max <= 0) {
        return SIZE_MAX;
    }
    size_t running = queue_running(engine, queue, now_us), limit = (size_t)queue->concurrency_max;
    return running < limit ? limit - running : 0;
}

bool queue_is_unused(const struct queue *queue)
{
    return !queue->known && !queue->paused && queue->jobs == 0 && queue->complete.count == 0 &&
           queue->recurring.count == 0 && queue->listeners.count == 0 && !queue->days &&
           queue->lane_count == 0 && !queue->plain.id;
}

void queue_settle(struct engine *engine, struct queue *queue)
{
    if (!queue_is_unused(queue)) {
        return;
    }
    if (engine->keeps_changes) {
        queue_changed(engine, queue);
    } else {
        queue_free(engine, queue);
    }
}

void queue_abandon(struct engine *engine, struct queue *queue)
{
    lanes_abandon(engine, queue);
    if (queue_is_unused(queue) && !queue->dirty) {
        engine->queue_id -= queue->id == engine->queue_id;
        queue_free(engine, queue);
    }
}

enum status queue_reserve_known(struct engine *engine, struct queue *queue)
{
    return queue->known ? STATUS_OK : index_reserve(&engine->queue_order, 1);
}

void queue_make_known(struct engine *engine, struct queue *queue, int64_t now_us)
{
    if (!queue->known) {
        queue->known = true;
        queue_listened_changed(engine, queue);
        queue->first_seen_us = now_us;
        queue->order.key = time_key(now_us, ++engine->sequence);
        index_insert(&engine->queue_order, &queue->order);
        queue_changed(engine, queue);
    }
}

void queue_listened_changed(struct engine *engine, struct queue *queue)
{
    bool heard = !queue->known && queue->listeners.count > 0;
    if (heard && !queue->heard) {
        queue->order.key = (struct index_key){ 0, queue->id };
        index_insert(&engine->queue_listened, &queue->order);
    } else if (!heard && queue->heard) {
        index_remove(&engine->queue_listened, &queue->order);
    }
    queue->heard = heard;
}

void queue_set_paused(struct engine *engine, struct queue *queue, bool paused, int64_t when_us)
{
    engine->paused_count += (size_t)paused - (size_t)queue->paused;
    queue->paused = paused;
    queue->paused_us = paused ? when_us : 0;
}

void queue_changed(struct engine *engine, struct queue *queue)
{
    ENGINE_NOTE_CHANGE(engine, dirty_queues, queue);
}

static enum status restore_queue(struct engine *engine, struct queue *queue,
                                 const struct queue_past *past, bool check_only,
                                 struct error *error)
{
    bool there = past->listed ? queue->known : queue->paused || !past->paused;
    if (there) {
        return error_set(error, STATUS_EXISTS, "queue %.*s exists already",
                         SLICE_PRINT(slice_shown(queue_name(queue))));
    }
    if (past->listed && queue_reserve_known(engine, queue)) {
        return engine_no_memory(error);
    }
    if (!check_only) {
        if (past->paused && !queue->paused) {
            queue_set_paused(engine, queue, true, engine->call_us);
        }
        if (past->listed) {
            queue_make_known(engine, queue, past->first_seen_us);
        }
        queue_changed(engine, queue);
    }
    return STATUS_OK;
}

enum status engine_restore_queue(struct engine *engine, int64_t now_us, struct slice name,
                                 const struct queue_past *past, bool check_only,
                                 struct error *error)
{
    struct queue *queue;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check_new(engine, name, "queue", error);
    }
    if (!status && (past->first_seen_us < 0 || past->first_seen_us > ENGINE_TIME_MAX)) {
        status =
            error_set(error, STATUS_INVALID, "first-seen must lie between the years 1970 and 9999");
    }
    if (!status) {
        status = queue_acquire(engine, name, &queue, error);
    }
    if (status) {
        return status;
    }
    status = restore_queue(engine, queue, past, check_only, error);
    if (status || check_only) {
        queue_abandon(engine, queue);
    }
    engine_settle(engine);
    return status;
}

enum status queue_move_scheduled(struct engine *engine, struct queue *queue, int64_t now_us)
{
    return engine->clock == ENGINE_CLOCK_SERVER
               ? STATUS_OK
               : due_move_scheduled(engine, queue, now_us, SIZE_MAX);
}

size_t queue_run_out(const struct queue *queue, int64_t now_us)
{
    return index_rank(&queue->leased, time_key_after(now_us));
}

static void running_page(struct page *page, const struct queue *queue)
{
    const struct page_source sources[] = {
        { .index = &queue->grace, .to = queue->grace.count, .job_of = job_of_node },
        { .index = &queue->leased, .to = queue->leased.count, .job_of = job_of_node },
    };
    page_merge(page, sources);
}

// The entries of an index of a queue that are part of a list.
static struct page_source source_of(const struct engine *engine, const struct queue *queue,
                                    enum list list, int64_t now_us)
{
    bool client = engine->clock == ENGINE_CLOCK_CLIENT;
    size_t run_out = client ? queue_run_out(queue, now_us) : 0;
    const struct index *index = list == LIST_SCHEDULED             ? &queue->scheduled
                                : list == LIST_DEPENDS             ? &queue->depends
                                : list == LIST_COMPLETE            ? &queue->complete
                                : list == LIST_FAILED              ? &queue->failed
                                : list == LIST_UNEXPIRED || client ? &queue->leased
                                                                   : &queue->grace;
    return (struct page_source){
        .index = index,
        .from = list == LIST_UNEXPIRED ? run_out : 0,
        .to = list == LIST_EXPIRED && client ? run_out : index->count,
        .backwards = list == LIST_COMPLETE || list == LIST_FAILED,
        .job_of = job_of_node,
    };
}

bool list_has_all(enum list list)
{
    return list == LIST_RUNNING || list == LIST_COMPLETE || list == LIST_FAILED;
}

static struct job *job_of_running(struct index_node *node)
{
    return lease_of_running(node)->job;
}

static struct page_source source_of_all(const struct engine *engine, enum list list)
{
    bool running = list == LIST_RUNNING;
    const struct index *index = running                 ? &engine->running
                                : list == LIST_COMPLETE ? &engine->completed
                                                        : &engine->failed;
    return (struct page_source){ .index = index,
                                 .to = index->count,
                                 .backwards = !running,
                                 .job_of = running ? job_of_running : job_of_node };
}

enum status engine_jobs(struct engine *engine, int64_t now_us, enum list list, struct slice name,
                        struct page *page, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    bool of_all = name.size == 0 && list_has_all(list);
    if (!status && !of_all) {
        status = name_check(name, "queue", error);
    }
    if (status) {
        return status;
    }
    if (of_all) {
        const struct page_source source = source_of_all(engine, list);
        page_fill(page, &source);
        return STATUS_OK;
    }
    struct queue *queue = queue_find(engine, name);
    if (!queue) {
        page_clear(page);
        return STATUS_OK;
    }
    if (list == LIST_SCHEDULED && queue_move_scheduled(engine, queue, now_us)) {
        return engine_no_memory(error);
    }
    if (list == LIST_WAITING || list == LIST_STALLED || list == LIST_LINE) {
        line_page(page, queue, list);
    } else if (list == LIST_RUNNING) {
        running_page(page, queue);
    } else {
        const struct page_source source = source_of(engine, queue, list, now_us);
        page_fill(page, &source);
    }
    return STATUS_OK;
}

static void announce_paused(const struct engine *engine, const struct queue *queue, int64_t now_us)
{
    if (engine_wanted(engine, EVENT_TO_WATCHER)) {
        engine_emit(engine, &(struct event){ .kind = queue->paused ? EVENT_PAUSED : EVENT_UNPAUSED,
                                             .channels = EVENT_TO_WATCHER,
                                             .when_us = now_us,
                                             .queue = queue_name(queue) });
    }
}

// The start of a call about several queues.
static enum status begin_for(struct engine *engine, int64_t now_us, struct slices queues,
                             struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    return status ? status : names_check_new(engine, queues, "queue", error);
}

enum status engine_pause(struct engine *engine, int64_t now_us, struct slices queues,
                         struct error *error)
{
    enum status status = begin_for(engine, now_us, queues, error);
    size_t made = 0;
    for (; !status && made < queues.count; made++) {
        struct queue *queue;
        status = queue_acquire(engine, queues.items[made], &queue, error);
    }
    // From the last to the first, so that the queues that were created are freed in the order of
    // their numbers.
    for (size_t i = made; i-- > 0;) {
        struct queue *queue = queue_find(engine, queues.items[i]);
        if (queue && !status) {
            if (!queue->paused) {
                queue_set_paused(engine, queue, true, now_us);
                announce_paused(engine, queue, now_us);
            }
            due_update(engine, queue);
            queue_changed(engine, queue);
        } else if (queue) {
            queue_abandon(engine, queue);
        }
    }
    engine_settle(engine);
    return status;
}

enum status engine_unpause(struct engine *engine, int64_t now_us, struct slices queues,
                           struct error *error)
{
    enum status status = begin_for(engine, now_us, queues, error);
    for (size_t i = 0; !status && i < queues.count; i++) {
        struct queue *queue = queue_find(engine, queues.items[i]);
        if (queue && queue->paused) {
            queue_set_paused(engine, queue, false, 0);
            announce_paused(engine, queue, now_us);
            due_update(engine, queue);
            watch_wake(engine, queue);
            queue_changed(engine, queue);
            queue_settle(engine, queue);
        }
    }
    return status;
}

enum status engine_forget(struct engine *engine, int64_t now_us, struct slices queues,
                          struct error *error)
{
    enum status status = begin_for(engine, now_us, queues, error);
    if (!status && index_reserve(&engine->queue_listened, queues.count)) {
        status = engine_no_memory(error);
    }
    for (size_t i = 0; !status && i < queues.count; i++) {
        struct queue *queue = queue_find(engine, queues.items[i]);
        if (queue && queue->known) {
            index_remove(&engine->queue_order, &queue->order);
            queue->known = false;
            queue_listened_changed(engine, queue);
            queue_changed(engine, queue);
            queue_settle(engine, queue);
        }
    }
    engine_settle(engine);
    return status;
}
