// SPDX-License-Identifier: MIT
// A dump lists everything that a namespace has, in an order in which restore.h accepts it. A cursor
// has keys and no pointers, so other calls may come between two steps. What does not change meanwhile
// is listed exactly once; a job that moves may be listed twice or not at all. engine_change_count
// shows whether jobs have changed.
#ifndef SLUICE_ENGINE_EXPORT_DUMP_H
#define SLUICE_ENGINE_EXPORT_DUMP_H

#include "engine/config/policy.h"
#include "engine/engine.h"
#include "engine/export/restore.h"
#include "engine/lanes/limit.h"

enum dump_kind {
    DUMP_NAMESPACE, // first
    DUMP_OPTION,    // options that restrict what may exist come last
    DUMP_LIMIT,
    DUMP_POLICY,
    DUMP_QUEUE,
    DUMP_RECURRING,
    DUMP_JOB,     // without the dependencies of failed jobs
    DUMP_DEPENDS, // the dependencies of a failed job
    DUMP_PROMISE, // about jobs that are gone
    DUMP_TRACKED,
    DUMP_NUMBER,
};

struct dump_item {
    enum dump_kind kind;
    enum engine_clock clock;           // of NAMESPACE
    struct slice name, value;          // of OPTION; the name of QUEUE; the jid of TRACKED
    struct limit_view limit;           // of LIMIT
    struct policy_view policy;         // of POLICY
    int64_t when_us;                   // of TRACKED
    struct queue_past queue;           // of QUEUE
    struct promise_past promise;       // of PROMISE
    const struct recurring *recurring; // of RECURRING
    const struct job *job;             // of JOB, DEPENDS
    uint64_t number;                   // of NUMBER
};

// All zero at the start.
struct dump_cursor {
    unsigned stage;     // up to DUMP_STAGES: the end
    uint64_t container; // the number of a queue, or how many were passed
    unsigned part;      // which index of a queue
    struct index_key key;
};

enum {
    DUMP_STAGES = 15,
    DUMP_PARTS = 7,
};

// Takes one step: `*found` says whether it found an item, because a step may pass over things. With a
// queue given, only the queue and its jobs are listed. False at the end.
bool engine_dump_step(const struct engine *engine, struct slice queue, struct dump_cursor *cursor,
                      struct dump_item *out, bool *found);

// A count that increases whenever a job is created, changed or removed.
uint64_t engine_change_count(const struct engine *engine);

#endif
