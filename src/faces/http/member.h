// SPDX-License-Identifier: MIT
// The names of a command's arguments in JSON, in queries and in paths: in lower case, with '_' for
// '-', unless the argument has a name for JSON. A repeated argument is a list with the plural of
// its name (TAG: tags).
#ifndef SLUICE_FACES_HTTP_MEMBER_H
#define SLUICE_FACES_HTTP_MEMBER_H

#include "api/command.h"

enum {
    HTTP_MEMBER_SIZE_MAX = 48,
};

struct http_member {
    struct slice name;     // the plural for a list; borrowed from `text`
    struct slice singular; // in a path
    char text[HTTP_MEMBER_SIZE_MAX];
};

void http_member_of(const struct argument *argument, struct http_member *out);

// Finds the argument of the command with that name, or NULL. `singular`: as in a path.
const struct argument *http_member_find(const struct command *command, struct slice name,
                                        bool singular);

#endif
