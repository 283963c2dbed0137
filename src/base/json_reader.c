// SPDX-License-Identifier: MIT
#include "base/json_reader.h"

#include "base/json.h"
#include "base/num.h"

#include <assert.h>

// The text after the first `size` bytes, which must exist.
static struct slice after(struct slice text, size_t size)
{
    return size ? slice_make(text.data + size, text.size - size) : text;
}

static char byte_at(struct slice text, size_t index)
{
    if (index >= text.size) {
        return '\0';
    }
    return text.data[index];
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_space(struct slice text, size_t index)
{
    while (index < text.size && is_space(text.data[index])) {
        index++;
    }
    return index;
}

// Reading

// The size of the object or array at the front of `text`; 0 if it does not end. Only counts
// brackets: json_validate has checked that they match.
static size_t container_size(struct slice text)
{
    size_t depth = 0;
    size_t index = 0;
    while (index < text.size) {
        size_t size = 1;
        switch (text.data[index]) {
        case '"':
            size = json_string_size(after(text, index));
            if (size == 0) {
                return 0;
            }
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            depth--;
            break;
        default:
            break;
        }
        index += size;
        if (depth == 0) {
            return index;
        }
    }
    return 0;
}

static bool may_be_in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static size_t number_size(struct slice text)
{
    size_t size = 0;
    while (size < text.size && may_be_in_number(text.data[size])) {
        size++;
    }
    return size;
}

static size_t literal_size(struct slice text, struct slice literal)
{
    return slice_starts_with(text, literal) ? literal.size : 0;
}

// The value at the front of `text`; size 0 if there is none.
static struct json_value value_at_front(struct slice text)
{
    enum json_type type = JSON_TYPE_NUMBER;
    size_t size;
    switch (byte_at(text, 0)) {
    case '"':
        type = JSON_TYPE_STRING;
        size = json_string_size(text);
        break;
    case '{':
        type = JSON_TYPE_OBJECT;
        size = container_size(text);
        break;
    case '[':
        type = JSON_TYPE_ARRAY;
        size = container_size(text);
        break;
    case 't':
        type = JSON_TYPE_BOOL;
        size = literal_size(text, SLICE("true"));
        break;
    case 'f':
        type = JSON_TYPE_BOOL;
        size = literal_size(text, SLICE("false"));
        break;
    case 'n':
        type = JSON_TYPE_NULL;
        size = literal_size(text, SLICE("null"));
        break;
    default:
        size = number_size(text);
        break;
    }
    return (struct json_value){ type, slice_sub(text, 0, size) };
}

enum status json_value_of(struct slice text, struct json_value *out)
{
    size_t start = skip_space(text, 0);
    struct json_value value = value_at_front(after(text, start));
    if (value.raw.size == 0 || skip_space(text, start + value.raw.size) != text.size) {
        return STATUS_INVALID;
    }
    *out = value;
    return STATUS_OK;
}

static enum status init(struct json_reader *reader, struct slice text, bool object,
                        struct error *error)
{
    size_t start = skip_space(text, 0);
    *reader = (struct json_reader){
        .text = text,
        .position = start + 1,
        .object = object,
        .fresh = true,
    };
    if (byte_at(text, start) != (object ? '{' : '[')) {
        reader->done = true;
        reader->status =
            error_set(error, STATUS_INVALID, "expected a JSON %s", object ? "object" : "array");
    }
    return reader->status;
}

enum status json_reader_init_object(struct json_reader *reader, struct slice text,
                                    struct error *error)
{
    return init(reader, text, true, error);
}

enum status json_reader_init_array(struct json_reader *reader, struct slice text,
                                   struct error *error)
{
    return init(reader, text, false, error);
}

// Skips white space and `c`, if `c` is next.
static bool take(struct json_reader *reader, char c)
{
    size_t index = skip_space(reader->text, reader->position);
    if (index >= reader->text.size || reader->text.data[index] != c) {
        return false;
    }
    reader->position = index + 1;
    return true;
}

static bool take_value(struct json_reader *reader, struct json_value *value)
{
    size_t start = skip_space(reader->text, reader->position);
    *value = value_at_front(after(reader->text, start));
    reader->position = start + value->raw.size;
    return value->raw.size > 0;
}

static bool take_key(struct json_reader *reader, struct slice *key)
{
    struct json_value value;
    if (!take_value(reader, &value) || value.type != JSON_TYPE_STRING || !take(reader, ':')) {
        return false;
    }
    *key = value.raw;
    return true;
}

static bool stop(struct json_reader *reader, enum status status)
{
    reader->done = true;
    reader->status = status;
    return false;
}

bool json_reader_next(struct json_reader *reader, struct json_member *member)
{
    if (reader->done) {
        return false;
    }
    if (take(reader, reader->object ? '}' : ']')) {
        bool at_end = skip_space(reader->text, reader->position) == reader->text.size;
        return stop(reader, at_end ? STATUS_OK : STATUS_INVALID);
    }
    if (!reader->fresh && !take(reader, ',')) {
        return stop(reader, STATUS_INVALID);
    }
    reader->fresh = false;

    struct json_member found = { .key = SLICE_EMPTY };
    if ((reader->object && !take_key(reader, &found.key)) || !take_value(reader, &found.value)) {
        return stop(reader, STATUS_INVALID);
    }
    *member = found;
    return true;
}

// Strings

// A part of a string, as UTF-8: one escape, or a run without escapes.
struct part {
    size_t raw_size; // of its JSON text; 0 if that is malformed
    struct slice text;
    char bytes[4]; // what `text` points to for an escape
};

static size_t utf8_encode(unsigned code, char bytes[4])
{
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    bytes[0] = (char)(leads[size] | code);
    return size;
}

// `raw` starts with \u; a pair of surrogates is one character.
static void read_unicode_escape(struct slice raw, struct part *part)
{
    int unit = json_hex4(slice_sub(raw, 2, 4));
    int low = -1;
    bool high = unit >= 0xd800 && unit < 0xdc00;
    if (high && slice_starts_with(slice_sub(raw, 6, 2), SLICE("\\u"))) {
        low = json_hex4(slice_sub(raw, 8, 4));
    }
    bool paired = low >= 0xdc00 && low < 0xe000;
    if (unit < 0 || (unit >= 0xd800 && unit < 0xe000 && !paired)) {
        return;
    }
    unsigned code = (unsigned)unit;
    if (paired) {
        code = 0x10000 + (((unsigned)unit & 0x3ff) << 10) + ((unsigned)low & 0x3ff);
    }
    part->raw_size = paired ? 12 : 6;
    part->text = slice_make(part->bytes, utf8_encode(code, part->bytes));
}

// `raw` starts with a backslash.
static void read_escape(struct slice raw, struct part *part)
{
    static const char meanings[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
    };
    unsigned char c = (unsigned char)byte_at(raw, 1);
    if (c == 'u') {
        read_unicode_escape(raw, part);
    } else if (meanings[c]) {
        part->bytes[0] = meanings[c];
        part->raw_size = 2;
        part->text = slice_make(part->bytes, 1);
    }
}

// The part at the front of `raw`, which is not empty.
static void read_part(struct slice raw, struct part *part)
{
    *part = (struct part){ .raw_size = 0 };
    if (raw.data[0] == '\\') {
        read_escape(raw, part);
        return;
    }
    const char *backslash = memchr(raw.data, '\\', raw.size);
    part->raw_size = backslash ? (size_t)(backslash - raw.data) : raw.size;
    part->text = slice_sub(raw, 0, part->raw_size);
}

// Removes the quotes; false if there are none.
static bool unquote(struct slice *raw)
{
    if (byte_at(*raw, 0) != '"' || json_string_size(*raw) != raw->size) {
        return false;
    }
    *raw = slice_sub(*raw, 1, raw->size - 2);
    return true;
}

enum status json_unescape(struct slice raw, struct buffer *out)
{
    if (!unquote(&raw)) {
        return STATUS_INVALID;
    }
    size_t size_before = out->size;
    while (raw.size > 0) {
        struct part part;
        read_part(raw, &part);
        if (part.raw_size == 0) {
            buffer_truncate(out, size_before);
            return STATUS_INVALID;
        }
        buffer_append(out, part.text);
        raw = after(raw, part.raw_size);
    }
    if (out->status) {
        buffer_truncate(out, size_before);
    }
    return out->status;
}

bool json_string_is(struct slice raw, struct slice text)
{
    if (!unquote(&raw)) {
        return false;
    }
    while (raw.size > 0) {
        struct part part;
        read_part(raw, &part);
        if (part.raw_size == 0 || !slice_starts_with(text, part.text)) {
            return false;
        }
        raw = after(raw, part.raw_size);
        text = after(text, part.text.size);
    }
    return text.size == 0;
}

// Values

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_TYPE_NULL] = "null",       [JSON_TYPE_BOOL] = "true or false",
        [JSON_TYPE_NUMBER] = "a number", [JSON_TYPE_STRING] = "a string",
        [JSON_TYPE_ARRAY] = "an array",  [JSON_TYPE_OBJECT] = "an object",
    };
    return names[type];
}

enum status json_value_int(struct json_value value, int64_t *out)
{
    return value.type == JSON_TYPE_NUMBER ? num_parse_i64(value.raw, out) : STATUS_INVALID;
}

enum status json_value_bool(struct json_value value, bool *out)
{
    if (value.type != JSON_TYPE_BOOL) {
        return STATUS_INVALID;
    }
    *out = byte_at(value.raw, 0) == 't';
    return STATUS_OK;
}

enum status json_value_string(struct json_value value, struct buffer *out)
{
    return value.type == JSON_TYPE_STRING ? json_unescape(value.raw, out) : STATUS_INVALID;
}
