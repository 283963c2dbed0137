// SPDX-License-Identifier: MIT
// Figures as text, in either of two forms that are almost the same: OpenMetrics 1.0, and the older
// one of Prometheus (0.0.4).
//
//     metrics_family(&text, &(struct metric){ "sluice_jobs", METRIC_GAUGE, "Jobs." });
//     metrics_count(&text, SLICE("queue=\"mail\""), 17);
//     ...
//     metrics_end(&text);
//
// All samples of a family follow it. The unit is what the family's name ends with. Labels are as
// metrics_label makes them. Errors stick in the buffer.
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

// Appends a label to others: name="value", with a comma before it if there are others. Bytes that
// are no UTF-8 become \xNN.
void metrics_label(struct buffer *labels, const char *name, struct slice value);

// A sample of a gauge or a counter; a time is given in microseconds and said in seconds.
void metrics_count(struct metrics_text *text, struct slice labels, uint64_t value);
void metrics_time(struct metrics_text *text, struct slice labels, int64_t us);

// The samples of a summary of times.
void metrics_times(struct metrics_text *text, struct slice labels, uint64_t count, uint64_t sum_us);

// The upper bounds that are told of a histogram: each must be one of the histogram's own
// (histogram_bound), so that what is told is exact.
struct metric_bounds {
    bool times; // in microseconds, said in seconds
    size_t count;
    const int64_t *items;
};
extern const struct metric_bounds metric_bounds_long;  // times of jobs: a millisecond to 12 days
extern const struct metric_bounds metric_bounds_short; // times of the server: 15 us to 4 s
extern const struct metric_bounds metric_bounds_few;   // numbers from 1 on

void metrics_histogram(struct metrics_text *text, struct slice labels,
                       const struct histogram *histogram, const struct metric_bounds *bounds);

// Whether a request's header Accept would rather have OpenMetrics.
bool metrics_wants_open(struct slice accept);

#endif
