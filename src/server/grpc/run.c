// SPDX-License-Identifier: MIT
// Messages of a stream become commands, which run as those of any connection do (execute.h).
#include "faces/grpc/reflection.h"
#include "server/execute.h"
#include "server/grpc/stream.h"
#include "server/grpc/unpack.h"
#include "server/server.h"
#include "wire/grpc_frame.h"

// ---------------------------------------------------------------------------------------------
// Flow control

// Whether the stream is the oldest one that lacks a part of its message.
static bool is_oldest(const struct grpc_stream *stream)
{
    for (const struct grpc_stream *at = stream->next; at; at = at->next) {
        if (!at->ended && !at->input_ended && at->connection->input.size) {
            return false;
        }
    }
    return true;
}

static bool is_trusted(const struct grpc_stream *stream)
{
    return stream->session->connection->user != NULL;
}

void grpc_stream_make_room(struct grpc_stream *stream)
{
    struct grpc_session *session = stream->session;
    if (!session || !stream->unconsumed || !stream->id) {
        return;
    }
    // What is kept of a stream whose messages cannot be run now stays in its window, except for what
    // a message needs that does not fit the window.
    bool waits = stream->waits_login || connection_is_stalled(stream->connection) ||
                 stream->connection->server->store_state == STORE_BUSY;
    bool full = session->kept >= grpc_session_kept_max(session) / 2 && !is_oldest(stream);
    session->throttled |= full;
    if (waits || full) {
        return;
    }
    h2_stream_consumed(session->h2, stream->id, stream->unconsumed);
    stream->unconsumed = 0;
    grpc_session_wake(session);
}

void grpc_session_make_room(struct grpc_session *session)
{
    if (session->throttled) {
        session->throttled = false;
        for (struct grpc_stream *at = session->newest; at; at = at->next) {
            grpc_stream_make_room(at);
        }
    }
}

void grpc_stream_release_room(struct grpc_stream *stream)
{
    if (stream->held_back) {
        h2_session_consumed(stream->session->h2, stream->held_back);
        stream->held_back = 0;
        grpc_session_wake(stream->session);
    }
}

void grpc_stream_received(struct grpc_stream *stream, struct slice bytes)
{
    struct grpc_session *session = stream->session;
    struct connection *connection = stream->connection;
    if (stream->ended) {
        h2_session_consumed(session->h2, bytes.size);
        return; // it is not read any more
    }
    // Messages that are complete and wait to be run count too: with the room full of them not even
    // the oldest incomplete one is kept.
    size_t kept_max = grpc_session_kept_max(session);
    bool is_full = session->kept - connection->input.size >= kept_max;
    if (session->kept + bytes.size > kept_max && (is_full || !is_oldest(stream))) {
        h2_session_consumed(session->h2, bytes.size);
        grpc_stream_fail(stream, GRPC_RESOURCE_EXHAUSTED,
                         "the messages of this connection that are incomplete or wait take more "
                         "than %zu bytes",
                         kept_max);
        return;
    }
    buffer_append(&connection->input, bytes);
    if (connection->input.status) {
        h2_session_consumed(session->h2, bytes.size);
        grpc_stream_fail(stream, GRPC_RESOURCE_EXHAUSTED, "there is no memory for the message");
        return;
    }
    session->kept += bytes.size;
    stream->unconsumed += bytes.size;
    if (is_trusted(stream)) {
        h2_session_consumed(session->h2, bytes.size);
    } else {
        stream->held_back += bytes.size;
    }
    grpc_stream_ready(stream);
}

// The front of the input was dealt with.
static void drop(struct grpc_stream *stream, size_t size)
{
    buffer_consume(&stream->connection->input, size);
    stream->session->kept -= size;
    grpc_stream_release_room(stream);
    grpc_session_make_room(stream->session);
}

// ---------------------------------------------------------------------------------------------
// Messages

static void say(struct grpc_stream *stream)
{
    connection_output_begin(stream->connection);
}

static void said(struct grpc_stream *stream, const struct grpc_fault *fault, enum status status)
{
    connection_output_end(stream->connection, 1);
    if (status) {
        grpc_stream_end(stream, fault);
    } else if (!stream->call.method->streams_in && !stream->subscribed) {
        grpc_stream_finish(stream);
    }
}

// A message that is not understood. Of StreamAdd that is an answer like others.
static void refuse_message(struct grpc_stream *stream, const struct grpc_fault *fault)
{
    struct connection *connection = stream->connection;
    struct grpc_fault later = *fault;
    connection->server->figures.errors++;
    if (stream->call.method->act != GRPC_ACT_ADDS || fault->code != GRPC_OK) {
        grpc_stream_end(stream, fault);
        return;
    }
    say(stream);
    enum status status = grpc_face_refuse(connection->server->grpc.face, &stream->call,
                                          &fault->error, &connection->output.bytes, &later);
    said(stream, &later, status);
}

// The command that a message is, or the commands, one after the other.
static void run_commands(struct grpc_stream *stream, struct slice message)
{
    struct connection *connection = stream->connection;
    struct server *server = connection->server;
    do {
        struct grpc_fault fault = { 0 };
        enum status status = grpc_face_decode(server->grpc.face, &stream->call, message, &fault);
        if (!status) {
            status = execute_check_words(&server->settings, stream->call.words, &fault.error);
        }
        if (status) {
            refuse_message(stream, &fault);
            return;
        }
        execute(connection, stream->call.words);
    } while (stream->call.more && !stream->ended && !connection->overflowed);
}

static void pop_more(struct grpc_stream *stream, struct slice message)
{
    uint32_t before = stream->in_flight;
    stream->tries_again = false;
    stream->call.count =
        before ? stream->call.in_flight_max - before : 0; // the first decode learns the maximum
    run_commands(stream, message);
    grpc_stream_greet(stream);
    // Not even a namespace to wait in.
    stream->tries_again =
        !stream->ended && !stream->connection->blocked && stream->in_flight == before;
}

static void run_health(struct grpc_stream *stream, struct slice message)
{
    struct connection *connection = stream->connection;
    enum grpc_act act = stream->call.method->act;
    enum grpc_health health = grpc_health_of(connection->server);
    bool known = true;
    struct grpc_fault fault = { 0 };
    enum status status = STATUS_OK;
    if (act != GRPC_ACT_HEALTH_LIST) {
        status = grpc_health_read(message, &known, &fault);
    }
    if (!status && !known && act == GRPC_ACT_HEALTH_CHECK) {
        status = grpc_fault_set(&fault, GRPC_NOT_FOUND, STATUS_NOT_FOUND,
                                "there is no service of this name");
    }
    say(stream);
    if (!status && act == GRPC_ACT_HEALTH_LIST) {
        grpc_health_write_list(health, &connection->output.bytes);
    } else if (!status) {
        stream->told = known ? health : GRPC_HEALTH_SERVICE_UNKNOWN;
        grpc_health_write(stream->told, &connection->output.bytes);
    }
    if (!status && act == GRPC_ACT_HEALTH_WATCH) {
        stream->subscribed = true;
        grpc_listen(stream);
    }
    said(stream, &fault, status);
}

static void run_reflection(struct grpc_stream *stream, struct slice message)
{
    struct grpc_fault fault = { 0 };
    say(stream);
    said(stream, &fault, grpc_reflect(message, &stream->connection->output.bytes, &fault));
}

static void run_message(struct grpc_stream *stream, struct slice message)
{
    struct server *server = stream->connection->server;
    switch (stream->call.method->act) {
    case GRPC_ACT_COMMAND:
    case GRPC_ACT_ADDS:
        run_commands(stream, message);
        break;
    case GRPC_ACT_NEXTS:
        stream->subscribed = true;
        pop_more(stream, message);
        break;
    case GRPC_ACT_KEEPALIVE:
        run_commands(stream, message);
        if (!stream->ended) {
            grpc_listen(stream);
        }
        break;
    case GRPC_ACT_EVENTS:
        grpc_events_begin(stream, message);
        break;
    case GRPC_ACT_HEALTH_CHECK:
    case GRPC_ACT_HEALTH_LIST:
    case GRPC_ACT_HEALTH_WATCH:
        server->figures.commands++;
        run_health(stream, message);
        break;
    case GRPC_ACT_REFLECTION:
        server->figures.commands++;
        run_reflection(stream, message);
        break;
    }
}

// Why a message may not have more bytes.
static const char *why(const struct grpc_stream *stream)
{
    return stream->connection->user ? " (max-request)"
                                    : " from a client that has not authenticated";
}

// The message of a frame, unpacked.
static bool unpack(struct grpc_stream *stream, const struct grpc_frame *frame, size_t size_max,
                   struct slice *out)
{
    struct server *server = stream->connection->server;
    struct buffer *unpacked = &server->grpc.unpacked;
    *out = frame->message;
    if (!frame->compressed) {
        return true;
    }
    if (stream->encoding == GRPC_ENCODING_IDENTITY) {
        grpc_stream_fail(stream, GRPC_INTERNAL, "a compressed message without a grpc-encoding");
        return false;
    }
    buffer_clear(unpacked);
    unpacked->size_max = size_max;
    enum status status = grpc_unpack(stream->encoding, frame->message, unpacked);
    if (status == STATUS_INVALID) {
        grpc_stream_fail(stream, GRPC_INTERNAL, "the message does not unpack");
    } else if (status == STATUS_TOO_LARGE) {
        server->figures.oversized++;
        grpc_stream_fail(stream, GRPC_RESOURCE_EXHAUSTED,
                         "the message unpacks to more than %zu bytes%s", size_max, why(stream));
    } else if (status) {
        grpc_stream_fail(stream, GRPC_RESOURCE_EXHAUSTED, "there is no memory for the message");
    }
    *out = buffer_slice(unpacked);
    return !status;
}

// There is no whole message.
static void lack(struct grpc_stream *stream, size_t size)
{
    const struct grpc_method *method = stream->call.method;
    if (!stream->input_ended) {
        return;
    }
    if (size) {
        grpc_stream_fail(stream, GRPC_INTERNAL, "the last message is cut off");
    } else if (!method->streams_in) {
        grpc_stream_fail(stream, GRPC_UNIMPLEMENTED, "a call of %s has one message, not none",
                         method->name);
    } else {
        grpc_stream_finish(stream);
    }
}

// A message at the front of the input; false: there is none that can be run.
static bool next_message(struct grpc_stream *stream, struct slice *message, size_t *size)
{
    const struct connection *connection = stream->connection;
    const struct grpc_method *method = stream->call.method;
    struct slice input = buffer_slice(&connection->input);
    struct slice rest = input;
    struct grpc_frame frame;
    size_t size_max =
        connection->user ? (size_t)connection->server->settings.max_request : UNAUTHENTICATED_SIZE;
    switch (grpc_frame_next(&rest, size_max, &frame, NULL)) {
    case GRPC_FRAME_MORE:
        lack(stream, input.size);
        return false;
    case GRPC_FRAME_BROKEN:
        grpc_stream_fail(stream, GRPC_INTERNAL, "the message does not begin with 0 or 1");
        return false;
    case GRPC_FRAME_TOO_LARGE:
        connection->server->figures.oversized++;
        grpc_stream_fail(stream, GRPC_RESOURCE_EXHAUSTED, "a message of more than %zu bytes%s",
                         size_max, why(stream));
        return false;
    case GRPC_FRAME_WHOLE:
        break;
    }
    if (!method->streams_in && rest.size) {
        grpc_stream_fail(stream, GRPC_UNIMPLEMENTED, "a call of %s has one message, not two",
                         method->name);
        return false;
    }
    *size = input.size - rest.size;
    return (method->streams_in || stream->input_ended) && unpack(stream, &frame, size_max, message);
}

static bool may_run(const struct grpc_stream *stream)
{
    const struct grpc_call *call = &stream->call;
    bool is_full = call->method->act == GRPC_ACT_NEXTS && stream->subscribed &&
                   (stream->in_flight >= call->in_flight_max || stream->tries_again);
    return !stream->ended && !is_full && connection_may_serve(stream->connection);
}

// The message of a call that has one is kept for as long as it may be read again.
static void settle_message(struct grpc_stream *stream, size_t size)
{
    struct connection *connection = stream->connection;
    if (stream->session && stream->call.method->streams_in) {
        drop(stream, size);
    } else if (stream->session && stream->ended) {
        drop(stream, connection->input.size);
        buffer_release(&connection->input);
    }
}

void grpc_stream_run(struct grpc_stream *stream)
{
    struct connection *connection = stream->connection;
    struct schedule *schedule = &connection->server->schedule;
    if (!stream->id) {
        connection_close(connection);
        return;
    }
    if (stream->ended || stream->waits_login || (!stream->admitted && !grpc_stream_admit(stream))) {
        return;
    }
    if (is_trusted(stream)) {
        grpc_stream_release_room(stream);
    }
    bool ran = true;
    while (may_run(stream) && (ran = schedule_goes_on(schedule))) {
        struct slice message;
        size_t size;
        if (!next_message(stream, &message, &size)) {
            break;
        }
        int64_t began_us = schedule->now_us;
        run_message(stream, message);
        grpc_stream_count_unsent(stream);
        settle_message(stream, size);
        schedule_spend(schedule, size);
        if (schedule->now_us == began_us) {
            (void)schedule_now(schedule);
        }
    }
    if (!ran) {
        grpc_stream_ready(stream);
    }
    grpc_stream_make_room(stream);
}
