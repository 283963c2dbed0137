// SPDX-License-Identifier: MIT
// JSON as text (RFC 8259): validation, and removal of white space. No tree is built and nothing is
// allocated. json_reader.h iterates over a text, json_writer.h writes one.
#ifndef SLUICE_BASE_JSON_H
#define SLUICE_BASE_JSON_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>

enum {
    // Nesting of values that a queue accepts: data, results and arguments of every protocol. The
    // same as in Redis's cjson.
    JSON_VALUE_DEPTH_MAX = 1000,
    // Nesting of any text, such as an HTTP request that contains such values.
    JSON_DEPTH_MAX = 1024,
};

// Checks that `text` is one JSON value with nothing but white space around it.
//
// STATUS_INVALID if it is not; STATUS_TOO_LARGE if objects and arrays are nested more than
// `depth_max` deep (a scalar has depth 0; values above JSON_DEPTH_MAX mean JSON_DEPTH_MAX). The
// message names the offset of the wrong byte, counted from 0. `error` may be NULL.
//
// Stricter than the grammar: the text must be UTF-8 without a byte order mark, and a \u escape of
// half a surrogate pair is refused, because UTF-8 cannot represent it. \u0000 is allowed. A number
// may have any size and a key may occur twice; the code that reads the values decides whether to
// accept them.
MUST_USE enum status json_validate(struct slice text, unsigned depth_max, struct error *error);

// Appends a valid text without insignificant white space. Strings, numbers and the order of keys
// are unchanged. If the buffer refuses, it may contain a part of the text. The text must be valid.
void json_canonical(struct slice valid_text, struct buffer *out);

// The size, with its quotes, of the string at the front of `text`; 0 if it does not end. The bytes
// between the quotes are not checked.
size_t json_string_size(struct slice text);

// The number of bytes at the front of `text` that are ASCII and need no escape in a JSON string.
size_t json_plain_size(struct slice text);

// The size of the UTF-8 character at the front of `text`, 1 to 4; 0 if there is none.
size_t json_utf8_size(struct slice text);

// The value of the four hexadecimal digits at the front of `text`; -1 if there are not four.
int json_hex4(struct slice text);

#endif
