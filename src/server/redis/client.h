// SPDX-License-Identifier: MIT
// The name of a connection, which CLIENT SETNAME and HELLO give.
#ifndef SLUICE_SERVER_REDIS_CLIENT_H
#define SLUICE_SERVER_REDIS_CLIENT_H

#include "api/command.h"

#include <stdbool.h>

struct connection;

// Whether a request is CLIENT REPLY, which decides whether later requests have a reply. `words`
// follow the name of the command.
bool client_is_reply(const struct command *command, struct slices words);

// Replies with an error if the name is too long or contains spaces or control characters.
bool client_name_check(struct connection *connection, struct slice name);

// Sets a name that was checked; an empty one removes the name.
void client_name_set(struct connection *connection, struct slice name);

#endif
