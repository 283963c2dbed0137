// SPDX-License-Identifier: MIT
#include "server/server.h"

#include "host/zones/zoneinfo.h"
#include "os/clock.h"
#include "server/access/user_store.h"
#include "server/execute.h"
#include "server/log/log.h"
#include "server/net/listener.h"
#include "server/net/tls.h"
#include "server/redis/answer.h"
#include "server/redis/tables.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SWEEP_US = 1000000,
    STOP_LOOK_US = 5000, // how often a stopping server checks whether all replies were received
    CLIENTS_PARTS = 4,   // when memory is full, the buffers of connections may use a quarter of it
    // delay of the next attempt to append changes after running out of memory
    MEMORY_RETRY_US = 10000,
    // The changes of a turn must fit into the store's journal, so a turn runs fewer bytes of
    // requests when the journal has little room. The records can be several times as large as the
    // requests.
    TURN_SIZE_MAX = 1 << 20,
    TURN_SIZE_MIN = 64 << 10,
    TURN_ROOM_PARTS = 4,
    DURABILITY_SIZE_MAX = 64, // of the setting as a text
};

int64_t server_now(struct server *server)
{
    if (server->turn_us == 0) {
        server->turn_began_us = host_clock_monotonic();
        server->turn_us = host_clock_time(&server->clock, server->turn_began_us);
    }
    return server->turn_us;
}

int64_t server_elapsed(struct server *server)
{
    (void)server_now(server);
    return server->turn_began_us;
}

bool server_address(const struct server *server, size_t index, char text[ADDRESS_TEXT_SIZE])
{
    if (index >= server->listener_count) {
        return false;
    }
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof(address);
    if (getsockname(server->listeners[index].fd, (struct sockaddr *)&address, &size)) {
        return false;
    }
    (void)address_format(&address, size, text);
    return true;
}

// ---------------------------------------------------------------------------------------------
// Turns

static void set_due(struct server *server, int64_t next_us)
{
    if (next_us == server->due_us) {
        return;
    }
    server->due_us = next_us;
    if (next_us == INT64_MAX) {
        (void)event_del(server->due_event);
        return;
    }
    int64_t left_us = next_us - server_now(server);
    struct timeval left = timeval_of(left_us > 0 ? left_us : 0);
    (void)event_add(server->due_event, &left);
}

// Whether all requests from before the stop have replies.
static bool is_drained(const struct server *server)
{
    if (server->commit.count || server->namespaces.behind || !push_is_drained(server)) {
        return false;
    }
    for (const struct connection *at = server->connections.newest; at; at = at->next) {
        bool has_streams = at->protocol->has_streams && at->protocol->has_streams(at);
        if (has_streams || !connection_is_delivered(at)) {
            return false;
        }
    }
    return true;
}

static void remove_some(struct server *server, bool *more)
{
    struct error error;
    *more = false;
    if (server->namespaces.removals && server->store_state != STORE_BUSY &&
        server->store_state != STORE_STUCK &&
        namespaces_remove(&server->namespaces, more, &error)) {
        log_line(LOG_LEVEL_WARNING, "records of a deleted namespace not removed",
                 LOG_STRING("reason", error_sentence(&error)));
    }
}

static void on_due(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    // the end of the turn runs the due work and sets the timer
    ((struct server *)context)->due_us = INT64_MAX;
}

static void check_clock(struct server *server)
{
    struct clock_news news = namespaces_check_clock(&server->namespaces, host_clock_look());
    if (news.change == CLOCK_STEADY) {
        return;
    }
    char wall[32];
    (void)snprintf(wall, sizeof(wall), "%+.1fs", (double)news.step_us / 1e6);
    log_line(LOG_LEVEL_WARNING, "clock step", LOG_STRING("wall", wall),
             LOG_STRING("action", clock_change_word(news.change)));
    if (news.change == CLOCK_FOLLOWED) {
        push_shift(server, news.step_us);
        server->turn_us = 0;
        server->due_us = INT64_MIN; // so that the timer is set again
    }
}

// When memory is full: logs it, and reduces the memory of connections.
static void look_at_memory(struct server *server)
{
    memory_look(&server->memory);
    bool full =
        memory_check(&server->memory, "max-memory", &server->memory_why) || server->memory_refused;
    server->memory_refused = false;
    if (full) {
        // Without a limit in the settings, the limit of the system was reached: about what is used
        // now.
        uint64_t all = server->memory.limit ? server->memory.limit : server->memory.resident;
        connections_relieve(server, all / CLIENTS_PARTS);
    }
    if (full != server->logged_full) {
        server->logged_full = full;
        namespaces_hold_growth(&server->namespaces, GROWTH_MEMORY, full);
        if (full) {
            log_line(LOG_LEVEL_ERROR, "memory full: commands that grow are refused",
                     LOG_STRING("reason", error_sentence(&server->memory_why)));
        } else {
            log_line(LOG_LEVEL_INFO, "memory free again: all commands are accepted", LOG_NO_PAIRS);
        }
    }
}

static void on_sweep(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct server *server = context;
    check_clock(server);
    look_at_memory(server);
    connections_sweep(server);
    sessions_expire(&server->sessions, server_elapsed(server));
    events_sweep(server);
    grpc_sweep(server);
    metrics_streams_sweep(server);
    namespaces_measure(&server->namespaces, server_now(server));
    events_tick(server);
    notify_watchdog(&server->notify);
}

// ---------------------------------------------------------------------------------------------
// The store

static void log_store(void *context, enum store_level level, const char *sentence)
{
    (void)context;
    log_line(level == STORE_INFO      ? LOG_LEVEL_INFO
             : level == STORE_WARNING ? LOG_LEVEL_WARNING
                                      : LOG_LEVEL_ERROR,
             "store", LOG_STRING("says", sentence));
}

// Logs changes of the state. BUSY is not logged, because it is frequent and short.
static void log_state(struct server *server, enum store_state state, const struct error *why)
{
    static const char *const sentences[] = {
        [STORE_READY] = "the store accepts all commands again",
        [STORE_FULL] = "disk full: accepting work on present jobs, no new ones",
        [STORE_STUCK] = "disk full: refusing all changes until there is space",
        [STORE_FAILED] = "store failed: refusing all changes until a restart",
    };
    if (state == STORE_BUSY || state == server->logged_state) {
        return;
    }
    server->logged_state = state;
    bool lacks_memory = state == STORE_FULL && why->status == STATUS_NO_MEMORY;
    const char *sentence = lacks_memory ? "memory full: accepting work on present jobs, no new ones"
                                        : sentences[state];
    if (state == STORE_READY) {
        log_line(LOG_LEVEL_INFO, sentence, LOG_NO_PAIRS);
        notify_status(&server->notify, "running");
    } else {
        log_line(LOG_LEVEL_ERROR, sentence, LOG_STRING("reason", error_sentence(why)));
        notify_status(&server->notify, "%s", error_sentence(why));
    }
}

static void look_at_store(struct server *server)
{
    enum store_state before = server->store_state;
    struct error why;
    enum store_state state = store_state(server->store, &why);
    if (before == STORE_FAILED) {
        return; // the engines have changes that will not be stored; only a restart helps
    }
    if (server->namespaces.behind && (state == STORE_READY || state == STORE_FULL)) {
        state = STORE_BUSY;
        (void)error_set(&why, STATUS_NO_MEMORY, "out of memory: changes wait to be stored");
    }
    server->store_state = state;
    if (state != STORE_READY) {
        server->store_why = why;
    }
    log_state(server, state, &why);
    if (state != STORE_BUSY) {
        namespaces_hold_growth(&server->namespaces, GROWTH_DISK, state != STORE_READY);
    }
    if (before == STORE_STUCK) {
        namespaces_touch(&server->namespaces); // runs the work that fell due meanwhile
    }
    if (before == STORE_BUSY && state != STORE_BUSY) {
        for (struct connection *at = server->connections.newest; at; at = at->next) {
            connection_resume(at);
        }
        for (struct connection *at = server->connections.newest_stream; at; at = at->next) {
            connection_resume(at);
        }
    }
}

static void on_store(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct server *server = context;
    store_event_clear(server->store);
    look_at_store(server);
    // After the store has failed, the end of the turn calls commit_durable, when all replies of the
    // turn are held.
    if (server->store_state != STORE_FAILED) {
        commit_durable(server);
        push_send(server);
    }
}

static enum status open_store(struct server *server, struct error *error)
{
    const struct settings *settings = &server->settings;
    const struct store_options options = {
        .path = settings->data,
        .allocator = settings->allocator,
        .durability = settings->durability,
        .interval_us = settings->durability_interval_us,
        .segment_size = settings->segment_size,
        .gather_max = settings->max_backlog,
        .reserve_size = settings->reserve_size,
        .checkpoint_us = settings->checkpoint_interval_us,
        .log = log_store,
    };
    const struct store_visitor visitor = { namespaces_visit, &server->namespaces };
    enum status status = store_open(&options, &visitor, &server->store, error);
    if (!status) {
        server->turn_us = 0; // opening may take long; leases are renewed from this time
        server->namespaces.store = server->store;
        status = namespaces_loaded(&server->namespaces, server_now(server), error);
    }
    return status;
}

// How many bytes of requests the next turn may run.
static uint64_t turn_size(struct server *server)
{
    uint64_t size = store_room(server->store) / TURN_ROOM_PARTS;
    size = size < TURN_SIZE_MIN ? TURN_SIZE_MIN : size;
    return size < TURN_SIZE_MAX ? size : TURN_SIZE_MAX;
}

// Due work changes the store too, so it waits while nothing can be stored.
static int64_t tick(struct server *server)
{
    return server->store_state == STORE_STUCK || server->namespaces.behind
               ? INT64_MAX
               : namespaces_tick(&server->namespaces, server_now(server));
}

// Linear in the number of connections, so only in the set-ups for tests (option `checks`).
static void check_turn(const struct server *server)
{
#ifdef SLUICE_CHECKS
    connections_check(server);
    commit_check(&server->commit);
#else
    (void)server;
#endif
}

void server_end_turn(struct server *server)
{
    int64_t next_us;
    push_transfer(server);
    push_settle(server);
    do {
        next_us = tick(server);
    } while (connections_resume(server) || push_take(server));
    bool more;
    remove_some(server, &more);
    grpc_tell_health(server);
    metrics_streams_go_on(server);
    commit_turn(server);
    push_send(server);
    more |= grpc_send(server);
    look_at_store(server); // the journal may be full now
    if (server->memory_refused || memory_is_due(&server->memory)) {
        look_at_memory(server);
    }
    connections_free_closed(server);
    check_turn(server);
    if (server->namespaces.behind) {
        next_us = server_now(server) + MEMORY_RETRY_US;
    }
    if (server->stopping) {
        if (server->store_state == STORE_STUCK) {
            store_give_up(server->store); // replies that wait for free disk space become errors
        }
        server->stopped |= is_drained(server);
        // No event reports that a client's host has received all bytes, so it is polled.
        int64_t look_us = server_now(server) + STOP_LOOK_US;
        next_us = look_us < next_us ? look_us : next_us;
    }
    more |= metrics_streams_are_due(server);
    set_due(server, more || schedule_count(&server->schedule) ? 0 : next_us);
    histogram_add(&server->figures.turns, host_clock_monotonic() - server->turn_began_us);
    server->turn_us = 0;
    schedule_new_turn(&server->schedule, server->settings.turn_time_us, turn_size(server));
    server->turn_changes = false;
}

// ---------------------------------------------------------------------------------------------
// Signals

static void on_stop_timeout(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct server *server = context;
    log_line(LOG_LEVEL_WARNING, "stop timeout: some clients did not receive their replies",
             LOG_NO_PAIRS);
    push_give_back(server);
    server->stopped = true;
}

// Ends the connections of a list as soon as their replies are delivered.
static void stop_all(struct connection *first)
{
    struct connection *next;
    for (struct connection *at = first; at; at = next) {
        next = at->next;
        if (at->protocol->stop) {
            at->protocol->stop(at);
            continue;
        }
        if (at->blocked) {
            // the client repeats the request, to this server or another one
            blocked_end(at->blocked);
            if (at->protocol->write_stopped) {
                at->protocol->write_stopped(at);
            }
        }
        if (at->protocol->finish_stream) {
            at->protocol->finish_stream(at);
        }
        connection_drain(at);
        connection_flush(at); // closes the connection when all its replies were received
    }
}

void server_stop(struct server *server)
{
    if (server->stopping) {
        return;
    }
    log_line(LOG_LEVEL_INFO, "stopping", LOG_NUMBER("connections", server->connections.count));
    notify_stopping(&server->notify);
    server->stopping = true;
    listeners_close(server);
    push_stop(server);
    stop_all(server->connections.newest_stream);
    stop_all(server->connections.newest);
    struct timeval timeout = timeval_of(server->settings.stop_timeout_us);
    (void)event_base_once(server->loop, -1, EV_TIMEOUT, on_stop_timeout, server, &timeout);
}

static void on_changed(void *context, const char *name, const char *sentence)
{
    (void)context;
    log_line(LOG_LEVEL_INFO, "setting", LOG_STRING("name", name), LOG_STRING("says", sentence));
}

// The first line: which program runs, and what it keeps to.
static void log_start_of(const struct settings *settings)
{
    struct buffer durability;
    buffer_init(&durability, settings->allocator, DURABILITY_SIZE_MAX);
    settings_append_value(settings, settings_find(SLICE("durability")), &durability);
    log_line(LOG_LEVEL_INFO, "starting", LOG_STRING("version", SLUICE_VERSION),
             LOG_NUMBER("pid", getpid()), LOG_TEXT("durability", buffer_slice(&durability)),
             *settings->config ? LOG_STRING("config", settings->config) : LOG_NO_PAIRS);
    buffer_release(&durability);
}

static void set_log_rate(const struct settings *settings)
{
    log_set_rate((struct log_rate){ .rate = settings->log_rate, .burst = settings->log_burst });
}

// Accepts certificates and users together, or neither.
static enum status accept_settings(void *context, const struct settings *fresh, struct error *error)
{
    struct server *server = context;
    struct tls *tls = NULL;
    enum status status = server->tls ? tls_new(fresh->allocator, fresh, &tls, error) : STATUS_OK;
    if (!status) {
        status = user_store_reload(server, fresh, error);
    }
    if (status) {
        tls_free(tls);
        return status;
    }
    tls_free(server->tls); // existing connections keep theirs
    server->tls = tls;
    return STATUS_OK;
}

enum status server_reload(struct server *server, struct error *error)
{
    const struct settings_listener listener = { on_changed, server, accept_settings };
    notify_reloading(&server->notify, monotonic_us());
    enum status status = settings_reload(&server->settings, &listener, error);
    if (status) {
        log_line(LOG_LEVEL_ERROR, "settings not reloaded",
                 LOG_STRING("reason", error_sentence(error)));
    } else {
        log_line(LOG_LEVEL_INFO, "settings reloaded", LOG_NO_PAIRS);
    }
    server_apply_settings(server);
    set_log_rate(&server->settings);
    notify_ready(&server->notify);
    return status;
}

void server_drain(struct server *server, bool on)
{
    if (server->draining == on) {
        return;
    }
    server->draining = on;
    namespaces_hold_growth(&server->namespaces, GROWTH_DRAIN, on);
    log_line(LOG_LEVEL_INFO, on ? "draining: puts are refused" : "draining ended", LOG_NO_PAIRS);
}

enum status server_check_drain(const struct server *server, struct error *error)
{
    return server->draining
               ? error_set(error, STATUS_BUSY,
                           "the server is draining: it accepts no new jobs; work on present ones "
                           "goes on")
               : STATUS_OK;
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
    (void)what;
    struct error error;
    if (number == SIGHUP) {
        (void)server_reload(context, &error); // the log has told
    } else if (number == SIGUSR1) {
        server_drain(context, true);
    } else {
        server_stop(context);
    }
}

static enum status watch_events(struct server *server, struct error *error)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
    static const struct timeval sweep = { SWEEP_US / 1000000, 0 };
    server->store_event =
        event_new(server->loop, store_event(server->store), EV_READ | EV_PERSIST, on_store, server);
    server->due_event = evtimer_new(server->loop, on_due, server);
    server->sweep_event = event_new(server->loop, -1, EV_PERSIST, on_sweep, server);
    bool all = server->store_event && server->due_event && server->sweep_event &&
               !event_add(server->store_event, NULL) && !event_add(server->sweep_event, &sweep);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]) && all; i++) {
        server->signal_events[i] = evsignal_new(server->loop, signals[i], on_signal, server);
        all = server->signal_events[i] && !event_add(server->signal_events[i], NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return all ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for the event loop");
}

// ---------------------------------------------------------------------------------------------
// Start, run and release

void server_apply_settings(struct server *server)
{
    const struct settings *settings = &server->settings;
    log_set_level(settings->log_level);
    memory_set_limit(&server->memory, settings->max_memory);
    server->namespaces.options.create = settings->create_namespaces;
    server->namespaces.options.count_max = settings->max_namespaces;
    namespaces_set_quotas(&server->namespaces, &settings->quotas);
    web_apply_settings(server);
    push_apply_settings(server);
    allowances_init(&server->connections.allowances, settings, SERVER_SCRATCH_SIZE);
    server->connections.limits = (struct resp_limits){
        .words_max = settings->max_arguments,
        .word_max = settings->max_payload,
        .request_max = settings->max_request,
        .line_max = settings->max_payload,
    };
    server->connections.limits_unauthenticated = (struct resp_limits){
        .words_max = UNAUTHENTICATED_WORDS,
        .word_max = UNAUTHENTICATED_SIZE,
        .request_max = UNAUTHENTICATED_KEPT,
        .line_max = UNAUTHENTICATED_SIZE,
    };
}

static enum status make_loop(struct server *server, struct error *error)
{
    struct event_config *config = event_config_new();
    if (config) {
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        server->loop = event_base_new_with_config(config);
        event_config_free(config);
    }
    return server->loop ? STATUS_OK
                        : error_set(error, STATUS_NO_MEMORY, "the event loop cannot be made");
}

static enum status make_parts(struct server *server, char *const *environment, struct error *error)
{
    const struct allocator *allocator = server->settings.allocator;
    enum status status = random_source_init(&server->random, &server->seed, error);
    if (!status) {
        status = make_loop(server, error);
    }
    if (!status && notify_init(&server->notify, environment, error)) {
        log_line(LOG_LEVEL_WARNING, "service manager not reachable",
                 LOG_STRING("reason", error_sentence(error)));
    }
    if (!status) {
        status = users_new(allocator, &server->settings, &server->users, error);
    }
    if (!status) {
        status = audit_init(server, error);
    }
    if (!status && settings_use_tls(&server->settings)) {
        status = tls_new(allocator, &server->settings, &server->tls, error);
    }
    server->input = mem_alloc(allocator, SERVER_SCRATCH_SIZE);
    if (!status && (!server->input || zoneinfo_new(allocator, NULL, &server->zones) ||
                    server_commands_new(allocator, &server->commands))) {
        status = error_set(error, STATUS_NO_MEMORY, "no memory to start");
    }
    if (!status) {
        status = push_init(server, error);
    }
    if (!status) {
        status = web_init(server, error);
    }
    return status ? status : grpc_init(server, error);
}

static uint64_t random_of(void *context)
{
    return random_source_next(&((struct server *)context)->random);
}

static enum status zone_of(void *context, struct slice name, struct zone_rules *out,
                           struct error *error)
{
    return zoneinfo_find(((struct server *)context)->zones, name, out, error);
}

static bool may_see(const void *session, struct slice ns)
{
    const struct connection *connection = session;
    return user_may(connection->user, ns, RIGHT_READ);
}

static enum status check_admin(const void *session, struct slice ns, struct error *error)
{
    return answer_check_right(session, ns, RIGHT_ADMIN, error);
}

void server_update_wanted(struct server *server)
{
    const struct pubsub *pubsub = &server->pubsub;
    bool anyone = server->events.count || pubsub->channel_count || pubsub->pattern_count;
    server->wanted = (anyone ? (unsigned)EVENT_TO_WATCHER : 0) |
                     (server->events.of_jobs ? (unsigned)EVENT_TO_JOB : 0);
}

static void on_event(void *context, struct ns *ns, const struct event *event)
{
    pubsub_event(context, ns, event);
    grpc_tell_event(context, ns, event);
    events_publish(context, ns, event);
}

static void on_lease_ended(void *context, struct ns *ns, struct slice jid)
{
    push_lease_ended(ns, jid);
    grpc_lease_ended(context, ns, jid);
}

static void on_woken(void *context, struct ns *ns, struct slice queue)
{
    push_woken(context, ns, queue);
}

static void on_leaving(void *context, struct ns *ns)
{
    push_leaving(context, ns);
}

static void warn(void *context, const char *sentence)
{
    (void)context;
    log_line(LOG_LEVEL_WARNING, "namespaces", LOG_STRING("says", sentence));
}

static void note_unfit(void *context, struct slice ns, struct slice jid, size_t size_max)
{
    (void)context;
    log_line(LOG_LEVEL_WARNING, "job larger than a reply may be; not handed out",
             LOG_TEXT("namespace", ns), LOG_TEXT("jid", jid), LOG_NUMBER("reply_max", size_max));
}

static enum status make_namespaces(struct server *server, struct error *error)
{
    const struct namespaces_options options = {
        .allocator = server->settings.allocator,
        .seed = server->seed,
        .clock = &server->clock,
        .create = server->settings.create_namespaces,
        .count_max = server->settings.max_namespaces,
        .quotas = server->settings.quotas,
        .waiting = blocked_ops,
        .event = on_event,
        .wanted = &server->wanted,
        .lease_ended = on_lease_ended,
        .woken = on_woken,
        .leaving = on_leaving,
        .log = warn,
        .context = server,
    };
    server->services = (struct services){
        .host = { random_of, zone_of, note_unfit, execute_popped, refusals_note_call, server },
        .namespaces = &server->namespaces,
        .commands = server->commands,
        .may_see = may_see,
        .check_admin = check_admin,
        .start = background_start,
        .push = &server_push,
    };
    return namespaces_init(&server->namespaces, &options, error);
}

enum status server_init(struct server *server, struct settings *settings, char *const *environment,
                        struct error *error)
{
    *server = (struct server){ .settings = *settings, .notify.fd = -1, .due_us = INT64_MAX };
    host_clock_init(&server->clock, host_clock_look());
    server->began_us = server_now(server);
    server->began_elapsed_us = server_elapsed(server);
    scratch_init(&server->scratch, settings->allocator);
    commit_init(&server->commit);
    schedule_init(&server->schedule, host_clock_monotonic);
    memory_init(&server->memory, settings->max_memory);
    log_start_of(&server->settings);
    log_line(LOG_LEVEL_INFO, "memory", LOG_NUMBER("limit", server->memory.limit),
             LOG_NUMBER("used", memory_resident(&server->memory)));
    server_apply_settings(server);
    enum status status = crowd_limit(server, error);
    if (!status) {
        status = make_parts(server, environment, error);
    }
    if (!status) {
        pubsub_init(server);
        events_init(server);
        status = make_namespaces(server, error);
    }
    if (!status) {
        log_line(LOG_LEVEL_INFO, "opening", LOG_STRING("data", server->settings.data));
        status = open_store(server, error);
    }
    if (!status) {
        status = user_store_reload(server, &server->settings, error);
    }
    if (!status) {
        status = push_start(server, error);
    }
    if (!status) {
        status = watch_events(server, error);
    }
    if (!status) {
        status = listeners_open(server, error);
    }
    if (status) {
        server_release(server);
    }
    return status;
}

enum status server_run(struct server *server, struct error *error)
{
    log_line(LOG_LEVEL_INFO, "ready", LOG_NUMBER("namespaces", server->namespaces.count));
    set_log_rate(&server->settings); // from here on, clients can cause log lines
    notify_ready(&server->notify);
    server_end_turn(server);
    while (!server->stopped) {
        if (event_base_loop(server->loop, EVLOOP_ONCE) < 0) {
            return error_set(error, STATUS_IO, "the event loop ended: %s", strerrordesc_np(errno));
        }
        server_end_turn(server);
    }
    background_finish(server);
    struct store *store = server->store;
    bool failed = server->store_state == STORE_FAILED;
    event_free(server->store_event);
    server->store_event = NULL;
    server->store = NULL;
    enum status status = store_close(store, error);
    if (!status && failed) {
        status = error_copy(error, &server->store_why);
    }
    if (!status) {
        log_line(LOG_LEVEL_INFO, "stopped", LOG_NO_PAIRS);
    }
    return status;
}

static void free_event(struct loop_event *event)
{
    if (event) {
        event_free(event);
    }
}

void server_release(struct server *server)
{
    const struct allocator *allocator = server->settings.allocator;
    listeners_close(server);
    connections_leave_turn(server);
    while (server->connections.newest) {
        connection_close(server->connections.newest);
    }
    connections_unschedule(server);
    commit_forget(server);
    connections_free_closed(server);
    background_finish(server);
    background_release(server);
    logins_release(server);
    slow_commands_clear(server);
    push_release(server);
    if (server->namespaces.empty) {
        namespaces_release(&server->namespaces);
        pubsub_release(server);
        events_release(server);
    }
    free_event(server->store_event);
    free_event(server->due_event);
    free_event(server->sweep_event);
    for (size_t i = 0; i < sizeof(server->signal_events) / sizeof(server->signal_events[0]); i++) {
        free_event(server->signal_events[i]);
    }
    if (server->store) {
        (void)store_close(server->store, NULL);
    }
    if (server->loop) {
        event_base_free(server->loop);
    }
    commit_release(&server->commit, allocator);
    scratch_release(&server->scratch);
    grpc_release(server);
    web_release(server);
    commands_free(server->commands);
    zoneinfo_free(server->zones);
    tls_free(server->tls);
    users_free(server->users);
    audit_release(server);
    notify_release(&server->notify);
    memory_release(&server->memory);
    mem_free(allocator, server->input, server->input ? SERVER_SCRATCH_SIZE : 0);
    settings_release(&server->settings);
}
