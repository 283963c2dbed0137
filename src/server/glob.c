// SPDX-License-Identifier: MIT
#include "server/glob.h"

static unsigned char fold(char c, bool any_case)
{
    return (unsigned char)(any_case && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

// Whether a set that begins behind the `[` at `*position` has the byte; moves behind the set.
static bool set_has(struct slice pattern, size_t *position, char c, bool any_case)
{
    size_t at = *position;
    bool negated = at < pattern.size && pattern.data[at] == '^';
    at += negated;
    unsigned char wanted = fold(c, any_case);
    bool found = false;
    for (; at < pattern.size && pattern.data[at] != ']'; at++) {
        if (pattern.data[at] == '\\' && at + 1 < pattern.size) {
            at++;
            found |= fold(pattern.data[at], any_case) == wanted;
        } else if (at + 2 < pattern.size && pattern.data[at + 1] == '-') {
            unsigned char low = fold(pattern.data[at], any_case);
            unsigned char high = fold(pattern.data[at + 2], any_case);
            found |=
                low <= high ? low <= wanted && wanted <= high : high <= wanted && wanted <= low;
            at += 2;
        } else {
            found |= fold(pattern.data[at], any_case) == wanted;
        }
    }
    *position = at < pattern.size ? at + 1 : at;
    return found != negated;
}

// Whether the part of the pattern at `*position`, which is not a `*`, has the byte; moves behind
// the part.
static bool part_has(struct slice pattern, size_t *position, char c, bool any_case)
{
    char part = pattern.data[(*position)++];
    switch (part) {
    case '?':
        return true;
    case '[':
        return set_has(pattern, position, c, any_case);
    case '\\':
        if (*position < pattern.size) {
            part = pattern.data[(*position)++];
        }
        break;
    default:
        break;
    }
    return fold(part, any_case) == fold(c, any_case);
}

// When a part does not match, only the last `*` need take one byte more: what the ones before it
// took has led there, and a later one can take whatever they leave.
static bool matches(struct slice pattern, struct slice text, bool any_case)
{
    size_t position = 0, index = 0;
    bool starred = false;
    size_t behind_star = 0, star_index = 0;
    while (index < text.size) {
        if (position < pattern.size && pattern.data[position] == '*') {
            starred = true;
            behind_star = ++position;
            star_index = index;
        } else if (position < pattern.size &&
                   part_has(pattern, &position, text.data[index], any_case)) {
            index++;
        } else if (starred) {
            position = behind_star;
            index = ++star_index;
        } else {
            return false;
        }
    }
    while (position < pattern.size && pattern.data[position] == '*') {
        position++;
    }
    return position == pattern.size;
}

enum status glob_check(const char *what, struct slice word, struct error *error)
{
    return word.size <= GLOB_SIZE_MAX
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE, "a %s has at most %d bytes, not %zu", what,
                           GLOB_SIZE_MAX, word.size);
}

enum status glob_check_all(const char *what, const struct slice *words, size_t count,
                           struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        status = glob_check(what, words[i], error);
    }
    return status;
}

bool glob_matches(struct slice pattern, struct slice text)
{
    return matches(pattern, text, false);
}

bool glob_matches_any_case(struct slice pattern, struct slice text)
{
    return matches(pattern, text, true);
}
