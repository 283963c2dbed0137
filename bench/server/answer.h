// SPDX-License-Identifier: MIT
// Parses RESP replies as a client does.
#ifndef SLUICE_BENCH_ANSWER_H
#define SLUICE_BENCH_ANSWER_H

#include "base/slice.h"

enum {
    ANSWER_LEAVES_MAX = 8192,
};

// A reply with its lists and maps flattened: its strings, numbers and errors in order.
struct answer {
    size_t size; // bytes of the input that it took
    size_t errors;
    size_t leaf_count;
    struct slice leaves[ANSWER_LEAVES_MAX]; // borrowed from the input
};

// Reads the reply at the start of the input. Returns false if the reply is incomplete.
bool answer_read(struct answer *answer, struct slice input);

#endif
