// SPDX-License-Identifier: MIT
// A real engine under random calls, with a memory of what it looked like after every step; and an
// engine made of what a store gave back, to be compared with that memory.
#ifndef SLUICE_TESTS_CRASH_WORKLOAD_H
#define SLUICE_TESTS_CRASH_WORKLOAD_H

#include "engine/engine.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workload;

// The same seed makes the same calls. Goes on from `engine` (owned from now on) if that is given.
struct workload *workload_new(uint64_t seed, struct engine *engine);
void workload_free(struct workload *workload);
struct engine *workload_engine(struct workload *workload);

enum {
    WORKLOAD_EXACT_EVERY = 10, // steps: one leaves an exact bulk operation in progress
};

// One step: some random calls (put, pop, complete, fail, cancel, tag, config, recurring, limits,
// ...; now and then large data, now and then many calls). The caller then gives the changes to a
// store (store_take).
void workload_step(struct workload *workload);

// How many steps were made, and a digest of all that the engine held after step `n` (0: at the
// start).
size_t workload_steps(const struct workload *workload);
uint64_t workload_digest(const struct workload *workload, size_t n);

// The digest of an engine: of what engine_save gives.
uint64_t engine_digest(const struct engine *engine);

// An engine that is made of a store's records. Give `rebuild_visitor` to store_open, then call
// rebuild_end. Without any record it is a new engine.
struct rebuild {
    struct engine *engine;
};

struct store_visitor rebuild_visitor(struct rebuild *rebuild);

// The end of loading. False, with a line on stderr, when the records do not make an engine or its
// consistency check (engine_check) finds anything. The engine is rebuild->engine.
bool rebuild_end(struct rebuild *rebuild);
void rebuild_release(struct rebuild *rebuild);

#endif
