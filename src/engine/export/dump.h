// SPDX-License-Identifier: MIT
// All that a namespace consists of, one thing after the other, in an order in which restore.h takes
// it. A cursor knows its place by keys, never by pointers: calls may come between two steps. What
// stays as it is meanwhile comes up exactly once; a job that moves may come up twice or not at all,
// which engine_change_count tells.
#ifndef SLUICE_ENGINE_EXPORT_DUMP_H
#define SLUICE_ENGINE_EXPORT_DUMP_H

#include "engine/config/policy.h"
#include "engine/engine.h"
#include "engine/export/restore.h"
#include "engine/lanes/limit.h"

enum dump_kind {
    DUMP_NAMESPACE, // first
    DUMP_OPTION,    // those that narrow what may be there come last
    DUMP_LIMIT,
    DUMP_POLICY,
    DUMP_QUEUE,
    DUMP_RECURRING,
    DUMP_JOB,     // but for the dependencies of failed ones
    DUMP_DEPENDS, // those
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

// Looks at what comes next, and moves on. With a queue given only what is about it and its jobs.
// `*found` tells whether there was something: a step may pass over things. False at the end.
bool engine_dump_step(const struct engine *engine, struct slice queue, struct dump_cursor *cursor,
                      struct dump_item *out, bool *found);

// Counts up whenever a job changes, comes or goes.
uint64_t engine_change_count(const struct engine *engine);

#endif
