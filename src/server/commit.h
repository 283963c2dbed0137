// SPDX-License-Identifier: MIT
// Holds: the replies that a connection got in a turn are held until the changes of that turn, and
// those of earlier turns that it may have seen, are durable. Holds end in the order of their turns.
#ifndef SLUICE_SERVER_COMMIT_H
#define SLUICE_SERVER_COMMIT_H

#include "base/alloc.h"
#include "base/status.h"
#include "server/net/output.h"

#include <stddef.h>
#include <stdint.h>

struct connection;
struct server;

struct hold {
    struct connection *connection; // stays in memory until the hold ends
    uint64_t group;                // sent when this one is durable
    struct output_hold output;
};

struct commit {
    struct hold *holds; // owned; a ring
    size_t first, count, capacity;
};

void commit_init(struct commit *commit);
void commit_release(struct commit *commit, const struct allocator *allocator);

// Asserts that the holds are in the order of their groups and that their connections count them.
void commit_check(const struct commit *commit);

// Ends a turn: appends the changes, and holds the replies of the turn or sends them.
void commit_turn(struct server *server);

// Ends all holds. Their connections must be closed.
void commit_forget(struct server *server);

// Ends the holds whose groups are durable. After a failure of the store the held replies become
// errors.
void commit_durable(struct server *server);

#endif
