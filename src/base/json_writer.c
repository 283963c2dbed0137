// SPDX-License-Identifier: MIT
#include "base/json_writer.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/num.h"

#include <assert.h>

void json_writer_init(struct json_writer *writer, struct buffer *buffer)
{
    *writer = (struct json_writer){ .buffer = buffer };
}

static bool in_object(const struct json_writer *writer)
{
    return writer->depth > 0 && writer->objects >> (writer->depth - 1) & 1;
}

// Appends what separates a value from the previous piece.
static void separate(struct json_writer *writer)
{
    assert(writer->after_key == in_object(writer));
    if (writer->filled && !writer->after_key) {
        assert(writer->depth > 0);
        buffer_append_char(writer->buffer, ',');
    }
    writer->filled = true;
    writer->after_key = false;
}

static void begin(struct json_writer *writer, bool object)
{
    assert(writer->depth < JSON_WRITER_DEPTH_MAX);
    separate(writer);
    buffer_append_char(writer->buffer, object ? '{' : '[');
    uint64_t bit = UINT64_C(1) << writer->depth;
    writer->objects = object ? writer->objects | bit : writer->objects & ~bit;
    writer->depth++;
    writer->filled = false;
}

static void end(struct json_writer *writer, bool object)
{
    assert(writer->depth > 0 && in_object(writer) == object && !writer->after_key);
    buffer_append_char(writer->buffer, object ? '}' : ']');
    writer->depth--;
    // The closed container is itself a value in the outer one.
    writer->filled = true;
}

void json_write_begin_object(struct json_writer *writer)
{
    begin(writer, true);
}

void json_write_end_object(struct json_writer *writer)
{
    end(writer, true);
}

void json_write_begin_array(struct json_writer *writer)
{
    begin(writer, false);
}

void json_write_end_array(struct json_writer *writer)
{
    end(writer, false);
}

// The text after the first `size` bytes, which must exist.
static struct slice after(struct slice text, size_t size)
{
    return size ? slice_make(text.data + size, text.size - size) : text;
}

static void append_escape(struct buffer *buffer, unsigned char c)
{
    static const char short_forms[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
    };
    if (short_forms[c]) {
        const char escape[] = { '\\', short_forms[c] };
        buffer_append(buffer, slice_make(escape, sizeof(escape)));
    } else {
        char escape[] = { '\\', 'u', '0', '0', 0, 0 };
        (void)ascii_hex_write(escape + 4, &c, 1);
        buffer_append(buffer, slice_make(escape, sizeof(escape)));
    }
}

// Appends the first character of `text`, which needs an escape or is not ASCII; returns its size in
// `text`.
static size_t append_special(struct buffer *buffer, struct slice text)
{
    unsigned char c = (unsigned char)text.data[0];
    if (c < 0x80) {
        append_escape(buffer, c);
        return 1;
    }
    size_t size = json_utf8_size(text);
    buffer_append(buffer, size ? slice_make(text.data, size) : SLICE("\xef\xbf\xbd"));
    return size ? size : 1;
}

static void append_quoted(struct buffer *buffer, struct slice text)
{
    buffer_append_char(buffer, '"');
    for (;;) {
        size_t plain = json_plain_size(text);
        buffer_append(buffer, slice_make(text.data, plain));
        text = after(text, plain);
        if (!text.data || text.size == 0) {
            break;
        }
        text = after(text, append_special(buffer, text));
    }
    buffer_append_char(buffer, '"');
}

bool json_writer_wants_key(const struct json_writer *writer)
{
    return in_object(writer) && !writer->after_key;
}

void json_write_key(struct json_writer *writer, struct slice text)
{
    assert(in_object(writer) && !writer->after_key);
    if (writer->filled) {
        buffer_append_char(writer->buffer, ',');
    }
    append_quoted(writer->buffer, text);
    buffer_append_char(writer->buffer, ':');
    writer->after_key = true;
}

void json_write_string(struct json_writer *writer, struct slice text)
{
    separate(writer);
    append_quoted(writer->buffer, text);
}

void json_write_int(struct json_writer *writer, int64_t value)
{
    separate(writer);
    num_append_i64(writer->buffer, value);
}

void json_write_uint(struct json_writer *writer, uint64_t value)
{
    separate(writer);
    num_append_u64(writer->buffer, value);
}

void json_write_seconds(struct json_writer *writer, int64_t us)
{
    separate(writer);
    num_append_seconds(writer->buffer, us);
}

void json_write_double(struct json_writer *writer, double value)
{
    separate(writer);
    num_append_double(writer->buffer, value);
}

void json_write_bool(struct json_writer *writer, bool value)
{
    separate(writer);
    buffer_append(writer->buffer, value ? SLICE("true") : SLICE("false"));
}

void json_write_null(struct json_writer *writer)
{
    separate(writer);
    buffer_append(writer->buffer, SLICE("null"));
}

void json_write_raw(struct json_writer *writer, struct slice valid_text)
{
    assert(valid_text.size > 0);
    separate(writer);
    buffer_append(writer->buffer, valid_text);
}
