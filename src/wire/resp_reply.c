// SPDX-License-Identifier: MIT
// The size of every piece is known before it is written. So each needs one reservation, and a piece
// that does not fit leaves nothing behind.
#include "wire/resp_reply.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LINE_END_SIZE = 2,
    NUMBER_SIZE_MAX = 32, // of a double, as text
};

static inline size_t decimal_size(uint64_t value)
{
    size_t size = 1;
    if (value < 10) {
        return size;
    }
    while (value >= 10000) {
        value /= 10000;
        size += 4;
    }
    return size + (value >= 10 ? 1U : 0U) + (value >= 100 ? 1U : 0U) + (value >= 1000 ? 1U : 0U);
}

static inline char *put_line_end(char *at)
{
    at[0] = '\r';
    at[1] = '\n';
    return at + LINE_END_SIZE;
}

// Writes exactly `size` digits; returns their end. Two digits at a time, because divisions are
// slow.
static inline char *put_decimal(char *at, uint64_t value, size_t size)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    if (size == 1) {
        *at = (char)('0' + value);
        return at + 1;
    }
    char *digit = at + size;
    while (digit - at >= 2) {
        digit -= 2;
        memcpy(digit, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (digit > at) {
        *at = (char)('0' + value);
    }
    return at + size;
}

static inline char *put_bytes(char *at, struct slice bytes)
{
    if (bytes.size) {
        memcpy(at, bytes.data, bytes.size);
    }
    return at + bytes.size;
}

// A line end inside a line would begin another reply, which a client could forge with a name.
static inline char *put_text(char *at, struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool line_end = c == '\r' || c == '\n';
        at[i] = (char)(line_end ? ' ' : c);
    }
    return at + text.size;
}

static void append_line(struct buffer *out, char type, struct slice text)
{
    size_t size = 1 + text.size + LINE_END_SIZE;
    char *at = buffer_reserve(out, size);
    if (!at) {
        return;
    }
    *at++ = type;
    put_line_end(put_text(at, text));
    buffer_commit(out, size);
}

static void append_header(struct buffer *out, char type, uint64_t count)
{
    size_t digits = decimal_size(count);
    size_t size = 1 + digits + LINE_END_SIZE;
    char *at = buffer_reserve(out, size);
    if (!at) {
        return;
    }
    *at++ = type;
    put_line_end(put_decimal(at, count, digits));
    buffer_commit(out, size);
}

// Appends a value that is preceded by its size, which includes `prefix`.
static inline void append_sized(struct buffer *out, char type, struct slice prefix,
                                struct slice bytes)
{
    size_t value_size = prefix.size + bytes.size;
    size_t digits = decimal_size(value_size);
    size_t size = 1 + digits + LINE_END_SIZE + value_size + LINE_END_SIZE;
    char *at = buffer_reserve(out, size);
    if (!at) {
        return;
    }
    *at++ = type;
    at = put_line_end(put_decimal(at, value_size, digits));
    put_line_end(put_bytes(put_bytes(at, prefix), bytes));
    buffer_commit(out, size);
}

void resp_simple(struct buffer *out, struct slice text)
{
    append_line(out, '+', text);
}

void resp_error(struct buffer *out, struct slice code, struct slice sentence)
{
    size_t size = 1 + code.size + 1 + sentence.size + LINE_END_SIZE;
    char *at = buffer_reserve(out, size);
    if (!at) {
        return;
    }
    *at++ = '-';
    at = put_text(at, code);
    *at++ = ' ';
    put_line_end(put_text(at, sentence));
    buffer_commit(out, size);
}

void resp_bulk(struct buffer *out, struct slice bytes)
{
    append_sized(out, '$', SLICE_EMPTY, bytes);
}

void resp_integer(struct buffer *out, int64_t value)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t digits = decimal_size(magnitude);
    size_t size = 1 + (value < 0 ? 1U : 0U) + digits + LINE_END_SIZE;
    char *at = buffer_reserve(out, size);
    if (!at) {
        return;
    }
    *at++ = ':';
    if (value < 0) {
        *at++ = '-';
    }
    put_line_end(put_decimal(at, magnitude, digits));
    buffer_commit(out, size);
}

void resp_null(struct buffer *out, enum resp_version version)
{
    buffer_append(out, version == RESP_3 ? SLICE("_\r\n") : SLICE("$-1\r\n"));
}

void resp_boolean(struct buffer *out, enum resp_version version, bool value)
{
    if (version == RESP_3) {
        buffer_append(out, value ? SLICE("#t\r\n") : SLICE("#f\r\n"));
    } else {
        buffer_append(out, value ? SLICE(":1\r\n") : SLICE(":0\r\n"));
    }
}

static void append_number(struct buffer *out, enum resp_version version, struct slice text)
{
    if (version == RESP_3) {
        append_line(out, ',', text);
    } else {
        resp_bulk(out, text);
    }
}

// Converts the text after the first `size` bytes to a number. Numbers are printed at the end of the
// buffer, and moved because their size precedes them.
static void wrap_number(struct buffer *out, enum resp_version version, size_t size)
{
    if (out->status) {
        return;
    }
    char text[NUMBER_SIZE_MAX];
    size_t text_size = out->size - size;
    assert(text_size && text_size <= sizeof(text));
    memcpy(text, out->data + size, text_size);
    buffer_truncate(out, size);
    append_number(out, version, slice_make(text, text_size));
}

void resp_double(struct buffer *out, enum resp_version version, double value)
{
    if (isnan(value)) {
        append_number(out, version, SLICE("nan"));
    } else if (isinf(value)) {
        append_number(out, version, value > 0 ? SLICE("inf") : SLICE("-inf"));
    } else {
        size_t size = out->size;
        num_append_double(out, value);
        wrap_number(out, version, size);
    }
}

void resp_seconds(struct buffer *out, enum resp_version version, int64_t us)
{
    struct num_room room;
    append_number(out, version, num_format_seconds(us, &room));
}

void resp_verbatim(struct buffer *out, enum resp_version version, struct slice text)
{
    if (version == RESP_3) {
        append_sized(out, '=', SLICE("txt:"), text);
    } else {
        resp_bulk(out, text);
    }
}

void resp_array(struct buffer *out, size_t count)
{
    append_header(out, '*', count);
}

void resp_map(struct buffer *out, enum resp_version version, size_t pairs)
{
    if (version == RESP_3) {
        append_header(out, '%', pairs);
    } else {
        append_header(out, '*', (uint64_t)pairs * 2);
    }
}

void resp_push(struct buffer *out, enum resp_version version, size_t count)
{
    append_header(out, version == RESP_3 ? '>' : '*', count);
}
