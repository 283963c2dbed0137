// SPDX-License-Identifier: MIT
// The requests of a connection: reading them, within its allowance, and running them, as the schedule
// permits.
#include "server/log/log.h"
#include "server/net/connection.h"
#include "server/server.h"

#include <assert.h>

enum {
    READ_MIN = 16 << 10, // room for a read behind bytes that are kept: a record of TLS
    UNAUTHENTICATED_RECEIVED_MAX = 2 << 20, // of a client that has to authenticate, in all
};

// A connection waits if its client does not read its replies, or if as many of its replies are
// pending as its allowance permits.
bool connection_may_serve(const struct connection *connection)
{
    const struct server *server = connection->server;
    if (connection->protocol->is_parent) {
        return !connection->closed && !connection->draining && !connection_is_stalled(connection);
    }
    return !connection->closed && !connection->draining && !connection_waits(connection) &&
           !server->stopping && server->store_state != STORE_BUSY &&
           output_replies_pending(&connection->output) < allowance_of(connection)->pipeline_max &&
           !connection_is_stalled(connection);
}

// A connection that may not be served is read as well, so that the server sees when its client goes
// away, but only up to the allowance. Bytes to be discarded are read too.
void connection_update_reading(struct connection *connection)
{
    const struct server *server = connection->server;
    if (connection->parent) {
        return;
    }
    bool wanted = !connection->closed && !connection->input_ended &&
                  (!server->stopping || connection->protocol->is_parent) &&
                  (connection->discard.on ||
                   (!connection->draining &&
                    (connection_may_serve(connection) ||
                     connection->input.size < allowance_of(connection)->input_ahead_max)));
    socket_watch_read(&connection->socket, wanted);
}

// Runs the complete requests at the front of `bytes`; gives their size.
static size_t serve(struct connection *connection, struct slice bytes)
{
    struct schedule *schedule = &connection->server->schedule;
    size_t position = 0;
    while (connection_may_serve(connection) && schedule_goes_on(schedule) &&
           position < bytes.size) {
        int64_t began_us = schedule->now_us;
        size_t size = connection->protocol->take(connection, slice_sub(bytes, position, SIZE_MAX));
        if (size == 0) {
            break;
        }
        position += size;
        schedule_spend(schedule, size);
        if (schedule->now_us == began_us) {
            (void)schedule_now(schedule); // no command ran, or a very short one
        }
    }
    return position;
}

// A client that has ended its side gets its replies before the connection is closed. It may have
// gone altogether, which the server cannot see, so a command that waits is not waited for.
static void settle_end(struct connection *connection)
{
    if (!connection->input_ended || connection->closed || connection->scheduled.queued) {
        return;
    }
    if (connection->blocked || connection_streams(connection) || connection->protocol->is_parent) {
        connection_close(connection);
    } else if (connection_may_serve(connection)) {
        connection_drain(connection);
        connection_flush(connection);
    }
}

// When the connection's share or the turn is used up, it goes on after the others.
static void go_on_later(struct connection *connection)
{
    if (connection->protocol->run_streams && !connection->closed) {
        connection->protocol->run_streams(connection);
    }
    if (!schedule_goes_on(&connection->server->schedule) && connection_may_serve(connection)) {
        connection_resume(connection);
    }
    connection_update_reading(connection);
}

// The decoders refuse a request that is too large. This bound holds whatever a decoder does: no more
// than the allowance is kept of an incomplete request.
static void check_kept(struct connection *connection)
{
    if (connection->input.size < allowance_of(connection)->input_max ||
        !connection_may_serve(connection) || !schedule_goes_on(&connection->server->schedule)) {
        return;
    }
    log_line(LOG_LEVEL_WARNING, "incomplete request too large; closing connection",
             LOG_STRING("address", connection->address),
             LOG_STRING("protocol", connection->protocol->name),
             LOG_NUMBER("kept", connection->input.size));
    connection->server->figures.oversized++;
    connection_close(connection);
}

// Empty and denied requests cost little, but an unauthenticated client must not send them without
// end.
static void check_received(struct connection *connection)
{
    if (connection->closed || connection->draining ||
        connection->received_before <= UNAUTHENTICATED_RECEIVED_MAX) {
        return;
    }
    log_line(LOG_LEVEL_WARNING, "too much sent before authentication; closing connection",
             LOG_STRING("address", connection->address),
             LOG_NUMBER("received", connection->received_before));
    connection->server->figures.oversized++;
    connection_close(connection);
}

// Counts how often connections become stalled.
static void note_stalled(struct connection *connection)
{
    bool stalled = connection_is_stalled(connection);
    connection->server->figures.held += stalled && !connection->stalled;
    connection->stalled = stalled;
}

static void settle_served(struct connection *connection)
{
    check_kept(connection);
    check_received(connection);
    note_stalled(connection);
    go_on_later(connection);
}

static void serve_input(struct connection *connection)
{
    size_t taken = serve(connection, buffer_slice(&connection->input));
    buffer_consume(&connection->input, taken);
    settle_served(connection);
    settle_end(connection);
}

static void on_bytes(struct connection *connection, size_t size)
{
    connection->active_us = server_elapsed(connection->server);
    connection->server->figures.input_bytes += size;
    if (!connection->user && connection->protocol->is_session) {
        connection->received_before += size;
    }
}

// While nothing is kept of a connection, it is read into the server's block; the incomplete rest is
// kept then.
static void serve_fresh(struct connection *connection, size_t size)
{
    struct slice bytes = slice_make(connection->server->input, size);
    size_t taken = serve(connection, bytes);
    if (!connection->closed && taken < size) {
        buffer_append(&connection->input, slice_sub(bytes, taken, SIZE_MAX));
        if (connection->input.status) {
            connection_close(connection);
        }
    }
    settle_served(connection);
}

static enum transport_result read_some(struct connection *connection)
{
    struct server *server = connection->server;
    size_t size = 0;
    enum transport_result result;
    const struct allowance *allowance = allowance_of(connection);
    if (connection->input.size == 0) {
        assert(allowance->read_max <= SERVER_SCRATCH_SIZE);
        result = transport_read(&connection->socket.transport, server->input, allowance->read_max,
                                &size);
        if (result == TRANSPORT_OK) {
            on_bytes(connection, size);
            serve_fresh(connection, size);
        }
        return result;
    }
    size_t needs = connection->protocol->needs(connection);
    size_t room = needs > connection->input.size ? needs - connection->input.size : 0;
    room = room < READ_MIN ? READ_MIN : room > allowance->read_max ? allowance->read_max : room;
    char *at = buffer_reserve(&connection->input, room);
    if (!at) {
        return TRANSPORT_CLOSED;
    }
    result = transport_read(&connection->socket.transport, at, room, &size);
    if (result == TRANSPORT_OK) {
        buffer_commit(&connection->input, size);
        on_bytes(connection, size);
        serve_input(connection);
    }
    return result;
}

// A client certificate may name a user.
static void read_certificate(struct connection *connection)
{
    const struct server *server = connection->server;
    char name[TRANSPORT_NAME_SIZE];
    if (!server->settings.tls_client_users ||
        !transport_client_name(&connection->socket.transport, name)) {
        return;
    }
    connection->certified = users_find(server->users, slice_from_cstr(name));
    if (connection->certified && connection->protocol->is_session) {
        connection_set_user(connection, connection->certified);
    }
}

static bool shake_hands(struct connection *connection)
{
    enum transport_result result = transport_handshake(&connection->socket.transport);
    (void)schedule_now(&connection->server->schedule); // it may take long
    socket_watch_write(&connection->socket, result == TRANSPORT_AGAIN_WRITE);
    if (result == TRANSPORT_CLOSED || result == TRANSPORT_FAILED) {
        struct error why;
        transport_reason(&connection->socket.transport, &why);
        log_line(LOG_LEVEL_INFO, "TLS handshake failed", LOG_STRING("address", connection->address),
                 LOG_STRING("reason", error_sentence(&why)));
        connection_close(connection);
    }
    connection->socket.handshaking = result != TRANSPORT_OK;
    if (result == TRANSPORT_OK) {
        read_certificate(connection);
    }
    return result == TRANSPORT_OK;
}

static void read_all(struct connection *connection)
{
    if (connection->socket.handshaking && !shake_hands(connection)) {
        return;
    }
    enum transport_result result;
    do {
        result = connection->discard.on ? discard_some(connection) : read_some(connection);
    } while (result == TRANSPORT_OK && !connection->closed && !connection->discard.on &&
             transport_pending(&connection->socket.transport));
    if (result == TRANSPORT_AGAIN_WRITE) {
        socket_watch_write(&connection->socket, true);
    } else if (result == TRANSPORT_FAILED) {
        connection_close(connection);
    } else if (result == TRANSPORT_CLOSED && !connection->closed) {
        connection->input_ended = true;
        connection_update_reading(connection);
        settle_end(connection);
        if (connection->discard.on) {
            connection_flush(connection);
        }
    }
}

void connection_on_writable(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct connection *connection = context;
    if (connection->socket.handshaking) {
        (void)shake_hands(connection);
        return;
    }
    connection_flush(connection);
    if (!connection->closed && connection_may_serve(connection)) {
        connection_resume(connection);
    }
}

void connection_on_readable(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct connection *connection = context;
    struct schedule *schedule = &connection->server->schedule;
    if (connection->closed) {
        return;
    }
    if (schedule_is_free(schedule, &connection->scheduled)) {
        schedule_begin(schedule);
        read_all(connection);
        schedule_end(schedule, &connection->scheduled);
        return;
    }
    connection->read_pending = true;
    if (!connection->scheduled.queued) {
        schedule_add(schedule, &connection->scheduled);
    }
}

void connection_resume(struct connection *connection)
{
    if (connection->scheduled.queued || connection->closed) {
        return;
    }
    if (connection->parent) {
        connection->protocol->resume(connection);
        return;
    }
    bool has_streams_to_run = connection->protocol->has_streams_to_run &&
                              connection->protocol->has_streams_to_run(connection);
    if (connection->input.size == 0 && !connection->input_ended && !has_streams_to_run) {
        connection_update_reading(connection);
        return;
    }
    schedule_add(&connection->server->schedule, &connection->scheduled);
}

static struct connection *connection_of(struct schedule_entry *entry)
{
    return (struct connection *)((char *)entry - offsetof(struct connection, scheduled));
}

// Runs the requests that were received, then reads more.
static void go_on(struct connection *connection)
{
    struct schedule *schedule = &connection->server->schedule;
    bool to_read = connection->read_pending;
    if (connection->closed) {
        return;
    }
    // The journal may have no room for a request that is larger than the rest of this turn. It gets
    // a turn of its own, so that replies to other connections do not fail or wait with it.
    if (connection->input.size >= schedule->bytes_left && connection->server->connections.turn) {
        schedule_add_alone(schedule, &connection->scheduled);
        return;
    }
    connection->read_pending = false;
    schedule_begin(schedule);
    if (!connection->socket.handshaking) {
        serve_input(connection);
    }
    // If the share is used up by now, the loop reports again that the socket is readable.
    if (to_read && !connection->closed && connection->socket.watches_read &&
        schedule_goes_on(schedule)) {
        read_all(connection);
    }
    schedule_end(schedule, &connection->scheduled);
}

bool connections_resume(struct server *server)
{
    bool any = false;
    struct schedule_entry *entry;
    while ((entry = schedule_next(&server->schedule))) {
        any = true;
        go_on(connection_of(entry));
    }
    return any;
}

void connections_unschedule(struct server *server)
{
    while (schedule_take(&server->schedule)) {
        ;
    }
}
