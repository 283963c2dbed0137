// SPDX-License-Identifier: MIT
// The words of a command while they are collected. Texts are borrowed,
// numbers are stored here. A failed allocation sets `failed`, which is checked once at the end.
#ifndef SLUICE_CLIENT_WORDS_H
#define SLUICE_CLIENT_WORDS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct word_block;

struct words {
    struct slice *items; // owned
    size_t count, capacity;
    struct word_block *blocks; // of stored numbers
    bool failed;
    bool missing; // a required text was NULL
};

void words_init(struct words *words);
void words_release(struct words *words);

void words_add(struct words *words, struct slice word);
void words_text(struct words *words, const char *text);
void words_copy(struct words *words, struct slice text); // at most 48 bytes
void words_integer(struct words *words, int64_t value);
// Replaces the word at an index.
void words_set_integer(struct words *words, size_t index, int64_t value);
void words_seconds(struct words *words, double seconds);

// Moves `other` to `words`; `other` is empty then. Numbers of `words` that `other` has borrowed
// stay valid.
void words_take(struct words *words, struct words *other);

// Adds an option, unless it has its default: NULL for a text, 0 for a number. SLUICE_ZERO and
// SLUICE_NONE are sent as 0.
void words_option(struct words *words, const char *name, const char *text);
void words_option_integer(struct words *words, const char *name, int64_t value);
void words_option_seconds(struct words *words, const char *name, double seconds);
void words_options(struct words *words, const char *name, const char *const *texts);

#endif
