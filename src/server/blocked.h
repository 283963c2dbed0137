// SPDX-License-Identifier: MIT
// A connection whose command waits (host/waiting.h): until there is a job or a result for it, its
// timeout passes, or the connection ends. No other request of it runs meanwhile.
#ifndef SLUICE_SERVER_BLOCKED_H
#define SLUICE_SERVER_BLOCKED_H

#include "host/waiting.h"
#include "server/loop.h"

struct connection;

struct blocked {
    struct waiter waiter; // first
    struct connection *connection;
    struct loop_event timeout;
};

// What the namespaces of a server do with waiters.
extern const struct waiting_ops blocked_ops;

// Makes the command that was run wait, as `call` specifies.
MUST_USE enum status blocked_new(struct connection *connection, struct ns *ns,
                                 const struct call *call, struct slices words, struct error *error);

// Ends the wait without a reply.
void blocked_end(struct blocked *blocked);

#endif
