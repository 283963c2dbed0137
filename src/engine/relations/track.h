// SPDX-License-Identifier: MIT
// Tracked jobs, whose events clients follow. The list keeps the jid when the job is gone.
#ifndef SLUICE_ENGINE_RELATIONS_TRACK_H
#define SLUICE_ENGINE_RELATIONS_TRACK_H

#include "engine/engine.h"

#include "base/index.h"

struct tracked {
    struct index_node order; // by when it was tracked
    int64_t when_us;
    uint8_t jid_size;
    char jid[];
};

static inline struct tracked *tracked_of_node(struct index_node *node)
{
    return (struct tracked *)(void *)node; // it is the first member
}

struct slice tracked_key(const void *tracked);

// Notes that a jid is tracked since then, with its place in the order.
MUST_USE enum status tracked_load(struct engine *engine, struct slice jid, int64_t when_us,
                                  struct index_key key);
void tracked_free(struct engine *engine, struct tracked *tracked);

#endif
