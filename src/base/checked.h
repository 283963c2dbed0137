// SPDX-License-Identifier: MIT
// Arithmetic that reports overflow.
#ifndef SLUICE_BASE_CHECKED_H
#define SLUICE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

// False on overflow; `*out` is unchanged then.
static inline bool checked_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *out = product;
    return true;
}

#endif
