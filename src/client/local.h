// SPDX-License-Identifier: MIT
// A queue in this process: a folder, whose engines the caller's own threads run.
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
    struct presences presences; // the workers that pop through it; with the folder's mutex
    int64_t timeout_us;
    size_t max_payload;
    int interrupt; // an event that is readable while calls that wait are interrupted
    atomic_bool interrupted, all_interrupted;
};

static inline struct local *local_of(struct link *link)
{
    return (struct local *)(void *)link;
}

// What a request to the queue may have.
struct resp_limits local_limits(const struct local *local);

enum sluice_status local_listen(struct link *link, struct slice ns, struct slice channel,
                                struct listening **out, struct sluice_error *error);

#endif
