// SPDX-License-Identifier: MIT
// Random numbers that cannot be predicted without the seed, which comes from the operating system.
#ifndef SLUICE_OS_RANDOM_SOURCE_H
#define SLUICE_OS_RANDOM_SOURCE_H

#include "base/hash.h"
#include "base/status.h"

#include <stdint.h>

struct random_source {
    uint64_t state[4];
};

// Also sets a seed for hashes.
MUST_USE enum status random_source_init(struct random_source *source, struct hash_seed *seed,
                                        struct error *error);

uint64_t random_source_next(struct random_source *source);

#endif
