// SPDX-License-Identifier: MIT
// Every engine call that takes a name, once for each name that it takes: the test chooses the name,
// everything else about the call is right.
#ifndef SLUICE_NAME_CALLS_H
#define SLUICE_NAME_CALLS_H

#include "engine_test.h"

struct name_call {
    enum status (*call)(struct world *w, int64_t now_us, struct slice name);
    const char *argument; // as the error names it
    enum status empty;    // what an empty name gets
    enum status legal;    // what a name that may be, and names nothing that is there, gets
    bool timeless;        // it does not check the time
    bool is_new;          // the name may be a new one, and then must be text
};

extern const struct name_call name_calls[];
extern const size_t name_calls_count;

// At second 100: job a is held by w1, job b waits for a, r is a recurring job.
void name_calls_prepare(struct world *w);

// A recurring job that may be.
struct recur_request name_calls_recur(void);

#endif
