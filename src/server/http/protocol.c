// SPDX-License-Identifier: MIT
// HTTP requests, whose replies are sent in order. Each request carries its own credentials.
#include "server/net/protocol.h"
#include "server/access/logins.h"
#include "server/access/permit.h"
#include "server/background.h"
#include "server/execute.h"
#include "server/http/dashboard.h"
#include "server/http/event_stream.h"
#include "server/http/web.h"
#include "server/http/web_admit.h"
#include "server/server.h"
#include "wire/http_reply.h"

#include <assert.h>

enum {
    BODY_RATE = 16 << 10, // bytes a second: the minimum rate of a request body
};

static enum status open(struct connection *connection)
{
    struct server *server = connection->server;
    const struct allocator *allocator = server->settings.allocator;
    connection->web = mem_zalloc(allocator, sizeof(*connection->web));
    if (!connection->web) {
        return STATUS_NO_MEMORY;
    }
    http_request_init(&connection->web->request, allocator, &server->web.limits);
    connection->web->request.pauses = true;
    return STATUS_OK;
}

static void release(struct connection *connection)
{
    http_request_release(&connection->web->request);
    mem_free(connection->server->settings.allocator, connection->web, sizeof(*connection->web));
}

static bool streams(const struct connection *connection)
{
    return connection->events || connection->web->metrics;
}

static void end_streams(struct connection *connection)
{
    event_stream_end(connection);
    metrics_stream_end(connection);
}

// The end of the chunks is left out of metrics that are not whole.
static void finish_streams(struct connection *connection)
{
    event_stream_finish(connection);
    metrics_stream_end(connection);
}

// Closes the connection after a reply with "Connection: close".
static void settle(struct connection *connection)
{
    if (connection->web->call.close) {
        connection_drain(connection);
    }
}

static void end_answer(struct connection *connection)
{
    connection_output_end(connection, 1);
    settle(connection);
}

static struct http_face *face_of(struct connection *connection)
{
    struct server *server = connection->server;
    http_face_set_time(server->web.face, server_now(server));
    return server->web.face;
}

static void write_problem(struct connection *connection, unsigned status, const struct error *error)
{
    connection->server->figures.errors++;
    connection_output_begin(connection);
    http_face_refuse(face_of(connection), &connection->web->call, status, error,
                     &connection->output.bytes);
    end_answer(connection);
}

// ---------------------------------------------------------------------------------------------
// Complete requests

// A task that could not become a command is recorded as a refused task, as a refused command is.
// The caller must have the right to put; otherwise it could fill the list of any namespace.
static void note_refused(struct connection *connection, const struct error *why)
{
    struct server *server = connection->server;
    const struct web_side *web = connection->web;
    const struct http_route *route = web->call.route;
    const struct command *command =
        route && route->command ? commands_find(server->commands, slice_from_cstr(route->command))
                                : NULL;
    struct error denied;
    if (command && command->flags & COMMAND_NOTES_REFUSED && connection->user &&
        !permit_command(connection->user, command, web->call.ns, &denied)) {
        refusals_note(&server->namespaces, web->call.ns, server_now(server),
                      (struct slices){ &web->request.body, 1 }, why);
    }
}

static void answer(struct connection *connection)
{
    struct server *server = connection->server;
    struct web_side *web = connection->web;
    struct error error;
    connection_output_begin(connection);
    if (dashboard_owns(server, web->request.path)) {
        server->figures.commands++;
        (void)face_of(connection); // sets the time of the face
        dashboard_page(connection);
        web->heads |= web->call.head;
        end_answer(connection);
        return;
    }
    enum http_step step =
        http_face_parse(face_of(connection), &web->request, &web->call, &connection->output.bytes);
    web->heads |= web->call.head;
    switch (step) {
    case HTTP_ANSWERED:
        server->figures.commands++;
        if (http_face_refusal(server->web.face)) {
            note_refused(connection, http_face_refusal(server->web.face));
        }
        end_answer(connection);
        return;
    case HTTP_PAGE:
        server->figures.commands++;
        web_page(connection, &web->call);
        return;
    case HTTP_RUN:
        break;
    }
    if (execute_check_words(&server->settings, web->call.words, &error)) {
        note_refused(connection, &error);
        write_problem(connection, 0, &error);
        return;
    }
    execute(connection, web->call.words);
}

// ---------------------------------------------------------------------------------------------
// Incomplete requests

static size_t broken(struct connection *connection, struct slice bytes, const struct error *error)
{
    connection->web->request_began_us = 0;
    connection_output_begin(connection);
    http_face_refuse_broken(face_of(connection), &connection->web->request, error,
                            &connection->output.bytes);
    connection->server->figures.errors++;
    connection_output_end(connection, 1);
    discard_begin(connection, error);
    return bytes.size;
}

// The request ends after its head: what follows is the next request, or a body that is discarded.
static size_t end_at_head(struct connection *connection, struct slice bytes)
{
    struct http_request *request = &connection->web->request;
    struct error error;
    connection->web->request_began_us = 0;
    if (!http_request_has_body(request) &&
        http_request_read(request, bytes, &error) == HTTP_READY) {
        return request->size;
    }
    discard_begin(connection, NULL);
    return bytes.size;
}

// The head is complete. False: the reply was written, and the request ends.
static bool admit(struct connection *connection)
{
    struct web_side *web = connection->web;
    struct web_refusal refusal;
    enum web_step step = web_admit(connection, &refusal);
    web->admitted = step == WEB_ADMITTED;
    web->waits = step == WEB_WAITS;
    if (web->admitted || web->waits) {
        return true;
    }
    http_call_init(&web->call, &web->request);
    web->call.close |= http_request_has_body(&web->request);
    web->heads |= web->call.head;
    if (step == WEB_REFUSED) {
        write_problem(connection, refusal.status, &refusal.error);
        return false;
    }
    connection_output_begin(connection);
    http_face_page(face_of(connection), &web->call, 204, NULL, SLICE_EMPTY,
                   &connection->output.bytes);
    end_answer(connection);
    return false;
}

static enum http_result read_on(struct connection *connection, struct slice bytes,
                                struct error *error)
{
    struct http_request *request = &connection->web->request;
    enum http_result result = http_request_read(request, bytes, error);
    if (result == HTTP_MORE && connection->web->admitted && http_request_wants_continue(request)) {
        connection_output_begin(connection);
        http_reply_continue(&connection->output.bytes);
        connection_output_end(connection, 0);
    }
    return result;
}

static size_t take(struct connection *connection, struct slice bytes)
{
    struct web_side *web = connection->web;
    struct error error;
    if (!web->request_began_us) {
        web->request_began_us = server_elapsed(connection->server);
        web->admitted = false;
        connection->user = NULL; // until the credentials of this request are checked
    }
    enum http_result result = HTTP_MORE;
    if (web->waits) {
        http_request_moved(&web->request, bytes);
    } else {
        result = read_on(connection, bytes, &error);
    }
    if (result == HTTP_MORE && !web->admitted && http_request_in_body(&web->request)) {
        if (!admit(connection)) {
            return end_at_head(connection, bytes);
        }
        if (web->waits) {
            return 0;
        }
        result = read_on(connection, bytes, &error);
    }
    if (result == HTTP_MORE) {
        return 0;
    }
    if (result == HTTP_BROKEN) {
        return broken(connection, bytes, &error);
    }
    assert(web->admitted);
    size_t size = web->request.size;
    web->request_began_us = 0;
    answer(connection);
    return size;
}

static size_t needs(const struct connection *connection)
{
    return http_request_needs(&connection->web->request);
}

// ---------------------------------------------------------------------------------------------
// Replies of commands

static struct reply *begin(struct connection *connection, struct resp_writer *writer)
{
    (void)writer;
    return http_face_reply(connection->server->web.face, &connection->web->call,
                           &connection->output.bytes);
}

static uint64_t end(struct connection *connection, const struct resp_writer *writer)
{
    (void)writer;
    struct http_face *face = face_of(connection);
    http_face_answer(face, &connection->web->call, &connection->output.bytes);
    settle(connection);
    return http_face_errors(face);
}

// The codes of Redis for refusals before a command is parsed.
static const struct refusal_code {
    const char *code;
    unsigned status;
    enum status why;
} refusals[] = {
    { "NOAUTH", 401, STATUS_DENIED },
    { "WRONGPASS", 401, STATUS_DENIED },
    { "NOPERM", 403, STATUS_DENIED },
    { "ERR", 400, STATUS_INVALID },
};

static const struct refusal_code *find_refusal(const char *code)
{
    for (size_t i = 0; code && i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strcmp(refusals[i].code, code) == 0) {
            return &refusals[i];
        }
    }
    return NULL;
}

// The held replies will never be durable. One error replaces all of them and closes the connection,
// because it is unknown which reply belongs to which request. If one of the requests was a HEAD,
// the error has no body, which is valid for every method.
static void give_up(struct connection *connection, const struct error *error)
{
    struct web_side *web = connection->web;
    struct http_face *face = face_of(connection);
    if (web->given_up) {
        return;
    }
    web->given_up = true;
    if (connection->blocked) {
        blocked_end(connection->blocked); // its reply would follow the error
    }
    background_forget(connection);
    login_forget(connection);
    end_streams(connection);
    web->call = (struct http_call){ .close = true, .head = false, .http_1_0 = web->call.http_1_0 };
    if (web->heads) {
        http_face_page(face, &web->call, 503, NULL, SLICE_EMPTY, &connection->output.bytes);
    } else {
        http_face_refuse(face, &web->call, 0, error, &connection->output.bytes);
    }
    connection_drain(connection);
}

static void refuse(struct connection *connection, const char *code, const struct error *error)
{
    if (connection->output.failing) {
        give_up(connection, error);
        return;
    }
    const struct refusal_code *refusal = find_refusal(code);
    struct error said = *error;
    if (refusal) {
        said.status = refusal->why;
    }
    http_face_refuse(face_of(connection), &connection->web->call, refusal ? refusal->status : 0,
                     &said, &connection->output.bytes);
    settle(connection);
}

// ---------------------------------------------------------------------------------------------
// Timeouts

// How long a request may take to arrive. A client that sends a body steadily gets more time; a
// client that has not authenticated gets auth-timeout, as with RESP.
static int64_t patience(const struct connection *connection)
{
    const struct settings *settings = &connection->server->settings;
    int64_t patience_us = settings->http_request_timeout_us;
    if (connection->web->admitted) {
        return patience_us + (int64_t)(connection->input.size / BODY_RATE) * 1000000;
    }
    bool known = users_anybody(connection->server->users) || !settings->auth_timeout_us;
    return known || patience_us < settings->auth_timeout_us ? patience_us
                                                            : settings->auth_timeout_us;
}

// Whether the client sends a request too slowly, sends none, or does not read the reply.
static bool is_late(const struct connection *connection, int64_t now_us)
{
    const struct settings *settings = &connection->server->settings;
    const struct web_side *web = connection->web;
    if (connection_waits(connection) || connection->output.holds) {
        return false;
    }
    if (web->request_began_us) {
        return now_us - web->request_began_us > patience(connection);
    }
    return now_us - connection->active_us > (connection->draining
                                                 ? settings->http_request_timeout_us
                                                 : settings->http_idle_timeout_us);
}

// An idle connection is closed without a reply: if a request is on its way already, the client
// repeats it.
static bool write_late(struct connection *connection)
{
    struct web_side *web = connection->web;
    struct error error;
    if (!web->request_began_us || connection->draining || connection_unsent(connection)) {
        return false;
    }
    web->call = (struct http_call){ .close = true };
    (void)error_set(&error, STATUS_INVALID, "the request did not come in time");
    write_problem(connection, 408, &error);
    return true;
}

static void write_stopped(struct connection *connection)
{
    struct error error;
    connection->web->call.close = true;
    (void)error_set(&error, STATUS_BUSY, "the server stops; ask again");
    write_problem(connection, 503, &error);
}

const struct protocol protocol_http = {
    .name = "http",
    .full = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
            "Content-Length: 0\r\n\r\n",
    .open = open,
    .release = release,
    .close = end_streams,
    .take = take,
    .needs = needs,
    .begin = begin,
    .end = end,
    .refuse = refuse,
    .streams = streams,
    .finish_stream = finish_streams,
    .is_late = is_late,
    .write_late = write_late,
    .write_stopped = write_stopped,
};
