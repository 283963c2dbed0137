// SPDX-License-Identifier: MIT
// The lock of a job that is to be the only one of its kind. It belongs to the job, and is in the
// engine's map of locks while it is held.
#ifndef SLUICE_ENGINE_DEDUP_UNIQUE_H
#define SLUICE_ENGINE_DEDUP_UNIQUE_H

#include "engine/engine.h"

struct promise;

struct unique {
    struct job *job;
    int64_t until_us;        // UNIQUE_FOR_TIME: when it ends
    struct promise *promise; // UNIQUE_FOR_TIME: as long as it has not ended; owned
    uint8_t until;           // of enum unique_until
    bool held;
    uint16_t key_size;
    char key[]; // of enum unique_by (1), then the key or the digest
};

struct slice unique_key(const void *unique);

// Whether this may be asked for.
MUST_USE enum status unique_check(const struct unique_request *request, int64_t now_us,
                                  struct slice data, struct error *error);

// Who holds a lock: a job, or the promise of one that is gone. Both NULL: it is free.
struct unique_holder {
    struct job *job;
    const struct promise *kept;
};

// A lock as asked for that belongs to no job yet, with room for it among the locks; NULL in `*out`
// when none is asked for. `*holder` is who holds it now.
MUST_USE enum status unique_new(struct engine *engine, int64_t now_us,
                                const struct put_request *request, struct unique **out,
                                struct unique_holder *holder, struct error *error);
void unique_free(struct engine *engine, struct unique *unique);

// Gives a job, which has its rare part, a lock in place of the one it had. No other job may hold
// that lock.
void unique_give(struct engine *engine, struct job *job, struct unique *unique);

// The job gives the lock up, if it has one that ends then.
void unique_started(struct engine *engine, struct job *job);
void unique_finished(struct engine *engine, struct job *job);

// A job that gave its lock up, when it finished or started, is to start anew: makes room for its
// lock among those that are held. EXISTS when another job holds it, which the sentence names. Then
// the job takes it.
MUST_USE enum status unique_reserve_again(struct engine *engine, int64_t now_us,
                                          const struct job *job, struct error *error);
void unique_take_again(struct engine *engine, struct job *job);

// The job gives the lock up, whatever it is.
void unique_release(struct engine *engine, struct job *job);

// The promise of a lock for a time is the caller's from now on.
struct promise *unique_take_promise(struct unique *unique);

// Whether a key, with what it is by, can be that of a lock.
bool unique_key_is_sane(struct slice key);

// A lock that was loaded is held. EXISTS when another job holds it.
MUST_USE enum status unique_load_held(struct engine *engine, struct unique *unique);

// Makes a job's lock, which it does not hold yet; for loading. CORRUPT when it cannot be one.
MUST_USE enum status unique_load(struct engine *engine, struct job *job, struct slice key,
                                 enum unique_until until, int64_t until_us);

#endif
