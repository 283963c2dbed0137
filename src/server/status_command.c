// SPDX-License-Identifier: MIT
// Q.SERVER: figures of the server for programs. (INFO is for people and for Redis tools.)
#include "api/table.h"
#include "server/process.h"
#include "server/redis/info.h"
#include "server/redis/session.h"
#include "server/redis/tables.h"
#include "server/server.h"

#include <unistd.h>

static void write_count(struct reply *reply, const char *name, uint64_t count)
{
    reply_text(reply, slice_from_cstr(name));
    reply_integer(reply, (int64_t)count);
}

static void write_store(struct reply *reply, const struct server *server)
{
    bool ready = server->store_state == STORE_READY;
    reply_map(reply, 3);
    reply_key(reply, "state");
    reply_text(reply, slice_from_cstr(info_store_state(server->store_state)));
    reply_key(reply, "reason");
    reply_text_or_null(reply,
                       ready ? SLICE_EMPTY : slice_from_cstr(error_sentence(&server->store_why)));
    reply_key(reply, "hint");
    reply_text_or_null(reply, slice_from_cstr(info_store_hint(server->store_state)));
    reply_end(reply);
}

static void write_memory(struct reply *reply, const struct memory *memory)
{
    reply_map(reply, 3);
    reply_key(reply, "state");
    reply_text(reply, memory_is_full(memory) ? SLICE("full") : SLICE("ready"));
    write_count(reply, "used", memory_live(memory));
    write_count(reply, "limit", memory->limit);
    reply_end(reply);
}

static void write_connections(struct reply *reply, const struct server *server)
{
    size_t blocked = 0, listening = 0;
    for (const struct connection *at = server->connections.newest; at; at = at->next) {
        blocked += connection_waits(at) && !connection_streams(at);
        listening += connection_subscribes(at) || connection_streams(at);
    }
    reply_map(reply, 4);
    write_count(reply, "open", server->connections.count);
    write_count(reply, "limit", server->connections.count_max);
    write_count(reply, "waiting", blocked);
    write_count(reply, "listening", listening);
    reply_end(reply);
}

static void write_journal(struct reply *reply, const struct server *server)
{
    struct store_figures figures;
    store_figures(server->store, &figures);
    reply_map(reply, 9);
    write_count(reply, "groups", figures.groups);
    write_count(reply, "group_bytes", figures.group_bytes);
    write_count(reply, "syncs", figures.syncs);
    reply_key(reply, "sync_max");
    reply_seconds(reply, (int64_t)figures.sync_us_max);
    write_count(reply, "groups_behind", figures.groups_behind);
    write_count(reply, "journal_bytes", figures.journal_bytes);
    write_count(reply, "base_bytes", figures.base_bytes);
    write_count(reply, "base_live_bytes", figures.base_live_bytes);
    write_count(reply, "volume_free_bytes", figures.volume_free_bytes);
    reply_end(reply);
}

static void write_loop(struct reply *reply, const struct server *server)
{
    const struct histogram *turns = &server->figures.turns;
    reply_map(reply, 5);
    write_count(reply, "turns", turns->count);
    write_count(reply, "turns_cut", server->schedule.turns_cut);
    reply_key(reply, "p50");
    reply_seconds(reply, histogram_quantile(turns, 500));
    reply_key(reply, "p99");
    reply_seconds(reply, histogram_quantile(turns, 990));
    reply_key(reply, "max");
    reply_seconds(reply, turns->max);
    reply_end(reply);
}

// The fields that only administrators see.
static void write_inside(struct reply *reply, const struct server *server)
{
    const struct server_figures *figures = &server->figures;
    reply_map(reply, 10);
    write_count(reply, "process_id", (uint64_t)getpid());
    reply_key(reply, "config_file");
    reply_text_or_null(reply, slice_from_cstr(server->settings.config));
    write_count(reply, "resident_bytes", process_resident_bytes());
    reply_key(reply, "store");
    write_journal(reply, server);
    reply_key(reply, "loop");
    write_loop(reply, server);
    write_count(reply, "commands", figures->commands);
    write_count(reply, "errors", figures->errors);
    write_count(reply, "input_bytes", figures->input_bytes);
    write_count(reply, "output_bytes", figures->output_bytes);
    write_count(reply, "connections_rejected", figures->refused);
    reply_end(reply);
}

static bool is_admin(const struct connection *connection)
{
    return connection->user && (connection->user->everywhere & RIGHT_ADMIN);
}

static enum status run_server(struct call *call, struct error *error)
{
    (void)error;
    const struct connection *connection = call->session;
    struct server *server = connection->server;
    struct reply *reply = call->reply;
    reply_map(reply, 10);
    reply_key(reply, "version");
    reply_text(reply, SLICE(SLUICE_VERSION));
    reply_key(reply, "time");
    reply_moment(reply, server_now(server));
    reply_key(reply, "uptime");
    reply_seconds(reply, server_elapsed(server) - server->began_elapsed_us);
    reply_key(reply, "stopping");
    reply_boolean(reply, server->stopping);
    reply_key(reply, "durability");
    reply_text(reply, slice_from_cstr(info_durability(server->settings.durability)));
    reply_key(reply, "store");
    write_store(reply, server);
    reply_key(reply, "memory");
    write_memory(reply, &server->memory);
    reply_key(reply, "connections");
    write_connections(reply, server);
    write_count(reply, "namespaces", server->namespaces.count);
    reply_key(reply, "inside");
    if (is_admin(connection)) {
        write_inside(reply, server);
    } else {
        reply_null(reply);
    }
    reply_end(reply);
    return STATUS_OK;
}

static const struct command commands[] = {
    {
        .name = "Q.SERVER",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        .run = run_server,
        .summary = "Shows figures of the server, for programs.",
        .details = "For every user who has logged in. `inside` is for administrators, and null for "
                   "all others. INFO has more, as text.",
        .replies =
            "The version, the time, for how many seconds the server has been up, and whether "
            "it stops; its durability; the state of the store (ready, busy, full, stuck, "
            "failed), and why; the bytes of memory in use and their limit, 0 for none; the "
            "connections; how many namespaces there are; and what happens inside.",
        EXAMPLES({ "Q.SERVER", "1# \"version\" => \"0.1.0\"\n2# \"time\" => (double) 1784000000.5\n"
                               "3# \"uptime\" => (double) 4711.25\n4# \"stopping\" => (false)\n"
                               "5# \"durability\" => \"always\"\n..." }),
    },
};

const struct command_table server_status_commands = TABLE(commands);
