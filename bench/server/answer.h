// SPDX-License-Identifier: MIT
// Replies in RESP as a client reads them.
#ifndef SLUICE_BENCH_ANSWER_H
#define SLUICE_BENCH_ANSWER_H

#include "base/slice.h"

enum {
    ANSWER_LEAVES_MAX = 8192,
};

// A reply whose lists and maps are laid flat: its texts and numbers in order, errors among them.
struct answer {
    size_t size; // bytes of the input that it took
    size_t errors;
    size_t leaf_count;
    struct slice leaves[ANSWER_LEAVES_MAX]; // borrowed from the input
};

// Reads the reply at the start of the input; false when not all of it is there.
bool answer_read(struct answer *answer, struct slice input);

#endif
