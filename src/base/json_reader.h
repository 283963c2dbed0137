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
    struct slice raw; // borrowed from the text, with quotes, brackets and escapes
};

struct json_member {
    struct slice key; // raw, with its quotes; empty in an array
    struct json_value value;
};

struct json_reader {
    struct slice text;  // borrowed until the last call
    size_t position;    // how much was read
    bool object;        // otherwise an array
    bool fresh;         // no member was read yet
    bool done;          // the closing bracket or an error was read
    enum status status; // STATUS_OK or STATUS_INVALID
};

// STATUS_INVALID if the text is not an object, or not an array. `error` may be NULL.
MUST_USE enum status json_reader_init_object(struct json_reader *reader, struct slice text,
                                             struct error *error);
MUST_USE enum status json_reader_init_array(struct json_reader *reader, struct slice text,
                                            struct error *error);

// Reads the next member or item; false if there is none or the text is malformed, which
// `reader->status` distinguishes.
MUST_USE bool json_reader_next(struct json_reader *reader, struct json_member *member);

// The value of a text without the white space around it.
MUST_USE enum status json_value_of(struct slice text, struct json_value *out);

// The type in words ("a string"), for messages.
const char *json_type_name(enum json_type type);

// Appends the value of the string `raw`, which includes its quotes, as UTF-8. STATUS_INVALID if it
// is not a string; otherwise the status of the buffer. On failure nothing was appended.
MUST_USE enum status json_unescape(struct slice raw, struct buffer *out);

// Whether the value of the string `raw`, which includes its quotes, is `text`.
bool json_string_is(struct slice raw, struct slice text);

// These return STATUS_INVALID for a value of another type, and leave `*out` unchanged on failure.

// Only for numbers without a fraction and an exponent; STATUS_TOO_LARGE if it does not fit.
MUST_USE enum status json_value_int(struct json_value value, int64_t *out);
MUST_USE enum status json_value_bool(struct json_value value, bool *out);
MUST_USE enum status json_value_string(struct json_value value, struct buffer *out);

#endif
