// SPDX-License-Identifier: MIT
#include "store/journal/sector.h"

#include "base/bytes.h"
#include "base/crc32c.h"

static const uint32_t last_bit = UINT32_C(1) << 31;

void sector_seal(char *sector, uint32_t seed, struct sector_stamp stamp)
{
    bytes_store_u32(sector + 4, stamp.index | (stamp.last ? last_bit : 0));
    bytes_store_u64(sector + 8, stamp.group);
    bytes_store_u32(sector, crc32c(seed, sector + 4, SECTOR_SIZE - 4));
}

bool sector_is_blank(const char *sector)
{
    // True if the first byte is zero and every byte equals the one before it.
    return sector[0] == 0 && memcmp(sector, sector + 1, SECTOR_SIZE - 1) == 0;
}

enum sector_verdict sector_read(const char *sector, uint32_t seed, struct sector_stamp *stamp)
{
    if (bytes_load_u32(sector) != crc32c(seed, sector + 4, SECTOR_SIZE - 4)) {
        return sector_is_blank(sector) ? SECTOR_BLANK : SECTOR_DAMAGED;
    }
    uint32_t index = bytes_load_u32(sector + 4);
    *stamp = (struct sector_stamp){ .group = bytes_load_u64(sector + 8),
                                    .index = index & ~last_bit,
                                    .last = index & last_bit };
    return SECTOR_VALID;
}
