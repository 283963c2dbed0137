// SPDX-License-Identifier: MIT
// A client's connection: requests in, replies out.
//
//      accepted --> (handshake) --> serving <--> waiting (a blocking command)
//                                      |
//                                      +--> draining (QUIT, a refused request): what was said goes
//                                           out, then closed; the rest of a refused request is
//                                           discarded before (discard.h)
//
// What is said is appended to `output`; commit.h decides when it may be sent. A connection that is
// closed stays in memory as long as a hold names it.
//
// Its allowance (allowance.h) bounds what it keeps. With more replies unread or under way than that
// no further request of it is run; while none is run, little of what its client sends is read.
#ifndef SLUICE_SERVER_CONNECTION_H
#define SLUICE_SERVER_CONNECTION_H

#include "api/command.h"
#include "base/buffer.h"
#include "host/presence.h"
#include "server/address.h"
#include "server/allowance.h"
#include "server/blocked.h"
#include "server/crowd.h"
#include "server/discard.h"
#include "server/loop.h"
#include "server/protocol.h"
#include "server/pubsub.h"
#include "server/schedule.h"
#include "server/transport.h"
#include "server/users.h"
#include "wire/resp_reply.h"
#include "wire/resp_request.h"

struct event_stream;
struct listener;
struct login;
struct server;
struct web_side;

enum {
    CONNECTION_NAME_SIZE = 64,
};

// What HELLO asked for, while its password is checked.
struct hello_kept {
    enum resp_version version;
    bool has_name;
    char name[CONNECTION_NAME_SIZE];
};

struct connection {
    struct server *server;
    struct connection *next, *previous; // all of them, the newest first
    struct connection *turn_next;       // those that something was said to in this turn
    struct schedule_entry scheduled;    // when it is served
    uint64_t id;
    struct transport transport;
    struct loop_event readable, writable;
    const struct user *certified; // by its certificate, or NULL
    const struct user *user;      // NULL: not authenticated, or the request of HTTP is not yet
    const struct allowances *allowances; // the server's

    const struct protocol *protocol;
    struct resp_request request; // RESP
    enum resp_version version;
    uint32_t db;          // SELECT
    struct web_side *web; // HTTP; owned

    struct buffer input; // what has come of a request that is not whole, or must wait
    struct buffer output;
    uint64_t output_start; // how many bytes were sent before those in `output`
    size_t output_sent;    // bytes of `output` that were sent
    uint64_t output_free;  // up to where it may be sent, counted from the first byte ever
    size_t holds;          // that name it
    uint64_t turn_start;   // up to where it was said before this turn
    uint32_t replies;      // said in this turn
    uint64_t under_way;    // requests whose replies are held

    struct discard discard;  // what is done with the rest of a refused request
    struct blocked *blocked; // what it waits for, or NULL
    bool in_background;      // a thread works for it (background.h)
    struct hello_kept hello;
    struct login *login;         // that waits for a check of its password, or NULL
    struct event_stream *stream; // of events (HTTP), or NULL; owned
    struct subscriptions subscriptions;
    struct transaction *transaction; // since MULTI, or NULL; owned

    bool in_turn;
    bool to_read;            // in the schedule, and there is something to read
    bool reading;            // the loop is asked to tell when there is something to read
    bool writing;            // or when there is room to write
    bool handshaking;        // under TLS
    bool ended;              // its client sends no more
    bool draining;           // no more requests
    bool given_up;           // draining, and closed at the end of the turn
    bool closed;             // it has no descriptor any more
    bool dead;               // closed, and in the list of those to be freed
    bool failing;            // what was held is being replaced by errors
    bool reserved;           // for an administrator (crowd.h)
    bool held;               // its client leaves more unread than it may
    bool reply_off;          // CLIENT REPLY OFF
    uint8_t replies_skipped; // so many replies to come are not said: CLIENT REPLY SKIP
    int64_t began_us, active_us;
    struct presences presences; // the workers that pop on it
    uint64_t source;            // the address as a number (crowd.h)
    char address[ADDRESS_TEXT_SIZE];
    char name[CONNECTION_NAME_SIZE]; // CLIENT SETNAME
    char library[CONNECTION_NAME_SIZE], library_version[CONNECTION_NAME_SIZE];
    const char *last_command;
};

struct connections {
    struct connection *newest;
    size_t count;
    size_t reserved;                // of them in the reserve (crowd.h)
    size_t count_max, reserved_max; // as the settings and the system allow
    uint64_t id;                    // the last one given
    struct connection *turn;
    struct connection *dead;                  // closed, to be freed at the end of the turn
    struct resp_limits limits, limits_before; // authenticated or not
    struct allowances allowances;
};

// A connection on a descriptor that a listener accepted, which it takes over in any case.
void connection_open(const struct listener *listener, int fd,
                     const struct sockaddr_storage *address, socklen_t size,
                     struct crowd_place place);

// Ends it: at once, or when all that was said has been sent.
void connection_close(struct connection *connection);
void connection_drain(struct connection *connection);
// Ends it at once for another one; its client is told that there are too many, if it can be.
void connection_refuse(struct connection *connection);

// Something is about to be said to it in this turn; and has been: `replies` of it are answers to
// requests. When it does not fit the connection is given up.
void connection_says(struct connection *connection);
void connection_said(struct connection *connection, uint32_t replies);

// Who it is from now on; NULL: not authenticated. And who it is without a login: the user of its
// certificate, or anybody when no users are set up.
void connection_become(struct connection *connection, const struct user *user);
const struct user *connection_first_user(const struct connection *connection);

// It could not be told all. It is closed at the end of the turn: whoever speaks to it may be in the
// middle of a list that it stands in, or of a command of its own.
void connection_give_up(struct connection *connection);

// Sends what may be sent.
void connection_flush(struct connection *connection);

// What was held is sent, or a hold that named it is gone: it may be read on, or freed.
void connection_released(struct connection *connection);

// It may go on with requests that are here: it is put into the schedule.
void connection_resume(struct connection *connection);
// Serves those in the schedule, as far as the turn has room; says whether there were any.
bool connections_resume(struct server *server);
// Takes them out of the schedule without serving them.
void connections_unschedule(struct server *server);

// The end of a turn: frees those that are closed.
void connections_bury(struct server *server);

// Nothing of what was said in this turn is to be sent any more: before the server is released.
void connections_leave_turn(struct server *server);

// Closes those whose buffers are largest, some at a time, while the buffers of all take more than
// so much.
void connections_relieve(struct server *server, size_t size_max);

// Closes those that idle too long, and gives back memory that those that rest do not need.
void connections_sweep(struct server *server);

// How many bytes of all that was said have reached the client's system.
uint64_t connection_taken(const struct connection *connection);

// The size of what was said and not yet sent.
static inline size_t connection_unsent(const struct connection *connection)
{
    return connection->output.size - connection->output_sent;
}

// What it may take of the server's memory.
static inline const struct allowance *allowance_of(const struct connection *connection)
{
    return connection->user ? &connection->allowances->authenticated
                            : &connection->allowances->unauthenticated;
}

// Whether it is not served because its client does not read.
static inline bool connection_is_held(const struct connection *connection)
{
    return connection_unsent(connection) >= allowance_of(connection)->unread_max;
}

// Whether a command of it has still to be answered before the next one.
static inline bool connection_waits(const struct connection *connection)
{
    return connection->blocked || connection->in_background || connection->login ||
           connection->stream;
}

// Its client's address without the port; "unix" for a Unix socket.
struct slice connection_host(const struct connection *connection);

// Whether all that was said has reached the client's system. Only then a connection may be closed
// of which something is unread: the system drops what it has not sent yet.
bool connection_is_told(const struct connection *connection);

static inline bool connection_subscribes(const struct connection *connection)
{
    return connection->subscriptions.channels || connection->subscriptions.patterns;
}

#endif
