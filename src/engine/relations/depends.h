// SPDX-License-Identifier: MIT
// Dependencies between jobs: a job in the state depends waits until all that it depends on are
// complete.
#ifndef SLUICE_ENGINE_RELATIONS_DEPENDS_H
#define SLUICE_ENGINE_RELATIONS_DEPENDS_H

#include "engine/engine.h"

// That `dependent` waits for `dependency`. It stands in a list of each.
struct edge {
    struct job *dependent;
    struct job *dependency;
    struct edge *next_dependency, *previous_dependency; // in the dependent's list
    struct edge *next_dependent, *previous_dependent;   // in the dependency's list
    uint64_t sequence;                                  // in the order in which they were made
};

// Checks the jids of a plan that `job` (NULL for one that is still to be made, with `jid`) is to
// depend on, and secures what depends_add needs. Gives how many of them count. Refuses a cycle, and
// a dependency that has `max-dependents` already.
struct depends_plan {
    struct slices jids;
    enum missing_dependencies missing;
    size_t count; // filled in
};
MUST_USE enum status depends_reserve(struct engine *engine, struct job *job, struct slice jid,
                                     struct depends_plan *plan, struct error *error);
void depends_add(struct engine *engine, struct job *job, const struct depends_plan *plan);

// Adds one edge, with the number it had when it was saved; for loading.
MUST_USE enum status depends_load(struct engine *engine, struct job *job, struct job *dependency,
                                  uint64_t sequence);

// How many dependencies an existing job keeps when `jids` replace those it has; all with none
// given.
size_t depends_kept(struct engine *engine, const struct job *job, struct slices jids);

// Drops the dependencies of `job` that are not among `kept`; all with none kept.
void depends_drop(struct engine *engine, struct job *job, struct slices kept);

// Drops all edges of a job, in both directions.
void depends_clear(struct engine *engine, struct job *job);

// Notes with all who depend on the job that it is failed, or is no more.
void depends_count_failed(struct engine *engine, struct job *job, bool failed);

// The dependent goes on without its dependency, which has failed.
MUST_USE enum status depends_pass(struct engine *engine, struct edge *edge, int64_t now_us);

// The job is complete. First makes room for all who wait only for it, then releases them.
MUST_USE enum status depends_reserve_release(struct engine *engine, struct job *job,
                                             int64_t now_us);
void depends_release(struct engine *engine, struct job *job, int64_t now_us);

#endif
