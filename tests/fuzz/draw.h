// SPDX-License-Identifier: MIT
// Where a generator's decisions come from: the bytes that a fuzzer gives, or a seed.
#ifndef SLUICE_FUZZ_DRAW_H
#define SLUICE_FUZZ_DRAW_H

#include "random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw {
    const uint8_t *bytes; // borrowed; NULL: by the seed
    size_t size, at;
    struct random random;
};

static inline struct draw draw_from_bytes(const uint8_t *bytes, size_t size)
{
    return (struct draw){ .bytes = bytes, .size = size };
}

static inline struct draw draw_from_seed(uint64_t seed)
{
    return (struct draw){ .random = { seed } };
}

// Whether the bytes are used up; a seed never is.
bool draw_is_over(const struct draw *draw);

// In [0, limit); limit is 1 to 65536. From bytes that are used up: 0.
uint32_t draw_below(struct draw *draw, uint32_t limit);

// True in so many of 256 cases.
bool draw_chance(struct draw *draw, uint32_t of_256);

#endif
