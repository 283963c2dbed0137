// SPDX-License-Identifier: MIT
// MULTI and EXEC: requests are queued, and EXEC runs them in order, with no other command in between
// and their changes in one group. Each has a reply of its own, and one that fails does not undo the
// others, as in Redis. A command that would wait replies at once.
//
//      MULTI --> queued, queued, ... --> EXEC: all are run
//                  |       |             DISCARD, RESET, the end of the connection: none is
//                  |       +-- one that is refused: EXEC runs none and replies EXECABORT
//                  +-- the reply is QUEUED
#ifndef SLUICE_SERVER_REDIS_TRANSACTION_H
#define SLUICE_SERVER_REDIS_TRANSACTION_H

#include "api/command.h"

struct connection;
struct transaction;

// Whether the request, which is permitted, was queued or refused instead of run. `words` follow the
// name of the command.
bool transaction_takes(struct connection *connection, const struct command *command,
                       struct slices words);

// A request was refused before it could be queued. Does nothing outside of MULTI.
void transaction_spoil(const struct connection *connection);

// Whether EXEC runs the queued requests, so that no command can wait.
bool transaction_runs(const struct connection *connection);

// Drops the queued requests, if any.
void transaction_forget(struct connection *connection);

// While EXEC runs: how many bytes of the output are reserved, for a short error for each command that
// has not run. 0 otherwise.
size_t transaction_reserve(const struct connection *connection);

// How many are queued; -1 outside of MULTI.
int64_t transaction_count(const struct connection *connection);

#endif
