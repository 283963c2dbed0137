// SPDX-License-Identifier: MIT
// How many connections there may be, and whose. There are max-connections ordinary ones. When they
// are used up, the oldest one that is not authenticated is closed for a new one. When all are
// authenticated, a new connection gets one of reserved-connections, which are for administrators
// and for /healthz and /readyz: so neither a flood nor a client that leaks connections locks an
// administrator out.
//
// A connection in the reserve has a short time to authenticate as an administrator. Without users
// every client is one; then the reserve takes only commands that name no namespace. When an
// ordinary connection becomes free, the next request turns a reserved one into it.
#ifndef SLUICE_SERVER_CROWD_H
#define SLUICE_SERVER_CROWD_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct command;
struct connection;
struct server;
struct user;

// Where a new connection belongs.
struct crowd_place {
    bool reserved;
    uint64_t source; // its address as a number, the same for a /64 network; 0: a Unix socket
};

// Sets the limits by the settings and by how many descriptors the system allows, which is asked for
// more if need be. Logs when that is less than the settings say. STATE when it is too few to start.
MUST_USE enum status crowd_limit(struct server *server, struct error *error);

// A place for a new connection; another one may be closed for it. BUSY with the limit's name when
// there is none.
MUST_USE enum status crowd_find_place(struct server *server, const struct sockaddr_storage *address,
                                      socklen_t size, struct crowd_place *place,
                                      struct error *error);

// Whether a connection may become that user: BUSY when the user has as many as it may, or when the
// connection is reserved and the user is no administrator.
MUST_USE enum status crowd_check_user(struct connection *connection, const struct user *user,
                                      struct error *error);

// Whether a connection may run a command, or with NULL read a page.
MUST_USE enum status crowd_check_command(struct connection *connection,
                                         const struct command *command, struct error *error);

// Whether a reserved connection has taken too long to show that it is an administrator's.
bool crowd_is_late(const struct connection *connection, int64_t now_us);

#endif
