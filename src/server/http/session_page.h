// SPDX-License-Identifier: MIT
// Login of a page, and the cookie that a browser sends from then on (access/sessions.h):
//
//     POST /v1/session {"user":"ann","password":"..."}     204, Set-Cookie
//     DELETE /v1/session                                    204
//
// A browser adds the cookie to every request to this server, whichever page makes it. So the cookie
// is accepted only if a page of this server made the request: Sec-Fetch-Site and Origin must not
// say otherwise, and a request that may change something must have the header X-Sluice, which a
// page of another origin cannot add without a preflight request (CORS).
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

// What the reply to a login needs; kept in the connection.
struct session_cookie {
    char name[SESSION_COOKIE_NAME_SIZE];
    bool secure; // the page was loaded over TLS
};

// Whether a request begins or ends a session. Such a request needs no authentication.
bool session_is_asked(const struct http_request *request);
// Checks the head of such a request. The body is limited to what a name and a password need,
// because the client is not authenticated.
MUST_USE enum status session_check_head(const struct http_request *request, struct error *error);

// The session of the cookie in the connection's request; NULL if there is none or it has ended.
// `*stale`: the request has the cookie of a session that has ended.
struct session *session_of_request(struct connection *connection, bool *stale);
// Whether the cookie is accepted for this request: DENIED with a message.
MUST_USE enum status session_check_request(const struct connection *connection,
                                           struct error *error);

// Handle the requests.
void session_begin_page(struct connection *connection, const struct http_call *call);
void session_end_page(struct connection *connection, const struct http_call *call);

#endif
