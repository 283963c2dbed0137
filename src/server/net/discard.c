// SPDX-License-Identifier: MIT
#include "server/net/discard.h"

#include "server/log/log.h"
#include "server/net/connection.h"
#include "server/server.h"

enum {
    PAUSE_MAX_US = 5000000, // without a byte
};

void discard_begin(struct connection *connection, const struct error *why)
{
    struct server *server = connection->server;
    const struct allowance *allowance = allowance_of(connection);
    if (why && why->status == STATUS_TOO_LARGE) {
        server->figures.oversized++;
        log_line(LOG_LEVEL_WARNING, "request too large; closing connection",
                 LOG_STRING("address", connection->address),
                 LOG_STRING("protocol", connection->protocol->name),
                 LOG_STRING("reason", error_sentence(why)));
    }
    if (!connection->discard.on) {
        connection->discard = (struct discard){
            .on = true,
            .left = allowance->discard_max,
            .until_us = server_elapsed(server) + allowance->discard_us,
        };
    }
    connection_drain(connection);
}

void discard_finish(struct connection *connection)
{
    if (!connection->discard.finished) {
        connection->discard.finished = true;
        transport_end(&connection->socket.transport);
    }
}

enum transport_result discard_some(struct connection *connection)
{
    struct server *server = connection->server;
    size_t size = 0;
    enum transport_result result = transport_discard(&connection->socket.transport, server->input,
                                                     allowance_of(connection)->read_max, &size);
    if (result != TRANSPORT_OK) {
        return result;
    }
    connection->active_us = server_elapsed(server);
    server->figures.input_bytes += size;
    (void)schedule_now(&server->schedule);
    if (size > connection->discard.left) {
        return TRANSPORT_CLOSED;
    }
    connection->discard.left -= size;
    return TRANSPORT_OK;
}

bool discard_is_late(const struct connection *connection, int64_t now_us)
{
    return connection->discard.on &&
           (now_us > connection->discard.until_us || now_us - connection->active_us > PAUSE_MAX_US);
}
