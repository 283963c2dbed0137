// SPDX-License-Identifier: MIT
// SHA-256 of FIPS 180-4: a digest of 32 bytes. No two texts with the same digest are known.
//
//     struct sha256 sha256;
//     sha256_init(&sha256);
//     sha256_add(&sha256, SLICE("some bytes"));
//     sha256_add(&sha256, SLICE(" and more"));
//     sha256_end(&sha256, digest);
//
// The digest is that of all the bytes in a row, however they were cut. Nothing is allocated.
#ifndef SLUICE_BASE_SHA256_H
#define SLUICE_BASE_SHA256_H

#include "base/slice.h"

#include <stdint.h>

enum {
    SHA256_SIZE = 32, // of a digest
    SHA256_BLOCK_SIZE = 64,
};

struct sha256 {
    uint32_t state[8];                // after the whole blocks so far
    uint64_t size;                    // of all the bytes so far
    uint8_t block[SHA256_BLOCK_SIZE]; // the first size % SHA256_BLOCK_SIZE wait for the others
};

void sha256_init(struct sha256 *sha256);

// Fewer than 2^61 bytes in all, which the standard allows no more of.
void sha256_add(struct sha256 *sha256, struct slice bytes);

// After this only sha256_init makes sense.
void sha256_end(struct sha256 *sha256, uint8_t out[SHA256_SIZE]);

#endif
