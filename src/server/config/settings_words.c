// SPDX-License-Identifier: MIT
#include "server/config/settings_words.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// Copies a quoted text to `*to`; returns the position after it, or NULL if the closing quote is
// missing.
static const char *copy_quoted(const char *at, const char *end, char **to)
{
    char quote = *at++;
    for (; at < end && *at != quote; at++) {
        if (quote == '"' && *at == '\\' && at + 1 < end && (at[1] == '"' || at[1] == '\\')) {
            at++;
        }
        *(*to)++ = *at;
    }
    return at < end ? at + 1 : NULL;
}

static const char *copy_plain(const char *at, const char *end, char **to)
{
    while (at < end && !is_space(*at)) {
        *(*to)++ = *at++;
    }
    return at;
}

enum status settings_split(struct slice line, char *memory, struct slice words[SETTINGS_WORDS_MAX],
                           size_t *count, struct error *error)
{
    const char *at = line.size ? line.data : "";
    const char *end = at + line.size;
    *count = 0;
    for (;;) {
        while (at < end && is_space(*at)) {
            at++;
        }
        if (at == end || *at == '#') {
            return STATUS_OK;
        }
        if (*count == SETTINGS_WORDS_MAX) {
            return error_set(error, STATUS_INVALID, "there are more than %d words",
                             SETTINGS_WORDS_MAX);
        }
        char *start = memory;
        at = *at == '"' || *at == '\'' ? copy_quoted(at, end, &memory)
                                       : copy_plain(at, end, &memory);
        if (!at) {
            return error_set(error, STATUS_INVALID, "a quote is not closed");
        }
        if (at < end && !is_space(*at)) {
            return error_set(error, STATUS_INVALID, "there is no space behind a closing quote");
        }
        words[(*count)++] = slice_make(start, (size_t)(memory - start));
    }
}
