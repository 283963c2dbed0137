// SPDX-License-Identifier: MIT
// Work that takes long, on a thread of its own while the loop goes on; one at a time. The
// connection that asked for it takes no other request until it is answered. If it goes away, the
// work is done all the same, and nobody is told.
//
//      loop:    background_start                   (fd is readable) answer, release
//      thread:          +-- run .................. done --^
#ifndef SLUICE_SERVER_BACKGROUND_H
#define SLUICE_SERVER_BACKGROUND_H

#include "api/reply.h"
#include "base/status.h"
#include "server/loop.h"

#include <pthread.h>

struct connection;
struct server;

struct work {
    const char *name;                                         // for the log: "backup"
    enum status (*run)(void *context, struct error *error);   // on the thread
    void (*answer)(const void *context, struct reply *reply); // on the loop, when it went well
    void (*release)(void *context);                           // on the loop, at last
    void *context;
};

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

// The command that is being run sets its call's wait to WAIT_HOST and says nothing. BUSY when there
// is work already. When it fails the work is not released.
MUST_USE enum status background_start(struct connection *connection, const struct work *work,
                                      struct error *error);

// The connection goes away.
void background_forget(struct connection *connection);

// Waits for the work there is, if any. Before the store is closed.
void background_finish(struct server *server);
// After that, before the loop is gone.
void background_release(struct server *server);

#endif
