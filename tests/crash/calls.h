// SPDX-License-Identifier: MIT
// Random calls on an engine, made up so that most of them change something.
#ifndef SLUICE_TESTS_CRASH_CALLS_H
#define SLUICE_TESTS_CRASH_CALLS_H

#include "engine/engine.h"
#include "random.h"

#include <stdint.h>

enum {
    CALLER_JIDS = 40,
    CALLER_JID_SIZE = 8,
};

struct caller {
    struct engine *engine; // borrowed
    struct random random;
    int64_t now_us;
    char *text; // where data is cut from; owned
    char jids[CALLER_JIDS][CALLER_JID_SIZE];
};

void caller_init(struct caller *caller, struct engine *engine, uint64_t seed);
void caller_release(struct caller *caller);

// Time goes on: mostly by little or nothing, seldom by hours or days.
void caller_advance(struct caller *caller);

// One call. That it is refused is part of the game; any other failure ends the process.
void caller_call(struct caller *caller);

// Puts many jobs and begins to cancel exactly these. The operation goes on with the next ticks.
void caller_begin_exact(struct caller *caller);

#endif
