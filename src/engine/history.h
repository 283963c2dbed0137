// SPDX-License-Identifier: MIT
// What has happened to a job: a first entry, always kept, and the newest others.
#ifndef SLUICE_ENGINE_HISTORY_H
#define SLUICE_ENGINE_HISTORY_H

#include "engine/engine.h"

struct history {
    uint32_t size; // of the entries
    uint32_t capacity;
    uint32_t count; // without the first
    char entries[];
};

enum history_kind {
    HISTORY_PUT,       // queue
    HISTORY_POPPED,    // worker
    HISTORY_DONE,      //
    HISTORY_FAILED,    // worker, group
    HISTORY_TIMED_OUT, //
    HISTORY_LOG,       // what, data
};

struct history_entry {
    enum history_kind kind;
    int64_t when_us;
    struct slice queue, worker, group, what, data;
};

// Makes room for entries, each of which history_append then takes without fail.
MUST_USE enum status history_reserve(struct engine *engine, struct job *job,
                                     const struct history_entry *entries, size_t count);
void history_append(struct engine *engine, struct job *job, const struct history_entry *entry);

// How many there are, with the first.
size_t history_count(const struct job *job);

// The packed entries but the first; and a job's history made of such bytes, for loading, CORRUPT
// when they are not entries.
struct slice history_bytes(const struct job *job);
MUST_USE enum status history_load(struct engine *engine, struct job *job, struct slice bytes);

void history_release(struct engine *engine, struct job *job);

#endif
