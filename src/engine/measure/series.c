// SPDX-License-Identifier: MIT
#include "engine/measure/series.h"

#include "engine/name.h"
#include "engine/queue/queue.h"
#include "engine/records/walk.h"
#include "engine/state.h"

#include <string.h>

enum {
    WINDOW_MINUTES = 15,
    IDLE_S = 16 * SERIES_MINUTE_S,                      // then the rings are empty
    ASLEEP_S = (SERIES_MINUTES + 60) * SERIES_MINUTE_S, // then the minutes are empty too
};

#define US_PER_S INT64_C(1000000)

static const char *const names[SERIES_COUNTS] = {
    [SERIES_PUT] = "put",       [SERIES_POPPED] = "popped",   [SERIES_COMPLETED] = "completed",
    [SERIES_FAILED] = "failed", [SERIES_RETRIED] = "retried", [SERIES_LOST] = "lost",
};

const char *series_count_name(enum series_count count)
{
    return names[count];
}

// Counts of a period that has not ended.
struct recent {
    uint32_t wait[HISTOGRAM_BUCKETS], run[HISTOGRAM_BUCKETS];
};

// The times of a period that has ended.
struct times_of {
    int64_t period;
    struct series_bars *bars; // owned; may be NULL
};

// Period p is at p % SERIES_PERIODS. The ring of seconds has the 60 before the current second;
// likewise the ring of spans.
struct series_live {
    struct series_point seconds[SERIES_PERIODS], spans[SERIES_PERIODS];
    uint32_t minute_sums[SERIES_COUNTS];   // of `seconds`
    uint32_t minute_counts[SERIES_COUNTS]; // of the current minute, before its last span
    uint32_t opened[SERIES_DEPTHS];        // when the current minute was opened
    struct recent second, span, minute;    // each without the ones before it
    struct times_of span_times[SERIES_WINDOW_SPANS], minute_times[WINDOW_MINUTES];
};

// ---------------------------------------------------------------------------------------------
// Lists

static void unlink_series(struct engine *engine, struct series *series)
{
    if (series->list == SERIES_NOWHERE) {
        return;
    }
    *(series->newer ? &series->newer->older : &engine->series.lists[series->list].newest) =
        series->older;
    *(series->older ? &series->older->newer : &engine->series.lists[series->list].oldest) =
        series->newer;
    series->newer = series->older = NULL;
    series->list = SERIES_NOWHERE;
}

static void link_newest(struct engine *engine, struct series *series, enum series_list list)
{
    unlink_series(engine, series);
    series->list = list;
    series->older = engine->series.lists[list].newest;
    *(series->older ? &series->older->newer : &engine->series.lists[list].oldest) = series;
    engine->series.lists[list].newest = series;
}

bool series_check(const struct engine *engine)
{
    for (int list = 0; list < SERIES_LISTS; list++) {
        const struct series *newer = NULL;
        for (const struct series *at = engine->series.lists[list].newest; at; at = at->older) {
            bool owned = at->queue && at->queue->series == at;
            if (!owned || at->newer != newer || (int)at->list != list ||
                (list == SERIES_ASLEEP) != !at->live || at->second > engine->series.second) {
                return false;
            }
            newer = at;
        }
        if (engine->series.lists[list].oldest != newer) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// Making and freeing

static struct series **owner_of(struct engine *engine, struct queue *queue)
{
    return queue ? &queue->series : &engine->series.whole;
}

struct series *series_acquire(struct engine *engine, struct queue *queue)
{
    struct series **owner = owner_of(engine, queue);
    if (!*owner) {
        struct series *series = mem_zalloc(engine->allocator, sizeof(*series));
        if (!series) {
            return NULL;
        }
        series->queue = queue;
        series->second = series->touched = engine->series.second;
        if (queue) {
            link_newest(engine, series, SERIES_ASLEEP);
        }
        *owner = series;
    }
    return *owner;
}

static void free_times(struct engine *engine, struct times_of *times, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        series_bars_free(engine, times[i].bars);
    }
}

static void free_live(struct engine *engine, struct series *series)
{
    struct series_live *live = series->live;
    if (live) {
        free_times(engine, live->span_times, SERIES_WINDOW_SPANS);
        free_times(engine, live->minute_times, WINDOW_MINUTES);
        mem_free(engine->allocator, live, sizeof(*live));
        series->live = NULL;
    }
}

void series_free(struct engine *engine, struct series *series)
{
    if (!series) {
        return;
    }
    unlink_series(engine, series);
    free_live(engine, series);
    series_hours_forget_gone(engine, series);
    while (series->hours) {
        struct series_hour *hour = series->hours;
        series->hours = hour->older;
        series_hours_free(engine, hour);
    }
    *owner_of(engine, series->queue) = NULL;
    mem_free(engine->allocator, series, sizeof(*series));
}

// ---------------------------------------------------------------------------------------------
// Closing periods

static void depths_of(const struct engine *engine, const struct queue *queue,
                      uint32_t out[SERIES_DEPTHS])
{
    const struct tallies *tallies = queue ? &queue->tallies : &engine->tallies;
    for (size_t state = 0; state < JOB_STATE_COUNT; state++) {
        if (state != JOB_COMPLETE) {
            size_t count = tallies->counts[state];
            out[series_depth_of((enum job_state)state)] =
                count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        }
    }
}

uint8_t series_quantile(const uint64_t buckets[HISTOGRAM_BUCKETS], unsigned per_mille)
{
    uint64_t total = 0, seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        total += buckets[i];
    }
    // total * per_mille / 1000, rounded up, where the product may not fit.
    uint64_t rank = total / 1000 * per_mille + (total % 1000 * per_mille + 999) / 1000;
    for (size_t i = 0; total && i < HISTOGRAM_BUCKETS; i++) {
        seen += buckets[i];
        if (seen >= rank && seen) {
            return (uint8_t)i;
        }
    }
    return SERIES_NO_BUCKET;
}

static void quantiles_of(const uint64_t buckets[HISTOGRAM_BUCKETS], uint8_t out[SERIES_QUANTILES])
{
    static const unsigned per_mille[SERIES_QUANTILES] = { 500, 900, 990 };
    for (size_t i = 0; i < SERIES_QUANTILES; i++) {
        out[i] = series_quantile(buckets, per_mille[i]);
    }
}

static void add_recent(const struct recent *recent, struct series_times *out)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        out->wait[i] += recent->wait[i];
        out->run[i] += recent->run[i];
    }
}

static void sum_up(struct recent *from, struct recent *to)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        to->wait[i] += from->wait[i];
        to->run[i] += from->run[i];
    }
    *from = (struct recent){ 0 };
}

static struct series_point point_of(const uint32_t counts[SERIES_COUNTS],
                                    const uint32_t depths[SERIES_DEPTHS],
                                    const struct series_times *times)
{
    struct series_point point;
    memcpy(point.counts, counts, sizeof(point.counts));
    memcpy(point.depths, depths, sizeof(point.depths));
    quantiles_of(times->wait, point.wait);
    quantiles_of(times->run, point.run);
    return point;
}

struct series_point series_idle_point(const uint32_t depths[SERIES_DEPTHS])
{
    struct series_point point = { 0 };
    memcpy(point.depths, depths, sizeof(point.depths));
    memset(point.wait, SERIES_NO_BUCKET, sizeof(point.wait));
    memset(point.run, SERIES_NO_BUCKET, sizeof(point.run));
    return point;
}

static void push_second(struct series_live *live, int64_t second, const struct series_point *point)
{
    struct series_point *place = &live->seconds[second % SERIES_PERIODS];
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        live->minute_sums[i] += point->counts[i] - place->counts[i];
    }
    *place = *point;
}

static void keep_times(struct engine *engine, struct times_of *times, size_t count, int64_t period,
                       const struct series_times *what)
{
    struct times_of *place = &times[(size_t)period % count];
    series_bars_free(engine, place->bars);
    *place = (struct times_of){ .period = period, .bars = series_bars_new(engine, what) };
}

static void close_second(struct series *series, const uint32_t depths[SERIES_DEPTHS])
{
    struct series_live *live = series->live;
    struct series_times times = { 0 };
    add_recent(&live->second, &times);
    const struct series_point point = point_of(series->counts, depths, &times);
    push_second(live, series->second, &point);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        series->span_counts[i] += series->counts[i];
    }
    memset(series->counts, 0, sizeof(series->counts));
    sum_up(&live->second, &live->span);
}

static void close_span(struct engine *engine, struct series *series,
                       const uint32_t depths[SERIES_DEPTHS])
{
    struct series_live *live = series->live;
    int64_t span = series->second / SERIES_SPAN_S;
    struct series_times times = { 0 };
    add_recent(&live->span, &times);
    live->spans[span % SERIES_PERIODS] = point_of(series->span_counts, depths, &times);
    keep_times(engine, live->span_times, SERIES_WINDOW_SPANS, span, &times);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        live->minute_counts[i] += series->span_counts[i];
    }
    memcpy(series->spans[span % SERIES_WINDOW_SPANS], series->span_counts,
           sizeof(series->span_counts));
    memset(series->span_counts, 0, sizeof(series->span_counts));
    sum_up(&live->span, &live->minute);
}

static void close_minute(struct engine *engine, struct series *series,
                         const uint32_t depths[SERIES_DEPTHS])
{
    struct series_live *live = series->live;
    int64_t minute = series->second / SERIES_MINUTE_S;
    struct series_times times = { 0 };
    add_recent(&live->minute, &times);
    const struct series_point point = point_of(live->minute_counts, depths, &times);
    if (series->touched / SERIES_MINUTE_S >= minute) {
        series_hours_add(engine, series, minute, &point, live->opened, &times);
    }
    keep_times(engine, live->minute_times, WINDOW_MINUTES, minute, &times);
    memset(live->minute_counts, 0, sizeof(live->minute_counts));
    memset(&live->minute, 0, sizeof(live->minute));
}

// Adds the periods between two others, in which nothing happened.
static void fill_idle(struct series_live *live, int64_t from, int64_t to, bool seconds,
                      const struct series_point *idle)
{
    from = to - from > SERIES_PERIODS ? to - SERIES_PERIODS : from;
    for (int64_t at = from > 0 ? from : 0; at < to; at++) {
        if (seconds) {
            push_second(live, at, idle);
        } else {
            live->spans[at % SERIES_PERIODS] = *idle;
        }
    }
}

static void forget_spans(struct series *series, int64_t from, int64_t to)
{
    for (int64_t at = from; at < to && at < from + SERIES_WINDOW_SPANS; at++) {
        memset(series->spans[at % SERIES_WINDOW_SPANS], 0, sizeof(series->spans[0]));
    }
}

// Closes the periods that end when `second` begins.
static void advance(struct engine *engine, struct series *series, int64_t second)
{
    uint32_t depths[SERIES_DEPTHS];
    depths_of(engine, series->queue, depths);
    const struct series_point idle = series_idle_point(depths);
    int64_t from = series->second;
    close_second(series, depths);
    fill_idle(series->live, from + 1, second, true, &idle);
    if (second / SERIES_SPAN_S > from / SERIES_SPAN_S) {
        close_span(engine, series, depths);
        fill_idle(series->live, from / SERIES_SPAN_S + 1, second / SERIES_SPAN_S, false, &idle);
        forget_spans(series, from / SERIES_SPAN_S + 1, second / SERIES_SPAN_S);
    }
    if (second / SERIES_MINUTE_S > from / SERIES_MINUTE_S) {
        close_minute(engine, series, depths);
        memcpy(series->live->opened, depths, sizeof(depths));
    }
    series->second = second;
}

// ---------------------------------------------------------------------------------------------
// Counting

void series_begin(struct engine *engine, int64_t now_us)
{
    struct series_all *all = &engine->series;
    int64_t second = now_us / US_PER_S;
    if (second > all->second) {
        all->second = second;
        all->next_us = (second + 1) * US_PER_S;
    }
}

// Allocates the rings of a series without them; the state of its queue has not changed since they
// were freed.
static bool wake(struct engine *engine, struct series *series)
{
    series->live = mem_zalloc(engine->allocator, sizeof(*series->live));
    if (!series->live) {
        return false;
    }
    struct series_live *live = series->live;
    uint32_t depths[SERIES_DEPTHS];
    depths_of(engine, series->queue, depths);
    const struct series_point idle = series_idle_point(depths);
    int64_t second = engine->series.second;
    fill_idle(live, second - SERIES_PERIODS, second, true, &idle);
    fill_idle(live, second / SERIES_SPAN_S - SERIES_PERIODS, second / SERIES_SPAN_S, false, &idle);
    memcpy(live->opened, depths, sizeof(depths));
    memset(series->counts, 0, sizeof(series->counts));
    memset(series->span_counts, 0, sizeof(series->span_counts));
    memset(series->spans, 0, sizeof(series->spans));
    series->second = second;
    return true;
}

// The series for events of this second; NULL if there is no memory.
static struct series *turn(struct engine *engine, struct queue *queue)
{
    struct series *series = series_acquire(engine, queue);
    if (!series || (!series->live && !wake(engine, series))) {
        return NULL;
    }
    if (series->second < engine->series.second) {
        advance(engine, series, engine->series.second);
    }
    series->touched = engine->series.second;
    return series;
}

void series_advance(struct engine *engine, struct queue *queue)
{
    queue->series_second = engine->series.second;
    struct series *series = turn(engine, queue);
    if (series) {
        link_newest(engine, series, SERIES_OPEN);
    }
    (void)turn(engine, NULL);
}

static void add_count(struct series *series, enum series_count what)
{
    if (series && series->live) {
        series->counts[what]++;
    }
}

void series_count(struct engine *engine, struct queue *queue, enum series_count what)
{
    series_touch(engine, queue);
    add_count(queue->series, what);
    add_count(engine->series.whole, what);
}

static void add_time(struct series *series, bool run, size_t bucket)
{
    if (series && series->live) {
        struct recent *recent = &series->live->second;
        (run ? recent->run : recent->wait)[bucket]++;
    }
}

void series_time(struct engine *engine, struct queue *queue, bool run, size_t bucket)
{
    series_touch(engine, queue);
    add_time(queue->series, run, bucket);
    add_time(engine->series.whole, run, bucket);
}

// ---------------------------------------------------------------------------------------------
// Periodic work

static struct series *oldest(const struct engine *engine, enum series_list list)
{
    return engine->series.lists[list].oldest;
}

// Drops all minutes, so that nothing is left.
static void forget(struct engine *engine, struct series *series)
{
    struct queue *queue = series->queue;
    series_hours_drop(engine, series, INT64_MAX);
    if (series->gone) {
        // The host is notified of them first.
        link_newest(engine, series, SERIES_ASLEEP);
        series->touched = engine->series.second;
        return;
    }
    series_free(engine, series);
    queue->series_second = queue->oldest_second = -1;
}

// Closes the series that is due first. False: none is due.
static bool close_one(struct engine *engine)
{
    int64_t second = engine->series.second, minute = second / SERIES_MINUTE_S;
    struct series *whole = engine->series.whole;
    struct series *series = oldest(engine, SERIES_OPEN);
    if (series && series->second / SERIES_MINUTE_S < minute) {
        advance(engine, series, second);
        link_newest(engine, series, SERIES_IDLE);
        return true;
    }
    if (whole && whole->live && whole->second / SERIES_MINUTE_S < minute &&
        whole->touched / SERIES_MINUTE_S >= whole->second / SERIES_MINUTE_S) {
        advance(engine, whole, second);
        return true;
    }
    series = oldest(engine, SERIES_IDLE);
    if (series && series->touched + IDLE_S <= second) {
        free_live(engine, series);
        link_newest(engine, series, SERIES_ASLEEP);
        series->queue->series_second = series->queue->oldest_second = -1;
        return true;
    }
    series = oldest(engine, SERIES_ASLEEP);
    if (series && series->touched + ASLEEP_S <= second) {
        forget(engine, series);
        return true;
    }
    return false;
}

bool engine_series_close(struct engine *engine, int64_t now_us)
{
    if (engine->clock == ENGINE_CLOCK_SERVER && now_us >= engine->now_us &&
        now_us <= ENGINE_TIME_MAX && engine->series.second >= 0) {
        series_begin(engine, now_us);
    }
    for (int i = 0; i < SERIES_SLICE; i++) {
        if (!close_one(engine)) {
            return false;
        }
    }
    return true;
}

static void set_back(struct engine *engine, struct series *series, int64_t second)
{
    if (!series) {
        return;
    }
    free_live(engine, series);
    if (series->queue) {
        link_newest(engine, series, SERIES_ASLEEP);
        series->queue->series_second = series->queue->oldest_second = -1;
    }
    memset(series->counts, 0, sizeof(series->counts));
    series->second = series->touched = second;
    series_hours_drop_from(engine, series, second / SERIES_MINUTE_S / SERIES_HOUR_MINUTES);
}

struct setting_back {
    struct engine *engine;
    int64_t second;
};

static void set_back_queue(void *context, struct queue *queue)
{
    const struct setting_back *setting = context;
    set_back(setting->engine, queue->series, setting->second);
    queue->oldest_second = -1;
}

void series_set_back(struct engine *engine, int64_t to_us)
{
    struct setting_back setting = { engine, to_us / US_PER_S };
    if (setting.second >= engine->series.second) {
        return;
    }
    engine->series.second = setting.second;
    engine->series.next_us = (setting.second + 1) * US_PER_S;
    set_back(engine, engine->series.whole, setting.second);
    walk_queues(engine, set_back_queue, &setting);
}

// ---------------------------------------------------------------------------------------------
// Reading

// The current second for a reader at `now_us`.
static int64_t second_at(const struct engine *engine, int64_t now_us)
{
    int64_t second = now_us / US_PER_S;
    return second > engine->series.second ? second : engine->series.second;
}

// Adds the times of the current second, span and minute.
static void add_open(const struct series_live *live, int64_t step_s, struct series_times *out)
{
    add_recent(&live->second, out);
    if (step_s >= SERIES_SPAN_S) {
        add_recent(&live->span, out);
    }
    if (step_s >= SERIES_MINUTE_S) {
        add_recent(&live->minute, out);
    }
}

// The period that was current when the series was last changed, as it will be when it ends.
static struct series_point open_point(const struct series *series, int64_t step_s,
                                      const uint32_t depths[SERIES_DEPTHS])
{
    const struct series_live *live = series->live;
    struct series_times times = { 0 };
    add_open(live, step_s, &times);
    struct series_point point = point_of(series->counts, depths, &times);
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        point.counts[i] += step_s >= SERIES_SPAN_S ? series->span_counts[i] : 0;
        point.counts[i] += step_s >= SERIES_MINUTE_S ? live->minute_counts[i] : 0;
    }
    return point;
}

static void read_ring(const struct series *series, int64_t first, size_t count, int64_t step_s,
                      const uint32_t depths[SERIES_DEPTHS], struct series_point *out)
{
    const struct series_live *live = series ? series->live : NULL;
    int64_t open = live ? series->second / step_s : -1;
    for (size_t i = 0; i < count; i++) {
        int64_t period = first + (int64_t)i;
        if (live && period == open) {
            out[i] = open_point(series, step_s, depths);
        } else if (live && period < open && period >= open - SERIES_PERIODS) {
            const struct series_point *ring = step_s == 1 ? live->seconds : live->spans;
            out[i] = ring[period % SERIES_PERIODS];
        } else {
            out[i] = series_idle_point(depths);
        }
    }
}

// Adds the minutes without events between those with events.
static void fill_minutes(struct series_point *points, const bool *present, size_t count)
{
    const struct series_point nothing = series_idle_point((const uint32_t[SERIES_DEPTHS]){ 0 });
    for (size_t i = 0; i < count; i++) {
        if (!present[i]) {
            points[i] = i ? series_idle_point(points[i - 1].depths) : nothing;
        }
    }
}

static void read_minutes(const struct series *series, int64_t first, size_t count,
                         const uint32_t depths[SERIES_DEPTHS], struct series_point *out)
{
    bool present[SERIES_MINUTES] = { false };
    struct series_point *points = out;
    if (series) {
        series_hours_read(series, first, count, points, present);
    }
    int64_t last = series && series->live ? series->second / SERIES_MINUTE_S : -1;
    if (last >= first && last < first + (int64_t)count) {
        points[last - first] = open_point(series, SERIES_MINUTE_S, depths);
        present[last - first] = true;
    }
    // After the last event everything is as it is now; also before the first one, if there is none.
    size_t known = count;
    while (known > 0 && !present[known - 1]) {
        known--;
    }
    for (size_t i = known; i < count; i++) {
        points[i] = series_idle_point(depths);
        present[i] = true;
    }
    fill_minutes(points, present, count);
}

static void add_kept(const struct times_of *times, size_t count, int64_t from,
                     struct series_times *out)
{
    for (size_t i = 0; i < count; i++) {
        if (times[i].period >= from) {
            series_bars_add(times[i].bars, out);
        }
    }
}

static void read_times(const struct series *series, int64_t second, int64_t step_s,
                       struct series_times *out)
{
    const struct series_live *live = series ? series->live : NULL;
    int64_t minute = second / SERIES_MINUTE_S;
    if (series && step_s == SERIES_MINUTE_S) {
        series_hours_times(series, minute - SERIES_MINUTES, out);
    } else if (live && step_s == SERIES_SPAN_S) {
        add_kept(live->minute_times, WINDOW_MINUTES, minute - WINDOW_MINUTES, out);
    } else if (live) {
        add_kept(live->span_times, SERIES_WINDOW_SPANS,
                 second / SERIES_SPAN_S - SERIES_WINDOW_SPANS, out);
    }
    // What is not part of a span or minute yet.
    int64_t window_s = step_s == 1 ? SERIES_MINUTE_S : step_s * SERIES_PERIODS;
    if (live && series->second >= second - window_s) {
        add_open(live, step_s == 1 ? SERIES_SPAN_S : SERIES_MINUTE_S, out);
    }
}

enum status engine_series(struct engine *engine, int64_t now_us, struct slice name, int64_t step_s,
                          struct series_view *out, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status && name.size) {
        status = name_check(name, "queue", error);
    }
    if (status) {
        return status;
    }
    const struct queue *queue = name.size ? queue_find(engine, name) : NULL;
    bool is_there = queue || !name.size;
    const struct series *series = queue ? queue->series : is_there ? engine->series.whole : NULL;
    int64_t second = second_at(engine, now_us), end = second / step_s;
    size_t most = step_s == SERIES_MINUTE_S ? SERIES_MINUTES : SERIES_PERIODS;
    uint32_t depths[SERIES_DEPTHS] = { 0 };
    if (is_there) {
        depths_of(engine, queue, depths);
    }
    out->count = end < (int64_t)most ? (size_t)end : most;
    int64_t first = end - (int64_t)out->count;
    out->from_us = first * step_s * US_PER_S;
    if (step_s == SERIES_MINUTE_S) {
        read_minutes(series, first, out->count, depths, out->points);
    } else {
        read_ring(series, first, out->count, step_s, depths, out->points);
    }
    out->times = (struct series_times){ 0 };
    read_times(series, second, step_s, &out->times);
    return STATUS_OK;
}

// The counts of a series in the 60 seconds before `second`, and in the last one of them.
static void rates_of(const struct series *series, int64_t second, struct series_rates *out)
{
    *out = (struct series_rates){ 0 };
    if (!series || !series->live || series->second < second - SERIES_PERIODS) {
        return;
    }
    const struct series_live *live = series->live;
    memcpy(out->minute, live->minute_sums, sizeof(out->minute));
    for (size_t i = 0; i < SERIES_COUNTS && series->second < second; i++) {
        out->minute[i] += series->counts[i];
    }
    // The second 60 seconds before the last change.
    int64_t first = series->second > SERIES_PERIODS ? series->second - SERIES_PERIODS : 0;
    for (int64_t at = first; at < second - SERIES_PERIODS; at++) {
        const struct series_point *gone = &live->seconds[at % SERIES_PERIODS];
        for (size_t i = 0; i < SERIES_COUNTS; i++) {
            out->minute[i] -= gone->counts[i];
        }
    }
    if (series->second == second - 1) {
        memcpy(out->second, series->counts, sizeof(out->second));
    } else if (series->second == second && second > 0) {
        memcpy(out->second, live->seconds[(second - 1) % SERIES_PERIODS].counts,
               sizeof(out->second));
    }
}

uint64_t series_recent(const struct engine *engine, int64_t now_us, const struct series *series,
                       enum series_count what)
{
    if (!series || !series->live) {
        return 0;
    }
    int64_t now_span = second_at(engine, now_us) / SERIES_SPAN_S;
    int64_t open = series->second / SERIES_SPAN_S;
    uint64_t count = open >= now_span - SERIES_WINDOW_SPANS
                         ? (uint64_t)series->span_counts[what] + series->counts[what]
                         : 0;
    for (int64_t at = open - 1;
         at >= 0 && at >= now_span - SERIES_WINDOW_SPANS && at >= open - SERIES_WINDOW_SPANS;
         at--) {
        count += series->spans[at % SERIES_WINDOW_SPANS][what];
    }
    return count;
}

void engine_rates(const struct engine *engine, int64_t now_us, struct slice queue,
                  struct series_rates *out)
{
    const struct queue *found = queue.size ? queue_find(engine, queue) : NULL;
    const struct series *series = queue.size ? NULL : engine->series.whole;
    rates_of(found ? found->series : series, second_at(engine, now_us), out);
}

bool engine_changed_next(const struct engine *engine, int64_t now_us, const void **position,
                         struct slice *name)
{
    const struct series *last = *position;
    const struct series *series = last ? last->older : engine->series.lists[SERIES_OPEN].newest;
    if (!series || series->touched < second_at(engine, now_us) - 1) {
        return false;
    }
    *position = series;
    *name = queue_name(series->queue);
    return true;
}
