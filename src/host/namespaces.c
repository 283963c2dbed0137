// SPDX-License-Identifier: MIT
#include "host/namespaces.h"

#include "engine/measure/series.h"
#include "engine/name.h"
#include "engine/records/changes.h"
#include "host/presence.h"
#include "host/removal.h"
#include "store/directory.h"

#include <assert.h>

enum {
    // A namespace that is created again after it was deleted has another space, and tokens above
    // those of the deleted one, so that its old tokens are not valid in the new one. The tokens of
    // a million namespaces are still exact in JavaScript's numbers.
    TOKEN_BITS = 32,
};

static struct slice ns_key(const void *ns)
{
    return ns_name(ns);
}

static enum status write_directory(const struct ns *ns, bool deleted, struct error *error)
{
    char bytes[DIRECTORY_RECORD_MAX];
    const struct directory_entry entry = {
        .space = ns->space,
        .deleted = deleted,
        .clock = ns->clock,
        .qless = ns->qless,
        .name = ns_name(ns),
    };
    const struct store_record record = directory_write(&entry, bytes);
    return store_append(ns->all->store, &record, 1, &ns->all->group, error);
}

// ---------------------------------------------------------------------------------------------
// A namespace

static void on_event(void *context, const struct event *event)
{
    struct ns *ns = context;
    if (event->channels & EVENT_TO_WAITER) {
        waiting_finished(ns, event);
    }
    if (event->channels & ~(unsigned)EVENT_TO_WAITER) {
        ns->all->options.event(ns->all->options.context, ns, event);
    }
}

static void on_lease_ended(void *context, struct slice jid)
{
    struct ns *ns = context;
    ns->all->options.lease_ended(ns->all->options.context, ns, jid);
}

static enum status new_engine(const struct namespaces *all, struct ns *ns, enum engine_clock clock,
                              struct engine **out)
{
    const struct engine_options options = {
        .allocator = all->options.allocator,
        .seed = all->options.seed,
        .clock = clock,
        .sink = { ns ? on_event : NULL, ns, ns && all->options.lease_ended ? on_lease_ended : NULL,
                  all->options.wanted },
        .token = ns ? (uint64_t)(ns->space - 1) << TOKEN_BITS : 0,
        .keeps_changes = ns != NULL,
    };
    return engine_new(&options, out);
}

static void ns_free(struct ns *ns)
{
    presences_leave(ns);
    const struct allocator *allocator = ns->all->options.allocator;
    waiting_release(&ns->waiting);
    notes_free(ns);
    engine_free(ns->engine);
    mem_free(allocator, ns, sizeof(*ns) + ns->name_size);
}

// The namespace is in no list yet.
static struct ns *ns_new(struct namespaces *all, struct slice name, uint32_t space,
                         enum engine_clock clock)
{
    struct ns *ns = mem_zalloc(all->options.allocator, sizeof(*ns) + name.size);
    if (!ns) {
        return NULL;
    }
    ns->all = all;
    ns->space = space;
    ns->clock = clock;
    ns->due_us = INT64_MAX;
    ns->name_size = (uint8_t)name.size;
    memcpy(ns->name, name.data, name.size);
    waiting_init(&ns->waiting, all->options.seed);
    if (new_engine(all, ns, clock, &ns->engine)) {
        ns_free(ns);
        return NULL;
    }
    engine_set_quotas(ns->engine, &all->options.quotas);
    engine_hold_recurring(ns->engine, all->growth_held != 0);
    return ns;
}

static enum status ns_add(struct namespaces *all, struct ns *ns)
{
    enum status status = map_insert(&all->by_name, ns);
    if (status) {
        return status;
    }
    *all->last = ns;
    all->last = &ns->next;
    all->count++;
    return STATUS_OK;
}

static void ns_remove(struct namespaces *all, struct ns *ns)
{
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
// The list of namespaces

enum status namespaces_init(struct namespaces *all, const struct namespaces_options *options,
                            struct error *error)
{
    *all = (struct namespaces){ .options = *options, .last = &all->first };
    map_init(&all->by_name, all->options.allocator, all->options.seed, ns_key);
    if (new_engine(all, NULL, ENGINE_CLOCK_SERVER, &all->empty)) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the first engine");
    }
    return STATUS_OK;
}

void namespaces_release(struct namespaces *all)
{
    while (all->first) {
        struct ns *ns = all->first;
        ns_remove(all, ns);
        ns_free(ns);
    }
    while (all->removals) {
        removal_free(removal_take(&all->removals));
    }
    host_notes_free(all);
    refusals_release(all);
    engine_free(all->empty);
    map_release(&all->by_name);
}

struct ns *namespaces_find(struct namespaces *all, struct slice name)
{
    if (!all->recent || !slice_equal(ns_name(all->recent), name)) {
        all->recent = map_find(&all->by_name, name);
    }
    return all->recent;
}

// Creates the namespace in memory only.
static enum status make(struct namespaces *all, struct slice name, enum engine_clock clock,
                        struct ns **out, struct error *error)
{
    enum status status = name_check_text(name, "namespace", error);
    if (status) {
        return status;
    }
    if (all->count >= all->options.count_max) {
        return error_set(error, STATUS_TOO_LARGE,
                         "there are %zu namespaces; the setting max-namespaces allows no more",
                         all->count);
    }
    struct ns *ns = ns_new(all, name, all->space + 1, clock);
    if (!ns || ns_add(all, ns)) {
        if (ns) {
            ns_free(ns);
        }
        return error_set(error, STATUS_NO_MEMORY, "no memory for a namespace");
    }
    all->space++;
    ns_touch(ns);
    *out = ns;
    return STATUS_OK;
}

enum status namespaces_acquire(struct namespaces *all, struct slice name, enum engine_clock clock,
                               struct ns **out, struct error *error)
{
    *out = namespaces_find(all, name);
    if (*out) {
        return STATUS_OK;
    }
    if (!all->options.create) {
        return error_set(error, STATUS_NOT_FOUND,
                         "there is no namespace \"%.*s\", and the setting create-namespaces does "
                         "not allow one to be made by using it",
                         SLICE_PRINT(name));
    }
    return make(all, name, clock, out, error);
}

// Frees a namespace that is not in the store. Its space is used again if it was the last one, so
// that refused commands cannot use up the numbers of spaces.
static void drop(struct ns *ns)
{
    struct namespaces *all = ns->all;
    assert(!ns->stored);
    if (all->options.leaving) {
        all->options.leaving(all->options.context, ns);
    }
    all->space -= ns->space == all->space;
    ns_remove(all, ns);
    ns_free(ns);
}

void ns_drop_unused(struct ns *ns)
{
    bool unused = !ns->stored && !ns->side && !ns->notes && ns->waiting.count == 0 &&
                  engine_is_unused(ns->engine);
    if (unused) {
        drop(ns);
    }
}

enum status ns_store(struct ns *ns, struct error *error)
{
    enum status status = ns->stored ? STATUS_OK : write_directory(ns, false, error);
    ns->stored = !status;
    return status;
}

enum status namespaces_create(struct namespaces *all, struct slice name, enum engine_clock clock,
                              struct ns **out, struct error *error)
{
    if (namespaces_find(all, name)) {
        return error_set(error, STATUS_EXISTS, "there is a namespace \"%.*s\" already",
                         SLICE_PRINT(name));
    }
    enum status status = make(all, name, clock, out, error);
    if (status) {
        return status;
    }
    status = ns_store(*out, error);
    if (status) {
        drop(*out);
    }
    return status;
}

enum status namespaces_check_name(const struct command *command, struct slice name,
                                  struct error *error)
{
    if (name.size == 0 || name.size > ENGINE_NAME_SIZE_MAX) {
        return error_set(error, STATUS_INVALID,
                         "%s: its first argument is a namespace, a name of 1 to %d bytes",
                         command->name, ENGINE_NAME_SIZE_MAX);
    }
    return STATUS_OK;
}

enum status namespaces_for(struct namespaces *all, const struct command *command, struct slice name,
                           struct ns **out, struct error *error)
{
    *out = namespaces_find(all, name);
    if (*out || !(command->flags & COMMAND_WRITES)) {
        return STATUS_OK;
    }
    return namespaces_acquire(all, name, ENGINE_CLOCK_SERVER, out, error);
}

enum status ns_make_qless(struct ns *ns, uint8_t generation, struct error *error)
{
    uint8_t before = ns->qless;
    if (before & generation) {
        return STATUS_OK;
    }
    ns->qless = before | generation;
    enum status status = write_directory(ns, false, error);
    if (status) {
        ns->qless = before;
    }
    return status;
}

enum status namespaces_delete(struct namespaces *all, struct slice name, struct error *error)
{
    struct ns *ns = namespaces_find(all, name);
    if (!ns) {
        return error_set(error, STATUS_NOT_FOUND, "there is no namespace \"%.*s\"",
                         SLICE_PRINT(name));
    }
    struct removal *removal = removal_new(all->options.allocator, ns->space);
    if (!removal) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to delete a namespace");
    }
    // Earlier changes are stored first, so that they are in the list of records to remove.
    uint64_t group;
    enum status status = ns_store(ns, error);
    if (!status) {
        status = store_take(all->store, ns->space, ns->engine, &group, error);
    }
    if (!status) {
        status = notes_delete(ns, error);
    }
    if (!status) {
        status = write_directory(ns, true, error);
    }
    if (status) {
        removal_free(removal);
        return status;
    }
    struct error why;
    (void)error_set(&why, STATUS_NOT_FOUND, "the namespace \"%.*s\" was deleted",
                    SLICE_PRINT(name));
    waiting_fail_all(ns, &why);
    if (all->options.leaving) {
        all->options.leaving(all->options.context, ns);
    }
    refusals_forget(all, ns_name(ns));
    ns_remove(all, ns);
    removal_add(&all->removals, removal);
    removal_empty(removal, ns->engine, &all->options);
    ns->engine = NULL;
    ns_free(ns);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Loading

static enum status visit_directory(struct namespaces *all, struct record_key key,
                                   struct slice bytes, struct error *error)
{
    if ((int)key.kind == DIRECTORY_NOTE_KIND) {
        return notes_visit(all, key, bytes, error);
    }
    struct directory_entry entry;
    enum status status = directory_read(key, bytes, &entry, error);
    if (status) {
        return status;
    }
    all->space = entry.space > all->space ? entry.space : all->space;
    if (entry.deleted) {
        struct removal *removal = removal_new(all->options.allocator, entry.space);
        if (removal) {
            removal_add(&all->removals, removal);
        }
        return removal ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory");
    }
    struct ns *ns = ns_new(all, entry.name, entry.space, entry.clock);
    status = ns ? ns_add(all, ns) : STATUS_NO_MEMORY;
    if (status) {
        if (ns) {
            ns_free(ns);
        }
        return error_set(error, status == STATUS_EXISTS ? STATUS_CORRUPT : status,
                         status == STATUS_EXISTS ? "two namespaces have the same name"
                                                 : "no memory for a namespace");
    }
    ns->qless = entry.qless;
    ns->stored = true;
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
    struct namespaces *all = context;
    if (key.space == DIRECTORY_SPACE) {
        return visit_directory(all, key.record, bytes, error);
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

enum status namespaces_loaded(struct namespaces *all, int64_t now_us, struct error *error)
{
    enum status status = end_loading(all, error);
    for (struct ns *ns = all->first; ns && !status; ns = ns->next) {
        status = engine_resume(ns->engine, now_us, error);
        ns_touch(ns);
        ns_note_ahead(ns, now_us);
    }
    for (struct removal *at = all->removals; at; at = removal_next(at)) {
        removal_ready(at);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Turns

void ns_touch(struct ns *ns)
{
    if (!ns->touched) {
        struct namespaces *all = ns->all;
        ns->touched = true;
        ns->touched_next = all->touched;
        all->touched = ns;
    }
}

void ns_begin(struct ns *ns, int64_t now_us)
{
    ns_touch(ns);
    if (ns->due_us <= now_us) {
        ns->due_us = engine_tick(ns->engine, now_us);
    }
}

void namespaces_touch(struct namespaces *all)
{
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        ns_touch(ns);
    }
}

void namespaces_measure(struct namespaces *all, int64_t now_us)
{
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        (void)engine_series_close(ns->engine, now_us);
        if (engine_has_changes(ns->engine)) {
            ns_touch(ns);
        }
    }
}

void namespaces_set_quotas(struct namespaces *all, const struct quotas *quotas)
{
    all->options.quotas = *quotas;
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        engine_set_quotas(ns->engine, quotas);
    }
}

void namespaces_hold_growth(struct namespaces *all, enum growth_reason reason, bool held)
{
    unsigned before = all->growth_held;
    all->growth_held = held ? before | (unsigned)reason : before & ~(unsigned)reason;
    if (!before == !all->growth_held) {
        return;
    }
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        engine_hold_recurring(ns->engine, all->growth_held != 0);
        ns_touch(ns); // work that was held back may be due
    }
}

static void tick(struct ns *ns, int64_t now_us)
{
    ns->due_us = engine_tick(ns->engine, now_us);
    waiting_serve(ns);
    // The jobs that waiters were given have changed what is due next.
    if (ns->due_us > now_us) {
        ns->due_us = engine_due(ns->engine);
    }
}

int64_t namespaces_tick(struct namespaces *all, int64_t now_us)
{
    int64_t next_us = INT64_MAX;
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        if (ns->touched || ns->due_us <= now_us) {
            ns_touch(ns);
            tick(ns, now_us);
        }
        next_us = ns->due_us < next_us ? ns->due_us : next_us;
    }
    return next_us;
}

int64_t namespaces_tick_touched(struct namespaces *all, int64_t now_us)
{
    int64_t next_us = INT64_MAX;
    for (struct ns *ns = all->touched; ns; ns = ns->touched_next) {
        tick(ns, now_us);
        next_us = ns->due_us < next_us ? ns->due_us : next_us;
    }
    return next_us;
}

enum status namespaces_append(struct namespaces *all, struct error *error)
{
    enum status status = STATUS_OK;
    while (all->touched) {
        struct ns *ns = all->touched;
        // While it is behind, the store may have changes that the engine no longer has.
        bool unused = !ns->stored && engine_is_unused(ns->engine);
        if (!status && !unused && (all->behind || engine_has_changes(ns->engine))) {
            status = ns_store(ns, error);
            if (!status) {
                status = store_take(all->store, ns->space, ns->engine, &all->group, error);
            }
            all->behind = status == STATUS_NO_MEMORY;
            if (all->behind) {
                return status;
            }
        }
        all->touched = ns->touched_next;
        ns->touched = false;
        if (!status) {
            ns_drop_unused(ns); // a waiting command may have ended
        }
    }
    return status;
}

enum status namespaces_remove(struct namespaces *all, bool *more, struct error *error)
{
    *more = false;
    struct removal *removal = all->removals;
    if (!removal || !removal_is_ready(removal)) {
        return STATUS_OK;
    }
    bool done = false;
    enum status status = removal_run(removal, all->store, &all->group, &done, error);
    if (!status && done) {
        // The record of the newest space is kept, so that the next start does not use that space
        // again.
        const struct store_record gone = { directory_key(removal_space(removal)), SLICE_EMPTY };
        if (removal_space(removal) != all->space) {
            status = store_append(all->store, &gone, 1, &all->group, error);
        }
        if (!status) {
            removal_free(removal_take(&all->removals));
        }
    }
    *more = !status && all->removals && removal_is_ready(all->removals);
    return status;
}
