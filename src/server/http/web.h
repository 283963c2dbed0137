// SPDX-License-Identifier: MIT
// HTTP on a server: what all HTTP connections share, and the state of one of them.
#ifndef SLUICE_SERVER_HTTP_WEB_H
#define SLUICE_SERVER_HTTP_WEB_H

#include "base/sha256.h"
#include "faces/http/http.h"
#include "server/config/settings.h"
#include "server/http/gzip.h"
#include "server/http/session_page.h"

struct connection;
struct metrics_stream;
struct server;

enum {
    WEB_CORS_SIZE = ORIGIN_SIZE_MAX + 345,
};

struct web {
    struct http_face *face;
    struct http_limits limits;
    struct gzip gzip;
    uint64_t reloads; // number of reloads of the settings
};

// Allocates the HTTP face. The table of commands must exist.
MUST_USE enum status web_init(struct server *server, struct error *error);
void web_release(struct server *server);
// Applies the current settings.
void web_apply_settings(struct server *server);

// The state of a connection that uses HTTP.
struct web_side {
    struct http_request request;
    struct http_call call;          // the request that is being handled
    int64_t request_began_us;       // when its first byte arrived; 0: no request is being read
    bool admitted;                  // its head was accepted
    bool waits;                     // for the check of a password
    struct metrics_stream *metrics; // a page that is being sent in chunks, or NULL; owned
    bool heads;                     // one of the held requests is a HEAD, whose reply has no body
    bool given_up;                  // an error has replaced the held replies; nothing may follow it
    // The user of the last header Authorization, so that the same password is not checked again.
    const struct user *known;
    uint64_t known_since; // value of `reloads` at that time
    uint8_t known_digest[SHA256_SIZE];
    // why the login that the request waited for failed; status 0: it did not
    struct error login_error;
    uint64_t session; // id of the session that the request uses; 0: none
    struct session_cookie cookie;
    char cors[WEB_CORS_SIZE]; // headers of the reply for browsers
};

// Writes one of the server's own pages.
void web_page(struct connection *connection, const struct http_call *call);
// For those that are elsewhere: says it.
void web_write_page(struct connection *connection, const struct http_call *call, unsigned status,
                    const char *type, struct slice body);

#endif
