// SPDX-License-Identifier: MIT
// The history of a job: its first entry, which is always kept, and the newest other entries. The log
// of a job is kept in the same form.
#ifndef SLUICE_ENGINE_JOB_HISTORY_H
#define SLUICE_ENGINE_JOB_HISTORY_H

#include "engine/dedup/settled.h"
#include "engine/engine.h"

// Packed entries. The trail of a history also has the last settling of the job; that of a log does
// not use it.
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
    int64_t until_us;  // the time that the job was scheduled for; 0: none
};

// Reserves memory for entries, so that history_append cannot fail for them.
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

// Checks entries that are to follow the first one of a history.
MUST_USE enum status history_check(const struct history_view *entries, size_t count,
                                   struct error *error);
// Gives entries that history_check accepted to a job whose history has only its first entry; and
// lines to a job without a log.
MUST_USE enum status history_restore(struct engine *engine, struct job *job,
                                     const struct history_view *entries, size_t count);
MUST_USE enum status log_restore(struct engine *engine, struct job *job,
                                 const struct log_view *lines, size_t count);

// How many entries there are, the first one of the history included.
size_t history_count(const struct job *job);
size_t log_count(const struct job *job);

// The time of the first run that the history still has; without one `otherwise`.
int64_t history_first_run(const struct job *job, int64_t otherwise);

// The packed entries of a trail, and a trail from such bytes (CORRUPT if they are not entries). NULL
// is a trail without entries.
struct slice trail_bytes(const struct trail *trail);
MUST_USE enum status trail_load(struct engine *engine, struct trail **out, struct slice bytes);
// Allocates a trail without entries, unless there is a trail.
MUST_USE enum status trail_reserve(struct engine *engine, struct trail **trail);
void trail_free(struct engine *engine, struct trail *trail);

#endif
