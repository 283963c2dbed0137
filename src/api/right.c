// SPDX-License-Identifier: MIT
#include "api/right.h"

#include "api/command.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned rights;
} names[] = {
    { "admin", RIGHTS_ADMIN }, { "write", RIGHTS_WRITE }, { "read", RIGHT_READ },
    { "put", RIGHT_PUT },      { "work", RIGHT_WORK },    { "operate", RIGHT_OPERATE },
    { "admin", RIGHT_ADMIN }, // commands need it alone, without the others
};

enum {
    NAMES = sizeof(names) / sizeof(names[0]),
};

enum right command_right(const struct command *command)
{
    return command->flags & COMMAND_ADMIN    ? RIGHT_ADMIN
           : command->flags & COMMAND_PUTS   ? RIGHT_PUT
           : command->flags & COMMAND_WORKS  ? RIGHT_WORK
           : command->flags & COMMAND_WRITES ? RIGHT_OPERATE
                                             : RIGHT_READ;
}

static bool parse_one(struct slice word, unsigned *out)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (slice_equal(word, slice_from_cstr(names[i].name))) {
            *out |= names[i].rights;
            return true;
        }
    }
    return false;
}

bool rights_parse(struct slice text, unsigned *out)
{
    *out = RIGHT_NONE;
    for (;;) {
        const char *plus = text.size ? memchr(text.data, '+', text.size) : NULL;
        size_t size = plus ? (size_t)(plus - text.data) : text.size;
        if (!parse_one(slice_sub(text, 0, size), out)) {
            return false;
        }
        if (!plus) {
            return true;
        }
        text = slice_sub(text, size + 1, SIZE_MAX);
    }
}

const char *rights_format(unsigned rights, char text[RIGHTS_TEXT_SIZE])
{
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < NAMES && rights; i++) {
        if ((rights & names[i].rights) == names[i].rights) {
            size += (size_t)snprintf(text + size, RIGHTS_TEXT_SIZE - size, "%s%s", size ? "+" : "",
                                     names[i].name);
            rights &= ~names[i].rights;
        }
    }
    return text;
}
