// SPDX-License-Identifier: MIT
// A connection whose command waits (host/waiting.h): until there is something for it, its time is
// over, or the connection ends. It takes no other request meanwhile.
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

// What the namespaces of a server do with those who wait.
extern const struct waiting_form blocked_form;

// The command that was run has to wait, as `call` says.
MUST_USE enum status blocked_new(struct connection *connection, struct ns *ns,
                                 const struct call *call, struct slices words, struct error *error);

// It waits no more, without an answer.
void blocked_end(struct blocked *blocked);

#endif
