// SPDX-License-Identifier: MIT
// A number that is not the same each time; nothing hangs on how well it cannot be foreseen.
#ifndef SLUICE_CLIENT_WEAK_RANDOM_H
#define SLUICE_CLIENT_WEAK_RANDOM_H

#include "os/clock.h"

#include <stdint.h>
#include <sys/random.h>

static inline uint32_t weak_random(void)
{
    uint32_t random;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
        random = (uint32_t)monotonic_us() * UINT32_C(2654435761);
    }
    return random;
}

#endif
