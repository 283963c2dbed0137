// SPDX-License-Identifier: MIT
// Unique identifiers that sort by creation time: UUID version 7 of RFC 9562.
#ifndef SLUICE_BASE_UUID_H
#define SLUICE_BASE_UUID_H

#include <stdint.h>

enum {
    UUID_SIZE = 16,
    UUID_TEXT_SIZE = 36,
    UUID_ENTROPY_SIZE = 10,
};

struct uuid {
    uint8_t bytes[UUID_SIZE]; // in the order of the text, so memcmp sorts as the texts do
};

// Makes a version 7 id. Ids of different microseconds sort by time; ids of the same microsecond
// sort by their entropy, 64 bits of which are used. A time before 1970 or after the last that 48
// bits of milliseconds can represent (the year 10889) is replaced by the nearest possible one.
void uuid_v7(int64_t now_us, const uint8_t entropy[UUID_ENTROPY_SIZE], struct uuid *out);

// Writes 36 characters in lower case, without a terminator.
void uuid_format(const struct uuid *uuid, char text[UUID_TEXT_SIZE]);

#endif
