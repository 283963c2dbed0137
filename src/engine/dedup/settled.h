// SPDX-License-Identifier: MIT
// How a lease was settled last: its token, its worker, the act and what was answered. A client that
// did not hear the answer asks again with the same token, and is answered the same; nothing changes.
//
//     complete, fail, retry, return         the next settling       the job goes
//                  |                                |                     |
//                  v                                v                     v
//             settled_note ----------------> settled_note        nothing is kept, but for a complete
//                                                                job with its jid (done.h)
//
// It is part of the job's history (struct trail), which a job that was popped has anyway: a job that
// only waits has none. Putting, moving, popping and losing a lease leave it as it is.
#ifndef SLUICE_ENGINE_DEDUP_SETTLED_H
#define SLUICE_ENGINE_DEDUP_SETTLED_H

#include "engine/engine.h"

enum settled_act {
    SETTLED_NOT,
    SETTLED_COMPLETE, // the outcome is the job's state
    SETTLED_FAIL,     // it is 0
    SETTLED_RETRY,    // it is how many retries remain
    SETTLED_RETURN,   // it is 0
    SETTLED_ACT_COUNT,
};

struct settled {
    uint64_t token;
    uint32_t worker; // a checksum of its name
    int32_t outcome;
};

// What a settling is about: found by settled_check.
struct settling {
    struct job *job; // NULL when `repeated` and it is gone
    bool repeated;   // it was settled so before, with this outcome
    int32_t outcome;
    struct settled by; // the lease's token and worker, for settled_note
};

// Finds the job whose lease `holder` is to settle. With its token, one that has settled the job the
// same way last repeats that. Otherwise NOT_FOUND, STATE or STALE.
MUST_USE enum status settled_check(const struct engine *engine, const struct holder *holder,
                                   enum settled_act act, struct settling *out, struct error *error);

// Keeps how the lease was settled. Room for an entry of its history must have been reserved.
void settled_note(struct job *job, const struct settling *settling, enum settled_act act,
                  int32_t outcome);

// How it was settled last, and as what; SETTLED_NOT when it never was.
enum settled_act job_settled(const struct job *job, struct settled *out);

// Gives a job how it was settled; for loading. CORRUPT when it cannot be.
MUST_USE enum status settled_load(struct engine *engine, struct job *job, enum settled_act act,
                                  const struct settled *settled);

// What is kept of a complete job that is gone: a checksum of token and worker, 0 for none.
uint32_t settled_digest(const struct job *job);

#endif
