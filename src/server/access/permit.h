// SPDX-License-Identifier: MIT
// Whether a user may run a command: first by its name and namespace, then, for users whose rights
// do not cover all of the namespace, by the queues and jobs that its arguments name. Which
// arguments do is part of the command's table (`about`), so it holds for every protocol and for
// each element of commands of many.
#ifndef SLUICE_SERVER_ACCESS_PERMIT_H
#define SLUICE_SERVER_ACCESS_PERMIT_H

#include "api/call.h"
#include "server/config/users.h"

struct connection;

// Whether the user may run the command at all in that namespace, on some queue at least. DENIED
// with a sentence that names the missing right.
MUST_USE enum status permit_command(const struct user *user, const struct command *command,
                                    struct slice ns, struct error *error);

// What to check once the arguments are known; NULL: nothing, the user has every right there is to
// check.
call_permit *permit_arguments(const struct user *user, const struct command *command,
                              struct slice ns);

#endif
