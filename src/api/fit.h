// SPDX-License-Identifier: MIT
// How many jobs fit an answer: for pops, which must not hand out what they cannot say. The size of
// a job in an answer is bounded cheaply first, and measured only when that is not enough.
#ifndef SLUICE_API_FIT_H
#define SLUICE_API_FIT_H

#include "api/reply.h"
#include "engine/engine.h"

struct fit {
    struct reply *reply; // borrowed
    const struct engine *engine;
    // At most how many bytes of the answer the job takes; and how many exactly, but for what a
    // lease changes, or SIZE_MAX.
    size_t (*bound)(const struct fit *fit, const struct job *job);
    size_t (*measure)(const struct fit *fit, const struct job *job);
    void *context;
    bool rough; // a bound may be several times the size

    size_t room, room_max; // for jobs: now, and in an answer of their own
    size_t used;           // by those that were accepted, at most
    size_t used_before;    // without the last of them
    size_t accepted;
    bool exact;         // `used` was measured
    bool later;         // one was refused that fits an answer of its own
    struct slice never; // the first that fits none: its jid, borrowed from the engine; or empty
};

// `around`: what the answer needs besides jobs.
void fit_init(struct fit *fit, struct reply *reply, const struct engine *engine, size_t around);

// For struct pop_request's `fits`; the context is a struct fit.
enum pop_fit fit_check(void *context, const struct job *job, const struct job *const *popped,
                       size_t count);

// A pop that handed out nothing: TOO_LARGE when that is for want of room; it names the job.
MUST_USE enum status fit_refuse(const struct fit *fit, const char *command, struct error *error);

#endif
