// SPDX-License-Identifier: MIT
// The known name nearest to a word that names nothing, for "did you mean ...?".
#ifndef SLUICE_BASE_NEAREST_H
#define SLUICE_BASE_NEAREST_H

#include "base/slice.h"

// How many bytes have to be changed, inserted or removed to make `b` of `a` (Levenshtein distance),
// whatever the case of letters. SIZE_MAX when one is longer than 64 bytes.
size_t edit_distance(struct slice a, struct slice b);

struct nearest {
    struct slice word;
    struct slice name; // the nearest so far; empty when none is near enough
    size_t distance;   // a name must be nearer than that
};

// Only names that differ from `word` in at most 3 bytes, and at most half of its bytes, are near.
struct nearest nearest_to(struct slice word);

// Of two names that are equally near the first one is kept. `name` must stay valid as long as
// `nearest`.
void nearest_offer(struct nearest *nearest, struct slice name);

#endif
