// SPDX-License-Identifier: MIT
// The store: durable records in a folder.
//
//      the host's thread          the journal's thread           the checkpoint's thread
//
//      store_append ---+
//      store_append ---+-> gathers --> a group: one write, --> newest image of each record,
//      store_append ---+               one sync                one transaction of LMDB
//           ^                             |                            |
//           +---- store_durable, event ---+         segment is free ---+
//
// Appended records gather until the journal's thread has synced the previous group; then all of
// them become the next group. A group is on disk completely or not at all, and groups are on disk
// in order. The base (LMDB) follows later; the journal may drop what the base covers.
// docs/file-format.md defines the bytes.
//
// Only one thread at a time may call store_append; the other functions may be called from any
// thread. Only store_open, store_wait, store_checkpoint, store_backup and store_close wait for the
// disk.
#ifndef SLUICE_STORE_STORE_H
#define SLUICE_STORE_STORE_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/records/record.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

// The key of a record. Spaces separate the records of several engines; each record_key is one
// record of a space. Records are sorted by space, kind, id and extra.
struct store_key {
    uint32_t space;
    struct record_key record;
};

// When a group is durable.
enum store_durability {
    STORE_ALWAYS, // when it is synced
    // when it is written; synced every `interval_us`: a crash of the machine loses up to that much
    STORE_INTERVAL,
    STORE_NEVER, // when it is written; the operating system decides when it is synced
};

enum store_level {
    STORE_INFO,
    STORE_WARNING,
    STORE_ERROR,
};

// 0 means the default.
struct store_options {
    const char *path;                  // the folder; created if missing
    const struct allocator *allocator; // borrowed; several threads use it
    enum store_durability durability;
    int64_t interval_us;   // default 100 ms; for STORE_INTERVAL
    uint64_t segment_size; // bytes of a journal file, for a new store; default 16 MiB
    uint32_t segments_max; // maximum number of journal files; default 64
    uint64_t gather_max;   // default 64 MiB; BUSY while more than that is appended and not written
    uint64_t reserve_size; // disk space to be reserved; default 32 MiB
    // default 1 MiB; the base is rewritten when so much of it, and half of it, is free
    uint64_t compact_min;
    int64_t checkpoint_us; // default 1 s; the base is at most this late while there is little to do
    int64_t stall_us;      // default 10 ms; how long a checkpoint may keep the disk busy at a time
    // Receives messages for the operator, from any of the store's threads. Must not call the store.
    // May be NULL.
    void (*log)(void *context, enum store_level level, const char *sentence);
    void *log_context;
};

// Receives every record, in order, while a store is opened. The bytes are borrowed. A status other
// than OK ends the opening.
struct store_visitor {
    enum status (*visit)(void *context, struct store_key key, struct slice bytes,
                         struct error *error);
    void *context;
};

// Opens the folder: creates it, or recovers from a crash. A torn tail, which was never
// acknowledged, is cut, and this is logged. Any other inconsistency is CORRUPT or UNSUPPORTED, with
// a message that says what and where; then nothing on disk has been changed. BUSY if another
// process has the folder open.
MUST_USE enum status store_open(const struct store_options *options,
                                const struct store_visitor *visitor, struct store **out,
                                struct error *error);

// Whether a folder contains a store, which may be damaged. If not, store_open creates one.
bool store_is_there(const char *path);

// Writes everything that was appended, updates the base and releases the folder. STATUS_OK: all of
// it is on disk. The store is freed in any case.
enum status store_close(struct store *store, struct error *error);

struct store_record {
    struct store_key key;
    struct slice bytes; // empty: the record is deleted
};

// Appends records that belong together, and returns their group. NO_MEMORY: nothing was appended,
// and the call may be repeated. IO or NO_SPACE: the store has failed (STORE_FAILED).
MUST_USE enum status store_append(struct store *store, const struct store_record *records,
                                  size_t count, uint64_t *group, struct error *error);

// Appends the changes of an engine since the last call. Without changes it returns the group that
// was appended last, which may be durable already; then no event follows. NO_MEMORY: the changes
// are not lost. The engine or the store keeps them, and the next call for any engine appends them.
// For changes that the store keeps, that call needs no memory once the journal has taken the
// gathering group.
MUST_USE enum status store_take(struct store *store, uint32_t space, struct engine *engine,
                                uint64_t *group, struct error *error);

// The last durable group. The numbers continue when the store is opened again.
uint64_t store_durable(const struct store *store);

// A descriptor that becomes readable when the result of store_durable or store_state may have
// changed since the last store_event_clear. The store owns it.
int store_event(const struct store *store);
void store_event_clear(const struct store *store);

// Waits until a group is durable. Any status but OK: it is not durable, and will not be.
MUST_USE enum status store_wait(struct store *store, uint64_t group, struct error *error);
// The same with a deadline in the time of monotonic_us. BUSY at the deadline: the group may still
// become durable.
MUST_USE enum status store_wait_until(struct store *store, uint64_t group, int64_t deadline_us,
                                      struct error *error);

// What the store accepts.
enum store_state {
    STORE_READY,
    // the disk is full, or there is no memory for the base: accept no new jobs, but changes to
    // existing jobs, and changes that free space; the reserve is used for these
    STORE_FULL,
    // accept nothing: the reserve is used up, and the journal is full. Accepted changes wait for
    // space
    STORE_STUCK,
    STORE_BUSY, // accept nothing for now: the disk is slow, or the journal is being enlarged
    // accept nothing: a write or a sync has failed, and changes that were not durable may be lost;
    // the process has to open the store again
    STORE_FAILED,
};

// The state, and why it is not READY. `why` may be NULL.
enum store_state store_state(struct store *store, struct error *why);

// How many bytes of records can be appended now and will be written even if the disk is full.
uint64_t store_room(struct store *store);

// Stops waiting for disk space: if the store is or becomes STUCK, it fails.
void store_give_up(struct store *store);

// Writes everything durable to the base.
MUST_USE enum status store_checkpoint(struct store *store, struct error *error);

// Makes a folder that can be opened as a store. It contains everything that was durable when the
// call began, and possibly later groups. The folder must not exist; it is made as `path`.part and
// renamed when it is complete.
MUST_USE enum status store_backup(struct store *store, const char *path, struct error *error);

// Figures since the opening. Times in microseconds.
struct store_figures {
    uint64_t groups, group_bytes, syncs;
    uint64_t sync_us, sync_us_max;              // of the journal
    uint64_t checkpoints, records_checkpointed; // transactions; images written to the base
    uint64_t checkpoint_us_max;                 // the longest transaction
    uint64_t compactions;                       // rewrites of the base
    uint64_t base_bytes, journal_bytes;         // on disk
    // of the base: allocated at any time; pages with records
    uint64_t base_used_bytes, base_live_bytes;
    uint64_t volume_free_bytes; // free space of the file system
    uint64_t groups_behind;     // durable, but not in the base yet
};

void store_figures(struct store *store, struct store_figures *out);

#endif
