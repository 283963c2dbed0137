// SPDX-License-Identifier: MIT
// What happened lately, of a namespace and of each of its queues: how often jobs were put, popped,
// completed, failed, retried and lost, how many there were in each state, and how long they waited
// and ran. At three steps: the last 60 seconds, 60 spans of 15 seconds, and 1,440 minutes.
//
//                  first touch of a second: series_advance
//     open <-------------------------------------------------- (no series)
//      |  ^----------------- series_advance -----------+---------------+
//      |                                            |               |
//      +-- its minute is over --> idle -- 16 min --> asleep -- a day --> (no series)
//             series_close               frees the rings       frees the minutes
//
// Time is cut into seconds from the epoch on, and never goes back but by series_set_back. What
// happens counts for the second of the call in which it happens; what falls due for the one in which
// it was due. A period is closed by the first
// thing that happens after it; periods in which nothing happens are filled in when they are read.
// Only minutes are saved (RECORD_SERIES), when they are closed, and an hour of them is one record.
//
// Where there is no memory for it nothing is measured.
#ifndef SLUICE_ENGINE_MEASURE_SERIES_H
#define SLUICE_ENGINE_MEASURE_SERIES_H

#include "base/histogram.h"
#include "engine/engine.h"

struct queue;
struct series_live;

enum series_count {
    SERIES_PUT,       // puts, and jobs made by recurring ones
    SERIES_POPPED,    // runs that began
    SERIES_COMPLETED, // runs that completed, also those that went on to another queue
    SERIES_FAILED,
    SERIES_RETRIED, // given back to be tried again
    SERIES_LOST,    // leases that ran out
    SERIES_COUNTS,
};

// A stable word ("put").
const char *series_count_name(enum series_count count);

enum {
    SERIES_DEPTHS = JOB_STATE_COUNT - 1, // all states but complete
    SERIES_QUANTILES = 3,                // p50, p90, p99
    SERIES_PERIODS = 60,                 // of seconds, and of spans
    SERIES_MINUTES = 24 * 60,
    SERIES_SPAN_S = 15,
    SERIES_MINUTE_S = 60,
    SERIES_WINDOW_SPANS = SERIES_MINUTE_S / SERIES_SPAN_S,
    SERIES_HOUR_MINUTES = 60,
    SERIES_NO_BUCKET = 255, // of a quantile: there was no value
};

// What happened in one period. The quantiles are buckets of base/histogram.
struct series_point {
    uint32_t counts[SERIES_COUNTS];
    uint32_t depths[SERIES_DEPTHS]; // when the period ended
    uint8_t wait[SERIES_QUANTILES]; // from when a job could first run to its first run
    uint8_t run[SERIES_QUANTILES];  // runs that completed
};

// The place of a state among the depths. Complete has none.
static inline size_t series_depth_of(enum job_state state)
{
    return state < JOB_COMPLETE ? (size_t)state : SERIES_DEPTHS - 1;
}
_Static_assert(JOB_FAILED == JOB_COMPLETE + 1, "see series_depth_of");

// How long jobs waited and ran, in buckets of base/histogram.
struct series_times {
    uint64_t wait[HISTOGRAM_BUCKETS], run[HISTOGRAM_BUCKETS];
};

struct series_view {
    int64_t from_us;             // when the first period began
    size_t count;                // of the points
    struct series_point *points; // room for SERIES_MINUTES, the caller's
    struct series_times times;   // of the whole window: see engine_series
};

// The full periods of a step (1, SERIES_SPAN_S or SERIES_MINUTE_S seconds) that ended last, the
// oldest first, of a queue or with an empty name of all queues. The times are of the last minute,
// quarter of an hour or day, as of now: a window may reach back a quarter longer, that of a day an
// hour. A queue that does not exist has periods without anything. With the client clock jobs are
// counted by the states that they have.
MUST_USE enum status engine_series(struct engine *engine, int64_t now_us, struct slice queue,
                                   int64_t step_s, struct series_view *out, struct error *error);

// The bucket that a quantile lies in, SERIES_NO_BUCKET when all are empty.
uint8_t series_quantile(const uint64_t buckets[HISTOGRAM_BUCKETS], unsigned per_mille);

// How often each thing happened in the last 60 full seconds, and in the last one.
struct series_rates {
    uint32_t minute[SERIES_COUNTS], second[SERIES_COUNTS];
};
void engine_rates(const struct engine *engine, int64_t now_us, struct slice queue,
                  struct series_rates *out);

// Closes the minutes that are over, and frees what has long been idle: at most SERIES_SLICE queues.
// Says whether there is more. A host calls it now and then (every second, say); without that a
// minute is closed by what happens after it. Minutes that are closed are changes (changes.h).
enum {
    SERIES_SLICE = 128,
};
bool engine_series_close(struct engine *engine, int64_t now_us);

// The queues in which something happened in the last full second or since, the newest first.
// `*position` is NULL at first.
bool engine_changed_next(const struct engine *engine, int64_t now_us, const void **position,
                         struct slice *name);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

// Minutes of one hour, in the order in which they were closed. Those that are missing had nothing
// happen.
struct series_hour {
    struct series_hour *older;
    int64_t hour; // since the epoch
    bool dirty;
    uint8_t points;                 // how many minutes there are
    uint8_t last_minute;            // of the hour
    uint32_t before[SERIES_DEPTHS]; // when the first minute began
    struct series_bars *times;      // of all its minutes; owned; may be NULL
    uint8_t *bytes;                 // the minutes, see series_hours.c; owned
    size_t size, capacity;
};

enum series_list {
    SERIES_NOWHERE,
    SERIES_OPEN,
    SERIES_IDLE,
    SERIES_ASLEEP,
    SERIES_LISTS,
};

struct series {
    struct series *newer, *older; // in its list
    enum series_list list;
    struct queue *queue;                 // NULL: of the namespace
    int64_t second;                      // that is not over
    int64_t touched;                     // the last second in which anything happened
    struct series_live *live;            // the rings; NULL when idle; owned
    struct series_hour *hours;           // the newest first; owned
    struct series_hour *gone;            // dropped since the host last asked for changes
    uint32_t counts[SERIES_COUNTS];      // of that second
    uint32_t span_counts[SERIES_COUNTS]; // of the span that is not over, before that second
    uint32_t spans[SERIES_WINDOW_SPANS][SERIES_COUNTS]; // span s is at s % SERIES_WINDOW_SPANS
};

// Of an engine.
struct series_all {
    int64_t second;       // of the call; -1 before the first
    int64_t next_us;      // when the next one begins
    struct series *whole; // of the namespace; NULL until something happens
    struct {
        struct series *newest, *oldest; // by when they were touched
    } lists[SERIES_LISTS];
    size_t bytes; // of all minutes
    bool dirty;   // the minutes of the namespace
};

// What happens from now on happens at that time.
void series_begin(struct engine *engine, int64_t now_us);

// The first thing in a second is about to happen in a queue.
void series_advance(struct engine *engine, struct queue *queue);

// About how often a thing happened in the last minute: in the span that is not over and the four
// before it. For an order, at the cost of few reads; of a series or NULL.
uint64_t series_recent(const struct engine *engine, int64_t now_us, const struct series *series,
                       enum series_count what);

// Adds to what happens in a queue, after series_touch.
void series_count(struct engine *engine, struct queue *queue, enum series_count what);
void series_time(struct engine *engine, struct queue *queue, bool run, size_t bucket);

// The host's clock was set back to that time: forgets what was measured later.
void series_set_back(struct engine *engine, int64_t to_us);

void series_free(struct engine *engine, struct series *series);

// The series of a queue, or with NULL of the namespace, made if need be; NULL without memory.
struct series *series_acquire(struct engine *engine, struct queue *queue);

// Whether the lists of series are sound; for the consistency check.
bool series_check(const struct engine *engine);

// A period in which nothing happened.
struct series_point series_idle_point(const uint32_t depths[SERIES_DEPTHS]);

// -- series_hours.c

// Adds a closed minute. It is merged with the last one when it is not after it.
void series_hours_add(struct engine *engine, struct series *series, int64_t minute,
                      const struct series_point *given, const uint32_t before[SERIES_DEPTHS],
                      const struct series_times *times);
// Drops the hours that end before that minute; says so if the host wants to know.
void series_hours_drop(struct engine *engine, struct series *series, int64_t minute);
// Drops those from an hour on.
void series_hours_drop_from(struct engine *engine, struct series *series, int64_t hour);
void series_hours_free(struct engine *engine, struct series_hour *hour);
// The host was told of the hours that are gone.
void series_hours_forget_gone(struct engine *engine, struct series *series);
// Writes the points of the minutes from `minute` on into `out`, of which `present` is set.
void series_hours_read(const struct series *series, int64_t minute, size_t count,
                       struct series_point *out, bool *present);
// Adds the times of the hours that end after that minute.
void series_hours_times(const struct series *series, int64_t minute, struct series_times *out);

struct buffer;
void series_hour_write(const struct series_hour *hour, struct buffer *out);
// Adds an hour that was saved. CORRUPT when the bytes make no sense.
MUST_USE enum status series_hour_load(struct engine *engine, struct series *series, int64_t hour,
                                      struct slice bytes);

// The values of some buckets, the others being empty.
struct series_bars {
    size_t wait_count, run_count;
    uint64_t bars[]; // the count, and in the low 8 bits the bucket; first those of wait
};
// NULL when there are none, or no memory.
struct series_bars *series_bars_new(struct engine *engine, const struct series_times *times);
void series_bars_free(struct engine *engine, struct series_bars *bars);
void series_bars_add(const struct series_bars *bars, struct series_times *out);

#endif
