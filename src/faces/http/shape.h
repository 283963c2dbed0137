// SPDX-License-Identifier: MIT
// The JSON replies of commands, for the description: shapes in a short notation.
//
//     string, integer, number, boolean, any; seconds and moment are numbers
//     Job           another shape, by its name
//     [T]           a list
//     {a:T,?b:T}    an object; a member after '?' may be missing
//     {*:T}         an object whose members have any names
//     T?            or null
#ifndef SLUICE_FACES_HTTP_SHAPE_H
#define SLUICE_FACES_HTTP_SHAPE_H

#include "base/json_writer.h"
#include "base/slice.h"

struct http_shape {
    const char *name; // "Job", or that of a command
    const char *text;
};

// The named shapes: call with `index` from 0 until the name is NULL.
const struct http_shape *http_shape_at(size_t index);

// The shape of a command's reply; NULL for a command that only replies OK.
const char *http_shape_of(const char *command);

// Writes a shape as a JSON Schema.
void http_shape_write(struct json_writer *writer, const char *shape);

#endif
