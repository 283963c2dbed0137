// SPDX-License-Identifier: MIT
// A queue in this process: a folder, whose engines run in the threads that call.
#ifndef SLUICE_CLIENT_LOCAL_H
#define SLUICE_CLIENT_LOCAL_H

#include "client/folder.h"
#include "client/fork.h"
#include "client/link.h"
#include "wire/resp_request.h"

#include <stdatomic.h>

struct local {
    struct link link; // first
    struct fork_guard guard;
    struct folder_user user;
    struct folder *folder;
    struct presences
        presences; // of the workers that pop through it; protected by the folder's mutex
    int64_t timeout_us;
    size_t max_payload;
    int interrupt; // an event that is readable while calls that wait are interrupted
    atomic_bool interrupted, all_interrupted;
};

static inline struct local *local_of(struct link *link)
{
    return (struct local *)(void *)link;
}

// The limits of a request.
struct resp_limits local_limits(const struct local *local);

enum sluice_status local_listen(struct link *link, struct slice ns, struct slice channel,
                                struct listening **out, struct sluice_error *error);

#endif
