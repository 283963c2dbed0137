// SPDX-License-Identifier: MIT
// Patterns as Redis has them: `*` for any bytes, `?` for one, `[a-c]` and `[^a-c]` for one of a
// set, `\` before a byte that stands for itself. Every pattern is valid: a set that is not closed
// ends with the pattern.
#ifndef SLUICE_SERVER_GLOB_H
#define SLUICE_SERVER_GLOB_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>

enum {
    GLOB_SIZE_MAX = 1024, // of a pattern, and of a text that clients choose
};

// Whether a word of a client may be a pattern or be matched with one; TOO_LARGE with a sentence
// that says `what` it is. Must be asked before the word is used so.
MUST_USE enum status glob_check(const char *what, struct slice word, struct error *error);
MUST_USE enum status glob_check_all(const char *what, const struct slice *words, size_t count,
                                    struct error *error);

// Whether the whole text matches. Takes time in proportion to the product of the sizes at worst,
// which is why they have a limit.
bool glob_matches(struct slice pattern, struct slice text);
// The same in whatever case (ASCII).
bool glob_matches_any_case(struct slice pattern, struct slice text);

#endif
