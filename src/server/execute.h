// SPDX-License-Identifier: MIT
// A complete request: looks up the command, checks permissions, resolves the namespace, runs it,
// and writes its reply to the connection.
#ifndef SLUICE_SERVER_EXECUTE_H
#define SLUICE_SERVER_EXECUTE_H

#include "base/slice.h"
#include "engine/engine.h"
#include "server/blocked.h"
#include "server/config/settings.h"

struct connection;

// `words` is borrowed for the call, and has at least one.
void execute(struct connection *connection, struct slices words);

// The limits of words that come by RESP, for those that come otherwise: TOO_LARGE.
MUST_USE enum status execute_check_words(const struct settings *settings, struct slices words,
                                         struct error *error);

// Runs a waiting command again. Returns whether it has replied; with `last` it always replies.
bool execute_again(struct blocked *blocked, bool last);

// To be called when a worker has popped: links the worker to the connection, which is its session.
void execute_popped(const struct call *call, struct slice worker);

// Whether the next reply must not be sent (CLIENT REPLY). To be called exactly once for each reply.
bool execute_is_silent(struct connection *connection);

// Replies with an error: with one of Redis's codes ("NOAUTH"), or with the code of the error's
// status.
void reply_error_code(struct connection *connection, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void connection_reply_error(struct connection *connection, const struct error *error);

#endif
