// SPDX-License-Identifier: MIT
// A stream of a gRPC connection: one call, and a connection of its own (net/connection.h).
//
//      opened --> (login) --> admitted --> messages run --> ended --> told --> closed
//         |          |                         |              ^
//         +----------+-------------------------+--------------+  refused, deadline, server stops
//
// The status of a call that has ended is told when all its bytes were sent and nothing of it is held.
// The stream can be closed at any time, by either side. Jobs whose bytes have not left by then are
// given back, and no retry is counted.
#ifndef SLUICE_SERVER_GRPC_STREAM_H
#define SLUICE_SERVER_GRPC_STREAM_H

#include "base/sha256.h"
#include "server/grpc/grpc.h"
#include "server/grpc/session.h"
#include "server/loop.h"
#include "wire/grpc_header.h"

struct event_stream;
struct grpc_lease;

struct grpc_stream {
    struct connection *connection;
    struct grpc_session *session;        // NULL: closed
    struct grpc_stream *next, *previous; // of the session, the newest first
    struct grpc_stream *ready_next, *ready_previous;
    struct grpc_stream *listener_next, *listener_previous;
    bool ready, listens;
    int32_t id;       // 0: the session knows it no more
    bool input_ended; // the client sends no more messages
    bool admitted;    // its user is known
    bool waits_login; // for a check of credentials, its own or the same of another stream
    bool head_sent;   // HEADERS were sent, or are about to be
    bool counted;     // as a call that has ended
    bool ended;       // `fault` says how
    bool subscribed;  // its first message was taken, and it tells things by itself
    bool tries_again; // StreamNext in a namespace that is not there yet: looked at by grpc_sweep
    struct buffer authorization; // the metadata; empty: none
    uint8_t digest[SHA256_SIZE]; // of it
    enum grpc_encoding encoding;
    struct grpc_call call;
    struct grpc_fault fault;
    struct loop_event deadline;
    bool has_deadline;
    // Bytes received that make no room yet: in the window of the stream, and, as long as the client
    // has not authenticated, in that of the connection.
    size_t unconsumed, held_back;
    size_t answer_at;          // where the answer of the command that runs begins in the output
    size_t unsent;             // bytes of its output that the session counts
    struct grpc_lease *leases; // that it has given and may have to give back
    uint32_t in_flight;        // of StreamNext
    enum grpc_health told;     // Watch: what was told last
};

// ---------------------------------------------------------------------------------------------
// Life

// The head of a request has come. NULL: no memory.
struct grpc_stream *grpc_stream_open(struct grpc_session *session, int32_t id,
                                     const struct h2_head *head);

// Its session closes it, or has forgotten it.
void grpc_stream_forgotten(struct grpc_stream *stream);

// It has something to run. One that the session has forgotten comes first.
void grpc_stream_ready(struct grpc_stream *stream);
void grpc_stream_unready(struct grpc_stream *stream);

// The call ends: with this fault, or with a code and a sentence.
void grpc_stream_end(struct grpc_stream *stream, const struct grpc_fault *fault);
void grpc_stream_fail(struct grpc_stream *stream, enum grpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void grpc_stream_finish(struct grpc_stream *stream); // OK

// ---------------------------------------------------------------------------------------------
// Requests

// Reads the head: what is called, how long it may take. May end the call.
void grpc_stream_read_head(struct grpc_stream *stream, const struct h2_head *head);

// Finds out who calls. False: it has to wait, or was refused.
bool grpc_stream_admit(struct grpc_stream *stream);

// Runs what was received, as far as the turn permits.
void grpc_stream_run(struct grpc_stream *stream);

// Bytes of the request have come.
void grpc_stream_received(struct grpc_stream *stream, struct slice bytes);
// Gives the client room for as many bytes as the stream has no need to keep back; and on the
// connection for all bytes, since the client has authenticated or the stream ends.
void grpc_stream_make_room(struct grpc_stream *stream);
// The same for streams that got none because too much was kept. Less is kept now.
void grpc_session_make_room(struct grpc_session *session);
void grpc_stream_release_room(struct grpc_stream *stream);

// ---------------------------------------------------------------------------------------------
// Answers

// Its output has more bytes, or fewer.
void grpc_stream_count_unsent(struct grpc_stream *stream);
// It has written something by itself. If the streams of the connection have more bytes unsent than
// max-output, it is closed at the end of the turn.
void grpc_stream_check_unsent(struct grpc_stream *stream);

// Sends the head of the answer now, before there is an answer.
void grpc_stream_greet(struct grpc_stream *stream);

// The next bytes for the session, as h2_ops.read has it.
size_t grpc_stream_read(struct grpc_stream *stream, char *bytes, size_t size, struct h2_tail *tail);

// ---------------------------------------------------------------------------------------------
// Leases

// Notes the jobs that the answer which was just written hands out.
void grpc_leases_note(struct grpc_stream *stream);
// Gives back the jobs whose bytes have not left; those that have left are forgotten, or with `all`
// given back too.
void grpc_leases_return(struct grpc_stream *stream, bool all);
// The answer has left as a whole.
void grpc_leases_sent(struct grpc_stream *stream);

// ---------------------------------------------------------------------------------------------
// Listeners

void grpc_listen(struct grpc_stream *stream);
void grpc_unlisten(struct grpc_stream *stream);

// The call Events, with its message.
void grpc_events_begin(struct grpc_stream *stream, struct slice message);

#endif
