// SPDX-License-Identifier: MIT
// CRC-32C (Castagnoli), the checksum of stored records: as iSCSI and RFC 3720 have it.
#ifndef SLUICE_BASE_CRC32C_H
#define SLUICE_BASE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The checksum of some bytes when `crc` is 0, or of all the bytes up to here when `crc` is that of
// the ones before. By the processor's own instruction where it has one.
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

// The two ways in which crc32c does it, apart, so that a test can compare them.
uint32_t crc32c_table(uint32_t crc, const void *data, size_t size);

// Only where it is present.
uint32_t crc32c_hardware(uint32_t crc, const void *data, size_t size);
bool crc32c_hardware_present(void);

#endif
