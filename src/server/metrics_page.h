// SPDX-License-Identifier: MIT
// /metrics: the server and its jobs in figures.
#ifndef SLUICE_SERVER_METRICS_PAGE_H
#define SLUICE_SERVER_METRICS_PAGE_H

struct connection;
struct http_call;

// Says it, or that he may not see it. Who asks is known, unless everybody may.
void metrics_page(struct connection *connection, const struct http_call *call);

#endif
