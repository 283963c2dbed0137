// SPDX-License-Identifier: MIT
// A keyed hash of bytes (SipHash-1-3). A client that does not know the seed cannot construct
// strings that collide.
#ifndef SLUICE_BASE_HASH_H
#define SLUICE_BASE_HASH_H

#include "base/slice.h"

#include <stdint.h>

struct hash_seed {
    uint64_t k0;
    uint64_t k1;
};

uint64_t hash_bytes(const struct hash_seed *seed, struct slice bytes);

// A number in which each bit depends on all bits of `value` (splitmix64). It has no key, so it does
// not protect against chosen values.
static inline uint64_t hash_mix(uint64_t value)
{
    value += 0x9E3779B97F4A7C15;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
}

#endif
