// SPDX-License-Identifier: MIT
// Which workers pop on a connection (a handle, in a process). The engine has no connections: it is
// told that a worker has one, so that it is not forgotten while it waits long, and that one is
// closed, after which the worker listens no more.
#ifndef SLUICE_HOST_PRESENCE_H
#define SLUICE_HOST_PRESENCE_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct ns;
struct presence;

// Of a connection. Zeroed it is empty.
struct presences {
    struct presence *first; // owned
    size_t count;
};

// A worker has popped on the connection, from `host`. Does nothing when that is noted already. A
// connection notes a few workers; one that is not noted, also for want of memory, is forgotten by
// its age.
void presence_note(struct presences *presences, struct ns *ns, struct slice worker,
                   struct slice host);

// The connection is closed, and its workers are `gone`; or it has only stopped waiting for a job.
void presences_end(struct presences *presences, bool gone);

// A namespace is about to be gone.
void presences_leave(struct ns *ns);

#endif
