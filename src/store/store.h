// SPDX-License-Identifier: MIT
// The store: records in a folder, so that nothing that was acknowledged is lost.
//
//      the host's thread          the journal's thread           the checkpoint's thread
//
//      store_append ---+
//      store_append ---+-> gathers --> a group: one write, --> newest image of each record,
//      store_append ---+               one sync                one transaction of LMDB
//           ^                             |                            |
//           +---- store_durable, event ---+         segment is free ---+
//
// What is appended gathers until the journal's thread has synced the group before it; then all of
// it is the next group. A group is on disk as a whole or not at all, and groups are there in order.
// The base (LMDB) follows behind; what it covers the journal may forget. docs/file-format.md has
// the bytes.
//
// One thread at a time may call store_append; the other calls may come from any thread. None but
// store_open, store_wait, store_checkpoint, store_backup and store_close ever waits for a disk.
#ifndef SLUICE_STORE_STORE_H
#define SLUICE_STORE_STORE_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/records/record.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

// A record's place. Spaces keep the records of several engines apart; each record_key is one
// record of a space. Records are in order of space, kind, id, extra.
struct store_key {
    uint32_t space;
    struct record_key record;
};

// When a group counts as durable.
enum store_durability {
    STORE_ALWAYS,   // synced
    STORE_INTERVAL, // written; synced every `interval_us`: a crash of the machine loses that much
    STORE_NEVER,    // written; when it is synced is up to the system
};

enum store_level {
    STORE_INFO,
    STORE_WARNING,
    STORE_ERROR,
};

// 0 stands for the default.
struct store_options {
    const char *path;                  // the folder; made if it is not there
    const struct allocator *allocator; // borrowed; used by several threads
    enum store_durability durability;
    int64_t interval_us;   // 100 ms; for STORE_INTERVAL
    uint64_t segment_size; // bytes of a journal file, for a new store: 16 MiB
    uint32_t segments_max; // 64: how many journal files there may be
    uint64_t gather_max;   // 64 MiB: with more than that appended and not written it is BUSY
    uint64_t reserve_size; // 32 MiB kept free for the day the disk is full
    uint64_t compact_min;  // 1 MiB: the base is made anew when it has so much free, and half of it
    int64_t checkpoint_us; // 1 s: how far the base is behind at most when there is little to do
    int64_t stall_us;      // 10 ms: how long a checkpoint may keep the disk busy at a time
    // Told what an operator should know; from any of the store's threads, and must not call the
    // store. May be NULL.
    void (*log)(void *context, enum store_level level, const char *sentence);
    void *log_context;
};

// Is given every record, in order, while a store is opened. The bytes are borrowed. What it returns
// other than STATUS_OK ends the opening.
struct store_visitor {
    enum status (*visit)(void *context, struct store_key key, struct slice bytes,
                         struct error *error);
    void *context;
};

// Opens the folder, making it or recovering what a crash left. A torn tail, which was never
// acknowledged, is cut, and said so. Anything else that does not check is CORRUPT or UNSUPPORTED
// with a sentence that says what and where, and nothing on disk has been changed. BUSY when
// another process has it open.
MUST_USE enum status store_open(const struct store_options *options,
                                const struct store_visitor *visitor, struct store **out,
                                struct error *error);

// Whether there is a store in a folder, be it one that does not open; false: opening would make it.
bool store_is_there(const char *path);

// Writes all that was appended, brings the base up to date and lets go of the folder. The status
// says whether all of it is on disk; the store is gone in any case.
enum status store_close(struct store *store, struct error *error);

struct store_record {
    struct store_key key;
    struct slice bytes; // empty: the record is gone
};

// Appends records that belong together, and says which group they are in. NO_MEMORY: nothing was
// appended, and the call may be repeated. IO or NO_SPACE: nothing is taken any more (STORE_FAILED).
MUST_USE enum status store_append(struct store *store, const struct store_record *records,
                                  size_t count, uint64_t *group, struct error *error);

// The same with what has changed in an engine since the last time. Without a change it is the group
// that was appended to last, which may be durable already: then no event comes for it. NO_MEMORY:
// the changes are not lost. The engine or the store keeps them, and the call that is repeated, or
// the next one for any engine, appends them. Once the journal has taken what gathers, that needs
// no memory for changes that the store keeps.
MUST_USE enum status store_take(struct store *store, uint32_t space, struct engine *engine,
                                uint64_t *group, struct error *error);

// The last group that is durable. Groups are numbered on from one opening to the next.
uint64_t store_durable(const struct store *store);

// A descriptor that is readable when store_durable or store_state may have changed since the last
// store_event_clear. It belongs to the store.
int store_event(const struct store *store);
void store_event_clear(const struct store *store);

// Waits until a group is durable. Not STATUS_OK: it is not, and will not be.
MUST_USE enum status store_wait(struct store *store, uint64_t group, struct error *error);
// The same up to a moment, as monotonic_us has it; BUSY when it has come: the group may yet become
// durable.
MUST_USE enum status store_wait_until(struct store *store, uint64_t group, int64_t deadline_us,
                                      struct error *error);

// What the host should take on.
enum store_state {
    STORE_READY,
    STORE_FULL,   // the disk is full, or there is no memory for the base: no new jobs, only work on
                  // those there are, and what makes the store smaller. The reserve is for that
    STORE_STUCK,  // not even that: the reserve is used up, and the journal has no room left. What
                  // it was given waits until there is space
    STORE_BUSY,   // nothing for now: the disk is behind, or the journal gets more room
    STORE_FAILED, // nothing any more: a write or a sync failed, and what was not durable by then
                  // may be lost; the process has to open the store again
};

// The state, and the reason for it when it is not READY. `why` may be NULL.
enum store_state store_state(struct store *store, struct error *why);

// How many bytes of records can be appended now and surely be written, even if the disk is full.
uint64_t store_room(struct store *store);

// It waits for space no more: if it is or gets STUCK, it fails.
void store_give_up(struct store *store);

// Brings all that is durable into the base.
MUST_USE enum status store_checkpoint(struct store *store, struct error *error);

// Makes a folder that can be opened as a store and holds all that was durable when the call began,
// and perhaps some of what came since. The folder must not be there yet; it is made as `path`.part
// and gets its name when it is whole.
MUST_USE enum status store_backup(struct store *store, const char *path, struct error *error);

// What it has done so far. Times in microseconds.
struct store_figures {
    uint64_t groups, group_bytes, syncs;
    uint64_t sync_us, sync_us_max;              // of the journal
    uint64_t checkpoints, records_checkpointed; // transactions; images written to the base
    uint64_t checkpoint_us_max;                 // the longest transaction
    uint64_t compactions;                       // times the base was made anew
    uint64_t base_bytes, journal_bytes;         // on disk
    uint64_t base_used_bytes, base_live_bytes;  // of the base: ever used; with records in it
    uint64_t volume_free_bytes;                 // that the file system has left
    uint64_t groups_behind;                     // durable and not yet in the base
};

void store_figures(struct store *store, struct store_figures *out);

#endif
