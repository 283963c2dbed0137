// SPDX-License-Identifier: MIT
// The consistency check of settings and operations: limits, policies, zones and bulk operations.
// Each is in an index by its number; limits, policies and zones are also in a map by their name.
#include "engine/check/check.h"

#include "engine/check/checking.h"

#include "engine/bulk/bulk.h"
#include "engine/config/policy.h"
#include "engine/lanes/limit.h"
#include "engine/recurring/zone.h"
#include "engine/state.h"

// Numbers are assigned by incrementing `sequence`, so none is above it.
static void check_number(struct check *check, const char *what, struct slice name,
                         const struct index_node *node, uint64_t id)
{
    struct engine *engine = check->engine;
    engine_step(engine);
    if (node->key.high != 0 || node->key.low != id) {
        check_problem(check, "the %s %.*s is under the number %llu and has %llu", what,
                      SLICE_PRINT(name), (unsigned long long)node->key.low, (unsigned long long)id);
    }
    if (id > engine->sequence) {
        check_problem(check, "the number of the %s %.*s lies ahead", what, SLICE_PRINT(name));
        if (check->repair) {
            engine->sequence = id;
        }
    }
}

// An object of the index must be found by its key in the map.
static void check_found(struct check *check, struct map *map, struct slice key, void *object,
                        const char *what, struct slice name)
{
    if (map_find(map, key) == object) {
        return;
    }
    check_problem(check, "the %s %.*s cannot be found by its name", what, SLICE_PRINT(name));
    if (check->repair && !map_find(map, key)) {
        (void)!map_insert(map, object);
    }
}

// Called after the objects of the index were looked up, so that a repair has filled the map.
static void check_map_count(struct check *check, const struct map *map, const struct index *order,
                            const char *what)
{
    if (map->count != order->count) {
        check_problem(check, "%zu %s can be found by name, and there are %zu", map->count, what,
                      order->count);
    }
}

// The list of patterns must have each limit with a pattern, and nothing else.
static void check_patterns(struct check *check, size_t patterns)
{
    struct engine *engine = check->engine;
    size_t listed = 0;
    for (const struct limit_entry *at = engine->patterns; at; at = at->next_pattern) {
        engine_step(engine);
        listed++;
        if (!at->pattern || map_find(&engine->limits, limit_key(at)) != at) {
            check_problem(check, "the limit %.*s is among the patterns and should not be",
                          SLICE_PRINT(limit_domain(at)));
        }
    }
    if (listed != patterns) {
        check_problem(check, "%zu limits are among the patterns, and %zu have one", listed,
                      patterns);
    }
    CHECK_COUNT(check, engine->pattern_count, listed, "the number of patterns",
                SLICE("the engine"));
}

static void check_limits(struct check *check)
{
    struct engine *engine = check->engine;
    size_t patterns = 0;
    check_index(check, &engine->limit_order, "the limits", SLICE("the engine"));
    struct index_cursor cursor = index_cursor_at(&engine->limit_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct limit_entry *entry = limit_of_node(node);
        struct slice domain = limit_domain(entry);
        struct slice name = domain.size ? domain : limit_queue(entry);
        check_number(check, "limit", name, node, entry->id);
        check_found(check, &engine->limits, limit_key(entry), entry, "limit", name);
        patterns += entry->pattern != NULL;
        size_t used = entry->use.waiting + entry->use.running + entry->use.held;
        if (used != entry->counted) {
            check_problem(check, "the use of limit %.*s adds up to %zu, and its lanes to %zu",
                          SLICE_PRINT(name), used, entry->counted);
        }
        entry->counted = 0;
    }
    check_map_count(check, &engine->limits, &engine->limit_order, "limits");
    check_patterns(check, patterns);
}

static void check_policies(struct check *check)
{
    struct engine *engine = check->engine;
    check_index(check, &engine->policy_order, "the policies", SLICE("the engine"));
    struct index_cursor cursor = index_cursor_at(&engine->policy_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct policy *policy = policy_of_node(node);
        struct slice key = policy_key(policy), name = slice_sub(key, 1, SIZE_MAX);
        check_number(check, "policy", name, node, policy->id);
        check_found(check, &engine->policies, key, policy, "policy", name);
    }
    check_map_count(check, &engine->policies, &engine->policy_order, "policies");
}

static void check_zones(struct check *check)
{
    struct engine *engine = check->engine;
    check_index(check, &engine->zone_order, "the zones", SLICE("the engine"));
    struct index_cursor cursor = index_cursor_at(&engine->zone_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct zone *zone = zone_of_node(node);
        struct slice name = zone_key(zone);
        check_number(check, "zone", name, node, zone->id);
        check_found(check, &engine->zones, name, zone, "zone", name);
        if (zone->rules.transitions != zone->transitions) {
            check_problem(check, "the zone %.*s does not have its own transitions",
                          SLICE_PRINT(name));
        }
    }
    check_map_count(check, &engine->zones, &engine->zone_order, "zones");
}

static void check_bulks(struct check *check)
{
    struct engine *engine = check->engine;
    check_index(check, &engine->bulks, "the bulk operations", SLICE("the engine"));
    struct index_cursor cursor = index_cursor_at(&engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct bulk *bulk = bulk_of_node(node);
        const struct bulk_view *view = &bulk->view;
        check_number(check, "bulk operation", SLICE_EMPTY, node, view->id);
        if (view->changed > view->matched || (view->stopped && !view->done) ||
            (view->as && !view->done && !bulk->set)) {
            check_problem(check, "the progress of bulk operation %llu contradicts itself",
                          (unsigned long long)view->id);
        }
    }
}

void check_settings(struct check *check)
{
    check_limits(check);
    check_policies(check);
    check_zones(check);
    check_bulks(check);
}
