// SPDX-License-Identifier: MIT
// When pop hands out a job that is in line, or comes into it, and how many others it hands out
// before.
//
// The answer is about what is in line now. It assumes that workers ask as soon as a job may run,
// that no lease ends, and that no other job comes into the line or leaves it by its deadline.
#ifndef SLUICE_ENGINE_EXPLAIN_FORESEE_H
#define SLUICE_ENGINE_EXPLAIN_FORESEE_H

#include "engine/engine.h"

struct foresee_request {
    const struct job *job;
    int64_t from_us;      // when it is in line: now, or later; INT64_MAX: never
    struct index_key key; // its place there
    bool lease_ends;      // it is leased until then
    bool lane_only;       // how many others come first is not asked: looks at its own lane only
};

struct foresight {
    // Jobs that are handed out before it; when it never is, because the queue is paused or a
    // concurrency is used up: that would be, without that. In a fair queue, and when it has to wait
    // for its time or a token, without those of other lanes in the microsecond in which it comes.
    size_t behind;
    bool at_least;   // or more: there are too many lanes to look at
    bool expires;    // it fails by its deadline before
    int64_t when_us; // when it is handed out; INT64_MAX: not as things stand
};

void foresee(struct engine *engine, int64_t now_us, const struct foresee_request *request,
             struct foresight *out);

#endif
