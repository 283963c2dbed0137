// SPDX-License-Identifier: MIT
#include "server/net/connection.h"

#include "server/access/logins.h"
#include "server/background.h"
#include "server/log/log.h"
#include "server/net/listener.h"
#include "server/redis/session.h"
#include "server/redis/transaction.h"
#include "server/server.h"

#include <assert.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------
// Life

static void link_open(struct server *server, struct connection *connection)
{
    struct connections *all = &server->connections;
    connection->next = all->newest;
    if (all->newest) {
        all->newest->previous = connection;
    }
    all->newest = connection;
    all->count++;
    all->reserved += connection->reserved;
    connection->id = ++all->id;
    crowd_enter(connection);
}

static void unlink_open(struct server *server, struct connection *connection)
{
    struct connections *all = &server->connections;
    struct connection **newest = connection->parent ? &all->newest_stream : &all->newest;
    if (connection->next) {
        connection->next->previous = connection->previous;
    }
    *(connection->previous ? &connection->previous->next : newest) = connection->next;
    if (connection->parent) {
        all->stream_count--;
        return;
    }
    crowd_leave(connection);
    all->count--;
    all->reserved -= connection->reserved;
}

// The transport and the protocol's part.
static enum status open_parts(struct connection *connection, const struct listener *listener,
                              int fd)
{
    enum status status = connection->protocol->open(connection);
    if (status) {
        return status;
    }
    struct transport *transport = &connection->socket.transport;
    if (!listener->secure) {
        transport_init(transport, fd);
    } else if (transport_init_tls(transport, connection->server->tls, fd)) {
        connection->protocol->release(connection);
        return STATUS_NO_MEMORY;
    }
    if (connection->protocol->is_parent) {
        static char h2[] = "h2";
        transport_set_protocol(transport, h2);
    }
    return STATUS_OK;
}

void connection_open(const struct listener *listener, int fd,
                     const struct sockaddr_storage *address, socklen_t size,
                     struct crowd_place place)
{
    struct server *server = listener->server;
    const struct settings *settings = &server->settings;
    struct connection *connection = mem_zalloc(settings->allocator, sizeof(*connection));
    if (!connection) {
        (void)close(fd);
        return;
    }
    connection->server = server;
    connection->allowances = &server->connections.allowances;
    connection->protocol = listener->protocol;
    connection->user = users_anybody(server->users);
    if (open_parts(connection, listener, fd)) {
        (void)close(fd);
        mem_free(settings->allocator, connection, sizeof(*connection));
        return;
    }
    if (address->ss_family != AF_UNIX) {
        socket_set_options(fd, settings->tcp_keepalive_us);
    }
    (void)address_format(address, size, connection->address);
    connection->began_us = connection->active_us = server_elapsed(server);
    buffer_init(&connection->input, settings->allocator, SIZE_MAX - 1);
    output_init(&connection->output, settings->allocator, settings->max_output);
    socket_open(
        &connection->socket, server->loop,
        &(struct socket_events){ connection_on_readable, connection_on_writable, connection });
    connection->socket.handshaking = listener->secure;
    connection->reserved = place.reserved;
    connection->source = place.source;
    link_open(server, connection);
    server->figures.connections++;
    log_line(LOG_LEVEL_DEBUG, "connection accepted", LOG_NUMBER("id", connection->id),
             LOG_STRING("address", connection->address),
             LOG_STRING("protocol", connection->protocol->name),
             LOG_STRING("tls", listener->secure ? "yes" : "no"));
    connection_update_reading(connection);
}

struct connection *connection_open_stream(struct connection *parent,
                                          const struct protocol *protocol)
{
    struct server *server = parent->server;
    struct connections *all = &server->connections;
    const struct settings *settings = &server->settings;
    struct connection *connection = mem_zalloc(settings->allocator, sizeof(*connection));
    if (!connection) {
        return NULL;
    }
    connection->server = server;
    connection->parent = parent;
    connection->allowances = &all->allowances;
    connection->protocol = protocol;
    connection->socket.transport.fd = -1;
    connection->source = parent->source;
    memcpy(connection->address, parent->address, sizeof(connection->address));
    if (protocol->open(connection)) {
        mem_free(settings->allocator, connection, sizeof(*connection));
        return NULL;
    }
    connection->began_us = connection->active_us = server_elapsed(server);
    buffer_init(&connection->input, settings->allocator, SIZE_MAX - 1);
    output_init(&connection->output, settings->allocator, settings->max_output);
    connection->next = all->newest_stream;
    if (all->newest_stream) {
        all->newest_stream->previous = connection;
    }
    all->newest_stream = connection;
    all->stream_count++;
    connection->id = ++all->id;
    return connection;
}

static void connection_free(struct connection *connection)
{
    struct server *server = connection->server;
    assert(connection->closed && !connection->output.holds);
    connection->protocol->release(connection);
    buffer_release(&connection->input);
    output_release(&connection->output);
    mem_free(server->settings.allocator, connection, sizeof(*connection));
}

// A closed connection is freed at the end of the turn in which its last hold is released. Sending
// what that hold held may be what closes it, so both may come together.
static void free_later(struct connection *connection)
{
    struct connections *all = &connection->server->connections;
    if (connection->output.holds == 0 && !connection->free_pending) {
        connection->free_pending = true;
        connection->next = all->dead;
        all->dead = connection;
    }
}

void connection_close(struct connection *connection)
{
    if (connection->closed) {
        return;
    }
    struct server *server = connection->server;
    connection->closed = true;
    if (connection->blocked) {
        blocked_end(connection->blocked);
    }
    presences_end(&connection->presences, true);
    background_forget(connection);
    login_forget(connection);
    if (connection->protocol->close) {
        connection->protocol->close(connection);
    }
    log_line(LOG_LEVEL_DEBUG, "connection closed", LOG_NUMBER("id", connection->id),
             LOG_STRING("address", connection->address),
             LOG_SECONDS("open", server_elapsed(server) - connection->began_us),
             LOG_STRING("last", connection->last_command ? connection->last_command : ""));
    unlink_open(server, connection);
    if (!connection->parent) {
        socket_close(&connection->socket);
        listeners_resume(server); // a descriptor is free
    }
    connection->parent = NULL; // it may be freed before this one
    free_later(connection);
}

void connections_free_closed(struct server *server)
{
    struct connection **at = &server->connections.dead;
    while (*at) {
        struct connection *connection = *at;
        if (connection->scheduled.queued || connection->output.in_turn) {
            at = &connection->next; // it is freed when the schedule or the turn has come to it
        } else {
            *at = connection->next;
            connection_free(connection);
        }
    }
}

void connection_drain(struct connection *connection)
{
    connection->draining = true;
    connection_update_reading(connection);
}

void connection_refuse(struct connection *connection)
{
    size_t sent;
    if (!connection->socket.transport.ssl && connection->output.bytes.size == 0) {
        (void)socket_send(&connection->socket, slice_from_cstr(connection->protocol->full), &sent);
    }
    connection_close(connection);
}

void connection_overflow(struct connection *connection)
{
    if (connection->closed || connection->overflowed) {
        return;
    }
    connection->server->figures.slow++;
    log_line(LOG_LEVEL_WARNING,
             connection->output.bytes.status == STATUS_NO_MEMORY
                 ? "out of memory for a reply; closing connection"
                 : "client does not read its replies; closing connection",
             LOG_STRING("address", connection->address),
             LOG_NUMBER("unread", connection_unsent(connection)));
    connection->overflowed = true;
    connection_drain(connection);
}

void connection_set_user(struct connection *connection, const struct user *user)
{
    connection->user = user;
    connection->received_before = 0;
    if (connection->protocol->user_changed) {
        connection->protocol->user_changed(connection);
    }
    pubsub_rights_changed(connection->server);
}

const struct user *connection_default_user(const struct connection *connection)
{
    const struct user *certified = connection->certified;
    return certified && !user_is_gone(certified) ? certified
                                                 : users_anybody(connection->server->users);
}

struct slice connection_host(const struct connection *connection)
{
    return address_host(slice_from_cstr(connection->address));
}

// ---------------------------------------------------------------------------------------------
// Invariants

void connection_check(const struct connection *connection)
{
    const struct output *output = &connection->output;
    const struct socket *socket = &connection->socket;
    // Exactly one protocol has its state here.
    assert((connection->resp != NULL) == (connection->protocol == &protocol_resp));
    assert((connection->web != NULL) == (connection->protocol == &protocol_http));
    assert((connection->grpc != NULL) == (connection->protocol == &protocol_h2));
    assert((connection->stream != NULL) == (connection->protocol == &protocol_grpc));
    // A command waits for one thing, and nothing waits on a closed connection.
    int waits = (connection->blocked != NULL) + connection->in_background +
                (connection->login != NULL) + connection_streams(connection);
    assert(waits <= 1);
    assert(!connection->blocked || connection->blocked->connection == connection);
    if (connection->closed) {
        assert(!waits && socket->transport.fd < 0);
        assert(!socket->watches_read && !socket->watches_write);
        assert(connection->free_pending == (output->holds == 0));
        return;
    }
    assert(!connection->free_pending);
    assert((connection->parent != NULL) == (connection->stream != NULL));
    assert((socket->transport.fd >= 0) == (connection->parent == NULL));
    assert(!connection->protocol->is_parent || (!output->in_turn && !output->holds));
    assert(!connection->overflowed || connection->draining);
    assert(!connection->discard.on || connection->draining);
    assert(!socket->handshaking || (output_end(output) == 0 && connection->input.size == 0));
    // No more is kept than a turn may add to what the allowance permits.
    assert(output->bytes.size <= output->bytes.size_max);
    assert(!connection->input.status || connection->input_ended);
    output_check(output);
}

size_t connections_count_blocked_streams(const struct server *server)
{
    size_t count = 0;
    for (const struct connection *at = server->connections.newest_stream; at; at = at->next) {
        count += at->blocked != NULL;
    }
    return count;
}

void connections_check(const struct server *server)
{
    const struct connections *all = &server->connections;
    size_t count = 0;
    size_t reserved = 0;
    for (const struct connection *at = all->newest; at; at = at->next) {
        assert(!at->closed && (!at->next || at->next->previous == at));
        connection_check(at);
        count++;
        reserved += at->reserved;
    }
    assert(count == all->count && reserved == all->reserved);
    count = 0;
    for (const struct connection *at = all->newest_stream; at; at = at->next) {
        assert(!at->closed && at->parent && !at->parent->closed);
        assert(!at->next || at->next->previous == at);
        connection_check(at);
        count++;
    }
    assert(count == all->stream_count);
}

// ---------------------------------------------------------------------------------------------
// Replies

void connection_output_begin(struct connection *connection)
{
    // A client that waited long for this reply has not been idle.
    connection->active_us = server_elapsed(connection->server);
    if (output_turn_begin(&connection->output)) {
        struct connections *all = &connection->server->connections;
        connection->turn_next = all->turn;
        all->turn = connection;
    }
}

void connection_output_end(struct connection *connection, uint32_t replies)
{
    // The replies within EXEC are parts of its one reply, which becomes an error if it is too large.
    if (transaction_runs(connection)) {
        return;
    }
    output_count(&connection->output, replies);
    if (connection->output.bytes.status) {
        connection_overflow(connection);
    }
}

struct connection *connections_next_of_turn(struct server *server)
{
    struct connection *connection = server->connections.turn;
    if (connection) {
        server->connections.turn = connection->turn_next;
        connection->turn_next = NULL;
    }
    return connection;
}

void connections_leave_turn(struct server *server)
{
    struct connection *connection;
    while ((connection = connections_next_of_turn(server))) {
        output_turn_leave(&connection->output);
    }
}

void connection_replies_settled(struct connection *connection)
{
    if (connection->closed) {
        free_later(connection);
    } else if (connection_may_serve(connection)) {
        connection_resume(connection);
    }
}

// If nothing is unread, the system sends the rest after the close. When the server stops, clients
// may still be sending.
static bool may_close(const struct connection *connection)
{
    return connection_is_delivered(connection) ||
           (connection_unsent(connection) == 0 && !connection->server->stopping &&
            !socket_has_unread(&connection->socket));
}

static void settle_drained(struct connection *connection)
{
    if (connection->discard.on && !connection->input_ended && !connection->server->stopping) {
        if (connection_unsent(connection) == 0) {
            discard_finish(connection);
        }
    } else if (connection->draining && may_close(connection)) {
        connection_close(connection);
    }
}

void connection_flush(struct connection *connection)
{
    if (connection->closed || connection->socket.handshaking) {
        return;
    }
    if (connection->parent) {
        connection->protocol->flush(connection);
        return;
    }
    struct output *output = &connection->output;
    enum transport_result result = TRANSPORT_OK;
    struct slice bytes = output_sendable(output);
    if (bytes.size) {
        size_t sent;
        result = socket_send(&connection->socket, bytes, &sent);
        output_sent(output, sent);
        connection->server->figures.output_bytes += sent;
        connection->active_us = server_elapsed(connection->server);
    }
    if (result == TRANSPORT_CLOSED || result == TRANSPORT_FAILED) {
        connection_close(connection);
        return;
    }
    output_compact(output);
    if (connection->protocol->sent) {
        connection->protocol->sent(connection);
    }
    socket_watch_write(&connection->socket, result != TRANSPORT_OK);
    if (result == TRANSPORT_OK) {
        settle_drained(connection);
    }
}

bool connection_is_delivered(const struct connection *connection)
{
    return connection_unsent(connection) == 0 && socket_undelivered(&connection->socket) == 0;
}

// Under TLS more bytes are on their way than were written; then it is a little less than it could
// be.
uint64_t connection_delivered(const struct connection *connection)
{
    uint64_t sent = output_sent_position(&connection->output);
    size_t queued = socket_undelivered(&connection->socket);
    return sent > queued ? sent - queued : 0;
}
