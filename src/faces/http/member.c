// SPDX-License-Identifier: MIT
#include "faces/http/member.h"

#include "base/ascii.h"

#include <assert.h>

static char member_char(char c)
{
    return (char)(c == '-' ? '_' : ascii_lower(c));
}

static size_t append_ending(char *text, size_t size)
{
    if (text[size - 1] == 's') { // DEPENDS
        return size;
    }
    if (text[size - 1] == 'y') {
        text[size - 1] = 'i';
        text[size++] = 'e';
    }
    text[size++] = 's';
    return size;
}

// The singular of a list may differ from its plural in the last letters, so it is the argument's
// own name, which is stored after the plural.
void http_member_of(const struct argument *argument, struct http_member *out)
{
    if (argument->member) {
        out->name = out->singular = slice_from_cstr(argument->member);
        return;
    }
    struct slice name = slice_from_cstr(argument->name);
    assert(name.size > 0 && 2 * name.size + 2 < sizeof(out->text));
    size_t size = 0;
    for (; size < name.size; size++) {
        out->text[size] = member_char(name.data[size]);
    }
    if (argument->flags & ARGUMENT_REPEATED) {
        size = append_ending(out->text, size);
    }
    out->name = slice_make(out->text, size);
    for (size_t i = 0; i < name.size; i++) {
        out->text[size + i] = member_char(name.data[i]);
    }
    out->singular = slice_make(out->text + size, name.size);
}

static bool is_called(const struct argument *argument, struct slice name, bool singular)
{
    // Most names differ in their first letter, which is lower case.
    const char *called = argument->member ? argument->member : argument->name;
    if (name.size == 0 || member_char(called[0]) != name.data[0]) {
        return false;
    }
    struct http_member member;
    http_member_of(argument, &member);
    return slice_equal(name, singular ? member.singular : member.name);
}

const struct argument *http_member_find(const struct command *command, struct slice name,
                                        bool singular)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        if (is_called(&command->arguments[i], name, singular)) {
            return &command->arguments[i];
        }
    }
    return NULL;
}
