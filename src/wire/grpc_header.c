// SPDX-License-Identifier: MIT
#include "wire/grpc_header.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/num.h"

enum {
    TIMEOUT_DIGITS_MAX = 8,
    ESCAPE_SIZE = 3,
};

enum status grpc_timeout_parse(struct slice text, int64_t *out_us)
{
    static const struct {
        char unit;
        int64_t us; // 0: nanoseconds
    } units[] = {
        { 'H', INT64_C(3600000000) },
        { 'M', 60000000 },
        { 'S', 1000000 },
        { 'm', 1000 },
        { 'u', 1 },
        { 'n', 0 },
    };
    if (text.size < 2 || text.size > TIMEOUT_DIGITS_MAX + 1) {
        return STATUS_INVALID;
    }
    int64_t count = 0;
    for (size_t i = 0; i + 1 < text.size; i++) { // zeros may stand in front
        if (text.data[i] < '0' || text.data[i] > '9') {
            return STATUS_INVALID;
        }
        count = 10 * count + (text.data[i] - '0');
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].unit == text.data[text.size - 1]) {
            *out_us = units[i].us ? count * units[i].us : (count + 999) / 1000;
            return STATUS_OK;
        }
    }
    return STATUS_INVALID;
}

bool grpc_content_type_is_valid(struct slice text)
{
    const char *end = text.size ? memchr(text.data, ';', text.size) : NULL;
    struct slice type = slice_sub(text, 0, end ? (size_t)(end - text.data) : text.size);
    while (type.size && (type.data[type.size - 1] == ' ' || type.data[type.size - 1] == '\t')) {
        type.size--;
    }
    return ascii_equal(type, SLICE("application/grpc")) ||
           ascii_equal(type, SLICE("application/grpc+proto"));
}

enum grpc_encoding grpc_encoding_of(struct slice text)
{
    static const struct {
        struct slice name;
        enum grpc_encoding encoding;
    } encodings[] = {
        { { "", 0 }, GRPC_ENCODING_IDENTITY },
        { { "identity", 8 }, GRPC_ENCODING_IDENTITY },
        { { "gzip", 4 }, GRPC_ENCODING_GZIP },
        { { "deflate", 7 }, GRPC_ENCODING_DEFLATE },
    };
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
        if (slice_equal(encodings[i].name, text)) {
            return encodings[i].encoding;
        }
    }
    return GRPC_ENCODING_UNKNOWN;
}

static bool stands_as_it_is(char byte)
{
    return byte >= ' ' && byte <= '~' && byte != '%';
}

// One character, at most 4 bytes, escaped where it has to be; 0 when there is no room for it.
static size_t encode_character(struct slice character, char *out, size_t room)
{
    static const char digits[] = "0123456789ABCDEF";
    if (stands_as_it_is(character.data[0])) {
        if (room > 0) {
            *out = character.data[0];
        }
        return room > 0;
    }
    if (room < ESCAPE_SIZE * character.size) {
        return 0;
    }
    for (size_t i = 0; i < character.size; i++) {
        unsigned char byte = (unsigned char)character.data[i];
        *out++ = '%';
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15U];
    }
    return ESCAPE_SIZE * character.size;
}

size_t grpc_percent_encode(struct slice text, char *out, size_t size)
{
    size_t used = 0;
    while (text.size > 0) {
        size_t character = json_utf8_size(text);
        character = character ? character : 1;
        size_t more = encode_character(slice_sub(text, 0, character), out + used, size - used);
        if (more == 0) {
            break;
        }
        used += more;
        text = slice_sub(text, character, SIZE_MAX);
    }
    return used;
}

enum status grpc_binary_decode(struct slice text, struct buffer *out)
{
    size_t start = out->size;
    enum status status = base64_decode(text, BASE64_EITHER, out);
    if (status) {
        buffer_truncate(out, start);
    }
    return status;
}
