// SPDX-License-Identifier: MIT
// Who may ask over HTTP. It is looked at when the head of a request has come and before its body is
// read, so that somebody unknown cannot make the server keep much.
//
// A page in a browser can make that browser send requests anywhere, also to this machine and inside
// a firewall, in the name of whoever sits there. So two headers that a page cannot forge are looked
// at: Origin, which says whose page it is, and without users to log in Host, which says by what
// name the page knows this server.
#ifndef SLUICE_SERVER_WEB_ADMIT_H
#define SLUICE_SERVER_WEB_ADMIT_H

#include "base/status.h"

#include <stdbool.h>

struct connection;

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

// Looks at the head of the connection's request. Sets the connection's user, who is NULL on pages
// that are for everybody, and what every answer to the request has to tell a browser.
MUST_USE enum web_step web_admit(struct connection *connection, struct web_refusal *refusal);

#endif
