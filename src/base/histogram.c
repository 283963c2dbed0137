// SPDX-License-Identifier: MIT
#include "base/histogram.h"

#include <assert.h>

int64_t histogram_bound(size_t bucket)
{
    assert(bucket < HISTOGRAM_BUCKETS);
    if (bucket == HISTOGRAM_BUCKETS - 1) {
        return INT64_MAX;
    }
    if (bucket < 4) {
        return (int64_t)bucket;
    }
    size_t shift = bucket / 4 - 1;
    return (int64_t)(((uint64_t)(bucket - 4 * shift + 1) << shift) - 1);
}

int64_t histogram_quantile(const struct histogram *histogram, unsigned per_mille)
{
    uint64_t share = per_mille < 1000 ? per_mille : 1000;
    // count * share / 1000, rounded up, where the product may not fit.
    uint64_t rank =
        histogram->count / 1000 * share + (histogram->count % 1000 * share + 999) / 1000;
    rank = rank ? rank : 1;
    uint64_t seen = 0;
    for (size_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen >= rank) {
            int64_t bound = histogram_bound(bucket);
            return bound < histogram->max ? bound : histogram->max;
        }
    }
    return histogram->max;
}
