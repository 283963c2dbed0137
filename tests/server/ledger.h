// SPDX-License-Identifier: MIT
// What the server has acknowledged, held against what it says later. It knows nothing of the server
// but its words: answers that came, requests whose fate is unknown since the server was killed,
// and the times that the server itself gave.
//
//      put sent --> acknowledged, or handed out, or unknown (may be there or not)
//                   one with a request id may be sent again, and puts nothing twice
//      lease    --> complete, fail: acknowledged (the end), refused, or unknown
//                   what is unknown may be sent again with its token, and is answered as it was
//               --> given back (retry, complete with a next queue): may be handed out again
//               --> neither: not handed out again before it has run out
//
// What does not fit is a violation and fails the test.
#ifndef SLUICE_TESTS_SERVER_LEDGER_H
#define SLUICE_TESTS_SERVER_LEDGER_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEDGER_NAMESPACES = 2,
    LEDGER_JID_SIZE = 24,
    LEDGER_HEARTBEAT_US = 250000,
};

// The jobs with an even number are in the first one, which has no grace period.
extern const char *const ledger_namespaces[LEDGER_NAMESPACES];
extern const char *const ledger_graces[LEDGER_NAMESPACES]; // in seconds
extern const char ledger_heartbeat[];                      // in seconds

// What a holder may do to a lease.
enum lease_act {
    ACT_COMPLETE,
    ACT_FAIL,
    ACT_RETRY,
    ACT_NEXT, // complete with a next queue
    ACT_HEARTBEAT,
};

enum {
    ACTS = ACT_HEARTBEAT + 1,
};

enum put_fate {
    PUT_SENT,
    PUT_UNKNOWN,
    PUT_THERE,
};

struct entry {
    enum put_fate put;
    uint64_t token;                                // of the last lease known; 0: none
    uint64_t token_before;                         // of the one before, if it was not given back
    int64_t popped_us;                             // when that was handed out
    int64_t expires_low_us, expires_up_us;         // when it runs out: not before, not after
    unsigned ends;                                 // acts sent that end this lease
    unsigned unheard[ACTS];                        // those among them without an answer
    bool maybe_complete, maybe_failed, maybe_back; // one of them may have worked
    bool complete, failed;                         // surely, for good
    bool out;                                      // one of these, or perhaps: not open
};

struct ledger {
    struct entry *entries; // owned; by the job's number
    size_t count, capacity;
    size_t open;                 // neither complete nor failed, surely or perhaps
    int64_t dead_us, started_us; // the last time
    uint64_t puts, pops, acts, refusals, again, renewed, unknown;
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);

static inline size_t ledger_namespace(size_t job)
{
    return job % LEDGER_NAMESPACES;
}

void ledger_jid(size_t job, char jid[LEDGER_JID_SIZE]);
// The number of a jid; fails for one that was never put.
size_t ledger_job(const struct ledger *ledger, struct slice jid);
// The data that a job is put with.
void ledger_data(size_t job, struct buffer *out);

size_t ledger_put_sent(struct ledger *ledger);
void ledger_put_acknowledged(struct ledger *ledger, size_t job);
void ledger_put_unknown(struct ledger *ledger, size_t job);

void ledger_popped(struct ledger *ledger, size_t job, uint64_t token, int64_t expires_us,
                   struct slice data);

void ledger_act_sent(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act);
// `expires_us` is of a heartbeat.
void ledger_act_acknowledged(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act,
                             int64_t expires_us);
// A complete with a next queue was answered that the job is complete: it repeats one without.
void ledger_next_answered_complete(struct ledger *ledger, size_t job, uint64_t token);
// `heard_us` is when the answer was read.
void ledger_act_refused(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act,
                        int64_t heard_us, struct slice why);
void ledger_act_unknown(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act);

// The server was dead from `dead_us` to `started_us` at least.
void ledger_down(struct ledger *ledger, int64_t dead_us, int64_t started_us);

// The server says what became of a job when all is done; SLICE_EMPTY: it has no such job.
void ledger_settle(const struct ledger *ledger, size_t job, struct slice state);

#endif
