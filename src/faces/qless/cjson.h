// SPDX-License-Identifier: MIT
// Writes JSON as Redis's cjson does: `/` is escaped, numbers have 14 digits, and everything empty
// is `{}`, because an empty Lua table is neither an array nor an object.
#ifndef SLUICE_FACES_QLESS_CJSON_H
#define SLUICE_FACES_QLESS_CJSON_H

#include "base/buffer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QLESS_CJSON_GROWTH = 6, // a byte of a text becomes at most so many bytes
};

// Bytes that are not UTF-8 are unchanged.
void qless_cjson_string(struct buffer *out, struct slice text);
void qless_cjson_number(struct buffer *out, double value);
void qless_cjson_integer(struct buffer *out, int64_t value);
void qless_cjson_seconds(struct buffer *out, int64_t us);
// Whole seconds, rounded down.
void qless_cjson_seconds_floor(struct buffer *out, int64_t us);
void qless_cjson_bool(struct buffer *out, bool value);

// `"key":`, preceded by a comma unless it is the first of its object.
void qless_cjson_key(struct buffer *out, const char *key);

// Begins and ends an array; each item follows a call of qless_cjson_next.
struct qless_cjson_array {
    struct buffer *out;
    size_t start;
};
struct qless_cjson_array qless_cjson_begin(struct buffer *out);
void qless_cjson_next(struct qless_cjson_array *array);
void qless_cjson_end(struct qless_cjson_array *array);

// Appends a valid text as it is after decoding and encoding. The order of keys is unchanged.
void qless_cjson_again(struct buffer *out, struct slice valid);
// Appends the members of a valid text that is an object, or an array, whose keys are then 1, 2,
// ...: each followed by a comma, without members named `what` and `when`.
void qless_cjson_members(struct buffer *out, struct slice valid);

#endif
