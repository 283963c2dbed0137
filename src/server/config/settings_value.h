// SPDX-License-Identifier: MIT
// The value of one setting: parsing, formatting, and storing in struct settings. Only the files
// settings*.c include this header.
#ifndef SLUICE_SERVER_CONFIG_SETTINGS_VALUE_H
#define SLUICE_SERVER_CONFIG_SETTINGS_VALUE_H

#include "server/config/settings_table.h"

// A value from a source. `where` begins the message that refuses it: "--max-payload",
// "sluiced.conf:12: max-payload".
struct setting_words {
    const char *where;
    const struct slice *words;
    size_t count;
};

// Sets a value; for a list, appends one. INVALID with a message that says what is allowed.
MUST_USE enum status setting_set(const struct setting *setting, struct settings *settings,
                                 const struct setting_words *words, struct error *error);

// Resets a value: texts become NULL, lists empty.
void setting_clear(const struct setting *setting, struct settings *settings);

// Swaps the value between the two.
void setting_swap(const struct setting *setting, struct settings *a, struct settings *b);

// Implements settings_append_value.
void setting_append(const struct setting *setting, const struct settings *settings,
                    struct buffer *out);

// Appends "from 4KiB to 512MiB, such as ..." for messages and documents.
void setting_append_allowed(const struct setting *setting, struct buffer *out);

// Parses 64k, 1M, 1MiB, 4096.
MUST_USE enum status setting_parse_size(struct slice text, uint64_t *out);

// Parses 500ms, 10s, 5m, 2h, 1d; a number without a unit is in seconds.
MUST_USE enum status setting_parse_time(struct slice text, int64_t *us_out);

#endif
