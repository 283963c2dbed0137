// SPDX-License-Identifier: MIT
// Serves the dashboard: the page at `/` and the files that it loads, from the program's memory.
// They contain no data and need no authentication. The page gets everything that it shows through
// the API, as its user.
#ifndef SLUICE_SERVER_HTTP_DASHBOARD_H
#define SLUICE_SERVER_HTTP_DASHBOARD_H

#include "base/slice.h"
#include "server/config/address.h"

#include <stdbool.h>

struct connection;
struct server;

// Whether a path belongs to the dashboard, even if there is no file. False when the dashboard is
// turned off.
bool dashboard_owns(const struct server *server, struct slice path);

// Replies to the connection's complete request for such a path.
void dashboard_page(struct connection *connection);

// The URL of the page for a browser on this machine. False: there is none, because the dashboard is
// turned off, was not built, or HTTP is served on a Unix socket only.
enum {
    DASHBOARD_URL_SIZE = ADDRESS_TEXT_SIZE + 16,
};
bool dashboard_url(const struct server *server, char url[DASHBOARD_URL_SIZE]);

#endif
