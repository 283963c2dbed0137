// SPDX-License-Identifier: MIT
#include "server/namespaces.h"

#include "engine/changes.h"
#include "server/log.h"
#include "server/removal.h"
#include "server/server.h"

#include <assert.h>

static struct slice ns_key(const void *ns)
{
    return ns_name(ns);
}

// ---------------------------------------------------------------------------------------------
// The record of a namespace: version (1), whether it is deleted (1), its clock (1), whether qless's
// clients use it (1), its name

enum {
    DIRECTORY_SPACE = 0,
    DIRECTORY_KIND = 1,
    DIRECTORY_VERSION = 1,
    DIRECTORY_HEADER = 4,
};

static struct store_key directory_key(uint32_t space)
{
    return (struct store_key){ DIRECTORY_SPACE,
                               { .kind = (enum record_kind)DIRECTORY_KIND, .id = space } };
}

static enum status write_directory(struct server *server, const struct ns *ns, bool deleted,
                                   uint64_t *group, struct error *error)
{
    char bytes[DIRECTORY_HEADER + ENGINE_NAME_SIZE_MAX] = { DIRECTORY_VERSION, (char)deleted,
                                                            (char)ns->clock, (char)ns->qless };
    memcpy(bytes + DIRECTORY_HEADER, ns->name, ns->name_size);
    const struct store_record record = { directory_key(ns->space),
                                         slice_make(bytes, DIRECTORY_HEADER + ns->name_size) };
    return store_append(server->store, &record, 1, group, error);
}

// ---------------------------------------------------------------------------------------------
// One of them

static void on_event(void *context, const struct event *event)
{
    struct ns *ns = context;
    if (event->channels & EVENT_TO_WAITER) {
        waiting_finished(ns, event->waiter, event->state);
    }
    if (event->channels & ~(unsigned)EVENT_TO_WAITER) {
        pubsub_event(ns, event);
    }
}

static enum status new_engine(const struct server *server, struct ns *ns, enum engine_clock clock,
                              struct engine **out)
{
    const struct engine_options options = {
        .allocator = server->settings.allocator,
        .seed = server->seed,
        .clock = clock,
        .sink = { ns ? on_event : NULL, ns },
        .keeps_changes = ns != NULL,
    };
    return engine_new(&options, out);
}

static void ns_free(struct ns *ns)
{
    struct server *server = ns->server;
    waiting_release(&ns->waiting);
    engine_free(ns->engine);
    mem_free(server->settings.allocator, ns, sizeof(*ns) + ns->name_size);
}

// In no list yet.
static struct ns *ns_new(struct server *server, struct slice name, uint32_t space,
                         enum engine_clock clock)
{
    struct ns *ns = mem_zalloc(server->settings.allocator, sizeof(*ns) + name.size);
    if (!ns) {
        return NULL;
    }
    ns->server = server;
    ns->space = space;
    ns->clock = clock;
    ns->due_us = INT64_MAX;
    ns->name_size = (uint8_t)name.size;
    memcpy(ns->name, name.data, name.size);
    waiting_init(&ns->waiting, server->seed);
    if (new_engine(server, ns, clock, &ns->engine)) {
        ns_free(ns);
        return NULL;
    }
    return ns;
}

static enum status ns_add(struct server *server, struct ns *ns)
{
    struct namespaces *all = &server->namespaces;
    enum status status = map_insert(&all->by_name, ns);
    if (status) {
        return status;
    }
    *all->last = ns;
    all->last = &ns->next;
    all->count++;
    return STATUS_OK;
}

static void ns_remove(struct server *server, struct ns *ns)
{
    struct namespaces *all = &server->namespaces;
    struct ns **at = &all->first;
    while (*at != ns) {
        at = &(*at)->next;
    }
    *at = ns->next;
    if (!ns->next) {
        all->last = at;
    }
    for (at = &all->touched; ns->touched && *at; at = &(*at)->touched_next) {
        if (*at == ns) {
            *at = ns->touched_next;
            break;
        }
    }
    map_remove(&all->by_name, ns_name(ns));
    all->recent = NULL;
    all->count--;
}

// ---------------------------------------------------------------------------------------------
// All of them

enum status namespaces_init(struct server *server, struct error *error)
{
    struct namespaces *all = &server->namespaces;
    *all = (struct namespaces){ .last = &all->first };
    map_init(&all->by_name, server->settings.allocator, server->seed, ns_key);
    if (new_engine(server, NULL, ENGINE_CLOCK_SERVER, &all->empty)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the first engine");
    }
    return STATUS_OK;
}

void namespaces_release(struct server *server)
{
    struct namespaces *all = &server->namespaces;
    while (all->first) {
        struct ns *ns = all->first;
        ns_remove(server, ns);
        ns_free(ns);
    }
    while (all->removals) {
        removal_free(removal_take(&all->removals));
    }
    engine_free(all->empty);
    map_release(&all->by_name);
}

struct ns *namespaces_find(struct server *server, struct slice name)
{
    struct namespaces *all = &server->namespaces;
    if (!all->recent || !slice_equal(ns_name(all->recent), name)) {
        all->recent = map_find(&all->by_name, name);
    }
    return all->recent;
}

enum status namespaces_acquire(struct server *server, struct slice name, enum engine_clock clock,
                               struct ns **out, struct error *error)
{
    *out = namespaces_find(server, name);
    if (*out) {
        return STATUS_OK;
    }
    if (!server->settings.create_namespaces) {
        return error_set(error, STATUS_NOT_FOUND,
                         "there is no namespace \"%.*s\", and the setting create-namespaces does "
                         "not allow one to be made by using it",
                         SLICE_PRINT(name));
    }
    return namespaces_create(server, name, clock, out, error);
}

enum status namespaces_create(struct server *server, struct slice name, enum engine_clock clock,
                              struct ns **out, struct error *error)
{
    struct namespaces *all = &server->namespaces;
    if (namespaces_find(server, name)) {
        return error_set(error, STATUS_EXISTS, "there is a namespace \"%.*s\" already",
                         SLICE_PRINT(name));
    }
    if (all->count >= server->settings.max_namespaces) {
        return error_set(error, STATUS_TOO_LARGE,
                         "there are %zu namespaces; the setting max-namespaces allows no more",
                         all->count);
    }
    struct ns *ns = ns_new(server, name, all->space + 1, clock);
    if (!ns || ns_add(server, ns)) {
        if (ns) {
            ns_free(ns);
        }
        return error_set(error, STATUS_NO_MEMORY, "no memory for a namespace");
    }
    enum status status = write_directory(server, ns, false, &server->commit.group, error);
    if (status) {
        ns_remove(server, ns);
        ns_free(ns);
        return status;
    }
    all->space++;
    ns_touch(ns);
    *out = ns;
    return STATUS_OK;
}

enum status ns_make_qless(struct ns *ns, struct error *error)
{
    if (ns->qless) {
        return STATUS_OK;
    }
    ns->qless = true;
    return write_directory(ns->server, ns, false, &ns->server->commit.group, error);
}

enum status namespaces_delete(struct server *server, struct slice name, struct error *error)
{
    struct ns *ns = namespaces_find(server, name);
    if (!ns) {
        return error_set(error, STATUS_NOT_FOUND, "there is no namespace \"%.*s\"",
                         SLICE_PRINT(name));
    }
    struct removal *removal = removal_new(server->settings.allocator, ns->space);
    if (!removal) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to delete a namespace");
    }
    // What was changed before is stored before, so that it is in the list of what is removed.
    uint64_t group;
    enum status status = store_take(server->store, ns->space, ns->engine, &group, error);
    if (!status) {
        status = write_directory(server, ns, true, &server->commit.group, error);
    }
    if (status) {
        removal_free(removal);
        return status;
    }
    struct error why;
    (void)error_set(&why, STATUS_NOT_FOUND, "the namespace \"%.*s\" was deleted",
                    SLICE_PRINT(name));
    waiting_fail_all(ns, &why);
    ns_remove(server, ns);
    removal_add(&server->namespaces.removals, removal);
    removal_empty(removal, ns->engine);
    ns->engine = NULL;
    ns_free(ns);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Loading

static enum status visit_directory(struct server *server, struct record_key key, struct slice bytes,
                                   struct error *error)
{
    struct namespaces *all = &server->namespaces;
    if ((int)key.kind != DIRECTORY_KIND || key.id == 0 || key.id > UINT32_MAX ||
        bytes.size <= DIRECTORY_HEADER || bytes.size > DIRECTORY_HEADER + ENGINE_NAME_SIZE_MAX) {
        return error_set(error, STATUS_CORRUPT, "the record of namespace %llu makes no sense",
                         (unsigned long long)key.id);
    }
    if (bytes.data[0] != DIRECTORY_VERSION) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "the record of namespace %llu has version %d, and this program knows "
                         "version %d",
                         (unsigned long long)key.id, bytes.data[0], DIRECTORY_VERSION);
    }
    uint32_t space = (uint32_t)key.id;
    all->space = space > all->space ? space : all->space;
    if (bytes.data[1]) {
        struct removal *removal = removal_new(server->settings.allocator, space);
        if (removal) {
            removal_add(&all->removals, removal);
        }
        return removal ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory");
    }
    struct ns *ns = ns_new(server, slice_sub(bytes, DIRECTORY_HEADER, SIZE_MAX), space,
                           bytes.data[2] ? ENGINE_CLOCK_CLIENT : ENGINE_CLOCK_SERVER);
    enum status status = ns ? ns_add(server, ns) : STATUS_NO_MEMORY;
    if (status) {
        if (ns) {
            ns_free(ns);
        }
        return error_set(error, status == STATUS_EXISTS ? STATUS_CORRUPT : status,
                         status == STATUS_EXISTS ? "two namespaces have the same name"
                                                 : "no memory for a namespace");
    }
    ns->qless = bytes.data[3] != 0;
    return STATUS_OK;
}

static enum status end_loading(struct namespaces *all, struct error *error)
{
    struct ns *ns = all->loading;
    all->loading = NULL;
    return ns ? record_read_end(ns->engine, error) : STATUS_OK;
}

enum status namespaces_visit(void *context, struct store_key key, struct slice bytes,
                             struct error *error)
{
    struct server *server = context;
    struct namespaces *all = &server->namespaces;
    if (key.space == DIRECTORY_SPACE) {
        return visit_directory(server, key.record, bytes, error);
    }
    if (!all->loading || all->loading->space != key.space) {
        struct removal *removal = removal_find(all->removals, key.space);
        if (removal) {
            return removal_note(removal, key.record)
                       ? error_set(error, STATUS_NO_MEMORY, "no memory")
                       : STATUS_OK;
        }
        enum status status = end_loading(all, error);
        if (status) {
            return status;
        }
        struct ns *ns = all->first;
        while (ns && ns->space != key.space) {
            ns = ns->next;
        }
        if (!ns) {
            return error_set(error, STATUS_CORRUPT,
                             "there are records of namespace %u, which has "
                             "no name",
                             (unsigned)key.space);
        }
        all->loading = ns;
    }
    return record_read(all->loading->engine, key.record, bytes, error);
}

enum status namespaces_loaded(struct server *server, struct error *error)
{
    enum status status = end_loading(&server->namespaces, error);
    int64_t now_us = server_now(server);
    for (struct ns *ns = server->namespaces.first; ns && !status; ns = ns->next) {
        status = engine_resume(ns->engine, now_us, error);
        ns_touch(ns);
    }
    for (struct removal *at = server->namespaces.removals; at; at = removal_next(at)) {
        removal_ready(at);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Turns

void ns_touch(struct ns *ns)
{
    if (!ns->touched) {
        struct namespaces *all = &ns->server->namespaces;
        ns->touched = true;
        ns->touched_next = all->touched;
        all->touched = ns;
    }
}

int64_t namespaces_tick(struct server *server)
{
    int64_t now_us = server_now(server);
    int64_t next_us = INT64_MAX;
    for (struct ns *ns = server->namespaces.first; ns; ns = ns->next) {
        if (ns->touched || ns->due_us <= now_us) {
            ns_touch(ns);
            ns->due_us = engine_tick(ns->engine, now_us);
            waiting_serve(ns);
        }
        next_us = ns->due_us < next_us ? ns->due_us : next_us;
    }
    return next_us;
}

enum status namespaces_append(struct server *server, uint64_t *group, struct error *error)
{
    struct namespaces *all = &server->namespaces;
    enum status status = STATUS_OK;
    while (all->touched) {
        struct ns *ns = all->touched;
        all->touched = ns->touched_next;
        ns->touched = false;
        if (!status && engine_has_changes(ns->engine)) {
            status = store_take(server->store, ns->space, ns->engine, group, error);
        }
    }
    return status;
}

enum status namespaces_remove(struct server *server, uint64_t *group, bool *more,
                              struct error *error)
{
    struct namespaces *all = &server->namespaces;
    *more = false;
    struct removal *removal = all->removals;
    if (!removal || !removal_is_ready(removal)) {
        return STATUS_OK;
    }
    bool done = false;
    enum status status = removal_run(removal, server->store, group, &done, error);
    if (!status && done) {
        const struct store_record gone = { directory_key(removal_space(removal)), SLICE_EMPTY };
        status = store_append(server->store, &gone, 1, group, error);
        if (!status) {
            removal_free(removal_take(&all->removals));
        }
    }
    *more = !status && all->removals && removal_is_ready(all->removals);
    return status;
}
