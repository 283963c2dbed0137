// SPDX-License-Identifier: MIT
#include "faces/http/prose.h"

#include "base/ascii.h"
#include "faces/http/member.h"
#include "faces/http/route.h"

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_joint(char c)
{
    return c == '.' || c == '-' || c == '_';
}

static void append_code(struct buffer *out, struct slice word)
{
    buffer_append_char(out, '`');
    buffer_append(out, word);
    buffer_append_char(out, '`');
}

// The size of the word in capitals that a text begins with: Q.PUT, RESULT-TTL, NOT_FOUND; 0: none.
static size_t capitals(const char *text)
{
    size_t size = 0;
    while (is_capital(text[size]) || (size && is_digit(text[size])) ||
           (size && is_joint(text[size]) && is_capital(text[size + 1]))) {
        size++;
    }
    return size > 1 && !is_small(text[size]) ? size : 0;
}

static size_t small_letters(const char *text)
{
    size_t size = 0;
    while (is_small(text[size])) {
        size++;
    }
    return size;
}

// ---------------------------------------------------------------------------------------------
// What a word in capitals means; each gives false when it does not mean that.

static bool append_operation(const struct commands *commands, struct slice word, struct buffer *out)
{
    const struct command *command =
        memchr(word.data, '.', word.size) ? commands_find(commands, word) : NULL;
    for (size_t i = 0; command && i < http_routes.count; i++) {
        const struct http_route *route = &http_routes.items[i];
        if ((route->command && strcmp(route->command, command->name) == 0) ||
            (route->many && strcmp(route->many, command->name) == 0)) {
            append_code(out, slice_from_cstr(route->id));
            return true;
        }
    }
    return false;
}

static bool append_member(const struct command *command, struct slice word, struct buffer *out)
{
    for (size_t i = 0; command && i < command->argument_count; i++) {
        struct http_member member;
        if (slice_equal(word, slice_from_cstr(command->arguments[i].name))) {
            http_member_of(&command->arguments[i], &member);
            append_code(out, member.name);
            return true;
        }
    }
    return false;
}

// Words of RESP alone.
static bool append_other(struct slice word, struct buffer *out)
{
    static const char *const words[][2] = {
        { "REQUEST", "`Idempotency-Key`" }, // the option is a header
        { "OK", "It worked" },
        { "NOTFOUND", "the same" }, // both have the status 204
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_equal(word, slice_from_cstr(words[i][0]))) {
            buffer_append(out, slice_from_cstr(words[i][1]));
            return true;
        }
    }
    return false;
}

static bool append_status(struct slice word, struct buffer *out)
{
    for (enum status status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        struct slice name = slice_from_cstr(status_name(status));
        if (ascii_equal(word, name)) {
            append_code(out, name);
            return true;
        }
    }
    return false;
}

// An option of another command that HTTP has.
static bool append_member_of_any(const struct commands *commands, struct slice word,
                                 struct buffer *out)
{
    for (size_t i = 0; i < http_routes.count; i++) {
        const char *name = http_routes.items[i].command;
        const struct command *command =
            name ? commands_find(commands, slice_from_cstr(name)) : NULL;
        if (append_member(command, word, out)) {
            return true;
        }
    }
    return false;
}

// ---------------------------------------------------------------------------------------------

static void append_small(struct slice word, struct buffer *out)
{
    if (slice_equal(word, SLICE("map")) || slice_equal(word, SLICE("maps"))) {
        buffer_append(out, SLICE("object"));
        word = slice_sub(word, strlen("map"), SIZE_MAX);
    }
    buffer_append(out, word);
}

static void append_capitals(const struct commands *commands, const struct command *command,
                            struct slice word, struct buffer *out)
{
    if (!append_other(word, out) && !append_member(command, word, out) &&
        !append_operation(commands, word, out) && !append_status(word, out) &&
        !append_member_of_any(commands, word, out)) {
        buffer_append(out, word);
    }
}

// The size of what stays as it is: a quotation in backquotes, a word that begins with a capital
// letter, or a character that is no letter.
static size_t others(const char *text)
{
    if (*text == '`') {
        size_t size = 1 + strcspn(text + 1, "`");
        return size + (text[size] == '`');
    }
    size_t size = 1;
    while (is_capital(*text) && (is_small(text[size]) || is_capital(text[size]))) {
        size++;
    }
    return size;
}

void http_prose(const struct commands *commands, const struct command *command, const char *text,
                struct buffer *out)
{
    while (*text) {
        size_t quote = *text == '`';
        size_t size = capitals(text + quote);
        if (size && (!quote || text[quote + size] == '`')) {
            append_capitals(commands, command, slice_make(text + quote, size), out);
            text += size + 2 * quote;
        } else if ((size = small_letters(text))) {
            append_small(slice_make(text, size), out);
            text += size;
        } else {
            size = others(text);
            buffer_append(out, slice_make(text, size));
            text += size;
        }
    }
}
