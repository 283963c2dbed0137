// SPDX-License-Identifier: MIT
// A time zone as the host hands it over. The engine has no table of zones of its own.
#ifndef SLUICE_ENGINE_RECURRING_ZONE_H
#define SLUICE_ENGINE_RECURRING_ZONE_H

#include "base/index.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

enum {
    ZONE_OFFSET_MAX_S = 26 * 3600, // local time is never further from UTC
};

// From `at_us` on local time is UTC plus `offset_s`.
struct zone_transition {
    int64_t at_us;
    int32_t offset_s;
};

// Ascending transitions; before the first one `offset_s` holds. No transitions and an offset of 0
// are UTC.
struct zone_rules {
    int32_t offset_s;
    const struct zone_transition *transitions; // borrowed; may be NULL when there are none
    size_t count;
};

// Makes a zone known under a name, or replaces it; the recurring jobs that use it get their next
// run anew. At most 10,000 transitions.
MUST_USE enum status engine_zone_set(struct engine *engine, int64_t now_us, struct slice name,
                                     const struct zone_rules *rules, struct error *error);

// The zones in the order in which they were first handed over: `index` from 0 until it returns
// false. The transitions are borrowed.
bool engine_zone_at(const struct engine *engine, size_t index, struct slice *name,
                    struct zone_rules *rules);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

struct zone {
    struct index_node node; // by its number
    uint64_t id;
    struct zone_rules rules; // its transitions are those:
    struct zone_transition *transitions;
    struct zone *dirty_next;
    bool dirty, gone;
    uint8_t name_size;
    char name[];
};

static inline struct zone *zone_of_node(struct index_node *node)
{
    return (struct zone *)(void *)node; // it is the first member
}

struct slice zone_key(const void *zone);

// NULL and STATUS_OK for UTC, which has no name or that one. NOT_FOUND when it is not known.
MUST_USE enum status zone_find(const struct engine *engine, struct slice name,
                               const struct zone **out, struct error *error);

// The rules of a zone, or of UTC for NULL.
const struct zone_rules *zone_rules_of(const struct zone *zone);

// Makes or replaces a zone, with that number if it is new; for loading too.
MUST_USE enum status zone_put(struct engine *engine, struct slice name,
                              const struct zone_rules *rules, uint64_t id, struct error *error);
void zone_free(struct engine *engine, struct zone *zone);
void zone_free_shell(struct engine *engine, struct zone *zone);

#endif
