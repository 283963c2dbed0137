// SPDX-License-Identifier: MIT
#include "store/journal/frame.h"

#include "base/bytes.h"

void frame_begin(struct buffer *group)
{
    static const char head[FRAME_HEAD_SIZE];
    buffer_append(group, slice_make(head, sizeof(head)));
}

void frame_add(struct buffer *records, struct store_key key, struct slice bytes)
{
    char head[FRAME_RECORD_HEAD_SIZE];
    bytes_store_u32(head, (uint32_t)bytes.size);
    key_write(head + 4, key);
    buffer_append(records, slice_make(head, sizeof(head)));
    buffer_append(records, bytes);
}

void frame_seal(struct buffer *group, uint64_t synced)
{
    bytes_store_u64(group->data, synced);
    bytes_store_u32(group->data + 8, (uint32_t)(group->size - FRAME_HEAD_SIZE));
}

struct frame_head frame_head(const char *bytes)
{
    return (struct frame_head){ bytes_load_u64(bytes), bytes_load_u32(bytes + 8) };
}

bool frame_next(struct slice *records, struct store_record *out, enum status *status)
{
    *status = STATUS_OK;
    if (records->size == 0) {
        return false;
    }
    size_t size = records->size < FRAME_RECORD_HEAD_SIZE ? 0 : bytes_load_u32(records->data);
    if (records->size < FRAME_RECORD_HEAD_SIZE || size > records->size - FRAME_RECORD_HEAD_SIZE) {
        *status = STATUS_CORRUPT;
        return false;
    }
    out->key = key_read(records->data + 4);
    out->bytes = slice_make(records->data + FRAME_RECORD_HEAD_SIZE, size);
    *records = slice_sub(*records, FRAME_RECORD_HEAD_SIZE + size, records->size);
    return true;
}
