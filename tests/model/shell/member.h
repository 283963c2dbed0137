// SPDX-License-Identifier: MIT
// Members of a JSON object, written with their name.
#ifndef SLUICE_TESTS_MODEL_SHELL_MEMBER_H
#define SLUICE_TESTS_MODEL_SHELL_MEMBER_H

#include "base/json_writer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

void member_key(struct json_writer *out, const char *name); // its value is to follow
void member_text(struct json_writer *out, const char *name, struct slice value);
void member_word(struct json_writer *out, const char *name, const char *word);
void member_int(struct json_writer *out, const char *name, int64_t value);
void member_uint(struct json_writer *out, const char *name, uint64_t value);
void member_bool(struct json_writer *out, const char *name, bool value);

#endif
