// SPDX-License-Identifier: MIT
// The name of a connection, which CLIENT SETNAME and HELLO give.
#ifndef SLUICE_SERVER_REDIS_CLIENT_H
#define SLUICE_SERVER_REDIS_CLIENT_H

#include "api/command.h"

#include <stdbool.h>

struct connection;

// Whether a request is CLIENT REPLY, after which some requests have no reply. `words` follow the
// name of the command.
bool client_is_reply(const struct command *command, struct slices words);

// Answers with an error when the name is too long or has spaces or control characters in it.
bool client_name_check(struct connection *connection, struct slice name);

// A name that was checked; an empty one takes it away.
void client_name_set(struct connection *connection, struct slice name);

#endif
