// SPDX-License-Identifier: MIT
#include "os/random_source.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum status random_source_init(struct random_source *source, struct hash_seed *seed,
                               struct error *error)
{
    if (getrandom(source->state, sizeof(source->state), 0) != sizeof(source->state) ||
        getrandom(seed, sizeof(*seed), 0) != sizeof(*seed)) {
        return error_set(error, STATUS_IO, "the system gives no random numbers: %s",
                         strerrordesc_np(errno));
    }
    return STATUS_OK;
}

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

// xoshiro256**
uint64_t random_source_next(struct random_source *source)
{
    uint64_t *s = source->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}
