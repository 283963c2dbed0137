// SPDX-License-Identifier: MIT
#include "engine/recurring/zone.h"

#include "engine/recurring/recurring.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    TRANSITIONS_MAX = 10000,
};

struct slice zone_key(const void *zone)
{
    const struct zone *of = zone;
    return slice_make(of->name, of->name_size);
}

static bool is_utc(struct slice name)
{
    return name.size == 0 || slice_equal(name, SLICE("UTC"));
}

enum status zone_find(const struct engine *engine, struct slice name, const struct zone **out,
                      struct error *error)
{
    *out = NULL;
    if (is_utc(name)) {
        return STATUS_OK;
    }
    enum status status = name_check(name, "zone", error);
    if (!status) {
        *out = map_find(&engine->zones, name);
    }
    if (!status && !*out) {
        status =
            error_set(error, STATUS_NOT_FOUND, "time zone %.*s is not known", SLICE_PRINT(name));
    }
    return status;
}

const struct zone_rules *zone_rules_of(const struct zone *zone)
{
    static const struct zone_rules utc;
    return zone ? &zone->rules : &utc;
}

static bool offset_is_sane(int32_t offset_s)
{
    return offset_s >= -ZONE_OFFSET_MAX_S && offset_s <= ZONE_OFFSET_MAX_S;
}

static enum status check(struct slice name, const struct zone_rules *rules, struct error *error)
{
    enum status status = name_check(name, "zone", error);
    if (!status && is_utc(name)) {
        status = error_set(error, STATUS_INVALID, "the rules of UTC cannot be set");
    }
    if (!status && rules->count > TRANSITIONS_MAX) {
        status = error_set(error, STATUS_TOO_LARGE,
                           "zone %.*s has %zu transitions; at most %d are "
                           "allowed",
                           SLICE_PRINT(name), rules->count, TRANSITIONS_MAX);
    }
    bool sane = offset_is_sane(rules->offset_s);
    for (size_t i = 0; !status && i < rules->count; i++) {
        const struct zone_transition *at = &rules->transitions[i];
        sane = sane && offset_is_sane(at->offset_s) && (i == 0 || at[-1].at_us < at->at_us);
    }
    if (!status && !sane) {
        status = error_set(error, STATUS_INVALID,
                           "the transitions of zone %.*s must ascend, and "
                           "its offsets be at most 26 hours",
                           SLICE_PRINT(name));
    }
    return status;
}

static void changed(struct engine *engine, struct zone *zone)
{
    ENGINE_NOTE_CHANGE(engine, dirty_zones, zone);
}

static size_t transitions_size(const struct zone_rules *rules)
{
    return rules->count * sizeof(*rules->transitions);
}

static struct zone *zone_new(struct engine *engine, struct slice name, uint64_t id)
{
    if (map_reserve(&engine->zones, name) || index_reserve(&engine->zone_order, 1)) {
        return NULL;
    }
    struct zone *zone = mem_zalloc(engine->allocator, sizeof(*zone) + name.size);
    if (zone) {
        zone->name_size = (uint8_t)name.size;
        memcpy(zone->name, name.data, name.size);
        zone->id = id;
        zone->node.key = (struct index_key){ 0, id };
        index_insert(&engine->zone_order, &zone->node);
        map_add(&engine->zones, zone);
    }
    return zone;
}

static void free_transitions(struct engine *engine, struct zone *zone)
{
    mem_free(engine->allocator, zone->transitions, transitions_size(&zone->rules));
}

enum status zone_put(struct engine *engine, struct slice name, const struct zone_rules *rules,
                     uint64_t id, struct error *error)
{
    enum status status = check(name, rules, error);
    if (status) {
        return status;
    }
    struct zone *zone = map_find(&engine->zones, name);
    struct zone_transition *copy = NULL;
    if (rules->count) {
        copy = mem_alloc(engine->allocator, transitions_size(rules));
        if (!copy) {
            return engine_no_memory(error);
        }
        memcpy(copy, rules->transitions, transitions_size(rules));
    }
    if ((zone && recurring_reserve_zone(engine, zone)) ||
        (!zone && !(zone = zone_new(engine, name, id)))) {
        mem_free(engine->allocator, copy, transitions_size(rules));
        return engine_no_memory(error);
    }
    free_transitions(engine, zone);
    zone->transitions = copy;
    zone->rules = (struct zone_rules){ rules->offset_s, copy, rules->count };
    changed(engine, zone);
    return STATUS_OK;
}

void zone_free_shell(struct engine *engine, struct zone *zone)
{
    mem_free(engine->allocator, zone, sizeof(*zone) + zone->name_size);
}

void zone_free(struct engine *engine, struct zone *zone)
{
    assert(!zone->gone);
    map_remove(&engine->zones, zone_key(zone));
    index_remove(&engine->zone_order, &zone->node);
    free_transitions(engine, zone);
    ENGINE_NOTE_GONE(engine, dirty_zones, zone, zone_free_shell);
}

enum status engine_zone_set(struct engine *engine, int64_t now_us, struct slice name,
                            const struct zone_rules *rules, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = zone_put(engine, name, rules, engine->sequence + 1, error);
    }
    if (!status) {
        engine->sequence++;
        recurring_zone_changed(engine, map_find(&engine->zones, name), now_us);
    }
    engine_settle(engine);
    return status;
}

bool engine_zone_at(const struct engine *engine, size_t index, struct slice *name,
                    struct zone_rules *rules)
{
    struct index_node *node = index_at(&engine->zone_order, index);
    if (node) {
        *name = zone_key(zone_of_node(node));
        *rules = zone_of_node(node)->rules;
    }
    return node != NULL;
}
