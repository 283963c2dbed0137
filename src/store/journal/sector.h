// SPDX-License-Identifier: MIT
// A sector of the journal: the unit in which a write can be torn. Each has its own checksum, so
// that one that was not written (it holds what it held before) can be told from one that was
// damaged (it holds neither).
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
    uint32_t index; // in the group
    bool last;
};

enum sector_verdict {
    SECTOR_VALID,
    SECTOR_BLANK, // all zeros
    SECTOR_DAMAGED,
};

// Puts head and checksum in front of the SECTOR_ROOM bytes at sector + SECTOR_HEAD_SIZE.
void sector_seal(char *sector, uint32_t seed, struct sector_stamp stamp);

// The stamp of a valid sector.
enum sector_verdict sector_read(const char *sector, uint32_t seed, struct sector_stamp *stamp);

bool sector_is_blank(const char *sector);

#endif
