// SPDX-License-Identifier: MIT
#include "server/push/push.h"

#include "engine/lanes/watch.h"
#include "engine/lease/workers.h"
#include "host/notes.h"
#include "server/log/log.h"
#include "server/server.h"

static struct slice delivery_key(const void *delivery)
{
    return delivery_jid(delivery);
}

// Whether the store takes changes: all of them, or only those that free space.
static bool can_settle(const struct server *server)
{
    return server->store_state == STORE_READY || server->store_state == STORE_FULL;
}

// ---------------------------------------------------------------------------------------------
// Namespaces and their queues

enum status push_namespace_acquire(struct push *push, struct ns *ns, struct push_namespace **out)
{
    *out = ns->side;
    if (*out) {
        return STATUS_OK;
    }
    struct push_namespace *space = mem_zalloc(&allocator_system, sizeof(*space));
    if (!space) {
        return STATUS_NO_MEMORY;
    }
    space->push = push;
    space->ns = ns;
    space->pending_last = &space->pending;
    map_init(&space->deliveries, &allocator_system, push->server->seed, delivery_key);
    map_init(&space->lines, &allocator_system, push->server->seed, push_line_key);
    space->next = push->namespaces;
    push->namespaces = space;
    ns->side = space;
    engine_watch_all(ns->engine, true);
    *out = space;
    return STATUS_OK;
}

static void space_free(struct push_namespace *space)
{
    struct push *push = space->push;
    for (size_t i = 0; i <= DELIVERY_ACCEPTED + 1; i++) {
        struct push_delivery *next;
        struct delivery_list *list = i <= DELIVERY_ACCEPTED ? &push->lists[i] : &push->lost;
        for (struct push_delivery *at = list->first; at; at = next) {
            next = at->next;
            if (at->entry->space == space) {
                delivery_free(at);
            }
        }
    }
    while (space->entries) {
        push_entry_drop(space->entries);
    }
    push_lines_free(space);
    struct push_namespace **at = &push->namespaces;
    while (*at != space) {
        at = &(*at)->next;
    }
    *at = space->next;
    space->ns->side = NULL;
    map_release(&space->deliveries);
    map_release(&space->lines);
    mem_free(&allocator_system, space, sizeof(*space));
}

void push_leaving(struct server *server, struct ns *ns)
{
    (void)server;
    if (ns->side) {
        space_free(ns->side);
    }
}

// ---------------------------------------------------------------------------------------------
// Entries

struct push_entry *push_entry_find(const struct push_namespace *space, struct slice pattern)
{
    struct push_entry *entry = space->entries;
    while (entry && !slice_equal(entry->plan.given.pattern, pattern)) {
        entry = entry->next;
    }
    return entry;
}

enum status push_entry_set(struct push_namespace *space, struct push_plan *plan, struct note *note,
                           struct error *error)
{
    struct push_entry *entry = push_entry_find(space, plan->given.pattern);
    if (entry) {
        push_plan_release(&entry->plan);
    } else {
        entry = mem_zalloc(&allocator_system, sizeof(*entry));
        if (!entry) {
            push_plan_release(plan);
            return error_set(error, STATUS_NO_MEMORY, "no memory for a push");
        }
        struct push_entry **at = &space->entries;
        while (*at) {
            at = &(*at)->next;
        }
        *at = entry;
        entry->space = space;
    }
    entry->plan = *plan;
    entry->note = note;
    entry->gone = false;
    entry->fresh = true;
    // The breaker was about the previous address.
    entry->breaker = BREAKER_CLOSED;
    entry->failures = 0;
    entry->held_us = 0;
    entry->reached = false;
    push_namespace_look(space);
    return STATUS_OK;
}

// The entry is freed when its last delivery ends, or at once if it has none.
void push_entry_drop(struct push_entry *entry)
{
    entry->gone = true;
    entry->note = NULL;
    if (entry->running) {
        return;
    }
    struct push_entry **at = &entry->space->entries;
    while (*at != entry) {
        at = &(*at)->next;
    }
    *at = entry->next;
    push_plan_release(&entry->plan);
    mem_free(&allocator_system, entry, sizeof(*entry));
}

// ---------------------------------------------------------------------------------------------
// Turns

void push_settle(struct server *server)
{
    struct push *push = &server->push;
    while (push->lists[DELIVERY_DONE].first && can_settle(server)) {
        delivery_settle(push->lists[DELIVERY_DONE].first);
    }
    while (push->stopping && push->lists[DELIVERY_HELD].first && can_settle(server)) {
        delivery_return(push->lists[DELIVERY_HELD].first, 0);
    }
}

static void on_due(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context; // push_take at the end of the turn does the work
}

void push_send(struct server *server)
{
    struct push *push = &server->push;
    if (server->namespaces.behind) {
        push_set_due(push, server_now(server));
        return; // the group of this turn's changes is not known before the commit
    }
    uint64_t durable = server->store_state == STORE_FAILED ? 0 : store_durable(server->store);
    bool always = server->settings.durability == STORE_NEVER;
    struct push_delivery *delivery;
    while ((delivery = push->lists[DELIVERY_HELD].first) && !push->stopping) {
        delivery->group = delivery->group ? delivery->group : server->namespaces.group;
        if (!always && delivery->group > durable) {
            break;
        }
        delivery_move(delivery, DELIVERY_SENT);
        delivery->entry->figures.sent++;
        if (delivery_send(delivery)) {
            delivery->outcome =
                (struct push_answer){ .curl = CURLE_OUT_OF_MEMORY, .starved = true };
            delivery_move(delivery, DELIVERY_DONE);
        }
    }
    for (struct push_delivery *at = push->lists[DELIVERY_HELD].last; at && !at->group;
         at = at->previous) {
        at->group = server->namespaces.group;
    }
    push_set_due(push, server_now(server));
}

// ---------------------------------------------------------------------------------------------
// Entries of the config file and of the store

static void write_ignored(struct slice ns, const char *what, const struct error *error)
{
    log_line(LOG_LEVEL_ERROR, what, LOG_TEXT("namespace", ns),
             LOG_STRING("reason", error_sentence(error)));
}

// Sets an entry from one value of the setting `push`. It takes precedence over an entry of the
// store with the same pattern.
static enum status set_from_item(struct push *push, struct slice item, struct error *error)
{
    struct server *server = push->server;
    struct push_namespace *space;
    struct push_plan plan;
    struct slice name, json;
    struct ns *ns;
    push_item_split(item, &name, &json);
    enum status status =
        namespaces_acquire(&server->namespaces, name, ENGINE_CLOCK_SERVER, &ns, error);
    if (!status) {
        status = push_check_namespace(ns, error);
    }
    if (!status) {
        status = push_plan_read(&plan, server->settings.allocator, json, error);
    }
    if (status) {
        return status;
    }
    if (push_namespace_acquire(push, ns, &space)) {
        push_plan_release(&plan);
        return error_set(error, STATUS_NO_MEMORY, "no memory for a push");
    }
    return push_entry_set(space, &plan, NULL, error);
}

enum status push_check_namespace(const struct ns *ns, struct error *error)
{
    return ns->clock == ENGINE_CLOCK_SERVER
               ? STATUS_OK
               : error_set(error, STATUS_STATE,
                           "the namespace \"%.*s\" has the clients' clock: without them no time "
                           "passes in it, so the server cannot be its worker",
                           SLICE_PRINT(ns_name(ns)));
}

static struct slice item_ns(const char *item)
{
    struct slice name, json;
    push_item_split(slice_from_cstr(item), &name, &json);
    return name;
}

static void load_note(struct push_namespace *space, struct note *note)
{
    struct push_plan plan;
    struct error error;
    enum status status =
        push_plan_read(&plan, space->push->server->settings.allocator, note_text(note), &error);
    if (!status) {
        const struct push_entry *entry = push_entry_find(space, plan.given.pattern);
        if (entry && !entry->gone) {
            // the entry is this note's, or the config file has one with the same pattern
            push_plan_release(&plan);
            return;
        }
        status = push_entry_set(space, &plan, note, &error);
    }
    if (status) {
        write_ignored(ns_name(space->ns), "a push of the store is ignored", &error);
    }
}

// Makes entries of the notes in the store, except for patterns that the config file sets.
static void load_notes(struct push *push)
{
    struct push_namespace *space;
    for (struct ns *ns = push->server->namespaces.first; ns; ns = ns->next) {
        if (ns->notes && push_namespace_acquire(push, ns, &space)) {
            log_line(LOG_LEVEL_ERROR, "no memory for the pushes of the store", LOG_NO_PAIRS);
            return;
        }
        for (struct note *note = ns->notes; note; note = note->next) {
            load_note(space, note);
        }
    }
}

static void apply_config(struct push *push)
{
    const struct settings_list *list = &push->server->settings.push;
    struct error error;
    for (struct push_namespace *space = push->namespaces; space; space = space->next) {
        for (struct push_entry *at = space->entries; at; at = at->next) {
            at->fresh = at->note != NULL;
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        if (set_from_item(push, slice_from_cstr(list->items[i]), &error)) {
            write_ignored(item_ns(list->items[i]), "a push of the config file is ignored", &error);
        }
    }
    for (struct push_namespace *space = push->namespaces; space; space = space->next) {
        struct push_entry *next;
        for (struct push_entry *at = space->entries; at; at = next) {
            next = at->next;
            if (!at->fresh && !at->gone) {
                push_entry_drop(at);
            }
        }
    }
    load_notes(push);
}

void push_apply_settings(struct server *server)
{
    if (!server->push.multi) {
        return; // push_start has not run yet
    }
    push_curl_apply(&server->push);
    if (server->store) {
        apply_config(&server->push);
        for (struct push_namespace *at = server->push.namespaces; at; at = at->next) {
            push_namespace_look(at);
        }
    }
}

// Makes a delivery for a job that the pusher held before a restart.
static void adopt(struct push_namespace *space, const struct job *job, int64_t now_us)
{
    struct push_entry *entry = push_entry_for(space, job);
    struct push_delivery *delivery;
    struct job_view view;
    job_view(space->ns->engine, job, &view);
    if (!entry || delivery_new(entry, job, now_us, &delivery)) {
        return; // its lease expires, and the job is popped again
    }
    if (push_was_accepted(space->ns->engine, job, view.token)) {
        delivery->accepted_until_us = now_us + entry->plan.given.report_us;
        delivery_move(delivery, DELIVERY_ACCEPTED);
    }
}

static enum status adopt_all(struct push_namespace *space, int64_t now_us, struct error *error)
{
    const struct engine *engine = space->ns->engine;
    struct page page = { 0 };
    engine_worker_jobs(engine, now_us, PUSH_WORKER, LIST_UNEXPIRED, &page);
    size_t size = page.total * sizeof(*page.jobs);
    page.count = page.total;
    page.jobs = size ? mem_alloc(&allocator_system, size) : NULL;
    if (size && !page.jobs) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for jobs that are being pushed");
    }
    if (size) {
        engine_worker_jobs(engine, now_us, PUSH_WORKER, LIST_UNEXPIRED, &page);
    }
    for (size_t i = 0; page.jobs && i < page.found; i++) {
        adopt(space, page.jobs[i], now_us);
    }
    mem_free(&allocator_system, page.jobs, size);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Its life

enum status push_init(struct server *server, struct error *error)
{
    struct push *push = &server->push;
    *push = (struct push){ .server = server };
    push->due = evtimer_new(server->loop, on_due, push);
    push->peeked = mem_alloc(server->settings.allocator, PUSH_SCAN_MAX * sizeof(*push->peeked));
    if (!push->due || !push->peeked) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to push");
    }
    return push_curl_init(push, error);
}

enum status push_start(struct server *server, struct error *error)
{
    struct push *push = &server->push;
    enum status status = STATUS_OK;
    push_curl_apply(push);
    apply_config(push);
    for (struct push_namespace *at = push->namespaces; at && !status; at = at->next) {
        status = adopt_all(at, server_now(server), error);
    }
    return status;
}

void push_release(struct server *server)
{
    struct push *push = &server->push;
    if (!push->server) {
        return;
    }
    while (push->namespaces) {
        space_free(push->namespaces);
    }
    if (push->due) {
        event_free(push->due);
    }
    mem_free(server->settings.allocator, push->peeked,
             push->peeked ? PUSH_SCAN_MAX * sizeof(*push->peeked) : 0);
    push_curl_release(push);
    push->server = NULL;
}

// ---------------------------------------------------------------------------------------------
// Its end

void push_stop(struct server *server)
{
    server->push.stopping = true; // deliveries in DELIVERY_HELD are returned at the end of the turn
}

bool push_is_drained(const struct server *server)
{
    const struct push *push = &server->push;
    return push->lists[DELIVERY_HELD].count + push->lists[DELIVERY_SENT].count +
               push->lists[DELIVERY_DONE].count ==
           0;
}

void push_give_back(struct server *server)
{
    struct push *push = &server->push;
    push_settle(server);
    while (push->lists[DELIVERY_SENT].first && can_settle(server)) {
        delivery_return(push->lists[DELIVERY_SENT].first, 0);
    }
}
