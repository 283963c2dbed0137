// SPDX-License-Identifier: MIT
// INFO: figures of the server, in sections of lines as in Redis.
#include "server/redis/info.h"

#include "engine/measure/metrics.h"
#include "server/log/log.h"
#include "server/process.h"
#include "server/redis/answer.h"
#include "server/redis/session.h"
#include "server/redis/tables.h"

#include "base/num.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    INFO_MAX = 64 << 20,
};

struct section {
    const char *name;
    bool by_default;
    void (*append)(const struct connection *connection, struct buffer *out);
};

static void line_count(struct buffer *out, const char *name, uint64_t value)
{
    buffer_printf(out, "%s:%llu\r\n", name, (unsigned long long)value);
}

static void append_server(const struct connection *connection, struct buffer *out)
{
    struct server *server = connection->server;
    struct utsname system = { 0 };
    (void)uname(&system);
    int64_t uptime_s = (server_elapsed(server) - server->began_elapsed_us) / 1000000;
    buffer_printf(out,
                  "redis_version:" REDIS_VERSION "\r\n"
                  "redis_mode:standalone\r\n"
                  "server_name:sluice\r\n"
                  "sluice_version:" SLUICE_VERSION "\r\n"
                  "os:%s %s %s\r\n"
                  "arch_bits:%zu\r\n"
                  "process_id:%d\r\n",
                  system.sysname, system.release, system.machine, 8 * sizeof(void *), getpid());
    char address[ADDRESS_TEXT_SIZE];
    const char *port = server_address(server, 0, address) ? strrchr(address, ':') : NULL;
    buffer_printf(out, "tcp_port:%s\r\n", port && address[0] != 'u' ? port + 1 : "0");
    line_count(out, "server_time_usec", (uint64_t)server_now(server));
    buffer_printf(out, "clock_wall_offset_usec:%lld\r\n", (long long)server->clock.difference_us);
    line_count(out, "clock_steps", server->clock.steps);
    line_count(out, "clock_steps_ignored", server->clock.returned);
    line_count(out, "clock_steps_followed", server->clock.followed);
    line_count(out, "uptime_in_seconds", (uint64_t)uptime_s);
    line_count(out, "uptime_in_days", (uint64_t)uptime_s / 86400);
    buffer_printf(out, "config_file:%s\r\n", server->settings.config);
}

static void append_clients(const struct connection *connection, struct buffer *out)
{
    const struct server *server = connection->server;
    size_t blocked = 0, listening = 0, held = 0, unauthenticated = 0;
    for (const struct connection *at = server->connections.newest; at; at = at->next) {
        blocked += connection_waits(at) && !connection_streams(at);
        listening += connection_subscribes(at) || connection_streams(at);
        held += connection_is_stalled(at);
        unauthenticated += !at->user;
    }
    line_count(out, "connected_clients", server->connections.count);
    line_count(out, "maxclients", server->connections.count_max);
    line_count(out, "blocked_clients", blocked);
    line_count(out, "grpc_calls", server->connections.stream_count);
    line_count(out, "blocked_grpc_calls", connections_count_blocked_streams(server));
    line_count(out, "pubsub_clients", listening);
    line_count(out, "reserved_clients", server->connections.reserved);
    line_count(out, "held_clients", held);
    line_count(out, "scheduled_clients", schedule_count(&server->schedule));
    line_count(out, "unauthenticated_clients", unauthenticated);
}

static void append_memory(const struct connection *connection, struct buffer *out)
{
    const struct memory *memory = &connection->server->memory;
    struct rusage usage = { 0 };
    (void)getrusage(RUSAGE_SELF, &usage);
    line_count(out, "used_memory", memory_live(memory));
    line_count(out, "used_memory_anonymous", memory_resident(memory));
    line_count(out, "used_memory_rss", process_resident_bytes());
    line_count(out, "used_memory_peak", (uint64_t)usage.ru_maxrss * 1024);
    line_count(out, "maxmemory", memory->limit);
    buffer_printf(out, "memory_state:%s\r\n", memory_is_full(memory) ? "full" : "ready");
    buffer_printf(out, "maxmemory_policy:noeviction\r\n");
}

static const char *const durability_names[] = {
    [STORE_ALWAYS] = "always",
    [STORE_INTERVAL] = "interval",
    [STORE_NEVER] = "never",
};

static const struct {
    const char *name, *hint;
} states[] = {
    [STORE_READY] = { "ready", "" },
    [STORE_FULL] = { "full",
                     "no new jobs are accepted; work on the present ones goes on: let workers "
                     "drain them, cancel or delete jobs, or make space "
                     "(docs/operations.md, When the disk is full)" },
    [STORE_STUCK] = { "stuck", "nothing is written until there is space: make space on the volume "
                               "(docs/operations.md, When the disk is full)" },
    [STORE_BUSY] = { "busy", "requests wait until the disk has caught up" },
    [STORE_FAILED] = { "failed", "nothing is written any more: check the disk, then restart "
                                 "(docs/operations.md, When a write or a sync fails)" },
};

const char *info_durability(enum store_durability durability)
{
    return durability_names[durability];
}

const char *info_store_state(enum store_state state)
{
    return states[state].name;
}

const char *info_store_hint(enum store_state state)
{
    return states[state].hint;
}

static void append_persistence(const struct connection *connection, struct buffer *out)
{
    const struct server *server = connection->server;
    struct store_figures figures;
    store_figures(server->store, &figures);
    line_count(out, "loading", 0);
    buffer_printf(out, "aof_enabled:1\r\naof_last_write_status:%s\r\n",
                  server->store_state == STORE_FAILED ? "err" : "ok");
    buffer_printf(out, "durability:%s\r\nstore_state:%s\r\n",
                  info_durability(server->settings.durability),
                  info_store_state(server->store_state));
    line_count(out, "draining", server->draining);
    if (server->store_state != STORE_READY) {
        buffer_printf(out, "store_reason:%s\r\nstore_hint:%s\r\n",
                      error_sentence(&server->store_why), info_store_hint(server->store_state));
    }
    line_count(out, "store_group", server->namespaces.group);
    line_count(out, "store_durable_group", store_durable(server->store));
    line_count(out, "store_groups", figures.groups);
    line_count(out, "store_group_bytes", figures.group_bytes);
    line_count(out, "store_syncs", figures.syncs);
    line_count(out, "store_sync_usec", figures.sync_us);
    line_count(out, "store_sync_usec_max", figures.sync_us_max);
    line_count(out, "store_checkpoints", figures.checkpoints);
    line_count(out, "store_records_checkpointed", figures.records_checkpointed);
    line_count(out, "store_checkpoint_usec_max", figures.checkpoint_us_max);
    line_count(out, "store_groups_behind", figures.groups_behind);
    line_count(out, "store_compactions", figures.compactions);
    line_count(out, "store_base_bytes", figures.base_bytes);
    line_count(out, "store_base_live_bytes", figures.base_live_bytes);
    line_count(out, "store_volume_free_bytes", figures.volume_free_bytes);
    line_count(out, "store_journal_bytes", figures.journal_bytes);
    line_count(out, "backup_in_progress", server->background.busy);
}

static void append_stats(const struct connection *connection, struct buffer *out)
{
    const struct server *server = connection->server;
    const struct server_figures *figures = &server->figures;
    line_count(out, "total_connections_received", figures->connections);
    line_count(out, "rejected_connections", figures->refused);
    line_count(out, "rejected_connections_per_address", figures->refused_address);
    line_count(out, "rejected_logins_per_user", figures->refused_user);
    line_count(out, "evicted_connections", figures->evicted);
    line_count(out, "total_commands_processed", figures->commands);
    line_count(out, "total_error_replies", figures->errors);
    line_count(out, "total_net_input_bytes", figures->input_bytes);
    line_count(out, "total_net_output_bytes", figures->output_bytes);
    line_count(out, "client_output_buffer_limit_disconnections", figures->slow);
    line_count(out, "unread_replies_holds", figures->held);
    line_count(out, "oversized_request_disconnections", figures->oversized);
    line_count(out, "auth_timeout_disconnections", figures->auth_timeouts);
    line_count(out, "turns", figures->turns.count);
    line_count(out, "turns_cut", server->schedule.turns_cut);
    line_count(out, "slow_commands", server->slow_commands.total);
    line_count(out, "messages_published", figures->published);
    line_count(out, "pubsub_channels", server->pubsub.channel_count);
    line_count(out, "pubsub_patterns", server->pubsub.pattern_count);
    line_count(out, "push_received_bytes", server->push.received);
    struct log_figures log;
    log_figures(&log);
    line_count(out, "log_lines_written", log.written);
    line_count(out, "log_lines_suppressed", log.suppressed);
    line_count(out, "log_lines_dropped", log.dropped);
}

static void append_replication(const struct connection *connection, struct buffer *out)
{
    (void)connection;
    buffer_printf(out, "role:master\r\nconnected_slaves:0\r\n");
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void append_cpu(const struct connection *connection, struct buffer *out)
{
    (void)connection;
    struct rusage all = { 0 }, thread = { 0 };
    (void)getrusage(RUSAGE_SELF, &all);
    (void)getrusage(RUSAGE_THREAD, &thread);
    buffer_printf(out,
                  "used_cpu_sys:%.6f\r\nused_cpu_user:%.6f\r\nused_cpu_sys_main_thread:%.6f\r\n"
                  "used_cpu_user_main_thread:%.6f\r\n",
                  seconds_of(all.ru_stime), seconds_of(all.ru_utime), seconds_of(thread.ru_stime),
                  seconds_of(thread.ru_utime));
}

static bool may_see(const struct connection *connection, const struct ns *ns)
{
    return connection->user && user_may(connection->user, ns_name(ns), RIGHT_READ);
}

// Appends a name as the value of a pair: characters that could be read as the end of the value
// become '?'.
static void append_name(struct buffer *out, struct slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        buffer_append_char(out, (char)(c <= ' ' || c == ',' || c == '=' || c == 127 ? '?' : c));
    }
}

static void append_namespaces(const struct connection *connection, struct buffer *out)
{
    size_t index = 0;
    for (const struct ns *ns = connection->server->namespaces.first; ns; ns = ns->next) {
        if (!may_see(connection, ns)) {
            continue;
        }
        buffer_printf(out, "namespace%zu:name=", index++);
        append_name(out, ns_name(ns));
        for (int state = 0; state < JOB_STATE_COUNT; state++) {
            const struct count_filter filter = { .has_state = true,
                                                 .state = (enum job_state)state };
            buffer_printf(out, ",%s=%zu", job_state_name(filter.state),
                          engine_count(ns->engine, &filter));
        }
        buffer_append(out, SLICE("\r\n"));
    }
}

static void append_keyspace(const struct connection *connection, struct buffer *out)
{
    size_t count = 0;
    for (const struct ns *ns = connection->server->namespaces.first; ns; ns = ns->next) {
        count += may_see(connection, ns);
    }
    if (count) {
        buffer_printf(out, "db0:keys=%zu,expires=0,avg_ttl=0\r\n", count);
    }
}

static const struct section sections[] = {
    { "Server", true, append_server },     { "Clients", true, append_clients },
    { "Memory", true, append_memory },     { "Persistence", true, append_persistence },
    { "Stats", true, append_stats },       { "Replication", true, append_replication },
    { "CPU", true, append_cpu },           { "Namespaces", false, append_namespaces },
    { "Keyspace", true, append_keyspace },
};

// ---------------------------------------------------------------------------------------------

struct info_arguments {
    struct slices sections;
};

static const struct argument info_takes[] = {
    OPTIONAL_REST(info_arguments, sections, TEXT, "section",
                  "server, clients, memory, persistence, stats, replication, cpu, namespaces, "
                  "keyspace; all, everything; default (default)"),
};

static bool is_wanted(const struct section *section, struct slices names)
{
    for (size_t i = 0; i < names.count; i++) {
        struct slice name = names.items[i];
        if (word_is(name, section->name) || word_is(name, "all") || word_is(name, "everything") ||
            (section->by_default && word_is(name, "default"))) {
            return true;
        }
    }
    return names.count == 0 && section->by_default;
}

static enum status run_info(struct call *call, struct error *error)
{
    const struct connection *connection = call->session;
    const struct info_arguments *given = call->arguments;
    struct buffer out;
    buffer_init(&out, connection->server->settings.allocator, INFO_MAX);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (is_wanted(&sections[i], given->sections)) {
            buffer_printf(&out, "%s# %s\r\n", out.size ? "\r\n" : "", sections[i].name);
            sections[i].append(connection, &out);
        }
    }
    enum status status = out.status;
    if (status) {
        (void)error_set(error, status, "INFO: %s", status_sentence(status));
    } else {
        reply_prose(call->reply, buffer_slice(&out));
    }
    buffer_release(&out);
    return status;
}

static const struct command commands[] = {
    {
        .name = "INFO",
        .group = "server",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        TAKES(info_arguments, info_takes),
        .run = run_info,
        .summary = "Shows figures of the server.",
        .details = "`redis_version` is the version of Redis whose answers clients may count on; "
                   "`sluice_version` is the server's own.",
        .replies = "Text in sections of lines, name:value.",
        EXAMPLES({ "INFO clients", "# Clients\nconnected_clients:1\nmaxclients:10000\n..." }),
    },
};

const struct command_table server_info_commands = TABLE(commands);
