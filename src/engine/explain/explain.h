// SPDX-License-Identifier: MIT
// Why a job is not running, and when it could.
#ifndef SLUICE_ENGINE_EXPLAIN_EXPLAIN_H
#define SLUICE_ENGINE_EXPLAIN_EXPLAIN_H

#include "engine/engine.h"

enum explain_reason {
    EXPLAIN_NEXT,              // a pop would hand it out now
    EXPLAIN_BEHIND,            // `behind` jobs are handed out before it
    EXPLAIN_PAUSED,            // its queue is paused
    EXPLAIN_LANE_RATE,         // its lane has used up its rate, until `until_us`
    EXPLAIN_LANE_CONCURRENCY,  // its lane has as many leases as it may
    EXPLAIN_QUEUE_CONCURRENCY, // its queue has
    EXPLAIN_SCHEDULED,         // for `until_us`
    EXPLAIN_DEPENDS,           // on `behind` jobs
    EXPLAIN_RUNNING,           // leased by `worker` until `until_us`
    EXPLAIN_GRACE,             // `worker` lost its lease and has until `until_us`
    EXPLAIN_EXPIRED,           // client clock: its lease has expired, and the next pop sees that
    EXPLAIN_FAILED,            // in `group`
    EXPLAIN_COMPLETE,
    EXPLAIN_REASON_COUNT,
};

enum {
    EXPLAIN_BLOCKERS_MAX = 3,
    EXPLAIN_SENTENCE_SIZE = 1024,
};

struct explanation {
    enum explain_reason reason;
    enum job_state state;
    size_t behind; // see struct foresight; of EXPLAIN_DEPENDS: the jobs that it depends on
    bool at_least; // `behind` are those of the lanes that were looked at
    int64_t until_us;
    int64_t earliest_us; // when it can run at the earliest; INT64_MAX: not as things stand
    int64_t expires_us;  // its deadline, when it fails since it cannot run before; else 0
    struct slice queue, domain, worker, group;
    uint32_t attempts;
    // The first jobs it depends on.
    size_t blocker_count;
    const struct job *blockers[EXPLAIN_BLOCKERS_MAX];
    char sentence[EXPLAIN_SENTENCE_SIZE];
};

// A stable word ("lane-rate").
const char *explain_reason_name(enum explain_reason reason);

MUST_USE enum status engine_explain(struct engine *engine, int64_t now_us, struct slice jid,
                                    struct explanation *out, struct error *error);

#endif
