// SPDX-License-Identifier: MIT
// What an answer to a push means for its job, and for where it came from.
#ifndef SLUICE_SERVER_PUSH_RULES_JUDGE_H
#define SLUICE_SERVER_PUSH_RULES_JUDGE_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PUSH_GROUP_SIZE = 24,
};

// What became of a request.
struct push_answer {
    int curl;               // a CURLcode
    long status;            // of HTTP, when `curl` is CURLE_OK or the answer was too large
    int64_t retry_after_us; // what the answer asked for; below 0: nothing
    bool refused;           // the address is one that is not pushed to
    bool starved;           // this side had no socket left
    bool too_large;         // larger than max-payload: the request was ended
};

enum push_verdict {
    PUSH_COMPLETE,
    PUSH_ACCEPTED, // the worker reports later
    PUSH_LATER,    // again after `delay_us`, which does not count as a retry
    PUSH_RETRY,    // again after the job's backoff
    PUSH_FAIL,
};

// What it says of the destination, for its breaker.
enum push_health {
    PUSH_WELL,    // it does its work, be it that it dislikes the job
    PUSH_ILL,     // it does not
    PUSH_UNKNOWN, // nothing is said about it
};

struct push_judgement {
    enum push_verdict verdict;
    enum push_health health;
    int64_t delay_us;            // the least that PUSH_LATER and PUSH_RETRY wait
    bool asked;                  // the destination asked for the delay, with Retry-After
    char group[PUSH_GROUP_SIZE]; // "push:503", "push:timeout"
};

struct push_rules {
    bool fail_4xx;         // what is the request's own fault is not tried again
    int64_t free_attempts; // beyond these, Retry-After costs a retry
};

// `attempts`: how often the job was handed out, this time included.
struct push_judgement push_judge(const struct push_answer *answer, const struct push_rules *rules,
                                 int64_t attempts);

// The value of Retry-After, seconds or a date, as a time from now on; below 0 when it is neither.
int64_t push_retry_after(struct slice value, int64_t now_us);

#endif
