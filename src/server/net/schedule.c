// SPDX-License-Identifier: MIT
#include "server/net/schedule.h"

#include <assert.h>

enum {
    SHARES = 5, // of a turn: what a connection may use before others go on
};

void schedule_init(struct schedule *schedule, int64_t (*clock_us)(void))
{
    *schedule = (struct schedule){ .clock_us = clock_us };
    for (size_t i = 0; i < 2; i++) {
        schedule->queues[i].last = &schedule->queues[i].first;
    }
}

int64_t schedule_now(struct schedule *schedule)
{
    schedule->now_us = schedule->clock_us();
    return schedule->now_us;
}

void schedule_new_turn(struct schedule *schedule, int64_t turn_us, uint64_t bytes)
{
    schedule->turns_cut += schedule->cut;
    schedule->cut = false;
    schedule->turn_us = turn_us;
    schedule->turn_end_us = 0;
    schedule->bytes_left = bytes;
}

static int64_t share_us(const struct schedule *schedule)
{
    return schedule->turn_us / SHARES;
}

// The loop may have slept since the last turn, which counts for no turn.
static void begin_turn(struct schedule *schedule)
{
    if (schedule->turn_end_us == 0) {
        schedule->turn_end_us = schedule_now(schedule) + schedule->turn_us;
    }
}

bool schedule_has_turn(struct schedule *schedule)
{
    begin_turn(schedule);
    schedule->cut |= schedule->now_us >= schedule->turn_end_us;
    return schedule->bytes_left > 0 && !schedule->cut;
}

static struct schedule_queue *queue_of(struct schedule *schedule,
                                       const struct schedule_entry *entry)
{
    return &schedule->queues[entry->expensive];
}

static bool is_ahead(struct schedule *schedule, const struct schedule_entry *entry)
{
    return entry->mark_us > queue_of(schedule, entry)->clock_us + share_us(schedule);
}

bool schedule_is_free(struct schedule *schedule, const struct schedule_entry *entry)
{
    return schedule_count(schedule) == 0 && schedule_has_turn(schedule) &&
           !is_ahead(schedule, entry);
}

void schedule_begin(struct schedule *schedule)
{
    begin_turn(schedule);
    schedule->began_us = schedule_now(schedule);
    int64_t end_us = schedule->began_us + share_us(schedule);
    schedule->share_end_us = end_us < schedule->turn_end_us ? end_us : schedule->turn_end_us;
}

// A connection that waits stays in its queue, where what it has used is known the next time.
void schedule_charge(struct schedule *schedule, struct schedule_entry *entry, int64_t used_us)
{
    queue_of(schedule, entry)->used_us += used_us;
    bool expensive = used_us > 2 * share_us(schedule);
    if (expensive != entry->expensive && !entry->queued) {
        entry->expensive = expensive;
        entry->mark_us = 0; // a mark on the other clock means nothing on this one
    }
    int64_t clock_us = queue_of(schedule, entry)->clock_us;
    entry->mark_us = (entry->mark_us > clock_us ? entry->mark_us : clock_us) + used_us;
}

void schedule_end(struct schedule *schedule, struct schedule_entry *entry)
{
    schedule_charge(schedule, entry, schedule->now_us - schedule->began_us);
}

static void append(struct schedule_queue *queue, struct schedule_entry *entry)
{
    entry->queued = true;
    entry->next = NULL;
    *queue->last = entry;
    queue->last = &entry->next;
    queue->count++;
}

static struct schedule_entry *take_first(struct schedule_queue *queue)
{
    struct schedule_entry *entry = queue->first;
    queue->first = entry->next;
    queue->last = entry->next ? queue->last : &queue->first;
    queue->count--;
    entry->next = NULL;
    entry->queued = false;
    return entry;
}

// A queue that was empty has no claim to the time of then.
void schedule_add(struct schedule *schedule, struct schedule_entry *entry)
{
    assert(!entry->queued);
    struct schedule_queue *queue = queue_of(schedule, entry);
    const struct schedule_queue *other = &schedule->queues[!entry->expensive];
    if (!queue->first && queue->used_us < other->used_us) {
        queue->used_us = other->used_us;
    }
    append(queue, entry);
}

void schedule_add_alone(struct schedule *schedule, struct schedule_entry *entry)
{
    if (schedule->front) {
        schedule_add(schedule, entry);
        return;
    }
    assert(!entry->queued);
    entry->queued = true;
    schedule->front = entry;
    schedule->bytes_left = 0;
}

static struct schedule_entry *take_front(struct schedule *schedule)
{
    struct schedule_entry *entry = schedule->front;
    schedule->front = NULL;
    entry->queued = false;
    return entry;
}

struct schedule_entry *schedule_take(struct schedule *schedule)
{
    if (schedule->front) {
        return take_front(schedule);
    }
    struct schedule_queue *queue = &schedule->queues[schedule->queues[0].first ? 0 : 1];
    return queue->first ? take_first(queue) : NULL;
}

static struct schedule_entry *next_of(struct schedule *schedule, struct schedule_queue *queue)
{
    int64_t least_us = INT64_MAX;
    for (size_t passed = 0;;) {
        struct schedule_entry *entry = take_first(queue);
        if (!is_ahead(schedule, entry)) {
            return entry;
        }
        least_us = entry->mark_us < least_us ? entry->mark_us : least_us;
        append(queue, entry);
        if (++passed == queue->count) {
            queue->clock_us = least_us;
        }
    }
}

struct schedule_entry *schedule_next(struct schedule *schedule)
{
    struct schedule_queue *cheap = &schedule->queues[0], *expensive = &schedule->queues[1];
    if (schedule_count(schedule) == 0 || !schedule_has_turn(schedule)) {
        return NULL;
    }
    if (schedule->front) {
        return take_front(schedule);
    }
    bool first = cheap->first && (!expensive->first || cheap->used_us <= expensive->used_us);
    return next_of(schedule, first ? cheap : expensive);
}
