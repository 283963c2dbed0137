// SPDX-License-Identifier: MIT
// A sector of the journal: the unit in which a write can be torn. Each has a checksum, so that a
// sector that was not written (it has its old contents) is distinguished from one that was damaged
// (it has neither the old nor the new contents).
#ifndef SLUICE_STORE_JOURNAL_SECTOR_H
#define SLUICE_STORE_JOURNAL_SECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SECTOR_SIZE = 512,
    SECTOR_HEAD_SIZE = 16,
    SECTOR_ROOM = SECTOR_SIZE - SECTOR_HEAD_SIZE,
};

struct sector_stamp {
    uint64_t group;
    uint32_t index; // position in the group
    bool last;
};

enum sector_verdict {
    SECTOR_VALID,
    SECTOR_BLANK, // all zeros
    SECTOR_DAMAGED,
};

// Writes head and checksum before the SECTOR_ROOM bytes at sector + SECTOR_HEAD_SIZE.
void sector_seal(char *sector, uint32_t seed, struct sector_stamp stamp);

// Reads the stamp of a sector, if it is valid.
enum sector_verdict sector_read(const char *sector, uint32_t seed, struct sector_stamp *stamp);

bool sector_is_blank(const char *sector);

#endif
