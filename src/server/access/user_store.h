// SPDX-License-Identifier: MIT
// Users that were added at run time. They are stored as notes of the host, "user NAME HASH
// RIGHTS...", so that they survive a restart and are part of a backup. A user of the same name in
// the settings takes precedence; if it is removed there, the stored one takes effect again.
//
// There is always a user with every right: the first one is set up in the settings, and the last
// one cannot be removed. So no command can lock all users out, or remove authentication.
#ifndef SLUICE_SERVER_ACCESS_USER_STORE_H
#define SLUICE_SERVER_ACCESS_USER_STORE_H

#include "base/slice.h"
#include "base/status.h"
#include "server/config/settings.h"

struct connection;
struct server;

// Takes over the users of the settings and the stored ones. When it fails nothing has changed.
MUST_USE enum status user_store_reload(struct server *server, const struct settings *settings,
                                       struct error *error);

// Stores a user from its line "NAME HASH RIGHTS...", replacing the one with that name.
MUST_USE enum status user_store_set(struct server *server, struct slice line, struct error *error);
// NOT_FOUND if no such user is stored.
MUST_USE enum status user_store_unset(struct server *server, struct slice name,
                                      struct error *error);
// The line of a stored user, or an empty slice.
struct slice user_store_line(const struct server *server, struct slice name);

// Ends the connections of users that were removed or whose password has changed. `caller`, which
// may be NULL, gets its reply first.
void user_store_apply(struct server *server, struct connection *caller);

#endif
