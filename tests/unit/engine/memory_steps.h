// SPDX-License-Identifier: MIT
// The steps of test_memory.c: a script is a list of calls, in the order in which they are made.
#ifndef SLUICE_MEMORY_STEPS_H
#define SLUICE_MEMORY_STEPS_H

#include "engine_test.h"

enum {
    MEMORY_MANY = 70, // jobs of "put many"
};

struct step {
    const char *name;
    double now;
    enum status (*call)(struct world *w, int64_t now_us);
    enum {
        STAYS, // a failure changes nothing
        POPS,  // hands out what it can; a failed one has seen the worker and done what was due
        LOOKS, // with the client clock a failed one may have moved a part of what is due
    } kind;
};

// What the steps share: the holder w1 of a job, and a put with a klass and data.
struct holder memory_holder(const char *jid);
enum status memory_put(struct world *w, int64_t now_us, struct put_request request);

// Each ends with a step without a name.
extern const struct step memory_script[];
extern const struct step memory_script_of_lanes[];

#endif
