// SPDX-License-Identifier: MIT
// A client's connection: requests in, replies out.
//
//      accepted --> (handshake) --> serving <--> waiting (a blocking command)
//                                      |
//                                      +--> draining (QUIT, a refused request): the replies that are
//                                           written are sent, then it is closed; the rest of a
//                                           refused request is discarded first (discard.h)
//
// Replies are appended to `output` (output.h); commit.h decides when they may be sent. A connection
// that is closed stays in memory until its holds are released.
//
// The allowance (allowance.h) bounds the memory of a connection. When as many bytes are unsent or
// as many replies pending as it permits, no further request is run, and only a bounded part of what
// the client sends is read.
//
// What differs between protocols is behind `protocol` (protocol.h): `resp`, `web`, `grpc` and
// `stream` hold what one of them needs, and are NULL for the others. What needs the descriptor is in
// `socket` (socket.h).
//
// A stream of HTTP/2 is a connection too, within another one, its parent: it has replies that are
// held, a command that waits and a user, as any connection, but no descriptor. Its protocol sends
// its replies (flush) and runs its requests (resume), and it counts as no client of its own.
#ifndef SLUICE_SERVER_NET_CONNECTION_H
#define SLUICE_SERVER_NET_CONNECTION_H

#include "api/command.h"
#include "base/buffer.h"
#include "host/presence.h"
#include "server/blocked.h"
#include "server/config/address.h"
#include "server/config/users.h"
#include "server/loop.h"
#include "server/net/allowance.h"
#include "server/net/crowd.h"
#include "server/net/discard.h"
#include "server/net/output.h"
#include "server/net/protocol.h"
#include "server/net/schedule.h"
#include "server/net/socket.h"
#include "server/redis/pubsub.h"
#include "wire/resp_request.h"

struct event_stream;
struct grpc_session;
struct grpc_stream;
struct listener;
struct login;
struct resp_session;
struct server;
struct web_side;

struct connection {
    struct server *server;
    struct connection *parent;          // NULL: it has a descriptor. Borrowed until it is closed
    struct connection *next, *previous; // of all open connections (or streams), the newest first
    struct connection *turn_next;       // of those that are in a turn (connections.turn)
    struct schedule_entry scheduled;    // when it is served
    uint64_t id;
    struct socket socket;
    const struct user *certified; // the user that the certificate names, or NULL
    const struct user *user;      // NULL: not authenticated; HTTP: the current request is not
    const struct allowances *allowances; // the server's

    const struct protocol *protocol;
    struct resp_session *resp;  // NULL unless the protocol is RESP; owned
    struct web_side *web;       // NULL unless it is HTTP; owned
    struct grpc_session *grpc;  // NULL unless it carries streams of gRPC; owned
    struct grpc_stream *stream; // NULL unless it is such a stream; owned

    struct event_stream *events; // that it listens to, or NULL; owned

    struct buffer input; // received bytes of requests that are incomplete or not run yet
    struct output output;

    struct discard discard;  // of the rest of a refused request
    struct blocked *blocked; // the command that waits, or NULL
    struct login *login;     // that waits for a password check, or NULL
    bool in_background;      // a thread works on its command (background.h)

    bool read_pending; // scheduled, and the socket is readable
    bool input_ended;  // the client sends no more
    bool draining;     // no more requests are run
    bool overflowed;   // draining: a reply did not fit. Closed at the end of the turn
    bool closed;       // has no descriptor any more
    bool free_pending; // closed, and in the list of those to be freed
    bool reserved;     // for an administrator (crowd.h)
    bool stalled;      // not served because the client does not read its replies
    int64_t began_us, active_us;
    struct presences presences; // the workers that pop on it
    uint64_t source;            // the address as a number (crowd.h)
    struct newcomer newcomer;
    uint64_t received_before; // bytes received before authentication; 0 afterwards
    char address[ADDRESS_TEXT_SIZE];
    const char *last_command;
};

struct connections {
    struct connection *newest;
    size_t count;
    struct connection *newest_stream; // those within others
    size_t stream_count;
    size_t reserved; // of them in the reserve (crowd.h)
    // As the settings and the system allow; newcomers_max: in the reserve, beside reserved_max.
    size_t count_max, reserved_max, newcomers_max;
    struct newcomers newcomers;
    uint64_t id;             // the last one given
    struct connection *turn; // those whose output is in a turn
    struct connection *dead; // closed, to be freed at the end of the turn
    struct resp_limits limits, limits_unauthenticated;
    struct allowances allowances;
};

// ---------------------------------------------------------------------------------------------
// Life

// A connection on a descriptor that a listener accepted, which it takes over in any case.
void connection_open(const struct listener *listener, int fd,
                     const struct sockaddr_storage *address, socklen_t size,
                     struct crowd_place place);

// A stream within `parent`, whose user it does not have. NULL: there is no memory for it.
struct connection *connection_open_stream(struct connection *parent,
                                          const struct protocol *protocol);

// Closes it at once.
void connection_close(struct connection *connection);
// Runs no more requests of it, and closes it when the written replies are sent.
void connection_drain(struct connection *connection);
// Closes it at once for another one. The client gets the protocol's sentence that there are too
// many connections, if it can be sent.
void connection_refuse(struct connection *connection);

// A reply or message for it was lost since the output is full or memory is. It is closed at the end
// of the turn, since the caller may be in a list that the connection is in, or in its command.
void connection_overflow(struct connection *connection);

// The user from now on; NULL: not authenticated.
void connection_set_user(struct connection *connection, const struct user *user);
// The user without a login: that of the certificate, or the default user when there are no users.
const struct user *connection_default_user(const struct connection *connection);

// Asserts what holds between turns.
void connection_check(const struct connection *connection);

// ---------------------------------------------------------------------------------------------
// Replies

// Something is about to be appended to the output; and was: `replies` of it are replies to requests.
// If it did not fit, the connection overflows.
void connection_output_begin(struct connection *connection);
void connection_output_end(struct connection *connection, uint32_t replies);

// Sends what may be sent. Closes the connection when that fails, or when it drains and is done.
void connection_flush(struct connection *connection);

// Replies may have been sent, or a hold was released: serves on, or frees what is closed.
void connection_replies_settled(struct connection *connection);

// How many bytes have reached the client's system, ever.
uint64_t connection_delivered(const struct connection *connection);

// Whether all replies have reached the client's system.
bool connection_is_delivered(const struct connection *connection);

// The next connection of the turn, which is no longer in the list; NULL: none.
struct connection *connections_next_of_turn(struct server *server);

// Takes all connections out of the turn and sends nothing: before the server is released.
void connections_leave_turn(struct server *server);

// ---------------------------------------------------------------------------------------------
// Requests

// Whether the next request may be run.
bool connection_may_serve(const struct connection *connection);

// Watches the socket if the connection may read, as its state and its allowance say.
void connection_update_reading(struct connection *connection);

// The events of its socket.
void connection_on_readable(evutil_socket_t fd, short what, void *context);
void connection_on_writable(evutil_socket_t fd, short what, void *context);

// Schedules a connection that may run the requests that it has received. A stream's parent is
// scheduled, so that a client has the same share of a turn however many streams it has.
void connection_resume(struct connection *connection);
// Serves scheduled connections as far as the turn has room; says whether there were any.
bool connections_resume(struct server *server);
// Takes them out of the schedule without serving them.
void connections_unschedule(struct server *server);

// ---------------------------------------------------------------------------------------------
// All connections

// The end of a turn: frees those that are closed.
void connections_free_closed(struct server *server);

// How many streams have a command that waits.
size_t connections_count_blocked_streams(const struct server *server);

// Asserts the invariants of all connections.
void connections_check(const struct server *server);

// Closes connections with the largest buffers, a few at a time, while the buffers of all connections
// take more than `size_max`.
void connections_relieve(struct server *server, size_t size_max);

// Closes connections that are idle for too long, and gives back memory of idle ones.
void connections_sweep(struct server *server);

// ---------------------------------------------------------------------------------------------

// What it may take of the server's memory.
static inline const struct allowance *allowance_of(const struct connection *connection)
{
    return connection->user ? &connection->allowances->authenticated
                            : &connection->allowances->unauthenticated;
}

// The size of what was written and not yet sent.
static inline size_t connection_unsent(const struct connection *connection)
{
    return output_unsent(&connection->output);
}

// Whether it is not served because its client does not read.
static inline bool connection_is_stalled(const struct connection *connection)
{
    return connection_unsent(connection) >= allowance_of(connection)->unread_max;
}

// Whether it sends a reply that goes on until it is ended.
static inline bool connection_streams(const struct connection *connection)
{
    return connection->protocol->streams && connection->protocol->streams(connection);
}

// Whether a command is still to be answered before the next one runs.
static inline bool connection_waits(const struct connection *connection)
{
    return connection->blocked || connection->in_background || connection->login ||
           connection_streams(connection);
}

// The client's address without the port; "unix" for a Unix socket.
struct slice connection_host(const struct connection *connection);

#endif
