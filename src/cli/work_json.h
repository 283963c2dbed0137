// SPDX-License-Identifier: MIT
// What a program wrote: is it JSON, and if not, how does it stand in JSON.
#ifndef SLUICE_CLI_WORK_JSON_H
#define SLUICE_CLI_WORK_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct work_slice {
    const char *data;
    size_t size;
};

// Without the white space around it.
struct work_slice work_json_trim(const char *text, size_t size);

// Whether all of it is one JSON value with nothing but white space around it.
bool work_json_valid(const char *text, size_t size);

// A text as a JSON string. What is not UTF-8 becomes U+FFFD. For tool_free.
char *work_json_quote(const char *text, size_t size);
// A text as UTF-8 without zeros: what is neither becomes U+FFFD. For tool_free.
char *work_utf8(const char *text, size_t size);

#endif
