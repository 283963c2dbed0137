// SPDX-License-Identifier: MIT
// Limits of lanes: how often and how many at a time jobs of a domain may run, and what share they
// get in a fair queue. A limit is set for a queue, a domain, a pattern over domains, or a queue and
// one of those; for each of rate, concurrency and weight the most specific one that says something
// counts.
#ifndef SLUICE_ENGINE_LANES_LIMIT_H
#define SLUICE_ENGINE_LANES_LIMIT_H

#include "base/index.h"
#include "engine/engine.h"

struct limit {
    bool has_rate;
    int64_t rate_count;     // runs, up to 1e9; 0: as many as there are
    int64_t rate_period_us; // in so much time, up to 366 days
    int64_t burst;          // saved up at most so many; 0: 1
    bool has_concurrency;
    int64_t concurrency; // leases at a time; 0: as many as there are
    bool has_weight;
    int64_t weight; // turns in a fair queue, 1 to 1,000
};

// Sets a limit, in place of one for the same queue and domain. An empty queue means every queue. An
// empty domain means every lane, the default lane too. A domain with a `*` in it is a pattern: each
// `*` stands for any bytes, also for none; there are at most `max-limit-patterns` of them, else
// TOO_LARGE. It counts at once; with more than 1,000 lanes the calls that follow bring the rest of
// them into line, each a part.
MUST_USE enum status engine_limit_set(struct engine *engine, int64_t now_us, struct slice queue,
                                      struct slice domain, const struct limit *limit,
                                      struct error *error);
// No error when there is none.
MUST_USE enum status engine_limit_unset(struct engine *engine, int64_t now_us, struct slice queue,
                                        struct slice domain, struct error *error);

// Whether a limit is set for exactly this queue and this domain.
bool engine_limit_is_set(const struct engine *engine, struct slice queue, struct slice domain);

// How much of a limit is used, by the lanes that it limits: those in which its rate or its
// concurrency holds, or in a fair queue its weight.
struct limit_use {
    size_t waiting; // jobs in line in these lanes
    size_t running; // their leases
    size_t held;    // those in line whose lane has used up the rate or the concurrency
};

struct limit_view {
    struct slice queue, domain;
    struct limit limit;
    struct limit_use use;
    struct index_key place; // in the order of the limits
};

// The limits in the order in which they were first set: `index` from 0 until it returns false.
bool engine_limit_at(const struct engine *engine, size_t index, struct limit_view *view);

struct limit_page {
    bool has_after;
    struct index_key after; // `place` of the last row of the page before
    size_t count;
    struct limit_view *rows; // room for `count`
    // Filled in:
    size_t total, found;
    bool more;
};

// A page of the limits, and their use as of now. With the client clock a lane that a rate held up is
// held until a pop sees that its time has come.
MUST_USE enum status engine_limits(struct engine *engine, int64_t now_us, struct limit_page *page,
                                   struct error *error);

struct lane_view {
    size_t waiting, running;
    struct limit limit; // what holds for it: every `has_` is true
    // When its first job may run as far as the lane's limits go: in the past or now, later, or
    // INT64_MAX while it has as many leases as it may.
    int64_t ready_us;
};

// A lane of a queue, whether there are jobs in it or not; an empty domain means the default lane.
MUST_USE enum status engine_lane(const struct engine *engine, int64_t now_us, struct slice name,
                                 struct slice domain, struct lane_view *view, struct error *error);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

struct limit_entry {
    struct index_node node; // by its number
    uint64_t id;
    struct limit limit;
    struct limit_entry *next_pattern; // the most specific first
    struct glob *pattern;             // the domain, compiled, when it is a pattern; owned
    struct limit_entry *dirty_next;
    struct limit_use use;
    size_t lanes;               // that refer to it
    size_t counted;             // for the consistency check alone
    bool dirty, gone, orphaned; // orphaned: freed with the last lane that refers to it
    uint8_t queue_size;
    uint16_t key_size;
    char key[]; // the size of the queue's name (1), the queue, the domain
};

static inline struct limit_entry *limit_of_node(struct index_node *node)
{
    return (struct limit_entry *)(void *)node; // it is the first member
}

struct slice limit_key(const void *entry);
struct slice limit_queue(const struct limit_entry *entry);
struct slice limit_domain(const struct limit_entry *entry);

enum limit_kind {
    LIMIT_RATE,
    LIMIT_CONCURRENCY,
    LIMIT_WEIGHT,
    LIMIT_KINDS,
};

// Which limits hold for a lane; NULL: none.
struct limit_sources {
    struct limit_entry *of[LIMIT_KINDS];
};

// Calls that visit each of them once do so for those kinds for which this is true.
static inline bool limit_is_first(const struct limit_sources *sources, enum limit_kind kind)
{
    const struct limit_entry *limit = sources->of[kind];
    for (enum limit_kind before = LIMIT_RATE; before < kind; before++) {
        if (sources->of[before] == limit) {
            return false;
        }
    }
    return limit != NULL;
}

// What holds for a lane: every `has_` is true, 0 means no limit. The sources may be NULL.
void limits_find(const struct engine *engine, struct slice queue, struct slice domain,
                 struct limit *out, struct limit_sources *sources);

// Whether a limit may be set.
bool limit_is_valid(const struct limit *limit);

// Makes or replaces a limit, with that number if it is new; for loading too. INVALID, with a
// sentence, when it cannot be one.
MUST_USE enum status limit_put(struct engine *engine, struct slice queue, struct slice domain,
                               const struct limit *limit, uint64_t id, struct error *error);
void limit_free(struct engine *engine, struct limit_entry *entry);

// A lane refers to a limit, which stays until all lanes have dropped it; or does no longer.
void limit_share(struct limit_entry *entry);
void limit_drop(struct engine *engine, struct limit_entry *entry);
void limit_free_shell(struct engine *engine, struct limit_entry *entry);

#endif
