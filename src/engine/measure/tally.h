// SPDX-License-Identifier: MIT
// How many jobs there are by priority and state, of a queue and of the engine as a whole.
#ifndef SLUICE_ENGINE_MEASURE_TALLY_H
#define SLUICE_ENGINE_MEASURE_TALLY_H

#include "engine/engine.h"

#include "base/index.h"

struct queue;

// What is counted: jobs by their state, and parts of these. What a job counts as changes only while
// it is in no index, but for TALLY_STARTED.
enum tally_part {
    TALLY_TRIED = JOB_STATE_COUNT, // neither running nor finished, and handed out before
    TALLY_STARTED,                 // running, and its worker has begun
    TALLY_PARTS,
};

// The jobs of one priority.
struct tally {
    struct index_node node; // by priority
    struct tallies *owner;
    struct tally *total; // of a queue's: that of the engine for the same priority
    struct tally *next_empty;
    size_t users; // tallies of queues whose total it is
    bool empty;   // in the list of those that may be without jobs
    int32_t priority;
    size_t counts[TALLY_PARTS];
};

struct tallies {
    struct index by_priority;
    struct tally *last; // most jobs have the priority of the one before; kept though it is empty
    size_t counts[TALLY_PARTS];
};

static inline struct tally *tally_of_node(struct index_node *node)
{
    return (struct tally *)(void *)node; // it is the first member
}

void tallies_init(struct tallies *tallies, struct index_pool *pool);
void tallies_release(struct engine *engine, struct tallies *tallies);

// Makes sure that a job of that priority can be counted. A job without a queue counts in the engine
// alone.
MUST_USE enum status tally_make(struct engine *engine, struct queue *queue, int32_t priority);

static inline enum status tally_reserve(struct engine *engine, struct queue *queue,
                                        struct tallies *tallies, int32_t priority)
{
    const struct tally *last = tallies->last;
    return last && last->priority == priority ? STATUS_OK : tally_make(engine, queue, priority);
}

// The tally of a priority, or NULL; and of one that is there.
struct tally *tally_search(const struct tallies *tallies, int32_t priority);

static inline struct tally *tally_find(const struct tallies *tallies, int32_t priority)
{
    struct tally *last = tallies->last;
    return last && last->priority == priority ? last : tally_search(tallies, priority);
}

// Counts one job more or less, of which there was none before or is none any more.
static inline void tally_count(struct tally *tally, unsigned part, size_t change)
{
    tally->counts[part] += change;
    tally->owner->counts[part] += change;
}

// A tally that is not its owner's last may have become empty.
void tally_note_empty(struct engine *engine, struct tally *tally);

// Frees what counts nothing any more.
void tally_settle(struct engine *engine);

#endif
