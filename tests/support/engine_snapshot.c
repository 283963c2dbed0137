// SPDX-License-Identifier: MIT
// The bytes: "SLUICE\r\n", the version (4), then the records, each with its kind (1), id (8), extra
// (8) and size (4) in front; then a record of kind 0 and the CRC-32C of all before it (4).
#include "engine_snapshot.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine/records/changes.h"
#include "engine/records/record.h"
#include "engine/state.h"

#include <string.h>

enum {
    VERSION = 3,
    MAGIC_SIZE = 8,
    HEADER_SIZE = MAGIC_SIZE + 4,
    FRAME_SIZE = 1 + 8 + 8 + 4,
    CRC_SIZE = 4,
};

static const char magic[MAGIC_SIZE + 1] = "SLUICE\r\n";

// Appends a frame and the record in it.
static enum status append_record(void *context, struct record_key key, struct slice bytes)
{
    struct buffer *out = context;
    char frame[FRAME_SIZE] = { (char)key.kind };
    bytes_store_u64(frame + 1, key.id);
    bytes_store_u64(frame + 9, (uint64_t)key.extra);
    bytes_store_u32(frame + 17, (uint32_t)bytes.size);
    buffer_append(out, slice_make(frame, sizeof(frame)));
    buffer_append(out, bytes);
    return out->status;
}

enum status engine_save(const struct engine *engine, struct buffer *out)
{
    size_t start = out->size;
    char header[HEADER_SIZE];
    memcpy(header, magic, MAGIC_SIZE);
    bytes_store_u32(header + MAGIC_SIZE, VERSION);
    buffer_append(out, slice_make(header, sizeof(header)));
    const struct changes_sink sink = { append_record, out };
    enum status status = engine_records(engine, &sink);
    if (!status) {
        status = append_record(out, (struct record_key){ 0 }, SLICE_EMPTY);
    }
    char crc[CRC_SIZE];
    bytes_store_u32(crc, status ? 0 : crc32c(0, out->data + start, out->size - start));
    buffer_append(out, slice_make(crc, sizeof(crc)));
    return status ? status : out->status;
}

static enum status check_frame(struct slice bytes, struct error *error)
{
    if (bytes.size < HEADER_SIZE + FRAME_SIZE + CRC_SIZE ||
        memcmp(bytes.data, magic, MAGIC_SIZE) != 0) {
        return error_set(error, STATUS_CORRUPT, "these %zu bytes are not a saved engine",
                         bytes.size);
    }
    uint32_t version = bytes_load_u32(bytes.data + MAGIC_SIZE);
    if (version != VERSION) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "the saved engine has version %u, and this program knows version %d",
                         version, VERSION);
    }
    size_t covered = bytes.size - CRC_SIZE;
    if (crc32c(0, bytes.data, covered) != bytes_load_u32(bytes.data + covered)) {
        return error_set(error, STATUS_CORRUPT,
                         "the saved engine is damaged: its checksum differs");
    }
    return STATUS_OK;
}

static enum status load_records(struct engine *engine, struct slice bytes, struct error *error)
{
    size_t end = bytes.size - CRC_SIZE;
    for (size_t at = HEADER_SIZE; at + FRAME_SIZE <= end;) {
        const char *frame = bytes.data + at;
        struct record_key key = { (enum record_kind)(unsigned char)frame[0],
                                  bytes_load_u64(frame + 1), (int64_t)bytes_load_u64(frame + 9) };
        size_t size = bytes_load_u32(frame + 17);
        at += FRAME_SIZE;
        if (size > end - at) {
            break;
        }
        if (frame[0] == 0) {
            return at == end ? STATUS_OK
                             : error_set(error, STATUS_CORRUPT, "the saved engine ends too late");
        }
        enum status status = record_read(engine, key, slice_make(bytes.data + at, size), error);
        if (status) {
            return status;
        }
        at += size;
    }
    return error_set(error, STATUS_CORRUPT, "the saved engine ends too early");
}

enum status engine_load(const struct engine_options *options, struct slice bytes,
                        struct engine **out, struct error *error)
{
    struct engine *engine;
    enum status status = check_frame(bytes, error);
    if (status) {
        return status;
    }
    if (engine_new(options, &engine)) {
        return engine_no_memory(error);
    }
    status = load_records(engine, bytes, error);
    enum status end = record_read_end(engine, status ? NULL : error);
    status = status ? status : end;
    if (status) {
        engine_free(engine);
        return status;
    }
    *out = engine;
    return STATUS_OK;
}
