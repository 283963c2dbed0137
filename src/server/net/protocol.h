// SPDX-License-Identifier: MIT
// How a connection encodes requests and replies: RESP, HTTP or gRPC. In either case a request becomes the
// words of a command, which runs in the same way (execute.h).
//
// A function that is NULL does nothing; one that asks a question is then answered as its comment
// says.
#ifndef SLUICE_SERVER_NET_PROTOCOL_H
#define SLUICE_SERVER_NET_PROTOCOL_H

#include "faces/resp.h"

struct command;
struct connection;

struct protocol {
    const char *name; // for the log
    // The client keeps a connection: it authenticates once, within auth-timeout, and a worker that
    // pops on it is present until it is closed. Otherwise each request is on its own.
    bool is_session;
    // Its requests come in streams, which are connections of their own. It is read and served
    // whatever the store and the stop of the server permit: that applies to its streams.
    bool is_parent;
    // What a client gets before its connection is closed because there are too many; may be "".
    const char *full;

    // A connection was accepted, or was freed. NO_MEMORY: it cannot be opened.
    enum status (*open)(struct connection *connection);
    void (*release)(struct connection *connection);
    // The connection is closed: ends what the protocol has under way.
    void (*close)(struct connection *connection);
    // The connection has another user. May be NULL.
    void (*user_changed)(struct connection *connection);

    // Runs the request at the front of `bytes` and gives its size; 0: it is incomplete. For bytes
    // that are not a request it writes an error and drains the connection.
    size_t (*take)(struct connection *connection, struct slice bytes);
    // The least size of the incomplete request.
    size_t (*needs)(const struct connection *connection);
    // Whether a command may run now; if not, writes the error. NULL: every command.
    bool (*admits)(struct connection *connection, const struct command *command);

    // Where a command writes its reply, perhaps with `writer`'s help; and the end of the reply:
    // gives how many errors are in it. Both append to the connection's output.
    struct reply *(*begin)(struct connection *connection, struct resp_writer *writer);
    uint64_t (*end)(struct connection *connection, const struct resp_writer *writer);
    // Writes a reply that is an error. `code` is Redis's own word for it, or NULL.
    void (*refuse)(struct connection *connection, const char *code, const struct error *error);
    // Whether the next reply must not be sent (CLIENT REPLY); called once for each. NULL: no.
    bool (*skips_reply)(struct connection *connection);
    // Whether a reply goes on until it is ended; and ends it as the client expects. NULL: no.
    bool (*streams)(const struct connection *connection);
    void (*finish_stream)(struct connection *connection);

    // Whether the client has taken too long; and writes what it gets before the connection is
    // closed. NULL or false: nothing.
    bool (*is_late)(const struct connection *connection, int64_t now_us);
    bool (*write_late)(struct connection *connection);
    // The server stops while a command waits: writes a reply. NULL: none.
    void (*write_stopped)(struct connection *connection);

    // Of a parent. Runs requests of its streams as far as the turn permits; and whether there are
    // more to run.
    void (*run_streams)(struct connection *connection);
    bool (*has_streams_to_run)(const struct connection *connection);
    // Bytes were sent: there may be room for more.
    void (*sent)(struct connection *connection);
    // The server stops: ends it when its streams have ended. Whether it still has any.
    void (*stop)(struct connection *connection);
    bool (*has_streams)(const struct connection *connection);

    // Of a stream. Sends what may be sent; and has its requests run.
    void (*flush)(struct connection *connection);
    void (*resume)(struct connection *connection);
};

extern const struct protocol protocol_resp, protocol_http, protocol_h2, protocol_grpc;

#endif
