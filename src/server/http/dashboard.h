// SPDX-License-Identifier: MIT
// The dashboard: its page at `/` and the files that the page loads, from the program's own memory.
// They hold no data and are for everyone who can connect. The page reads all that it shows through
// the API, as its user.
#ifndef SLUICE_SERVER_HTTP_DASHBOARD_H
#define SLUICE_SERVER_HTTP_DASHBOARD_H

#include "base/slice.h"
#include "server/config/address.h"

#include <stdbool.h>

struct connection;
struct server;

// Whether a path belongs to the dashboard, whatever is there. Never, when it is turned off.
bool dashboard_owns(const struct server *server, struct slice path);

// Answers the connection's request for such a path, which is whole.
void dashboard_page(struct connection *connection);

// Where a browser on this machine finds the page. False: nowhere, as it is turned off, was not built,
// or HTTP is served on a Unix socket only.
enum {
    DASHBOARD_URL_SIZE = ADDRESS_TEXT_SIZE + 16,
};
bool dashboard_url(const struct server *server, char url[DASHBOARD_URL_SIZE]);

#endif
