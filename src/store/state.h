// SPDX-License-Identifier: MIT
// The store's inside: what its threads share. Everything under `mutex` unless said otherwise.
//
//      gathering > durable >= synced >= covered
//
// With STORE_ALWAYS what is durable is synced. store_check states this and what else must hold.
#ifndef SLUICE_STORE_STATE_H
#define SLUICE_STORE_STATE_H

#include "base/buffer.h"
#include "store/journal/segments.h"
#include "store/lmdb/base.h"
#include "store/lmdb/compact.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    STORE_RETRY_US = 200000, // after the disk was full
};

struct store {
    struct store_options options; // with the defaults filled in
    const struct allocator *allocator;
    char *path; // owned
    size_t path_size;
    int folder, lock, event;
    struct base *base;
    struct segments segments;
    pthread_t journal, checkpoint; // threads
    bool journal_runs, checkpoint_runs;

    struct buffer pending; // the appender's alone
    char *packed;          // the journal's alone: a header and JOURNAL_PACKED_SECTORS sectors

    pthread_mutex_t backup; // held by the one that is being made

    pthread_mutex_t mutex;
    pthread_cond_t work;     // for the journal: something has gathered, a segment is free, stop,
                             // there will be none
    pthread_cond_t wake;     // for the checkpoint
    pthread_cond_t progress; // for those who wait: durable, covered, failed
    bool stopping;           // the journal; then the checkpoint ends too
    bool gives_up;           // no thread waits for space any more

    // The journal
    struct buffer gather; // the group that gathers, with room for its head
    uint64_t gathering;   // its number
    size_t writing_size;  // of the group before it, while that is not durable
    bool was_busy;        // the host may have been told so
    _Atomic uint64_t durable;
    struct position end; // where group durable + 1 begins
    uint64_t synced;
    unsigned syncing;           // threads that sync files of the journal, beside its writer
    uint64_t synced_generation; // what is not synced is in this generation or a later one
    bool wants_segment;         // it waits for one
    bool journal_full;          // it cannot write for want of space
    bool held;                  // it takes no group for now
    bool ended;                 // the thread has written all it will

    // The checkpoint
    struct base_record record; // as in the base
    uint64_t wanted;           // groups up to this are to be covered at once
    uint64_t behind_size;      // bytes of the groups that are not covered
    uint64_t much_size;        // with so many of them it does not wait any longer
    uint64_t slice_size;       // bytes of groups that a transaction takes in
    bool full;                 // it lacked space or memory, and has not got it back
    uint64_t lacked;           // it has not as long as this group is not covered
    bool has_reserve;
    uint64_t free_at_full; // bytes free inside the base's file when it last had no reserve
    struct compaction compaction;
    int64_t covered_us; // when something last was
    bool stuck;         // the journal is short of room, and there is no space to give it any

    struct error failure; // the first one; its status is not OK when the store has failed
    struct error space;   // why it is full
    bool append_lacks;    // the appender's: there was no memory, and it was said
    struct store_figures figures;
};

// Says a sentence to the operator.
void store_log(const struct store *store, enum store_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Asserts the invariants. With the mutex held, where a change of the state is complete.
void store_check(const struct store *store);

// The end: nothing is written any more. With the mutex held.
void store_fail(struct store *store, const struct error *error);
bool store_has_failed(const struct store *store);

// Whether it is for want of space or memory, and may be tried again.
static inline bool store_is_lack(enum status status)
{
    return status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY;
}

// Something that store_durable or store_state tell has changed.
void store_tell(const struct store *store);

// Bytes that the journal has room for beside those that it was given already; below 0 when these
// are too many. With the mutex held.
int64_t store_spare_size(struct store *store);
// Whether the journal should have more room before anything else is taken on. Then the checkpoint
// gets it some, or says that there is none (`stuck`). With the mutex held.
bool store_is_short(struct store *store);
// The journal has got more room, or less to write. With the mutex held.
void store_eased(struct store *store);

// Waits on a condition for at most so long; with the mutex held.
void store_sleep(struct store *store, pthread_cond_t *condition, int64_t us);

#endif
