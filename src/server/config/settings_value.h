// SPDX-License-Identifier: MIT
// One setting's value: from words, to words, and into struct settings. For the files settings*.c
// only.
#ifndef SLUICE_SERVER_CONFIG_SETTINGS_VALUE_H
#define SLUICE_SERVER_CONFIG_SETTINGS_VALUE_H

#include "server/config/settings_table.h"

// A value as it was found. `where` begins the sentence that refuses it: "--max-payload",
// "sluiced.conf:12: max-payload".
struct setting_words {
    const char *where;
    const struct slice *words;
    size_t count;
};

// Takes a value over; of a list, as one more. INVALID with a sentence that says what is allowed.
MUST_USE enum status setting_set(const struct setting *setting, struct settings *settings,
                                 const struct setting_words *words, struct error *error);

// Forgets a value: texts become NULL, lists empty.
void setting_clear(const struct setting *setting, struct settings *settings);

// Swaps the value between the two.
void setting_swap(const struct setting *setting, struct settings *a, struct settings *b);

// As settings_append_value says.
void setting_append(const struct setting *setting, const struct settings *settings,
                    struct buffer *out);

// "from 4KiB to 512MiB, such as ..." for the sentence and the documents.
void setting_append_allowed(const struct setting *setting, struct buffer *out);

// 64k, 1M, 1MiB, 4096.
MUST_USE enum status setting_parse_size(struct slice text, uint64_t *out);

// 500ms, 10s, 5m, 2h, 1d; a plain number is seconds.
MUST_USE enum status setting_parse_time(struct slice text, int64_t *us_out);

#endif
