// SPDX-License-Identifier: MIT
// What has happened to a job: a first entry, always kept, and the newest others. And its log, which
// is kept the same way.
#ifndef SLUICE_ENGINE_JOB_HISTORY_H
#define SLUICE_ENGINE_JOB_HISTORY_H

#include "engine/dedup/settled.h"
#include "engine/engine.h"

// Entries one behind the other. That of a history also has how the job was settled last.
struct trail {
    struct settled settled;
    uint32_t size; // of the entries
    uint32_t capacity;
    uint32_t count; // without the first
    uint8_t settled_act;
    char entries[];
};

enum history_kind {
    HISTORY_PUT,       // queue
    HISTORY_POPPED,    // worker
    HISTORY_DONE,      //
    HISTORY_FAILED,    // worker, group, message
    HISTORY_TIMED_OUT, //
    HISTORY_LOG,       // what, data
    HISTORY_RETRIED,   // worker, group, message
    HISTORY_STARTED,   // worker, data: {"pid":4711}, or nothing
    HISTORY_KIND_COUNT,
};

struct history_entry {
    enum history_kind kind;
    int64_t when_us;
    struct slice queue, worker, group, what;
    struct slice data; // or the message
    int64_t until_us;  // not before then was it to run; 0: at once
};

// Makes room for entries, each of which history_append then takes without fail.
MUST_USE enum status history_reserve(struct engine *engine, struct job *job,
                                     const struct history_entry *entries, size_t count);
void history_append(struct engine *engine, struct job *job, const struct history_entry *entry);

// The same for the job's log; for a job that has its rare part.
MUST_USE enum status log_reserve(struct engine *engine, struct job *job, struct slice line);
void log_append(struct engine *engine, struct job *job, int64_t when_us, struct slice line);

// The data of HISTORY_STARTED for a process id; 0: none.
struct history_pid {
    char bytes[32];
    size_t size;
};
void history_pid(int64_t pid, struct history_pid *out);

// Whether these may be entries of a history, behind the first.
MUST_USE enum status history_check(const struct history_view *entries, size_t count,
                                   struct error *error);
// Gives a job that has no such entries these, which were checked, or that has no log these lines.
MUST_USE enum status history_restore(struct engine *engine, struct job *job,
                                     const struct history_view *entries, size_t count);
MUST_USE enum status log_restore(struct engine *engine, struct job *job,
                                 const struct log_view *lines, size_t count);

// How many there are, with the first.
size_t history_count(const struct job *job);
size_t log_count(const struct job *job);

// When the job first ran, as far as its history knows; else `otherwise`.
int64_t history_first_run(const struct job *job, int64_t otherwise);

// The packed entries; and a trail made of such bytes, for loading, CORRUPT when they are not
// entries. NULL is a trail without entries.
struct slice trail_bytes(const struct trail *trail);
MUST_USE enum status trail_load(struct engine *engine, struct trail **out, struct slice bytes);
// Makes one without entries unless there is one.
MUST_USE enum status trail_reserve(struct engine *engine, struct trail **trail);
void trail_free(struct engine *engine, struct trail *trail);

#endif
