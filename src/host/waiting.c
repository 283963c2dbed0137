// SPDX-License-Identifier: MIT
#include "host/waiting.h"

#include "engine/lanes/watch.h"
#include "host/namespaces.h"
#include "host/words.h"

#include <assert.h>
#include <stdalign.h>

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

// ---------------------------------------------------------------------------------------------
// Results of jobs

static struct slice keep(char **at, struct slice bytes)
{
    struct slice kept = slice_make(*at, bytes.size);
    if (bytes.size) {
        memcpy(*at, bytes.data, bytes.size);
    }
    *at += bytes.size;
    return kept;
}

// NULL if there is no memory.
static struct wait_finish *finish_new(const struct event *event)
{
    size_t size = sizeof(struct wait_finish) + event->state.size + event->result.size +
                  event->group.size + event->message.size;
    struct wait_finish *finish = mem_alloc(&allocator_system, size);
    if (finish) {
        char *at = finish->bytes;
        finish->size = size;
        finish->holders = 1;
        finish->words.state = keep(&at, event->state);
        finish->words.result = keep(&at, event->result);
        finish->words.group = keep(&at, event->group);
        finish->words.message = keep(&at, event->message);
    }
    return finish;
}

static void finish_release(struct wait_finish *finish)
{
    if (finish && --finish->holders == 0) {
        mem_free(&allocator_system, finish, finish->size);
    }
}

const struct finish *waiter_finish(const struct waiter *waiter)
{
    return waiter->finish ? &waiter->finish->words : NULL;
}

// ---------------------------------------------------------------------------------------------

void waiting_init(struct waiting *waiting, struct hash_seed seed)
{
    *waiting = (struct waiting){ .ready_last = &waiting->ready };
    map_init(&waiting->lines, &allocator_system, seed, line_key);
    map_init(&waiting->numbers, &allocator_system, seed, number_key);
}

void waiting_release(struct waiting *waiting)
{
    assert(waiting->count == 0 && !waiting->ready);
    assert(waiting->lines.count == 0 && waiting->numbers.count == 0);
    finish_release(waiting->finish);
    map_release(&waiting->lines);
    map_release(&waiting->numbers);
}

// ---------------------------------------------------------------------------------------------
// Queues of waiters

// Returns the waiters of a queue, creating the list if necessary; the engine then watches the
// queue.
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

static void place_link(struct wait_place *place, struct wait_line *line, struct waiter *waiter)
{
    *place = (struct wait_place){ .line = line, .waiter = waiter, .previous = line->last };
    *(line->last ? &line->last->next : &line->first) = place;
    line->last = place;
}

static void place_unlink(struct ns *ns, struct wait_place *place)
{
    struct wait_line *line = place->line;
    *(place->previous ? &place->previous->next : &line->first) = place->next;
    *(place->next ? &place->next->previous : &line->last) = place->previous;
    line_settle(ns, line);
}

// ---------------------------------------------------------------------------------------------
// Waiters

// Registers a waiter under its number, or with its queues.
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
        place_link(&waiter->places[waiter->place_count++], line, waiter);
    }
    return STATUS_OK;
}

static struct waiter *make(struct ns *ns, const struct call *call, struct slices words,
                           size_t owner_size)
{
    size_t aligned = (owner_size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    size_t places_size = call->wait.queues.count * sizeof(struct wait_place);
    size_t size = aligned + places_size + words_size(words);
    struct waiter *waiter = mem_zalloc(&allocator_system, size);
    if (!waiter) {
        return NULL;
    }
    waiter->size = size;
    waiter->ns = ns;
    waiter->command = call->command;
    waiter->kind = call->wait.kind;
    waiter->number = call->waiter;
    waiter->places = (struct wait_place *)((char *)waiter + aligned);
    waiter->words = words_copy(words, waiter->places + call->wait.queues.count);
    waiter->older = ns->waiting.newest;
    *(waiter->older ? &waiter->older->newer : &ns->waiting.oldest) = waiter;
    ns->waiting.newest = waiter;
    ns->waiting.count++;
    return waiter;
}

enum status waiter_new(struct ns *ns, const struct call *call, struct slices words,
                       size_t owner_size, struct waiter **out, struct error *error)
{
    assert(owner_size >= sizeof(struct waiter));
    assert(call->wait.kind == WAIT_POP || call->wait.kind == WAIT_FINISH);
    *out = make(ns, call, words, owner_size);
    if (*out && !enter(*out, call->wait.queues)) {
        return STATUS_OK;
    }
    if (*out) {
        waiter_end(*out);
    } else {
        engine_wait_end(ns->engine, call->waiter);
    }
    return error_set(error, STATUS_NO_MEMORY, "no memory to wait");
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
    assert(ns->waiting.count > 0);
    if (waiter->kind == WAIT_FINISH) {
        engine_wait_end(ns->engine, waiter->number);
        map_remove(&ns->waiting.numbers, number_key(waiter));
    }
    if (waiter->ready) {
        leave_ready(waiter);
    }
    finish_release(waiter->finish);
    for (size_t i = 0; i < waiter->place_count; i++) {
        place_unlink(ns, &waiter->places[i]);
    }
    *(waiter->older ? &waiter->older->newer : &ns->waiting.oldest) = waiter->newer;
    *(waiter->newer ? &waiter->newer->older : &ns->waiting.newest) = waiter->older;
    ns->waiting.count--;
    ns_touch(ns); // it may be unused now
    mem_free(&allocator_system, waiter, waiter->size);
}

// ---------------------------------------------------------------------------------------------
// Serving

void waiting_finished(struct ns *ns, const struct event *event)
{
    struct waiting *waiting = &ns->waiting;
    if (event->first) {
        finish_release(waiting->finish);
        waiting->finish = finish_new(event);
    }
    struct waiter *waiter =
        map_find(&waiting->numbers, slice_make(&event->waiter, sizeof(event->waiter)));
    if (!waiter || waiter->ready) {
        return;
    }
    assert(waiter->kind == WAIT_FINISH && !waiter->finish);
    waiter->finish = waiting->finish;
    if (waiter->finish) {
        waiter->finish->holders++;
    }
    waiter->ready = true;
    waiter->ready_next = NULL;
    *waiting->ready_last = waiter;
    waiting->ready_last = &waiter->ready_next;
}

static void serve_ready(struct waiting *waiting, const struct waiting_ops *form)
{
    while (waiting->ready && waiting->ready->finish) {
        (void)form->again(waiting->ready, true);
    }
    if (waiting->ready) {
        struct error error;
        (void)error_set(&error, STATUS_NO_MEMORY, "no memory to keep how the job ended");
        form->fail(waiting->ready, &error);
    }
}

// Serves the first waiter as long as it may get a job.
static void serve_queue(struct ns *ns, struct slice queue)
{
    struct wait_line *line;
    while ((line = map_find(&ns->waiting.lines, queue)) && engine_is_ready(ns->engine, queue)) {
        if (!ns->all->options.waiting.again(line->first->waiter, false)) {
            return;
        }
    }
}

void waiting_serve(struct ns *ns)
{
    const struct namespaces_options *options = &ns->all->options;
    while (ns->waiting.ready) {
        serve_ready(&ns->waiting, &options->waiting);
    }
    finish_release(ns->waiting.finish);
    ns->waiting.finish = NULL;
    struct slice queue;
    while (engine_woken(ns->engine, &queue)) {
        // A copy, because the name is freed with the last waiter.
        char name[ENGINE_NAME_SIZE_MAX];
        memcpy(name, queue.data, queue.size);
        queue.data = name;
        serve_queue(ns, queue);
        if (options->woken && engine_is_ready(ns->engine, queue)) {
            options->woken(options->context, ns, queue);
        }
    }
}

void waiting_fail_all(struct ns *ns, const struct error *error)
{
    while (ns->waiting.oldest) {
        ns->all->options.waiting.fail(ns->waiting.oldest, error);
    }
}
