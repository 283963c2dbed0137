// SPDX-License-Identifier: MIT
// The engine's time as its host sets it. Between such calls it never goes back (engine_begin).
#include "engine/engine.h"

#include "engine/lanes/lane.h"
#include "engine/lease/lease.h"
#include "engine/queue/queue.h"
#include "engine/records/walk.h"
#include "engine/recurring/recurring.h"
#include "engine/state.h"

struct setting {
    struct engine *engine;
    struct recurring **room; // for the recurring jobs of any queue
    size_t room_count;
    int64_t change_us, to_us;
    enum status status;
};

static void reserve_in(void *context, struct queue *queue)
{
    struct setting *setting = context;
    size_t count = queue->recurring.count;
    setting->room_count = count > setting->room_count ? count : setting->room_count;
    if (!setting->status) {
        setting->status = index_reserve(&queue->recurring, count);
    }
}

static enum status reserve(struct setting *setting)
{
    walk_queues(setting->engine, reserve_in, setting);
    if (setting->status || lanes_reserve_shift(setting->engine)) {
        return STATUS_NO_MEMORY;
    }
    size_t size = setting->room_count * sizeof(struct recurring *);
    setting->room = size ? mem_alloc(setting->engine->allocator, size) : NULL;
    return size && !setting->room ? STATUS_NO_MEMORY : STATUS_OK;
}

static void apply_in(void *context, struct queue *queue)
{
    const struct setting *setting = context;
    leases_shift(setting->engine, queue, setting->change_us);
    recurring_shift(setting->engine, queue, setting->room, setting->change_us, setting->to_us);
}

static void apply(struct setting *setting)
{
    struct engine *engine = setting->engine;
    if (setting->change_us < 0 && engine->now_us > engine->line_us) {
        engine->line_us = engine->now_us;
    }
    engine->now_us = engine->call_us = setting->to_us;
    series_set_back(engine, setting->to_us);
    engine->slice_full_us = -1; // the same time may come once more, as another instant
    engine->told = false;       // the engine's record is stored, even when nothing else has changed
    walk_queues(engine, apply_in, setting);
    lanes_shift(engine, setting->change_us);
    engine_settle(engine);
    mem_free(engine->allocator, setting->room, setting->room_count * sizeof(struct recurring *));
}

int64_t engine_time(const struct engine *engine)
{
    return engine->now_us;
}

enum status engine_set_time(struct engine *engine, int64_t now_us, int64_t to_us,
                            struct error *error)
{
    if (engine->clock != ENGINE_CLOCK_SERVER) {
        return error_set(error, STATUS_STATE,
                         "the namespace goes by its clients' clock, which cannot be set");
    }
    if (to_us < 0 || to_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID,
                         "the time must lie between the years 1970 and 9999");
    }
    enum status status = engine_begin(engine, &now_us, error);
    if (status || to_us == engine->now_us) {
        return status;
    }
    struct setting setting = { .engine = engine,
                               .change_us = to_us - engine->now_us,
                               .to_us = to_us };
    if (reserve(&setting)) {
        engine_settle(engine);
        return engine_no_memory(error);
    }
    apply(&setting);
    return STATUS_OK;
}
