// SPDX-License-Identifier: MIT
// The header fields of one request while they come, in the order in which they came. The names are
// in lower case, and those of pseudo-headers begin with a colon. The size of a head is counted as
// HTTP/2 counts it: 32 bytes for each field besides its bytes.
#ifndef SLUICE_SERVER_H2_HEAD_H
#define SLUICE_SERVER_H2_HEAD_H

#include "base/buffer.h"

#include <stdint.h>

enum {
    H2_HEAD_FIELDS_MAX = 128,
    H2_FIELD_OVERHEAD = 32,
};

struct h2_field {
    struct slice name, value;
};

struct h2_head {
    struct buffer bytes; // owned: the names and values one after the other
    struct {
        uint32_t at, name_size, value_size;
    } fields[H2_HEAD_FIELDS_MAX];
    size_t count;
    size_t size;     // of all fields that came, as HTTP/2 counts it
    size_t size_max; // more are not kept
};

void h2_head_init(struct h2_head *head, const struct allocator *allocator);
void h2_head_release(struct h2_head *head);

// A new head begins, which may have this size.
void h2_head_begin(struct h2_head *head, size_t size_max);
// A field has come. NO_MEMORY: there is none to keep it.
MUST_USE enum status h2_head_add(struct h2_head *head, struct slice name, struct slice value);

// Whether not all of it was kept, because of its size or the number of its fields.
static inline bool h2_head_is_too_large(const struct h2_head *head)
{
    return head->size > head->size_max || head->count > H2_HEAD_FIELDS_MAX;
}

// The field at `index`, borrowed; false behind the last.
bool h2_head_at(const struct h2_head *head, size_t index, struct h2_field *field);

// How many fields have that name, and the value of the first.
size_t h2_head_find(const struct h2_head *head, struct slice name, struct slice *value);

#endif
