// SPDX-License-Identifier: MIT
// A queue on a server. Each call takes a connection, an idle or a new
// one, and gives it back. Any number of threads can make calls, and a call that waits does not
// delay others.
#ifndef SLUICE_CLIENT_REMOTE_H
#define SLUICE_CLIENT_REMOTE_H

#include "client/deadline.h"
#include "client/dialog.h"
#include "client/link.h"

#include <pthread.h>

struct remote {
    struct link link;
    struct fork_guard guard;
    struct peer peer;
    int64_t timeout_us;
    void (*log)(void *context, enum sluice_log_level level, const char *sentence);
    void *log_context;
    bool fail_fast;
    int wake; // an event that is readable while calls that wait are interrupted
    int halt; // the same for all other calls
    pthread_mutex_t mutex;
    struct dialog *idle;
    size_t idle_count;
};

static inline struct remote *remote_of(struct link *link)
{
    return (struct remote *)(void *)link; // it is the first member
}

// Whether another attempt to connect may succeed after this status.
bool may_work_later(enum sluice_status status);

enum sluice_status remote_listen(struct link *link, struct slice ns, struct slice channel,
                                 struct listening **out, struct sluice_error *error);

#endif
