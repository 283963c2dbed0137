// SPDX-License-Identifier: MIT
// Conversion of numbers from and to text, independent of the locale.
//
// Parsing is strict and takes the whole slice: no white space, no leading '+', no hexadecimal, no
// leading zeros, no bytes left over. A malformed text is STATUS_INVALID; a well-formed one that is
// out of range, or longer than NUM_TEXT_SIZE_MAX, is STATUS_TOO_LARGE. On failure `*out` is
// unchanged.
//
// Printing appends the whole number, or nothing if the buffer refuses.
#ifndef SLUICE_BASE_NUM_H
#define SLUICE_BASE_NUM_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

enum {
    NUM_TEXT_SIZE_MAX = 400,
};

// Digits with an optional '-'; "-0" is 0.
MUST_USE enum status num_parse_i64(struct slice text, int64_t *out);

// As above; a negative number is out of range.
MUST_USE enum status num_parse_u64(struct slice text, uint64_t *out);

// Converts a JSON number to the nearest double, ties to even. A number that is too small becomes a
// zero with its sign; one that is too large is refused, so the result is always finite.
MUST_USE enum status num_parse_double(struct slice text, double *out);

// Converts a JSON number of seconds to microseconds exactly, without using a double. Rounds to the
// nearest microsecond, a half away from zero.
MUST_USE enum status num_parse_seconds(struct slice text, int64_t *us_out);

void num_append_i64(struct buffer *buffer, int64_t value);
void num_append_u64(struct buffer *buffer, uint64_t value);

// Appends the fewest digits from which num_parse_double gets the same double (a power of two may
// get one more), in JavaScript's format: 1, 0.5, 1e-7, 1e+21. Negative zero is -0; infinities and
// NaN, which JSON does not have, become null.
void num_append_double(struct buffer *buffer, double value);

// Appends microseconds as seconds, exactly, with no more decimals than needed: 60, 1.5, -0.000001.
void num_append_seconds(struct buffer *buffer, int64_t us);

// The same as text that is borrowed from `room`.
struct num_room {
    char bytes[24];
};
struct slice num_format_seconds(int64_t us, struct num_room *room);

#endif
