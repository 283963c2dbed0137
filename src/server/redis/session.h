// SPDX-License-Identifier: MIT
// The state of a connection that uses RESP. connection->resp is NULL for other protocols; then the
// functions here return the state of a new session.
#ifndef SLUICE_SERVER_REDIS_SESSION_H
#define SLUICE_SERVER_REDIS_SESSION_H

#include "server/net/connection.h"
#include "server/redis/pubsub.h"
#include "wire/resp_reply.h"
#include "wire/resp_request.h"

struct transaction;

enum {
    CLIENT_NAME_SIZE = 64,
};

// The arguments of HELLO, while its password is checked.
struct hello_pending {
    enum resp_version version;
    bool has_name;
    char name[CLIENT_NAME_SIZE];
};

struct resp_session {
    struct resp_request request; // the decoder
    enum resp_version version;
    uint32_t db; // SELECT
    struct hello_pending hello;
    struct subscriptions subscriptions;
    struct transaction *transaction; // since MULTI, or NULL; owned
    bool reply_off;                  // CLIENT REPLY OFF
    uint8_t replies_skipped;     // CLIENT REPLY SKIP: this many of the next replies are not sent
    char name[CLIENT_NAME_SIZE]; // CLIENT SETNAME
    char library[CLIENT_NAME_SIZE], library_version[CLIENT_NAME_SIZE]; // CLIENT SETINFO
};

// The session of a connection of any protocol.
const struct resp_session *session_of(const struct connection *connection);

static inline bool session_subscribes(const struct resp_session *session)
{
    return session->subscriptions.channels || session->subscriptions.patterns;
}

static inline bool connection_subscribes(const struct connection *connection)
{
    return connection->resp && session_subscribes(connection->resp);
}

#endif
