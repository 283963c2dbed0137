// SPDX-License-Identifier: MIT
// Walks over the members of a JSON object or the items of an array, one level at a time:
//
//     struct json_reader reader;
//     status = json_reader_init_object(&reader, text, error);
//     while (!status && json_reader_next(&reader, &member)) {
//         if (json_string_is(member.key, SLICE("priority"))) {
//             status = json_value_int(member.value, &priority);
//         }
//     }
//
// Nothing is allocated and nothing is copied: keys and values are slices of the text, as they stand
// there. A value that is itself an object or an array is one slice, for a second reader.
//
// The text must have passed json_validate. On one that has not, no byte outside it is read, and the
// reader stops with STATUS_INVALID where it notices; it does not notice everything.
#ifndef SLUICE_BASE_JSON_READER_H
#define SLUICE_BASE_JSON_READER_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type {
    JSON_TYPE_NULL,
    JSON_TYPE_BOOL,
    JSON_TYPE_NUMBER,
    JSON_TYPE_STRING,
    JSON_TYPE_ARRAY,
    JSON_TYPE_OBJECT,
};

struct json_value {
    enum json_type type;
    struct slice raw; // borrowed from the text: quotes, brackets and escapes as they stand there
};

struct json_member {
    struct slice key; // raw, with its quotes; empty in an array
    struct json_value value;
};

struct json_reader {
    struct slice text;  // borrowed until the last call
    size_t position;    // what was read
    bool object;        // or an array
    bool fresh;         // no member was read yet
    bool done;          // the closing bracket or a mistake was read
    enum status status; // STATUS_OK or STATUS_INVALID
};

// STATUS_INVALID when the text is something else than an object, or an array. `error` may be NULL.
MUST_USE enum status json_reader_init_object(struct json_reader *reader, struct slice text,
                                             struct error *error);
MUST_USE enum status json_reader_init_array(struct json_reader *reader, struct slice text,
                                            struct error *error);

// The next member or item; false when there is none or when the text is malformed, which only
// `reader->status` tells apart.
MUST_USE bool json_reader_next(struct json_reader *reader, struct json_member *member);

// The whole of a text as one value, without the white space around it.
MUST_USE enum status json_value_of(struct slice text, struct json_value *out);

// A word for what it is ("a string"), for sentences.
const char *json_type_name(enum json_type type);

// Appends the string that `raw`, with its quotes, stands for, as UTF-8. STATUS_INVALID when it is
// none; otherwise the buffer's status. On failure the buffer has no more bytes than before.
MUST_USE enum status json_unescape(struct slice raw, struct buffer *out);

// Whether the string that `raw`, with its quotes, stands for is `text`.
bool json_string_is(struct slice raw, struct slice text);

// Each is STATUS_INVALID for a value of another type, and leaves `*out` as it was on failure.

// Only for a number without a fraction and an exponent; STATUS_TOO_LARGE when it does not fit.
MUST_USE enum status json_value_int(struct json_value value, int64_t *out);
MUST_USE enum status json_value_bool(struct json_value value, bool *out);
MUST_USE enum status json_value_string(struct json_value value, struct buffer *out);

#endif
