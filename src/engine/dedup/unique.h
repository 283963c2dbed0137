// SPDX-License-Identifier: MIT
// The lock of a unique job. It belongs to the job, and is in the engine's map of locks while it is
// held.
#ifndef SLUICE_ENGINE_DEDUP_UNIQUE_H
#define SLUICE_ENGINE_DEDUP_UNIQUE_H

#include "engine/engine.h"

struct promise;

struct unique {
    struct job *job;
    int64_t until_us;        // UNIQUE_FOR_TIME: when it ends
    struct promise *promise; // UNIQUE_FOR_TIME: until it ends; owned
    uint8_t until;           // of enum unique_until
    bool held;
    uint16_t key_size;
    char key[]; // of enum unique_by (1), then the key or the digest
};

struct slice unique_key(const void *unique);

// Checks the lock that a put asks for.
MUST_USE enum status unique_check(const struct unique_request *request, int64_t now_us,
                                  struct slice data, struct error *error);

// The holder of a lock: a job, or the promise of a job that is gone. Both NULL: the lock is free.
struct unique_holder {
    struct job *job;
    const struct promise *kept;
};

// Allocates the lock that a put asks for, which belongs to no job yet, and reserves room in the map
// of locks; `*out` is NULL if the put asks for none. `*holder` is the present holder of the lock.
MUST_USE enum status unique_new(struct engine *engine, int64_t now_us,
                                const struct put_request *request, struct unique **out,
                                struct unique_holder *holder, struct error *error);
void unique_free(struct engine *engine, struct unique *unique);

// Gives a lock to a job that has its rare part; it replaces the lock that the job had. No other job
// may hold it.
void unique_give(struct engine *engine, struct job *job, struct unique *unique);

// Releases the lock of a job that was popped, or has finished, if the lock ends then.
void unique_started(struct engine *engine, struct job *job);
void unique_finished(struct engine *engine, struct job *job);

// For a job that has released its lock and starts again: unique_reserve_again reserves room in the
// map of locks (EXISTS if another job holds the lock; the error names it), and unique_take_again
// takes the lock.
MUST_USE enum status unique_reserve_again(struct engine *engine, int64_t now_us,
                                          const struct job *job, struct error *error);
void unique_take_again(struct engine *engine, struct job *job);

// Releases the lock of the job, of any kind.
void unique_release(struct engine *engine, struct job *job);

// Transfers the promise of a lock for a time to the caller.
struct promise *unique_take_promise(struct unique *unique);

// Whether a key, which begins with a byte of enum unique_by, is valid.
bool unique_key_is_sane(struct slice key);

// Puts a lock that was loaded as held into the map; EXISTS if another job holds it.
MUST_USE enum status unique_load_held(struct engine *engine, struct unique *unique);

// Loads the lock of a job, which does not hold it yet; CORRUPT if the values are invalid.
MUST_USE enum status unique_load(struct engine *engine, struct job *job, struct slice key,
                                 enum unique_until until, int64_t until_us);

#endif
