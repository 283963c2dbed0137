// SPDX-License-Identifier: MIT
// The jobs that Next and StreamNext hand out. Those whose bytes have not left when the call ends are
// given back at once: the worker has not seen them. StreamNext counts the leases that it gave and
// that are alive.
#include "server/grpc/stream.h"
#include "server/log/log.h"
#include "server/server.h"

struct grpc_lease {
    struct grpc_lease *next, *previous; // of the stream
    struct grpc_stream *stream;
    uint64_t token;
    uint64_t end; // where its bytes end in the output
    bool mapped;  // counted in in_flight
    size_t ns_size, jid_size;
    char key[]; // the namespace, a zero, the jid
};

static struct slice key_of(const void *value)
{
    const struct grpc_lease *lease = value;
    return slice_make(lease->key, lease->ns_size + 1 + lease->jid_size);
}

struct slice grpc_lease_key(const void *lease)
{
    return key_of(lease);
}

static struct server *server_of(const struct grpc_stream *stream)
{
    return stream->connection->server;
}

static bool is_stream(const struct grpc_stream *stream)
{
    return stream->call.method->act == GRPC_ACT_NEXTS;
}

static bool hands_out(const struct grpc_stream *stream)
{
    return is_stream(stream) ||
           (stream->call.command && strcmp(stream->call.command->name, "Q.POP") == 0 &&
            stream->call.method->act == GRPC_ACT_COMMAND && stream->call.worker_size);
}

static void lease_free(struct grpc_lease *lease)
{
    struct grpc_stream *stream = lease->stream;
    struct server *server = server_of(stream);
    if (lease->mapped) {
        (void)map_remove(&server->grpc.leases, key_of(lease));
        stream->in_flight--;
    }
    if (lease->next) {
        lease->next->previous = lease->previous;
    }
    *(lease->previous ? &lease->previous->next : &stream->leases) = lease->next;
    mem_free(server->settings.allocator, lease, sizeof(*lease) + key_of(lease).size);
}

// Without memory for it the job is left to its lease, and is not counted.
static void lease_note(struct grpc_stream *stream, const struct grpc_task *task, uint64_t end)
{
    struct server *server = server_of(stream);
    const struct grpc_call *call = &stream->call;
    size_t key_size = (size_t)call->stream_ns_size + 1 + task->jid.size;
    struct grpc_lease *lease = mem_zalloc(server->settings.allocator, sizeof(*lease) + key_size);
    if (!lease) {
        return;
    }
    lease->stream = stream;
    lease->token = task->token;
    lease->end = end;
    lease->ns_size = call->stream_ns_size;
    lease->jid_size = task->jid.size;
    memcpy(lease->key, call->stream_ns, call->stream_ns_size);
    memcpy(lease->key + call->stream_ns_size + 1, task->jid.data, task->jid.size);
    lease->next = stream->leases;
    if (stream->leases) {
        stream->leases->previous = lease;
    }
    stream->leases = lease;
    if (is_stream(stream) && !map_insert(&server->grpc.leases, lease)) {
        lease->mapped = true;
        stream->in_flight++;
    }
}

void grpc_leases_note(struct grpc_stream *stream)
{
    const struct output *output = &stream->connection->output;
    if (!hands_out(stream)) {
        return;
    }
    struct slice frames = slice_sub(buffer_slice(&output->bytes), stream->answer_at, SIZE_MAX);
    struct grpc_tasks tasks;
    struct grpc_task task;
    grpc_tasks_init(&tasks, stream->call.method, frames);
    while (grpc_tasks_next(&tasks, &task)) {
        // Of Next all are in one frame, which is of use only as a whole.
        uint64_t behind = is_stream(stream) ? tasks.frames.size : 0;
        lease_note(stream, &task, output_end(output) - behind);
    }
}

// While nothing can be stored, the lease has to end by itself.
static void give_back(const struct grpc_lease *lease)
{
    struct server *server = server_of(lease->stream);
    const struct grpc_call *call = &lease->stream->call;
    struct slice name = slice_make(lease->key, lease->ns_size);
    struct ns *ns = namespaces_find(&server->namespaces, name);
    const struct holder holder = {
        .jid = slice_make(lease->key + lease->ns_size + 1, lease->jid_size),
        .worker = slice_make(call->worker, call->worker_size),
        .token = lease->token,
    };
    struct error error;
    if (!ns || server->store_state == STORE_STUCK || server->store_state == STORE_FAILED) {
        return;
    }
    ns_begin(ns, server_now(server));
    server->turn_changes = true;
    server->grpc.changed = true;
    // STALE and the like: the lease has ended meanwhile.
    if (!engine_return(ns->engine, server_now(server), &holder, &error)) {
        server->grpc.figures.returned++;
    }
    ns_touch(ns);
}

void grpc_leases_return(struct grpc_stream *stream, bool all)
{
    uint64_t sent = output_sent_position(&stream->connection->output);
    while (stream->leases) {
        struct grpc_lease *lease = stream->leases;
        if (lease->mapped) {
            (void)map_remove(&server_of(stream)->grpc.leases, key_of(lease));
            lease->mapped = false; // that it ends is no news
            stream->in_flight--;
        }
        if (all || lease->end > sent) {
            give_back(lease);
        }
        lease_free(lease);
    }
}

void grpc_leases_sent(struct grpc_stream *stream)
{
    while (stream->leases && !is_stream(stream)) {
        lease_free(stream->leases);
    }
}

void grpc_lease_ended(struct server *server, const struct ns *ns, struct slice jid)
{
    char key[2 * ENGINE_NAME_SIZE_MAX + 1];
    struct slice name = ns_name(ns);
    if (server->grpc.leases.count == 0 || name.size + 1 + jid.size > sizeof(key)) {
        return;
    }
    memcpy(key, name.data, name.size);
    key[name.size] = '\0';
    memcpy(key + name.size + 1, jid.data, jid.size);
    struct grpc_lease *lease =
        map_find(&server->grpc.leases, slice_make(key, name.size + 1 + jid.size));
    if (lease) {
        struct grpc_stream *stream = lease->stream;
        lease_free(lease);
        connection_resume(stream->connection);
    }
}
