// SPDX-License-Identifier: MIT
// Letters and digits of ASCII, independent of the locale. Other bytes are unchanged.
#ifndef SLUICE_BASE_ASCII_H
#define SLUICE_BASE_ASCII_H

#include "base/slice.h"

#include <stdint.h>

static inline char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static inline char ascii_upper(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
}

// The value of a hexadecimal digit in either case; -1 if it is not one.
static inline int ascii_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = ascii_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads up to 16 hexadecimal digits; false if a character is not one.
static inline bool ascii_hex_read(struct slice digits, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        int digit = ascii_hex_digit(digits.data[i]);
        if (digit < 0) {
            return false;
        }
        value = value << 4 | (uint64_t)digit;
    }
    *out = value;
    return true;
}

// Writes two hexadecimal digits in lower case for each byte, and returns the end of them.
static inline char *ascii_hex_write(char *text, const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = (const unsigned char *)bytes;
    for (size_t i = 0; i < size; i++) {
        *text++ = digits[from[i] >> 4];
        *text++ = digits[from[i] & 15];
    }
    return text;
}

// Whether two texts are equal without regard to case.
static inline bool ascii_equal(struct slice a, struct slice b)
{
    if (a.size != b.size) {
        return false;
    }
    for (size_t i = 0; i < a.size; i++) {
        if (ascii_lower(a.data[i]) != ascii_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

#endif
