// SPDX-License-Identifier: MIT
#include "server/waiting.h"

#include "engine/watch.h"
#include "server/execute.h"
#include "server/server.h"
#include "server/words.h"

#include <assert.h>

struct wait_line {
    struct wait_place *first, *last;
    size_t name_size;
    char name[];
};

static struct slice line_key(const void *line)
{
    const struct wait_line *of = line;
    return slice_make(of->name, of->name_size);
}

static struct slice number_key(const void *waiter)
{
    const struct waiter *of = waiter;
    return slice_make(&of->number, sizeof(of->number));
}

void waiting_init(struct waiting *waiting, struct hash_seed seed)
{
    *waiting = (struct waiting){ .ready_last = &waiting->ready };
    map_init(&waiting->lines, &allocator_system, seed, line_key);
    map_init(&waiting->numbers, &allocator_system, seed, number_key);
}

void waiting_release(struct waiting *waiting)
{
    assert(waiting->count == 0);
    map_release(&waiting->lines);
    map_release(&waiting->numbers);
}

// ---------------------------------------------------------------------------------------------
// Lines

// The line of a queue, made if need be; the engine then watches the queue.
static struct wait_line *line_acquire(struct ns *ns, struct slice queue)
{
    struct wait_line *line = map_find(&ns->waiting.lines, queue);
    if (line) {
        return line;
    }
    line = mem_alloc(&allocator_system, sizeof(*line) + queue.size);
    if (!line) {
        return NULL;
    }
    *line = (struct wait_line){ .name_size = queue.size };
    memcpy(line->name, queue.data, queue.size);
    if (engine_watch(ns->engine, queue)) {
        mem_free(&allocator_system, line, sizeof(*line) + queue.size);
        return NULL;
    }
    if (map_insert(&ns->waiting.lines, line)) {
        engine_unwatch(ns->engine, queue);
        mem_free(&allocator_system, line, sizeof(*line) + queue.size);
        return NULL;
    }
    return line;
}

static void line_settle(struct ns *ns, struct wait_line *line)
{
    if (!line->first) {
        map_remove(&ns->waiting.lines, line_key(line));
        engine_unwatch(ns->engine, line_key(line));
        mem_free(&allocator_system, line, sizeof(*line) + line->name_size);
    }
}

static void place_enter(struct wait_place *place, struct wait_line *line, struct waiter *waiter)
{
    *place = (struct wait_place){ .line = line, .waiter = waiter, .previous = line->last };
    *(line->last ? &line->last->next : &line->first) = place;
    line->last = place;
}

static void place_leave(struct ns *ns, struct wait_place *place)
{
    struct wait_line *line = place->line;
    *(place->previous ? &place->previous->next : &line->first) = place->next;
    *(place->next ? &place->next->previous : &line->last) = place->previous;
    line_settle(ns, line);
}

// ---------------------------------------------------------------------------------------------
// Waiters

static void on_timeout(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)execute_again(context, true);
}

// Where it is found again: by its number, or in the lines of its queues.
static enum status enter(struct waiter *waiter, struct slices queues)
{
    struct ns *ns = waiter->ns;
    if (waiter->kind == WAIT_FINISH) {
        return map_insert(&ns->waiting.numbers, waiter);
    }
    for (size_t i = 0; i < queues.count; i++) {
        struct wait_line *line = line_acquire(ns, queues.items[i]);
        if (!line) {
            return STATUS_NO_MEMORY;
        }
        place_enter(&waiter->places[waiter->place_count++], line, waiter);
    }
    return STATUS_OK;
}

static struct waiter *waiter_new(struct connection *connection, struct ns *ns,
                                 const struct call *call, struct slices words)
{
    size_t places_size = call->wait.queues.count * sizeof(struct wait_place);
    size_t size = sizeof(struct waiter) + places_size + words_size(words);
    struct waiter *waiter = mem_zalloc(&allocator_system, size);
    if (!waiter) {
        return NULL;
    }
    waiter->size = size;
    waiter->connection = connection;
    waiter->ns = ns;
    waiter->command = call->command;
    waiter->kind = call->wait.kind;
    waiter->number = call->waiter;
    waiter->places = (struct wait_place *)(waiter + 1);
    waiter->words = words_copy(words, waiter->places + call->wait.queues.count);
    (void)evtimer_assign(&waiter->timeout, connection->server->loop, on_timeout, waiter);
    ns->waiting.count++;
    connection->waiter = waiter;
    return waiter;
}

enum status waiting_add(struct connection *connection, struct ns *ns, const struct call *call,
                        struct slices words, struct error *error)
{
    const struct wait *wait = &call->wait;
    struct waiter *waiter = waiter_new(connection, ns, call, words);
    if (!waiter || enter(waiter, wait->queues)) {
        if (waiter) {
            waiter_end(waiter);
        } else {
            engine_wait_end(ns->engine, call->waiter);
        }
        return error_set(error, STATUS_NO_MEMORY, "no memory to wait");
    }
    if (wait->timeout_us != INT64_MAX) {
        struct timeval timeout = timeval_of(wait->timeout_us);
        (void)evtimer_add(&waiter->timeout, &timeout);
    }
    return STATUS_OK;
}

static void leave_ready(struct waiter *waiter)
{
    struct waiting *waiting = &waiter->ns->waiting;
    struct waiter **at = &waiting->ready;
    while (*at != waiter) {
        at = &(*at)->ready_next;
    }
    *at = waiter->ready_next;
    if (!waiter->ready_next) {
        waiting->ready_last = at;
    }
    waiter->ready = false;
}

void waiter_end(struct waiter *waiter)
{
    struct ns *ns = waiter->ns;
    if (waiter->kind == WAIT_FINISH) {
        engine_wait_end(ns->engine, waiter->number);
        map_remove(&ns->waiting.numbers, number_key(waiter));
    }
    if (waiter->ready) {
        leave_ready(waiter);
    }
    for (size_t i = 0; i < waiter->place_count; i++) {
        place_leave(ns, &waiter->places[i]);
    }
    (void)event_del(&waiter->timeout);
    ns->waiting.count--;
    waiter->connection->waiter = NULL;
    mem_free(&allocator_system, waiter, waiter->size);
}

// ---------------------------------------------------------------------------------------------
// Serving

void waiting_finished(struct ns *ns, uint64_t number, struct slice state)
{
    struct waiter *waiter = map_find(&ns->waiting.numbers, slice_make(&number, sizeof(number)));
    if (!waiter || waiter->ready) {
        return;
    }
    assert(state.size < sizeof(waiter->finished));
    memcpy(waiter->finished, state.data, state.size);
    waiter->ready = true;
    waiter->ready_next = NULL;
    *ns->waiting.ready_last = waiter;
    ns->waiting.ready_last = &waiter->ready_next;
}

// The first in line, as long as there is something for them.
static void serve_queue(struct ns *ns, struct slice queue)
{
    struct wait_line *line;
    while ((line = map_find(&ns->waiting.lines, queue)) && engine_is_ready(ns->engine, queue)) {
        if (!execute_again(line->first->waiter, false)) {
            return;
        }
    }
}

void waiting_serve(struct ns *ns)
{
    while (ns->waiting.ready) {
        (void)execute_again(ns->waiting.ready, true);
    }
    struct slice queue;
    while (engine_woken(ns->engine, &queue)) {
        // The name is gone with the last who waits for it.
        char name[ENGINE_NAME_SIZE_MAX];
        memcpy(name, queue.data, queue.size);
        serve_queue(ns, slice_make(name, queue.size));
    }
}

void waiting_fail_all(struct ns *ns, const struct error *error)
{
    struct connection *next;
    for (struct connection *at = ns->server->connections.newest; at && ns->waiting.count;
         at = next) {
        next = at->next;
        if (at->waiter && at->waiter->ns == ns) {
            waiter_end(at->waiter);
            say_error(at, error);
            connection_resume(at);
        }
    }
}
