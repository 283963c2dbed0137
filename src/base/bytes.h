// SPDX-License-Identifier: MIT
// Integers as little-endian bytes at any address, on every machine.
#ifndef SLUICE_BASE_BYTES_H
#define SLUICE_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#    define BYTES_LE16(value) (value)
#    define BYTES_LE32(value) (value)
#    define BYTES_LE64(value) (value)
#else
#    define BYTES_LE16(value) __builtin_bswap16(value)
#    define BYTES_LE32(value) __builtin_bswap32(value)
#    define BYTES_LE64(value) __builtin_bswap64(value)
#endif

static inline uint16_t bytes_load_u16(const void *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof(value));
    return BYTES_LE16(value);
}

static inline uint32_t bytes_load_u32(const void *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return BYTES_LE32(value);
}

static inline uint64_t bytes_load_u64(const void *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return BYTES_LE64(value);
}

static inline void bytes_store_u32(void *bytes, uint32_t value)
{
    uint32_t stored = BYTES_LE32(value);
    memcpy(bytes, &stored, sizeof(stored));
}

static inline void bytes_store_u64(void *bytes, uint64_t value)
{
    uint64_t stored = BYTES_LE64(value);
    memcpy(bytes, &stored, sizeof(stored));
}

#endif
