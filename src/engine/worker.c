// SPDX-License-Identifier: MIT
#include "engine/worker.h"

#include "engine/job.h"
#include "engine/lease.h"
#include "engine/page.h"
#include "engine/queue.h"
#include "engine/state.h"

#include <string.h>

enum {
    PRUNE_STEPS = 5000, // of one call; what is left is forgotten by the next
};

struct worker *worker_find(const struct engine *engine, struct slice name)
{
    struct worker *last = engine->worker_last;
    return last && slice_equal(worker_name(last), name) ? last : map_find(&engine->workers, name);
}

enum status worker_acquire(struct engine *engine, struct slice name, struct worker **out)
{
    struct worker *worker = worker_find(engine, name);
    if (!worker) {
        if (map_reserve(&engine->workers, name)) {
            return STATUS_NO_MEMORY;
        }
        worker = mem_zalloc(engine->allocator, sizeof(*worker) + name.size);
        if (!worker) {
            return STATUS_NO_MEMORY;
        }
        worker->name_size = (uint8_t)name.size;
        memcpy(worker->name, name.data, name.size);
        worker->id = ++engine->worker_id;
        index_init(&worker->leases, &engine->pool);
        map_add(&engine->workers, worker);
    }
    engine->worker_last = worker;
    *out = worker;
    return STATUS_OK;
}

struct slice listener_key(const void *listener)
{
    const struct listener *of = listener;
    return slice_make(of->key, sizeof(of->key));
}

static void listener_end(struct engine *engine, struct worker *worker, struct listener *listener)
{
    struct queue *queue = listener->queue;
    (void)map_remove(&engine->listeners, listener_key(listener));
    *(listener->previous ? &listener->previous->next : &worker->listeners) = listener->next;
    *(listener->next ? &listener->next->previous : &worker->listeners_last) = listener->previous;
    worker->listener_count--;
    queue->listeners--;
    queue_settle(engine, queue);
    mem_free(engine->allocator, listener, sizeof(*listener));
    engine_step(engine);
}

static void unlisten(struct engine *engine, struct worker *worker)
{
    while (worker->listeners) {
        listener_end(engine, worker, worker->listeners);
    }
}

static void worker_changed(struct engine *engine, struct worker *worker)
{
    ENGINE_NOTE_CHANGE(engine, dirty_workers, worker);
}

void worker_free(struct engine *engine, struct worker *worker)
{
    unlisten(engine, worker);
    if (worker->known) {
        index_remove(&engine->worker_order, &worker->order);
    }
    index_release(&worker->leases);
    map_remove(&engine->workers, worker_name(worker));
    if (engine->worker_last == worker) {
        engine->worker_last = NULL;
    }
    mem_free(engine->allocator, worker, sizeof(*worker) + worker->name_size);
}

void worker_settle(struct engine *engine, struct worker *worker)
{
    if (!worker->known && worker->leases.count == 0 && !worker->dirty) {
        worker_free(engine, worker);
    }
}

enum status worker_reserve_seen(struct engine *engine)
{
    return index_reserve(&engine->worker_order, 1);
}

bool worker_seen_in_place(struct engine *engine, struct worker *worker, int64_t now_us)
{
    if (!worker->known) {
        return false;
    }
    if (worker->seen_us == now_us) {
        return true;
    }
    if (!index_rekey(&engine->worker_order, &worker->order, time_key(now_us, worker->id))) {
        return false;
    }
    worker->seen_us = now_us;
    worker_changed(engine, worker);
    return true;
}

void worker_seen(struct engine *engine, struct worker *worker, int64_t now_us)
{
    if (worker_seen_in_place(engine, worker, now_us)) {
        return;
    }
    if (worker->known) {
        index_remove(&engine->worker_order, &worker->order);
    }
    worker->known = true;
    worker->seen_us = now_us;
    worker->order.key = time_key(now_us, worker->id);
    index_insert(&engine->worker_order, &worker->order);
    worker_changed(engine, worker);
}

enum status worker_reserve_listener(struct engine *engine, struct worker *worker,
                                    struct queue *queue, struct listener **out)
{
    const uint64_t key[2] = { worker->id, queue->id };
    struct slice key_bytes = slice_make(key, sizeof(key));
    engine_step(engine);
    *out = NULL;
    if ((worker->listeners && worker->listeners->queue == queue) ||
        map_find(&engine->listeners, key_bytes)) {
        return STATUS_OK;
    }
    struct listener *listener = mem_alloc(engine->allocator, sizeof(*listener));
    if (!listener) {
        return STATUS_NO_MEMORY;
    }
    if (map_reserve(&engine->listeners, key_bytes)) {
        mem_free(engine->allocator, listener, sizeof(*listener));
        return STATUS_NO_MEMORY;
    }
    *listener = (struct listener){ .queue = queue, .key = { worker->id, queue->id } };
    *out = listener;
    return STATUS_OK;
}

void worker_listen(struct engine *engine, struct worker *worker, struct listener *listener)
{
    if (!listener) {
        return;
    }
    map_add(&engine->listeners, listener);
    if (worker->listener_count >= LISTENERS_MAX) {
        queue_changed(engine, worker->listeners_last->queue);
        listener_end(engine, worker, worker->listeners_last);
    }
    listener->next = worker->listeners;
    *(listener->next ? &listener->next->previous : &worker->listeners_last) = listener;
    worker->listeners = listener;
    worker->listener_count++;
    listener->queue->listeners++;
    queue_changed(engine, listener->queue);
    worker_changed(engine, worker);
}

// Not known any more; what it holds it holds.
static void forget(struct engine *engine, struct worker *worker)
{
    unlisten(engine, worker);
    if (worker->known) {
        index_remove(&engine->worker_order, &worker->order);
        worker->known = false;
    }
    worker_changed(engine, worker);
    worker_settle(engine, worker);
}

static bool is_too_old(const struct engine *engine, int64_t seen_us, int64_t now_us)
{
    return seen_us <= now_us - engine->config.max_worker_age_us;
}

enum status engine_workers_prune(struct engine *engine, int64_t now_us, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (status) {
        return status;
    }
    uint64_t start = engine->pool.steps;
    struct index_node *node;
    while ((node = index_first(&engine->worker_order)) &&
           is_too_old(engine, worker_of_node(node)->seen_us, now_us) &&
           engine->pool.steps - start < PRUNE_STEPS) {
        forget(engine, worker_of_node(node));
    }
    return STATUS_OK;
}

// Those too old come first.
size_t engine_worker_count(const struct engine *engine, int64_t now_us)
{
    if (engine->clock == ENGINE_CLOCK_SERVER && now_us < engine->now_us) {
        now_us = engine->now_us;
    }
    const struct index *order = &engine->worker_order;
    const struct index_node *first = index_first(order);
    if (!first || !is_too_old(engine, time_of_key(first->key), now_us)) {
        return order->count;
    }
    return order->count -
           index_rank(order, time_key_after(now_us - engine->config.max_worker_age_us));
}

static size_t run_out_count(const struct engine *engine, const struct worker *worker,
                            int64_t now_us)
{
    if (engine->clock == ENGINE_CLOCK_SERVER && now_us < engine->now_us) {
        now_us = engine->now_us;
    }
    return index_rank(&worker->leases, time_key_after(now_us));
}

bool engine_worker(const struct engine *engine, int64_t now_us, size_t index,
                   struct worker_view *view)
{
    size_t count = engine->worker_order.count;
    if (index >= count) {
        return false;
    }
    const struct worker *worker =
        worker_of_node(index_at(&engine->worker_order, count - 1 - index));
    size_t stalled = run_out_count(engine, worker, now_us);
    *view = (struct worker_view){
        .name = worker_name(worker),
        .seen_us = worker->seen_us,
        .running = worker->leases.count - stalled,
        .stalled = stalled,
        .offline = worker->listeners == NULL,
    };
    return true;
}

static struct job *job_of_lease(struct index_node *node)
{
    return lease_of_node(node)->job;
}

void engine_worker_jobs(const struct engine *engine, int64_t now_us, struct slice name,
                        bool stalled, struct page *page)
{
    const struct worker *worker = worker_find(engine, name);
    if (!worker) {
        page_clear(page);
        return;
    }
    size_t run_out = run_out_count(engine, worker, now_us);
    page_fill(page, &(struct page_source){ .index = &worker->leases,
                                           .from = stalled ? 0 : run_out,
                                           .to = stalled ? run_out : worker->leases.count,
                                           .backwards = true,
                                           .job_of = job_of_lease });
}

enum status engine_worker_deregister(struct engine *engine, int64_t now_us, struct slices workers,
                                     struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = names_check(workers, "worker", error);
    }
    for (size_t i = 0; !status && i < workers.count; i++) {
        struct worker *worker = worker_find(engine, workers.items[i]);
        if (worker && worker->known) {
            forget(engine, worker);
        }
    }
    return status;
}

enum status engine_worker_offline(struct engine *engine, int64_t now_us, struct slice name,
                                  struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(name, "worker", error);
    }
    if (status) {
        return status;
    }
    struct worker *worker = worker_find(engine, name);
    if (!worker || !worker->known) {
        return error_set(error, STATUS_NOT_FOUND, "worker %.*s is not known", SLICE_PRINT(name));
    }
    unlisten(engine, worker);
    worker_changed(engine, worker);
    return STATUS_OK;
}
