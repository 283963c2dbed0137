// SPDX-License-Identifier: MIT
// A connection of HTTP/2, the server's end: bytes go in, and requests come out; answers go in, and
// bytes come out. It knows no descriptor, no loop and nothing of what the requests mean. nghttp2
// does the protocol.
//
//      bytes --> h2_session_receive --> opened, received, ended, reset    (ops)
//      bytes <-- h2_session_send    <-- read                              (ops)
//
// A stream is known by its number to the session and by a pointer to the owner. The ops are called
// while h2_session_receive or h2_session_send runs; they must not call either. What an op learns is
// dealt with afterwards. After `closed` the stream is unknown to the session.
//
// Flow control: the owner says which received bytes it has no need to keep back any more
// (h2_stream_consumed, h2_session_consumed). Until h2_session_widen the client may send 64 KiB in
// all that were not consumed, and heads of 8 KiB.
#ifndef SLUICE_SERVER_H2_SESSION_H
#define SLUICE_SERVER_H2_SESSION_H

#include "base/buffer.h"
#include "server/h2/head.h"

#include <stdint.h>

enum {
    H2_HEAD_SIZE_FIRST = 8 << 10, // before h2_session_widen
    H2_HEAD_SIZE_MAX = 16 << 10,
    H2_STREAM_WINDOW = 256 << 10,
    H2_WINDOW = 4 << 20,
};

// Codes of RST_STREAM and GOAWAY.
enum h2_code {
    H2_NO_ERROR = 0,
    H2_INTERNAL_ERROR = 2,
    H2_REFUSED_STREAM = 7,
    H2_CANCEL = 8,
    H2_ENHANCE_YOUR_CALM = 11,
};

struct h2_session;

// What is sent behind the last byte of an answer. Borrowed during the call of `read`.
struct h2_tail {
    bool ended; // there are no more bytes, now or later
    const struct h2_field *fields;
    size_t count;
};

struct h2_ops {
    // The head of a request has come. Gives what its stream is known by; NULL: it is refused, and
    // may be sent again. `stream` is its number.
    void *(*opened)(void *owner, int32_t stream, const struct h2_head *head);
    // A part of the request's body; and its end.
    void (*received)(void *stream, struct slice bytes);
    void (*ended)(void *stream);
    // The stream is closed: it was answered, or one side gave it up.
    void (*closed)(void *stream);
    // Writes the next bytes of the answer, at most `size`, and says how many; 0 with no end: there
    // are none yet, and h2_stream_resume will say when there are.
    size_t (*read)(void *stream, char *bytes, size_t size, struct h2_tail *tail);
};

struct h2_options {
    const struct allocator *allocator; // borrowed
    const struct h2_ops *ops;
    void *owner;
    uint32_t streams_max; // that the client may have open at once
    int64_t min_ping_us;  // between two pings; 0: any
};

// What the client did that its connection is closed for.
struct h2_figures {
    uint64_t requests;
    const char *complaint; // NULL: nothing
};

MUST_USE enum status h2_session_new(const struct h2_options *options, struct h2_session **out);
// No op is called.
void h2_session_free(struct h2_session *session);

// Bytes have come. False: the client broke the protocol or a limit. Then what there is to send is
// sent, and the connection is closed.
bool h2_session_receive(struct h2_session *session, struct slice bytes, int64_t now_us);

// Appends what there is to send while `out` has fewer than `size_max` bytes. False: there is no
// memory for it, and the connection is closed.
bool h2_session_send(struct h2_session *session, struct buffer *out, size_t size_max);

// Whether there is something to send.
bool h2_session_has_output(const struct h2_session *session);
// Whether nothing will be received and sent any more.
bool h2_session_is_over(const struct h2_session *session);
// What it was closed for.
struct h2_figures h2_session_figures(const struct h2_session *session);

// The client is trusted with larger windows and heads.
void h2_session_widen(struct h2_session *session);

// No more requests are taken. The client is told so, and answers. With its answer, or with
// h2_session_part, it is told which request was the last one, so that it makes the later ones
// elsewhere: those that were on their way when it heard the notice are refused one by one.
void h2_session_refuse(struct h2_session *session);
void h2_session_part(struct h2_session *session);
// Whether it was told which request was the last one, for this or another reason.
bool h2_session_has_parted(const struct h2_session *session);

// ---------------------------------------------------------------------------------------------
// Streams

// The head of the answer; `read` gives the rest. NO_MEMORY, as with all below: the owner resets it.
MUST_USE enum status h2_stream_answer(struct h2_session *session, int32_t stream,
                                      const struct h2_field *fields, size_t count);
// A head that is the whole answer.
MUST_USE enum status h2_stream_answer_all(struct h2_session *session, int32_t stream,
                                          const struct h2_field *fields, size_t count);
// `read` has bytes, or the end.
void h2_stream_resume(struct h2_session *session, int32_t stream);
// Gives it up.
void h2_stream_reset(struct h2_session *session, int32_t stream, enum h2_code code);

// So many bytes of what was received make room in the window of the stream; of the connection.
void h2_stream_consumed(struct h2_session *session, int32_t stream, size_t size);
void h2_session_consumed(struct h2_session *session, size_t size);

#endif
