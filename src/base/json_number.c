// SPDX-License-Identifier: MIT
#include "base/json_number.h"

#include "base/num.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ZEROS_BEHIND_MAX = 20,
    ZEROS_BEFORE_MAX = 6,
    EXPONENT_DIGITS_MAX = 16,
};

// A number in parts: the digits before and after the point, as written.
struct parts {
    bool negative;
    struct slice whole, fraction, exponent; // the exponent with its sign
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct slice take_digits(struct slice *rest)
{
    size_t size = 0;
    while (size < rest->size && is_digit(rest->data[size])) {
        size++;
    }
    struct slice digits = slice_sub(*rest, 0, size);
    *rest = slice_sub(*rest, size, SIZE_MAX);
    return digits;
}

static struct parts split(struct slice number)
{
    struct parts parts = { .negative = number.size && number.data[0] == '-' };
    struct slice rest = slice_sub(number, parts.negative, SIZE_MAX);
    parts.whole = take_digits(&rest);
    if (rest.size && rest.data[0] == '.') {
        rest = slice_sub(rest, 1, SIZE_MAX);
        parts.fraction = take_digits(&rest);
    }
    parts.exponent = slice_sub(rest, 1, SIZE_MAX); // after the e, if there is one
    return parts;
}

// The digits without the point.
static char digit_at(const struct parts *parts, size_t i)
{
    const struct slice *part = i < parts->whole.size ? &parts->whole : &parts->fraction;
    assert(part->data);
    return part->data[i < parts->whole.size ? i : i - parts->whole.size];
}

// False when it has too many digits.
static bool read_exponent(struct slice text, int64_t *out)
{
    bool negative = text.size && text.data[0] == '-';
    size_t at = text.size && !is_digit(text.data[0]);
    while (at < text.size && text.data[at] == '0') {
        at++;
    }
    if (text.size - at > EXPONENT_DIGITS_MAX) {
        return false;
    }
    int64_t value = 0;
    for (; at < text.size; at++) {
        value = value * 10 + (text.data[at] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static void append_zeros(struct buffer *out, int64_t count)
{
    for (; count > 0; count--) {
        buffer_append_char(out, '0');
    }
}

static void append_digits(struct buffer *out, const struct parts *parts, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        buffer_append_char(out, digit_at(parts, i));
    }
}

// Appends the digits from `first` up to `end`; the last one has the value of 10^exponent.
static void append(struct buffer *out, const struct parts *parts, size_t first, size_t end,
                   int64_t exponent)
{
    int64_t count = (int64_t)(end - first);
    if (parts->negative) {
        buffer_append_char(out, '-');
    }
    if (exponent < 0 && -exponent < count) {
        size_t point = end - (size_t)-exponent;
        append_digits(out, parts, first, point);
        buffer_append_char(out, '.');
        append_digits(out, parts, point, end);
    } else if (exponent < 0 && -exponent - count <= ZEROS_BEFORE_MAX) {
        buffer_append(out, SLICE("0."));
        append_zeros(out, -exponent - count);
        append_digits(out, parts, first, end);
    } else {
        bool plain = exponent >= 0 && exponent <= ZEROS_BEHIND_MAX;
        append_digits(out, parts, first, end);
        append_zeros(out, plain ? exponent : 0);
        if (!plain) {
            buffer_append_char(out, 'e');
            num_append_i64(out, exponent);
        }
    }
}

void json_number_append(struct slice number, struct buffer *out)
{
    const struct parts parts = split(number);
    size_t first = 0, end = parts.whole.size + parts.fraction.size;
    while (first < end && digit_at(&parts, first) == '0') {
        first++;
    }
    while (end > first && digit_at(&parts, end - 1) == '0') {
        end--;
    }
    int64_t exponent;
    if (first == end) {
        buffer_append_char(out, '0');
    } else if (read_exponent(parts.exponent, &exponent)) {
        append(out, &parts, first, end, exponent + (int64_t)parts.whole.size - (int64_t)end);
    } else {
        buffer_append(out, number);
    }
}
