// SPDX-License-Identifier: MIT
// The consistency check: walks the whole engine and compares everything that is derived with what
// it is derived from.
#ifndef SLUICE_ENGINE_CHECK_CHECK_H
#define SLUICE_ENGINE_CHECK_CHECK_H

#include "engine/engine.h"

// Reports each broken invariant in a sentence, and repairs it if `repair` is set and a repair is
// possible. Returns how many there were.
size_t engine_check(struct engine *engine, bool repair,
                    void (*report)(void *context, const char *sentence), void *context);

// How many objects the check visits; it visits each a few times.
size_t engine_check_size(const struct engine *engine);

#endif
