// SPDX-License-Identifier: MIT
// /metrics: metrics of the server and its jobs.
#ifndef SLUICE_SERVER_HTTP_METRICS_PAGE_H
#define SLUICE_SERVER_HTTP_METRICS_PAGE_H

#include <stdbool.h>

struct connection;
struct http_call;
struct metrics_text;
struct server;

// The content type of a format.
const char *metrics_type(bool open);

// Writes what follows the jobs, and the end of the page. Errors are in the status of the buffer.
void metrics_page_end(const struct server *server, struct metrics_text *text);

// Writes the page, or an error. The user is authenticated unless the page needs no authentication.
void metrics_page(struct connection *connection, const struct http_call *call);

#endif
