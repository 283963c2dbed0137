// SPDX-License-Identifier: MIT
// A recurring job: it makes a job every interval.
#ifndef SLUICE_ENGINE_RECURRING_H
#define SLUICE_ENGINE_RECURRING_H

#include "engine/engine.h"

#include "base/index.h"

struct queue;

struct recurring {
    struct index_node node; // in its queue's list, by when the next job is due
    struct queue *queue;
    char *data;
    uint32_t *tags; // names
    struct recurring *dirty_next;
    uint64_t id;
    uint64_t count; // jobs made so far
    int64_t interval_us;
    int64_t backlog;
    int32_t priority;
    int32_t retries;
    uint32_t data_size;
    uint32_t tag_count;
    uint32_t klass; // a name
    bool dirty;
    bool gone;
    uint8_t jid_size;
    char jid[];
};

static inline struct recurring *recurring_of_node(struct index_node *node)
{
    return (struct recurring *)(void *)node; // it is the first member
}

struct slice recurring_key(const void *recurring);

// Makes the next job, or those of a backlog that are to be skipped as of `now_us`.
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
