// SPDX-License-Identifier: MIT
#include "cli/core/json.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "cli/core/cli.h"

#include <assert.h>
#include <string.h>

static_assert((int)SLUICE_JSON_DEPTH_MAX < (int)JSON_DEPTH_MAX,
              "a line with a value of the largest depth can be read");

enum {
    ESCAPED_SIZE_MAX = 6, // of one byte in a JSON string: \u0000
};

static char *copy_slice(struct slice bytes)
{
    return tool_copy(bytes.size ? bytes.data : "", bytes.size);
}

// A buffer of memory from tool_allocate. Appending up to `size` bytes cannot fail.
static struct buffer buffer_of(size_t size)
{
    return (struct buffer){ .data = tool_allocate(size + 2),
                            .capacity = size + 1,
                            .size_max = size + 1 };
}

bool json_is_valid(const char *text, size_t size)
{
    return !json_validate(slice_make(text, size), JSON_DEPTH_MAX, NULL);
}

// ---------------------------------------------------------------------------------------------
// Strings

static char *text_of(struct slice raw)
{
    struct buffer text = buffer_of(raw.size);
    if (json_unescape(raw, &text) || (text.size && memchr(text.data, 0, text.size))) {
        tool_free(text.data);
        return NULL;
    }
    text.data[text.size] = 0;
    return text.data;
}

char *json_text(const char *raw)
{
    return text_of(slice_from_cstr(raw));
}

char *json_quote(const char *text, size_t size)
{
    struct buffer quoted = buffer_of(size * ESCAPED_SIZE_MAX + 2);
    struct json_writer writer;
    json_writer_init(&writer, &quoted);
    json_write_string(&writer, slice_make(text, size));
    assert(!quoted.status);
    quoted.data[quoted.size] = 0;
    return quoted.data;
}

void json_write_text(FILE *out, const char *text)
{
    char *quoted = json_quote(text, strlen(text));
    print(out, "%s", quoted);
    tool_free(quoted);
}

// ---------------------------------------------------------------------------------------------
// Keys

static bool is_users_own(struct slice key)
{
    return slice_equal(key, SLICE("\"data\"")) || slice_equal(key, SLICE("\"result\""));
}

static void write_slice(FILE *out, struct slice text)
{
    (void)fwrite(text.data, 1, text.size, out);
}

static void write_value(FILE *out, struct slice raw);

static void write_members(FILE *out, struct json_reader *reader, bool object)
{
    struct json_member member;
    for (bool first = true; json_reader_next(reader, &member); first = false) {
        print(out, first ? "" : ",");
        for (size_t i = 0; object && i < member.key.size; i++) {
            print(out, "%c", member.key.data[i] == '-' ? '_' : member.key.data[i]);
        }
        print(out, object ? ":" : "");
        if (object && is_users_own(member.key)) {
            write_slice(out, member.value.raw);
        } else {
            write_value(out, member.value.raw);
        }
    }
}

static void write_value(FILE *out, struct slice raw)
{
    struct json_reader reader;
    bool object = raw.size && *raw.data == '{';
    if (raw.size && (object ? !json_reader_init_object(&reader, raw, NULL)
                            : *raw.data == '[' && !json_reader_init_array(&reader, raw, NULL))) {
        print(out, object ? "{" : "[");
        write_members(out, &reader, object);
        print(out, object ? "}" : "]");
    } else {
        write_slice(out, raw);
    }
}

void json_write_keys(FILE *out, const char *raw, size_t size)
{
    write_value(out, slice_make(raw, size));
}

// ---------------------------------------------------------------------------------------------
// Objects and arrays

static void add_field(struct json_fields *fields, char *key, struct slice raw)
{
    fields->items = tool_resize(fields->items, (fields->count + 1) * sizeof *fields->items);
    fields->items[fields->count++] = (struct json_field){ key, copy_slice(raw) };
}

const char *json_fields_read(struct json_fields *fields, const char *text)
{
    *fields = (struct json_fields){ 0 };
    struct json_reader reader;
    struct json_member member;
    if (json_reader_init_object(&reader, slice_from_cstr(text), NULL)) {
        return "not a JSON object";
    }
    if (!json_is_valid(text, strlen(text))) {
        return "malformed JSON";
    }
    while (json_reader_next(&reader, &member)) {
        char *key = text_of(member.key);
        if (!key) {
            json_fields_free(fields);
            return "a key has a zero byte";
        }
        add_field(fields, key, member.value.raw);
    }
    return NULL;
}

void json_fields_free(struct json_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        tool_free((char *)fields->items[i].key);
        tool_free((char *)fields->items[i].raw);
    }
    tool_free(fields->items);
    *fields = (struct json_fields){ 0 };
}

const char *json_fields_get(const struct json_fields *fields, const char *key)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (!strcmp(fields->items[i].key, key)) {
            return fields->items[i].raw;
        }
    }
    return NULL;
}

static void free_list(char **items)
{
    for (size_t i = 0; items[i]; i++) {
        tool_free(items[i]);
    }
    tool_free(items);
}

char **json_list(const char *raw)
{
    struct json_reader reader;
    struct json_member member;
    if (json_reader_init_array(&reader, slice_from_cstr(raw), NULL)) {
        return NULL;
    }
    char **items = tool_allocate(sizeof *items);
    for (size_t count = 0; json_reader_next(&reader, &member); count++) {
        items = tool_resize(items, (count + 2) * sizeof *items);
        items[count] = copy_slice(member.value.raw);
        items[count + 1] = NULL;
    }
    if (reader.status) {
        free_list(items);
        return NULL;
    }
    return items;
}
