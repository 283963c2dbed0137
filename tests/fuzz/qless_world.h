// SPDX-License-Identifier: MIT
// An engine behind the qless face, and what must hold whatever it is asked: each call gets one
// answer, what is JSON can be read, and the engine stays whole.
#ifndef SLUICE_FUZZ_QLESS_WORLD_H
#define SLUICE_FUZZ_QLESS_WORLD_H

#include "bounded.h"
#include "faces/qless/qless.h"

struct qless_world {
    struct bounded memory; // the engine's; a world must stay where it is
    struct engine *engine;
    struct buffer scratch;
    bool ascii; // all that was said so far: only then JSON must be UTF-8, for names are any bytes
    uint64_t random;
};

void qless_world_init(struct qless_world *world);
void qless_world_release(struct qless_world *world);

// The first word is a call of the unified script, or the name of a script that makes one call
// (such as Put), whose keys and words follow. Gives whether it was answered with something else
// than an error.
bool qless_world_call(struct qless_world *world, struct slices words);

// The engine's consistency check.
void qless_world_check(struct qless_world *world);

#endif
