// SPDX-License-Identifier: MIT
#include "server/grpc/grpc.h"

#include "base/json.h"
#include "server/grpc/session.h"
#include "server/grpc/stream.h"
#include "server/server.h"

#include <assert.h>

enum grpc_health grpc_health_of(const struct server *server)
{
    bool serves = !server->stopping && server->store_state != STORE_FAILED;
    return serves ? GRPC_HEALTH_SERVING : GRPC_HEALTH_NOT_SERVING;
}

enum status grpc_init(struct server *server, struct error *error)
{
    struct grpc *all = &server->grpc;
    const struct grpc_face_options options = {
        .allocator = server->settings.allocator,
        .commands = server->commands,
        .reply_max = server->settings.max_output / 2,
        .depth_max = JSON_DEPTH_MAX,
    };
    all->wakeful_last = &all->wakeful_first;
    all->health = GRPC_HEALTH_SERVING;
    buffer_init(&all->unpacked, server->settings.allocator, (size_t)server->settings.max_request);
    map_init(&all->leases, server->settings.allocator, server->seed, grpc_lease_key);
    return grpc_face_new(&options, &all->face)
               ? error_set(error, STATUS_NO_MEMORY, "no memory for gRPC")
               : STATUS_OK;
}

void grpc_release(struct server *server)
{
    struct grpc *all = &server->grpc;
    assert(!all->wakeful_first && !all->listeners);
    grpc_face_free(all->face);
    all->face = NULL;
    if (all->wakeful_last) {
        buffer_release(&all->unpacked);
        map_release(&all->leases);
    }
}

// A client that takes all it is sent gets a part in each turn, so that others have theirs.
bool grpc_send(struct server *server)
{
    struct grpc *all = &server->grpc;
    for (size_t left = all->wakeful_count; left > 0 && all->wakeful_first; left--) {
        struct grpc_session *session = all->wakeful_first;
        grpc_session_sleep(session);
        grpc_session_send(session);
    }
    bool more = all->wakeful_first || all->changed;
    all->changed = false;
    return more;
}

void grpc_sweep(struct server *server)
{
    for (struct connection *at = server->connections.newest_stream; at; at = at->next) {
        if (at->stream->tries_again) {
            at->stream->tries_again = false;
            connection_resume(at);
        }
    }
}
