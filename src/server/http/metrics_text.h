// SPDX-License-Identifier: MIT
// Writes metrics in one of two text formats, which differ little: OpenMetrics 1.0, and the older
// format of Prometheus (0.0.4).
//
//     metrics_family(&text, &(struct metric){ "sluice_jobs", METRIC_GAUGE, "Jobs." });
//     metrics_count(&text, SLICE("queue=\"mail\""), 17);
//     ...
//     metrics_end(&text);
//
// All samples of a family follow it. The name of a family ends with its unit. Labels are written
// with metrics_label. The status of the buffer reports errors.
#ifndef SLUICE_SERVER_HTTP_METRICS_TEXT_H
#define SLUICE_SERVER_HTTP_METRICS_TEXT_H

#include "base/buffer.h"
#include "base/histogram.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type {
    METRIC_GAUGE,
    METRIC_COUNTER, // its samples have "_total" behind the family's name
    METRIC_HISTOGRAM,
    METRIC_SUMMARY, // without quantiles
};

struct metric {
    const char *name;
    enum metric_type type;
    const char *help; // a sentence
};

struct metrics_text {
    struct buffer *out;          // borrowed
    bool open;                   // OpenMetrics
    const struct metric *metric; // the family; borrowed until the next
};

void metrics_family(struct metrics_text *text, const struct metric *metric);
void metrics_end(struct metrics_text *text);

// Appends a label: name="value", after a comma if there are others. Bytes that are not UTF-8 become
// \xNN.
void metrics_label(struct buffer *labels, const char *name, struct slice value);

// Writes a sample of a gauge or a counter. A time is passed in microseconds and written in seconds.
void metrics_count(struct metrics_text *text, struct slice labels, uint64_t value);
void metrics_time(struct metrics_text *text, struct slice labels, int64_t us);

// Writes the samples of a summary of times.
void metrics_times(struct metrics_text *text, struct slice labels, uint64_t count, uint64_t sum_us);

// The upper bounds of the buckets that are written. Each must be a bound of the histogram itself
// (histogram_bound), so that the counts are exact.
struct metric_bounds {
    bool times; // in microseconds, written in seconds
    size_t count;
    const int64_t *items;
};
extern const struct metric_bounds metric_bounds_long;  // times of jobs: a millisecond to 12 days
extern const struct metric_bounds metric_bounds_short; // times of the server: 15 us to 4 s
extern const struct metric_bounds metric_bounds_few;   // numbers from 1 on

enum {
    METRIC_BOUNDS_MAX = 16,
};

// What is written of a histogram, for values that are read now and written later, or added up from
// several histograms. All zero is empty. What is unsigned wraps, so that a part can be subtracted.
struct metric_counts {
    uint64_t count, sum;
    uint64_t buckets[METRIC_BOUNDS_MAX]; // up to each bound, and above the one before
};

void metrics_counts_add(struct metric_counts *counts, const struct histogram *histogram,
                        const struct metric_bounds *bounds);
void metrics_counts_subtract(struct metric_counts *counts, const struct metric_counts *part);
void metrics_counts_write(struct metrics_text *text, struct slice labels,
                          const struct metric_counts *counts, const struct metric_bounds *bounds);

void metrics_histogram(struct metrics_text *text, struct slice labels,
                       const struct histogram *histogram, const struct metric_bounds *bounds);

// Whether the header Accept prefers OpenMetrics.
bool metrics_wants_open(struct slice accept);

#endif
