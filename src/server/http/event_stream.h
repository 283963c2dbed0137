// SPDX-License-Identifier: MIT
// Events of namespaces over HTTP, as server-sent events:
//
//     GET /v1/ns/app/events?queue=mail
//
//     id: 1784000000000017
//     event: completed
//     data: {"event":"completed","when":1784000000.5,"jid":"bob","queue":"mail"}
//
// A namespace has a feed while a client listens to it, and for some time afterwards. The feed keeps
// the events that a returning listener has missed (event_ring.h). Without a feed an event costs
// nothing.
//
// An event is written in the turn in which it happens, so it is held until that turn's changes are
// durable, as replies are.
#ifndef SLUICE_SERVER_HTTP_EVENT_STREAM_H
#define SLUICE_SERVER_HTTP_EVENT_STREAM_H

#include "base/map.h"
#include "engine/event.h"
#include "faces/http/http.h"

struct connection;
struct event_feed;
struct event_stream;
struct ns;
struct server;

struct event_feeds {
    struct map by_name;
    struct event_feed *newest; // list of all feeds
    size_t count;
    size_t streams;   // number of listeners
    size_t of_jobs;   // of them, those that follow single jobs
    size_t of_ticks;  // of them, those that receive ticks
    uint64_t last_id; // no event of any feed has a higher number
    uint64_t told;    // events sent, counted once for each listener
};

// How listeners other than those of HTTP are told. Each appends to the connection's output.
struct event_form {
    // An event as a JSON object (host/event_json.h). A tick has the number 0.
    void (*event)(struct connection *connection, uint64_t id, struct slice json);
    // Events up to this number are no longer kept.
    void (*gap)(struct connection *connection, uint64_t id);
    // The user has lost the right to listen, or the store has failed: ends the stream and more.
    void (*end)(struct connection *connection);
};

void events_init(struct server *server);
void events_release(struct server *server);

// Another way to listen: `query` is that of the request of HTTP. Refuses, or begins the stream. The
// user is authenticated; `form` is borrowed for good.
void events_listen(struct connection *connection, struct slice ns, struct slice query,
                   const struct event_form *form);

// Handles the request: begins the stream, or refuses it. The user is authenticated.
void events_page(struct connection *connection, const struct http_call *call);

// Sends an event of the engine of a namespace to the listeners.
void events_publish(struct server *server, const struct ns *ns, const struct event *event);

// Sends a tick to the streams that asked for ticks. Called once a second.
void events_tick(struct server *server);

// Periodically: sends heartbeats, ends streams whose users lost their rights or whose clients do
// not read, and frees feeds that were kept long enough.
void events_sweep(struct server *server);

// Ends the connection's stream, if it has one: at once, or with the end of the HTTP body.
void event_stream_end(struct connection *connection);
void event_stream_finish(struct connection *connection);

#endif
