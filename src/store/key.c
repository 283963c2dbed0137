// SPDX-License-Identifier: MIT
#include "store/key.h"

#include "base/bytes.h"

// Big-endian, so that bytes compare as numbers do.
static void store_u32(char *bytes, uint32_t value)
{
    bytes_store_u32(bytes, __builtin_bswap32(value));
}

static void store_u64(char *bytes, uint64_t value)
{
    bytes_store_u64(bytes, __builtin_bswap64(value));
}

static uint32_t load_u32(const char *bytes)
{
    return __builtin_bswap32(bytes_load_u32(bytes));
}

static uint64_t load_u64(const char *bytes)
{
    return __builtin_bswap64(bytes_load_u64(bytes));
}

void key_write(char bytes[KEY_SIZE], struct store_key key)
{
    store_u32(bytes, key.space);
    bytes[4] = (char)key.record.kind;
    store_u64(bytes + 5, key.record.id);
    store_u64(bytes + 13, (uint64_t)key.record.extra);
}

struct store_key key_read(const char bytes[KEY_SIZE])
{
    return (struct store_key){
        .space = load_u32(bytes),
        .record = { .kind = (enum record_kind)(unsigned char)bytes[4],
                    .id = load_u64(bytes + 5),
                    .extra = (int64_t)load_u64(bytes + 13) },
    };
}

int key_compare(const struct store_key *a, const struct store_key *b)
{
    if (a->space != b->space) {
        return a->space < b->space ? -1 : 1;
    }
    if (a->record.kind != b->record.kind) {
        return a->record.kind < b->record.kind ? -1 : 1;
    }
    if (a->record.id != b->record.id) {
        return a->record.id < b->record.id ? -1 : 1;
    }
    uint64_t extra_a = (uint64_t)a->record.extra, extra_b = (uint64_t)b->record.extra;
    return (extra_a > extra_b) - (extra_a < extra_b);
}
