// SPDX-License-Identifier: MIT
#include "server/net/protocol.h"

#include "server/execute.h"
#include "server/redis/session.h"
#include "server/redis/transaction.h"
#include "server/server.h"

#include <assert.h>

const struct resp_session *session_of(const struct connection *connection)
{
    static const struct resp_session none = { .version = RESP_3 };
    return connection->resp ? connection->resp : &none;
}

static const struct resp_limits *limits_of(const struct connection *connection)
{
    const struct connections *all = &connection->server->connections;
    return connection->user ? &all->limits : &all->limits_unauthenticated;
}

static enum status open(struct connection *connection)
{
    const struct allocator *allocator = connection->server->settings.allocator;
    struct resp_session *session = mem_zalloc(allocator, sizeof(*session));
    if (!session) {
        return STATUS_NO_MEMORY;
    }
    session->version = RESP_2;
    resp_request_init(&session->request, allocator, limits_of(connection));
    connection->resp = session;
    return STATUS_OK;
}

static void release(struct connection *connection)
{
    struct resp_session *session = connection->resp;
    assert(!session->transaction && !session_subscribes(session));
    resp_request_release(&session->request);
    mem_free(connection->server->settings.allocator, session, sizeof(*session));
}

static void close_session(struct connection *connection)
{
    pubsub_forget(connection);
    transaction_forget(connection);
}

static void user_changed(struct connection *connection)
{
    connection->resp->request.limits = limits_of(connection);
}

static void refuse(struct connection *connection, const char *code, const struct error *error)
{
    if (code) {
        resp_error(&connection->output.bytes, slice_from_cstr(code),
                   slice_from_cstr(error_sentence(error)));
    } else {
        resp_write_error(&connection->output.bytes, error);
    }
}

// The bytes after a malformed request cannot be decoded either.
static void refuse_broken(struct connection *connection, const struct error *why)
{
    struct error error = *why;
    if (error.status == STATUS_TOO_LARGE && !connection->user) {
        (void)error_set(&error, STATUS_TOO_LARGE, "%s before authentication", why->detail);
    }
    connection_output_begin(connection);
    refuse(connection, error.status == STATUS_INVALID ? "ERR" : NULL, &error);
    connection_output_end(connection, 1);
    discard_begin(connection, &error);
}

static size_t take(struct connection *connection, struct slice bytes)
{
    struct resp_request *request = &connection->resp->request;
    struct error error;
    switch (resp_request_read(request, bytes, &error)) {
    case RESP_MORE:
        return 0;
    case RESP_READY:
        break;
    case RESP_BROKEN:
        refuse_broken(connection, &error);
        return bytes.size;
    }
    size_t size = request->size;
    if (request->count) {
        execute(connection, (struct slices){ request->words, request->count });
    }
    return size;
}

static size_t needs(const struct connection *connection)
{
    return resp_request_needs(&connection->resp->request);
}

static struct reply *begin(struct connection *connection, struct resp_writer *writer)
{
    resp_writer_init(writer, &connection->output.bytes, connection->resp->version);
    writer->reserve = transaction_reserve(connection);
    return &writer->reply;
}

static uint64_t end(struct connection *connection, const struct resp_writer *writer)
{
    (void)connection;
    return writer->errors;
}

// A RESP 2 subscriber cannot distinguish a reply from a message.
static bool admits(struct connection *connection, const struct command *command)
{
    const struct resp_session *session = connection->resp;
    if (session->version == RESP_3 || !session_subscribes(session) ||
        (command->flags & COMMAND_SUBSCRIBED)) {
        return true;
    }
    reply_error_code(
        connection, "ERR",
        "Can't execute '%s': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are "
        "allowed in this context",
        command->name);
    return false;
}

// Within EXEC all replies are written, because they are parts of the reply of EXEC.
static bool skips_reply(struct connection *connection)
{
    struct resp_session *session = connection->resp;
    if (transaction_runs(connection)) {
        return false;
    }
    if (session->replies_skipped) {
        session->replies_skipped--;
        return true;
    }
    return session->reply_off;
}

static bool is_late(const struct connection *connection, int64_t now_us)
{
    const struct settings *settings = &connection->server->settings;
    return settings->idle_timeout_us && !connection_waits(connection) &&
           !connection_subscribes(connection) &&
           now_us - connection->active_us > settings->idle_timeout_us;
}

const struct protocol protocol_resp = {
    .name = "resp",
    .is_session = true,
    .full = "-ERR max number of clients reached\r\n",
    .open = open,
    .release = release,
    .close = close_session,
    .user_changed = user_changed,
    .take = take,
    .needs = needs,
    .admits = admits,
    .begin = begin,
    .end = end,
    .refuse = refuse,
    .skips_reply = skips_reply,
    .is_late = is_late,
};
