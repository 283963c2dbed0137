// SPDX-License-Identifier: MIT
// Restoring a dump: each call creates one thing with the state and the history that it had in another
// engine, or fails and changes nothing. EXISTS if the thing exists; it stays as it is. With
// `check_only` a call changes nothing and returns what it would return otherwise. Restoring emits no
// events and does not count in statistics.
#ifndef SLUICE_ENGINE_EXPORT_RESTORE_H
#define SLUICE_ENGINE_EXPORT_RESTORE_H

#include "engine/engine.h"

// The position of a job in line: by its priority, or before all jobs with a priority.
enum line_rank {
    LINE_RANK_PRIORITY,
    LINE_RANK_TIMED_OUT,
    LINE_RANK_LOST, // before those of LINE_RANK_TIMED_OUT
};

struct restore_request {
    struct slice jid, klass, data;
    struct slice queue;   // empty only for a complete job
    enum job_state state; // any but RUNNING: a lease cannot be restored
    int32_t priority, retries, remaining;
    uint16_t attempts, crashes;
    struct slice domain;        // or empty
    struct slice spawned_from;  // or empty
    int64_t created_us;         // the first put,
    struct slice created_queue; // into this queue
    int64_t updated_us;         // of its last visible change; 0: created_us
    int64_t moved_us;           // job_view.time_us; of a complete job when it was completed
    int64_t line_us;            // of one in line or depending: since when
    enum line_rank rank;        // of a stalled one
    int64_t scheduled_us;       // of a scheduled one; of a depending one or 0
    int64_t deadline_us;        // or 0
    struct slices tags;
    const int64_t *tag_times; // one for each
    // Of a depending or a failed one. Each must exist (NOT_FOUND). Complete ones count as done; if all
    // are complete, the job does not depend any more.
    struct slices depends;
    uint32_t members_done, members_passed;
    struct slice failure_group, failure_message, failure_worker; // no group: none
    int64_t failure_when_us;
    struct slice result; // or empty
    int64_t result_until_us;
    int32_t progress_ppm; // below 0: none
    struct slice progress_message;
    struct slice checkpoint;            // or empty
    const struct history_view *history; // behind the first put
    size_t history_count;
    const struct log_view *log;
    size_t log_count;
    const struct job_options *options; // or NULL
    enum unique_by unique_by;
    struct slice unique_key; // of UNIQUE_BY_CONTENTS the SHA-256; empty: that of klass and data
    enum unique_until unique_until;
    int64_t unique_until_us;
    bool unique_held;
};

// `*missing`, unless NULL, receives the dependency of the request that does not exist.
MUST_USE enum status engine_restore(struct engine *engine, int64_t now_us,
                                    const struct restore_request *request, bool check_only,
                                    struct slice *missing, struct error *error);

// Adds dependencies, which must exist, to a failed job. Complete ones, and those that the job has, are
// ignored. STATE if the job has not failed, EXISTS if no dependency was added.
MUST_USE enum status engine_restore_depends(struct engine *engine, int64_t now_us, struct slice jid,
                                            struct slices depends, bool check_only,
                                            struct slice *missing, struct error *error);

// The fields of restore_request that job_view does not have.
struct restore_view {
    struct slice created_queue;
    enum line_rank rank;
    int64_t line_us;
    uint32_t members_passed;
    enum unique_until unique_until;
    int64_t unique_until_us;
};
void restore_view(const struct engine *engine, const struct job *job, struct restore_view *out);

// Restores a recurring job with its next run and the number of the job that it made last.
MUST_USE enum status engine_restore_recurring(struct engine *engine, int64_t now_us,
                                              const struct recur_request *request, int64_t next_us,
                                              uint64_t count, bool check_only, struct error *error);

// A queue: with its position in the list of queues, or one that is not listed and is only paused.
struct queue_past {
    bool listed;
    int64_t first_seen_us; // listed since
    bool paused;
};
MUST_USE enum status engine_restore_queue(struct engine *engine, int64_t now_us, struct slice name,
                                          const struct queue_past *past, bool check_only,
                                          struct error *error);

// Restores that a jid is tracked since `when_us`, whether such a job exists or not.
MUST_USE enum status engine_restore_tracked(struct engine *engine, int64_t now_us, struct slice jid,
                                            int64_t when_us, bool check_only, struct error *error);

// A promise about a job that is gone (dedup/promise.h): its lock, or its result.
struct promise_past {
    enum unique_by by; // of a lock; UNIQUE_NONE: a result
    struct slice key;  // of a lock; of UNIQUE_BY_CONTENTS the SHA-256
    struct slice jid;
    enum job_state state; // when the job was removed
    int64_t until_us;     // above 0
    struct slice result;
};
MUST_USE enum status engine_restore_promise(struct engine *engine, int64_t now_us,
                                            const struct promise_past *past, bool check_only,
                                            struct error *error);

// The last number that a job received (engine_next_number). engine_restore_number takes one from
// another engine, up to ENGINE_NUMBER_MAX; later jobs receive larger numbers.
#define ENGINE_NUMBER_MAX (UINT64_C(1) << 37)
uint64_t engine_last_number(const struct engine *engine);
MUST_USE enum status engine_restore_number(struct engine *engine, int64_t now_us, uint64_t number,
                                           bool check_only, struct error *error);

// Checks whether so much more fits into a queue or, with an empty name, into the namespace. TOO_LARGE
// names the limit.
struct room {
    uint64_t jobs, bytes, queues, recurring;
};
MUST_USE enum status engine_has_room(const struct engine *engine, struct slice queue,
                                     const struct room *room, struct error *error);

#endif
