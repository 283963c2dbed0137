// SPDX-License-Identifier: MIT
// What an argument of a command is called in JSON, in a query and in a path: in small letters, with
// '_' for '-', unless it says otherwise; one that may come again is a list, with the plural of its
// name (TAG: tags).
#ifndef SLUICE_FACES_HTTP_MEMBER_H
#define SLUICE_FACES_HTTP_MEMBER_H

#include "api/command.h"

enum {
    HTTP_MEMBER_SIZE_MAX = 48,
};

struct http_member {
    struct slice name;     // the plural, if it is a list; borrowed from `text`
    struct slice singular; // in a path
    char text[HTTP_MEMBER_SIZE_MAX];
};

void http_member_of(const struct argument *argument, struct http_member *out);

// Which argument of the command is called so, or NULL. `singular`: as in a path.
const struct argument *http_member_find(const struct command *command, struct slice name,
                                        bool singular);

#endif
