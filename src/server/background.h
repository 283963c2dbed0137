// SPDX-License-Identifier: MIT
// Long work that runs in a thread of its own while the loop continues; one work at a time. The
// connection that requested it runs no other request until the reply. If the connection closes, the
// work is still done, without a reply.
//
//      loop:    background_start                   (fd is readable) reply, release
//      thread:          +-- run .................. done --^
#ifndef SLUICE_SERVER_BACKGROUND_H
#define SLUICE_SERVER_BACKGROUND_H

#include "host/commands/services.h"
#include "server/loop.h"

#include <pthread.h>

struct connection;
struct server;

struct background {
    struct loop_event *done; // NULL until the first work
    int fd;                  // an eventfd
    bool busy;
    pthread_t thread;
    struct work work;
    struct connection *connection; // that waits for the reply, or NULL
    int64_t began_us;
    // Written by the thread; read after it has been joined.
    enum status status;
    struct error error;
};

// Implements `start` of struct services: `run` is called in the thread, the other functions in the
// loop.
MUST_USE enum status background_start(struct call *call, const struct work *work,
                                      struct error *error);

// To be called when the connection closes: the reply is dropped.
void background_forget(struct connection *connection);

// Waits for the work in progress, if any. To be called before the store is closed.
void background_finish(struct server *server);
// To be called after background_finish, before the loop is freed.
void background_release(struct server *server);

#endif
