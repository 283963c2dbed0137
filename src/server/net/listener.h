// SPDX-License-Identifier: MIT
// Sockets that are listened to. When the process has no descriptor left for another connection they
// rest until one is closed, or a moment has passed.
#ifndef SLUICE_SERVER_NET_LISTENER_H
#define SLUICE_SERVER_NET_LISTENER_H

#include "server/config/address.h"

#include <stdbool.h>
#include <stdint.h>

struct loop_event;
struct protocol;
struct server;

struct listener {
    struct server *server;
    int fd;
    bool secure; // TLS
    const struct protocol *protocol;
    struct loop_event *event;
    struct address address;
    uint64_t device, inode; // of a Unix socket's file
};

// All that the settings name.
MUST_USE enum status listeners_open(struct server *server, struct error *error);
void listeners_close(struct server *server);

// Accepts again, if they rest.
void listeners_resume(struct server *server);

#endif
