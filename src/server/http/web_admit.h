// SPDX-License-Identifier: MIT
// Authentication of HTTP requests. It is done when the head of a request has arrived and before its
// body is read, so that an unauthenticated client cannot make the server buffer much.
//
// A web page can make a browser send requests to any address, also on this machine and inside a
// firewall, with the rights of the browser's user. So two headers that a page cannot forge are
// checked: Origin, which names the site of the page, and, without users, Host, which is the name
// that the page uses for this server.
#ifndef SLUICE_SERVER_HTTP_WEB_ADMIT_H
#define SLUICE_SERVER_HTTP_WEB_ADMIT_H

#include "base/status.h"

#include <stdbool.h>

struct connection;
struct http_request;

enum web_step {
    WEB_ADMITTED,
    WEB_REFUSED,
    WEB_WAITS,     // for the check of its password; then the connection is resumed
    WEB_PREFLIGHT, // the browser's CORS preflight request, which is allowed
};

struct web_refusal {
    unsigned status; // HTTP status
    struct error error;
};

// Checks the head of the connection's request. Sets the connection's user, which is NULL for pages
// that need no authentication, and the headers for browsers that every reply to the request has.
MUST_USE enum web_step web_admit(struct connection *connection, struct web_refusal *refusal);

// Whether, by its headers, no page of another origin made the request. Sec-Fetch-Site is the
// browser's own judgement, which is right even behind a proxy that changes Host.
bool web_is_own_page(const struct http_request *request);

#endif
