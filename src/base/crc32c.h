// SPDX-License-Identifier: MIT
// CRC-32C (Castagnoli, as in RFC 3720), the checksum of stored records.
#ifndef SLUICE_BASE_CRC32C_H
#define SLUICE_BASE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The checksum of some bytes if `crc` is 0; otherwise `crc` is the checksum of the preceding bytes,
// and the result is that of all of them. Uses the processor's instruction if there is one.
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

// The two implementations of crc32c, for tests that compare them.
uint32_t crc32c_table(uint32_t crc, const void *data, size_t size);

// Only if crc32c_hardware_present().
uint32_t crc32c_hardware(uint32_t crc, const void *data, size_t size);
bool crc32c_hardware_present(void);

#endif
