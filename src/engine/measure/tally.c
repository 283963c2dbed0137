// SPDX-License-Identifier: MIT
// Between two calls a tally without jobs exists only as the last one of its owner, or as the total
// of such tallies.
#include "engine/measure/tally.h"

#include "engine/job/job.h"
#include "engine/measure/metrics.h"
#include "engine/queue/queue.h"
#include "engine/records/walk.h"
#include "engine/state.h"

#include <assert.h>

void tallies_init(struct tallies *tallies, struct index_pool *pool)
{
    *tallies = (struct tallies){ 0 };
    index_init(&tallies->by_priority, pool);
}

static struct index_key priority_key(int32_t priority)
{
    return (struct index_key){ index_key_signed(priority), 0 };
}

// All jobs: each is in one state.
static size_t sum(const size_t counts[TALLY_PARTS])
{
    size_t total = 0;
    for (size_t i = 0; i < JOB_STATE_COUNT; i++) {
        total += counts[i];
    }
    return total;
}

struct tally *tally_search(const struct tallies *tallies, int32_t priority)
{
    struct index_key key = priority_key(priority);
    struct index_node *node = index_find(&tallies->by_priority, key);
    return node && index_key_equal(node->key, key) ? tally_of_node(node) : NULL;
}

void tally_note_empty(struct engine *engine, struct tally *tally)
{
    if (!tally->empty) {
        tally->empty = true;
        tally->next_empty = engine->tally_empty;
        engine->tally_empty = tally;
    }
}

// The tally of a priority, which is created if necessary and is the last of its owner.
static struct tally *acquire(struct engine *engine, struct tallies *tallies, int32_t priority,
                             struct tally *total)
{
    struct tally *tally = tally_find(tallies, priority);
    if (!tally) {
        if (index_reserve(&tallies->by_priority, 1)) {
            return NULL;
        }
        tally = slab_take(&engine->tally_slab);
        if (!tally) {
            return NULL;
        }
        *tally = (struct tally){ .node.key = priority_key(priority),
                                 .owner = tallies,
                                 .total = total,
                                 .priority = priority };
        index_insert(&tallies->by_priority, &tally->node);
        if (total) {
            total->users++;
        }
    }
    if (tallies->last && tallies->last != tally) {
        tally_note_empty(engine, tallies->last);
    }
    tallies->last = tally;
    return tally;
}

enum status tally_make(struct engine *engine, struct queue *queue, int32_t priority)
{
    struct tally *total = acquire(engine, &engine->tallies, priority, NULL);
    if (!total || (queue && !acquire(engine, &queue->tallies, priority, total))) {
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static void tally_free(struct engine *engine, struct tally *tally)
{
    assert(tally->users == 0 && !tally->empty);
    assert(!tally->total || tally->total->users > 0);
    if (tally->total && --tally->total->users == 0 && tally->total != tally->total->owner->last) {
        tally_note_empty(engine, tally->total);
    }
    index_remove(&tally->owner->by_priority, &tally->node);
    slab_give(&engine->tally_slab, tally);
}

void tally_settle(struct engine *engine)
{
    while (engine->tally_empty) {
        struct tally *tally = engine->tally_empty;
        engine->tally_empty = tally->next_empty;
        tally->empty = false;
        if (tally != tally->owner->last && tally->users == 0 && sum(tally->counts) == 0) {
            tally_free(engine, tally);
        }
    }
}

void tallies_release(struct engine *engine, struct tallies *tallies)
{
    tally_settle(engine);
    tallies->last = NULL;
    for (struct index_node *node; (node = index_first(&tallies->by_priority));) {
        tally_free(engine, tally_of_node(node));
    }
    index_release(&tallies->by_priority);
}

// The tallies of a queue, or of all queues; NULL if there is no such queue.
static const struct tallies *tallies_of(const struct engine *engine, struct slice name)
{
    if (name.size == 0) {
        return &engine->tallies;
    }
    const struct queue *queue = queue_find(engine, name);
    return queue ? &queue->tallies : NULL;
}

size_t engine_count(const struct engine *engine, const struct count_filter *filter)
{
    const struct tallies *tallies = tallies_of(engine, filter->queue);
    if (!tallies || (filter->has_state && filter->state >= JOB_STATE_COUNT)) {
        return 0;
    }
    const size_t *counts = tallies->counts;
    if (filter->has_priority) {
        const struct tally *tally = tally_find(tallies, filter->priority);
        if (!tally) {
            return 0;
        }
        counts = tally->counts;
    }
    if (filter->tried || filter->started) {
        return counts[filter->tried ? TALLY_TRIED : TALLY_STARTED];
    }
    return filter->has_state ? counts[filter->state] : sum(counts);
}

size_t engine_priorities(const struct engine *engine, struct slice name, int32_t from,
                         struct priority_view *out, size_t max)
{
    const struct tallies *tallies = tallies_of(engine, name);
    if (!tallies) {
        return 0;
    }
    const struct index *index = &tallies->by_priority;
    struct index_cursor cursor = index_cursor_at(index, index_rank(index, priority_key(from)));
    size_t count = 0;
    for (struct index_node *node; count < max && (node = index_cursor_next(&cursor));) {
        const struct tally *tally = tally_of_node(node);
        size_t jobs = sum(tally->counts);
        if (jobs) {
            out[count++] = (struct priority_view){ tally->priority, jobs };
        }
    }
    return count;
}
