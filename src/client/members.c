// SPDX-License-Identifier: MIT
#include "client/members.h"

#include "base/ascii.h"
#include "client/fault.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Numbers

static const char *how_to_say(unsigned flags)
{
    return flags & MEMBER_ZERO   ? "; SLUICE_ZERO is zero"
           : flags & MEMBER_NONE ? "; SLUICE_NONE is none"
                                 : "";
}

enum sluice_status member_check_number(const struct member *member, double value,
                                       struct sluice_error *error)
{
    const char *must = NULL;
    if (!isfinite(value)) {
        return fault(error, SLUICE_INVALID, "%s must be a number", member->name);
    }
    if (value == (double)SLUICE_ZERO) {
        must = member->flags & MEMBER_ZERO ? NULL : "cannot be SLUICE_ZERO";
    } else if (value == (double)SLUICE_NONE) {
        must = member->flags & MEMBER_NONE ? NULL : "cannot be SLUICE_NONE";
    } else if (value < 0 && !(member->flags & MEMBER_NEGATIVE)) {
        return fault(error, SLUICE_INVALID, "%s must not be negative, and is %.12g", member->name,
                     value);
    }
    return must ? fault(error, SLUICE_INVALID, "%s %s%s", member->name, must,
                        how_to_say(member->flags))
                : SLUICE_OK;
}

static const void *field_of(const struct member *member, const void *options)
{
    return (const char *)options + member->offset;
}

static double number_of(const struct member *member, const void *options)
{
    const void *field = field_of(member, options);
    return member->type == MEMBER_INTEGER ? (double)*(const int64_t *)field
                                          : *(const double *)field;
}

enum sluice_status members_check(struct members members, const void *options,
                                 struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    for (size_t i = 0; i < members.count && !status; i++) {
        const struct member *member = &members.items[i];
        if (member->type == MEMBER_INTEGER || member->type == MEMBER_SECONDS) {
            status = member_check_number(member, number_of(member, options), error);
        }
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Words

void members_add(struct members members, const void *options, struct words *words)
{
    for (size_t i = 0; i < members.count; i++) {
        const struct member *member = &members.items[i];
        const void *field = field_of(member, options);
        switch (member->type) {
        case MEMBER_TEXT:
            words_option(words, member->word, *(const char *const *)field);
            break;
        case MEMBER_TEXTS:
            words_options(words, member->word, *(const char *const *const *)field);
            break;
        case MEMBER_FLAG:
            if (*(const bool *)field) {
                words_text(words, member->word);
            }
            break;
        case MEMBER_INTEGER:
            words_option_integer(words, member->word, *(const int64_t *)field);
            break;
        case MEMBER_SECONDS:
            words_option_seconds(words, member->word, *(const double *)field);
            break;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Messages

// Options that have another name in C.
static const struct {
    const char *command, *option, *name;
} others[] = {
    { "Q.PUT", "TAG", "tags" },
    { "Q.COMPLETE", "NEXT", "queue" },
    { "Q.WAIT", "TIMEOUT", "wait" },
};

static bool is_option_char(char c)
{
    return (c >= 'A' && c <= 'Z') || c == '-';
}

static const char *other_name(const struct command *command, const struct argument *option)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!strcmp(others[i].command, command->name) && !strcmp(others[i].option, option->name)) {
            return others[i].name;
        }
    }
    return NULL;
}

static size_t copy_name(const struct command *command, struct slice word, char *out)
{
    const struct argument *option = command_option(command, word);
    const char *other = option ? other_name(command, option) : NULL;
    size_t size = other ? strlen(other) : 0;
    if (size > 0 && size <= word.size + 1) {
        for (size_t i = 0; i < size; i++) {
            out[i] = other[i];
        }
        return size;
    }
    for (size_t i = 0; i < word.size; i++) {
        char c = word.data[i];
        if (option) {
            c = (char)(c == '-' ? '_' : ascii_lower(c));
        }
        out[i] = c;
    }
    return word.size;
}

static size_t prefix_size(const struct command *command, const char *message)
{
    size_t size = strlen(command->name);
    return strncmp(message, command->name, size) == 0 && strncmp(message + size, ": ", 2) == 0
               ? size + 2
               : 0;
}

void members_translate(const struct command *command, struct sluice_error *error)
{
    // Each word may become one letter longer.
    char text[2 * SLUICE_MESSAGE_SIZE];
    const char *at = error->message + prefix_size(command, error->message);
    size_t size = 0;
    bool quoted = false;
    while (*at) {
        size_t letters = 0;
        while (!quoted && is_option_char(at[letters])) {
            letters++;
        }
        if (letters) {
            size += copy_name(command, slice_make(at, letters), text + size);
            at += letters;
        } else {
            quoted ^= *at == '"';
            text[size++] = *at++;
        }
    }
    text[size] = '\0';
    (void)snprintf(error->message, sizeof(error->message), "%.*s", SLUICE_MESSAGE_SIZE - 1, text);
}
