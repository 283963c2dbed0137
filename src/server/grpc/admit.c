// SPDX-License-Identifier: MIT
// Who calls. Credentials come with every call and are checked once for each value on a connection:
// checking a password takes long. The check belongs to the connection of the stream, so that it goes
// on when the stream is closed, and streams with the same credentials wait for the same check.
#include "server/access/credentials.h"
#include "server/grpc/stream.h"
#include "server/server.h"

#include <openssl/crypto.h>

static uint64_t changes_of_users(const struct grpc_session *session)
{
    return session->connection->server->web.reloads;
}

static const struct user *find_known(const struct grpc_session *session,
                                     const uint8_t digest[SHA256_SIZE])
{
    for (size_t i = 0; i < GRPC_KNOWN_USERS; i++) {
        const struct grpc_known *known = &session->known[i];
        if (known->user && known->since == changes_of_users(session) &&
            !user_is_gone(known->user) && CRYPTO_memcmp(digest, known->digest, SHA256_SIZE) == 0) {
            return known->user;
        }
    }
    return NULL;
}

static void remember(struct grpc_session *session, const uint8_t digest[SHA256_SIZE],
                     const struct user *user)
{
    struct grpc_known *known = &session->known[session->known_next];
    session->known_next = (session->known_next + 1) % GRPC_KNOWN_USERS;
    known->user = user;
    known->since = changes_of_users(session);
    memcpy(known->digest, digest, SHA256_SIZE);
}

static bool refuse(struct grpc_stream *stream, const struct error *error)
{
    struct grpc_fault fault = { .error = *error };
    if (error->status == STATUS_DENIED) {
        fault.code = GRPC_UNAUTHENTICATED;
    } else if (error->status == STATUS_BUSY) {
        fault.code = GRPC_RESOURCE_EXHAUSTED; // too many failures or logins
    }
    stream->connection->server->figures.errors++;
    grpc_stream_end(stream, &fault);
    return false;
}

static bool take_as(struct grpc_stream *stream, const struct user *user)
{
    struct grpc_session *session = stream->session;
    struct connection *parent = session->connection;
    struct error error;
    bool fresh = !parent->user && user != users_anybody(parent->server->users);
    if (fresh && crowd_check_user(parent, user, &error)) {
        return refuse(stream, &error);
    }
    stream->connection->user = user;
    stream->admitted = true;
    grpc_session_trust(session, user);
    return true;
}

// Streams that have waited look again.
static void wake_all(struct grpc_session *session)
{
    for (struct grpc_stream *at = session->newest; at; at = at->next) {
        if (at->waits_login) {
            at->waits_login = false;
            grpc_stream_ready(at);
        }
    }
}

static void decided(struct connection *parent, enum status status, const struct user *user,
                    const struct error *error)
{
    struct grpc_session *session = parent->grpc;
    if (!status) {
        remember(session, session->login_digest, user);
    }
    struct grpc_stream *next;
    for (struct grpc_stream *at = session->newest; at && status; at = next) {
        next = at->next;
        if (at->waits_login && CRYPTO_memcmp(at->digest, session->login_digest, SHA256_SIZE) == 0) {
            at->waits_login = false;
            (void)refuse(at, error);
        }
    }
    wake_all(session);
}

static bool log_in(struct grpc_stream *stream)
{
    struct grpc_session *session = stream->session;
    struct connection *parent = session->connection;
    char bytes[CREDENTIALS_SIZE];
    struct slice name, password;
    struct error error;
    const struct user *user = NULL;
    if (parent->login) {
        stream->waits_login = true;
        return false;
    }
    if (!credentials_read(buffer_slice(&stream->authorization), bytes, &name, &password)) {
        (void)error_set(&error, STATUS_DENIED,
                        "authorization is neither Basic nor Bearer with a user and a password");
        return refuse(stream, &error);
    }
    memcpy(session->login_digest, stream->digest, SHA256_SIZE);
    enum status status = login_start(parent, name, password, decided, &user, &error);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    if (status) {
        return refuse(stream, &error);
    }
    if (!user) {
        stream->waits_login = true;
        return false;
    }
    remember(session, stream->digest, user);
    return take_as(stream, user);
}

bool grpc_stream_admit(struct grpc_stream *stream)
{
    struct connection *parent = stream->session->connection;
    const struct user *anybody = users_anybody(parent->server->users);
    if (stream->call.method->anybody) {
        stream->admitted = true;
        return true;
    }
    if (anybody) {
        return take_as(stream, anybody);
    }
    if (stream->authorization.size == 0) {
        if (parent->certified && !user_is_gone(parent->certified)) {
            return take_as(stream, parent->certified);
        }
        struct error error;
        (void)error_set(&error, STATUS_DENIED,
                        "this server wants to know who calls: send authorization");
        return refuse(stream, &error);
    }
    struct sha256 sha256;
    sha256_init(&sha256);
    sha256_add(&sha256, buffer_slice(&stream->authorization));
    sha256_end(&sha256, stream->digest);
    const struct user *user = find_known(stream->session, stream->digest);
    return user ? take_as(stream, user) : log_in(stream);
}
