// SPDX-License-Identifier: MIT
// As much JSON as the tool needs: the fields of an object whose values stay as they stand, and
// texts.
#ifndef SLUICE_CLI_JSON_H
#define SLUICE_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_field {
    const char *key;
    const char *raw; // the value as it stands, with a 0 behind
};

struct json_fields {
    struct json_field *items;
    size_t count;
};

// Reads an object. Gives NULL, or what is wrong with it.
const char *json_fields_read(struct json_fields *fields, const char *text);
void json_fields_free(struct json_fields *fields);
const char *json_fields_get(const struct json_fields *fields, const char *key); // raw, or NULL

// The text that a raw value is; NULL: it is none. Given back with tool_free.
char *json_text(const char *raw);
// The elements of a raw list, each raw; NULL: it is none. Ends with NULL.
char **json_list(const char *raw);

// Writes a text with its quotes.
void json_write_text(FILE *out, const char *text);

#endif
