// SPDX-License-Identifier: MIT
// MULTI and EXEC: requests are kept, and run one after the other at EXEC, with nothing in between
// and their changes in one group. Each has an answer of its own, and one that fails does not undo
// the others, as in Redis. A command that would wait answers at once.
//
//      MULTI --> kept, kept, ... --> EXEC: all are run
//                  |   |             DISCARD, RESET, the end of the connection: none is
//                  |   +-- one that is refused: EXEC runs none and says so
//                  +-- the answer is QUEUED
#ifndef SLUICE_SERVER_TRANSACTION_H
#define SLUICE_SERVER_TRANSACTION_H

#include "api/command.h"

struct connection;
struct transaction;

// Whether the request, which may be run, was kept and answered instead. `words` stand behind the
// command's name.
bool transaction_takes(struct connection *connection, const struct command *command,
                       struct slices words);

// A request was refused before it could be kept. Does nothing outside of MULTI.
void transaction_spoil(const struct connection *connection);

// Whether EXEC runs what was kept, so that nothing can wait.
bool transaction_runs(const struct connection *connection);

// Forgets what was kept, if anything.
void transaction_forget(struct connection *connection);

// While EXEC runs: how much of the output is kept back, for a short error for each command that is
// still to be run. 0 otherwise.
size_t transaction_reserve(const struct connection *connection);

// How many are kept; -1 outside of MULTI.
int64_t transaction_count(const struct connection *connection);

#endif
