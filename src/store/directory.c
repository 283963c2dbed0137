// SPDX-License-Identifier: MIT
// The record of a namespace: version (1), deleted (1), clock (1), bits of the generations of qless
// clients that use it (1), name.
#include "store/directory.h"

enum {
    VERSION = 1,
    HEADER = DIRECTORY_RECORD_MAX - ENGINE_NAME_SIZE_MAX,
};

static struct store_key key_of(int kind, uint64_t id)
{
    return (struct store_key){ DIRECTORY_SPACE, { .kind = (enum record_kind)kind, .id = id } };
}

struct store_key directory_key(uint32_t space)
{
    return key_of(DIRECTORY_KIND, space);
}

struct store_key directory_note_key(uint64_t id)
{
    return key_of(DIRECTORY_NOTE_KIND, id);
}

struct store_record directory_write(const struct directory_entry *entry,
                                    char bytes[DIRECTORY_RECORD_MAX])
{
    bytes[0] = VERSION;
    bytes[1] = (char)entry->deleted;
    bytes[2] = (char)entry->clock;
    bytes[3] = (char)entry->qless;
    memcpy(bytes + HEADER, entry->name.data, entry->name.size);
    return (struct store_record){ directory_key(entry->space),
                                  slice_make(bytes, HEADER + entry->name.size) };
}

enum status directory_read(struct record_key key, struct slice bytes, struct directory_entry *out,
                           struct error *error)
{
    if ((int)key.kind != DIRECTORY_KIND || key.id == 0 || key.id > UINT32_MAX ||
        bytes.size <= HEADER || bytes.size > DIRECTORY_RECORD_MAX) {
        return error_set(error, STATUS_CORRUPT, "the record of namespace %llu is malformed",
                         (unsigned long long)key.id);
    }
    if (bytes.data[0] != VERSION) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "the record of namespace %llu has version %d, and this program knows "
                         "version %d",
                         (unsigned long long)key.id, bytes.data[0], VERSION);
    }
    *out = (struct directory_entry){
        .space = (uint32_t)key.id,
        .deleted = bytes.data[1] != 0,
        .clock = bytes.data[2] ? ENGINE_CLOCK_CLIENT : ENGINE_CLOCK_SERVER,
        .qless = (uint8_t)bytes.data[3],
        .name = slice_sub(bytes, HEADER, SIZE_MAX),
    };
    return STATUS_OK;
}
