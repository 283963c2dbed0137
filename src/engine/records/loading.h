// SPDX-License-Identifier: MIT
// The jobs of an engine that is being loaded: between their bodies and their heads, and by their
// numbers.
//
// Heads mostly come in the order in which the bodies came, so the next one is known before it is
// asked for, and with it the memory that it will need. Bodies mostly come in the order of their
// numbers; then a number is found by bisection, else there is a map.
#ifndef SLUICE_ENGINE_RECORDS_LOADING_H
#define SLUICE_ENGINE_RECORDS_LOADING_H

#include "base/map.h"
#include "engine/engine.h"

struct loading_job {
    uint64_t id;
    struct job *job; // the engine's
};

struct loading {
    struct loading_job *jobs;  // in the order in which their bodies came; owned
    struct map_entry *entries; // the same by jid, until all bodies are there; owned
    size_t count, capacity;
    size_t placed;    // how many have their heads
    size_t next;      // the one whose head is expected next
    bool has_bodies;  // all of them
    bool has_numbers; // in `by_id`: they did not come in the order of their numbers
    struct map by_id;
};

void loading_init(struct loading *loading, const struct allocator *allocator,
                  struct hash_seed seed);

// The jobs themselves stay.
void loading_release(struct loading *loading);

// Adds a job whose body was read, and whose jid has that spot among the engine's jobs. CORRUPT when
// there is one with its number, or there were all bodies.
MUST_USE enum status loading_add(struct loading *loading, struct job *job, struct map_spot spot);

// The job that was added last, or NULL.
const struct job *loading_last(const struct loading *loading);

// There are all bodies: adds them to the engine's jobs. CORRUPT when two have the same jid.
MUST_USE enum status loading_fill(struct loading *loading, struct map *jobs);

// The job with a number, or NULL.
struct job *loading_find(const struct loading *loading, uint64_t id);

// The same for one whose head is being read.
struct job *loading_next(struct loading *loading, uint64_t id);

#endif
