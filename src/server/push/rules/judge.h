// SPDX-License-Identifier: MIT
// What the response to a push means for its job, and for the health of the destination.
#ifndef SLUICE_SERVER_PUSH_RULES_JUDGE_H
#define SLUICE_SERVER_PUSH_RULES_JUDGE_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PUSH_GROUP_SIZE = 24,
};

// The outcome of a request.
struct push_answer {
    int curl;               // a CURLcode
    long status;            // of HTTP, when `curl` is CURLE_OK or the answer was too large
    int64_t retry_after_us; // Retry-After; below 0: none
    bool refused;           // pushes to that address are not allowed
    bool starved;           // this server had no socket left
    bool too_large;         // larger than max-payload: the request was aborted
};

enum push_verdict {
    PUSH_COMPLETE,
    PUSH_ACCEPTED, // the worker reports the result later
    PUSH_LATER,    // sent again after `delay_us`; not counted as a retry
    PUSH_RETRY,    // sent again after the job's backoff; counted as a retry
    PUSH_FAIL,
};

// What the response says about the destination, for its breaker.
enum push_health {
    PUSH_WELL,    // the destination works, even if it rejects the job
    PUSH_ILL,     // the destination fails
    PUSH_UNKNOWN, // the outcome says nothing about the destination
};

struct push_judgement {
    enum push_verdict verdict;
    enum push_health health;
    int64_t delay_us;            // the minimum delay for PUSH_LATER and PUSH_RETRY
    bool asked;                  // the destination requested the delay, with Retry-After
    char group[PUSH_GROUP_SIZE]; // "push:503", "push:timeout"
};

struct push_rules {
    bool fail_4xx;         // a status that says that the request is at fault fails the job
    int64_t free_attempts; // attempts after which a Retry-After counts as a retry
};

// `attempts`: how often the job was popped, including this time.
struct push_judgement push_judge(const struct push_answer *answer, const struct push_rules *rules,
                                 int64_t attempts);

// Converts the value of Retry-After, seconds or a date, to a duration; below 0 if it is neither.
int64_t push_retry_after(struct slice value, int64_t now_us);

#endif
