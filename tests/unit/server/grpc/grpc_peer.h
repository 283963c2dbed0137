// SPDX-License-Identifier: MIT
// A client of gRPC on a server whose turns the test runs (loop_test.h): nghttp2 on the client's end of
// a socket. Messages are written by hand, so that the tests know no generated code.
#ifndef SLUICE_GRPC_PEER_H
#define SLUICE_GRPC_PEER_H

#include "loop_test.h"

#include <nghttp2/nghttp2.h>

enum {
    PEER_CALLS = 64,
};

// What was heard of a call, by its number.
struct peer_call {
    int32_t stream;
    struct buffer request; // what is sent, whole frames of gRPC or not
    bool half_closes;      // behind that
    size_t sent;
    char http_status[8], status[8]; // "": not heard
    char message[256];
    struct buffer answer;
    bool closed;
};

struct grpc_peer {
    struct loop_client client;
    nghttp2_session *session;
    struct peer_call calls[PEER_CALLS];
    size_t count;
    size_t pongs;
    bool goaway;
};

void grpc_peer_init(struct grpc_peer *peer, struct loop_test *test);
void grpc_peer_release(struct grpc_peer *peer);

// Begins a call with this request; gives its number. `timeout` may be NULL.
size_t grpc_peer_call(struct grpc_peer *peer, const char *path, const struct buffer *request,
                      const char *timeout);
// The same for a head of the test's own.
size_t grpc_peer_request(struct grpc_peer *peer, const nghttp2_nv *head, size_t head_size,
                         const struct buffer *request);

// Sends what there is to send, runs a turn, and hears what has come.
void grpc_peer_turn(struct grpc_peer *peer);
// Until the call has ended; asserts its status.
void grpc_peer_expect(struct grpc_peer *peer, size_t call, const char *status);

// ---------------------------------------------------------------------------------------------
// Messages, appended: fields of a protobuf, and the frame around them.

void put_text(struct buffer *out, unsigned field, const char *text);
void put_number(struct buffer *out, unsigned field, uint64_t number);
void put_message(struct buffer *out, unsigned field, const struct buffer *message);
// Frees the message.
void put_frame(struct buffer *out, struct buffer *message);

// AddRequest to a queue of the namespace app; NextRequest of the worker w, which waits so long.
void put_add(struct buffer *out, const char *queue);
void put_next(struct buffer *out, const char *queue, unsigned wait_s);

#endif
