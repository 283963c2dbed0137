// SPDX-License-Identifier: MIT
// Arithmetic that says when it does not fit. Each returns false on overflow and leaves `*out` as
// it was.
#ifndef SLUICE_BASE_CHECKED_H
#define SLUICE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

static inline bool checked_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *out = product;
    return true;
}

static inline bool checked_i64_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

static inline bool checked_i64_sub(int64_t a, int64_t b, int64_t *out)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference)) {
        return false;
    }
    *out = difference;
    return true;
}

static inline bool checked_i64_mul(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *out = product;
    return true;
}

#endif
