// SPDX-License-Identifier: MIT
// A page of metrics that is too large to be written at once. The numbers have been read; the text is
// written and sent in chunks, some in each turn of the loop and no more than the client reads, while
// other connections are served.
#ifndef SLUICE_SERVER_HTTP_METRICS_STREAM_H
#define SLUICE_SERVER_HTTP_METRICS_STREAM_H

#include "server/http/metrics_page.h"
#include "server/http/metrics_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;
struct http_call;
struct metrics_jobs;
struct metrics_stream;
struct server;

struct metrics_streams {
    struct metrics_stream *newest;
    size_t count;
};

enum {
    METRICS_STREAMS_MAX = 4, // at a time: each has a copy of all numbers
};

// Begins the reply, whose text begins with what is in `text->out`. Takes over the text and `jobs`.
// NO_MEMORY, or BUSY if there are as many streams as allowed: then it has taken over nothing.
MUST_USE enum status metrics_stream_begin(struct connection *connection,
                                          const struct http_call *call,
                                          const struct metrics_text *text,
                                          struct metrics_jobs *jobs, struct error *error);

// Writes some of each page, before the replies of a turn are sent.
void metrics_streams_go_on(struct server *server);

// Whether more can be written at once, after the replies of the turn were sent. Otherwise the clients
// have to read first.
bool metrics_streams_are_due(const struct server *server);

// Closes connections whose clients do not read.
void metrics_streams_sweep(struct server *server);

// The connection is closed, or its reply cannot be finished. Does nothing if there is no stream.
void metrics_stream_end(struct connection *connection);

#endif
