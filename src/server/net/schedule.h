// SPDX-License-Identifier: MIT
// Which connection is served next, and for how long. The loop works in turns (server.h); a turn
// ends when its time or its bytes are used up, and within it each connection may use a share of the
// time before the others go on.
//
// Connections that have something to do and could not be served at once stand in one of two queues:
// those whose last request took much longer than a share, and all others. When both have
// connections, they get the same time, so that a cheap request waits for one expensive request at
// most, however many connections have those.
//
// Within a queue it is first come first served, but for connections that have used more than the
// others: each has the time that it has used as a mark on the queue's virtual clock, and one whose
// mark is more than a share ahead of that clock is passed over. When all are, the clock goes on to
// the least mark. So no time is wasted, and connections that always have something to do get the
// same time.
//
// A request that has begun is not interrupted: one that takes longer than a share is charged for it
// afterwards. The clock is read once a request.
#ifndef SLUICE_SERVER_NET_SCHEDULE_H
#define SLUICE_SERVER_NET_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a connection has of it.
struct schedule_entry {
    struct schedule_entry *next; // in the queue
    bool queued;
    bool expensive;  // its last request took much longer than a share
    int64_t mark_us; // on the virtual clock of its queue: what it has used
};

struct schedule_queue {
    struct schedule_entry *first, **last;
    size_t count;
    int64_t clock_us; // virtual
    int64_t used_us;  // by its connections; of the two queues the one that has used less goes on
};

struct schedule {
    int64_t (*clock_us)(void);
    struct schedule_queue queues[2]; // of cheap and of expensive ones
    struct schedule_entry *front;    // goes first in the next turn, or NULL
    int64_t now_us;                  // the monotonic clock when it was last read
    int64_t turn_us;                 // how long a turn may take
    int64_t turn_end_us;             // when this one ends; 0: it has not begun
    int64_t began_us;                // when the connection that is being served began
    int64_t share_end_us;
    uint64_t bytes_left; // of requests that may still be begun in this turn
    uint64_t turns_cut;  // turns that ended because their time was used up
    bool cut;
};

// `clock_us` is the clock that it reads.
void schedule_init(struct schedule *schedule, int64_t (*clock_us)(void));

// A new turn, which may take on so many bytes. Its time begins with the first use of it.
void schedule_new_turn(struct schedule *schedule, int64_t turn_us, uint64_t bytes);

// Whether the turn has time and bytes left.
bool schedule_has_turn(struct schedule *schedule);

// Whether a connection may be served at once: no other one waits, the turn has room, and the
// connection has not used more than its share already.
bool schedule_is_free(struct schedule *schedule, const struct schedule_entry *entry);

// A connection is served from now on; and no longer: it is charged for the time up to when the
// clock was last read.
void schedule_begin(struct schedule *schedule);
void schedule_end(struct schedule *schedule, struct schedule_entry *entry);

// Something else was done for a connection, which took so long.
void schedule_charge(struct schedule *schedule, struct schedule_entry *entry, int64_t used_us);

// Whether the connection that is being served may go on with another request.
static inline bool schedule_goes_on(const struct schedule *schedule)
{
    return schedule->bytes_left > 0 && schedule->now_us < schedule->share_end_us;
}

// Reads the clock.
int64_t schedule_now(struct schedule *schedule);

// How many connections wait.
static inline size_t schedule_count(const struct schedule *schedule)
{
    return schedule->queues[0].count + schedule->queues[1].count + (schedule->front != NULL);
}

// So many bytes of requests were run.
static inline void schedule_spend(struct schedule *schedule, size_t size)
{
    schedule->bytes_left -= size < schedule->bytes_left ? size : schedule->bytes_left;
}

// A connection waits for its turn. It must not be in the queue.
void schedule_add(struct schedule *schedule, struct schedule_entry *entry);

// The same for one whose request is too large for what is left of this turn: the turn ends, and it
// goes first in the next one, so that no other request shares a turn with it. When there is such a
// one already it waits like others.
void schedule_add_alone(struct schedule *schedule, struct schedule_entry *entry);

// The next one, which is in the queue no more; NULL: none, or the turn is used up.
struct schedule_entry *schedule_next(struct schedule *schedule);

// The first one, whatever it has used and whatever the turn has left; NULL: none.
struct schedule_entry *schedule_take(struct schedule *schedule);

#endif
