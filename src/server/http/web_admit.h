// SPDX-License-Identifier: MIT
// Authentication of HTTP requests. It is done when the head of a request has arrived and before its
// body is read, so that an unauthenticated client cannot make the server keep much.
//
// A page in a browser can make that browser send requests anywhere, also to this machine and inside
// a firewall, with the rights of the browser's user. So two headers that a page cannot forge are
// checked: Origin, which names the site of the page, and, without users, Host, which is the name by
// which the page addresses this server.
#ifndef SLUICE_SERVER_HTTP_WEB_ADMIT_H
#define SLUICE_SERVER_HTTP_WEB_ADMIT_H

#include "base/status.h"

#include <stdbool.h>

struct connection;
struct http_request;

enum web_step {
    WEB_ADMITTED,
    WEB_REFUSED,
    WEB_WAITS,     // for a check of its password; the connection is resumed then
    WEB_PREFLIGHT, // a browser asks whether a page may ask, which it may
};

struct web_refusal {
    unsigned status; // of HTTP
    struct error error;
};

// Checks the head of the connection's request. Sets the connection's user, which is NULL on pages that
// need no authentication, and the headers for browsers that every reply to the request has.
MUST_USE enum web_step web_admit(struct connection *connection, struct web_refusal *refusal);

// Whether no page of another origin made the request, as far as its headers say. Sec-Fetch-Site says
// it as the browser sees it, also behind a proxy that changes Host.
bool web_is_own_page(const struct http_request *request);

#endif
