// SPDX-License-Identifier: MIT
// Reads the bytes of records, for the files record_read*.c. A record may come from a damaged disk:
// every size is checked before it is used, every number before it is believed.
#ifndef SLUICE_ENGINE_RECORDS_RECORD_READER_H
#define SLUICE_ENGINE_RECORDS_RECORD_READER_H

#include "base/bytes.h"
#include "engine/engine.h"
#include "engine/queue/queue.h"
#include "engine/records/record.h"
#include "engine/state.h"

#include <string.h>

// Reads from the front. After the first mistake all reads give zeros, and `bad` is set.
struct reader {
    const char *at;
    size_t left;
    bool bad;
};

static inline const char *take(struct reader *reader, size_t size)
{
    static const char zeros[8];
    if (reader->bad || size > reader->left) {
        reader->bad = true;
        return zeros;
    }
    const char *at = reader->at;
    reader->at += size;
    reader->left -= size;
    return at;
}

static inline uint8_t take_u8(struct reader *reader)
{
    return (uint8_t)*take(reader, 1);
}

static inline bool take_bool(struct reader *reader)
{
    uint8_t value = take_u8(reader);
    reader->bad = reader->bad || value > 1;
    return value == 1;
}

static inline uint32_t take_u32(struct reader *reader)
{
    return bytes_load_u32(take(reader, 4));
}

static inline uint64_t take_u64(struct reader *reader)
{
    return bytes_load_u64(take(reader, 8));
}

static inline int64_t take_i64(struct reader *reader)
{
    return (int64_t)take_u64(reader);
}

static inline double take_double(struct reader *reader)
{
    uint64_t bits = take_u64(reader);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline struct slice take_string(struct reader *reader)
{
    size_t size = take_u32(reader);
    const char *bytes = take(reader, size);
    return reader->bad ? SLICE_EMPTY : slice_make(bytes, size);
}

// A string that names something.
static inline struct slice take_name(struct reader *reader)
{
    struct slice name = take_string(reader);
    reader->bad = reader->bad || name_check(name, "", NULL);
    return name;
}

static inline struct index_key take_key(struct reader *reader)
{
    struct index_key key;
    key.high = take_u64(reader);
    key.low = take_u64(reader);
    return key;
}

// A name, or empty for none.
static inline struct slice take_optional(struct reader *reader)
{
    struct slice name = take_string(reader);
    reader->bad = reader->bad || name.size > ENGINE_NAME_SIZE_MAX;
    return name;
}

// Options as they were given.
void take_options(struct reader *reader, struct job_options *out);

// Each reads one record. What is wrong with its bytes shows in the reader.
MUST_USE enum status read_limit(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_policy(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_zone(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_lane(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_recurring(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_bulk(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_bulk_set(struct engine *engine, struct record_key key,
                                   struct reader *reader);
MUST_USE enum status read_done(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_request(struct engine *engine, uint64_t id, struct reader *reader);
MUST_USE enum status read_promise(struct engine *engine, struct record_key key,
                                  struct reader *reader);

#endif
