// SPDX-License-Identifier: MIT
// The known name nearest to an unknown word, for "did you mean ...?".
#ifndef SLUICE_BASE_NEAREST_H
#define SLUICE_BASE_NEAREST_H

#include "base/slice.h"

// How many bytes have to be changed, inserted or removed to turn `a` into `b` (Levenshtein
// distance), without regard to case. SIZE_MAX if one of them is longer than 64 bytes.
size_t edit_distance(struct slice a, struct slice b);

struct nearest {
    struct slice word;
    struct slice name; // the nearest so far; empty if none is near enough
    size_t distance;   // the next one must be nearer than this
};

// Names differ from `word` in at most 3 bytes and in at most half of its bytes; others are ignored.
struct nearest nearest_to(struct slice word);

// If two names are equally near, the first one is kept. `name` must stay valid as long as
// `nearest`.
void nearest_offer(struct nearest *nearest, struct slice name);

#endif
