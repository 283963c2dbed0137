// SPDX-License-Identifier: MIT
// gRPC on a server: what its connections share. A connection (session.h) carries streams (stream.h),
// each of which is one call:
//
//      descriptor -- parent connection: session.h, HTTP/2; its output is never held
//                        | requests                        ^ answers
//                        v                                 |
//                    streams, connections of their own: held replies, waiting commands, a user
//
// So a call waits for the disk or for a job as a request of RESP does, and PING, SETTINGS and the
// other calls of the connection go on meanwhile.
#ifndef SLUICE_SERVER_GRPC_GRPC_H
#define SLUICE_SERVER_GRPC_GRPC_H

#include "base/map.h"
#include "engine/event.h"
#include "faces/grpc/grpc.h"
#include "faces/grpc/health.h"

struct grpc_session;
struct grpc_stream;
struct ns;
struct server;

enum {
    GRPC_CODES = 17,
};

struct grpc_figures {
    uint64_t calls;             // ever begun
    uint64_t ended[GRPC_CODES]; // by how they ended; a call that the client gave up is CANCELLED
    uint64_t refused;           // connections closed for what their clients did
    uint64_t returned;          // jobs given back since their answer had not left
};

struct grpc {
    struct grpc_face *face;                             // owned
    struct buffer unpacked;                             // the compressed message that is being run
    struct grpc_session *wakeful_first, **wakeful_last; // may have something to send
    size_t wakeful_count;
    struct map leases;             // that StreamNext has given and are alive
    struct grpc_stream *listeners; // of lost leases, or of the server's health
    enum grpc_health health;       // that listeners were told last
    bool changed;                  // an engine was changed behind the end of the turn
    struct grpc_figures figures;
};

// The commands must be there.
MUST_USE enum status grpc_init(struct server *server, struct error *error);
void grpc_release(struct server *server);

// The end of a turn, behind the commit: sends what may be sent. True: there is more to do at once.
bool grpc_send(struct server *server);

// Periodically: has calls look again that wait for a namespace.
void grpc_sweep(struct server *server);

// Tells those who watch it whether the server serves, if that has changed. In a turn.
void grpc_tell_health(struct server *server);

// The key of the map of leases.
struct slice grpc_lease_key(const void *lease);

// An event of the engine of a namespace; and a lease that has ended in it.
void grpc_tell_event(struct server *server, const struct ns *ns, const struct event *event);
void grpc_lease_ended(struct server *server, const struct ns *ns, struct slice jid);

// Whether the server serves.
enum grpc_health grpc_health_of(const struct server *server);

#endif
