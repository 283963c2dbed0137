// SPDX-License-Identifier: MIT
// Streams that are told what happens by itself: Keepalive, the leases that its worker loses; Watch,
// whether the server serves.
#include "server/grpc/stream.h"
#include "server/server.h"

void grpc_listen(struct grpc_stream *stream)
{
    struct grpc *all = &stream->connection->server->grpc;
    if (stream->listens) {
        return;
    }
    stream->listens = true;
    stream->listener_previous = NULL;
    stream->listener_next = all->listeners;
    if (all->listeners) {
        all->listeners->listener_previous = stream;
    }
    all->listeners = stream;
}

void grpc_unlisten(struct grpc_stream *stream)
{
    struct grpc *all = &stream->connection->server->grpc;
    if (!stream->listens) {
        return;
    }
    stream->listens = false;
    struct grpc_stream *next = stream->listener_next, *previous = stream->listener_previous;
    *(previous ? &previous->listener_next : &all->listeners) = next;
    if (next) {
        next->listener_previous = previous;
    }
}

static bool concerns(const struct grpc_stream *stream, const struct ns *ns,
                     const struct event *event)
{
    const struct grpc_call *call = &stream->call;
    return call->method->act == GRPC_ACT_KEEPALIVE &&
           slice_equal(slice_make(call->stream_ns, call->stream_ns_size), ns_name(ns)) &&
           slice_equal(slice_make(call->worker, call->worker_size), event->worker);
}

void grpc_tell_event(struct server *server, const struct ns *ns, const struct event *event)
{
    if (!(event->channels & EVENT_TO_WORKER)) {
        return;
    }
    for (struct grpc_stream *at = server->grpc.listeners; at; at = at->listener_next) {
        if (concerns(at, ns, event) && !at->connection->draining) {
            connection_output_begin(at->connection);
            (void)grpc_face_lost(event, &at->connection->output.bytes);
            grpc_stream_check_unsent(at);
            connection_output_end(at->connection, 0);
        }
    }
}

static void tell_health(struct grpc_stream *stream, enum grpc_health health)
{
    bool watches = stream->call.method->act == GRPC_ACT_HEALTH_WATCH;
    if (!watches || stream->told == GRPC_HEALTH_SERVICE_UNKNOWN || stream->told == health) {
        return;
    }
    stream->told = health;
    connection_output_begin(stream->connection);
    grpc_health_write(health, &stream->connection->output.bytes);
    connection_output_end(stream->connection, 0);
}

void grpc_tell_health(struct server *server)
{
    enum grpc_health health = grpc_health_of(server);
    if (health == server->grpc.health) {
        return;
    }
    server->grpc.health = health;
    for (struct grpc_stream *at = server->grpc.listeners; at; at = at->listener_next) {
        tell_health(at, health);
    }
}

// ---------------------------------------------------------------------------------------------
// Events

static void write_event(struct connection *connection, uint64_t id, struct slice json)
{
    grpc_face_event(id, json, &connection->output.bytes);
    grpc_stream_check_unsent(connection->stream);
}

static void write_gap(struct connection *connection, uint64_t id)
{
    grpc_face_gap(id, &connection->output.bytes);
    grpc_stream_check_unsent(connection->stream);
}

static void end_events(struct connection *connection)
{
    const struct server *server = connection->server;
    if (server->store_state == STORE_FAILED) {
        grpc_stream_fail(connection->stream, GRPC_UNAVAILABLE, "the store has failed");
    } else if (server->stopping) {
        grpc_stream_fail(connection->stream, GRPC_UNAVAILABLE, "the server stops");
    } else {
        grpc_stream_fail(connection->stream, GRPC_PERMISSION_DENIED,
                         "the user may not read the namespace any more");
    }
}

static const struct event_form form = { write_event, write_gap, end_events };

void grpc_events_begin(struct grpc_stream *stream, struct slice message)
{
    struct connection *connection = stream->connection;
    struct grpc_fault fault = { 0 };
    connection->server->figures.commands++;
    if (grpc_face_decode(connection->server->grpc.face, &stream->call, message, &fault)) {
        grpc_stream_end(stream, &fault);
        return;
    }
    events_listen(connection, stream->call.ns, stream->call.query, &form);
    if (!stream->ended) {
        grpc_stream_greet(stream);
    }
}
