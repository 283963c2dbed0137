// SPDX-License-Identifier: MIT
// Restoring: things come into an engine as they were elsewhere, with their state and their past.
// Each call restores one thing or, when it fails, changes nothing. What is there already stays:
// EXISTS. With `check_only` a call changes nothing either way, and says what would become of it.
// Nothing is announced, and nothing counts in statistics.
#ifndef SLUICE_ENGINE_EXPORT_RESTORE_H
#define SLUICE_ENGINE_EXPORT_RESTORE_H

#include "engine/engine.h"

// Where a job in line stands: by its priority, or before all that do.
enum line_rank {
    LINE_RANK_PRIORITY,
    LINE_RANK_TIMED_OUT,
    LINE_RANK_LOST, // before those timed out
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
    int64_t updated_us;         // when anything of it last changed; 0: then
    int64_t moved_us;           // job_view.time_us; of a complete job when it was completed
    int64_t line_us;            // of one in line or depending: since when
    enum line_rank rank;        // of a stalled one
    int64_t scheduled_us;       // of a scheduled one; of a depending one or 0
    int64_t deadline_us;        // or 0
    struct slices tags;
    const int64_t *tag_times; // one for each
    // Of a depending or a failed one. Each must be there (NOT_FOUND); those that are complete count
    // as done, and with no other one left the job goes on.
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

// `*missing`, unless NULL, is the dependency that is not there, of those of the request.
MUST_USE enum status engine_restore(struct engine *engine, int64_t now_us,
                                    const struct restore_request *request, bool check_only,
                                    struct slice *missing, struct error *error);

// A failed job gets dependencies, each of which must be there; those that it has, and those that
// are complete, are passed over. STATE when it has not failed, EXISTS when none is left.
MUST_USE enum status engine_restore_depends(struct engine *engine, int64_t now_us, struct slice jid,
                                            struct slices depends, bool check_only,
                                            struct slice *missing, struct error *error);

// What restore_request has and job_view has not.
struct restore_view {
    struct slice created_queue;
    enum line_rank rank;
    int64_t line_us;
    uint32_t members_passed;
    enum unique_until unique_until;
    int64_t unique_until_us;
};
void restore_view(const struct engine *engine, const struct job *job, struct restore_view *out);

// A recurring job with its next run and the number of the job that it made last.
MUST_USE enum status engine_restore_recurring(struct engine *engine, int64_t now_us,
                                              const struct recur_request *request, int64_t next_us,
                                              uint64_t count, bool check_only, struct error *error);

// A queue in its place among those listed, or one that is not and is only paused.
struct queue_past {
    bool listed;
    int64_t first_seen_us; // since when it is listed
    bool paused;
};
MUST_USE enum status engine_restore_queue(struct engine *engine, int64_t now_us, struct slice name,
                                          const struct queue_past *past, bool check_only,
                                          struct error *error);

// That a jid is tracked since then, whether there is such a job or not.
MUST_USE enum status engine_restore_tracked(struct engine *engine, int64_t now_us, struct slice jid,
                                            int64_t when_us, bool check_only, struct error *error);

// What was promised about a job that is gone (promise.h): that its lock is kept, or its result.
struct promise_past {
    enum unique_by by; // of a lock; UNIQUE_NONE: a result
    struct slice key;  // of a lock; of UNIQUE_BY_CONTENTS the SHA-256
    struct slice jid;
    enum job_state state; // when the job went
    int64_t until_us;     // above 0
    struct slice result;
};
MUST_USE enum status engine_restore_promise(struct engine *engine, int64_t now_us,
                                            const struct promise_past *past, bool check_only,
                                            struct error *error);

// The last number that was given out for a job (engine_next_number). With one that was given out
// elsewhere, up to ENGINE_NUMBER_MAX, those given out from now on are larger.
#define ENGINE_NUMBER_MAX (UINT64_C(1) << 37)
uint64_t engine_last_number(const struct engine *engine);
MUST_USE enum status engine_restore_number(struct engine *engine, int64_t now_us, uint64_t number,
                                           bool check_only, struct error *error);

// Whether there is room for so much more: in a queue, or with an empty name in the namespace.
// TOO_LARGE names the limit.
struct room {
    uint64_t jobs, bytes, queues, recurring;
};
MUST_USE enum status engine_has_room(const struct engine *engine, struct slice queue,
                                     const struct room *room, struct error *error);

#endif
