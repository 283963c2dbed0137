// SPDX-License-Identifier: MIT
#include "base/uuid.h"

#include "base/ascii.h"

#include <stdbool.h>
#include <string.h>

enum {
    US_PER_MS = 1000,
    TIME_SIZE = UUID_SIZE - UUID_ENTROPY_SIZE,
};

#define TIME_US_MAX ((INT64_C(1) << 48) * US_PER_MS - 1)

// Layout (RFC 9562, section 5.7): 48 bits of milliseconds, 4 of version, 12 of rand_a, 2 of
// variant, 62 of rand_b.
//
// rand_a holds the fraction of the millisecond in units of 1/4096 (section 6.2, method 3). A
// microsecond is a little more than four of those, so two random bits fit below it without
// reaching into the next microsecond.
void uuid_v7(int64_t now_us, const uint8_t entropy[UUID_ENTROPY_SIZE], struct uuid *out)
{
    uint64_t us = (uint64_t)(now_us < 0 ? 0 : now_us > TIME_US_MAX ? TIME_US_MAX : now_us);
    uint64_t ms = us / US_PER_MS;
    uint64_t fraction = us % US_PER_MS * 4096 / US_PER_MS + (entropy[1] & 0x03U);

    for (int i = 0; i < TIME_SIZE; i++) {
        out->bytes[i] = (uint8_t)(ms >> (8 * (TIME_SIZE - 1 - i)));
    }
    memcpy(out->bytes + TIME_SIZE, entropy, UUID_ENTROPY_SIZE);
    out->bytes[6] = (uint8_t)(0x70U | fraction >> 8);
    out->bytes[7] = (uint8_t)fraction;
    out->bytes[8] = (uint8_t)(0x80U | (out->bytes[8] & 0x3fU));
}

// Whether a dash precedes the byte.
static bool dash_before(int index)
{
    return index == 4 || index == 6 || index == 8 || index == 10;
}

void uuid_format(const struct uuid *uuid, char text[UUID_TEXT_SIZE])
{
    for (int i = 0; i < UUID_SIZE; i++) {
        if (dash_before(i)) {
            *text++ = '-';
        }
        text = ascii_hex_write(text, &uuid->bytes[i], 1);
    }
}
