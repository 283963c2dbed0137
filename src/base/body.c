// SPDX-License-Identifier: MIT
#include "base/body.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

// Whether a valid text contains no insignificant white space.
static bool is_stripped(struct slice text)
{
    while (text.size) {
        char c = text.data[0];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            return false;
        }
        text = slice_sub(text, c == '"' ? json_string_size(text) : 1, SIZE_MAX);
    }
    return true;
}

// The value of the first member of an object whose key is `$base64`. `*alone`: it has no other.
static bool first_is_base64(struct slice data, struct slice *value, bool *alone)
{
    struct json_reader reader;
    struct json_member member;
    if (json_reader_init_object(&reader, data, NULL) || !json_reader_next(&reader, &member) ||
        !json_string_is(member.key, SLICE("$base64"))) {
        return false;
    }
    *value = member.value.raw;
    *alone = !json_reader_next(&reader, &member) && !reader.status;
    return true;
}

static bool stays_as_it_is(struct slice body)
{
    struct slice value;
    bool alone;
    return body.size && body.data[0] != '"' && !json_validate(body, JSON_VALUE_DEPTH_MAX, NULL) &&
           is_stripped(body) && !first_is_base64(body, &value, &alone);
}

// Whether it is UTF-8 without U+0000.
static bool is_text(struct slice body)
{
    size_t size = 1;
    while (body.size && size && body.data[0]) {
        size = json_utf8_size(body);
        body = slice_sub(body, size, SIZE_MAX);
    }
    return body.size == 0;
}

// Removes what was appended if there was not enough room for all of it.
static enum status finish(struct buffer *out, size_t start)
{
    if (out->status) {
        buffer_truncate(out, start);
    }
    return out->status;
}

enum status body_encode(struct slice body, struct buffer *out)
{
    size_t start = out->size;
    if (stays_as_it_is(body)) {
        buffer_append(out, body);
    } else if (is_text(body)) {
        struct json_writer writer;
        json_writer_init(&writer, out);
        json_write_string(&writer, body);
    } else {
        buffer_append(out, SLICE("{\"$base64\":\""));
        base64_append(out, body);
        buffer_append(out, SLICE("\"}"));
    }
    return finish(out, start);
}

// Appends the bytes of {"$base64":"..."}; false for any other value.
static bool decode_object(struct slice data, struct buffer *out)
{
    struct slice value;
    bool alone;
    if (!first_is_base64(data, &value, &alone) || !alone || value.data[0] != '"') {
        return false;
    }
    // Base64 characters need no escapes, but JSON may contain one, as `\/`.
    size_t start = out->size;
    enum status status = json_unescape(value, out);
    if (status) {
        return status != STATUS_INVALID; // the status of the buffer remains
    }
    struct slice text = slice_sub(buffer_slice(out), start, SIZE_MAX);
    if (!text.size) {
        return true;
    }
    // A group is read before its bytes, which are fewer, overwrite it.
    struct buffer decoded = { .data = out->data + start,
                              .capacity = text.size,
                              .size_max = text.size };
    if (base64_decode(text, BASE64_PADDED, &decoded)) {
        buffer_truncate(out, start);
        return false;
    }
    buffer_truncate(out, start + decoded.size);
    return true;
}

enum status body_decode(struct slice data, struct buffer *out)
{
    size_t start = out->size;
    if (data.size && data.data[0] == '"') {
        enum status status = json_unescape(data, out);
        if (status != STATUS_INVALID) {
            return finish(out, start);
        }
    }
    if (!data.size || data.data[0] != '{' || !decode_object(data, out)) {
        buffer_append(out, data);
    }
    return finish(out, start);
}
