// SPDX-License-Identifier: MIT
// Long work, on a thread of its own while the loop goes on; one at a time. The connection that asked
// for it runs no other request until the reply. If it closes, the work is still done, without a
// reply.
//
//      loop:    background_start                   (fd is readable) answer, release
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
    struct connection *connection; // who waits, or NULL
    int64_t began_us;
    // Written by the thread, read when it has been joined.
    enum status status;
    struct error error;
};

// As struct services has it. The work is run on the thread; the rest is done on the loop.
MUST_USE enum status background_start(struct call *call, const struct work *work,
                                      struct error *error);

// The connection goes away.
void background_forget(struct connection *connection);

// Waits for the work there is, if any. Before the store is closed.
void background_finish(struct server *server);
// After that, before the loop is gone.
void background_release(struct server *server);

#endif
