// SPDX-License-Identifier: MIT
// Writes RESP replies, version 2 or 3, at the end of a buffer. Types that version 2 does not have
// are replaced: a map by a flat array, a number with decimals by a bulk string, true and false by 1
// and 0. Errors stick in the buffer; check it once.
#ifndef SLUICE_WIRE_RESP_REPLY_H
#define SLUICE_WIRE_RESP_REPLY_H

#include "base/buffer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum resp_version {
    RESP_2 = 2,
    RESP_3 = 3,
};

// A line, such as OK. Line ends in it become spaces.
void resp_simple(struct buffer *out, struct slice text);
// An error: a word in capitals for programs, then a message. Line ends become spaces.
void resp_error(struct buffer *out, struct slice code, struct slice sentence);
void resp_bulk(struct buffer *out, struct slice bytes);
void resp_integer(struct buffer *out, int64_t value);
void resp_null(struct buffer *out, enum resp_version version);
void resp_boolean(struct buffer *out, enum resp_version version, bool value);
void resp_double(struct buffer *out, enum resp_version version, double value);
// Microseconds as seconds, exactly.
void resp_seconds(struct buffer *out, enum resp_version version, int64_t us);
// Text for people to read ("txt").
void resp_verbatim(struct buffer *out, enum resp_version version, struct slice text);

// Headers of so many values, or pairs of values, which must follow.
void resp_array(struct buffer *out, size_t count);
void resp_map(struct buffer *out, enum resp_version version, size_t pairs);
void resp_push(struct buffer *out, enum resp_version version, size_t count);

#endif
