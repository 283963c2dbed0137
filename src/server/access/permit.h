// SPDX-License-Identifier: MIT
// Whether a user may run a command. First its name and namespace are checked. For users whose
// rights do not cover the whole namespace, the queues and jobs that the arguments name are checked
// too. The command's table says which arguments name them (`about`), so the check is the same for
// every protocol and for each element of a bulk command.
#ifndef SLUICE_SERVER_ACCESS_PERMIT_H
#define SLUICE_SERVER_ACCESS_PERMIT_H

#include "api/call.h"
#include "server/config/users.h"

struct connection;

// Whether the user may run the command in that namespace, on at least one queue. DENIED with a
// message that names the missing right.
MUST_USE enum status permit_command(const struct user *user, const struct command *command,
                                    struct slice ns, struct error *error);

// Returns the check of the parsed arguments; NULL if the user has every right that could be
// checked.
call_permit *permit_arguments(const struct user *user, const struct command *command,
                              struct slice ns);

#endif
