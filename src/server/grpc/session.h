// SPDX-License-Identifier: MIT
// A connection of gRPC: a session of HTTP/2 on a descriptor, and the streams in it. It reads as long
// as its client takes the answers, whatever the store does; its own output is never held.
//
// What its streams keep of incomplete messages is bounded: with half of the bound kept, only the
// oldest stream that lacks a part of its message gets more room in its window, so that it can be
// completed; beyond the bound the stream that brought more ends with RESOURCE_EXHAUSTED.
//
// What its streams write is bounded by max-output. With half of that unsent no message is run until
// the client takes answers; beyond it a stream that tells things by itself, or whose command waited,
// is closed.
#ifndef SLUICE_SERVER_GRPC_SESSION_H
#define SLUICE_SERVER_GRPC_SESSION_H

#include "base/sha256.h"
#include "server/grpc/grpc.h"
#include "server/h2/session.h"
#include "server/loop.h"

struct connection;
struct user;

enum {
    GRPC_KNOWN_USERS = 4,     // credentials that a connection remembers
    GRPC_KEPT_MORE = 1 << 20, // beyond max-request
};

// A user whose credentials were accepted on the connection, so that they are not checked again.
struct grpc_known {
    const struct user *user; // NULL: none
    uint64_t since;          // how often the users had changed
    uint8_t digest[SHA256_SIZE];
};

struct grpc_session {
    struct connection *connection;
    struct h2_session *h2; // owned
    struct grpc_session *wakeful_next;
    bool wakeful;
    struct grpc_stream *newest; // of all streams
    size_t stream_count;
    struct grpc_stream *ready_first, *ready_last; // those with something to run
    size_t kept;                                  // bytes in the input of all streams
    bool throttled; // a stream got no room in its window because of that
    size_t unsent;  // bytes in the output of all streams
    struct grpc_known known[GRPC_KNOWN_USERS];
    size_t known_next;
    uint8_t login_digest[SHA256_SIZE]; // of the login that waits (connection->login)
    struct loop_event parting;         // of a stop: the client has not answered to the notice
    bool is_parting;
    bool complained; // it was logged why it is closed
};

// It may have something to send: looked at at the end of the turn.
void grpc_session_wake(struct grpc_session *session);
// It is looked at no more.
void grpc_session_sleep(struct grpc_session *session);

// Sends what there is, as far as the client takes it.
void grpc_session_send(struct grpc_session *session);

// The client has authenticated as this user.
void grpc_session_trust(struct grpc_session *session, const struct user *user);

// How many bytes its streams may keep.
size_t grpc_session_kept_max(const struct grpc_session *session);

#endif
