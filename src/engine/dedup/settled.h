// SPDX-License-Identifier: MIT
// The last settling of a job: token, worker, act and answer. A client that did not receive the answer
// repeats the call with the same token; it gets the same answer, and nothing changes.
//
//     complete, fail, retry, return         the next settling       the job is removed
//                  |                                |                     |
//                  v                                v                     v
//             settled_note ----------------> settled_note        nothing is kept, but for a complete
//                                                                job with its jid (done.h)
//
// It is part of the job's history (struct trail), which every job that was popped has. Put, move, pop
// and the loss of a lease do not change it.
#ifndef SLUICE_ENGINE_DEDUP_SETTLED_H
#define SLUICE_ENGINE_DEDUP_SETTLED_H

#include "engine/engine.h"

enum settled_act {
    SETTLED_NOT,
    SETTLED_COMPLETE, // outcome: the job's state
    SETTLED_FAIL,     // outcome: 0
    SETTLED_RETRY,    // outcome: how many retries remain
    SETTLED_RETURN,   // outcome: 0
    SETTLED_ACT_COUNT,
};

struct settled {
    uint64_t token;
    uint32_t worker; // a checksum of its name
    int32_t outcome;
};

// What settled_check finds.
struct settling {
    struct job *job; // NULL if `repeated` and the job is gone
    bool repeated;   // the call repeats the last settling, which had this outcome
    int32_t outcome;
    struct settled by; // the lease's token and worker, for settled_note
};

// Finds the job whose lease `holder` settles. A call with the token, worker and act of the last
// settling repeats it. Otherwise NOT_FOUND, STATE or STALE.
MUST_USE enum status settled_check(const struct engine *engine, const struct holder *holder,
                                   enum settled_act act, struct settling *out, struct error *error);

// Records how the lease was settled. The caller must have reserved an entry of the history.
void settled_note(struct job *job, const struct settling *settling, enum settled_act act,
                  int32_t outcome);

// The last settling of the job; SETTLED_NOT if there was none.
enum settled_act job_settled(const struct job *job, struct settled *out);

// Sets the last settling when a job is loaded; CORRUPT if it is invalid.
MUST_USE enum status settled_load(struct engine *engine, struct job *job, enum settled_act act,
                                  const struct settled *settled);

// What is kept when a complete job is removed: a checksum of token and worker; 0: none.
uint32_t settled_digest(const struct job *job);

#endif
