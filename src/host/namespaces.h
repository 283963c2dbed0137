// SPDX-License-Identifier: MIT
// The namespaces of a host by name, each with its engine, all in one store. Each namespace has a
// space in the store; a record in space 0 contains its name. A space is never reused, so that the
// records of a deleted namespace can be removed gradually.
//
// Not thread-safe: only one thread may call these functions.
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
    struct ns *next; // in the order of creation
    struct ns *touched_next;
    struct engine *engine;
    enum engine_clock clock;
    uint32_t space;
    bool touched; // in this turn
    bool stored;  // its name is in the store
    // generations of qless that receive its events, one bit each; 0: not a namespace of qless
    uint8_t qless;
    int64_t due_us; // when its next work falls due; INT64_MAX: never
    struct waiting waiting;
    struct presence *presences; // of its workers, for all connections (presence.h)
    struct note *notes;         // owned, in the order of creation
    void *side;                 // belongs to the host
    uint8_t name_size;
    char name[];
};

static inline struct slice ns_name(const struct ns *ns)
{
    return slice_make(ns->name, ns->name_size);
}

// Settings and callbacks of the host, which may change `create` and `count_max` at any time.
struct namespaces_options {
    const struct allocator *allocator; // borrowed
    struct hash_seed seed;
    struct host_clock *clock; // borrowed: the clock of the host
    bool create;              // a namespace is created on first use
    uint64_t count_max;       // maximum number
    struct quotas quotas;     // of each namespace; namespaces_set_quotas changes them
    struct waiting_ops waiting;
    // Receives all events of engines except those for waiters.
    void (*event)(void *context, struct ns *ns, const struct event *event);
    const unsigned *wanted; // optional events that have listeners (event.h); may be NULL
    // A lease in a namespace has ended. May be NULL.
    void (*lease_ended)(void *context, struct ns *ns, struct slice jid);
    // woken: a queue may have a job to pop, and no waiter wants it (engine_watch_all enables these
    // calls). leaving: a namespace is about to be freed. Both may be NULL.
    void (*woken)(void *context, struct ns *ns, struct slice queue);
    void (*leaving)(void *context, struct ns *ns);
    // Receives messages for the operator; may be called from any thread.
    void (*log)(void *context, const char *sentence);
    void *context;
};

struct namespaces {
    struct namespaces_options options;
    struct store *store; // borrowed; the host sets it when it is open
    uint64_t group;      // of the store that was appended to last
    struct map by_name;
    struct ns *first, **last;
    struct ns *recent; // a cache: the namespace that was found last, or NULL
    size_t count;
    uint32_t space;           // the last one used
    uint64_t note_id;         // the last one used
    struct note *notes;       // of the host itself; owned, in the order of creation
    struct ns *touched;       // in this turn, or in a turn whose changes are not appended yet
    bool behind;              // such changes exist, because there was no memory to append them
    unsigned growth_held;     // reasons, see namespaces_hold_growth
    struct engine *empty;     // stands for a namespace that does not exist
    struct ns *loading;       // while the store is opened
    struct refusals refusals; // of tasks, see refusals.h
    struct removal *removals; // of the records of deleted namespaces
    // When namespaces whose time is ahead of the host's are set back, monotonic; 0: there are none.
    int64_t set_back_us;
};

MUST_USE enum status namespaces_init(struct namespaces *all,
                                     const struct namespaces_options *options, struct error *error);
void namespaces_release(struct namespaces *all);

// For store_open: loads each record; namespaces_loaded ends the loading. Leases continue as of now.
MUST_USE enum status namespaces_visit(void *all, struct store_key key, struct slice bytes,
                                      struct error *error);
MUST_USE enum status namespaces_loaded(struct namespaces *all, int64_t now_us, struct error *error);

// NULL if there is none.
struct ns *namespaces_find(struct namespaces *all, struct slice name);

// Returns the namespace with that name, which is created if that is allowed: otherwise NOT_FOUND,
// or TOO_LARGE if there are too many. An existing namespace may have another clock. A created
// namespace is stored with its first change; ns_drop_unused must be called after its use.
MUST_USE enum status namespaces_acquire(struct namespaces *all, struct slice name,
                                        enum engine_clock clock, struct ns **out,
                                        struct error *error);

// Creates a namespace, whether or not creation on first use is allowed: EXISTS. INVALID if the name
// is not valid.
MUST_USE enum status namespaces_create(struct namespaces *all, struct slice name,
                                       enum engine_clock clock, struct ns **out,
                                       struct error *error);

// Removes a namespace that was created on first use, if nothing was stored and nothing waits in it:
// a refused command creates no namespace.
void ns_drop_unused(struct ns *ns);

// Stores the name of a namespace that is not stored yet. Must precede all its other records.
MUST_USE enum status ns_store(struct ns *ns, struct error *error);

// INVALID if the name cannot be that of the namespace of a command.
MUST_USE enum status namespaces_check_name(const struct command *command, struct slice name,
                                           struct error *error);

// Returns the namespace of a command. For a command that only reads it may not exist: NULL.
MUST_USE enum status namespaces_for(struct namespaces *all, const struct command *command,
                                    struct slice name, struct ns **out, struct error *error);

// From now on its events are also published as messages of that generation of qless.
MUST_USE enum status ns_make_qless(struct ns *ns, uint8_t generation, struct error *error);

// Deletes a namespace with all its contents. Its waiters get an error.
MUST_USE enum status namespaces_delete(struct namespaces *all, struct slice name,
                                       struct error *error);

// Marks a namespace that may have changed; it is processed at the end of the turn.
void ns_touch(struct ns *ns);

// To be called before a command runs in a namespace, also one that only reads: does what is due.
void ns_begin(struct ns *ns, int64_t now_us);

// Does what is due in all namespaces, serves waiters, and returns when something is due next.
int64_t namespaces_tick(struct namespaces *all, int64_t now_us);

// The same for the touched namespaces only.
int64_t namespaces_tick_touched(struct namespaces *all, int64_t now_us);

// Touches all namespaces.
void namespaces_touch(struct namespaces *all);

// Closes the minutes that are over in the measurements of all namespaces, a part of them with each
// call. To be called about once a second.
void namespaces_measure(struct namespaces *all, int64_t now_us);

// Sets the quotas of each namespace.
void namespaces_set_quotas(struct namespaces *all, const struct quotas *quotas);

// While growth is held for any reason, recurring jobs spawn no jobs in any namespace.
enum growth_reason {
    GROWTH_MEMORY = 1, // memory is full
    GROWTH_DISK = 2,   // the disk is full
    GROWTH_DRAIN = 4,  // the host drains
};
void namespaces_hold_growth(struct namespaces *all, enum growth_reason reason, bool held);

// Appends the changes of the touched namespaces. NO_MEMORY: changes that could not be appended are
// kept (`behind`), and the next call appends them; until then the host must change nothing and send
// no reply about this turn's changes.
MUST_USE enum status namespaces_append(struct namespaces *all, struct error *error);

// Compares the host's clock with the wall clock. If a step is followed, the time of all namespaces
// is set, and all of them are touched; the host itself must shift its own times. Sets back the
// namespaces that were ahead of the host when they were loaded and still are. To be called every
// HOST_CLOCK_CHECK_US.
struct clock_news namespaces_check_clock(struct namespaces *all, struct clock_reading reading);

// To be called after loading: if the namespace's time is ahead of the host's, that is logged, and
// corrected after some time.
void ns_note_ahead(struct ns *ns, int64_t now_us);

// How far the time of a namespace is ahead of the host's; 0: it is not.
int64_t ns_ahead_us(const struct ns *ns, int64_t now_us);

// Sets the time of a namespace that is ahead to the host's.
MUST_USE enum status ns_set_back(struct ns *ns, int64_t now_us, struct error *error);

// Removes a part of the records of deleted namespaces; returns whether there are more.
MUST_USE enum status namespaces_remove(struct namespaces *all, bool *more, struct error *error);

#endif
