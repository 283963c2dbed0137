// SPDX-License-Identifier: MIT
#include "host/zones/tzif.h"

#include "base/timefmt.h"
#include "host/zones/tzrule.h"

enum {
    HEADER_SIZE = 44,
    TYPE_SIZE = 6,
    TYPES_MAX = 256,
    COUNT_MAX = 1 << 16, // of anything in a file
    RULE_SIZE_MAX = 256,
    YEAR_FIRST = 1900, // rules without a table begin here
    DAY = 86400,
};

// Times in seconds up to this limit fit into microseconds. zic's "big bang" is before it.
#define SECONDS_MAX ((int64_t)9000000000000)

struct header {
    uint8_t version;
    uint32_t utc_count, standard_count, leap_count, time_count, type_count, char_count;
};

// The parts of a block, as slices of the file.
struct block {
    struct header header;
    const uint8_t *times, *indices, *types;
};

// The state of the parser.
struct reading {
    struct tzif *tzif;
    struct slice name;
    struct slice rest;
    struct error *error;
};

static enum status refuse(const struct reading *reading, const char *what)
{
    return error_set(reading->error, STATUS_CORRUPT, "the file of time zone '%.*s' is damaged: %s",
                     SLICE_PRINT(reading->name), what);
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

static int32_t load_i32(const uint8_t *bytes)
{
    return (int32_t)load_u32(bytes);
}

static int64_t load_i64(const uint8_t *bytes)
{
    return (int64_t)((uint64_t)load_u32(bytes) << 32 | load_u32(bytes + 4));
}

static enum status read_header(struct reading *reading, struct header *out)
{
    const uint8_t *bytes = (const uint8_t *)reading->rest.data;
    if (reading->rest.size < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0) {
        return refuse(reading, "it has no header");
    }
    *out = (struct header){ bytes[4],
                            load_u32(bytes + 20),
                            load_u32(bytes + 24),
                            load_u32(bytes + 28),
                            load_u32(bytes + 32),
                            load_u32(bytes + 36),
                            load_u32(bytes + 40) };
    if (out->utc_count > COUNT_MAX || out->standard_count > COUNT_MAX ||
        out->leap_count > COUNT_MAX || out->time_count > TZIF_TABLE_MAX ||
        out->type_count > TYPES_MAX || out->char_count > COUNT_MAX) {
        return refuse(reading, "it is too large");
    }
    reading->rest = slice_sub(reading->rest, HEADER_SIZE, reading->rest.size);
    return STATUS_OK;
}

// Splits off a block whose times have so many bytes. The counts are small, so sums do not overflow.
static enum status read_block(struct reading *reading, size_t time_size, struct block *out)
{
    *out = (struct block){ 0 };
    enum status status = read_header(reading, &out->header);
    if (status) {
        return status;
    }
    const struct header *header = &out->header;
    size_t size = header->time_count * (time_size + 1) + (size_t)header->type_count * TYPE_SIZE +
                  header->char_count + header->leap_count * (time_size + 4) +
                  header->standard_count + header->utc_count;
    if (size > reading->rest.size) {
        return refuse(reading, "it ends too early");
    }
    out->times = (const uint8_t *)reading->rest.data;
    out->indices = out->times + header->time_count * time_size;
    out->types = out->indices + header->time_count;
    reading->rest = slice_sub(reading->rest, size, reading->rest.size);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Transitions

static int32_t last_offset(const struct tzif *tzif)
{
    return tzif->count ? tzif->transitions[tzif->count - 1].offset_s : tzif->offset_s;
}

// Adds a transition, unless the offset stays the same. It replaces the last one if that is at the
// same time; a transition before the last one is ignored.
static void add(struct tzif *tzif, int64_t at_s, int32_t offset_s)
{
    int64_t at_us = at_s * 1000000;
    if (tzif->count && tzif->transitions[tzif->count - 1].at_us == at_us) {
        tzif->count--;
    }
    bool before = tzif->count && at_us < tzif->transitions[tzif->count - 1].at_us;
    if (!before && offset_s != last_offset(tzif)) {
        tzif->transitions[tzif->count++] = (struct zone_transition){ at_us, offset_s };
    }
}

static enum status read_offsets(const struct reading *reading, const struct block *block,
                                int32_t offsets[TYPES_MAX])
{
    if (block->header.type_count == 0) {
        return refuse(reading, "it has no offsets");
    }
    for (uint32_t i = 0; i < block->header.type_count; i++) {
        offsets[i] = load_i32(block->types + (size_t)i * TYPE_SIZE);
        if (offsets[i] > ZONE_OFFSET_MAX_S || offsets[i] < -ZONE_OFFSET_MAX_S) {
            return refuse(reading, "an offset is too large");
        }
    }
    return STATUS_OK;
}

static enum status read_table(const struct reading *reading, const struct block *block)
{
    int32_t offsets[TYPES_MAX] = { 0 };
    enum status status = read_offsets(reading, block, offsets);
    if (status) {
        return status;
    }
    struct tzif *tzif = reading->tzif;
    tzif->offset_s = offsets[0];
    int64_t before = INT64_MIN;
    for (uint32_t i = 0; i < block->header.time_count; i++) {
        int64_t at_s = load_i64(block->times + (size_t)i * 8);
        uint8_t type = block->indices[i];
        if ((i > 0 && at_s <= before) || at_s > SECONDS_MAX) {
            return refuse(reading, "its times are not in order");
        }
        if (type >= block->header.type_count) {
            return refuse(reading, "it names an offset that is not there");
        }
        before = at_s;
        if (at_s < -SECONDS_MAX) {
            tzif->offset_s = offsets[type];
        } else {
            add(tzif, at_s, offsets[type]);
        }
    }
    return STATUS_OK;
}

// Reads the line at the end. If it is empty, the last offset is valid forever.
static enum status read_rule(const struct reading *reading, struct tzrule *rule)
{
    struct slice rest = reading->rest;
    const char *end = rest.size > 1 ? memchr(rest.data + 1, '\n', rest.size - 1) : NULL;
    if (rest.size == 0 || rest.data[0] != '\n' || !end) {
        return refuse(reading, "it has no last line");
    }
    struct slice text = slice_make(rest.data + 1, (size_t)(end - rest.data) - 1);
    if (text.size > RULE_SIZE_MAX || (text.size && tzrule_parse(text, rule))) {
        return refuse(reading, "its last line is not a rule");
    }
    if (rule->summer_s > ZONE_OFFSET_MAX_S || rule->summer_s < -ZONE_OFFSET_MAX_S) {
        return refuse(reading, "an offset is too large");
    }
    return STATUS_OK;
}

static int64_t year_of(int64_t at_us)
{
    int64_t year;
    unsigned month;
    unsigned day;
    timefmt_civil_from_days(at_us / 1000000 / DAY, &year, &month, &day);
    return year;
}

static void add_years(struct tzif *tzif, const struct tzrule *rule)
{
    int64_t first = YEAR_FIRST;
    int64_t table_us = INT64_MIN;
    if (tzif->count) {
        table_us = tzif->transitions[tzif->count - 1].at_us;
        int64_t year = year_of(table_us) - 1;
        first = year < YEAR_FIRST ? YEAR_FIRST : year;
    }
    for (int64_t year = first; year <= TZIF_YEAR_LAST; year++) {
        int64_t start = tzrule_start(rule, year);
        int64_t end = tzrule_end(rule, year);
        int64_t times[2] = { start < end ? start : end, start < end ? end : start };
        for (int i = 0; i < 2; i++) {
            if (times[i] * 1000000 > table_us) {
                add(tzif, times[i], (times[i] == start) ? rule->summer_s : rule->standard_s);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------

static enum status read_all(struct reading *reading)
{
    struct block block = { 0 };
    struct tzrule rule = { 0 };
    struct tzif *tzif = reading->tzif;
    enum status status = read_block(reading, 4, &block);
    if (status) {
        return status;
    }
    if (block.header.version < '2') {
        return error_set(reading->error, STATUS_UNSUPPORTED,
                         "the file of time zone '%.*s' is of version 1, with 32 bits a time",
                         SLICE_PRINT(reading->name));
    }
    status = read_block(reading, 8, &block);
    if (status) {
        return status;
    }
    if (block.header.leap_count) {
        return error_set(reading->error, STATUS_UNSUPPORTED, "time zone '%.*s' counts leap seconds",
                         SLICE_PRINT(reading->name));
    }
    status = read_rule(reading, &rule);
    if (status) {
        return status;
    }
    tzif->capacity = block.header.time_count + 2 * (TZIF_YEAR_LAST - YEAR_FIRST + 1);
    tzif->transitions = mem_alloc(tzif->allocator, tzif->capacity * sizeof(struct zone_transition));
    if (!tzif->transitions) {
        tzif->capacity = 0;
        return error_set(reading->error, STATUS_NO_MEMORY, "there is no memory for a time zone");
    }
    status = read_table(reading, &block);
    if (status == STATUS_OK && rule.has_summer) {
        add_years(tzif, &rule);
    }
    return status;
}

// Zones are kept, so the array is reduced to its size.
static void shrink(struct tzif *tzif)
{
    tzif->transitions = mem_resize(tzif->allocator, tzif->transitions,
                                   tzif->capacity * sizeof(struct zone_transition),
                                   tzif->count * sizeof(struct zone_transition));
    tzif->capacity = tzif->count;
}

enum status tzif_read(struct tzif *tzif, const struct allocator *allocator, struct slice name,
                      struct slice bytes, struct error *error)
{
    struct reading reading = { tzif, name, bytes, error };
    *tzif = (struct tzif){ .allocator = allocator };
    enum status status = read_all(&reading);
    if (status) {
        tzif_release(tzif);
    } else {
        shrink(tzif);
    }
    return status;
}

void tzif_release(struct tzif *tzif)
{
    mem_free(tzif->allocator, tzif->transitions, tzif->capacity * sizeof(struct zone_transition));
    *tzif = (struct tzif){ .allocator = tzif->allocator };
}
