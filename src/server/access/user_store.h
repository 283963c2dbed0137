// SPDX-License-Identifier: MIT
// Users that were added at run time. They are kept as notes of the host, "user NAME HASH
// RIGHTS...", so that they survive a restart and are part of a backup. A user of the same name in
// the settings takes precedence; without it the stored one counts again.
//
// There is always a user with every right: the first one is set up in the settings, and the last
// one cannot be removed. So a server is neither locked nor opened by a command.
#ifndef SLUICE_SERVER_ACCESS_USER_STORE_H
#define SLUICE_SERVER_ACCESS_USER_STORE_H

#include "base/slice.h"
#include "base/status.h"
#include "server/config/settings.h"

struct connection;
struct server;

// Takes over the users of the settings and those stored. When it fails nothing has changed.
MUST_USE enum status user_store_reload(struct server *server, const struct settings *settings,
                                       struct error *error);

// Stores a user from its line "NAME HASH RIGHTS...", in place of the one of that name.
MUST_USE enum status user_store_set(struct server *server, struct slice line, struct error *error);
// NOT_FOUND when no such user is stored.
MUST_USE enum status user_store_unset(struct server *server, struct slice name,
                                      struct error *error);
// The line of a stored user, or empty.
struct slice user_store_line(const struct server *server, struct slice name);

// Ends the connections of users that were removed or whose password has changed. That of `caller`,
// which may be NULL, is answered first.
void user_store_apply(struct server *server, struct connection *caller);

#endif
