// SPDX-License-Identifier: MIT
#include "host/presence.h"

#include "engine/lease/workers.h"
#include "host/namespaces.h"

#include <assert.h>
#include <string.h>

enum {
    PRESENCES_MAX = 16, // of a connection
};

struct presence {
    struct presence *next; // of the connection
    struct ns *ns;         // NULL when it was deleted
    struct presence *ns_next, *ns_previous;
    size_t size;
    char worker[];
};

static struct slice worker_of(const struct presence *presence)
{
    return slice_make(presence->worker, presence->size);
}

static bool is_noted(const struct presences *presences, const struct ns *ns, struct slice worker)
{
    for (const struct presence *at = presences->first; at; at = at->next) {
        if (at->ns == ns && slice_equal(worker_of(at), worker)) {
            return true;
        }
    }
    return false;
}

static void link_in(struct presence *presence, struct ns *ns)
{
    presence->ns = ns;
    presence->ns_next = ns->presences;
    if (presence->ns_next) {
        presence->ns_next->ns_previous = presence;
    }
    ns->presences = presence;
}

static void link_out(struct presence *presence)
{
    assert(presence->ns);
    if (presence->ns_next) {
        presence->ns_next->ns_previous = presence->ns_previous;
    }
    *(presence->ns_previous ? &presence->ns_previous->ns_next : &presence->ns->presences) =
        presence->ns_next;
    presence->ns = NULL;
}

void presence_note(struct presences *presences, struct ns *ns, struct slice worker,
                   struct slice host)
{
    if (presences->count >= PRESENCES_MAX || is_noted(presences, ns, worker)) {
        return;
    }
    struct presence *presence = mem_zalloc(&allocator_system, sizeof(*presence) + worker.size);
    if (!presence || !engine_worker_attach(ns->engine, worker, host)) {
        mem_free(&allocator_system, presence, presence ? sizeof(*presence) + worker.size : 0);
        return;
    }
    presence->size = worker.size;
    memcpy(presence->worker, worker.data, worker.size);
    link_in(presence, ns);
    presence->next = presences->first;
    presences->first = presence;
    presences->count++;
    ns_touch(ns);
}

void presences_end(struct presences *presences, bool gone)
{
    while (presences->first) {
        struct presence *presence = presences->first;
        struct ns *ns = presence->ns;
        presences->first = presence->next;
        if (ns) {
            engine_worker_detach(ns->engine, worker_of(presence), gone);
            ns_touch(ns);
            link_out(presence);
        }
        mem_free(&allocator_system, presence, sizeof(*presence) + presence->size);
    }
    presences->count = 0;
}

void presences_leave(struct ns *ns)
{
    while (ns->presences) {
        link_out(ns->presences);
    }
}
