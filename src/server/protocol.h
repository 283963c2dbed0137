// SPDX-License-Identifier: MIT
// How a connection speaks: RESP or HTTP. What is asked is a command's words in either case, run in
// the same way (execute.h); only how requests and answers look is different.
#ifndef SLUICE_SERVER_PROTOCOL_H
#define SLUICE_SERVER_PROTOCOL_H

#include "faces/resp.h"

struct connection;

struct protocol {
    const char *name; // for the log
    // A connection that speaks so has been accepted. NO_MEMORY: it cannot.
    enum status (*open)(struct connection *connection);
    void (*release)(struct connection *connection);
    // Runs the request at the front of `bytes` and gives its size; 0: it is not whole yet. What is
    // no request is said so, and the connection drained.
    size_t (*take)(struct connection *connection, struct slice bytes);
    // How many bytes a request that is not whole has at least.
    size_t (*needs)(const struct connection *connection);
    // Where a command says its answer, perhaps with `form`'s help; and that it has: gives how many
    // errors are in it. Both append to the connection's output.
    struct reply *(*begin)(struct connection *connection, struct resp_form *form);
    uint64_t (*end)(struct connection *connection, const struct resp_form *form);
    // An answer that is an error. `code` is Redis's own word for it, or NULL.
    void (*refuse)(struct connection *connection, const char *code, const struct error *error);
    // Too many connections: a few bytes before it is closed, or "".
    const char *full;
    // A connection authenticates once, within auth-timeout, and not with every request.
    bool logs_in;
    // Whether it has kept us waiting too long; and what it is told then, before it is closed.
    // False: nothing, as when it is NULL.
    bool (*is_late)(const struct connection *connection, int64_t now_us);
    bool (*say_late)(struct connection *connection);
    // The server stops while a command waits. NULL: nothing is said.
    void (*say_stopped)(struct connection *connection);
};

extern const struct protocol protocol_resp, protocol_http;

#endif
