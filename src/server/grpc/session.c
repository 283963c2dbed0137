// SPDX-License-Identifier: MIT
#include "server/grpc/session.h"

#include "server/grpc/stream.h"
#include "server/log/log.h"
#include "server/server.h"

#include <assert.h>

enum {
    PARTING_US = 1000000,   // how long a stop waits for the answer to the notice
    UNSENT_MAX = 256 << 10, // with so many bytes unsent the session is asked for no more
};

static struct server *server_of(const struct grpc_session *session)
{
    return session->connection->server;
}

size_t grpc_session_kept_max(const struct grpc_session *session)
{
    return (size_t)server_of(session)->settings.max_request + GRPC_KEPT_MORE;
}

// ---------------------------------------------------------------------------------------------
// What the session of HTTP/2 tells

// Streams that the client has reset are here until it is their turn, so these are bounded too.
static void *on_opened(void *owner, int32_t id, const struct h2_head *head)
{
    struct grpc_session *session = owner;
    const struct settings *settings = &server_of(session)->settings;
    if (session->stream_count >= 2 * settings->grpc_max_calls || server_of(session)->stopping) {
        return NULL;
    }
    return grpc_stream_open(session, id, head);
}

static void on_received(void *stream, struct slice bytes)
{
    grpc_stream_received(stream, bytes);
}

static void on_ended(void *context)
{
    struct grpc_stream *stream = context;
    stream->input_ended = true;
    grpc_stream_ready(stream);
}

// The session is in the middle of something, so the stream is closed when it is its turn.
static void on_closed(void *context)
{
    struct grpc_stream *stream = context;
    stream->id = 0;
    grpc_stream_ready(stream);
}

static size_t on_read(void *stream, char *bytes, size_t size, struct h2_tail *tail)
{
    return grpc_stream_read(stream, bytes, size, tail);
}

static const struct h2_ops ops = {
    .opened = on_opened,
    .received = on_received,
    .ended = on_ended,
    .closed = on_closed,
    .read = on_read,
};

// ---------------------------------------------------------------------------------------------
// Sending

void grpc_session_wake(struct grpc_session *session)
{
    struct grpc *all = &server_of(session)->grpc;
    if (!session->wakeful && !session->connection->closed) {
        session->wakeful = true;
        session->wakeful_next = NULL;
        *all->wakeful_last = session;
        all->wakeful_last = &session->wakeful_next;
        all->wakeful_count++;
    }
}

void grpc_session_sleep(struct grpc_session *session)
{
    struct grpc *all = &server_of(session)->grpc;
    struct grpc_session **at = &all->wakeful_first;
    if (!session->wakeful) {
        return;
    }
    while (*at != session) {
        at = &(*at)->wakeful_next;
    }
    *at = session->wakeful_next;
    if (!*at) {
        all->wakeful_last = at;
    }
    session->wakeful = false;
    all->wakeful_count--;
}

static size_t unsent_max(const struct connection *connection)
{
    size_t most = allowance_of(connection)->unread_max;
    return most < UNSENT_MAX ? most : UNSENT_MAX;
}

static void log_complaint(struct grpc_session *session)
{
    struct h2_figures figures = h2_session_figures(session->h2);
    if (figures.complaint && !session->complained) {
        session->complained = true;
        server_of(session)->grpc.figures.refused++;
        log_line(LOG_LEVEL_WARNING, "gRPC connection closed for what its client did",
                 LOG_STRING("address", session->connection->address),
                 LOG_STRING("reason", figures.complaint));
    }
}

static void close_streams(struct grpc_session *session)
{
    while (session->newest) {
        connection_close(session->newest->connection);
    }
}

// When nothing is to be received and sent any more, the connection ends with what is written. A
// client that broke the rules may still be sending, so what comes is discarded: or else it would not
// learn the reason.
static void settle(struct grpc_session *session)
{
    struct connection *connection = session->connection;
    log_complaint(session);
    if (!h2_session_is_over(session->h2)) {
        return;
    }
    close_streams(session);
    if (connection->draining) {
        return;
    }
    if (session->complained) {
        discard_begin(connection, NULL);
    } else {
        connection_drain(connection);
    }
}

void grpc_session_send(struct grpc_session *session)
{
    struct connection *connection = session->connection;
    struct output *output = &connection->output;
    if (connection->closed || connection->socket.handshaking) {
        return;
    }
    bool began = output_turn_begin(output);
    assert(began);
    (void)began;
    bool good = h2_session_send(session->h2, &output->bytes, output->sent + unsent_max(connection));
    output_turn_free(output);
    if (!good && output->bytes.status) {
        connection_overflow(connection);
    }
    settle(session);
    connection_flush(connection);
    if (connection->closed) {
        return;
    }
    if (connection->overflowed) {
        connection_close(connection);
    } else if (connection_may_serve(connection)) {
        connection_resume(connection); // streams may have room again, or are closed
    }
}

static void sent(struct connection *connection)
{
    struct grpc_session *session = connection->grpc;
    if (h2_session_has_output(session->h2) &&
        connection_unsent(connection) < unsent_max(connection)) {
        grpc_session_wake(session);
    }
}

// ---------------------------------------------------------------------------------------------
// The protocol

static enum status open(struct connection *connection)
{
    struct server *server = connection->server;
    const struct settings *settings = &server->settings;
    struct grpc_session *session = mem_zalloc(settings->allocator, sizeof(*session));
    if (!session) {
        return STATUS_NO_MEMORY;
    }
    session->connection = connection;
    const struct h2_options options = {
        .allocator = settings->allocator,
        .ops = &ops,
        .owner = session,
        .streams_max = (uint32_t)settings->grpc_max_calls,
        .min_ping_us = settings->grpc_min_ping_us,
    };
    if (h2_session_new(&options, &session->h2)) {
        mem_free(settings->allocator, session, sizeof(*session));
        return STATUS_NO_MEMORY;
    }
    connection->grpc = session;
    if (connection->user) {
        h2_session_widen(session->h2); // there are no users
    }
    return STATUS_OK;
}

static void release(struct connection *connection)
{
    struct grpc_session *session = connection->grpc;
    assert(!session->newest && !session->wakeful);
    h2_session_free(session->h2);
    mem_free(connection->server->settings.allocator, session, sizeof(*session));
    connection->grpc = NULL;
}

static void close_session(struct connection *connection)
{
    struct grpc_session *session = connection->grpc;
    close_streams(session);
    grpc_session_sleep(session);
    if (session->is_parting) {
        (void)event_del(&session->parting);
        session->is_parting = false;
    }
}

static size_t take(struct connection *connection, struct slice bytes)
{
    struct grpc_session *session = connection->grpc;
    if (!h2_session_receive(session->h2, bytes, server_elapsed(connection->server))) {
        close_streams(session);
    }
    grpc_session_wake(session);
    return bytes.size;
}

static size_t needs(const struct connection *connection)
{
    (void)connection;
    return 0;
}

// The stream that is run next; NULL: none can be. With too much unsent only those that have ended are
// run, to be closed.
static struct grpc_stream *next_to_run(const struct grpc_session *session)
{
    struct grpc_stream *first = session->ready_first;
    bool is_full = session->unsent >= server_of(session)->settings.max_output / 2;
    return first && (!is_full || !first->id) ? first : NULL;
}

static void run_streams(struct connection *connection)
{
    struct grpc_session *session = connection->grpc;
    const struct schedule *schedule = &connection->server->schedule;
    struct grpc_stream *stream;
    while (schedule_goes_on(schedule) && (stream = next_to_run(session))) {
        grpc_stream_unready(stream);
        grpc_stream_run(stream);
    }
}

static bool has_streams_to_run(const struct connection *connection)
{
    return next_to_run(connection->grpc) != NULL;
}

static bool has_streams(const struct connection *connection)
{
    const struct grpc_session *session = connection->grpc;
    bool stops = server_of(session)->stopping && !connection->draining;
    return session->stream_count > 0 || (stops && !h2_session_has_parted(session->h2));
}

static void user_changed(struct connection *connection)
{
    if (connection->user) {
        h2_session_widen(connection->grpc->h2);
        grpc_session_wake(connection->grpc);
    }
}

void grpc_session_trust(struct grpc_session *session, const struct user *user)
{
    if (!session->connection->user) {
        connection_set_user(session->connection, user);
    }
}

// A connection without calls is idle.
static bool is_late(const struct connection *connection, int64_t now_us)
{
    const struct settings *settings = &connection->server->settings;
    return settings->idle_timeout_us && connection->grpc->stream_count == 0 &&
           now_us - connection->active_us > settings->idle_timeout_us;
}

static void part(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct grpc_session *session = context;
    h2_session_part(session->h2);
    grpc_session_wake(session);
}

// The calls have been told to end by now. Calls that come later are refused, so that they are made
// elsewhere.
static void stop(struct connection *connection)
{
    struct grpc_session *session = connection->grpc;
    struct timeval timeout = timeval_of(PARTING_US);
    h2_session_refuse(session->h2);
    grpc_session_wake(session);
    (void)evtimer_assign(&session->parting, connection->server->loop, part, session);
    session->is_parting = evtimer_add(&session->parting, &timeout) == 0;
    if (!session->is_parting) {
        h2_session_part(session->h2);
    }
    if (connection->socket.handshaking) {
        connection_close(connection);
    }
}

static void refuse(struct connection *connection, const char *code, const struct error *error)
{
    (void)connection;
    (void)code;
    (void)error;
}

const struct protocol protocol_h2 = {
    .name = "grpc",
    .is_session = true,
    .is_parent = true,
    .full = "",
    .open = open,
    .release = release,
    .close = close_session,
    .user_changed = user_changed,
    .take = take,
    .needs = needs,
    .refuse = refuse,
    .is_late = is_late,
    .run_streams = run_streams,
    .has_streams_to_run = has_streams_to_run,
    .has_streams = has_streams,
    .sent = sent,
    .stop = stop,
};
