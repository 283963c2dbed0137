// SPDX-License-Identifier: MIT
// A lane: the jobs of one queue that share a domain, and what limits them. Each queue has a default
// lane for jobs without a domain; the others live as long as they have jobs in line, leases, or
// have not yet got back what their rate allows.
//
//                    first job in line                        a token is there (due_run)
//        RESTING ------------------------> READY <-------------------------------------- LIMITED
//           ^  ^                           |  ^  |                                         ^
//           |  +------- last job leaves ---+  |  +------ pop took the last token ----------+
//           |                                 |
//           +---- NOWHERE: has as many leases as it may, or nothing in line and a full bucket
//
// lanes_settle puts each lane that was touched where it belongs.
#ifndef SLUICE_ENGINE_LANES_LANE_H
#define SLUICE_ENGINE_LANES_LANE_H

#include "engine/engine.h"
#include "engine/lanes/limit.h"

#include "base/index.h"
#include "base/intern.h"

struct queue;

enum {
    LANES_AT_ONCE = 1000, // that new limits are applied to within the call that sets them
};

enum lane_place {
    LANE_NOWHERE,
    LANE_READY,   // by its first job's place in line; in a fair queue by its turn
    LANE_LIMITED, // by when its first job may run
    LANE_RESTING, // nothing in line: by when its bucket is full
    LANE_PLACES,
};

struct lane {
    struct index_node node; // in its queue's index of lanes in that place
    struct index line;      // WAITING and STALLED; see line_key
    struct queue *queue;
    struct {
        uint64_t queue;  // its number
        uint64_t domain; // a name, or INTERN_NONE for the default lane
    } key;
    struct lane *next, *previous; // all lanes; those first that new limits are to be applied to
    struct lane *touched_next;
    struct lane *dirty_next;
    uint64_t version; // of the limits that were applied
    // The bucket: what was in it at a time, in units of which a token has `rate_period_us`.
    int64_t level;
    int64_t level_us;
    uint64_t turn;
    size_t running; // leases
    size_t counted; // for the consistency check alone
    // What holds for it; 0: no limit.
    int64_t rate_count, rate_period_us, burst, concurrency;
    int64_t weight;
    // Which limits these are, what their use has of this lane, and which of them holds up its line.
    struct limit_sources limits;
    struct {
        size_t waiting, running;
    } used;
    struct limit_entry *held_by; // NULL: none
    struct index_node listed;    // among all lanes of its queue; the default lane is not
    struct index_node saved;     // among the lanes that have a record; its key's low half is the id
    uint64_t id;                 // 0: nothing of it is worth a record
    uint8_t place;
    bool fair; // its turn counts
    bool touched, dirty, gone;
};

static inline struct lane *lane_of_node(struct index_node *node)
{
    return (struct lane *)(void *)node; // it is the first member
}

static inline struct lane *lane_of_listed(struct index_node *node)
{
    return (struct lane *)(void *)((char *)node - offsetof(struct lane, listed));
}

static inline struct lane *lane_of_saved(struct index_node *node)
{
    return (struct lane *)(void *)((char *)node - offsetof(struct lane, saved));
}

struct slice lane_key(const void *lane);

void lane_init(struct engine *engine, struct lane *lane, struct queue *queue, uint32_t domain);
// Takes a lane that has no jobs out of everything; or frees all but the default lanes.
void lane_release(struct engine *engine, struct lane *lane);
void lanes_free_all(struct engine *engine);
void lane_free_shell(struct engine *engine, struct lane *lane);

// The lane of a queue for a domain, or NULL; made if need be.
struct lane *lane_find(const struct engine *engine, struct queue *queue, uint32_t domain);
MUST_USE enum status lane_acquire(struct engine *engine, struct queue *queue, uint32_t domain,
                                  struct lane **out);

// Room for a lane to change its place once in this call. Then the change that makes it do so.
MUST_USE enum status lane_reserve(struct engine *engine, struct lane *lane);
void lane_touch(struct engine *engine, struct lane *lane);

// Makes room for one more job in line; then the job comes into the line, or leaves it.
MUST_USE enum status line_reserve(struct engine *engine, struct queue *queue, uint32_t domain);
void line_insert(struct engine *engine, struct job *job);
void line_remove(struct engine *engine, struct job *job);
// The job, which is in line, goes to another place in it. Room must have been reserved.
void line_move(struct engine *engine, struct job *job, struct index_key key);

// The lane that is to be served next, or NULL; and that a run of its first job begins. False when
// there is no token after all (the clock went back).
struct lane *lane_next(const struct queue *queue);
MUST_USE bool lane_take(struct engine *engine, struct lane *lane);

// When the lane's first job may run as far as its rate goes, with `behind` others before it.
int64_t lane_ready_us(const struct engine *engine, const struct lane *lane, int64_t now_us,
                      uint64_t behind);

// How many runs the lane's rate allows at once now; 0 without a rate.
int64_t lane_tokens(const struct lane *lane, int64_t now_us);

// Adds to the use of its limits what the lane uses now, in place of what it used before.
void lane_count_use(struct lane *lane);

// How many more leases the lane may have; SIZE_MAX: there is no limit.
static inline size_t lane_room(const struct lane *lane)
{
    size_t limit = lane->concurrency > 0 ? (size_t)lane->concurrency : SIZE_MAX;
    return limit == SIZE_MAX ? SIZE_MAX : lane->running < limit ? limit - lane->running : 0;
}

// In a fair queue: the turn in which the lane is served once more after it was served so many times
// at this instant.
uint64_t lane_turn(const struct lane *lane, size_t served);

// A lane that is not there, as it is when its first job comes. It is in nothing, and never freed.
void lane_imagine(const struct engine *engine, struct lane *lane, struct queue *queue,
                  uint32_t domain);

// With the client clock: brings lanes whose time has come back to those that may run.
MUST_USE enum status lanes_move_due(struct engine *engine, struct queue *queue, int64_t now_us);

// The lane has got its token.
MUST_USE enum status lane_due(struct engine *engine, struct lane *lane);

// The limits have changed: brings up to `count` lanes into line with them, the others later.
void lanes_refresh(struct engine *engine, size_t count);

// The engine's time is to be set: room for all lanes to change their places. Then their buckets
// keep what is in them; to be followed by lanes_settle.
MUST_USE enum status lanes_reserve_shift(struct engine *engine);
void lanes_shift(struct engine *engine, int64_t change_us);

// Puts the lanes that were touched where they belong, and frees those that are nothing any more.
void lanes_settle(struct engine *engine);

// Whether a lane is where it belongs; for the consistency check.
bool lane_check(const struct engine *engine, const struct lane *lane);

// The end of loading, while which lanes are left where they are: puts them all where they belong.
MUST_USE enum status lanes_load_end(struct engine *engine);

// What the record of a lane says. The rate is the one that its bucket was filled by: new limits may
// not have reached the lane yet.
struct lane_record {
    struct limit rate;
    int64_t level, level_us;
    uint64_t turn;
};

// A lane gets back what its record said. CORRUPT when that cannot be.
MUST_USE enum status lane_load(struct engine *engine, struct lane *lane, uint64_t id,
                               const struct lane_record *record);

// The call failed: frees the lanes of a queue that were made for it.
void lanes_abandon(struct engine *engine, struct queue *queue);

#endif
