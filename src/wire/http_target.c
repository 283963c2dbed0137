// SPDX-License-Identifier: MIT
#include "wire/http_target.h"

#include "base/ascii.h"

#include <stdint.h>

bool http_path_next(struct slice *path, struct slice *segment)
{
    if (path->size == 0 || path->data[0] != '/') {
        return false;
    }
    struct slice rest = slice_sub(*path, 1, SIZE_MAX);
    const char *slash = rest.size && rest.data ? memchr(rest.data, '/', rest.size) : NULL;
    size_t size = slash ? (size_t)(slash - rest.data) : rest.size;
    *segment = slice_sub(rest, 0, size);
    *path = slice_sub(rest, size, SIZE_MAX);
    return true;
}

bool http_query_next(struct slice *query, struct slice *name, struct slice *value)
{
    while (query->size && query->data[0] == '&') {
        *query = slice_sub(*query, 1, SIZE_MAX);
    }
    if (query->size == 0 || !query->data) {
        return false;
    }
    const char *end = memchr(query->data, '&', query->size);
    struct slice whole = slice_sub(*query, 0, end ? (size_t)(end - query->data) : query->size);
    const char *equals = whole.data ? memchr(whole.data, '=', whole.size) : NULL;
    size_t name_size = equals ? (size_t)(equals - whole.data) : whole.size;
    *name = slice_sub(whole, 0, name_size);
    *value = slice_sub(whole, name_size + 1, SIZE_MAX);
    *query = slice_sub(*query, whole.size, SIZE_MAX);
    return true;
}

// The byte of the escape at the front of `text`; 0 if it is not a valid one.
static char unescape_one(struct slice text)
{
    if (text.size < 3 || ascii_hex_digit(text.data[1]) < 0 || ascii_hex_digit(text.data[2]) < 0) {
        return '\0';
    }
    return (char)(ascii_hex_digit(text.data[1]) * 16 + ascii_hex_digit(text.data[2]));
}

static bool is_plain(struct slice text, bool query)
{
    return !text.size ||
           (!memchr(text.data, '%', text.size) && (!query || !memchr(text.data, '+', text.size)));
}

enum status http_unescape(struct slice text, bool query, struct buffer *buffer, struct slice *out)
{
    if (is_plain(text, query)) {
        *out = text;
        return STATUS_OK;
    }
    size_t start = buffer->size;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '%') {
            c = unescape_one(slice_sub(text, i, SIZE_MAX));
            if (c == '\0') {
                buffer_truncate(buffer, start);
                return STATUS_INVALID;
            }
            i += 2;
        } else if (c == '+' && query) {
            c = ' ';
        }
        buffer_append_char(buffer, c);
    }
    *out = slice_make(buffer->data + start, buffer->size - start);
    return buffer->status;
}

void http_escape(struct slice text, struct buffer *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        char small = ascii_lower(c);
        bool plain = (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '.' || c == '_' || c == '~';
        if (plain) {
            buffer_append_char(out, c);
        } else {
            const char escaped[] = { '%', digits[(uint8_t)c >> 4], digits[(uint8_t)c & 15] };
            buffer_append(out, slice_make(escaped, sizeof(escaped)));
        }
    }
}
