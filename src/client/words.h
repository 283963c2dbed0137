// SPDX-License-Identifier: MIT
// The words of a command as they are put together. Texts are borrowed; numbers are written down
// here. Without memory it remembers that it failed; check it once.
#ifndef SLUICE_CLIENT_WORDS_H
#define SLUICE_CLIENT_WORDS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct word_block;

struct words {
    struct slice *items; // owned
    size_t count, capacity;
    struct word_block *blocks; // of what was written down
    bool failed;
    bool missing; // a text that there must be was NULL
};

void words_init(struct words *words);
void words_release(struct words *words);

void words_add(struct words *words, struct slice word);
void words_text(struct words *words, const char *text);
void words_copy(struct words *words, struct slice text); // of a few bytes
void words_integer(struct words *words, int64_t value);
// In place of the word at an index.
void words_set_integer(struct words *words, size_t index, int64_t value);
void words_seconds(struct words *words, double seconds);

// `words` becomes what `other` was, which is empty then. What `other` borrows from the numbers of
// `words` stays valid.
void words_take(struct words *words, struct words *other);

// An option, unless it has its default: a text that is NULL, a number that is 0. SLUICE_ZERO and
// SLUICE_NONE are said as 0.
void words_option(struct words *words, const char *name, const char *text);
void words_option_integer(struct words *words, const char *name, int64_t value);
void words_option_seconds(struct words *words, const char *name, double seconds);
void words_options(struct words *words, const char *name, const char *const *texts);

#endif
