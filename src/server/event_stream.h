// SPDX-License-Identifier: MIT
// Events of namespaces for those who listen over HTTP, as server-sent events:
//
//     GET /v1/ns/app/events?queue=mail
//
//     id: 1784000000000017
//     event: completed
//     data: {"event":"completed","when":1784000000.5,"jid":"bob","queue":"mail"}
//
// A namespace has a feed while somebody listens to it, and for some time after the last one has
// gone: with the events that a listener that comes back has missed (event_ring.h). Without a feed
// an event costs nothing.
//
// An event is said in the turn in which it happens, and so is held until that turn's changes are
// durable, as answers are.
#ifndef SLUICE_SERVER_EVENT_STREAM_H
#define SLUICE_SERVER_EVENT_STREAM_H

#include "base/map.h"
#include "engine/event.h"
#include "faces/http.h"

struct connection;
struct event_feed;
struct event_stream;
struct ns;
struct server;

struct event_feeds {
    struct map by_name;
    struct event_feed *newest; // a list of all
    size_t count;
    size_t streams;   // how many listen, to all of them
    uint64_t last_id; // no event of any of them has a higher number
    uint64_t told;    // events, each once for everybody who was told
};

void events_init(struct server *server);
void events_release(struct server *server);

// The page: refuses, or begins to tell. Who asks is known.
void events_page(struct connection *connection, const struct http_call *call);

// The engine of a namespace tells something.
void events_tell(struct server *server, const struct ns *ns, const struct event *event);

// Now and then: says that it is still there, ends those that may not or do not listen any more,
// and forgets what was kept long enough.
void events_sweep(struct server *server);

// The connection listens no more: without a word, or with the end of the page. It may not have
// listened at all.
void event_stream_end(struct connection *connection);
void event_stream_finish(struct connection *connection);

#endif
