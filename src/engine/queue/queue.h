// SPDX-License-Identifier: MIT
// A queue: the line of its jobs that are ready, and the indexes of its other jobs.
//
// A queue is known (listed) from its first job until it is forgotten. The struct lives as long as
// the queue is known or paused, or has jobs, recurring jobs, lanes, listeners or statistics.
#ifndef SLUICE_ENGINE_QUEUE_QUEUE_H
#define SLUICE_ENGINE_QUEUE_QUEUE_H

#include "engine/engine.h"
#include "engine/lanes/lane.h"
#include "engine/measure/tally.h"

#include "base/index.h"

struct series;
struct stats_day;

struct queue {
    struct index_node
        order;             // in the engine's list of known queues, or of those with listeners only
    struct index_node all; // in the engine's list of all queues
    // The fields that an ordered list of queues reads, close together in memory.
    uint64_t id;           // in the order in which the engine first saw them
    int64_t series_second; // in which something last happened; -1 for none
    int64_t oldest_second; // in which `oldest_us` was found; -1 when it was not
    int64_t oldest_us;     // see struct queue_view
    struct {
        bool has_age, has_rates;
        int64_t oldest_us;
        uint64_t put, completed;
    } ordered;             // by what ordered lists order it, found a few of them ago
    struct series *series; // NULL when nothing happened lately
    struct tallies tallies;
    bool known;
    bool heard;         // not known, and has listeners: in the engine's list of such queues
    struct lane plain;  // the default lane, with the jobs in line that have no domain
    struct index laned; // the jobs in line that have one; see line_key
    struct index lanes[LANE_PLACES];
    struct index lanes_listed;   // all but the default lane, by the numbers of their domains
    size_t lane_count;           // but the default lane
    uint64_t clock;              // of the turns, in a fair queue
    struct index scheduled;      // by when they are due
    struct index leased;         // by when the lease ends, or with the client clock also the grace
    struct index grace;          // with the server clock: by when the grace ends
    struct index depends;        // by when they came
    struct index recurring;      // by when the next job is due
    struct index deadlines;      // of jobs not started yet
    struct index complete;       // by when they were completed
    struct index failed;         // by when they failed
    struct metrics *metrics;     // NULL until something was measured
    struct stats_day *days;      // the newest first
    struct stats_day *days_gone; // dropped since the host last asked for changes
    uint32_t name_id;            // its name among the names
    int64_t first_seen_us;       // since when it is known
    int64_t paused_us;           // since when it is paused; 0 when that is not known
    // As configured.
    bool has_heartbeat; // otherwise the engine's holds
    int64_t heartbeat_us;
    int64_t concurrency_max; // 0 or below: none
    int64_t jobs_max;        // 0 or below: the host's limit; the same for bytes_max
    int64_t bytes_max;
    bool fair;
    bool lanes_count; // pop must consider lanes; otherwise it takes the first job in line
    bool collects;    // lanes without jobs whose bucket is full are to be freed
    // For the engine's heap of what is due.
    int64_t due_us;
    size_t due_position;
    // With the client clock: when a tick last woke the waiters of the queue, and what was first
    // due.
    int64_t looked_us;
    struct index_key looked_key;
    struct {
        size_t failed;
        uint64_t bytes;
        size_t listeners;
        size_t states[TALLY_PARTS];
    } counted;              // for the consistency check alone
    size_t jobs;            // that are not complete
    uint64_t bytes;         // of their data
    struct index listeners; // workers
    struct queue *dirty_next;
    bool dirty;
    bool paused;
    bool watched; // by its name (engine_watch)
    uint8_t name_size;
    char name[];
};

static inline struct slice queue_name(const struct queue *queue)
{
    return slice_make(queue->name, queue->name_size);
}

static inline struct queue *queue_of_order(struct index_node *node)
{
    return (struct queue *)(void *)((char *)node - offsetof(struct queue, order));
}

static inline struct queue *queue_of_all(struct index_node *node)
{
    return (struct queue *)(void *)((char *)node - offsetof(struct queue, all));
}

// NULL when there is no such queue.
struct queue *queue_find(const struct engine *engine, struct slice name);

// The queue with that number, or NULL.
struct queue *queue_by_id(const struct engine *engine, uint64_t id);

// The queue with that name, created if it does not exist. The caller calls queue_abandon when its
// operation fails.
MUST_USE enum status queue_acquire(struct engine *engine, struct slice name, struct queue **out,
                                   struct error *error);

// How many leases the queue has, those in their grace period included; with the client clock,
// expired ones are not counted. And how many more it may have; SIZE_MAX: there is no limit.
size_t queue_running(const struct engine *engine, const struct queue *queue, int64_t now_us);
size_t queue_room(const struct engine *engine, const struct queue *queue, int64_t now_us);

// Whether the queue can be freed: nothing refers to it.
bool queue_is_unused(const struct queue *queue);

// Frees the queue if nothing refers to it; if changes are kept, after the host has taken them.
void queue_settle(struct engine *engine, struct queue *queue);

// For a call that has acquired the queue and fails: if the call created it, frees it and takes its
// number back.
void queue_abandon(struct engine *engine, struct queue *queue);

// Reserves room in the list of known queues; queue_make_known then inserts the queue.
MUST_USE enum status queue_reserve_known(struct engine *engine, struct queue *queue);
void queue_make_known(struct engine *engine, struct queue *queue, int64_t now_us);

// Called when the queue became known or unknown, or its listeners changed: puts it into the list of
// queues that are not known and have listeners, or takes it out. Room must have been reserved.
void queue_listened_changed(struct engine *engine, struct queue *queue);

void queue_set_paused(struct engine *engine, struct queue *queue, bool paused, int64_t when_us);

// With the client clock: moves the scheduled jobs that are due into the line, as calls that read a
// queue do.
MUST_USE enum status queue_move_scheduled(struct engine *engine, struct queue *queue,
                                          int64_t now_us);

// With the client clock: how many leases have expired by `now_us`. They are the first ones.
size_t queue_run_out(const struct queue *queue, int64_t now_us);

// Marks the record of the queue as changed.
void queue_changed(struct engine *engine, struct queue *queue);

// Frees a queue even if something refers to it.
void queue_free(struct engine *engine, struct queue *queue);

// A key in a line. Stalled jobs come first: those whose lease was lost, then those whose lease was
// ended. All waiting jobs follow by priority; among equals the order is that of the times, then of the
// ids. A job is in the class LINE_WAITING exactly when its state is waiting.
enum line_class {
    LINE_LOST,
    LINE_TIMED_OUT,
    LINE_WAITING,
};
struct index_key line_key(enum line_class line_class, int32_t priority, int64_t time_us,
                          uint64_t id);
// The lowest key of a waiting job: all stalled jobs are below it.
struct index_key line_key_waiting(void);

// A key in an index that is ordered by time.
struct index_key time_key(int64_t time_us, uint64_t id);
int64_t time_of_key(struct index_key key);

// The key below which all keys of an index ordered by time are not later than `time_us`.
struct index_key time_key_after(int64_t time_us);

// The time in a line's key, and the class. Of the two lowest priorities the time is cut to 16 us.
int64_t line_time(struct index_key key);
enum line_class line_class_of(struct index_key key);

#endif
