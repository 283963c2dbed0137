// SPDX-License-Identifier: MIT
#include "server/http/web.h"
#include "base/json.h"

#include "base/json_writer.h"
#include "server/http/metrics_page.h"
#include "server/redis/info.h"
#include "server/server.h"

enum {
    LINE_MAX_SIZE = 8 << 10,
    HEAD_MAX_SIZE = 32 << 10,
    HEADERS_MAX = 100,
    CHUNK_OVERHEAD_MAX = 64 << 10,
    READY_SIZE_MAX = 4 << 10,
};

// ---------------------------------------------------------------------------------------------
// Initialization and release

void web_apply_settings(struct server *server)
{
    server->web.limits = (struct http_limits){
        .line_max = LINE_MAX_SIZE,
        .head_max = HEAD_MAX_SIZE,
        .headers_max = HEADERS_MAX,
        .body_max = server->settings.max_request,
        .chunk_overhead_max = CHUNK_OVERHEAD_MAX,
    };
    server->web.reloads++;
    server->sessions.limits = (struct session_limits){
        .count_max = server->settings.max_sessions,
        .idle_us = server->settings.session_idle_timeout_us,
        .age_us = server->settings.session_timeout_us,
    };
}

enum status web_init(struct server *server, struct error *error)
{
    const struct http_face_options options = {
        .allocator = server->settings.allocator,
        .commands = server->commands,
        .reply_max = server->settings.max_output / 2,
        .depth_max = JSON_DEPTH_MAX,
        .version = SLUICE_VERSION,
        .gzip = gzip_append,
        .gzip_context = &server->web.gzip,
    };
    sessions_init(&server->sessions, server->settings.allocator, server->seed);
    web_apply_settings(server);
    gzip_init(&server->web.gzip, server->settings.allocator);
    return http_face_new(&options, &server->web.face)
               ? error_set(error, STATUS_NO_MEMORY, "no memory for HTTP")
               : STATUS_OK;
}

void web_release(struct server *server)
{
    http_face_free(server->web.face);
    sessions_release(&server->sessions);
    gzip_release(&server->web.gzip);
    server->web.face = NULL;
}

// ---------------------------------------------------------------------------------------------
// Pages

void web_write_page(struct connection *connection, const struct http_call *call, unsigned status,
                    const char *type, struct slice body)
{
    connection_output_begin(connection);
    http_face_page(connection->server->web.face, call, status, type, body,
                   &connection->output.bytes);
    connection_output_end(connection, 1);
    if (call->close) {
        connection_drain(connection);
    }
}

static void write_member(struct json_writer *writer, struct slice key, const char *text)
{
    json_write_key(writer, key);
    json_write_string(writer, slice_from_cstr(text));
}

static void write_state(const struct server *server, struct buffer *body)
{
    struct json_writer writer;
    enum store_state state = server->store_state;
    json_writer_init(&writer, body);
    json_write_begin_object(&writer);
    write_member(&writer, SLICE("state"), server->stopping ? "stopping" : info_store_state(state));
    if (!server->stopping && state != STORE_READY) {
        write_member(&writer, SLICE("reason"), error_sentence(&server->store_why));
        write_member(&writer, SLICE("hint"), info_store_hint(state));
    }
    if (server->draining) {
        json_write_key(&writer, SLICE("draining"));
        json_write_bool(&writer, true);
    }
    json_write_end_object(&writer);
    buffer_append(body, SLICE("\n"));
}

// Whether the server can serve commands. It can on a full disk, because workers can continue.
static void write_ready(struct connection *connection, const struct http_call *call)
{
    const struct server *server = connection->server;
    bool ready = !server->stopping && server->store_state != STORE_FAILED &&
                 server->store_state != STORE_STUCK;
    struct buffer body;
    buffer_init(&body, server->settings.allocator, READY_SIZE_MAX);
    write_state(server, &body);
    web_write_page(connection, call, ready ? 200 : 503, "application/json",
                   body.status ? SLICE("{}\n") : buffer_slice(&body));
    buffer_release(&body);
}

void web_page(struct connection *connection, const struct http_call *call)
{
    switch (call->route->page) {
    case HTTP_PAGE_HEALTH:
        web_write_page(connection, call, 200, "text/plain; charset=utf-8", SLICE("ok\n"));
        break;
    case HTTP_PAGE_READY:
        write_ready(connection, call);
        break;
    case HTTP_PAGE_METRICS:
        metrics_page(connection, call);
        break;
    case HTTP_PAGE_EVENTS:
        events_page(connection, call);
        break;
    case HTTP_PAGE_SESSION_BEGIN:
        session_begin_page(connection, call);
        break;
    case HTTP_PAGE_SESSION_END:
        session_end_page(connection, call);
        break;
    default:
        break;
    }
}
