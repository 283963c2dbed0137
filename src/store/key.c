// SPDX-License-Identifier: MIT
#include "store/key.h"

#include "base/bytes.h"

// Big-endian, so that bytes compare as numbers do.
static void store_u64(char *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)(value >> (56 - 8 * i));
    }
}

static uint64_t load_u64(const char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return value;
}

void key_write(char bytes[KEY_SIZE], struct store_key key)
{
    char space[8];
    store_u64(space, key.space);
    memcpy(bytes, space + 4, 4);
    bytes[4] = (char)key.record.kind;
    store_u64(bytes + 5, key.record.id);
    store_u64(bytes + 13, (uint64_t)key.record.extra);
}

struct store_key key_read(const char bytes[KEY_SIZE])
{
    char space[8] = { 0 };
    memcpy(space + 4, bytes, 4);
    return (struct store_key){
        .space = (uint32_t)load_u64(space),
        .record = { .kind = (enum record_kind)(unsigned char)bytes[4],
                    .id = load_u64(bytes + 5),
                    .extra = (int64_t)load_u64(bytes + 13) },
    };
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int key_compare(const struct store_key *a, const struct store_key *b)
{
    int order = compare(a->space, b->space);
    order = order ? order : compare(a->record.kind, b->record.kind);
    order = order ? order : compare(a->record.id, b->record.id);
    return order ? order : compare((uint64_t)a->record.extra, (uint64_t)b->record.extra);
}
