// SPDX-License-Identifier: MIT
// A recurring job: it makes a job every interval, or as a cron expression says.
#ifndef SLUICE_ENGINE_RECURRING_RECURRING_H
#define SLUICE_ENGINE_RECURRING_RECURRING_H

#include "engine/engine.h"
#include "engine/recurring/cron.h"
#include "engine/recurring/zone.h"

#include "base/index.h"

struct queue;

struct recurring {
    struct index_node node; // in its queue's list, by when the next job is due
    struct index_node all;  // in the engine's list, by its number
    struct queue *queue;
    char *data;
    uint32_t *tags; // names
    struct recurring *dirty_next;
    uint64_t id;
    uint64_t count;      // the number of the job that it made last
    int64_t last_us;     // when it made that one; 0: never, or not known
    int64_t interval_us; // 0: by cron
    struct cron cron;
    const struct zone *zone; // NULL: UTC
    int64_t backlog;
    // Of cron with a backlog: so many runs, from the next one on, were due at a time; 0: not known.
    int64_t due_count, due_count_us;
    int32_t priority;
    int32_t retries;
    uint32_t data_size;
    uint32_t tag_count;
    uint32_t klass;     // a name
    uint32_t cron_text; // a name, or INTERN_NONE
    uint32_t domain;    // a name, or INTERN_NONE
    uint32_t options;   // among the names, or INTERN_NONE
    uint8_t missed;     // of enum recur_missed
    uint8_t overlap;    // of enum recur_overlap
    bool paused;        // its runs come, and make no jobs
    bool dirty;
    bool gone;
    uint8_t jid_size;
    char jid[];
};

static inline struct recurring *recurring_of_node(struct index_node *node)
{
    return (struct recurring *)(void *)node; // it is the first member
}

static inline struct recurring *recurring_of_all(struct index_node *node)
{
    return (struct recurring *)(void *)((char *)node - offsetof(struct recurring, all));
}

struct slice recurring_key(const void *recurring);

// NOT_FOUND when there is no such recurring job.
MUST_USE enum status recurring_find(const struct engine *engine, struct slice jid,
                                    struct recurring **out, struct error *error);

// Says that its record has changed.
void recurring_changed(struct engine *engine, struct recurring *recurring);

// Its next run becomes `next_us`. Room in its queue's list must have been reserved.
void recurring_set_next(struct engine *engine, struct recurring *recurring, int64_t next_us);

// The run that follows one.
int64_t recurring_after(const struct recurring *recurring, int64_t run_us);

// The first run from `due_us` on, itself a run, that is not before `from_us`.
int64_t recurring_run_from(const struct recurring *recurring, int64_t due_us, int64_t from_us);

// A zone changes: makes room for those that use it to get their next run anew, then gives it.
MUST_USE enum status recurring_reserve_zone(struct engine *engine, const struct zone *zone);
void recurring_zone_changed(struct engine *engine, const struct zone *zone, int64_t now_us);

// The engine's time is to be set: `room` is for as many recurring jobs as the queue has, and room
// in its index must have been reserved. Then those by interval keep the time until their next run,
// and when the time goes back those by cron get the first one after `to_us`.
void recurring_shift(struct engine *engine, struct queue *queue, struct recurring **room,
                     int64_t change_us, int64_t to_us);

// Makes the next job, or leaves out what is to be skipped as of `now_us`.
MUST_USE enum status recurring_spawn(struct engine *engine, struct recurring *recurring,
                                     int64_t now_us);

// With the client clock: makes up to `count` jobs that are due in a queue.
MUST_USE enum status recurring_spawn_due(struct engine *engine, struct queue *queue, int64_t now_us,
                                         size_t count);

// Makes one with the numbers it had; for loading.
MUST_USE enum status recurring_load(struct engine *engine, const struct recur_request *request,
                                    uint64_t id, int64_t next_us, uint64_t count);

// Takes it out of everything and frees it.
void recurring_free(struct engine *engine, struct recurring *recurring);
void recurring_free_shell(struct engine *engine, struct recurring *recurring);

#endif
