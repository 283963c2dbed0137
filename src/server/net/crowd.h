// SPDX-License-Identifier: MIT
// How many connections there may be, and whose. There are max-connections ordinary ones. When they
// are used up, a new connection gets one of reserved-connections, which are for administrators and
// for /healthz and /readyz: so neither a flood nor a client that leaks connections locks an
// administrator out.
//
// A connection that has not authenticated yet is a newcomer. For each reserved connection there is
// room for NEWCOMERS_PER_RESERVED newcomers more, so that one has the time to authenticate though
// others come. When that is used up too, a newcomer is closed for a new one:
//
//   - of the new one's own address, if that has an eighth of all newcomers or more: the oldest;
//   - else the oldest one, except that those whose password is being checked and those from an
//     address from which an administrator has logged in (up to eight of an address) come last.
//
// A newcomer in the reserve has a short time to authenticate as an administrator. Any user that
// authenticates there gets the place of an ordinary newcomer, if there is one. Without users every
// client is an administrator; then the reserve takes only commands that name no namespace. When an
// ordinary connection becomes free, the next request turns a reserved one into it.
#ifndef SLUICE_SERVER_NET_CROWD_H
#define SLUICE_SERVER_NET_CROWD_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct command;
struct connection;
struct server;
struct user;

enum {
    NEWCOMERS_PER_RESERVED = 64,
    CROWD_SOURCES = 1024,   // a power of two
    CROWD_KNOWN_COUNT = 64, // addresses of administrators that are remembered
};

// A connection among the newcomers.
struct newcomer {
    struct newcomer *next, *previous;               // the oldest one first
    struct newcomer *source_next, *source_previous; // of those in the same bucket of sources
    bool listed;
    bool known; // from an address from which an administrator has logged in
};

struct newcomers {
    struct newcomer *first, *last;
    size_t count;
    struct newcomers_of_source {
        struct newcomer *first, *last;
        size_t count;
    } sources[CROWD_SOURCES];          // by a hash of their address
    uint64_t known[CROWD_KNOWN_COUNT]; // sources; 0: unused
    size_t known_next;                 // the oldest, which is replaced next
};

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

// A connection begins and ends.
void crowd_enter(struct connection *connection);
void crowd_leave(struct connection *connection);

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
