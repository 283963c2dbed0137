// SPDX-License-Identifier: MIT
#include "server/http/dashboard.h"

#include "server/http/asset.h"
#include "server/net/listener.h"
#include "server/net/protocol.h"
#include "server/server.h"

enum {
    BODY_MAX = 4 << 20, // of an asset for a client that does not accept gzip
};

// The page may run only its own scripts, connect only to its own server, and not be shown in a
// frame. It treats names and data of jobs as text; if one became markup by mistake, its scripts
// would still not run.
#define POLICY                                                                                     \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; "                 \
    "form-action 'self'; frame-ancestors 'none'\r\n"                                               \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "X-Frame-Options: DENY\r\n"                                                                    \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                                  \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

static const struct asset missing = {
    .path = "/",
    .type = "text/plain; charset=utf-8",
    .etag = "\"no-dashboard\"",
};

static const char missing_text[] =
    "This sluiced was built without the dashboard: Node.js and npm were not there, or npm could "
    "not\n"
    "reach its registry. The HTTP API works: /v1/openapi.json describes it.\n";

bool dashboard_owns(const struct server *server, struct slice path)
{
    return server->settings.dashboard &&
           (slice_equal(path, SLICE("/")) || slice_starts_with(path, SLICE("/assets/")));
}

bool dashboard_url(const struct server *server, char url[DASHBOARD_URL_SIZE])
{
    char text[ADDRESS_TEXT_SIZE];
    for (size_t i = 0;
         server->settings.dashboard && assets.count && server_address(server, i, text); i++) {
        const struct listener *listener = &server->listeners[i];
        const char *colon = strrchr(text, ':');
        if (listener->protocol != &protocol_http || listener->address.kind == ADDRESS_UNIX ||
            !colon) {
            continue;
        }
        // An address that means all addresses of this machine, such as 0.0.0.0, is replaced by
        // localhost.
        struct slice host = slice_make(text, (size_t)(colon - text));
        host = slice_equal(host, SLICE("0.0.0.0")) || slice_equal(host, SLICE("[::]"))
                   ? SLICE("localhost")
                   : host;
        (void)snprintf(url, DASHBOARD_URL_SIZE, "%s://%.*s%s/", listener->secure ? "https" : "http",
                       SLICE_PRINT(host), colon);
        return true;
    }
    return false;
}

static const struct asset *find(struct slice path)
{
    for (size_t i = 0; i < assets.count; i++) {
        if (slice_equal(slice_from_cstr(assets.items[i].path), path)) {
            return &assets.items[i];
        }
    }
    return assets.count == 0 && slice_equal(path, SLICE("/")) ? &missing : NULL;
}

static void refuse(struct connection *connection, unsigned status, const struct error *error)
{
    connection->server->figures.errors++;
    http_face_refuse(connection->server->web.face, &connection->web->call, status, error,
                     &connection->output.bytes);
}

static void answer_asset(struct connection *connection, const struct asset *asset)
{
    struct server *server = connection->server;
    const struct http_call *call = &connection->web->call;
    struct slice packed = slice_make((const char *)asset->gzip, asset->gzip_size);
    struct http_file file = {
        .type = asset->type,
        .etag = slice_from_cstr(asset->etag),
        .body = packed,
        .packed = call->gzip && asset->gzip,
        .headers = asset->hashed
                       ? SLICE("Cache-Control: public, max-age=31536000, immutable\r\n" POLICY)
                       : SLICE("Cache-Control: no-cache\r\n" POLICY),
    };
    struct buffer content;
    buffer_init(&content, server->settings.allocator, BODY_MAX);
    enum status status = STATUS_OK;
    if (!asset->gzip) {
        file.body = slice_from_cstr(missing_text);
    } else if (!file.packed) {
        status = gzip_expand(packed, asset->size, &content);
        file.body = buffer_slice(&content);
    }
    if (status) {
        struct error error;
        (void)error_set(&error, STATUS_NO_MEMORY, "no memory for a file of the dashboard");
        refuse(connection, 503, &error);
    } else {
        http_face_file(server->web.face, call, &file, &connection->output.bytes);
    }
    buffer_release(&content);
}

void dashboard_page(struct connection *connection)
{
    struct web_side *web = connection->web;
    const struct http_request *request = &web->request;
    const struct asset *asset = find(request->path);
    struct error error;
    http_call_init(&web->call, request);
    if (!asset) {
        (void)error_set(&error, STATUS_NOT_FOUND, "the dashboard has no such file");
        refuse(connection, 404, &error);
    } else if (!web->call.head && !slice_equal(request->method, SLICE("GET"))) {
        (void)error_set(&error, STATUS_UNSUPPORTED, "here the method is one of GET, HEAD");
        web->call.more = SLICE("Allow: GET, HEAD\r\n");
        refuse(connection, 405, &error);
    } else {
        answer_asset(connection, asset);
    }
}
