// SPDX-License-Identifier: MIT
// The engine's state as records, each of which can be written and read on its own. A job has two:
// its body, with what seldom changes (data among it), and its head. docs/file-format.md has the
// bytes.
#ifndef SLUICE_ENGINE_RECORDS_RECORD_H
#define SLUICE_ENGINE_RECORDS_RECORD_H

#include "base/buffer.h"
#include "engine/engine.h"

struct bulk;
struct done_block;
struct lane;
struct limit_entry;
struct policy;
struct promise;
struct queue;
struct recurring;
struct request;
struct stats_day;
struct worker;
struct zone;

// In the order in which records are read: one kind after the other.
enum record_kind {
    RECORD_ENGINE = 1,     // the counters; id 0
    RECORD_CONFIG = 2,     // all options; id 0
    RECORD_LIMIT = 3,      // id: the limit's
    RECORD_POLICY = 4,     // id: the policy's
    RECORD_ZONE = 5,       // id: the zone's
    RECORD_QUEUE = 6,      // id: the queue's
    RECORD_STATS = 7,      // id: the queue's; extra: the day
    RECORD_LANE = 8,       // id: the lane's
    RECORD_WORKER = 9,     // id: the worker's
    RECORD_RECURRING = 10, // id: the recurring job's
    RECORD_BODY = 11,      // id: the job's
    RECORD_HEAD = 12,      // id: the job's
    RECORD_TRACKED = 13,   // all tracked jids; id 0
    RECORD_BULK = 14,      // id: the operation's
    RECORD_PROMISE = 15,   // id: the job's, which is gone; extra: the kind of the promise
    RECORD_DONE = 16,      // jids of complete jobs that are gone; id: the block's
    RECORD_REQUEST = 17,   // id: the request's
    RECORD_SERIES = 18,    // minutes of an hour; id: the queue's, 0 for all; extra: the hour
    RECORD_BULK_SET = 19,  // jobs of an operation; id: the operation's; extra: which of its chunks
    RECORD_END = 20,       // behind the last kind
    RECORD_TAG = 255,      // no record: the numbers of tags, for record_take_id
};

enum {
    // In the state of a head:
    HEAD_HAS_UPDATED = 0x80, // when it last changed follows
    HEAD_HAS_SETTLED = 0x40, // how it was settled last stands behind its history
    HEAD_HAS_LEASE = 0x20,   // the lease has a length of its own, which follows
    HEAD_FLAGS = HEAD_HAS_UPDATED | HEAD_HAS_SETTLED | HEAD_HAS_LEASE,

    OPTIONS_HAVE_LEASE = 0x80, // in the dependency policy of options: the length of leases follows
};

// What the record of a worker has behind its name.
enum worker_record_form {
    WORKER_RECORD_PLAIN = 1,  // as older versions write: when it was seen, its queues
    WORKER_RECORD_ORIGIN = 2, // also since when it is there, and where it runs
};

struct record_key {
    enum record_kind kind;
    uint64_t id;
    int64_t extra;
};

// In the byte of a recurring job's overlap: fields that the first version had not follow it.
enum {
    RECURRING_HAS_MORE = 0x80,
};

// Each appends a record's bytes. Errors stick in the buffer.
void record_write_engine(const struct engine *engine, struct buffer *out);
void record_write_config(const struct engine *engine, struct buffer *out);
void record_write_tracked(const struct engine *engine, struct buffer *out);
void record_write_queue(const struct queue *queue, struct buffer *out);
void record_write_stats(const struct stats_day *day, struct buffer *out);
void record_write_worker(const struct worker *worker, struct buffer *out);
void record_write_recurring(const struct engine *engine, const struct recurring *recurring,
                            struct buffer *out);
void record_write_body(const struct engine *engine, const struct job *job, struct buffer *out);
void record_write_head(const struct engine *engine, const struct job *job, struct buffer *out);
void record_write_limit(const struct limit_entry *entry, struct buffer *out);
void record_write_policy(const struct policy *policy, struct buffer *out);
void record_write_zone(const struct zone *zone, struct buffer *out);
void record_write_lane(const struct engine *engine, const struct lane *lane, struct buffer *out);
void record_write_bulk(const struct bulk *bulk, struct buffer *out);
void record_write_bulk_set(const uint64_t words[], struct buffer *out);
void record_write_done(const struct done_block *block, struct buffer *out);
void record_write_request(const struct request *request, struct buffer *out);
void record_write_promise(const struct promise *promise, struct buffer *out);

// Reads a record into an engine that is being loaded: all records of a kind, in any order, before
// those of the next. STATUS_CORRUPT when the bytes make no sense.
MUST_USE enum status record_read(struct engine *engine, struct record_key key, struct slice bytes,
                                 struct error *error);

// While an engine is loaded: notes that a number of that kind is taken. CORRUPT when it was before,
// is 0, or lies beyond `last`, the last one given out.
MUST_USE enum status record_take_id(struct engine *engine, enum record_kind kind, uint64_t id,
                                    uint64_t last);
struct slice record_id_key(const void *value);

// The end of loading, also when a record was refused: every body has its head, and every lane its
// place. What was loaded is no change.
MUST_USE enum status record_read_end(struct engine *engine, struct error *error);

#endif
