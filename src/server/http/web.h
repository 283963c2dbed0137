// SPDX-License-Identifier: MIT
// HTTP on a server: what its connections share, and what one of them has.
#ifndef SLUICE_SERVER_HTTP_WEB_H
#define SLUICE_SERVER_HTTP_WEB_H

#include "base/sha256.h"
#include "faces/http/http.h"
#include "server/config/settings.h"
#include "server/http/gzip.h"
#include "server/http/session_page.h"

struct connection;
struct event_stream;
struct server;

enum {
    WEB_CORS_SIZE = ORIGIN_SIZE_MAX + 345,
};

struct web {
    struct http_face *face;
    struct http_limits limits;
    struct gzip gzip;
    uint64_t reloads; // how often the settings were read
};

// With its first part the loop; the commands must be there.
MUST_USE enum status web_init(struct server *server, struct error *error);
void web_release(struct server *server);
// Takes over what the settings say now.
void web_apply_settings(struct server *server);

// What a connection that speaks HTTP has.
struct web_side {
    struct http_request request;
    struct http_call call;       // of the request that is being answered
    int64_t request_began_us;    // when the first byte of the one that is being read came; 0: none
    bool admitted;               // that one may be read on
    bool waits;                  // for a check of its password
    struct event_stream *stream; // of events, or NULL; owned
    bool heads;                  // there was a HEAD, whose answer has no body
    bool given_up;               // what was held was replaced by an error, and nothing follows
    // Who the last header Authorization was, so that its password is not checked again and again.
    const struct user *known;
    uint64_t known_since; // reloads
    uint8_t known_digest[SHA256_SIZE];
    struct error login_error; // why the login that has waited failed; status 0: it did not
    uint64_t session;         // the id of that which the request has come in; 0: none
    struct session_cookie cookie;
    char cors[WEB_CORS_SIZE]; // headers for a browser
};

// A page of the server's own.
void web_page(struct connection *connection, const struct http_call *call);
// For those that are elsewhere: says it.
void web_say_page(struct connection *connection, const struct http_call *call, unsigned status,
                  const char *type, struct slice body);

#endif
