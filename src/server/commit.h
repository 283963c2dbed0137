// SPDX-License-Identifier: MIT
// Replies that wait for their group: what a connection was told in a turn is held until all that
// the turn changed, and all that it may have seen of earlier ones, is durable. In order, per
// connection and over all.
#ifndef SLUICE_SERVER_COMMIT_H
#define SLUICE_SERVER_COMMIT_H

#include "base/alloc.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct connection;
struct server;

struct hold {
    struct connection *connection;
    uint64_t group;
    uint64_t start, end; // of the connection's output, counted from its first byte
    uint32_t replies;    // in it
};

struct commit {
    struct hold *holds; // owned; a ring
    size_t first, count, capacity;
};

void commit_init(struct commit *commit);
void commit_release(struct commit *commit, const struct allocator *allocator);

// The end of a turn: appends what has changed, and holds what was said, or lets it go.
void commit_turn(struct server *server);

// Forgets all that is held; its connections are closed.
void commit_forget(struct server *server);

// Lets go what is durable by now; after a failure of the store, in place of what was said, errors.
void commit_durable(struct server *server);

#endif
