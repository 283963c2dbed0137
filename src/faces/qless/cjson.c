// SPDX-License-Identifier: MIT
#include "faces/qless/cjson.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/num.h"

#include <stdio.h>
#include <string.h>

enum {
    US_PER_S = 1000000,
    DELETE = 127,
};

// The escape of a byte; NULL if it needs none. `room` is for bytes without a short escape.
static const char *escape_of(unsigned char c, char room[8])
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '/':
        return "\\/";
    case '\b':
        return "\\b";
    case '\t':
        return "\\t";
    case '\n':
        return "\\n";
    case '\f':
        return "\\f";
    case '\r':
        return "\\r";
    default:
        break;
    }
    if (c >= ' ' && c != DELETE) {
        return NULL;
    }
    (void)snprintf(room, 8, "\\u%04x", (unsigned)c);
    return room;
}

void qless_cjson_string(struct buffer *out, struct slice text)
{
    char room[8];
    buffer_append_char(out, '"');
    size_t plain = 0; // where the current run without escapes began
    for (size_t i = 0; i < text.size; i++) {
        const char *escape = escape_of((unsigned char)text.data[i], room);
        if (escape) {
            buffer_append(out, slice_sub(text, plain, i - plain));
            buffer_append(out, slice_from_cstr(escape));
            plain = i + 1;
        }
    }
    buffer_append(out, slice_sub(text, plain, SIZE_MAX));
    buffer_append_char(out, '"');
}

void qless_cjson_number(struct buffer *out, double value)
{
    char text[32];
    int size = snprintf(text, sizeof(text), "%.14g", value);
    char *comma = memchr(text, ',', (size_t)size); // the decimal point of some locales
    if (comma) {
        *comma = '.';
    }
    buffer_append(out, slice_make(text, (size_t)size));
}

void qless_cjson_integer(struct buffer *out, int64_t value)
{
    qless_cjson_number(out, (double)value);
}

void qless_cjson_seconds(struct buffer *out, int64_t us)
{
    qless_cjson_number(out, (double)us / US_PER_S);
}

void qless_cjson_seconds_floor(struct buffer *out, int64_t us)
{
    num_append_i64(out, us / US_PER_S - (us % US_PER_S < 0));
}

void qless_cjson_bool(struct buffer *out, bool value)
{
    buffer_append(out, value ? SLICE("true") : SLICE("false"));
}

void qless_cjson_key(struct buffer *out, const char *key)
{
    if (out->size && out->data[out->size - 1] != '{' && out->data[out->size - 1] != ',') {
        buffer_append_char(out, ',');
    }
    qless_cjson_string(out, slice_from_cstr(key));
    buffer_append_char(out, ':');
}

struct qless_cjson_array qless_cjson_begin(struct buffer *out)
{
    struct qless_cjson_array array = { out, out->size };
    buffer_append_char(out, '[');
    return array;
}

void qless_cjson_next(struct qless_cjson_array *array)
{
    if (array->out->size > array->start + 1) {
        buffer_append_char(array->out, ',');
    }
}

void qless_cjson_end(struct qless_cjson_array *array)
{
    if (array->out->size == array->start + 1) {
        buffer_truncate(array->out, array->start);
        buffer_append(array->out, SLICE("{}"));
    } else {
        buffer_append_char(array->out, ']');
    }
}

// ---------------------------------------------------------------------------------------------
// Decoding and encoding

static void string_again(struct buffer *out, struct slice raw)
{
    struct buffer text;
    buffer_init(&text, out->allocator, out->size_max);
    if (json_unescape(raw, &text) && text.status) {
        out->status = text.status;
    }
    qless_cjson_string(out, buffer_slice(&text));
    buffer_release(&text);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Converts the number at the front of `text`; returns its size.
static size_t number_again(struct buffer *out, struct slice text)
{
    size_t size = 0;
    while (size < text.size && is_of_number(text.data[size])) {
        size++;
    }
    double number;
    struct slice raw = slice_sub(text, 0, size);
    // A number that is too large for a double is infinite in Lua, which JSON cannot represent.
    if (num_parse_double(raw, &number)) {
        buffer_append(out, raw);
    } else {
        qless_cjson_number(out, number);
    }
    return size;
}

// The size of an empty array at the front of `text`, or 0.
static size_t empty_array_size(struct slice text)
{
    size_t size = 1;
    while (size < text.size && is_space(text.data[size])) {
        size++;
    }
    return text.data[0] == '[' && size < text.size && text.data[size] == ']' ? size + 1 : 0;
}

void qless_cjson_again(struct buffer *out, struct slice valid)
{
    // Everything that is not white space, a string or a number is copied.
    for (struct slice text = valid; text.size;) {
        char c = text.data[0];
        size_t size = 1;
        if (c == '"') {
            size = json_string_size(text);
            string_again(out, slice_sub(text, 0, size));
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            size = number_again(out, text);
        } else if (c == '[' && empty_array_size(text)) {
            size = empty_array_size(text);
            buffer_append(out, SLICE("{}"));
        } else if (!is_space(c)) {
            buffer_append_char(out, c);
        }
        text = slice_sub(text, size ? size : 1, SIZE_MAX);
    }
}

void qless_cjson_members(struct buffer *out, struct slice valid)
{
    struct json_reader reader;
    struct json_member member;
    bool object = !json_reader_init_object(&reader, valid, NULL);
    if (!object && json_reader_init_array(&reader, valid, NULL)) {
        return;
    }
    for (uint64_t number = 1; json_reader_next(&reader, &member); number++) {
        if (!object) {
            buffer_printf(out, "\"%llu\":", (unsigned long long)number);
        } else if (json_string_is(member.key, SLICE("what")) ||
                   json_string_is(member.key, SLICE("when"))) {
            continue;
        } else {
            string_again(out, member.key);
            buffer_append_char(out, ':');
        }
        qless_cjson_again(out, member.value.raw);
        buffer_append_char(out, ',');
    }
}
