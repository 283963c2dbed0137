// SPDX-License-Identifier: MIT
// A line of a config file, or the value of a flag that has several words, as words.
//
//     user ann 'a password # with spaces' app:write   # a comment
//
// Words stand apart by spaces or tabs. Within "..." a \" is a quote and \\ a backslash; within
// '...' all is as it stands. A # that begins a word begins a comment.
#ifndef SLUICE_SERVER_CONFIG_SETTINGS_WORDS_H
#define SLUICE_SERVER_CONFIG_SETTINGS_WORDS_H

#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>

enum {
    SETTINGS_WORDS_MAX = 256,
};

// The words point into `memory`, which has room for `line.size` bytes. INVALID with a sentence.
MUST_USE enum status settings_split(struct slice line, char *memory,
                                    struct slice words[SETTINGS_WORDS_MAX], size_t *count,
                                    struct error *error);

#endif
