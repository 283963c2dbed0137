// SPDX-License-Identifier: MIT
// Reads the journal, group by group, from a position where a group begins.
#ifndef SLUICE_STORE_JOURNAL_READER_H
#define SLUICE_STORE_JOURNAL_READER_H

#include "base/buffer.h"
#include "store/journal/segments.h"

struct reader {
    struct segments *segments; // borrowed
    struct position at;        // where the next group begins
    uint64_t group;            // its number
    struct buffer bytes;       // of the last group
    // Sectors of a file that were read ahead.
    char *window;
    int window_fd;
    uint32_t window_first, window_count;
};

MUST_USE enum status reader_init(struct reader *reader, struct segments *segments,
                                 struct position at, uint64_t group);
void reader_release(struct reader *reader);

// Reads the next group. Its records are borrowed until the next call. *found is false at the end of
// the journal; then the position remains before the missing or torn group. CORRUPT if a sector is
// neither an old one nor a new one.
MUST_USE enum status reader_next(struct reader *reader, bool *found, struct slice *records,
                                 struct error *error);

// Reads one sector of a file; borrowed until the next call.
MUST_USE enum status reader_sector(struct reader *reader, uint32_t number, uint32_t sector,
                                   const char **out, struct error *error);

#endif
