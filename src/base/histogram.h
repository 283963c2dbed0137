// SPDX-License-Identifier: MIT
// Counts of values, in buckets that widen with the value: 0 to 7 have a bucket each, and above that
// each power of two has four. So no bucket is wider than a quarter of its smallest value, except
// the last, which counts everything from 7 * 2^42 on (in microseconds, 356 days).
//
// A plain value: all zero is empty, an assignment copies it.
#ifndef SLUICE_BASE_HISTOGRAM_H
#define SLUICE_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
    HISTOGRAM_BUCKETS = 176,
};

struct histogram {
    uint64_t count; // of all buckets
    uint64_t sum;   // of all values; microseconds wrap after half a million years
    int64_t max;    // the largest value; 0 when empty
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

// The bucket that counts `value`. A value below 0 counts as 0.
static inline size_t histogram_bucket(int64_t value)
{
    // Keeps the leading one and the two bits below it, 4 to 7; smaller values are kept unchanged.
    uint64_t bits = value > 0 ? (uint64_t)value : 0;
    unsigned shift = 61U - (unsigned)__builtin_clzll(bits | 4U);
    size_t bucket = 4 * (size_t)shift + (size_t)(bits >> shift);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

// The largest value that the bucket counts; INT64_MAX for the last.
int64_t histogram_bound(size_t bucket);

static inline void histogram_add(struct histogram *histogram, int64_t value)
{
    histogram->sum += value > 0 ? (uint64_t)value : 0;
    histogram->max = value > histogram->max ? value : histogram->max;
    histogram->buckets[histogram_bucket(value)]++;
    histogram->count++;
}

// An estimate of the smallest value that at least `per_mille` thousandths of all values do not
// exceed: 500 is the median, 0 the smallest value, 1000 and more the largest. It is never below the
// true value, never above `max`, and at most a quarter above the true value unless that is in the
// last bucket. 0 if empty.
int64_t histogram_quantile(const struct histogram *histogram, unsigned per_mille);

#endif
