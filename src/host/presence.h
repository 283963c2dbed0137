// SPDX-License-Identifier: MIT
// Which workers pop on a connection (in process, on a handle). The engine has no connections: it is
// told that a worker has one, so that a worker that waits long is not removed, and when it is
// closed, so that the worker is no longer listed as connected.
#ifndef SLUICE_HOST_PRESENCE_H
#define SLUICE_HOST_PRESENCE_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct ns;
struct presence;

// The workers of a connection. All zeros is empty.
struct presences {
    struct presence *first; // owned
    size_t count;
};

// To be called when a worker has popped on the connection, from `host`. Does nothing if the worker
// is known. Only a few workers of a connection are recorded; others, and those for which there is
// no memory, are removed by their age.
void presence_note(struct presences *presences, struct ns *ns, struct slice worker,
                   struct slice host);

// `gone`: the connection was closed, and so its workers are gone. Otherwise it has only stopped
// waiting for a job.
void presences_end(struct presences *presences, bool gone);

// To be called before a namespace is freed.
void presences_leave(struct ns *ns);

#endif
