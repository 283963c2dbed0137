// SPDX-License-Identifier: MIT
// Statistics of a queue by day: how long its jobs waited and ran, and what failed.
#ifndef SLUICE_ENGINE_MEASURE_STATS_H
#define SLUICE_ENGINE_MEASURE_STATS_H

#include "engine/engine.h"

struct queue;

#define STATS_DAY_US (INT64_C(86400) * 1000000)

struct stats_counts {
    uint64_t count;
    double mean;
    double vk;           // the sum of squares of differences from the mean (Welford)
    uint64_t *histogram; // STATS_BUCKETS; NULL when it is too old to be kept; owned
};

struct stats_day {
    struct stats_day *older;
    int64_t day;                                    // since the epoch
    int64_t lost_leases, retries, failed, failures; // see struct stats_view
    struct stats_counts wait, run;
    bool dirty;
};

// The day that `when_us` lies in, or NULL.
struct stats_day *stats_find(const struct queue *queue, int64_t when_us);

// Makes sure that there is that day.
MUST_USE enum status stats_reserve(struct engine *engine, struct queue *queue, int64_t when_us);

// For loading: a day, NULL without memory; and without its histograms if they were not kept.
struct stats_day *stats_load(struct engine *engine, struct queue *queue, int64_t day);
void stats_drop_histograms(struct engine *engine, struct stats_day *day);

// Adds a value, in microseconds, to a series of a day that is there.
void stats_add(struct stats_counts *counts, int64_t value_us);

// Says that a day has changed.
void stats_changed(struct engine *engine, struct queue *queue, struct stats_day *day);

// The host was told of the days that are gone.
void stats_forget_gone(struct engine *engine, struct queue *queue);

// Frees all days.
void stats_release(struct engine *engine, struct queue *queue);

#endif
