// SPDX-License-Identifier: MIT
// JSON as the commands need it: the members of an object, whose values stay as text, and strings.
#ifndef SLUICE_CLI_CORE_JSON_H
#define SLUICE_CLI_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_field {
    const char *key;
    const char *raw; // the text of the value, terminated with 0
};

struct json_fields {
    struct json_field *items;
    size_t count;
};

// Reads an object. Returns NULL, or what is wrong with the text.
const char *json_fields_read(struct json_fields *fields, const char *text);
void json_fields_free(struct json_fields *fields);
const char *json_fields_get(const struct json_fields *fields, const char *key); // raw, or NULL

// Whether `text` is one JSON value with nothing but white space around it.
bool json_is_valid(const char *text, size_t size);

// The string that a raw value stands for; NULL when it is not a string, or has a zero byte. Freed
// with tool_free.
char *json_text(const char *raw);
// The items of a raw array, each raw, with NULL behind the last; NULL when it is not an array.
char **json_list(const char *raw);

// Writes a JSON text with the keys that HTTP has: `_` for `-`. What is the user's own, which is below
// `data` and `result`, stays as it is.
void json_write_keys(FILE *out, const char *raw, size_t size);

// The text as a JSON string. A byte that is not UTF-8 becomes U+FFFD. Freed with tool_free.
char *json_quote(const char *text, size_t size);
// Writes the text as a JSON string.
void json_write_text(FILE *out, const char *text);

#endif
