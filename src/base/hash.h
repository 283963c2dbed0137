// SPDX-License-Identifier: MIT
// A keyed hash of bytes (SipHash-1-3): whoever does not know the seed cannot make many strings
// that collide.
#ifndef SLUICE_BASE_HASH_H
#define SLUICE_BASE_HASH_H

#include "base/slice.h"

#include <stdint.h>

struct hash_seed {
    uint64_t k0;
    uint64_t k1;
};

uint64_t hash_bytes(const struct hash_seed *seed, struct slice bytes);

#endif
