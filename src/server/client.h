// SPDX-License-Identifier: MIT
// The name of a connection, which CLIENT SETNAME and HELLO give.
#ifndef SLUICE_SERVER_CLIENT_H
#define SLUICE_SERVER_CLIENT_H

#include "base/slice.h"

#include <stdbool.h>

struct connection;

// Answers with an error when the name is too long or has spaces or control characters in it.
bool client_name_check(struct connection *connection, struct slice name);

// A name that was checked; an empty one takes it away.
void client_name_set(struct connection *connection, struct slice name);

#endif
