// SPDX-License-Identifier: MIT
// /metrics: metrics of the server and its jobs.
#ifndef SLUICE_SERVER_HTTP_METRICS_PAGE_H
#define SLUICE_SERVER_HTTP_METRICS_PAGE_H

struct connection;
struct http_call;

// Writes the page, or an error. The user is authenticated unless the page needs no authentication.
void metrics_page(struct connection *connection, const struct http_call *call);

#endif
