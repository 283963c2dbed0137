// SPDX-License-Identifier: MIT
#include "server/http/metrics_page.h"

#include "server/execute.h"
#include "server/http/metrics_jobs.h"
#include "server/http/metrics_stream.h"
#include "server/http/metrics_text.h"
#include "server/log/log.h"
#include "server/process.h"
#include "server/push/metrics.h"
#include "server/redis/session.h"
#include "server/server.h"

#define OPEN_TYPE  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define PLAIN_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum {
    LABEL_MAX = 4096,        // of a sample
    AT_ONCE_MAX = 256 << 10, // a page that is larger is sent in chunks
    TEXT_MAX = 64 << 20,     // of what is written and not sent
};

static void gauge(struct metrics_text *text, const char *name, const char *help, uint64_t value)
{
    metrics_family(text, &(struct metric){ name, METRIC_GAUGE, help });
    metrics_count(text, SLICE_EMPTY, value);
}

static void counter(struct metrics_text *text, const char *name, const char *help, uint64_t value)
{
    metrics_family(text, &(struct metric){ name, METRIC_COUNTER, help });
    metrics_count(text, SLICE_EMPTY, value);
}

static void gauge_time(struct metrics_text *text, const char *name, const char *help, int64_t us)
{
    metrics_family(text, &(struct metric){ name, METRIC_GAUGE, help });
    metrics_time(text, SLICE_EMPTY, us);
}

// ---------------------------------------------------------------------------------------------
// The server

static void write_process(struct metrics_text *text, struct server *server)
{
    metrics_family(text,
                   &(struct metric){ "sluice_build_info", METRIC_GAUGE, "Which version this is." });
    metrics_count(text, SLICE("version=\"" SLUICE_VERSION "\""), 1);
    gauge_time(text, "sluice_uptime_seconds", "Since the server was started.",
               server_elapsed(server) - server->began_elapsed_us);
    gauge_time(text, "process_start_time_seconds", "When the server was started, since 1970.",
               server->began_us);
    gauge_time(text, "sluice_clock_wall_offset_seconds",
               "How far the machine's clock is ahead of the server's time.",
               server->clock.difference_us);
    metrics_family(text, &(struct metric){ "sluice_clock_steps", METRIC_COUNTER,
                                           "Steps of the machine's clock, by what came of them." });
    metrics_count(text, SLICE("action=\"ignored\""), server->clock.returned);
    metrics_count(text, SLICE("action=\"followed\""), server->clock.followed);
    metrics_family(text, &(struct metric){ "process_cpu_seconds", METRIC_COUNTER,
                                           "Time on a processor, of all threads." });
    metrics_time(text, SLICE_EMPTY, process_cpu_us());
    gauge(text, "process_resident_memory_bytes", "Memory that the process has.",
          process_resident_bytes());
    gauge(text, "sluice_memory_used_bytes", "Memory that is in use, as max-memory counts it.",
          memory_live(&server->memory));
    gauge(text, "sluice_memory_limit_bytes", "The setting max-memory; 0: none.",
          server->memory.limit);
}

struct crowd {
    uint64_t resp, http, grpc, blocked, subscribers, held, unauthenticated;
};

static void count_connections(const struct server *server, struct crowd *crowd)
{
    *crowd = (struct crowd){ 0 };
    for (const struct connection *at = server->connections.newest; at; at = at->next) {
        *(at->protocol == &protocol_http ? &crowd->http
          : at->protocol == &protocol_h2 ? &crowd->grpc
                                         : &crowd->resp) += 1;
        crowd->blocked += at->blocked != NULL;
        crowd->subscribers += connection_subscribes(at);
        crowd->held += connection_is_stalled(at);
        crowd->unauthenticated += !at->user;
    }
}

static void write_connections(struct metrics_text *text, const struct server *server)
{
    struct crowd crowd;
    count_connections(server, &crowd);
    metrics_family(text, &(struct metric){ "sluice_connections", METRIC_GAUGE,
                                           "Connections there are, by what they speak." });
    metrics_count(text, SLICE("protocol=\"resp\""), crowd.resp);
    metrics_count(text, SLICE("protocol=\"http\""), crowd.http);
    metrics_count(text, SLICE("protocol=\"grpc\""), crowd.grpc);
    gauge(text, "sluice_connections_limit", "Connections there may be.",
          server->connections.count_max);
    gauge(text, "sluice_connections_blocked", "Connections that wait for a job or a result.",
          crowd.blocked);
    gauge(text, "sluice_connections_held",
          "Connections that are not served because they leave replies unread.", crowd.held);
    gauge(text, "sluice_connections_unauthenticated",
          "Connections whose clients are not authenticated.", crowd.unauthenticated);
    metrics_family(text, &(struct metric){ "sluice_subscribers", METRIC_GAUGE,
                                           "Connections that listen: to channels (RESP), or to "
                                           "events (HTTP)." });
    metrics_count(text, SLICE("to=\"channels\""), crowd.subscribers);
    metrics_count(text, SLICE("to=\"events\""), server->events.streams);
    counter(text, "sluice_connections_accepted", "Connections that were taken.",
            server->figures.connections);
    counter(text, "sluice_connections_refused", "Connections beyond max-connections.",
            server->figures.refused);
    counter(text, "sluice_connections_slow", "Connections closed since they did not read.",
            server->figures.slow);
    gauge(text, "sluice_connections_reserved", "Connections in the reserve.",
          server->connections.reserved);
    counter(text, "sluice_connections_evicted",
            "Unauthenticated connections closed for new ones, or in the reserve.",
            server->figures.evicted);
    counter(text, "sluice_connections_refused_per_address",
            "Connections beyond max-connections-per-address.", server->figures.refused_address);
    counter(text, "sluice_logins_refused_per_user", "Logins beyond max-connections-per-user.",
            server->figures.refused_user);
    counter(text, "sluice_unread_holds",
            "Times that a connection was not served on because it left replies unread.",
            server->figures.held);
    counter(text, "sluice_connections_oversized",
            "Connections closed because a request was larger than allowed.",
            server->figures.oversized);
    counter(text, "sluice_connections_auth_timeouts",
            "Connections closed because authentication took longer than auth-timeout.",
            server->figures.auth_timeouts);
}

static void write_traffic(struct metrics_text *text, const struct server *server)
{
    const struct server_figures *figures = &server->figures;
    counter(text, "sluice_commands", "Commands and requests that were run.", figures->commands);
    counter(text, "sluice_errors", "Answers that were errors.", figures->errors);
    counter(text, "sluice_network_received_bytes", "Bytes that clients sent.",
            figures->input_bytes);
    counter(text, "sluice_network_sent_bytes", "Bytes that clients were sent.",
            figures->output_bytes);
    counter(text, "sluice_messages_published", "Messages handed to subscribers of channels.",
            figures->published);
    gauge(text, "sluice_event_feeds", "Namespaces whose events are kept for listeners of HTTP.",
          server->events.count);
    counter(text, "sluice_events_told", "Events told to listeners of HTTP.", server->events.told);
    metrics_family(text, &(struct metric){ "sluice_loop_turn_seconds", METRIC_HISTOGRAM,
                                           "Turns of the loop: how long each worked." });
    metrics_histogram(text, SLICE_EMPTY, &figures->turns, &metric_bounds_short);
    counter(text, "sluice_loop_turns_cut", "Turns that ended because turn-time was used up.",
            server->schedule.turns_cut);
    counter(text, "sluice_slow_commands", "Commands that took longer than slow-command.",
            server->slow_commands.total);
    gauge(text, "sluice_connections_scheduled",
          "Connections with requests that wait for the turns of others.",
          schedule_count(&server->schedule));
    gauge(text, "sluice_namespaces", "Namespaces there are.", server->namespaces.count);
}

static void write_grpc(struct metrics_text *text, const struct server *server)
{
    const struct grpc_figures *figures = &server->grpc.figures;
    gauge(text, "sluice_grpc_calls_open", "Calls of gRPC under way.",
          server->connections.stream_count);
    gauge(text, "sluice_grpc_calls_blocked", "Calls of gRPC that wait for a job or a result.",
          connections_count_blocked_streams(server));
    counter(text, "sluice_grpc_calls", "Calls of gRPC that were begun.", figures->calls);
    metrics_family(text, &(struct metric){ "sluice_grpc_calls_ended", METRIC_COUNTER,
                                           "Calls of gRPC that have ended, by their status; 1 is "
                                           "also a call that the client gave up." });
    for (size_t i = 0; i < GRPC_CODES; i++) {
        char label[32];
        int size = snprintf(label, sizeof(label), "code=\"%zu\"", i);
        metrics_count(text, slice_make(label, (size_t)size), figures->ended[i]);
    }
    counter(text, "sluice_grpc_connections_refused",
            "Connections of gRPC closed because their clients broke the protocol or a limit.",
            figures->refused);
    counter(text, "sluice_grpc_jobs_returned",
            "Jobs given back because their call ended before its answer had left.",
            figures->returned);
}

static void write_loss(struct metrics_text *text, struct buffer *label, const struct log_loss *loss)
{
    const struct {
        const char *reason;
        uint64_t count;
    } parts[] = { { "suppressed", loss->suppressed }, { "dropped", loss->dropped } };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        buffer_clear(label);
        metrics_label(label, "kind", slice_from_cstr(loss->what));
        metrics_label(label, "reason", slice_from_cstr(parts[i].reason));
        metrics_count(text, buffer_slice(label), parts[i].count);
    }
}

// The kinds of lines are constants of the program, so there are few.
static void write_log(struct metrics_text *text)
{
    struct log_figures figures;
    struct buffer label;
    buffer_init(&label, &allocator_system, LABEL_MAX);
    log_figures(&figures);
    counter(text, "sluice_log_lines_written", "Lines of the log that were written.",
            figures.written);
    metrics_family(text, &(struct metric){ "sluice_log_lines_lost", METRIC_COUNTER,
                                           "Lines of the log that were not written: suppressed "
                                           "(more than log-rate), or dropped (standard error "
                                           "accepted nothing, or failed)." });
    for (size_t i = 0; i < figures.loss_count; i++) {
        write_loss(text, &label, &figures.losses[i]);
    }
    if (label.status && !text->out->status) {
        text->out->status = label.status;
    }
    buffer_release(&label);
}

// ---------------------------------------------------------------------------------------------
// The store

static void write_store_state(struct metrics_text *text, const struct server *server)
{
    static const struct {
        enum store_state state;
        struct slice label;
    } states[] = {
        { STORE_READY, { "state=\"ready\"", 13 } },   { STORE_FULL, { "state=\"full\"", 12 } },
        { STORE_STUCK, { "state=\"stuck\"", 13 } },   { STORE_BUSY, { "state=\"busy\"", 12 } },
        { STORE_FAILED, { "state=\"failed\"", 14 } },
    };
    metrics_family(text, &(struct metric){ "sluice_store_state", METRIC_GAUGE,
                                           "Which state the store is in: that one is 1." });
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        metrics_count(text, states[i].label, server->store_state == states[i].state);
    }
}

static void write_store(struct metrics_text *text, const struct server *server)
{
    struct store_figures figures;
    store_figures(server->store, &figures);
    write_store_state(text, server);
    counter(text, "sluice_store_groups", "Groups of changes that were appended to the journal.",
            figures.groups);
    counter(text, "sluice_store_group_bytes", "Bytes of these groups.", figures.group_bytes);
    metrics_family(text, &(struct metric){ "sluice_store_sync_seconds", METRIC_SUMMARY,
                                           "Syncs of the journal." });
    metrics_times(text, SLICE_EMPTY, figures.syncs, figures.sync_us);
    gauge_time(text, "sluice_store_sync_longest_seconds",
               "The longest sync of the journal since the server was started.",
               (int64_t)figures.sync_us_max);
    counter(text, "sluice_store_checkpoints", "Transactions that brought changes into the base.",
            figures.checkpoints);
    counter(text, "sluice_store_checkpoint_records", "Records that these wrote.",
            figures.records_checkpointed);
    gauge_time(text, "sluice_store_checkpoint_longest_seconds",
               "The longest of these transactions since the server was started.",
               (int64_t)figures.checkpoint_us_max);
    gauge(text, "sluice_store_groups_behind", "Groups that are durable and not yet in the base.",
          figures.groups_behind);
    gauge(text, "sluice_store_base_bytes", "The size of the base on disk.", figures.base_bytes);
    gauge(text, "sluice_store_base_live_bytes", "What of the base holds records.",
          figures.base_live_bytes);
    gauge(text, "sluice_store_volume_free_bytes", "What the data folder's file system has free.",
          figures.volume_free_bytes);
    counter(text, "sluice_store_compactions", "Times the base was made anew to give space back.",
            figures.compactions);
    gauge(text, "sluice_store_journal_bytes", "The size of the journal on disk.",
          figures.journal_bytes);
}

// ---------------------------------------------------------------------------------------------

const char *metrics_type(bool open)
{
    return open ? OPEN_TYPE : PLAIN_TYPE;
}

void metrics_page_end(const struct server *server, struct metrics_text *text)
{
    enum status status = metrics_push(text, &server->push, server->settings.metrics_queues);
    metrics_end(text);
    if (status && !text->out->status) {
        text->out->status = status;
    }
}

static bool may_see(const struct connection *connection)
{
    return connection->server->settings.metrics_open || (connection->user->everywhere & RIGHT_READ);
}

static enum status read_jobs(struct server *server, struct metrics_jobs **out, struct error *error)
{
    const struct settings *settings = &server->settings;
    const struct metrics_jobs_options options = {
        .now_us = server_now(server),
        .allocator = settings->allocator,
        .namespaces = &server->namespaces,
        .namespaces_max = settings->metrics_namespaces,
        .queues_max = settings->metrics_queues,
        .details_max = settings->metrics_details,
    };
    enum status status = metrics_jobs_new(&options, out);
    return status ? error_set(error, status, "no memory for the metrics") : STATUS_OK;
}

// Writes what comes before the jobs, and as much of them as is sent at once; says whether that is
// all. Frees the jobs when they are written.
static bool write_start(struct server *server, struct metrics_text *text,
                        struct metrics_jobs **jobs)
{
    size_t size_max = server->settings.max_output / 4;
    size_max = size_max < AT_ONCE_MAX ? size_max : AT_ONCE_MAX;
    write_process(text, server);
    write_connections(text, server);
    write_traffic(text, server);
    write_grpc(text, server);
    write_log(text);
    write_store(text, server);
    while (text->out->size < size_max && !text->out->status) {
        if (!metrics_jobs_step(*jobs, text)) {
            metrics_jobs_free(*jobs);
            *jobs = NULL;
            metrics_page_end(server, text);
            return text->out->size < size_max;
        }
    }
    return false;
}

void metrics_page(struct connection *connection, const struct http_call *call)
{
    struct server *server = connection->server;
    struct slice accept = SLICE_EMPTY;
    struct metrics_jobs *jobs = NULL;
    struct buffer out;
    struct error error;
    if (!may_see(connection)) {
        reply_error_code(connection, "NOPERM",
                         "user %s may not read every namespace, which /metrics shows",
                         connection->user->name);
        return;
    }
    (void)http_request_header(&connection->web->request, SLICE("Accept"), &accept, NULL);
    if (read_jobs(server, &jobs, &error)) {
        connection_reply_error(connection, &error);
        return;
    }
    buffer_init(&out, server->settings.allocator, TEXT_MAX);
    struct metrics_text text = { .out = &out, .open = metrics_wants_open(accept) };
    bool whole = write_start(server, &text, &jobs);
    enum status status = STATUS_OK;
    if (out.status) {
        status = error_set(&error, out.status, "no memory for the metrics");
    } else if (whole) {
        web_write_page(connection, call, 200, metrics_type(text.open), buffer_slice(&out));
    } else {
        status = metrics_stream_begin(connection, call, &text, jobs, &error);
        if (!status) {
            return; // it has taken over both
        }
    }
    if (status) {
        connection_reply_error(connection, &error);
    }
    metrics_jobs_free(jobs);
    buffer_release(&out);
}
