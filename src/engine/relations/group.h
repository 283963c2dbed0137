// SPDX-License-Identifier: MIT
// A kind of failure, and the jobs that failed in it. A group lives as long as it has jobs.
#ifndef SLUICE_ENGINE_RELATIONS_GROUP_H
#define SLUICE_ENGINE_RELATIONS_GROUP_H

#include "engine/engine.h"

#include "base/index.h"

struct group {
    struct index_node order; // in the engine's list, by when it came to be
    struct index jobs;       // by when they failed
    bool listed;             // from its first job on
    uint8_t name_size;
    char name[];
};

static inline struct group *group_of_node(struct index_node *node)
{
    return (struct group *)(void *)node; // it is the first member
}

struct slice group_key(const void *group);

// The group with that name, made if need be, and room for one more job in it; group_settle when it
// turns out not to be needed.
MUST_USE enum status group_acquire(struct engine *engine, struct slice name, struct group **out);

// Gives a job the group that it is about to enter. A new group gets `sequence` as its place in the
// order.
void group_add(struct engine *engine, struct group *group, struct job *job, uint64_t sequence);

// Frees the group if it has no jobs.
void group_settle(struct engine *engine, struct group *group);

#endif
