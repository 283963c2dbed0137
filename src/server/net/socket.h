// SPDX-License-Identifier: MIT
// The descriptor of a connection: its bytes (transport.h) and the events that the loop watches.
// Nothing here knows what the bytes mean.
#ifndef SLUICE_SERVER_NET_SOCKET_H
#define SLUICE_SERVER_NET_SOCKET_H

#include "base/slice.h"
#include "server/loop.h"
#include "server/net/transport.h"

struct socket {
    struct transport transport;
    struct loop_event readable, writable;
    bool watches_read, watches_write; // whether the loop reports these events
    bool handshaking;                 // under TLS, and the handshake is not complete
};

// What is called when the socket can be read or written.
struct socket_events {
    event_callback_fn readable, writable;
    void *context;
};

// Takes over a descriptor whose transport is initialised. Watches nothing yet.
void socket_open(struct socket *socket, struct event_base *loop,
                 const struct socket_events *events);
void socket_close(struct socket *socket);

// The options of a TCP socket. A client that is gone without closing its connection is noticed
// after one and a half times `keepalive_us`; 0: the system's default.
void socket_set_options(int fd, int64_t keepalive_us);

void socket_watch_read(struct socket *socket, bool wanted);
void socket_watch_write(struct socket *socket, bool wanted);

// Sends bytes until all are sent or the transport takes no more, and says how many.
enum transport_result socket_send(struct socket *socket, struct slice bytes, size_t *sent);

// How many sent bytes the client's system has not confirmed. Under TLS that includes its framing.
size_t socket_undelivered(const struct socket *socket);

// Whether received bytes are still to be read. If such a socket is closed, the system drops what it
// has not sent yet.
bool socket_has_unread(const struct socket *socket);

#endif
