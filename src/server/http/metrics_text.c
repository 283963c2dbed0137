// SPDX-License-Identifier: MIT
#include "server/http/metrics_text.h"

#include "base/ascii.h"
#include "base/num.h"
#include "base/text.h"
#include "wire/http_accept.h"

#include <assert.h>
#include <stdio.h>

enum {
    LE_SIZE = 64,
};

// ---------------------------------------------------------------------------------------------
// Families

static const char *const type_names[] = {
    [METRIC_GAUGE] = "gauge",
    [METRIC_COUNTER] = "counter",
    [METRIC_HISTOGRAM] = "histogram",
    [METRIC_SUMMARY] = "summary",
};

static void append(struct buffer *out, const char *text)
{
    buffer_append(out, slice_from_cstr(text));
}

// In the Prometheus format the name of a counter's family is the name of its samples.
static void append_comment(const struct metrics_text *text, const char *what, const char *words)
{
    struct buffer *out = text->out;
    append(out, "# ");
    append(out, what);
    buffer_append_char(out, ' ');
    append(out, text->metric->name);
    append(out, !text->open && text->metric->type == METRIC_COUNTER ? "_total " : " ");
    append(out, words);
    buffer_append_char(out, '\n');
}

void metrics_family(struct metrics_text *text, const struct metric *metric)
{
    static const char *const units[] = { "seconds", "bytes" };
    text->metric = metric;
    append_comment(text, "HELP", metric->help);
    append_comment(text, "TYPE", type_names[metric->type]);
    for (size_t i = 0; text->open && i < sizeof(units) / sizeof(units[0]); i++) {
        if (slice_ends_with(slice_from_cstr(metric->name), slice_from_cstr(units[i]))) {
            append_comment(text, "UNIT", units[i]);
        }
    }
}

void metrics_end(struct metrics_text *text)
{
    if (text->open) {
        append(text->out, "# EOF\n");
    }
}

// ---------------------------------------------------------------------------------------------
// Samples

static void append_escaped(struct buffer *labels, struct slice value)
{
    while (value.size) {
        size_t size = text_character(value);
        char c = value.data[0];
        if (c == '\n') {
            append(labels, "\\n");
            size = 1;
        } else if (size == 0) {
            buffer_printf(labels, "\\\\x%02X", (unsigned char)c);
            size = 1;
        } else {
            if (c == '\\' || c == '"') {
                buffer_append_char(labels, '\\');
            }
            buffer_append(labels, slice_sub(value, 0, size));
        }
        value = slice_sub(value, size, SIZE_MAX);
    }
}

void metrics_label(struct buffer *labels, const char *name, struct slice value)
{
    if (labels->size) {
        buffer_append_char(labels, ',');
    }
    append(labels, name);
    append(labels, "=\"");
    append_escaped(labels, value);
    buffer_append_char(labels, '"');
}

// Writes a sample except for its value. `more`: labels that follow the others, or empty.
static void begin_sample(const struct metrics_text *text, const char *suffix, struct slice labels,
                         struct slice more)
{
    struct buffer *out = text->out;
    append(out, text->metric->name);
    append(out, suffix);
    if (labels.size || more.size) {
        buffer_append_char(out, '{');
        buffer_append(out, labels);
        if (labels.size && more.size) {
            buffer_append_char(out, ',');
        }
        buffer_append(out, more);
        buffer_append_char(out, '}');
    }
    buffer_append_char(out, ' ');
}

static void sample_count(const struct metrics_text *text, const char *suffix, struct slice labels,
                         struct slice more, uint64_t value)
{
    begin_sample(text, suffix, labels, more);
    num_append_u64(text->out, value);
    buffer_append_char(text->out, '\n');
}

static void sample_time(const struct metrics_text *text, const char *suffix, struct slice labels,
                        int64_t us)
{
    begin_sample(text, suffix, labels, SLICE_EMPTY);
    num_append_seconds(text->out, us);
    buffer_append_char(text->out, '\n');
}

static const char *suffix_of(const struct metrics_text *text)
{
    return text->metric->type == METRIC_COUNTER ? "_total" : "";
}

void metrics_count(struct metrics_text *text, struct slice labels, uint64_t value)
{
    sample_count(text, suffix_of(text), labels, SLICE_EMPTY, value);
}

void metrics_time(struct metrics_text *text, struct slice labels, int64_t us)
{
    sample_time(text, suffix_of(text), labels, us);
}

void metrics_times(struct metrics_text *text, struct slice labels, uint64_t count, uint64_t sum_us)
{
    sample_count(text, "_count", labels, SLICE_EMPTY, count);
    sample_time(text, "_sum", labels, (int64_t)sum_us);
}

// ---------------------------------------------------------------------------------------------
// Histograms

// The largest integer below a power of two is a bound of struct histogram.
#define BELOW(power) (((int64_t)1 << (power)) - 1)

static const int64_t long_items[] = {
    BELOW(10), BELOW(12), BELOW(14), BELOW(16), BELOW(18), BELOW(20), BELOW(22), BELOW(24),
    BELOW(26), BELOW(28), BELOW(30), BELOW(32), BELOW(34), BELOW(36), BELOW(38), BELOW(40),
};

static const int64_t short_items[] = {
    BELOW(4),  BELOW(6),  BELOW(8),  BELOW(10), BELOW(12),
    BELOW(14), BELOW(16), BELOW(18), BELOW(20), BELOW(22),
};

static const int64_t few_items[] = { 1, 2, 3, 4, 5, 7, 9, 15, 31, 63, 127 };

#define BOUNDS(list) .count = sizeof(list) / sizeof((list)[0]), .items = (list)

const struct metric_bounds metric_bounds_long = { .times = true, BOUNDS(long_items) };
const struct metric_bounds metric_bounds_short = { .times = true, BOUNDS(short_items) };
const struct metric_bounds metric_bounds_few = { BOUNDS(few_items) };

// A bound as the label `le`, the same in both formats: with a decimal, as OpenMetrics requires.
static struct slice le_label(char text[LE_SIZE], int64_t bound, bool times)
{
    int size = times ? snprintf(text, LE_SIZE, "le=\"%lld.%06lld\"", (long long)(bound / 1000000),
                                (long long)(bound % 1000000))
                     : snprintf(text, LE_SIZE, "le=\"%lld.0\"", (long long)bound);
    return slice_make(text, (size_t)size);
}

void metrics_counts_add(struct metric_counts *counts, const struct histogram *histogram,
                        const struct metric_bounds *bounds)
{
    size_t bucket = 0;
    assert(bounds->count <= METRIC_BOUNDS_MAX);
    for (size_t i = 0; i < bounds->count; i++) {
        for (; histogram_bound(bucket) <= bounds->items[i]; bucket++) {
            counts->buckets[i] += histogram->buckets[bucket];
        }
    }
    counts->count += histogram->count;
    counts->sum += histogram->sum;
}

void metrics_counts_subtract(struct metric_counts *counts, const struct metric_counts *part)
{
    for (size_t i = 0; i < METRIC_BOUNDS_MAX; i++) {
        counts->buckets[i] -= part->buckets[i];
    }
    counts->count -= part->count;
    counts->sum -= part->sum;
}

void metrics_counts_write(struct metrics_text *text, struct slice labels,
                          const struct metric_counts *counts, const struct metric_bounds *bounds)
{
    char le[LE_SIZE];
    uint64_t count = 0;
    for (size_t i = 0; i < bounds->count; i++) {
        count += counts->buckets[i];
        sample_count(text, "_bucket", labels, le_label(le, bounds->items[i], bounds->times), count);
    }
    sample_count(text, "_bucket", labels, SLICE("le=\"+Inf\""), counts->count);
    sample_count(text, "_count", labels, SLICE_EMPTY, counts->count);
    if (bounds->times) {
        sample_time(text, "_sum", labels, (int64_t)counts->sum);
    } else {
        sample_count(text, "_sum", labels, SLICE_EMPTY, counts->sum);
    }
}

void metrics_histogram(struct metrics_text *text, struct slice labels,
                       const struct histogram *histogram, const struct metric_bounds *bounds)
{
    struct metric_counts counts = { 0 };
    metrics_counts_add(&counts, histogram, bounds);
    metrics_counts_write(text, labels, &counts, bounds);
}

// ---------------------------------------------------------------------------------------------
// Selection of the format

bool metrics_wants_open(struct slice accept)
{
    double open = 0, plain = 0;
    struct http_accept item;
    while (http_accept_next(&accept, &item)) {
        if (ascii_equal(item.value, SLICE("application/openmetrics-text"))) {
            open = item.weight > open ? item.weight : open;
        } else if (ascii_equal(item.value, SLICE("text/plain"))) {
            plain = item.weight > plain ? item.weight : plain;
        }
    }
    return open > 0 && open >= plain;
}
