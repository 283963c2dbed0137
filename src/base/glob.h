// SPDX-License-Identifier: MIT
// Patterns as in Redis: `*` for any bytes, `?` for one, `[a-c]` and `[^a-c]` for one of a set, `\`
// before a literal byte. A set that is not closed ends with the pattern.
//
// A pattern is compiled once and then matched in time linear in the text: a text of n bytes takes
// at most n * GLOB_WORDS_MAX machine words for any pattern.
#ifndef SLUICE_BASE_GLOB_H
#define SLUICE_BASE_GLOB_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    GLOB_SIZE_MAX = 1024,    // bytes of a pattern, and of a text that clients choose
    GLOB_ELEMENTS_MAX = 255, // bytes, `?` and sets after the literal beginning of a pattern
    GLOB_WORDS_MAX = (GLOB_ELEMENTS_MAX + 1) / 64,
};

enum glob_flags {
    GLOB_ANY_CASE = 1 << 0,   // ASCII letters match in either case
    GLOB_STARS_ONLY = 1 << 1, // only `*` is special; every other byte is literal
};

struct glob; // a compiled pattern; immutable

// TOO_LARGE, with a message about `what`, if a client's text is too long to be matched with a
// pattern. Must be called before such a text is matched.
MUST_USE enum status glob_check_text(const char *what, struct slice word, struct error *error);

// Whether a pattern is within the limits of size and elements; else TOO_LARGE.
MUST_USE enum status glob_check(struct slice pattern, unsigned flags, struct error *error);

// TOO_LARGE as glob_check, or NO_MEMORY. The pattern is copied.
MUST_USE enum status glob_new(const struct allocator *allocator, struct slice pattern,
                              unsigned flags, struct glob **out, struct error *error);
void glob_free(const struct allocator *allocator, struct glob *glob); // may be NULL

// The bytes with which every matching text begins; borrowed from the glob. Empty with
// GLOB_ANY_CASE.
struct slice glob_prefix(const struct glob *glob);

// Whether the whole text matches.
bool glob_matches(const struct glob *glob, struct slice text);

#endif
