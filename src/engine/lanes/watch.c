// SPDX-License-Identifier: MIT
#include "engine/lanes/watch.h"

#include "engine/due.h"
#include "engine/lanes/lane.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

struct slice watch_key(const void *watch)
{
    const struct watch *of = watch;
    return slice_make(of->name, of->name_size);
}

static void watch_free(struct engine *engine, struct watch *watch)
{
    mem_free(engine->allocator, watch, sizeof(*watch) + watch->name_size);
}

static void list(struct engine *engine, struct watch *watch)
{
    watch->older = engine->watches_newest;
    if (watch->older) {
        watch->older->newer = watch;
    }
    engine->watches_newest = watch;
}

static void unlist(struct engine *engine, struct watch *watch)
{
    if (watch->older) {
        watch->older->newer = watch->newer;
    }
    if (watch->newer) {
        watch->newer->older = watch->older;
    } else {
        engine->watches_newest = watch->older;
    }
}

static enum status add(struct engine *engine, struct slice queue, struct watch **out)
{
    struct watch *watch = mem_alloc(engine->allocator, sizeof(*watch) + queue.size);
    if (!watch) {
        return STATUS_NO_MEMORY;
    }
    *watch = (struct watch){ .name_size = (uint8_t)queue.size };
    memcpy(watch->name, queue.data, queue.size);
    enum status status = map_insert(&engine->watches, watch);
    if (status) {
        watch_free(engine, watch);
        return status;
    }
    list(engine, watch);
    *out = watch;
    return STATUS_OK;
}

static void name(struct engine *engine, struct watch *watch, bool named)
{
    watch->named = named;
    struct queue *queue = queue_find(engine, watch_key(watch));
    if (queue) {
        queue->watched = named;
        due_update(engine, queue);
    }
}

bool watch_is_named(const struct engine *engine, struct slice queue)
{
    const struct watch *watch = map_find(&engine->watches, queue);
    return watch && watch->named;
}

enum status engine_watch(struct engine *engine, struct slice queue)
{
    struct watch *watch = map_find(&engine->watches, queue);
    enum status status = watch ? STATUS_OK : name_check(queue, "queue", NULL);
    if (!status && !watch) {
        status = add(engine, queue, &watch);
    }
    if (!status) {
        name(engine, watch, true);
    }
    return status;
}

// A woken watch stays in the list until it is taken from there.
static void drop(struct engine *engine, struct watch *watch)
{
    (void)map_remove(&engine->watches, watch_key(watch));
    unlist(engine, watch);
    watch->gone = true;
    if (!watch->woken) {
        watch_free(engine, watch);
    }
}

void engine_unwatch(struct engine *engine, struct slice queue)
{
    struct watch *watch = map_find(&engine->watches, queue);
    if (!watch) {
        return;
    }
    name(engine, watch, false);
    if (!engine->watches_all) {
        drop(engine, watch);
    }
}

void engine_watch_all(struct engine *engine, bool all)
{
    engine->watches_all = all;
    struct watch *older;
    for (struct watch *at = engine->watches_newest; at && !all; at = older) {
        older = at->older;
        if (!at->named) {
            drop(engine, at);
        }
    }
}

void watch_wake(struct engine *engine, const struct queue *queue)
{
    if (!engine->watches_newest && !engine->watches_all) {
        return;
    }
    struct watch *watch = map_find(&engine->watches, queue_name(queue));
    // If there is no memory, the event is lost: hosts that watch all queues also poll.
    if (!watch && engine->watches_all && add(engine, queue_name(queue), &watch)) {
        return;
    }
    if (!watch || watch->woken) {
        return;
    }
    watch->woken = true;
    watch->next = NULL;
    if (engine->woken_last) {
        engine->woken_last->next = watch;
    } else {
        engine->woken_first = watch;
    }
    engine->woken_last = watch;
}

// Takes the first woken watch from the list; NULL if there is none.
static struct watch *take_woken(struct engine *engine)
{
    struct watch *watch = engine->woken_first;
    if (watch) {
        engine->woken_first = watch->next;
        engine->woken_last = watch->next ? engine->woken_last : NULL;
        watch->woken = false;
    }
    return watch;
}

bool engine_woken(struct engine *engine, struct slice *queue)
{
    struct watch *watch;
    while ((watch = take_woken(engine)) && watch->gone) {
        watch_free(engine, watch);
    }
    if (!watch) {
        return false;
    }
    *queue = watch_key(watch);
    return true;
}

bool engine_is_ready(const struct engine *engine, struct slice name)
{
    if (engine->clock == ENGINE_CLOCK_CLIENT) {
        return true;
    }
    const struct queue *queue = queue_find(engine, name);
    if (!queue || queue->paused) {
        return false;
    }
    int64_t running = (int64_t)(queue->leased.count + queue->grace.count);
    if (queue->concurrency_max > 0 && running >= queue->concurrency_max) {
        return false;
    }
    return queue->lanes_count ? lane_next(queue) != NULL : queue->plain.line.count > 0;
}

void watches_free(struct engine *engine)
{
    struct watch *watch;
    while ((watch = take_woken(engine))) {
        if (watch->gone) {
            watch_free(engine, watch);
        }
    }
    while (engine->watches_newest) {
        drop(engine, engine->watches_newest);
    }
}
