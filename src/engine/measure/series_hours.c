// SPDX-License-Identifier: MIT
// The minutes of a day, one hour at a time. In memory a minute has the same bytes as in the record
// of its hour (docs/file-format.md), usually about 25.
#include "engine/measure/series.h"

#include "base/buffer.h"

#include "engine/queue/queue.h"
#include "engine/state.h"

#include <string.h>

enum {
    VERSION = 1,
    HAS_WAIT = 1 << (SERIES_COUNTS + SERIES_DEPTHS), // in the mask of a minute
    HAS_RUN = HAS_WAIT << 1,
    MASK_END = HAS_RUN << 1,
    NUMBER_SIZE_MAX = 10,
    POINT_SIZE_MAX = 3 + (SERIES_COUNTS + SERIES_DEPTHS) * NUMBER_SIZE_MAX + 2 * SERIES_QUANTILES,
    CAPACITY_LEAST = 64,
    // For the minutes of all queues. Above that a queue keeps only its current hour.
    BYTES_MAX = 64 << 20,
};

// ---------------------------------------------------------------------------------------------
// Numbers

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
    for (; value >= 128; value >>= 7) {
        *at++ = (uint8_t)(value | 128);
    }
    *at++ = (uint8_t)value;
    return at;
}

struct numbers {
    const uint8_t *at, *end;
    bool bad;
};

static uint8_t take_byte(struct numbers *from)
{
    if (from->at == from->end) {
        from->bad = true;
        return 0;
    }
    return *from->at++;
}

static uint64_t take_number(struct numbers *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = take_byte(from);
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) {
            return value;
        }
    }
    from->bad = true;
    return 0;
}

static uint32_t take_u32(struct numbers *from)
{
    uint64_t value = take_number(from);
    from->bad = from->bad || value > UINT32_MAX;
    return (uint32_t)value;
}

// ---------------------------------------------------------------------------------------------
// Times

static size_t count_bars(const uint64_t buckets[HISTOGRAM_BUCKETS])
{
    size_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        count += buckets[i] != 0;
    }
    return count;
}

static uint64_t *put_bars(uint64_t *at, const uint64_t buckets[HISTOGRAM_BUCKETS])
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (buckets[i]) {
            *at++ = buckets[i] << 8 | i;
        }
    }
    return at;
}

static size_t bars_size(size_t count)
{
    return sizeof(struct series_bars) + count * sizeof(uint64_t);
}

struct series_bars *series_bars_new(struct engine *engine, const struct series_times *times)
{
    size_t wait_count = count_bars(times->wait), run_count = count_bars(times->run);
    size_t count = wait_count + run_count;
    struct series_bars *bars = count ? mem_alloc(engine->allocator, bars_size(count)) : NULL;
    if (bars) {
        bars->wait_count = wait_count;
        bars->run_count = run_count;
        (void)put_bars(put_bars(bars->bars, times->wait), times->run);
    }
    return bars;
}

void series_bars_free(struct engine *engine, struct series_bars *bars)
{
    mem_free(engine->allocator, bars, bars ? bars_size(bars->wait_count + bars->run_count) : 0);
}

void series_bars_add(const struct series_bars *bars, struct series_times *out)
{
    size_t count = bars ? bars->wait_count + bars->run_count : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t *buckets = i < bars->wait_count ? out->wait : out->run;
        buckets[bars->bars[i] & UINT8_MAX] += bars->bars[i] >> 8;
    }
}

// ---------------------------------------------------------------------------------------------
// Points

static size_t write_point(const struct series_point *point, unsigned minute, uint8_t *out)
{
    uint32_t values[SERIES_COUNTS + SERIES_DEPTHS];
    memcpy(values, point->counts, sizeof(point->counts));
    memcpy(values + SERIES_COUNTS, point->depths, sizeof(point->depths));
    unsigned mask = (point->wait[0] != SERIES_NO_BUCKET ? HAS_WAIT : 0) |
                    (point->run[0] != SERIES_NO_BUCKET ? HAS_RUN : 0);
    uint8_t *at = out + 3;
    for (unsigned i = 0; i < SERIES_COUNTS + SERIES_DEPTHS; i++) {
        if (values[i]) {
            mask |= 1U << i;
            at = put_number(at, values[i]);
        }
    }
    if (mask & HAS_WAIT) {
        memcpy(at, point->wait, SERIES_QUANTILES);
        at += SERIES_QUANTILES;
    }
    if (mask & HAS_RUN) {
        memcpy(at, point->run, SERIES_QUANTILES);
        at += SERIES_QUANTILES;
    }
    out[0] = (uint8_t)minute;
    out[1] = (uint8_t)mask;
    out[2] = (uint8_t)(mask >> 8);
    return (size_t)(at - out);
}

static void read_quantiles(struct numbers *from, bool has, uint8_t out[SERIES_QUANTILES])
{
    for (size_t i = 0; i < SERIES_QUANTILES; i++) {
        out[i] = has ? take_byte(from) : SERIES_NO_BUCKET;
        from->bad = from->bad || (has && out[i] >= HISTOGRAM_BUCKETS);
    }
}

// Returns the minute of the hour.
static unsigned read_point(struct numbers *from, struct series_point *out)
{
    unsigned minute = take_byte(from);
    unsigned mask = take_byte(from);
    mask |= (unsigned)take_byte(from) << 8;
    for (unsigned i = 0; i < SERIES_COUNTS + SERIES_DEPTHS; i++) {
        uint32_t value = mask >> i & 1 ? take_u32(from) : 0;
        *(i < SERIES_COUNTS ? &out->counts[i] : &out->depths[i - SERIES_COUNTS]) = value;
    }
    read_quantiles(from, mask & HAS_WAIT, out->wait);
    read_quantiles(from, mask & HAS_RUN, out->run);
    from->bad = from->bad || minute >= SERIES_HOUR_MINUTES || mask >= MASK_END;
    return minute;
}

static struct numbers points_of(const struct series_hour *hour)
{
    return (struct numbers){ .at = hour->bytes, .end = hour->bytes + hour->size };
}

// ---------------------------------------------------------------------------------------------
// Hours

static size_t hour_size(const struct series_hour *hour)
{
    return sizeof(*hour) + hour->capacity;
}

void series_hours_free(struct engine *engine, struct series_hour *hour)
{
    engine->series.bytes -= hour_size(hour);
    series_bars_free(engine, hour->times);
    mem_free(engine->allocator, hour->bytes, hour->capacity);
    mem_free(engine->allocator, hour, sizeof(*hour));
}

static void changed(struct engine *engine, struct series *series)
{
    if (series->queue) {
        queue_changed(engine, series->queue);
    } else {
        engine->series.dirty = engine->keeps_changes;
    }
}

// Drops an hour, and notifies the host if it asked for that.
static void drop(struct engine *engine, struct series *series, struct series_hour **link)
{
    struct series_hour *hour = *link;
    *link = hour->older;
    if (engine->keeps_changes) {
        hour->older = series->gone;
        series->gone = hour;
        changed(engine, series);
    } else {
        series_hours_free(engine, hour);
    }
}

void series_hours_drop(struct engine *engine, struct series *series, int64_t minute)
{
    for (struct series_hour **link = &series->hours; *link;) {
        if (((*link)->hour + 1) * SERIES_HOUR_MINUTES <= minute) {
            drop(engine, series, link);
        } else {
            link = &(*link)->older;
        }
    }
}

void series_hours_drop_from(struct engine *engine, struct series *series, int64_t hour)
{
    while (series->hours && series->hours->hour >= hour) {
        drop(engine, series, &series->hours);
    }
}

void series_hours_forget_gone(struct engine *engine, struct series *series)
{
    while (series->gone) {
        struct series_hour *hour = series->gone;
        series->gone = hour->older;
        series_hours_free(engine, hour);
    }
}

static struct series_hour *add_hour(struct engine *engine, struct series *series, int64_t number,
                                    const uint32_t before[SERIES_DEPTHS])
{
    struct series_hour *hour = mem_zalloc(engine->allocator, sizeof(*hour));
    if (!hour) {
        return NULL;
    }
    hour->hour = number;
    memcpy(hour->before, before, sizeof(hour->before));
    struct series_hour **link = &series->hours;
    while (*link && (*link)->hour > number) {
        link = &(*link)->older;
    }
    hour->older = *link;
    *link = hour;
    engine->series.bytes += sizeof(*hour);
    return hour;
}

static bool reserve(struct engine *engine, struct series_hour *hour, size_t size)
{
    size_t capacity = hour->capacity ? hour->capacity : CAPACITY_LEAST;
    while (capacity < hour->size + size) {
        capacity += capacity / 2;
    }
    if (capacity != hour->capacity) {
        uint8_t *bytes = mem_resize(engine->allocator, hour->bytes, hour->capacity, capacity);
        if (!bytes) {
            return false;
        }
        engine->series.bytes += capacity - hour->capacity;
        hour->bytes = bytes;
        hour->capacity = capacity;
    }
    return true;
}

// The last minute occurs again, as after a restart: subtracts it, and adds it to the new one.
static void merge_last(struct series_hour *hour, struct series_point *point)
{
    struct numbers from = points_of(hour);
    struct series_point last = { 0 };
    size_t start = 0;
    for (unsigned i = 0; i < hour->points; i++) {
        start = (size_t)(from.at - hour->bytes);
        (void)read_point(&from, &last);
    }
    hour->size = start;
    hour->points--;
    for (size_t i = 0; i < SERIES_COUNTS; i++) {
        point->counts[i] += last.counts[i];
    }
    if (point->wait[0] == SERIES_NO_BUCKET) {
        memcpy(point->wait, last.wait, sizeof(point->wait));
    }
    if (point->run[0] == SERIES_NO_BUCKET) {
        memcpy(point->run, last.run, sizeof(point->run));
    }
}

static void add_times(struct engine *engine, struct series_hour *hour,
                      const struct series_times *times)
{
    struct series_times all = *times;
    series_bars_add(hour->times, &all);
    struct series_bars *bars = series_bars_new(engine, &all);
    if (bars) {
        series_bars_free(engine, hour->times);
        hour->times = bars;
    }
}

void series_hours_add(struct engine *engine, struct series *series, int64_t minute,
                      const struct series_point *given, const uint32_t before[SERIES_DEPTHS],
                      const struct series_times *times)
{
    struct series_hour *hour = series->hours;
    int64_t last = hour ? hour->hour * SERIES_HOUR_MINUTES + hour->last_minute : -1;
    minute = minute > last ? minute : last;
    int64_t number = minute / SERIES_HOUR_MINUTES;
    if (!hour || hour->hour != number) {
        series_hours_drop(engine, series,
                          engine->series.bytes > BYTES_MAX ? minute : minute - SERIES_MINUTES);
        hour = add_hour(engine, series, number, before);
    }
    if (!hour || !reserve(engine, hour, POINT_SIZE_MAX)) {
        return;
    }
    struct series_point point = *given;
    if (minute == last) {
        merge_last(hour, &point);
    }
    hour->last_minute = (uint8_t)(minute % SERIES_HOUR_MINUTES);
    hour->size += write_point(&point, hour->last_minute, hour->bytes + hour->size);
    hour->points++;
    add_times(engine, hour, times);
    hour->dirty = engine->keeps_changes;
    changed(engine, series);
}

static void read_hour(const struct series_hour *hour, int64_t minute, size_t count,
                      struct series_point *out, bool *present)
{
    struct numbers from = points_of(hour);
    int64_t first = hour->hour * SERIES_HOUR_MINUTES - minute;
    for (unsigned i = 0; i < hour->points; i++) {
        struct series_point point;
        int64_t at = first + read_point(&from, &point);
        if (i == 0 && at > 0 && at <= (int64_t)count && !present[at - 1]) {
            // The state before, in the minutes without events.
            out[at - 1] = series_idle_point(hour->before);
            present[at - 1] = true;
        }
        if (at >= 0 && at < (int64_t)count) {
            out[at] = point;
            present[at] = true;
        }
    }
}

static void read_from_oldest(const struct series_hour *hour, int64_t minute, size_t count,
                             struct series_point *out, bool *present)
{
    const struct series_hour *hours[SERIES_MINUTES / SERIES_HOUR_MINUTES + 2];
    size_t found = 0;
    for (; hour && found < sizeof(hours) / sizeof(hours[0]); hour = hour->older) {
        hours[found++] = hour;
    }
    while (found > 0) {
        read_hour(hours[--found], minute, count, out, present);
    }
}

void series_hours_read(const struct series *series, int64_t minute, size_t count,
                       struct series_point *out, bool *present)
{
    read_from_oldest(series->hours, minute, count, out, present);
}

void series_hours_times(const struct series *series, int64_t minute, struct series_times *out)
{
    for (const struct series_hour *hour = series->hours; hour; hour = hour->older) {
        if ((hour->hour + 1) * SERIES_HOUR_MINUTES > minute) {
            series_bars_add(hour->times, out);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Records

static void write_number(struct buffer *out, uint64_t value)
{
    uint8_t bytes[NUMBER_SIZE_MAX];
    size_t size = (size_t)(put_number(bytes, value) - bytes);
    buffer_append(out, slice_make((const char *)bytes, size));
}

static void write_bars(struct buffer *out, const uint64_t *bars, size_t count)
{
    write_number(out, count);
    for (size_t i = 0; i < count; i++) {
        buffer_append_char(out, (char)(bars[i] & UINT8_MAX));
        write_number(out, bars[i] >> 8);
    }
}

void series_hour_write(const struct series_hour *hour, struct buffer *out)
{
    const struct series_bars *times = hour->times;
    buffer_append_char(out, VERSION);
    for (size_t i = 0; i < SERIES_DEPTHS; i++) {
        write_number(out, hour->before[i]);
    }
    write_bars(out, times ? times->bars : NULL, times ? times->wait_count : 0);
    write_bars(out, times ? times->bars + times->wait_count : NULL, times ? times->run_count : 0);
    buffer_append_char(out, (char)hour->points);
    buffer_append(out, slice_make((const char *)hour->bytes, hour->size));
}

static void read_bars(struct numbers *from, uint64_t out[HISTOGRAM_BUCKETS])
{
    uint64_t count = take_number(from);
    int last = -1;
    for (uint64_t i = 0; i < count && !from->bad; i++) {
        int bucket = take_byte(from);
        uint64_t value = take_number(from);
        from->bad =
            from->bad || bucket <= last || bucket >= HISTOGRAM_BUCKETS || value == 0 || value >> 56;
        if (!from->bad) {
            out[bucket] = value;
        }
        last = bucket;
    }
}

// Whether the remaining bytes are that many minutes in ascending order. Returns the last one.
static bool check_points(struct numbers from, unsigned count, uint8_t *last)
{
    struct series_point point;
    int before = -1;
    for (unsigned i = 0; i < count && !from.bad; i++) {
        int minute = (int)read_point(&from, &point);
        from.bad = from.bad || minute <= before;
        before = minute;
    }
    *last = (uint8_t)(before < 0 ? 0 : before);
    return !from.bad && from.at == from.end && count > 0;
}

static bool has_hour(const struct series *series, int64_t number)
{
    for (const struct series_hour *at = series->hours; at; at = at->older) {
        if (at->hour == number) {
            return true;
        }
    }
    return false;
}

enum status series_hour_load(struct engine *engine, struct series *series, int64_t number,
                             struct slice bytes)
{
    struct numbers from = { (const uint8_t *)bytes.data, (const uint8_t *)bytes.data + bytes.size,
                            false };
    uint32_t before[SERIES_DEPTHS];
    struct series_times times = { 0 };
    from.bad = bytes.size == 0 || take_byte(&from) != VERSION || has_hour(series, number);
    for (size_t i = 0; i < SERIES_DEPTHS; i++) {
        before[i] = take_u32(&from);
    }
    read_bars(&from, times.wait);
    read_bars(&from, times.run);
    unsigned points = take_byte(&from);
    uint8_t last_minute;
    if (from.bad || points > SERIES_HOUR_MINUTES || !check_points(from, points, &last_minute)) {
        return STATUS_CORRUPT;
    }
    struct series_hour *hour = add_hour(engine, series, number, before);
    size_t size = (size_t)(from.end - from.at);
    if (!hour || !reserve(engine, hour, size)) {
        return STATUS_NO_MEMORY;
    }
    memcpy(hour->bytes, from.at, size);
    hour->size = size;
    hour->points = (uint8_t)points;
    hour->last_minute = last_minute;
    hour->times = series_bars_new(engine, &times);
    bool has_times = count_bars(times.wait) + count_bars(times.run) > 0;
    return has_times && !hour->times ? STATUS_NO_MEMORY : STATUS_OK;
}
