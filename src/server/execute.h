// SPDX-License-Identifier: MIT
// A request that has come whole: which command it is, whether he may, in which namespace; then it
// is run, and its answer said to the connection.
#ifndef SLUICE_SERVER_EXECUTE_H
#define SLUICE_SERVER_EXECUTE_H

#include "base/slice.h"
#include "engine/engine.h"
#include "server/blocked.h"

struct connection;

// `words` is borrowed for the call, and has at least one.
void execute(struct connection *connection, struct slices words);

// Runs a command that waits once more. Says whether it was answered; with `last` it always is.
bool execute_again(struct blocked *blocked, bool last);

// A worker has popped by a call, on the connection that is its session.
void execute_popped(const struct call *call, struct slice worker);

// Whether the answer that is due now must not be said (CLIENT REPLY). To be asked once for each.
bool execute_is_silent(struct connection *connection);

// Says an error with a code of Redis's own ("NOAUTH"), or in the way of all errors.
void say_code(struct connection *connection, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void say_error(struct connection *connection, const struct error *error);

#endif
