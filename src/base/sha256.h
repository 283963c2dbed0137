// SPDX-License-Identifier: MIT
// SHA-256 of FIPS 180-4: a digest of 32 bytes.
//
//     struct sha256 sha256;
//     sha256_init(&sha256);
//     sha256_add(&sha256, SLICE("some bytes"));
//     sha256_add(&sha256, SLICE(" and more"));
//     sha256_end(&sha256, digest);
//
// The digest is that of the concatenated bytes. Nothing is allocated.
#ifndef SLUICE_BASE_SHA256_H
#define SLUICE_BASE_SHA256_H

#include "base/slice.h"

#include <stdint.h>

enum {
    SHA256_SIZE = 32, // of a digest
    SHA256_BLOCK_SIZE = 64,
};

struct sha256 {
    uint32_t state[8]; // after the complete blocks so far
    uint64_t size;     // of all the bytes so far
    // the first size % SHA256_BLOCK_SIZE bytes are an incomplete block
    uint8_t block[SHA256_BLOCK_SIZE];
};

void sha256_init(struct sha256 *sha256);

// The total must be less than 2^61 bytes, the limit of the standard.
void sha256_add(struct sha256 *sha256, struct slice bytes);

// Afterwards only sha256_init may be called.
void sha256_end(struct sha256 *sha256, uint8_t out[SHA256_SIZE]);

#endif
