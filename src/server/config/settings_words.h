// SPDX-License-Identifier: MIT
// Splits a line of a config file, or the value of a flag with several words, into words.
//
//     user ann 'a password # with spaces' app:write   # a comment
//
// Spaces and tabs separate words. Within "..." a \" is a quote and \\ a backslash; within '...'
// every character is literal. A # at the beginning of a word begins a comment.
#ifndef SLUICE_SERVER_CONFIG_SETTINGS_WORDS_H
#define SLUICE_SERVER_CONFIG_SETTINGS_WORDS_H

#include "base/slice.h"
#include "base/status.h"

#include <stddef.h>

enum {
    SETTINGS_WORDS_MAX = 256,
};

// The words point into `memory`, which has room for `line.size` bytes. INVALID with a message.
MUST_USE enum status settings_split(struct slice line, char *memory,
                                    struct slice words[SETTINGS_WORDS_MAX], size_t *count,
                                    struct error *error);

#endif
