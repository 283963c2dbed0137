// SPDX-License-Identifier: MIT
#include "server/http/metrics_stream.h"

#include "host/host_clock.h"
#include "server/http/metrics_jobs.h"
#include "server/http/web.h"
#include "server/log/log.h"
#include "server/server.h"
#include "wire/http_reply.h"

enum {
    SLICE_US = 1000,        // of a turn, for all streams together
    CHUNK_SIZE = 64 << 10,  // at most
    CHUNK_PARTS = 8,        // a chunk is no larger than such a part of max-output
    STEPS_BEFORE_CLOCK = 32 // steps between two looks at the clock
};

struct metrics_stream {
    struct metrics_stream *next, *previous; // of the server's
    struct connection *connection;
    struct metrics_jobs *jobs; // owned; NULL: all is written
    struct buffer out;         // text that is not sent yet
    struct metrics_text text;
    bool chunked;
    int64_t moved_us; // when text was sent last
};

static void stream_free(struct metrics_stream *stream)
{
    metrics_jobs_free(stream->jobs);
    buffer_release(&stream->out);
    mem_free(stream->connection->server->settings.allocator, stream, sizeof(*stream));
}

void metrics_stream_end(struct connection *connection)
{
    struct metrics_stream *stream = connection->web->metrics;
    if (!stream) {
        return;
    }
    struct metrics_streams *all = &connection->server->metrics_streams;
    if (stream->next) {
        stream->next->previous = stream->previous;
    }
    *(stream->previous ? &stream->previous->next : &all->newest) = stream->next;
    all->count--;
    connection->web->metrics = NULL;
    stream_free(stream);
}

static void link_up(struct metrics_stream *stream)
{
    struct metrics_streams *all = &stream->connection->server->metrics_streams;
    stream->next = all->newest;
    if (all->newest) {
        all->newest->previous = stream;
    }
    all->newest = stream;
    all->count++;
    stream->connection->web->metrics = stream;
}

enum status metrics_stream_begin(struct connection *connection, const struct http_call *call,
                                 const struct metrics_text *text, struct metrics_jobs *jobs,
                                 struct error *error)
{
    struct server *server = connection->server;
    if (server->metrics_streams.count >= METRICS_STREAMS_MAX) {
        return error_set(error, STATUS_BUSY, "%d clients are being sent metrics; try again later",
                         METRICS_STREAMS_MAX);
    }
    struct metrics_stream *stream = mem_zalloc(server->settings.allocator, sizeof(*stream));
    if (!stream) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the metrics");
    }
    *stream = (struct metrics_stream){ .connection = connection,
                                       .jobs = jobs,
                                       .out = *text->out,
                                       .text = *text,
                                       .chunked = !call->http_1_0,
                                       .moved_us = server_elapsed(server) };
    stream->text.out = &stream->out;
    connection->web->call.close |= call->http_1_0; // the end of the text is that of the connection
    bool whole = call->head, close = connection->web->call.close;
    link_up(stream);
    connection_output_begin(connection);
    http_face_stream(server->web.face, call, metrics_type(text->open), &connection->output.bytes);
    if (whole) {
        metrics_stream_end(connection);
    }
    connection_output_end(connection, 1);
    if (whole && close && !connection->closed) {
        connection_drain(connection);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

// How many bytes the connection can take now.
static size_t room_of(const struct metrics_stream *stream)
{
    const struct connection *connection = stream->connection;
    size_t max = connection->server->settings.max_output / CHUNK_PARTS;
    max = max < CHUNK_SIZE ? max : CHUNK_SIZE;
    return connection_unsent(connection) < max ? max : 0;
}

// The reply cannot be finished: the connection ends without the end of the chunks, by which the
// client sees that it is not whole.
static void fail(struct connection *connection)
{
    metrics_stream_end(connection);
    connection_drain(connection);
    connection_flush(connection);
}

static void finish(struct metrics_stream *stream)
{
    struct connection *connection = stream->connection;
    bool close = connection->web->call.close;
    connection_output_begin(connection);
    if (stream->chunked) {
        http_reply_chunks_end(&connection->output.bytes);
    }
    metrics_stream_end(connection);
    connection_output_end(connection, 0);
    if (connection->closed) {
        return;
    }
    if (close) {
        connection_drain(connection);
    } else {
        connection_resume(connection);
    }
}

// May end the stream.
static void send_piece(struct metrics_stream *stream, size_t room)
{
    struct connection *connection = stream->connection;
    struct slice piece = slice_sub(buffer_slice(&stream->out), 0, room);
    stream->moved_us = server_elapsed(connection->server);
    connection_output_begin(connection);
    if (stream->chunked) {
        http_reply_chunk(&connection->output.bytes, piece);
    } else {
        buffer_append(&connection->output.bytes, piece);
    }
    buffer_consume(&stream->out, piece.size);
    connection_output_end(connection, 0);
}

// Writes text until there is enough for a chunk or the time is over.
static void write_text(struct metrics_stream *stream, size_t enough, int64_t end_us)
{
    size_t steps = 0;
    while (stream->jobs && stream->out.size < enough &&
           (++steps % STEPS_BEFORE_CLOCK || host_clock_monotonic() < end_us)) {
        if (!metrics_jobs_step(stream->jobs, &stream->text)) {
            metrics_jobs_free(stream->jobs);
            stream->jobs = NULL;
            metrics_page_end(stream->connection->server, &stream->text);
        }
    }
}

// One chunk of a page, or a part of it; says whether another one could be sent now.
static bool go_on(struct metrics_stream *stream, int64_t end_us)
{
    struct connection *connection = stream->connection;
    size_t room = connection->draining ? 0 : room_of(stream);
    if (!room) {
        return false;
    }
    write_text(stream, room, end_us);
    if (stream->out.status) {
        fail(connection);
        return false;
    }
    if (stream->out.size >= room || (!stream->jobs && stream->out.size)) {
        send_piece(stream, room);
    }
    if (connection->web->metrics != stream) {
        return false;
    }
    if (!stream->jobs && !stream->out.size) {
        finish(stream);
        return false;
    }
    return room_of(stream) > 0;
}

void metrics_streams_go_on(struct server *server)
{
    if (!server->metrics_streams.newest) {
        return;
    }
    int64_t end_us = host_clock_monotonic() + SLICE_US;
    struct metrics_stream *next;
    for (struct metrics_stream *stream = server->metrics_streams.newest; stream; stream = next) {
        next = stream->next;
        while (host_clock_monotonic() < end_us && go_on(stream, end_us)) {
            ;
        }
    }
}

bool metrics_streams_are_due(const struct server *server)
{
    for (const struct metrics_stream *at = server->metrics_streams.newest; at; at = at->next) {
        if (!at->connection->draining && room_of(at)) {
            return true;
        }
    }
    return false;
}

void metrics_streams_sweep(struct server *server)
{
    int64_t patience_us = server->settings.http_request_timeout_us;
    struct metrics_stream *next;
    for (struct metrics_stream *stream = server->metrics_streams.newest; stream; stream = next) {
        next = stream->next;
        struct connection *connection = stream->connection;
        if (patience_us && server_elapsed(server) - stream->moved_us > patience_us) {
            server->figures.slow++;
            log_line(LOG_LEVEL_WARNING, "client does not read metrics; closing connection",
                     LOG_STRING("address", connection->address),
                     LOG_NUMBER("unread", connection_unsent(connection)));
            connection_close(connection);
        }
    }
}
