// SPDX-License-Identifier: MIT
#include "server/execute.h"
#include "server/protocol.h"
#include "server/server.h"
#include "server/transaction.h"

static enum status open(struct connection *connection)
{
    struct server *server = connection->server;
    connection->version = RESP_2;
    resp_request_init(&connection->request, server->settings.allocator,
                      connection->user ? &server->connections.limits
                                       : &server->connections.limits_before);
    return STATUS_OK;
}

static void release(struct connection *connection)
{
    resp_request_release(&connection->request);
}

static void refuse(struct connection *connection, const char *code, const struct error *error)
{
    if (code) {
        resp_error(&connection->output, slice_from_cstr(code),
                   slice_from_cstr(error_sentence(error)));
    } else {
        resp_form_error(&connection->output, error);
    }
}

// What comes behind a request that cannot be read is not a request either.
static void refuse_broken(struct connection *connection, const struct error *why)
{
    struct error error = *why;
    if (error.status == STATUS_TOO_LARGE && !connection->user) {
        (void)error_set(&error, STATUS_TOO_LARGE, "%s before authentication", why->detail);
    }
    connection_says(connection);
    refuse(connection, error.status == STATUS_INVALID ? "ERR" : NULL, &error);
    connection_said(connection, 1);
    discard_begin(connection, &error);
}

static size_t take(struct connection *connection, struct slice bytes)
{
    struct error error;
    switch (resp_request_read(&connection->request, bytes, &error)) {
    case RESP_MORE:
        return 0;
    case RESP_READY:
        break;
    case RESP_BROKEN:
        refuse_broken(connection, &error);
        return bytes.size;
    }
    size_t size = connection->request.size;
    if (connection->request.count) {
        execute(connection,
                (struct slices){ connection->request.words, connection->request.count });
    }
    return size;
}

static size_t needs(const struct connection *connection)
{
    return resp_request_needs(&connection->request);
}

static struct reply *begin(struct connection *connection, struct resp_form *form)
{
    resp_form_init(form, &connection->output, connection->version);
    form->reserve = transaction_reserve(connection);
    return &form->reply;
}

static uint64_t end(struct connection *connection, const struct resp_form *form)
{
    (void)connection;
    return form->errors;
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
    .open = open,
    .release = release,
    .take = take,
    .needs = needs,
    .begin = begin,
    .end = end,
    .refuse = refuse,
    .full = "-ERR max number of clients reached\r\n",
    .logs_in = true,
    .is_late = is_late,
};
