// SPDX-License-Identifier: MIT
// The format of a group: a head, then records.
#ifndef SLUICE_STORE_JOURNAL_FRAME_H
#define SLUICE_STORE_JOURNAL_FRAME_H

#include "base/buffer.h"
#include "store/key.h"

enum {
    FRAME_HEAD_SIZE = 8 + 4,
    FRAME_RECORD_HEAD_SIZE = 4 + KEY_SIZE,
};

// Appends room for the head; frame_seal writes it.
void frame_begin(struct buffer *group);
void frame_add(struct buffer *records, struct store_key key, struct slice bytes);
void frame_seal(struct buffer *group, uint64_t synced);

// The head of a group. The bytes must be at least that many.
struct frame_head {
    uint64_t synced;
    uint32_t size; // of the records
};

struct frame_head frame_head(const char *bytes);

// Removes the first record. False at the end, or with *status CORRUPT.
MUST_USE bool frame_next(struct slice *records, struct store_record *out, enum status *status);

#endif
