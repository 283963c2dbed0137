// SPDX-License-Identifier: MIT
// How many jobs fit into a reply: a pop must not hand out jobs that do not. A cheap bound of the
// size of a job is tried first, and the job is measured only if that is not enough.
#ifndef SLUICE_API_FIT_H
#define SLUICE_API_FIT_H

#include "api/reply.h"
#include "engine/engine.h"

struct fit {
    struct reply *reply; // borrowed
    const struct engine *engine;
    // bound: an upper bound of the bytes that the job takes in the reply. measure: the exact
    // number, except for what a lease changes, or SIZE_MAX.
    size_t (*bound)(const struct fit *fit, const struct job *job);
    size_t (*measure)(const struct fit *fit, const struct job *job);
    void *context;
    bool rough; // a bound may be several times the size

    size_t room, room_max; // for jobs: in this reply, and in an otherwise empty one
    size_t used;           // upper bound for the accepted jobs
    size_t used_before;    // the same without the last of them
    size_t accepted;
    bool exact; // `used` was measured
    bool later; // one was refused that would fit into an empty reply
    // jid of the first job that fits into no reply, borrowed from the engine; or empty
    struct slice never;
};

// `around`: what the reply needs besides jobs.
void fit_init(struct fit *fit, struct reply *reply, const struct engine *engine, size_t around);

// For `fits` of struct pop_request; the context is a struct fit.
enum pop_fit fit_check(void *context, const struct job *job, const struct job *const *popped,
                       size_t count);

// For a pop that handed out nothing: TOO_LARGE if a job did not fit; the message names the job.
MUST_USE enum status fit_refuse(const struct fit *fit, const char *command, struct error *error);

#endif
