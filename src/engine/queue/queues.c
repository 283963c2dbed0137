// SPDX-License-Identifier: MIT
#include "engine/queue/queues.h"

#include "engine/job/job.h"
#include "engine/measure/metrics.h"
#include "engine/measure/series.h"
#include "engine/queue/line.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <string.h>

bool engine_queue_name(const struct engine *engine, size_t index, struct slice *name)
{
    struct index_node *node = index_at(&engine->queue_order, index);
    if (node) {
        *name = queue_name(queue_of_order(node));
    }
    return node != NULL;
}

size_t engine_queue_count(const struct engine *engine)
{
    return engine->queue_order.count;
}

bool engine_queue_exists(const struct engine *engine, struct slice name)
{
    return queue_find(engine, name) != NULL;
}

size_t engine_length(const struct engine *engine, struct slice name)
{
    const struct queue *queue = queue_find(engine, name);
    return queue ? line_count(queue) + queue->leased.count + queue->grace.count +
                       queue->scheduled.count
                 : 0;
}

// ---------------------------------------------------------------------------------------------
// The oldest waiting job

// Since when a waiting job could run. A change of the priority resets that.
static int64_t since(struct index_node *node)
{
    int64_t line_us = line_time(node->key);
    return line_us > 0 ? line_us : job_of_node(node)->time_us;
}

// The earlier of `oldest_us`, 0 meaning none, and that of the first job in a range of keys.
static int64_t earlier_from(int64_t oldest_us, const struct index *line, struct index_key from,
                            struct index_key last)
{
    struct index_node *node = index_find(line, from);
    if (!node || index_key_less(last, node->key)) {
        return oldest_us;
    }
    int64_t since_us = since(node);
    return oldest_us == 0 || since_us < oldest_us ? since_us : oldest_us;
}

static int64_t earlier_of_priority(int64_t oldest_us, const struct index *line, int32_t priority)
{
    struct index_key from = line_key(LINE_WAITING, priority, 0, 0);
    struct index_key timed = line_key(LINE_WAITING, priority, 0, UINT64_MAX);
    struct index_key last = line_key(LINE_WAITING, priority, ENGINE_TIME_MAX, UINT64_MAX);
    // Jobs whose priority was changed come first, then all others by their time.
    oldest_us = earlier_from(oldest_us, line, from, last);
    return earlier_from(oldest_us, line, timed, last);
}

static int64_t earlier_of_class(int64_t oldest_us, const struct index *line, enum line_class class)
{
    return earlier_from(oldest_us, line, line_key(class, 0, 0, 0),
                        line_key(class, 0, ENGINE_TIME_MAX, UINT64_MAX));
}

static int64_t oldest_of_priority(int64_t oldest_us, const struct queue *queue, int32_t priority)
{
    oldest_us = earlier_of_priority(oldest_us, &queue->plain.line, priority);
    return earlier_of_priority(oldest_us, &queue->laned, priority);
}

static int64_t find_oldest(const struct queue *queue)
{
    int64_t oldest_us = 0;
    for (enum line_class class = LINE_LOST; class < LINE_WAITING; class ++) {
        oldest_us = earlier_of_class(oldest_us, &queue->plain.line, class);
        oldest_us = earlier_of_class(oldest_us, &queue->laned, class);
    }
    const struct index *priorities = &queue->tallies.by_priority;
    size_t count = priorities->count;
    for (size_t i = 0; i < count; i++) {
        if (i == OLDEST_PRIORITIES && count > (size_t)2 * OLDEST_PRIORITIES) {
            i = count - OLDEST_PRIORITIES;
        }
        const struct tally *tally = tally_of_node(index_at(priorities, i));
        if (tally->counts[JOB_WAITING] + tally->counts[JOB_STALLED]) {
            oldest_us = oldest_of_priority(oldest_us, queue, tally->priority);
        }
    }
    return oldest_us;
}

// In most queues there is one priority and no lane, and the first job is the oldest. Otherwise 0.
static int64_t oldest_of_plain(const struct queue *queue)
{
    if (queue->tallies.by_priority.count != 1 || queue->laned.count) {
        return 0;
    }
    const struct index_node *first = index_first(&queue->plain.line);
    return line_class_of(first->key) == LINE_WAITING ? line_time(first->key) : 0;
}

// 0 if there is none. The cached value is valid until the queue changes.
static int64_t oldest_of(const struct engine *engine, struct queue *queue)
{
    if (queue->tallies.counts[JOB_WAITING] + queue->tallies.counts[JOB_STALLED] == 0) {
        return 0;
    }
    if (queue->series_second >= queue->oldest_second) {
        int64_t oldest_us = oldest_of_plain(queue);
        queue->oldest_us = oldest_us ? oldest_us : find_oldest(queue);
        queue->oldest_second = engine->series.second;
    }
    return queue->oldest_us;
}

// ---------------------------------------------------------------------------------------------
// One queue

enum status engine_queue(struct engine *engine, int64_t now_us, struct slice name,
                         struct queue_view *view, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(name, "queue", error);
    }
    if (status) {
        return status;
    }
    struct queue *queue = queue_find(engine, name);
    if (!queue) {
        *view = (struct queue_view){ .name = name };
        return STATUS_OK;
    }
    if (queue_move_scheduled(engine, queue, now_us)) {
        return engine_no_memory(error);
    }
    bool client = engine->clock == ENGINE_CLOCK_CLIENT;
    size_t expired = client ? queue_run_out(queue, now_us) : queue->grace.count;
    const size_t *states = queue->tallies.counts;
    *view = (struct queue_view){
        .name = queue_name(queue),
        .waiting = states[JOB_WAITING],
        .running = states[JOB_RUNNING],
        .stalled = states[JOB_STALLED],
        .scheduled = queue->scheduled.count,
        .depends = queue->depends.count,
        .recurring = queue->recurring.count,
        .complete = queue->complete.count,
        .failed = queue->failed.count,
        .listeners = queue->listeners.count,
        .expired = expired,
        .bytes = queue->bytes,
        .paused = queue->paused,
        .paused_us = queue->paused_us,
        .first_seen_us = queue->known ? queue->first_seen_us : 0,
        .oldest_us = oldest_of(engine, queue),
    };
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Lists in an order

static bool is_listed(const struct queue *queue)
{
    return queue->known || queue->heard;
}

// Finds anew what a queue is ordered by, as far as it is kept.
static void find_value(const struct engine *engine, int64_t now_us, struct queue *queue,
                       enum queue_order order)
{
    if (order == QUEUES_BY_AGE) {
        queue->ordered.oldest_us = oldest_of(engine, queue);
        queue->ordered.has_age = queue->ordered.oldest_us != 0;
    } else {
        const struct series *series = queue->series;
        queue->ordered.put = series_recent(engine, now_us, series, SERIES_PUT);
        queue->ordered.completed = series_recent(engine, now_us, series, SERIES_COMPLETED);
        queue->ordered.has_rates = series != NULL;
    }
}

static bool has_value(const struct queue *queue, enum queue_order order)
{
    return order == QUEUES_BY_AGE ? queue->ordered.has_age : queue->ordered.has_rates;
}

// The value by which a queue is ordered, the largest first.
static uint64_t value_of(const struct engine *engine, int64_t now_us, struct queue *queue,
                         enum queue_order order)
{
    const size_t *states = queue->tallies.counts;
    if (order >= QUEUES_BY_AGE && !has_value(queue, order)) {
        find_value(engine, now_us, queue, order);
    }
    switch (order) {
    case QUEUES_BY_WAITING:
        return states[JOB_WAITING];
    case QUEUES_BY_RUNNING:
        return states[JOB_RUNNING];
    case QUEUES_BY_STALLED:
        return states[JOB_STALLED];
    case QUEUES_BY_FAILED:
        return states[JOB_FAILED];
    case QUEUES_BY_AGE:
        return states[JOB_WAITING] + states[JOB_STALLED]
                   ? UINT64_MAX - (uint64_t)queue->ordered.oldest_us
                   : 0;
    case QUEUES_BY_PUT:
        return queue->series ? queue->ordered.put : 0;
    case QUEUES_BY_COMPLETED:
        return queue->series ? queue->ordered.completed : 0;
    case QUEUES_BY_SEEN:
        // Known queues first, by the time; queues that only have listeners have no time.
        return queue->known ? UINT64_MAX - queue->order.key.high : 0;
    case QUEUES_BY_NAME:
    case QUEUE_ORDERS:
        break;
    }
    return 0;
}

struct entry {
    uint64_t value;
    uint64_t id; // orders entries of one value
    const struct queue *queue;
};

static int compare_names(struct slice a, struct slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int difference = memcmp(a.data, b.data, size);
    return difference ? difference : a.size < b.size ? -1 : a.size > b.size;
}

// Whether an entry precedes another one. Among equals the older queue is first.
static bool comes_before(enum queue_order order, const struct entry *a, const struct entry *b)
{
    if (order == QUEUES_BY_NAME) {
        return compare_names(queue_name(a->queue), queue_name(b->queue)) < 0;
    }
    return a->value != b->value ? a->value > b->value : a->id < b->id;
}

static bool is_behind_cursor(const struct queue_page *page, const struct entry *entry)
{
    if (!page->has_after) {
        return true;
    }
    if (page->order == QUEUES_BY_NAME) {
        return compare_names(queue_name(entry->queue), page->after_name) > 0;
    }
    return entry->value != page->after_value ? entry->value < page->after_value
                                             : entry->id > page->after_id;
}

// A heap whose root is the entry that comes last.
struct best {
    enum queue_order order;
    size_t count, max;
    struct entry entries[QUEUE_PAGE_MAX];
};

static void sink(struct best *best, size_t at)
{
    for (;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child < 2 * at + 3 && child < best->count; child++) {
            if (comes_before(best->order, &best->entries[last], &best->entries[child])) {
                last = child;
            }
        }
        if (last == at) {
            return;
        }
        struct entry entry = best->entries[at];
        best->entries[at] = best->entries[last];
        best->entries[last] = entry;
        at = last;
    }
}

static void offer(struct best *best, const struct entry *entry)
{
    if (best->max == 0) {
        return;
    }
    if (best->count == best->max) {
        if (comes_before(best->order, entry, &best->entries[0])) {
            best->entries[0] = *entry;
            sink(best, 0);
        }
        return;
    }
    size_t at = best->count++;
    best->entries[at] = *entry;
    while (at && comes_before(best->order, &best->entries[(at - 1) / 2], entry)) {
        best->entries[at] = best->entries[(at - 1) / 2];
        at = (at - 1) / 2;
        best->entries[at] = *entry;
    }
}

enum {
    AHEAD = 8, // queues that are prefetched
};

static void prefetch(const struct queue *queue)
{
    for (size_t i = 0; i < offsetof(struct queue, tallies) + sizeof(queue->tallies); i += 64) {
        __builtin_prefetch((const char *)queue + i);
    }
}

// Prefetches what a queue points to.
static void prefetch_more(const struct queue *queue, enum queue_order order)
{
    if (order == QUEUES_BY_NAME) {
        __builtin_prefetch(queue->name);
    }
}

// Fills `best`, and counts the queues that match. Returns how many of them are after the cursor.
static size_t find_best(const struct engine *engine, int64_t now_us, struct queue_page *page,
                        struct best *best)
{
    size_t behind = 0;
    page->total = 0;
    for (size_t i = 0; i < engine->due_count; i++) {
        if (i + AHEAD < engine->due_count) {
            prefetch(engine->due[i + AHEAD]);
            prefetch_more(engine->due[i + AHEAD / 2], page->order);
        }
        struct queue *queue = engine->due[i];
        if (!is_listed(queue) ||
            (page->pattern && !glob_matches(page->pattern, queue_name(queue)))) {
            continue;
        }
        const struct entry entry = {
            .value = value_of(engine, now_us, queue, page->order),
            .id = page->order == QUEUES_BY_SEEN ? queue->order.key.low : queue->id,
            .queue = queue,
        };
        page->total++;
        if (is_behind_cursor(page, &entry)) {
            behind++;
            offer(best, &entry);
        }
    }
    return behind;
}

// Takes the entries from the heap, the last one first.
static void take_best(struct best *best, struct queue_page *page)
{
    page->found = best->count;
    while (best->count) {
        const struct entry entry = best->entries[0];
        if (best->count == page->found) {
            page->last_value = entry.value;
            page->last_id = entry.id;
        }
        page->names[best->count - 1] = queue_name(entry.queue);
        best->entries[0] = best->entries[--best->count];
        sink(best, 0);
    }
}

static void page_of_seen(const struct engine *engine, struct queue_page *page)
{
    size_t from = page->offset, known = engine->queue_order.count;
    if (page->has_after) {
        const struct index_key after = { page->after_value, page->after_id + 1 };
        // Queues that only have listeners have keys less than all others.
        from += page->after_value ? index_rank(&engine->queue_order, after)
                                  : known + index_rank(&engine->queue_listened, after);
    }
    for (page->found = 0; page->found < page->count; page->found++) {
        size_t at = from + page->found;
        struct index_node *node = at < known ? index_at(&engine->queue_order, at)
                                             : index_at(&engine->queue_listened, at - known);
        if (!node) {
            break;
        }
        page->names[page->found] = queue_name(queue_of_order(node));
        page->last_value = node->key.high;
        page->last_id = node->key.low;
    }
    page->more = page->found && from + page->found < page->total;
}

// Finds the values of some queues anew, behind those of the call before.
static void freshen(struct engine *engine, int64_t now_us, enum queue_order order)
{
    const struct index *all = &engine->queue_all;
    struct index_cursor cursor = index_cursor_at(all, engine->queues_fresh);
    for (size_t i = 0; order >= QUEUES_BY_AGE && i < QUEUES_FRESH_MAX && i < all->count; i++) {
        struct index_node *node = index_cursor_next(&cursor);
        if (!node) {
            engine->queues_fresh = 0;
            cursor = index_cursor_at(all, 0);
            node = index_cursor_next(&cursor);
        }
        engine->queues_fresh++;
        find_value(engine, now_us, queue_of_all(node), order);
    }
}

static void page_of_best(struct engine *engine, int64_t now_us, struct queue_page *page)
{
    struct best best = { .order = page->order };
    size_t wanted = page->offset + page->count;
    best.max = wanted < QUEUE_PAGE_MAX ? wanted : QUEUE_PAGE_MAX;
    freshen(engine, now_us, page->order);
    size_t behind = find_best(engine, now_us, page, &best);
    take_best(&best, page);
    size_t left_out = page->offset < page->found ? page->offset : page->found;
    page->more = behind > page->found && page->found > left_out;
    page->found -= left_out;
    memmove(page->names, page->names + left_out, page->found * sizeof(page->names[0]));
}

void engine_queues(struct engine *engine, int64_t now_us, struct queue_page *page)
{
    page->total = engine->queue_order.count + engine->queue_listened.count;
    page->count = page->count < QUEUE_PAGE_MAX ? page->count : QUEUE_PAGE_MAX;
    if (page->order == QUEUES_BY_SEEN && !page->pattern) {
        page_of_seen(engine, page);
    } else {
        page_of_best(engine, now_us, page);
    }
}

// ---------------------------------------------------------------------------------------------
// The oldest job of a namespace

// Examines some queues for the one with the oldest waiting job, continuing where the last call
// ended.
static void look_for_oldest(struct engine *engine)
{
    struct oldest *oldest = &engine->oldest;
    if (oldest->position >= engine->due_count || engine->due_count <= OLDEST_QUEUES) {
        oldest->position = 0;
        oldest->new_us = 0;
    }
    size_t end = oldest->position + OLDEST_QUEUES;
    end = end < engine->due_count ? end : engine->due_count;
    for (; oldest->position < end; oldest->position++) {
        if (oldest->position + AHEAD < end) {
            prefetch(engine->due[oldest->position + AHEAD]);
        }
        struct queue *queue = engine->due[oldest->position];
        int64_t since_us = oldest_of(engine, queue);
        if (since_us && (!oldest->new_us || since_us < oldest->new_us)) {
            oldest->new_us = since_us;
            oldest->new_id = queue->id;
        }
    }
    // The queue found last has changed, or another one has an older job.
    struct queue *queue = oldest->id ? queue_by_id(engine, oldest->id) : NULL;
    oldest->since_us = queue ? oldest_of(engine, queue) : 0;
    bool whole = oldest->position == engine->due_count;
    if (whole || !oldest->since_us || (oldest->new_us && oldest->new_us < oldest->since_us)) {
        oldest->since_us = oldest->new_us;
        oldest->id = oldest->new_us ? oldest->new_id : 0;
    }
}

enum status engine_totals(struct engine *engine, int64_t now_us, struct totals_view *view,
                          struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (status) {
        return status;
    }
    look_for_oldest(engine);
    *view = (struct totals_view){
        .queues = engine->queue_order.count,
        .paused = engine->paused_count,
        .workers = engine->worker_order.count,
        .recurring = engine->recurring.count,
        .failed_groups = engine->group_order.count,
        .bytes = engine->bytes,
    };
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        view->states[state] = engine_count(
            engine, &(struct count_filter){ .has_state = true, .state = (enum job_state)state });
    }
    const struct queue *queue =
        engine->oldest.since_us ? queue_by_id(engine, engine->oldest.id) : NULL;
    if (queue) {
        view->oldest_us = engine->oldest.since_us;
        view->oldest_queue = queue_name(queue);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// For metrics

bool engine_queue_figures(struct engine *engine, size_t index, struct queue_figures *out)
{
    struct index_node *node = index_at(&engine->queue_order, index);
    if (!node) {
        return false;
    }
    struct queue *queue = queue_of_order(node);
    *out = (struct queue_figures){
        .name = queue_name(queue),
        .metrics = queue->metrics,
        .oldest_us = oldest_of(engine, queue),
        .workers = queue->listeners.count,
        .paused = queue->paused,
    };
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        out->states[state] = queue->tallies.counts[state];
    }
    return true;
}

void engine_figures(const struct engine *engine, struct engine_figures *out)
{
    *out = (struct engine_figures){
        .metrics = &engine->metrics,
        .queues = engine->queue_order.count,
        .paused = engine->paused_count,
        .workers = engine->worker_order.count,
    };
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        out->states[state] = engine->tallies.counts[state];
    }
}

int64_t engine_oldest(struct engine *engine)
{
    look_for_oldest(engine);
    return engine->oldest.since_us;
}
