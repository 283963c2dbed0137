// SPDX-License-Identifier: MIT
#include "engine/lease/worker.h"

#include "engine/job/job.h"
#include "engine/lease/lease.h"
#include "engine/page.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    PRUNE_STEPS = 5000, // per call; the next call continues
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
    index_remove(&queue->listeners, &listener->node);
    queue_listened_changed(engine, queue);
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
    assert(worker->leases.count == 0);
    unlisten(engine, worker);
    if (worker->known) {
        index_remove(&engine->worker_order, &worker->order);
    }
    index_release(&worker->leases);
    worker_set_host(engine, worker, SLICE_EMPTY);
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
    } else {
        worker->started_us = now_us;
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
    if (map_reserve(&engine->listeners, key_bytes) || index_reserve(&queue->listeners, 1) ||
        index_reserve(&engine->queue_listened, 1)) {
        mem_free(engine->allocator, listener, sizeof(*listener));
        return STATUS_NO_MEMORY;
    }
    *listener = (struct listener){ .node.key = { 0, worker->id },
                                   .worker = worker,
                                   .queue = queue,
                                   .key = { worker->id, queue->id } };
    *out = listener;
    return STATUS_OK;
}

void worker_listen(struct engine *engine, struct worker *worker, struct listener *listener)
{
    assert(listener->worker == worker);
    map_add(&engine->listeners, listener);
    if (worker->listener_count >= LISTENERS_MAX) {
        assert(worker->listeners_last);
        queue_changed(engine, worker->listeners_last->queue);
        listener_end(engine, worker, worker->listeners_last);
    }
    worker->started_us = worker->listeners ? worker->started_us : worker->seen_us;
    listener->next = worker->listeners;
    *(listener->next ? &listener->next->previous : &worker->listeners_last) = listener;
    worker->listeners = listener;
    worker->listener_count++;
    index_insert(&listener->queue->listeners, &listener->node);
    queue_listened_changed(engine, listener->queue);
    queue_changed(engine, listener->queue);
    worker_changed(engine, worker);
}

// Removes the worker from the list; its leases remain.
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

void workers_unlisten(struct engine *engine)
{
    struct index_cursor cursor = index_cursor_at(&engine->worker_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        struct worker *worker = worker_of_node(node);
        if (worker->listeners) {
            unlisten(engine, worker);
            worker_changed(engine, worker);
        }
    }
}

bool workers_are_old(const struct engine *engine, int64_t now_us)
{
    const struct index_node *oldest = index_first(&engine->worker_order);
    return oldest && is_too_old(engine, time_of_key(oldest->key), now_us);
}

void workers_forget_old(struct engine *engine, int64_t now_us)
{
    uint64_t start = engine->pool.steps;
    while (workers_are_old(engine, now_us) && engine->pool.steps - start < PRUNE_STEPS) {
        struct worker *worker = worker_of_node(index_first(&engine->worker_order));
        if (worker->connections == 0) {
            forget(engine, worker);
        } else if (worker_reserve_seen(engine)) {
            break;
        } else {
            worker_seen(engine, worker, now_us);
        }
        engine_settle(engine);
    }
}

enum status engine_workers_prune(struct engine *engine, int64_t now_us, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        workers_forget_old(engine, now_us);
    }
    return status;
}

void worker_set_host(struct engine *engine, struct worker *worker, struct slice host)
{
    char *copy = NULL;
    host = slice_sub(host, 0, ENGINE_NAME_SIZE_MAX);
    if (slice_equal(host, worker_host(worker)) || bytes_copy(engine, host, &copy)) {
        return;
    }
    mem_free(engine->allocator, worker->host, worker->host_size);
    worker->host = copy;
    worker->host_size = (uint8_t)host.size;
}

bool engine_worker_attach(struct engine *engine, struct slice name, struct slice host)
{
    struct worker *worker = worker_find(engine, name);
    if (!worker || !worker->known) {
        return false;
    }
    worker->connections++;
    worker_set_host(engine, worker, host);
    worker_changed(engine, worker);
    return true;
}

void engine_worker_detach(struct engine *engine, struct slice name, bool gone)
{
    struct worker *worker = worker_find(engine, name);
    if (!worker) {
        return;
    }
    worker->connections -= worker->connections > 0;
    if (gone && worker->connections == 0 && worker->known) {
        unlisten(engine, worker);
        worker_changed(engine, worker);
    }
}

// Workers that are too old come first.
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

static void view_worker(const struct engine *engine, int64_t now_us, const struct worker *worker,
                        struct worker_view *view)
{
    *view = (struct worker_view){
        .name = worker_name(worker),
        .host = worker_host(worker),
        .seen_us = worker->seen_us,
        .started_us = worker->started_us,
        .running = worker->leases.count,
        .expired = run_out_count(engine, worker, now_us),
        .offline = worker->listeners == NULL,
        .pid = worker->pid,
        .done = worker->done,
        .queue_count = worker->listener_count,
    };
}

bool engine_worker(const struct engine *engine, int64_t now_us, size_t index,
                   struct worker_view *view)
{
    size_t count = engine->worker_order.count;
    if (index >= count) {
        return false;
    }
    view_worker(engine, now_us, worker_of_node(index_at(&engine->worker_order, count - 1 - index)),
                view);
    return true;
}

bool engine_worker_find(const struct engine *engine, int64_t now_us, struct slice name,
                        struct worker_view *view)
{
    const struct worker *worker = worker_find(engine, name);
    if (worker) {
        view_worker(engine, now_us, worker, view);
    }
    return worker != NULL;
}

bool engine_worker_queue(const struct engine *engine, struct slice name, const void **position,
                         struct slice *queue)
{
    const struct listener *at = *position;
    const struct worker *worker = at ? at->worker : worker_find(engine, name);
    at = at ? at->next : worker ? worker->listeners : NULL;
    *position = at;
    *queue = at ? queue_name(at->queue) : SLICE_EMPTY;
    return at != NULL;
}

bool engine_listener(const struct engine *engine, int64_t now_us, struct slice name, size_t index,
                     struct worker_view *view)
{
    const struct queue *queue = queue_find(engine, name);
    struct index_node *node = queue ? index_at(&queue->listeners, index) : NULL;
    if (node) {
        view_worker(engine, now_us, listener_of_node(node)->worker, view);
    }
    return node != NULL;
}

static struct job *job_of_lease(struct index_node *node)
{
    return lease_of_node(node)->job;
}

void engine_worker_jobs(const struct engine *engine, int64_t now_us, struct slice name,
                        enum list list, struct page *page)
{
    assert(list == LIST_RUNNING || list == LIST_EXPIRED || list == LIST_UNEXPIRED);
    const struct worker *worker = worker_find(engine, name);
    if (!worker) {
        page_clear(page);
        return;
    }
    size_t run_out = run_out_count(engine, worker, now_us);
    page_fill(page, &(struct page_source){
                        .index = &worker->leases,
                        .from = list == LIST_UNEXPIRED ? run_out : 0,
                        .to = list == LIST_EXPIRED ? run_out : worker->leases.count,
                        .backwards = true,
                        .job_of = job_of_lease,
                    });
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
