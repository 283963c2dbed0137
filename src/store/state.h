// SPDX-License-Identifier: MIT
// The state that the store's threads share. `mutex` guards everything, unless a comment says
// otherwise.
//
//      gathering > durable >= synced >= covered
//
// With STORE_ALWAYS, durable equals synced. store_check asserts this and the other invariants.
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
    STORE_RETRY_US = 200000, // interval of attempts while the disk is full
};

struct store {
    struct store_options options; // with defaults applied
    const struct allocator *allocator;
    char *path; // owned
    size_t path_size;
    int folder, lock, event;
    struct base *base;
    struct segments segments;
    pthread_t journal, checkpoint; // threads
    bool journal_runs, checkpoint_runs;

    struct buffer pending; // used by the appending thread only
    // used by the journal's thread only: a header and JOURNAL_PACKED_SECTORS sectors
    char *packed;

    pthread_mutex_t backup; // held while a backup is made

    pthread_mutex_t mutex;
    // wakes the journal's thread: a group gathers, a segment is free or will not become free, stop
    pthread_cond_t work;
    pthread_cond_t wake;     // wakes the checkpoint's thread
    pthread_cond_t progress; // wakes waiting callers: durable, covered, failed
    bool stopping;           // set for the journal; the checkpoint's thread ends after it
    bool gives_up;           // no thread waits for disk space any more

    // The journal
    struct buffer gather; // the gathering group, with room for its head
    uint64_t gathering;   // its number
    size_t writing_size;  // of the group that is being written; 0: none
    bool was_busy;        // the host may have seen STORE_BUSY
    _Atomic uint64_t durable;
    struct position end; // where group durable + 1 begins
    uint64_t synced;
    unsigned syncing;           // threads that sync files of the journal, in addition to its writer
    uint64_t synced_generation; // everything before this generation is synced
    bool wants_segment;         // the journal's thread waits for one
    bool journal_full;          // the journal cannot write, because the disk is full
    bool held;                  // the journal's thread must not take a group
    bool ended;                 // the journal's thread has written everything and ended

    // The checkpoint
    struct base_record record; // as committed to the base
    uint64_t wanted;           // groups up to this one are to be covered at once
    uint64_t behind_size;      // bytes of the groups that are not covered
    uint64_t much_size;        // above this many bytes a checkpoint starts at once
    uint64_t slice_size;       // bytes of groups that one transaction covers
    bool full;                 // the checkpoint lacked disk space or memory, and still does
    uint64_t lacked;           // until this group is covered the lack is not over
    bool has_reserve;
    uint64_t free_at_full; // free bytes in the base's file when there was no reserve last
    struct compaction compaction;
    int64_t covered_us; // time of the last checkpoint
    bool stuck;         // the journal is short of room, and there is no space for more

    struct error failure; // the first failure; status other than OK: the store has failed
    struct error space;   // why `full` is set
    bool append_lacks;    // used by the appending thread only: a lack of memory was logged
    struct store_figures figures;
};

// Logs a message for the operator.
void store_log(const struct store *store, enum store_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Asserts the invariants. To be called with the mutex held, when a change of the state is complete.
void store_check(const struct store *store);

// Records a failure: nothing is written any more. With the mutex held.
void store_fail(struct store *store, const struct error *error);
bool store_has_failed(const struct store *store);

// Whether the status means a lack of disk space or memory, so that the operation may be tried
// again.
static inline bool store_is_lack(enum status status)
{
    return status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY;
}

// To be called when the result of store_durable or store_state has changed.
void store_notify(const struct store *store);

// Bytes of free room in the journal beyond what was appended already; negative if that is too much.
// With the mutex held.
int64_t store_spare_size(struct store *store);
// Whether the journal needs more room before more records are accepted. Then the checkpoint's
// thread gets it more, or sets `stuck`. With the mutex held.
bool store_is_short(struct store *store);
// To be called when the journal has more room, or less to write. With the mutex held.
void store_eased(struct store *store);

// Waits for a condition for at most `us`. With the mutex held.
void store_sleep(struct store *store, pthread_cond_t *condition, int64_t us);

#endif
