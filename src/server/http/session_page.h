// SPDX-License-Identifier: MIT
// Logging in from a page, and the cookie that a browser then sends (access/sessions.h):
//
//     POST /v1/session {"user":"ann","password":"..."}     204, Set-Cookie
//     DELETE /v1/session                                    204
//
// A browser adds the cookie to each request that any page makes it send to this server. So a
// request counts as the user's only if a page of this server made it: Sec-Fetch-Site and Origin must
// not say otherwise, and a request that may change something has the header X-Sluice, which a page
// of another origin cannot add without being asked about it first (CORS).
#ifndef SLUICE_SERVER_HTTP_SESSION_PAGE_H
#define SLUICE_SERVER_HTTP_SESSION_PAGE_H

#include "base/status.h"

#include <stdbool.h>

struct connection;
struct http_call;
struct http_request;
struct session;

enum {
    SESSION_COOKIE_NAME_SIZE = 16, // "sluice_65535", with the zero behind it
};

// Of a connection: what the answer to a login needs.
struct session_cookie {
    char name[SESSION_COOKIE_NAME_SIZE];
    bool secure; // the page was loaded over TLS
};

// Whether a request begins or ends a session, which needs no login.
bool session_is_asked(const struct http_request *request);
// Whether the head of such a request will do: a password has few bytes, and a client that is not
// known yet sends no more.
MUST_USE enum status session_check_head(const struct http_request *request, struct error *error);

// The session whose cookie the connection's request has; NULL: none that goes on. `*stale` tells
// whether it had a cookie.
struct session *session_of_request(struct connection *connection, bool *stale);
// Whether the cookie counts for this request: DENIED with a sentence.
MUST_USE enum status session_check_request(const struct connection *connection,
                                           struct error *error);

// The pages.
void session_begin_page(struct connection *connection, const struct http_call *call);
void session_end_page(struct connection *connection, const struct http_call *call);

#endif
