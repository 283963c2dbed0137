// SPDX-License-Identifier: MIT
// Numbers from text and to text, the same in every locale.
//
// Parsing is strict and takes the whole slice: no white space, no '+' in front, no hexadecimal, no
// leading zeros, no bytes left over. What is malformed is STATUS_INVALID; what is well formed but
// out of range, or longer than NUM_TEXT_SIZE_MAX, is STATUS_TOO_LARGE. On failure `*out` is as it
// was.
//
// Printing appends the whole number or, when the buffer refuses, nothing of it.
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

// A JSON number to the nearest double, ties to even. What is too small for a double becomes a zero
// of its sign; what is too large is refused, so the result is always finite.
MUST_USE enum status num_parse_double(struct slice text, double *out);

// A JSON number of seconds to microseconds, without a detour over a double. What lies between two
// microseconds goes to the nearer one, a half away from zero.
MUST_USE enum status num_parse_seconds(struct slice text, int64_t *us_out);

void num_append_i64(struct buffer *buffer, int64_t value);
void num_append_u64(struct buffer *buffer, uint64_t value);

// As few digits as num_parse_double needs to give the same double back (a power of two may get one
// more), laid out as JavaScript does: 1, 0.5, 1e-7, 1e+21. Negative zero is -0; what is not finite
// has no form in JSON and becomes null.
void num_append_double(struct buffer *buffer, double value);

// Microseconds as seconds, exactly, with no more decimals than needed: 60, 1.5, -0.000001.
void num_append_seconds(struct buffer *buffer, int64_t us);

// The same as text, which is borrowed from `room`.
struct num_room {
    char bytes[24];
};
struct slice num_format_seconds(int64_t us, struct num_room *room);

#endif
