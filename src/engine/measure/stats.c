// SPDX-License-Identifier: MIT
// The histogram's buckets: 60 of a second, 59 of a minute (from the first on), 23 of an hour, 6 of
// a day. The last one also counts what is longer than six days.
#include "engine/measure/stats.h"

#include "engine/queue/queue.h"
#include "engine/state.h"

#include <math.h>
#include <string.h>

#define US_PER_S INT64_C(1000000)

static int64_t day_of(int64_t when_us)
{
    int64_t day = when_us / STATS_DAY_US;
    return when_us % STATS_DAY_US < 0 ? day - 1 : day;
}

struct stats_day *stats_find(const struct queue *queue, int64_t when_us)
{
    int64_t day = day_of(when_us);
    for (struct stats_day *at = queue->days; at && at->day >= day; at = at->older) {
        if (at->day == day) {
            return at;
        }
    }
    return NULL;
}

static void free_histogram(struct engine *engine, struct stats_counts *counts)
{
    mem_free(engine->allocator, counts->histogram,
             counts->histogram ? STATS_BUCKETS * sizeof(uint64_t) : 0);
    counts->histogram = NULL;
}

void stats_drop_histograms(struct engine *engine, struct stats_day *day)
{
    free_histogram(engine, &day->wait);
    free_histogram(engine, &day->run);
}

static void free_day(struct engine *engine, struct stats_day *day)
{
    stats_drop_histograms(engine, day);
    mem_free(engine->allocator, day, sizeof(*day));
}

static struct stats_day *day_new(struct engine *engine, int64_t day)
{
    struct stats_day *made = mem_zalloc(engine->allocator, sizeof(*made));
    if (!made) {
        return NULL;
    }
    made->day = day;
    made->wait.histogram = mem_zalloc(engine->allocator, STATS_BUCKETS * sizeof(uint64_t));
    made->run.histogram = mem_zalloc(engine->allocator, STATS_BUCKETS * sizeof(uint64_t));
    if (!made->wait.histogram || !made->run.histogram) {
        free_day(engine, made);
        return NULL;
    }
    return made;
}

// The host is notified that the day is gone, if it asked for that.
static void drop_day(struct engine *engine, struct queue *queue, struct stats_day *day)
{
    stats_changed(engine, queue, day);
    if (engine->keeps_changes) {
        day->older = queue->days_gone;
        queue->days_gone = day;
    } else {
        free_day(engine, day);
    }
}

// Removes days that are too old, counted from the newest day.
static void forget_old(struct engine *engine, struct queue *queue)
{
    int64_t newest = queue->days->day;
    for (struct stats_day **link = &queue->days->older; *link;) {
        struct stats_day *day = *link;
        if (newest - day->day >= engine->config.histogram_history && day->wait.histogram) {
            stats_drop_histograms(engine, day);
            stats_changed(engine, queue, day);
        }
        if (newest - day->day >= engine->config.stats_history) {
            *link = day->older;
            drop_day(engine, queue, day);
        } else {
            link = &day->older;
        }
    }
}

// Creates a day and inserts it in order.
static struct stats_day *add_day(struct engine *engine, struct queue *queue, int64_t day)
{
    struct stats_day *made = day_new(engine, day);
    if (!made) {
        return NULL;
    }
    struct stats_day **link = &queue->days;
    while (*link && (*link)->day > day) {
        link = &(*link)->older;
    }
    made->older = *link;
    *link = made;
    return made;
}

enum status stats_reserve(struct engine *engine, struct queue *queue, int64_t when_us)
{
    if (stats_find(queue, when_us)) {
        return STATUS_OK;
    }
    const struct stats_day *made = add_day(engine, queue, day_of(when_us));
    if (made && made == queue->days) {
        forget_old(engine, queue);
    }
    return made ? STATUS_OK : STATUS_NO_MEMORY;
}

struct stats_day *stats_load(struct engine *engine, struct queue *queue, int64_t day)
{
    struct stats_day *found = stats_find(queue, day * STATS_DAY_US);
    return found ? found : add_day(engine, queue, day);
}

static size_t bucket_of(int64_t seconds)
{
    if (seconds < 60) {
        return seconds > 0 ? (size_t)seconds : 0;
    }
    if (seconds < 3600) {
        return 60 + (size_t)(seconds / 60) - 1;
    }
    if (seconds < 86400) {
        return 60 + 59 + (size_t)(seconds / 3600) - 1;
    }
    size_t days = (size_t)(seconds / 86400);
    return 60 + 59 + 23 + (days < 6 ? days : 6) - 1;
}

void stats_add(struct stats_counts *counts, int64_t value_us)
{
    double value = (double)value_us / (double)US_PER_S;
    counts->count++;
    if (counts->count == 1) {
        counts->mean = value;
        counts->vk = 0;
    } else {
        double mean = counts->mean;
        counts->mean = mean + (value - mean) / (double)counts->count;
        counts->vk += (value - counts->mean) * (value - mean);
    }
    if (counts->histogram) {
        counts->histogram[bucket_of(value_us / US_PER_S)]++;
    }
}

void stats_changed(struct engine *engine, struct queue *queue, struct stats_day *day)
{
    if (engine->keeps_changes) {
        day->dirty = true;
        queue_changed(engine, queue);
    }
}

void stats_forget_gone(struct engine *engine, struct queue *queue)
{
    while (queue->days_gone) {
        struct stats_day *day = queue->days_gone;
        queue->days_gone = day->older;
        free_day(engine, day);
    }
}

void stats_release(struct engine *engine, struct queue *queue)
{
    stats_forget_gone(engine, queue);
    while (queue->days) {
        struct stats_day *day = queue->days;
        queue->days = day->older;
        free_day(engine, day);
    }
}

static void view_series(const struct stats_counts *counts, struct stats_series *series)
{
    series->count = counts->count;
    series->mean = counts->mean;
    series->std = counts->count > 1 ? sqrt(counts->vk / (double)(counts->count - 1)) : 0;
    if (counts->histogram) {
        memcpy(series->histogram, counts->histogram, sizeof(series->histogram));
    }
}

static void view_day(const struct stats_day *day, struct stats_view *view)
{
    view->lost_leases = day->lost_leases;
    view->retries = day->retries;
    view->failed = day->failed;
    view->failures = day->failures;
    view_series(&day->wait, &view->wait);
    view_series(&day->run, &view->run);
}

void stats_day_view(const struct stats_day_view *day, struct stats_view *out)
{
    *out = (struct stats_view){ 0 };
    view_day(day->day, out);
}

// Adds the days of a queue before `before_day`. False: the page is full.
static bool add_days(struct stats_days_page *page, const struct queue *queue, int64_t first_day,
                     int64_t before_day)
{
    for (const struct stats_day *day = queue->days; day && day->day >= first_day;
         day = day->older) {
        if (day->day >= before_day) {
            continue;
        }
        if (page->found == page->count) {
            return false;
        }
        page->days[page->found++] = (struct stats_day_view){ .queue = queue_name(queue),
                                                             .start_us = day->day * STATS_DAY_US,
                                                             .day = day };
        page->last_id = queue->id;
        page->last_day = day->day;
    }
    return true;
}

void engine_stats_days(const struct engine *engine, struct stats_days_page *page)
{
    int64_t first_day = page->from_us == INT64_MIN ? INT64_MIN : day_of(page->from_us);
    page->count = page->count < STATS_DAYS_MAX ? page->count : STATS_DAYS_MAX;
    page->found = 0;
    page->more = false;
    if (page->queue.size) {
        const struct queue *queue = queue_find(engine, page->queue);
        page->more = queue && !add_days(page, queue, first_day,
                                        page->has_after ? page->after_day : INT64_MAX);
        return;
    }
    struct index_key from = time_key((int64_t)page->after_id, page->after_id);
    struct index_cursor cursor = index_cursor_at(
        &engine->queue_all, page->has_after ? index_rank(&engine->queue_all, from) : 0);
    struct index_node *node = index_cursor_next(&cursor);
    for (size_t looked = 0; node; looked++, node = index_cursor_next(&cursor)) {
        const struct queue *queue = queue_of_all(node);
        bool is_first = page->has_after && queue->id == page->after_id;
        if (looked == STATS_QUEUES_MAX ||
            !add_days(page, queue, first_day, is_first ? page->after_day : INT64_MAX)) {
            page->more = true;
            return;
        }
        // All days of this queue are in the page, or none are wanted.
        page->last_id = queue->id;
        page->last_day = INT64_MIN;
    }
}

void engine_stats(const struct engine *engine, struct slice name, int64_t date_us,
                  struct stats_view *view)
{
    *view = (struct stats_view){ 0 };
    const struct queue *queue = queue_find(engine, name);
    const struct stats_day *day = queue ? stats_find(queue, date_us) : NULL;
    if (day) {
        view_day(day, view);
    }
}
