// SPDX-License-Identifier: MIT
// Random numbers for tests. The seed is printed when a test starts and taken from SLUICE_SEED when
// that is set, so that a failure can be replayed.
#ifndef SLUICE_TEST_RANDOM_H
#define SLUICE_TEST_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

// Seeds from SLUICE_SEED or else from the clock, and prints the seed.
void random_init(struct random *random);

uint64_t random_u64(struct random *random);

// In [0, limit); limit is at least 1.
uint64_t random_below(struct random *random, uint64_t limit);

#endif
