// SPDX-License-Identifier: MIT
// JSON as Redis's cjson prints it: `/` is escaped, numbers have 14 digits, and what is empty is
// `{}`, since in Lua a table that is empty is no more an array than an object.
#ifndef SLUICE_FACES_QLESS_CJSON_H
#define SLUICE_FACES_QLESS_CJSON_H

#include "base/buffer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QLESS_CJSON_GROWTH = 6, // a byte of a text becomes at most so many
};

// Bytes that are no UTF-8 stay as they are.
void qless_cjson_string(struct buffer *out, struct slice text);
void qless_cjson_number(struct buffer *out, double value);
void qless_cjson_integer(struct buffer *out, int64_t value);
void qless_cjson_seconds(struct buffer *out, int64_t us);
// The whole seconds.
void qless_cjson_seconds_floor(struct buffer *out, int64_t us);
void qless_cjson_bool(struct buffer *out, bool value);

// `"key":`, with a comma in front unless it is the first of its object.
void qless_cjson_key(struct buffer *out, const char *key);

// Begins and ends an array; an item is preceded by qless_cjson_next.
struct qless_cjson_array {
    struct buffer *out;
    size_t start;
};
struct qless_cjson_array qless_cjson_begin(struct buffer *out);
void qless_cjson_next(struct qless_cjson_array *array);
void qless_cjson_end(struct qless_cjson_array *array);

// A valid text, decoded and encoded again. The order of keys stays.
void qless_cjson_again(struct buffer *out, struct slice valid);
// The members of a valid text that is an object or an array, whose keys are then 1, 2, ..., each
// with a comma behind it, without those named `what` and `when`.
void qless_cjson_members(struct buffer *out, struct slice valid);

#endif
