// SPDX-License-Identifier: MIT
// SipHash by Aumasson and Bernstein, with one round per word and three at the end. This is enough
// for hash tables, because the hashes are never visible to clients.
#include "base/hash.h"

#include "base/bytes.h"

#include <string.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate_left(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v2 = rotate_left(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

uint64_t hash_bytes(const struct hash_seed *seed, struct slice bytes)
{
    struct sip s = {
        seed->k0 ^ 0x736f6d6570736575U,
        seed->k1 ^ 0x646f72616e646f6dU,
        seed->k0 ^ 0x6c7967656e657261U,
        seed->k1 ^ 0x7465646279746573U,
    };
    const char *at = bytes.data;
    size_t left = bytes.size;
    for (; left >= 8; at += 8, left -= 8) {
        sip_word(&s, bytes_load_u64(at));
    }
    char tail[8] = { 0 };
    if (left) {
        memcpy(tail, at, left);
    }
    sip_word(&s, bytes_load_u64(tail) | (uint64_t)bytes.size << 56);
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
