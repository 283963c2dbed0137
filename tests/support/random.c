// SPDX-License-Identifier: MIT
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void random_init(struct random *random)
{
    const char *given = getenv("SLUICE_SEED");
    struct timespec now = { 0 };
    (void)timespec_get(&now, TIME_UTC);
    uint64_t seed = given ? strtoull(given, NULL, 0)
                          : (uint64_t)now.tv_sec * 1000000007U + (uint64_t)now.tv_nsec;
    printf("# replay with SLUICE_SEED=%llu\n", (unsigned long long)seed);
    (void)fflush(stdout);
    random->state = seed;
}

// SplitMix64.
uint64_t random_u64(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
    return random_u64(random) % limit;
}
