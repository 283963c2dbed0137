// SPDX-License-Identifier: MIT
// JSON as text (RFC 8259): is it valid, and what is it without its white space. There is no tree
// and nothing is allocated; json_reader.h walks over a text, json_writer.h makes one.
#ifndef SLUICE_BASE_JSON_H
#define SLUICE_BASE_JSON_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>

enum {
    // Levels of a value that a queue takes: data, results, arguments of every face. As in Redis's
    // cjson.
    JSON_VALUE_DEPTH_MAX = 1000,
    // Levels of any text, such as a request of HTTP with such values in it.
    JSON_DEPTH_MAX = 1024,
};

// Whether the whole of `text` is one JSON value with nothing but white space around it.
//
// STATUS_INVALID when it is not, STATUS_TOO_LARGE when objects and arrays lie more than `depth_max`
// deep in one another (a scalar has depth 0; above JSON_DEPTH_MAX means JSON_DEPTH_MAX). The
// sentence names the offset of the byte that was wrong, counted from 0. `error` may be NULL.
//
// Beyond the grammar: the text must be UTF-8 without a byte order mark, and a \u escape of half a
// surrogate pair is refused, since no UTF-8 can hold it. \u0000 is allowed. A number may have any
// size and a key may occur twice; the code that reads the values decides whether to accept them.
MUST_USE enum status json_validate(struct slice text, unsigned depth_max, struct error *error);

// Appends a valid text without the white space that has no meaning. Strings, numbers and the order
// of keys stay as they are. When the buffer refuses, it may hold a part of it. For a text that is
// not valid the result means nothing.
void json_canonical(struct slice valid_text, struct buffer *out);

// The size, with its quotes, of the string that starts at the front of `text`; 0 when it does not
// end. What lies between the quotes is not looked at.
size_t json_string_size(struct slice text);

// How many bytes at the front of `text` may stand in a JSON string as they are and are ASCII.
size_t json_plain_size(struct slice text);

// The size of the character of UTF-8 at the front of `text`, 1 to 4; 0 when there is none.
size_t json_utf8_size(struct slice text);

// The value of the four hexadecimal digits at the front of `text`; -1 when they are not there.
int json_hex4(struct slice text);

#endif
