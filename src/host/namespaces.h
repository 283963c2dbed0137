// SPDX-License-Identifier: MIT
// The namespaces of a host by name, each with its engine, all in one store. A namespace has a
// space of its own there; which name has which space is a record in space 0. A space is never used
// again, so that what a deleted namespace left behind can be removed bit by bit.
//
// None of it knows of threads: only one thread may call it.
#ifndef SLUICE_HOST_NAMESPACES_H
#define SLUICE_HOST_NAMESPACES_H

#include "base/map.h"
#include "engine/engine.h"
#include "engine/queue/quota.h"
#include "host/host_clock.h"
#include "host/notes.h"
#include "host/refusals.h"
#include "host/waiting.h"
#include "store/store.h"

struct namespaces;

struct ns {
    struct namespaces *all;
    struct ns *next; // in the order in which they were made
    struct ns *touched_next;
    struct engine *engine;
    enum engine_clock clock;
    uint32_t space;
    bool touched;   // in this turn
    bool stored;    // its name is in the store
    uint8_t qless;  // which generations of qless hear its events, a bit each; 0: it is not qless's
    int64_t due_us; // when something happens in it by itself; INT64_MAX: never
    struct waiting waiting;
    struct presence *presences; // of its workers, by all connections (presence.h)
    struct note *notes;         // owned, in the order in which they were made
    void *side;                 // the host's own; it looks after it
    uint8_t name_size;
    char name[];
};

static inline struct slice ns_name(const struct ns *ns)
{
    return slice_make(ns->name, ns->name_size);
}

// What the host decides, and is told. It may change `create` and `count_max` at any time.
struct namespaces_options {
    const struct allocator *allocator; // borrowed
    struct hash_seed seed;
    struct host_clock *clock; // borrowed: the time that the host runs them by
    bool create;              // one may be made by using it
    uint64_t count_max;       // as many may there be
    struct quotas quotas;     // of each; namespaces_set_quotas changes them
    struct waiting_ops waiting;
    // What an engine tells all but those who wait in its namespace.
    void (*event)(void *context, struct ns *ns, const struct event *event);
    const unsigned *wanted; // which of the events that have to be asked for (event.h); may be NULL
    // A lease in a namespace has ended; may be NULL.
    void (*lease_ended)(void *context, struct ns *ns, struct slice jid);
    // There may be a job to pop from a queue, and no waiter wants it (engine_watch_all asks for
    // these calls). And a namespace is about to be freed. Both may be NULL.
    void (*woken)(void *context, struct ns *ns, struct slice queue);
    void (*leaving)(void *context, struct ns *ns);
    // A sentence for the operator; from any thread.
    void (*log)(void *context, const char *sentence);
    void *context;
};

struct namespaces {
    struct namespaces_options options;
    struct store *store; // borrowed; set by the host when it is open
    uint64_t group;      // the last one of the store that was appended to
    struct map by_name;
    struct ns *first, **last;
    struct ns *recent; // the last one that was found: mostly the next one too; or NULL
    size_t count;
    uint32_t space;           // the last one given
    uint64_t note_id;         // the last one given
    struct note *notes;       // of the host itself; owned, in the order in which they were made
    struct ns *touched;       // in this turn, or in one whose changes are not appended yet
    bool behind;              // there are such changes: there was no memory to append them
    unsigned growth_held;     // for which reasons, see namespaces_hold_growth
    struct engine *empty;     // what a namespace that is not there yet looks like
    struct ns *loading;       // while the store is opened
    struct refusals refusals; // of tasks, see refusals.h
    struct removal *removals; // of what deleted namespaces left in the store
    // When those whose time lies ahead of the host's are set back, monotonic; 0: there are none.
    int64_t set_back_us;
};

MUST_USE enum status namespaces_init(struct namespaces *all,
                                     const struct namespaces_options *options, struct error *error);
void namespaces_release(struct namespaces *all);

// For store_open: takes each record to where it belongs; then the end of it. Leases go on as of
// now.
MUST_USE enum status namespaces_visit(void *all, struct store_key key, struct slice bytes,
                                      struct error *error);
MUST_USE enum status namespaces_loaded(struct namespaces *all, int64_t now_us, struct error *error);

// NULL when there is none.
struct ns *namespaces_find(struct namespaces *all, struct slice name);

// The namespace with that name, made if it is not there and that is allowed: NOT_FOUND otherwise,
// TOO_LARGE when there are too many. A clock other than the one it has is no error. A namespace
// made so is stored with the first change in it; ns_drop_unused must follow its use.
MUST_USE enum status namespaces_acquire(struct namespaces *all, struct slice name,
                                        enum engine_clock clock, struct ns **out,
                                        struct error *error);

// The same for one that must not be there yet, whether it is allowed by use or not: EXISTS. INVALID
// when it cannot be a name.
MUST_USE enum status namespaces_create(struct namespaces *all, struct slice name,
                                       enum engine_clock clock, struct ns **out,
                                       struct error *error);

// Removes a namespace that was made by using it, if that stored nothing and left nothing waiting in
// it: a refused command creates no namespace.
void ns_drop_unused(struct ns *ns);

// Stores the name of a namespace that is not stored yet, before anything else of it is.
MUST_USE enum status ns_store(struct ns *ns, struct error *error);

// Whether that can be the namespace that a command is about: INVALID otherwise.
MUST_USE enum status namespaces_check_name(const struct command *command, struct slice name,
                                           struct error *error);

// The one that a command is about. One that is only read need not be there: NULL.
MUST_USE enum status namespaces_for(struct namespaces *all, const struct command *command,
                                    struct slice name, struct ns **out, struct error *error);

// From now on its events go out as the messages of that generation of qless too.
MUST_USE enum status ns_make_qless(struct ns *ns, uint8_t generation, struct error *error);

// Deletes a namespace with all that is in it. Those who wait in it are told.
MUST_USE enum status namespaces_delete(struct namespaces *all, struct slice name,
                                       struct error *error);

// Something may have changed in it: it is looked at at the end of the turn.
void ns_touch(struct ns *ns);

// A command is about to be run in it. What is due has happened by then, for what only looks too.
void ns_begin(struct ns *ns, int64_t now_us);

// Does what is due in all of them, serves those who wait, and says when something is due next.
int64_t namespaces_tick(struct namespaces *all, int64_t now_us);

// The same for those that were touched alone.
int64_t namespaces_tick_touched(struct namespaces *all, int64_t now_us);

// All of them may have something to do at the end of this turn.
void namespaces_touch(struct namespaces *all);

// What is measured, in all of them: closes the minutes that are over. A part at a time; to be called
// every second or so.
void namespaces_measure(struct namespaces *all, int64_t now_us);

// How much each of them may hold from now on.
void namespaces_set_quotas(struct namespaces *all, const struct quotas *quotas);

// While it is held for any reason, recurring jobs make no jobs in any namespace.
enum growth_reason {
    GROWTH_MEMORY = 1, // memory is full
    GROWTH_DISK = 2,   // the disk is full
    GROWTH_DRAIN = 4,  // the host drains
};
void namespaces_hold_growth(struct namespaces *all, enum growth_reason reason, bool held);

// Appends what has changed in those that were touched. NO_MEMORY: what could not be appended is
// kept (`behind`), and the next call appends it; until then the host changes nothing and tells no
// client what this turn has changed.
MUST_USE enum status namespaces_append(struct namespaces *all, struct error *error);

// Compares the host's clock with the wall clock. When a step is followed the time of all namespaces
// is set, and all of them are touched: what the host itself keeps by its time is for it to shift.
// Sets back those that were ahead of the host when they were loaded and have stayed so. To be
// called every HOST_CLOCK_CHECK_US.
struct clock_news namespaces_check_clock(struct namespaces *all, struct clock_reading reading);

// It was loaded: if its time lies ahead of the host's, that is logged, and ends after a while.
void ns_note_ahead(struct ns *ns, int64_t now_us);

// How far the time of a namespace lies ahead of the host's; 0: it does not.
int64_t ns_ahead_us(const struct ns *ns, int64_t now_us);

// Sets a namespace whose time lies ahead to the host's.
MUST_USE enum status ns_set_back(struct ns *ns, int64_t now_us, struct error *error);

// Removes a part of what deleted namespaces left behind; says whether there is more.
MUST_USE enum status namespaces_remove(struct namespaces *all, bool *more, struct error *error);

#endif
