// SPDX-License-Identifier: MIT
#include "api/item/item.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/num.h"
#include "base/timefmt.h"

#include <assert.h>
#include <string.h>

enum {
    STRINGS_MORE = 64,
    // of JSON within an item, because the item itself must be readable too
    EMBEDDED_DEPTH_MAX = 100,
    FIELDS_MAX = 64,
};

enum status item_init(struct item *item, struct slice text, struct error *error)
{
    struct json_reader reader;
    struct json_member member, more;
    *item = (struct item){ .text = text };
    buffer_init(&item->strings, &allocator_system, text.size + (size_t)2 * STRINGS_MORE);
    if (json_reader_init_object(&reader, text, NULL) || !json_reader_next(&reader, &member) ||
        member.value.type != JSON_TYPE_OBJECT || json_reader_next(&reader, &more)) {
        return error_set(error, STATUS_INVALID,
                         "an item must be an object with one member, such as {\"job\": {...}}");
    }
    item->kind = slice_sub(member.key, 1, member.key.size - 2);
    item->value = member.value.raw;
    return buffer_reserve(&item->strings, text.size + STRINGS_MORE)
               ? STATUS_OK
               : error_set(error, STATUS_NO_MEMORY, "out of memory");
}

void item_release(struct item *item)
{
    for (size_t i = 0; i < item->block_count; i++) {
        mem_free(&allocator_system, item->blocks[i].block, item->blocks[i].size);
    }
    item->block_count = 0;
    buffer_release(&item->strings);
}

void *item_allocate(struct item *item, size_t count, size_t size)
{
    assert(item->block_count < ITEM_BLOCKS_MAX);
    size_t whole = (count ? count : 1) * size;
    void *block = mem_zalloc(&allocator_system, whole);
    if (block) {
        item->blocks[item->block_count].block = block;
        item->blocks[item->block_count++].size = whole;
    }
    return block;
}

size_t item_array_count(struct slice array)
{
    struct json_reader reader;
    struct json_member member;
    size_t count = 0;
    if (!json_reader_init_array(&reader, array, NULL)) {
        while (json_reader_next(&reader, &member)) {
            count++;
        }
    }
    return count;
}

// ---------------------------------------------------------------------------------------------
// One value

// The object that is being read, for messages.
struct reading {
    struct item *item;
    const char *what;
    const struct item_field *field;
    struct error *error;
};

static enum status refuse(const struct reading *reading, const char *must)
{
    return error_set(reading->error, STATUS_INVALID, "%s: %s must be %s", reading->what,
                     reading->field->name, must);
}

static enum status no_memory(const struct reading *reading)
{
    return error_set(reading->error, STATUS_NO_MEMORY, "out of memory");
}

static enum status read_hex(const struct reading *reading, struct slice object, struct slice *out)
{
    struct json_reader reader;
    struct json_member member, more;
    struct slice digits = SLICE_EMPTY;
    if (json_reader_init_object(&reader, object, NULL) || !json_reader_next(&reader, &member) ||
        !json_string_is(member.key, SLICE("hex")) || member.value.type != JSON_TYPE_STRING ||
        json_reader_next(&reader, &more)) {
        return refuse(reading, "a string, or {\"hex\": \"...\"}");
    }
    digits = slice_sub(member.value.raw, 1, member.value.raw.size - 2);
    struct buffer *strings = &reading->item->strings;
    size_t start = strings->size;
    bool good = digits.size % 2 == 0;
    for (size_t i = 0; good && i < digits.size; i += 2) {
        int high = ascii_hex_digit(digits.data[i]), low = ascii_hex_digit(digits.data[i + 1]);
        good = high >= 0 && low >= 0;
        buffer_append_char(strings, (char)(good ? high << 4 | low : 0));
    }
    *out = slice_sub(buffer_slice(strings), start, SIZE_MAX);
    return good ? STATUS_OK : refuse(reading, "written with pairs of hexadecimal digits");
}

static enum status read_text(const struct reading *reading, struct json_value value,
                             struct slice *out)
{
    if (value.type == JSON_TYPE_OBJECT) {
        return read_hex(reading, value.raw, out);
    }
    if (value.type != JSON_TYPE_STRING) {
        return refuse(reading, "a string, or {\"hex\": \"...\"}");
    }
    size_t start = reading->item->strings.size;
    if (json_unescape(value.raw, &reading->item->strings)) {
        return no_memory(reading);
    }
    *out = slice_sub(buffer_slice(&reading->item->strings), start, SIZE_MAX);
    return STATUS_OK;
}

static enum status read_moment(const struct reading *reading, struct json_value value, int64_t *out)
{
    struct slice text;
    bool good = value.type == JSON_TYPE_NUMBER && !num_parse_seconds(value.raw, out);
    if (value.type == JSON_TYPE_STRING) {
        enum status status = read_text(reading, value, &text);
        if (status) {
            return status;
        }
        good = !timefmt_parse(text, out);
    }
    return good && *out >= 0 && *out <= ENGINE_TIME_MAX
               ? STATUS_OK
               : refuse(reading, "a time between 1970 and 9999: seconds, or as "
                                 "2030-01-31T12:00:00Z");
}

static enum status read_number(const struct reading *reading, struct json_value value, int64_t *out)
{
    const struct item_field *field = reading->field;
    int64_t min = field->min, max = field->max;
    bool good = value.type == JSON_TYPE_NUMBER;
    if (field->type == ITEM_INTEGER) {
        good = good && !json_value_int(value, out);
    } else {
        good = good && !num_parse_seconds(value.raw, out);
    }
    if (field->type == ITEM_FRACTION) {
        min = 0;
        max = 1000000;
    }
    if (!good || *out < min || *out > max) {
        int64_t unit = field->type == ITEM_INTEGER ? 1 : 1000000;
        return error_set(reading->error, STATUS_INVALID,
                         "%s: %s must be a %snumber from %lld to %lld", reading->what, field->name,
                         field->type == ITEM_INTEGER ? "whole " : "", (long long)(min / unit),
                         (long long)(max / unit));
    }
    return STATUS_OK;
}

static enum status read_word(const struct reading *reading, struct json_value value, int64_t *out)
{
    const char *const *words = reading->field->words;
    for (int64_t i = 0; value.type == JSON_TYPE_STRING && words[i]; i++) {
        if (json_string_is(value.raw, slice_from_cstr(words[i]))) {
            *out = i;
            return STATUS_OK;
        }
    }
    char list[128];
    struct buffer text = { .data = list, .capacity = sizeof(list), .size_max = sizeof(list) - 1 };
    for (size_t i = 0; words[i]; i++) {
        buffer_append(&text, i ? SLICE(", ") : SLICE("one of "));
        buffer_append(&text, slice_from_cstr(words[i]));
    }
    list[text.size] = 0;
    return refuse(reading, list);
}

static enum status read_list(const struct reading *reading, struct json_value value, void *out)
{
    bool texts = reading->field->type == ITEM_TEXTS;
    struct json_reader reader;
    struct json_member member;
    if (json_reader_init_array(&reader, value.raw, NULL)) {
        return refuse(reading, "a list");
    }
    size_t count = 0;
    void *items = item_allocate(reading->item, item_array_count(value.raw),
                                texts ? sizeof(struct slice) : sizeof(int64_t));
    if (!items) {
        return no_memory(reading);
    }
    enum status status = STATUS_OK;
    while (!status && json_reader_next(&reader, &member)) {
        status = texts ? read_text(reading, member.value, (struct slice *)items + count)
                       : read_moment(reading, member.value, (int64_t *)items + count);
        count++;
    }
    if (texts) {
        *(struct slices *)out = (struct slices){ items, count };
    } else {
        *(struct item_moments *)out = (struct item_moments){ items, count };
    }
    return status;
}

static enum status read_value(const struct reading *reading, struct json_value value, void *out)
{
    switch (reading->field->type) {
    case ITEM_TEXT:
        return read_text(reading, value, out);
    case ITEM_OBJECT:
    case ITEM_ARRAY:
        if (value.type !=
            (reading->field->type == ITEM_OBJECT ? JSON_TYPE_OBJECT : JSON_TYPE_ARRAY)) {
            return refuse(reading, reading->field->type == ITEM_OBJECT ? "an object" : "a list");
        }
        *(struct slice *)out = value.raw;
        return STATUS_OK;
    case ITEM_JSON:
        *(struct slice *)out = value.raw;
        return STATUS_OK;
    case ITEM_INTEGER:
    case ITEM_SECONDS:
    case ITEM_FRACTION:
        return read_number(reading, value, out);
    case ITEM_MOMENT:
        return read_moment(reading, value, out);
    case ITEM_BOOLEAN:
        return json_value_bool(value, out) ? refuse(reading, "true or false") : STATUS_OK;
    case ITEM_WORD:
        return read_word(reading, value, out);
    case ITEM_TEXTS:
    case ITEM_MOMENTS:
        return read_list(reading, value, out);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// All members

static size_t field_called(const struct item_field *fields, size_t count, struct slice key)
{
    size_t i = 0;
    while (i < count && !json_string_is(key, slice_from_cstr(fields[i].name))) {
        i++;
    }
    return i;
}

static enum status check_required(const char *what, const struct item_field *fields, size_t count,
                                  const bool given[FIELDS_MAX], struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].required && !given[i]) {
            return error_set(error, STATUS_INVALID, "%s: %s is missing", what, fields[i].name);
        }
    }
    return STATUS_OK;
}

enum status item_read(struct item *item, struct slice object, const char *what,
                      const struct item_field *fields, size_t count, void *out, struct error *error)
{
    bool given[FIELDS_MAX] = { false };
    struct json_reader reader;
    struct json_member member;
    assert(count <= FIELDS_MAX);
    if (json_reader_init_object(&reader, object, NULL)) {
        return error_set(error, STATUS_INVALID, "%s must be an object", what);
    }
    while (json_reader_next(&reader, &member)) {
        size_t index = field_called(fields, count, member.key);
        if (index == count || given[index]) {
            return error_set(error, STATUS_INVALID, "%s: %.*s is %s", what,
                             SLICE_PRINT(slice_shown(member.key)),
                             index == count ? "not known" : "given twice");
        }
        if (member.value.type == JSON_TYPE_NULL && fields[index].type != ITEM_JSON) {
            continue;
        }
        const struct reading reading = { item, what, &fields[index], error };
        enum status status = read_value(&reading, member.value, (char *)out + fields[index].offset);
        if (status) {
            return status;
        }
        given[index] = true;
        if (fields[index].has != ITEM_NO_HAS) {
            *(bool *)((char *)out + fields[index].has) = true;
        }
    }
    return check_required(what, fields, count, given, error);
}

// ---------------------------------------------------------------------------------------------
// Writing

static bool is_utf8(struct slice text)
{
    while (text.size) {
        size_t size = json_plain_size(text);
        if (!size) {
            size = (unsigned char)text.data[0] < 0x80 ? 1 : json_utf8_size(text);
        }
        if (!size) {
            return false;
        }
        text = slice_sub(text, size, SIZE_MAX);
    }
    return true;
}

static void append_hex(struct buffer *out, struct slice bytes)
{
    char *text = buffer_reserve(out, 2 * bytes.size);
    if (text) {
        (void)ascii_hex_write(text, bytes.data, bytes.size);
        buffer_commit(out, 2 * bytes.size);
    }
}

void item_write_hex(struct json_writer *writer, struct slice bytes)
{
    json_write_raw(writer, SLICE("{\"hex\":\""));
    append_hex(writer->buffer, bytes);
    buffer_append(writer->buffer, SLICE("\"}"));
}

void item_write_text(struct json_writer *writer, struct slice text)
{
    if (is_utf8(text)) {
        json_write_string(writer, text);
    } else {
        item_write_hex(writer, text);
    }
}

void item_write_member(struct json_writer *writer, const char *key, struct slice text)
{
    if (text.size) {
        json_write_key(writer, slice_from_cstr(key));
        item_write_text(writer, text);
    }
}

// Whether a reader of the item gets the same bytes.
static bool can_be_embedded(struct slice bytes)
{
    if (json_validate(bytes, EMBEDDED_DEPTH_MAX, NULL) || memchr(bytes.data, '\n', bytes.size) ||
        memchr(bytes.data, '\r', bytes.size)) {
        return false;
    }
    struct json_value value;
    return !json_value_of(bytes, &value) && value.raw.size == bytes.size;
}

void item_write_json(struct json_writer *writer, const char *key, const char *text_key,
                     struct slice bytes)
{
    if (!bytes.size) {
        return;
    }
    if (can_be_embedded(bytes)) {
        json_write_key(writer, slice_from_cstr(key));
        json_write_raw(writer, bytes);
    } else {
        item_write_member(writer, text_key, bytes);
    }
}
