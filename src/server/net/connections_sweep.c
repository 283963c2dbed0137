// SPDX-License-Identifier: MIT
// Connections that are closed, now and then, for their time or their memory.
#include "server/log/log.h"
#include "server/net/connection.h"
#include "server/server.h"

enum {
    REST_SIZE = 4 << 10, // what a buffer of a connection that rests may keep
    RELIEF_COUNT = 16,   // connections closed at a time for want of memory
};

// ---------------------------------------------------------------------------------------------
// When memory is full

static size_t buffers_size(const struct connection *connection)
{
    return connection->input.capacity + connection->output.bytes.capacity;
}

static void trim(struct buffer *buffer)
{
    if (buffer->size == 0 && buffer->capacity > REST_SIZE) {
        buffer_release(buffer);
    }
}

// Adds up how much the buffers of a list of connections take, and finds the one that takes most.
static size_t buffers_of_list(struct connection *first, struct connection **largest)
{
    size_t size = 0;
    for (struct connection *at = first; at; at = at->next) {
        trim(&at->input);
        output_trim(&at->output, REST_SIZE);
        size += buffers_size(at);
        if (!at->overflowed && (!*largest || buffers_size(at) > buffers_size(*largest))) {
            *largest = at;
        }
    }
    return size;
}

// Says how much the buffers of all connections take, and which one takes most.
static size_t buffers_of_all(struct server *server, struct connection **largest)
{
    *largest = NULL;
    return buffers_of_list(server->connections.newest, largest) +
           buffers_of_list(server->connections.newest_stream, largest);
}

void connections_relieve(struct server *server, size_t size_max)
{
    struct connection *largest;
    size_t size = buffers_of_all(server, &largest);
    for (int closed = 0; closed < RELIEF_COUNT && size > size_max && largest; closed++) {
        size_t freed = buffers_size(largest);
        log_line(LOG_LEVEL_WARNING, "memory full: connection closed",
                 LOG_STRING("address", largest->address), LOG_NUMBER("buffers", freed),
                 LOG_NUMBER("all_buffers", size));
        connection_close(largest);
        size = buffers_of_all(server, &largest);
    }
}

// ---------------------------------------------------------------------------------------------
// Now and then

static void end_late(struct connection *connection)
{
    if (!connection->protocol->write_late || !connection->protocol->write_late(connection)) {
        connection_close(connection);
    }
}

void connections_sweep(struct server *server)
{
    int64_t now_us = server_elapsed(server);
    struct connection *next;
    for (struct connection *at = server->connections.newest; at; at = next) {
        next = at->next;
        int64_t idle_us = now_us - at->active_us;
        bool late = at->socket.handshaking || (at->protocol->is_session && !at->user && !at->login);
        if (late && server->settings.auth_timeout_us &&
            now_us - at->began_us > server->settings.auth_timeout_us) {
            log_line(LOG_LEVEL_INFO, "authentication timed out",
                     LOG_STRING("address", at->address));
            server->figures.auth_timeouts++;
            connection_close(at);
        } else if (crowd_is_late(at, now_us)) {
            log_line(LOG_LEVEL_INFO, "reserved connection without an administrator; closing it",
                     LOG_STRING("address", at->address));
            server->figures.evicted++;
            connection_refuse(at);
        } else if (discard_is_late(at, now_us)) {
            connection_close(at);
        } else if (at->protocol->is_late(at, now_us)) {
            end_late(at);
        } else if (at->draining) {
            connection_flush(at); // it may have been told all by now
        } else if (idle_us > 1000000) {
            trim(&at->input);
            output_trim(&at->output, REST_SIZE);
        }
    }
}
