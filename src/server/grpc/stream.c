// SPDX-License-Identifier: MIT
#include "server/grpc/stream.h"

#include "server/background.h"
#include "server/execute.h"
#include "server/log/log.h"
#include "server/server.h"

#include <assert.h>
#include <openssl/crypto.h>

#define CONTENT_TYPE "application/grpc"

// ---------------------------------------------------------------------------------------------
// What is ready to run

static bool is_queued(const struct grpc_stream *stream)
{
    return stream->ready;
}

void grpc_stream_unready(struct grpc_stream *stream)
{
    struct grpc_session *session = stream->session;
    if (!is_queued(stream)) {
        return;
    }
    stream->ready = false;
    struct grpc_stream *next = stream->ready_next, *previous = stream->ready_previous;
    *(previous ? &previous->ready_next : &session->ready_first) = next;
    *(next ? &next->ready_previous : &session->ready_last) = previous;
}

void grpc_stream_ready(struct grpc_stream *stream)
{
    struct grpc_session *session = stream->session;
    if (!session || (is_queued(stream) && stream->id)) {
        return;
    }
    grpc_stream_unready(stream);
    stream->ready = true;
    if (!stream->id) {
        stream->ready_previous = NULL;
        stream->ready_next = session->ready_first;
        *(session->ready_first ? &session->ready_first->ready_previous : &session->ready_last) =
            stream;
        session->ready_first = stream;
        return;
    }
    stream->ready_next = NULL;
    stream->ready_previous = session->ready_last;
    *(session->ready_last ? &session->ready_last->ready_next : &session->ready_first) = stream;
    session->ready_last = stream;
}

static void resume(struct connection *connection)
{
    grpc_stream_ready(connection->stream);
    connection_resume(connection->parent);
}

// ---------------------------------------------------------------------------------------------
// Life

static enum status open(struct connection *connection)
{
    const struct allocator *allocator = connection->server->settings.allocator;
    struct grpc_stream *stream = mem_zalloc(allocator, sizeof(*stream));
    if (!stream) {
        return STATUS_NO_MEMORY;
    }
    stream->connection = connection;
    buffer_init(&stream->authorization, allocator, H2_HEAD_SIZE_MAX);
    connection->stream = stream;
    return STATUS_OK;
}

static void forget_authorization(struct grpc_stream *stream)
{
    if (stream->authorization.data) {
        OPENSSL_cleanse(stream->authorization.data, stream->authorization.capacity);
        buffer_release(&stream->authorization);
    }
}

static void release(struct connection *connection)
{
    struct grpc_stream *stream = connection->stream;
    assert(!stream->leases && !stream->listens && !stream->has_deadline);
    forget_authorization(stream);
    mem_free(connection->server->settings.allocator, stream, sizeof(*stream));
    connection->stream = NULL;
}

struct grpc_stream *grpc_stream_open(struct grpc_session *session, int32_t id,
                                     const struct h2_head *head)
{
    struct connection *connection = connection_open_stream(session->connection, &protocol_grpc);
    if (!connection) {
        return NULL;
    }
    struct grpc_stream *stream = connection->stream;
    stream->session = session;
    stream->id = id;
    stream->next = session->newest;
    if (session->newest) {
        session->newest->previous = stream;
    }
    session->newest = stream;
    session->stream_count++;
    connection->server->grpc.figures.calls++;
    grpc_stream_read_head(stream, head);
    grpc_stream_ready(stream);
    return stream->id ? stream : NULL; // else it was reset at once, for want of memory
}

static void unlink_stream(struct grpc_stream *stream)
{
    struct grpc_session *session = stream->session;
    grpc_stream_unready(stream);
    if (stream->next) {
        stream->next->previous = stream->previous;
    }
    *(stream->previous ? &stream->previous->next : &session->newest) = stream->next;
    session->stream_count--;
    session->kept -= stream->connection->input.size;
    session->unsent -= stream->unsent;
    stream->session = NULL;
    grpc_session_make_room(session);
}

static void count_end(struct grpc_stream *stream, enum grpc_code code)
{
    assert((unsigned)code < GRPC_CODES);
    if (!stream->counted) {
        stream->counted = true;
        stream->connection->server->grpc.figures.ended[code]++;
    }
}

static void stop_deadline(struct grpc_stream *stream)
{
    if (stream->has_deadline) {
        (void)event_del(&stream->deadline);
        stream->has_deadline = false;
    }
}

static void close_stream(struct connection *connection)
{
    struct grpc_stream *stream = connection->stream;
    struct grpc_session *session = stream->session;
    count_end(stream, GRPC_CANCELLED);
    stop_deadline(stream);
    grpc_unlisten(stream);
    event_stream_end(connection);
    grpc_leases_return(stream, stream->call.release_on_close);
    forget_authorization(stream);
    grpc_stream_release_room(stream);
    if (stream->id) {
        h2_stream_reset(session->h2, stream->id,
                        connection->overflowed ? H2_ENHANCE_YOUR_CALM : H2_CANCEL);
        stream->id = 0;
    }
    grpc_session_wake(session);
    unlink_stream(stream);
}

// ---------------------------------------------------------------------------------------------
// Its end

void grpc_stream_end(struct grpc_stream *stream, const struct grpc_fault *fault)
{
    struct connection *connection = stream->connection;
    if (stream->ended) {
        return;
    }
    stream->ended = true;
    if (&stream->fault != fault) {
        stream->fault = *fault;
    }
    if (stream->fault.code == GRPC_OK && stream->fault.error.status) {
        stream->fault.code = grpc_code_of(&stream->fault.error);
    }
    count_end(stream, stream->fault.code);
    stop_deadline(stream);
    grpc_unlisten(stream);
    event_stream_end(connection);
    if (connection->blocked) {
        blocked_end(connection->blocked);
    }
    background_forget(connection);
    connection_drain(connection);
    connection_flush(connection);
}

void grpc_stream_fail(struct grpc_stream *stream, enum grpc_code code, const char *format, ...)
{
    struct grpc_fault fault = { .code = code, .error = { .status = STATUS_INVALID } };
    va_list arguments;
    va_start(arguments, format);
    error_print(fault.error.detail, sizeof(fault.error.detail), format, arguments);
    va_end(arguments);
    stream->connection->server->figures.errors++;
    grpc_stream_end(stream, &fault);
}

void grpc_stream_finish(struct grpc_stream *stream)
{
    grpc_stream_end(stream, &(struct grpc_fault){ 0 });
}

// ---------------------------------------------------------------------------------------------
// Sending

void grpc_stream_count_unsent(struct grpc_stream *stream)
{
    size_t unsent = connection_unsent(stream->connection);
    if (stream->session) {
        stream->session->unsent += unsent - stream->unsent;
        stream->unsent = unsent;
    }
}

void grpc_stream_check_unsent(struct grpc_stream *stream)
{
    const struct server *server = stream->connection->server;
    grpc_stream_count_unsent(stream);
    if (stream->session && stream->session->unsent > server->settings.max_output) {
        connection_overflow(stream->connection);
    }
}

// Whether all that is said is sent, and how it ended may be told.
static bool is_done(const struct grpc_stream *stream)
{
    const struct output *output = &stream->connection->output;
    return stream->ended && !output->in_turn && output->holds == 0 && output_unsent(output) == 0;
}

struct tail {
    struct grpc_trailers trailers;
    struct h2_field fields[6];
    size_t count;
};

static void add_field(struct tail *tail, const char *name, struct slice value)
{
    tail->fields[tail->count++] = (struct h2_field){ slice_from_cstr(name), value };
}

static void add_head(struct tail *tail)
{
    add_field(tail, ":status", SLICE("200"));
    add_field(tail, "content-type", SLICE(CONTENT_TYPE));
    add_field(tail, "grpc-accept-encoding", SLICE(GRPC_ACCEPT_ENCODING));
}

static void add_status(struct tail *tail, const struct grpc_stream *stream)
{
    grpc_trailers_of(&tail->trailers, &stream->fault);
    add_field(tail, "grpc-status", slice_from_cstr(tail->trailers.status));
    if (tail->trailers.message_size) {
        add_field(tail, "grpc-message",
                  slice_make(tail->trailers.message, tail->trailers.message_size));
    }
    if (tail->trailers.details_size) {
        add_field(tail, "grpc-status-details-bin",
                  slice_make(tail->trailers.details, tail->trailers.details_size));
    }
}

static void reset(struct grpc_stream *stream)
{
    h2_stream_reset(stream->session->h2, stream->id, H2_INTERNAL_ERROR);
    stream->id = 0;
    resume(stream->connection); // closes it
}

// What the session cannot take for want of memory ends the stream.
static void send_head(struct grpc_stream *stream)
{
    struct tail tail = { .count = 0 };
    add_head(&tail);
    stream->head_sent = true;
    if (h2_stream_answer(stream->session->h2, stream->id, tail.fields, tail.count)) {
        reset(stream);
    }
}

static void send_status_only(struct grpc_stream *stream)
{
    struct tail tail = { .count = 0 };
    add_head(&tail);
    add_status(&tail, stream);
    stream->head_sent = true;
    if (h2_stream_answer_all(stream->session->h2, stream->id, tail.fields, tail.count)) {
        reset(stream);
    }
}

void grpc_stream_greet(struct grpc_stream *stream)
{
    if (!stream->head_sent && stream->id) {
        send_head(stream);
        grpc_session_wake(stream->session);
    }
}

static void flush(struct connection *connection)
{
    struct grpc_stream *stream = connection->stream;
    bool has_bytes = output_sendable(&connection->output).size > 0;
    if (connection->closed || !stream->id || (!has_bytes && !is_done(stream))) {
        return;
    }
    if (stream->head_sent) {
        h2_stream_resume(stream->session->h2, stream->id);
    } else if (has_bytes) {
        send_head(stream);
    } else {
        send_status_only(stream);
    }
    grpc_session_wake(stream->session);
}

// The tail is built where the session finds it until the next stream is read.
size_t grpc_stream_read(struct grpc_stream *stream, char *bytes, size_t size, struct h2_tail *tail)
{
    static struct tail last;
    struct connection *connection = stream->connection;
    struct output *output = &connection->output;
    struct slice sendable = slice_sub(output_sendable(output), 0, size);
    bool was_stalled = connection_is_stalled(connection);
    if (sendable.size) {
        memcpy(bytes, sendable.data, sendable.size);
        output_sent(output, sendable.size);
        output_compact(output);
        grpc_stream_count_unsent(stream);
        connection->active_us = server_elapsed(connection->server);
        if (was_stalled && !connection_is_stalled(connection)) {
            grpc_stream_ready(stream); // the session goes on behind this
        }
    }
    if (is_done(stream)) {
        last.count = 0;
        add_status(&last, stream);
        tail->ended = true;
        tail->fields = last.fields;
        tail->count = last.count;
        grpc_leases_sent(stream);
    }
    return sendable.size;
}

// ---------------------------------------------------------------------------------------------
// Replies of commands

static struct reply *begin(struct connection *connection, struct resp_writer *writer)
{
    (void)writer;
    struct grpc_stream *stream = connection->stream;
    stream->answer_at = connection->output.bytes.size;
    grpc_face_set_time(connection->server->grpc.face, server_now(connection->server));
    return grpc_face_reply(connection->server->grpc.face, &stream->call, &connection->output.bytes);
}

static uint64_t end(struct connection *connection, const struct resp_writer *writer)
{
    (void)writer;
    struct grpc_stream *stream = connection->stream;
    struct grpc_face *face = connection->server->grpc.face;
    struct grpc_fault fault = { 0 };
    uint64_t errors = grpc_face_errors(face);
    if (grpc_face_answer(face, &stream->call, &connection->output.bytes, &fault)) {
        grpc_stream_end(stream, &fault);
        return errors + 1;
    }
    grpc_leases_note(stream);
    grpc_stream_check_unsent(stream);
    if (stream->call.method->act == GRPC_ACT_COMMAND && !stream->call.more) {
        grpc_stream_end(stream, &fault);
    }
    return errors;
}

static enum grpc_code code_of(const char *code)
{
    static const struct {
        const char *word;
        enum grpc_code code;
    } codes[] = {
        { "NOAUTH", GRPC_UNAUTHENTICATED },
        { "WRONGPASS", GRPC_UNAUTHENTICATED },
        { "NOPERM", GRPC_PERMISSION_DENIED },
    };
    for (size_t i = 0; code && i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(codes[i].word, code) == 0) {
            return codes[i].code;
        }
    }
    return GRPC_OK;
}

// A reply that was held and never will be durable: whether the command did anything is not known. A
// client must not repeat the call as it would when it was refused.
static void give_up(struct grpc_stream *stream, const struct error *error)
{
    struct grpc_fault fault = { .code = GRPC_UNKNOWN, .error = *error };
    stream->ended = false;
    grpc_stream_end(stream, &fault);
}

static void refuse(struct connection *connection, const char *code, const struct error *error)
{
    struct grpc_stream *stream = connection->stream;
    struct grpc_fault fault = { .code = code_of(code), .error = *error };
    if (connection->output.failing) {
        give_up(stream, error);
    } else if (fault.code != GRPC_OK ||
               grpc_face_refuse(connection->server->grpc.face, &stream->call, error,
                                &connection->output.bytes, &fault)) {
        grpc_stream_end(stream, &fault);
    }
}

// The limits of connections are those of the connection that the stream is in.
static bool admits(struct connection *connection, const struct command *command)
{
    struct error error;
    if (crowd_check_command(connection->parent, command, &error)) {
        grpc_stream_fail(connection->stream, GRPC_RESOURCE_EXHAUSTED, "%s", error_sentence(&error));
        return false;
    }
    return true;
}

// It tells things by itself, and runs nothing.
static bool streams(const struct connection *connection)
{
    const struct grpc_stream *stream = connection->stream;
    bool watches = stream->subscribed && stream->call.method->act == GRPC_ACT_HEALTH_WATCH;
    return connection->events || (watches && !stream->ended);
}

static void finish_stream(struct connection *connection)
{
    grpc_stream_fail(connection->stream, GRPC_UNAUTHENTICATED, "the user was changed or removed");
}

static void stop(struct connection *connection)
{
    if (!connection->in_background) {
        grpc_stream_fail(connection->stream, GRPC_UNAVAILABLE,
                         "the server stops; call again, here or at another server");
    }
}

const struct protocol protocol_grpc = {
    .name = "grpc",
    .full = "",
    .open = open,
    .release = release,
    .close = close_stream,
    .admits = admits,
    .begin = begin,
    .end = end,
    .refuse = refuse,
    .streams = streams,
    .finish_stream = finish_stream,
    .stop = stop,
    .flush = flush,
    .resume = resume,
};
