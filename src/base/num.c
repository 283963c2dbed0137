// SPDX-License-Identifier: MIT
#include "base/num.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    US_DECIMALS = 6,
    // Sign and 20 digits; for a fraction of seconds a point and possibly a zero in addition.
    INTEGER_SIZE_MAX = 24,
    DOUBLE_SIZE_MAX = 32,
    // A larger exponent determines the result for all digits, since there are at most
    // NUM_TEXT_SIZE_MAX of them. So larger exponents need not be distinguished.
    EXPONENT_MAX = 100000,
};

#define US_PER_S            1000000U
#define DOUBLE_INTEGERS_MAX (UINT64_C(1) << DBL_MANT_DIG)

// A parsed JSON number: the digits of `text` at integer_start and fraction_start, times ten to the
// exponent.
struct decimal {
    struct slice text;
    size_t integer_start;
    size_t integer_count;
    size_t fraction_start;
    size_t fraction_count;
    int exponent;
    bool negative;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char char_at(struct slice text, size_t index)
{
    if (index >= text.size) {
        return '\0';
    }
    return text.data[index];
}

static size_t digits_count(struct slice text, size_t start)
{
    size_t end = start;
    while (end < text.size && is_digit(text.data[end])) {
        end++;
    }
    return end - start;
}

// Reads the exponent at *index, if there is one, and moves past it.
static bool scan_exponent(struct slice text, size_t *index, int *exponent)
{
    *exponent = 0;
    char mark = char_at(text, *index);
    if (mark != 'e' && mark != 'E') {
        return true;
    }
    ++*index;
    char sign = char_at(text, *index);
    if (sign == '-' || sign == '+') {
        ++*index;
    }
    size_t count = digits_count(text, *index);
    int value = 0;
    for (size_t i = 0; i < count && value < EXPONENT_MAX; i++) {
        value = value * 10 + (text.data[*index + i] - '0');
    }
    value = value < EXPONENT_MAX ? value : EXPONENT_MAX;
    *exponent = sign == '-' ? -value : value;
    *index += count;
    return count > 0;
}

// The grammar of RFC 8259, section 6.
static enum status scan_decimal(struct slice text, struct decimal *out)
{
    if (text.size > NUM_TEXT_SIZE_MAX) {
        return STATUS_TOO_LARGE;
    }
    struct decimal decimal = { .text = text, .negative = char_at(text, 0) == '-' };
    size_t index = decimal.negative;

    decimal.integer_start = index;
    decimal.integer_count = digits_count(text, index);
    if (decimal.integer_count == 0 || (decimal.integer_count > 1 && text.data[index] == '0')) {
        return STATUS_INVALID;
    }
    index += decimal.integer_count;

    if (char_at(text, index) == '.') {
        index++;
        decimal.fraction_start = index;
        decimal.fraction_count = digits_count(text, index);
        if (decimal.fraction_count == 0) {
            return STATUS_INVALID;
        }
        index += decimal.fraction_count;
    }
    if (!scan_exponent(text, &index, &decimal.exponent) || index != text.size) {
        return STATUS_INVALID;
    }
    *out = decimal;
    return STATUS_OK;
}

static size_t decimal_count(const struct decimal *decimal)
{
    return decimal->integer_count + decimal->fraction_count;
}

// The digits without the point, followed by zeros.
static unsigned decimal_digit(const struct decimal *decimal, size_t index)
{
    if (index >= decimal_count(decimal)) {
        return 0;
    }
    size_t at = index < decimal->integer_count
                    ? decimal->integer_start + index
                    : decimal->fraction_start + (index - decimal->integer_count);
    return (unsigned)(decimal->text.data[at] - '0');
}

// False if the result does not fit; then *value is unchanged.
static bool push_digit(uint64_t *value, unsigned digit)
{
    uint64_t result;
    if (__builtin_mul_overflow(*value, 10U, &result) ||
        __builtin_add_overflow(result, digit, &result)) {
        return false;
    }
    *value = result;
    return true;
}

static enum status signed_from_magnitude(uint64_t magnitude, bool negative, int64_t *out)
{
    if (magnitude > (uint64_t)INT64_MAX + negative) {
        return STATUS_TOO_LARGE;
    }
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return STATUS_OK;
}

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static enum status parse_integer(struct slice text, uint64_t *magnitude, bool *negative)
{
    if (text.size > NUM_TEXT_SIZE_MAX) {
        return STATUS_TOO_LARGE;
    }
    *negative = char_at(text, 0) == '-';
    size_t start = *negative;
    size_t count = digits_count(text, start);
    if (count == 0 || start + count != text.size || (count > 1 && text.data[start] == '0')) {
        return STATUS_INVALID;
    }
    *magnitude = 0;
    for (size_t i = start; i < text.size; i++) {
        if (!push_digit(magnitude, (unsigned)(text.data[i] - '0'))) {
            return STATUS_TOO_LARGE;
        }
    }
    return STATUS_OK;
}

enum status num_parse_i64(struct slice text, int64_t *out)
{
    uint64_t magnitude;
    bool negative;
    enum status status = parse_integer(text, &magnitude, &negative);
    return status ? status : signed_from_magnitude(magnitude, negative, out);
}

enum status num_parse_u64(struct slice text, uint64_t *out)
{
    uint64_t magnitude;
    bool negative;
    enum status status = parse_integer(text, &magnitude, &negative);
    if (status) {
        return status;
    }
    if (negative && magnitude) {
        return STATUS_TOO_LARGE;
    }
    *out = magnitude;
    return STATUS_OK;
}

// Digits that fit a double exactly, times or divided by a power of ten that fits exactly too: then
// one operation rounds once, which is correct rounding. False if the number is not that simple.
static bool double_from_few_digits(const struct decimal *decimal, int exponent, double *out)
{
    static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const int tens_max = sizeof(tens) / sizeof(tens[0]) - 1;
    // If intermediate results have more bits than a double, they are rounded twice.
    if (FLT_EVAL_METHOD != 0 || exponent < -tens_max || exponent > tens_max) {
        return false;
    }
    uint64_t significand = 0;
    for (size_t i = 0; i < decimal_count(decimal); i++) {
        if (!push_digit(&significand, decimal_digit(decimal, i))) {
            return false;
        }
    }
    if (significand > DOUBLE_INTEGERS_MAX) {
        return false;
    }
    double value = (double)significand;
    *out = exponent < 0 ? value / tens[-exponent] : value * tens[exponent];
    return true;
}

// strtod rounds correctly, but its decimal point depends on the locale. So it gets the digits
// without a point and an adjusted exponent.
static double double_from_digits(const struct decimal *decimal, int exponent)
{
    char digits[NUM_TEXT_SIZE_MAX + sizeof("e-2147483648")];
    size_t count = decimal_count(decimal);
    for (size_t i = 0; i < count; i++) {
        digits[i] = (char)('0' + decimal_digit(decimal, i));
    }
    (void)snprintf(digits + count, sizeof(digits) - count, "e%d", exponent);
    return strtod(digits, NULL);
}

enum status num_parse_double(struct slice text, double *out)
{
    struct decimal decimal;
    enum status status = scan_decimal(text, &decimal);
    if (status) {
        return status;
    }
    int exponent = decimal.exponent - (int)decimal.fraction_count;
    double value;
    if (!double_from_few_digits(&decimal, exponent, &value)) {
        value = double_from_digits(&decimal, exponent);
    }
    if (!isfinite(value)) {
        return STATUS_TOO_LARGE;
    }
    *out = decimal.negative ? -value : value;
    return STATUS_OK;
}

enum status num_parse_seconds(struct slice text, int64_t *us_out)
{
    struct decimal decimal;
    enum status status = scan_decimal(text, &decimal);
    if (status) {
        return status;
    }
    // The first `whole` digits are whole microseconds, and the next one determines the rounding.
    int64_t whole = (int64_t)decimal.integer_count + decimal.exponent + US_DECIMALS;
    size_t count = whole > 0 ? (size_t)whole : 0;
    uint64_t magnitude = 0;
    for (size_t i = 0; i < count; i++) {
        if (!push_digit(&magnitude, decimal_digit(&decimal, i))) {
            return STATUS_TOO_LARGE;
        }
        if (magnitude == 0 && i >= decimal_count(&decimal)) {
            break;
        }
    }
    if (whole >= 0 && decimal_digit(&decimal, count) >= 5 &&
        __builtin_add_overflow(magnitude, 1U, &magnitude)) {
        return STATUS_TOO_LARGE;
    }
    return signed_from_magnitude(magnitude, decimal.negative, us_out);
}

// Writes the digits so that they end before `end`; returns where they start.
static char *digits_before(char *end, uint64_t value)
{
    // Two digits at a time, because divisions are slow.
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    for (; value >= 100; value /= 100) {
        end -= 2;
        memcpy(end, pairs + value % 100 * 2, 2);
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, pairs + value * 2, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

void num_append_u64(struct buffer *buffer, uint64_t value)
{
    char text[INTEGER_SIZE_MAX];
    char *end = text + sizeof(text);
    char *start = digits_before(end, value);
    buffer_append(buffer, slice_make(start, (size_t)(end - start)));
}

void num_append_i64(struct buffer *buffer, int64_t value)
{
    char text[INTEGER_SIZE_MAX];
    char *end = text + sizeof(text);
    char *start = digits_before(end, magnitude_of(value));
    if (value < 0) {
        *--start = '-';
    }
    buffer_append(buffer, slice_make(start, (size_t)(end - start)));
}

struct slice num_format_seconds(int64_t us, struct num_room *room)
{
    uint64_t magnitude = magnitude_of(us);
    uint64_t fraction = magnitude % US_PER_S;
    char *end = &room->bytes[sizeof(room->bytes)];
    char *start = end;
    if (fraction) {
        start = digits_before(end, US_PER_S + fraction);
        *start = '.'; // where the one stood that kept the zeros behind it
        while (end[-1] == '0') {
            end--;
        }
    }
    start = digits_before(start, magnitude / US_PER_S);
    if (us < 0) {
        *--start = '-';
    }
    return slice_make(start, (size_t)(end - start));
}

void num_append_seconds(struct buffer *buffer, int64_t us)
{
    struct num_room room;
    buffer_append(buffer, num_format_seconds(us, &room));
}

// A text under construction that is known to fit.
struct text {
    char bytes[DOUBLE_SIZE_MAX];
    size_t size;
};

static void put(struct text *text, char c)
{
    assert(text->size < sizeof(text->bytes));
    text->bytes[text->size++] = c;
}

static void put_digits(struct text *text, const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(text, digits[i]);
    }
}

static void put_zeros(struct text *text, int count)
{
    for (int i = 0; i < count; i++) {
        put(text, '0');
    }
}

// Writes 0.DIGITS times ten to `point` in the format of ECMAScript's Number::toString.
static void lay_out(struct text *text, const char *digits, int count, int point)
{
    if (point > 21 || point <= -6) {
        put(text, digits[0]);
        if (count > 1) {
            put(text, '.');
            put_digits(text, digits + 1, (size_t)count - 1);
        }
        put(text, 'e');
        put(text, point > 0 ? '+' : '-');
        char exponent[INTEGER_SIZE_MAX];
        char *end = exponent + sizeof(exponent);
        char *start = digits_before(end, magnitude_of((int64_t)point - 1));
        put_digits(text, start, (size_t)(end - start));
    } else if (point <= 0) {
        put(text, '0');
        put(text, '.');
        put_zeros(text, -point);
        put_digits(text, digits, (size_t)count);
    } else if (point < count) {
        put_digits(text, digits, (size_t)point);
        put(text, '.');
        put_digits(text, digits + point, (size_t)(count - point));
    } else {
        put_digits(text, digits, (size_t)count);
        put_zeros(text, point - count);
    }
}

// The text of a positive double rounded to `precision` digits, trailing zeros dropped.
static void print_rounded(struct text *text, double value, int precision)
{
    char printed[64]; // "d.dddde-ddd", the point perhaps of several bytes
    int printed_size = snprintf(printed, sizeof(printed), "%.*e", precision - 1, value);
    assert(printed_size > 0 && (size_t)printed_size < sizeof(printed));
    (void)printed_size;

    // Copies only the digits, because the decimal point depends on the locale.
    char digits[DOUBLE_SIZE_MAX] = { printed[0] };
    int count = 1;
    const char *c = printed + 1;
    for (; *c != 'e'; c++) {
        if (is_digit(*c)) {
            digits[count++] = *c;
        }
    }
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    int exponent = (int)strtol(c + 1, NULL, 10);
    lay_out(text, digits, count, exponent + 1);
}

void num_append_double(struct buffer *buffer, double value)
{
    if (!isfinite(value)) {
        buffer_append(buffer, SLICE("null"));
        return;
    }
    double magnitude = fabs(value);
    if (magnitude == 0) {
        buffer_append(buffer, signbit(value) ? SLICE("-0") : SLICE("0"));
        return;
    }
    if (magnitude <= (double)DOUBLE_INTEGERS_MAX && magnitude == (double)(int64_t)magnitude) {
        num_append_i64(buffer, (int64_t)value);
        return;
    }
    // Up to DBL_DIG digits always suffice for a normal double, so fewer need not be tried; a
    // subnormal number has fewer bits.
    struct text text;
    int precision = magnitude < DBL_MIN ? 1 : DBL_DIG;
    for (;; precision++) {
        text.size = 0;
        if (value < 0) {
            put(&text, '-');
        }
        print_rounded(&text, magnitude, precision);
        double again;
        enum status status = num_parse_double(slice_make(text.bytes, text.size), &again);
        if (precision >= DBL_DECIMAL_DIG || (!status && again == value)) {
            break;
        }
    }
    buffer_append(buffer, slice_make(text.bytes, text.size));
}
