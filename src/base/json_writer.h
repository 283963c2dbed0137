// SPDX-License-Identifier: MIT
// Writes one JSON value, piece by piece, at the end of a buffer:
//
//     json_writer_init(&writer, &buffer);
//     json_write_begin_object(&writer);
//     json_write_key(&writer, SLICE("count"));
//     json_write_int(&writer, 7);
//     json_write_end_object(&writer);
//
// The writer adds the commas and the colons. Pieces in an order that is not JSON (a value without a
// key, an end without a begin) are errors of the caller and assert. When the buffer refuses, its
// status stays set; check it once, at the end.
#ifndef SLUICE_BASE_JSON_WRITER_H
#define SLUICE_BASE_JSON_WRITER_H

#include "base/buffer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    JSON_WRITER_DEPTH_MAX = 64,
};

struct json_writer {
    struct buffer *buffer; // borrowed
    unsigned depth;        // open containers
    bool filled;           // the innermost one, or the text, has a value
    bool after_key;        // a key was written and its value is next
    uint64_t objects;      // bit n: whether container n + 1 is an object
};

// `buffer` is borrowed until the last call. Its previous contents are kept.
void json_writer_init(struct json_writer *writer, struct buffer *buffer);

// At most JSON_WRITER_DEPTH_MAX nested.
void json_write_begin_object(struct json_writer *writer);
void json_write_end_object(struct json_writer *writer);
void json_write_begin_array(struct json_writer *writer);
void json_write_end_array(struct json_writer *writer);

// Whether a key, or the end of an object, must come next.
bool json_writer_wants_key(const struct json_writer *writer);

// The text is escaped. A byte that is not UTF-8 becomes U+FFFD.
void json_write_key(struct json_writer *writer, struct slice text);
void json_write_string(struct json_writer *writer, struct slice text);

void json_write_int(struct json_writer *writer, int64_t value);
void json_write_uint(struct json_writer *writer, uint64_t value);

// Microseconds as seconds, exactly.
void json_write_seconds(struct json_writer *writer, int64_t us);

// Infinities and NaN become null.
void json_write_double(struct json_writer *writer, double value);
void json_write_bool(struct json_writer *writer, bool value);
void json_write_null(struct json_writer *writer);

// Writes a value that is valid JSON already.
void json_write_raw(struct json_writer *writer, struct slice valid_text);

#endif
