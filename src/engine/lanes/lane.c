// SPDX-License-Identifier: MIT
// Invariants between two calls: a waiting job with a domain is in its queue's `laned` and in its
// lane's line, under the same key; one without a domain is in the default lane's line. A lane is in
// the index of its queue that `place` names, under a key that follows from its first job, its turn
// and its bucket. `running` is the number of leases of the lane.
//
// A bucket is updated only when a token is taken, when the limits change, or when a job enters an
// empty line. In between level_us and level describe it, so that reading a lane changes nothing.
//
// A pop comes later than its token: because of the host's timer, the network, and the worker's
// previous job. A full bucket would lose the tokens of that time while jobs wait, and the rate
// would be too low. So a token that is taken up to `rate-catch-up` after the bucket was full is
// dated by the time at which it was full: level_us is then in the past. A worker that comes later
// finds a full bucket and no more.
#include "engine/lanes/lane.h"

#include "engine/due.h"
#include "engine/job/job.h"
#include "engine/lanes/limit.h"
#include "engine/lanes/watch.h"
#include "engine/page.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include "base/hash.h"

#include <assert.h>

enum {
    TURN_SCALE = 720720, // divisible by 1 to 16
    COLLECT_SLICE = 2,   // resting lanes that are visited when a lane has changed
};

struct slice lane_key(const void *lane)
{
    const struct lane *of = lane;
    return slice_make(&of->key, sizeof(of->key));
}

// Updates whether pop must consult the lanes of a queue. Otherwise it takes the first waiting job.
static void see_whether_lanes_count(struct queue *queue)
{
    const struct lane *plain = &queue->plain;
    queue->lanes_count =
        queue->lane_count || queue->fair || plain->rate_count || plain->concurrency;
}

// ---------------------------------------------------------------------------------------------
// The bucket

static int64_t full_level(const struct lane *lane)
{
    return lane->burst * lane->rate_period_us;
}

static int64_t level_at(const struct lane *lane, int64_t now_us)
{
    int64_t full = full_level(lane);
    if (now_us <= lane->level_us || lane->level >= full) {
        return lane->level;
    }
    int64_t passed_us = now_us - lane->level_us, room = full - lane->level;
    return passed_us > room / lane->rate_count ? full : lane->level + passed_us * lane->rate_count;
}

static bool is_full(const struct lane *lane, int64_t now_us)
{
    return lane->rate_count == 0 || level_at(lane, now_us) >= full_level(lane);
}

static int64_t full_us(const struct lane *lane)
{
    assert(lane->rate_count > 0);
    int64_t room = full_level(lane) - lane->level;
    int64_t wait_us = room / lane->rate_count + (room % lane->rate_count != 0);
    return wait_us > INT64_MAX - lane->level_us ? INT64_MAX : lane->level_us + wait_us;
}

// Whether the bucket has been full for so short a time that later tokens are not lost.
static bool catches_up(const struct engine *engine, const struct lane *lane, int64_t now_us)
{
    if (lane->level >= full_level(lane)) {
        return false; // a full bucket has no time
    }
    int64_t was_full_us = full_us(lane);
    return was_full_us <= now_us && now_us - was_full_us <= engine->config.rate_catch_up_us;
}

// The time from which the bucket fills if a token is taken now. With the client clock, time may
// have gone back; a bucket that was full has no time yet.
static int64_t counts_from(const struct lane *lane, int64_t now_us)
{
    return now_us > lane->level_us || lane->level >= full_level(lane) ? now_us : lane->level_us;
}

// When the bucket has a token in addition to `tokens` others, which may exceed its capacity: then
// as if it did not.
static int64_t time_of_level(const struct engine *engine, const struct lane *lane, int64_t now_us,
                             uint64_t tokens)
{
    int64_t level = catches_up(engine, lane, now_us)
                        ? lane->level + (now_us - lane->level_us) * lane->rate_count
                        : level_at(lane, now_us);
    int64_t missing = lane->rate_period_us - level;
    int64_t from_us = counts_from(lane, now_us);
    if (tokens > (uint64_t)((INT64_MAX / 2 - lane->rate_period_us) / lane->rate_period_us)) {
        return INT64_MAX;
    }
    missing += (int64_t)tokens * lane->rate_period_us;
    if (missing <= 0) {
        return now_us;
    }
    int64_t wait_us = missing / lane->rate_count + (missing % lane->rate_count != 0);
    return wait_us > INT64_MAX - from_us ? INT64_MAX : from_us + wait_us;
}

int64_t lane_ready_us(const struct engine *engine, const struct lane *lane, int64_t now_us,
                      uint64_t behind)
{
    return lane->rate_count == 0 ? now_us : time_of_level(engine, lane, now_us, behind);
}

// Takes a token out of a bucket that has one.
static void take_token(const struct engine *engine, struct lane *lane, int64_t now_us)
{
    assert(lane->rate_count > 0 && lane->rate_period_us > 0);
    int64_t level = level_at(lane, now_us), from_us = counts_from(lane, now_us);
    if (catches_up(engine, lane, now_us)) {
        from_us = full_us(lane);
        // Not limited to the full level: fractions of a microsecond count too.
        level = lane->level + (from_us - lane->level_us) * lane->rate_count;
    }
    level -= lane->rate_period_us;
    lane->level = level < full_level(lane) ? level : full_level(lane);
    lane->level_us = from_us;
}

// Called before a job enters an empty line: tokens that did not fit into the full bucket are lost.
static void forget_lateness(const struct engine *engine, struct lane *lane)
{
    if (lane->rate_count && is_full(lane, engine->call_us)) {
        lane->level = full_level(lane);
        lane->level_us = 0;
    }
}

static uint64_t step_of(const struct lane *lane)
{
    return TURN_SCALE / (uint64_t)lane->weight;
}

// A lane whose turn has passed is served at once, and its next turn is after the clock.
uint64_t lane_turn(const struct lane *lane, size_t served)
{
    uint64_t clock = lane->queue->clock;
    // A lane without jobs gets its turn with its first job.
    uint64_t turn = lane->line.count ? lane->turn : clock + step_of(lane);
    return served ? (turn > clock ? turn : clock) + served * step_of(lane) : turn;
}

// ---------------------------------------------------------------------------------------------
// Limits

static void list_append(struct engine *engine, struct lane *lane)
{
    lane->previous = engine->lanes_last;
    lane->next = NULL;
    *(lane->previous ? &lane->previous->next : &engine->lanes_first) = lane;
    engine->lanes_last = lane;
}

static void list_prepend(struct engine *engine, struct lane *lane)
{
    lane->previous = NULL;
    lane->next = engine->lanes_first;
    *(lane->next ? &lane->next->previous : &engine->lanes_last) = lane;
    engine->lanes_first = lane;
}

static void list_remove(struct engine *engine, struct lane *lane)
{
    *(lane->previous ? &lane->previous->next : &engine->lanes_first) = lane->next;
    *(lane->next ? &lane->next->previous : &engine->lanes_last) = lane->previous;
}

static bool is_unused(const struct lane *lane)
{
    return lane->line.count == 0 && lane->running == 0;
}

static bool has_rate(const struct lane *lane, const struct limit *limit)
{
    return lane->rate_count == limit->rate_count && lane->rate_period_us == limit->rate_period_us &&
           lane->burst == limit->burst;
}

static void take_rate(struct lane *lane, const struct limit *limit)
{
    lane->rate_count = limit->rate_count;
    lane->rate_period_us = limit->rate_period_us;
    lane->burst = limit->burst;
}

static void set_rate(const struct engine *engine, struct lane *lane, const struct limit *limit)
{
    bool had = lane->rate_count > 0;
    if (had && has_rate(lane, limit)) {
        return;
    }
    // An unused lane with a full bucket is equivalent to a new one.
    bool fresh = !had || (is_unused(lane) && is_full(lane, engine->call_us));
    int64_t tokens = fresh ? limit->burst : level_at(lane, engine->call_us) / lane->rate_period_us;
    tokens = tokens < limit->burst ? tokens : limit->burst;
    take_rate(lane, limit);
    lane->level = lane->rate_count ? tokens * lane->rate_period_us : 0;
    // A full bucket has no time, so that the time at which the lane was made has no influence.
    lane->level_us = lane->level >= full_level(lane) ? 0 : engine->call_us;
}

// Adds what the lane uses to each of its limits, or takes it away.
static void add_use(struct lane *lane, bool add)
{
    for (enum limit_kind kind = LIMIT_RATE; kind < LIMIT_KINDS; kind++) {
        struct limit_entry *limit = lane->limits.of[kind];
        if (!limit_is_first(&lane->limits, kind)) {
            continue;
        }
        size_t held = limit == lane->held_by ? lane->used.waiting : 0;
        if (add) {
            limit->use.waiting += lane->used.waiting;
            limit->use.running += lane->used.running;
            limit->use.held += held;
        } else {
            limit->use.waiting -= lane->used.waiting;
            limit->use.running -= lane->used.running;
            limit->use.held -= held;
        }
    }
}

void lane_count_use(struct lane *lane)
{
    add_use(lane, false);
    lane->used.waiting = lane->line.count;
    lane->used.running = lane->running;
    lane->held_by = lane->line.count == 0         ? NULL
                    : lane_room(lane) == 0        ? lane->limits.of[LIMIT_CONCURRENCY]
                    : lane->place == LANE_LIMITED ? lane->limits.of[LIMIT_RATE]
                                                  : NULL;
    add_use(lane, true);
}

// A limit that allows any number is none for a lane, and so is a weight in a queue that is not fair.
static void set_sources(struct engine *engine, struct lane *lane,
                        const struct limit_sources *sources)
{
    const struct limit_sources before = lane->limits;
    const bool holds[LIMIT_KINDS] = { [LIMIT_RATE] = lane->rate_count > 0,
                                      [LIMIT_CONCURRENCY] = lane->concurrency > 0,
                                      [LIMIT_WEIGHT] = lane->fair };
    add_use(lane, false);
    lane->used.waiting = lane->used.running = 0;
    lane->held_by = NULL;
    for (enum limit_kind kind = LIMIT_RATE; kind < LIMIT_KINDS; kind++) {
        lane->limits.of[kind] = sources && holds[kind] ? sources->of[kind] : NULL;
        if (lane->limits.of[kind]) {
            limit_share(lane->limits.of[kind]);
        }
    }
    for (enum limit_kind kind = LIMIT_RATE; kind < LIMIT_KINDS; kind++) {
        if (before.of[kind]) {
            limit_drop(engine, before.of[kind]);
        }
    }
    lane_count_use(lane);
}

static void apply_limits(struct engine *engine, struct lane *lane)
{
    struct limit limit;
    struct limit_sources sources;
    struct slice domain = intern_get(&engine->names, (uint32_t)lane->key.domain);
    limits_find(engine, queue_name(lane->queue), domain, &limit, &sources);
    set_rate(engine, lane, &limit);
    lane->concurrency = limit.concurrency;
    lane->weight = limit.weight;
    if (lane->queue->fair && !lane->fair) {
        lane->turn = lane->queue->clock + step_of(lane);
    }
    lane->fair = lane->queue->fair;
    lane->version = engine->limits_version;
    set_sources(engine, lane, &sources);
    see_whether_lanes_count(lane->queue);
}

void lane_imagine(const struct engine *engine, struct lane *lane, struct queue *queue,
                  uint32_t domain)
{
    struct limit limit;
    limits_find(engine, queue_name(queue), intern_get(&engine->names, domain), &limit, NULL);
    *lane = (struct lane){ .queue = queue, .weight = limit.weight };
    lane->concurrency = limit.concurrency;
    set_rate(engine, lane, &limit);
}

void lanes_refresh(struct engine *engine, size_t count)
{
    for (; count > 0; count--) {
        struct lane *lane = engine->lanes_first;
        if (!lane || lane->version == engine->limits_version || lane_reserve(engine, lane)) {
            break;
        }
        apply_limits(engine, lane);
        list_remove(engine, lane);
        list_append(engine, lane);
        lane_touch(engine, lane);
        engine_settle(engine);
    }
    engine_settle(engine);
}

// ---------------------------------------------------------------------------------------------
// Creating and freeing lanes

void lane_init(struct engine *engine, struct lane *lane, struct queue *queue, uint32_t domain)
{
    *lane = (struct lane){ .queue = queue, .key = { queue->id, domain }, .weight = 1 };
    index_init(&lane->line, &engine->pool);
    list_append(engine, lane);
    apply_limits(engine, lane);
}

static void leave_place(struct lane *lane)
{
    if (lane->place != LANE_NOWHERE) {
        index_remove(&lane->queue->lanes[lane->place], &lane->node);
        lane->place = LANE_NOWHERE;
    }
}

static void unlist_touched(struct engine *engine, struct lane *lane)
{
    struct lane **at = &engine->lanes_touched;
    while (lane->touched && *at != lane) {
        at = &(*at)->touched_next;
    }
    if (lane->touched) {
        *at = lane->touched_next;
        lane->touched = false;
    }
}

static void changed(struct engine *engine, struct lane *lane)
{
    ENGINE_NOTE_CHANGE(engine, dirty_lanes, lane);
}

void lane_release(struct engine *engine, struct lane *lane)
{
    leave_place(lane);
    unlist_touched(engine, lane);
    set_sources(engine, lane, NULL);
    list_remove(engine, lane);
    index_release(&lane->line);
    if (lane->id) {
        index_remove(&engine->lanes_saved, &lane->saved);
    }
}

void lane_free_shell(struct engine *engine, struct lane *lane)
{
    slab_give(&engine->lane_slab, lane);
}

static void lane_free(struct engine *engine, struct lane *lane)
{
    assert(lane != &lane->queue->plain && lane->queue->lane_count > 0);
    assert(lane->line.count == 0 && !lane->gone);
    lane_release(engine, lane);
    lane->queue->lane_count--;
    index_remove(&lane->queue->lanes_listed, &lane->listed);
    see_whether_lanes_count(lane->queue);
    map_remove(&engine->lanes, lane_key(lane));
    intern_drop(&engine->names, (uint32_t)lane->key.domain);
    lane->gone = true;
    if (lane->id) {
        changed(engine, lane);
    }
    if (!lane->dirty) {
        lane_free_shell(engine, lane);
    }
}

void lanes_free_all(struct engine *engine)
{
    struct lane *next;
    while (engine->lanes_touched) {
        engine->lanes_touched->touched = false;
        engine->lanes_touched = engine->lanes_touched->touched_next;
    }
    for (struct lane *lane = engine->lanes_first; lane; lane = next) {
        next = lane->next;
        if (lane != &lane->queue->plain) {
            lane_free(engine, lane);
        }
    }
}

struct lane *lane_find(const struct engine *engine, struct queue *queue, uint32_t domain)
{
    if (domain == INTERN_NONE) {
        return &queue->plain;
    }
    const uint64_t key[2] = { queue->id, domain };
    return map_find(&engine->lanes, slice_make(key, sizeof(key)));
}

enum status lane_acquire(struct engine *engine, struct queue *queue, uint32_t domain,
                         struct lane **out)
{
    *out = lane_find(engine, queue, domain);
    if (*out) {
        return STATUS_OK;
    }
    const uint64_t key[2] = { queue->id, domain };
    if (map_reserve(&engine->lanes, slice_make(key, sizeof(key))) ||
        index_reserve(&queue->lanes_listed, 1) || lane_reserve(engine, &queue->plain)) {
        return STATUS_NO_MEMORY;
    }
    struct lane *lane = slab_take(&engine->lane_slab);
    if (!lane) {
        return STATUS_NO_MEMORY;
    }
    intern_share(&engine->names, domain);
    lane_init(engine, lane, queue, domain);
    map_add(&engine->lanes, lane);
    lane->listed.key = (struct index_key){ 0, (uint64_t)domain + 1 };
    index_insert(&queue->lanes_listed, &lane->listed);
    queue->lane_count++;
    see_whether_lanes_count(queue);
    // If it stays unused it is freed. And the default lane is now one of several.
    lane_touch(engine, lane);
    lane_touch(engine, &queue->plain);
    *out = lane;
    return STATUS_OK;
}

enum status lane_reserve(struct engine *engine, struct lane *lane)
{
    struct index *lanes = lane->queue->lanes;
    for (size_t i = LANE_READY; i < LANE_PLACES; i++) {
        if (index_reserve(&lanes[i], 1)) {
            return STATUS_NO_MEMORY;
        }
    }
    return lane->id ? STATUS_OK : index_reserve(&engine->lanes_saved, 1);
}

void lane_touch(struct engine *engine, struct lane *lane)
{
    if (!lane->touched) {
        lane->touched = true;
        lane->touched_next = engine->lanes_touched;
        engine->lanes_touched = lane;
    }
}

// The place of the lane, and its key there.
static enum lane_place place_of(const struct engine *engine, const struct lane *lane,
                                struct index_key *key)
{
    const struct queue *queue = lane->queue;
    if (lane->line.count == 0) {
        bool rests = lane != &queue->plain && lane->running == 0 && lane->id && lane->rate_count;
        *key = rests ? time_key(full_us(lane), lane->id) : (struct index_key){ 0 };
        return rests ? LANE_RESTING : LANE_NOWHERE;
    }
    if (!queue->lanes_count || lane_room(lane) == 0) {
        return LANE_NOWHERE;
    }
    const struct job *head = job_of_node(index_first(&lane->line));
    int64_t ready_us = lane_ready_us(engine, lane, engine->call_us, 0);
    if (ready_us > engine->call_us) {
        *key = time_key(ready_us, head->id);
        return LANE_LIMITED;
    }
    *key = queue->fair ? (struct index_key){ lane->turn, head->id } : head->node.key;
    return LANE_READY;
}

static void set_place(const struct engine *engine, struct lane *lane)
{
    struct index_key key = { 0 };
    enum lane_place place = place_of(engine, lane, &key);
    if (place == (enum lane_place)lane->place && index_key_equal(key, lane->node.key)) {
        return;
    }
    leave_place(lane);
    lane->place = (uint8_t)place;
    lane->node.key = key;
    if (place != LANE_NOWHERE) {
        index_insert(&lane->queue->lanes[place], &lane->node);
    }
}

bool lane_check(const struct engine *engine, const struct lane *lane)
{
    if (lane->version != engine->limits_version) {
        return true; // the current limits must still be applied to it
    }
    struct index_key key = { 0 };
    enum lane_place place = place_of(engine, lane, &key);
    if (place != (enum lane_place)lane->place) {
        // Time passes without lanes being moved, and with the client clock may go back.
        return lane->place == LANE_RESTING ||
               (lane->place == LANE_LIMITED && place == LANE_READY) ||
               engine->clock == ENGINE_CLOCK_CLIENT;
    }
    return place == LANE_NOWHERE || index_key_equal(key, lane->node.key) ||
           engine->clock == ENGINE_CLOCK_CLIENT;
}

// The number of a lane's record is derived from its queue and domain alone, so that it does not
// depend on the order in which lanes get records: that order differs in an engine that was loaded.
// The highest bit distinguishes it from numbers of jobs, which older stores have instead.
static uint64_t number_for(const struct engine *engine, const struct lane *lane)
{
    const struct hash_seed seed = { lane->queue->id, 0 };
    struct slice domain = intern_get(&engine->names, (uint32_t)lane->key.domain);
    uint64_t id = hash_bytes(&seed, domain) | (uint64_t)1 << 63;
    while (index_has(&engine->lanes_saved, (struct index_key){ 0, id })) {
        id = (id + 1) | (uint64_t)1 << 63;
    }
    return id;
}

// A lane without a remembered turn and with a full bucket needs no record.
static void keep_record(struct engine *engine, struct lane *lane)
{
    bool has_turn = lane->queue->fair && lane->line.count;
    lane->turn = has_turn ? lane->turn : 0;
    if (!lane->id && (has_turn || !is_full(lane, lane->level_us))) {
        lane->id = number_for(engine, lane);
        lane->saved.key = (struct index_key){ 0, lane->id };
        index_insert(&engine->lanes_saved, &lane->saved);
    }
    if (lane->id) {
        changed(engine, lane);
    }
}

static bool is_nothing(const struct engine *engine, const struct lane *lane)
{
    return lane != &lane->queue->plain && is_unused(lane) && is_full(lane, engine->call_us);
}

// Frees some of the resting lanes whose buckets are full.
static void collect(struct engine *engine, struct queue *queue)
{
    for (int i = 0; i < COLLECT_SLICE; i++) {
        struct index_node *node = index_first(&queue->lanes[LANE_RESTING]);
        if (!node || !is_nothing(engine, lane_of_node(node))) {
            return;
        }
        lane_free(engine, lane_of_node(node));
    }
}

// A lane that was loaded from a record keeps it, even if it is unused now.
static void settle(struct engine *engine, struct lane *lane, bool loaded)
{
    struct queue *queue = lane->queue;
    if (is_nothing(engine, lane) && !(loaded && lane->id && lane->rate_count)) {
        lane_free(engine, lane);
    } else {
        keep_record(engine, lane);
        set_place(engine, lane);
        lane_count_use(lane);
        if (lane->place == LANE_READY) {
            watch_wake(engine, queue);
        }
    }
    if (queue->collects) {
        queue->collects = false;
        collect(engine, queue);
    }
    if (!queue->lanes_count) {
        leave_place(&queue->plain);
    }
    due_update(engine, queue);
    queue_settle(engine, queue);
}

void lanes_settle(struct engine *engine)
{
    // A job that moved from one lane to another may be the first of both until they are placed
    // again, and its number is part of their keys.
    struct lane *first = engine->lanes_touched;
    for (struct lane *lane = first && first->touched_next ? first : NULL; lane;
         lane = lane->touched_next) {
        leave_place(lane);
    }
    while (engine->lanes_touched) {
        struct lane *lane = engine->lanes_touched;
        engine->lanes_touched = lane->touched_next;
        lane->touched = false;
        settle(engine, lane, false);
    }
}

enum status lanes_load_end(struct engine *engine)
{
    struct lane *list = engine->lanes_touched;
    engine->lanes_touched = NULL;
    enum status status = STATUS_OK;
    while (list) {
        struct lane *lane = list;
        list = lane->touched_next;
        lane->touched = false;
        if (status || lane_reserve(engine, lane)) {
            status = STATUS_NO_MEMORY;
        } else {
            settle(engine, lane, true);
            engine_settle(engine);
        }
    }
    return status;
}

// Whether the bucket of a record is possible.
static bool record_is_sane(const struct lane_record *record)
{
    const struct limit *rate = &record->rate;
    if (!limit_is_valid(rate) || record->level_us < 0 || record->level_us > ENGINE_TIME_MAX) {
        return false;
    }
    if (rate->rate_count == 0) {
        return rate->rate_period_us == 0 && rate->burst == 0 && record->level == 0;
    }
    return rate->burst > 0 && record->level >= 0 &&
           record->level <= rate->burst * rate->rate_period_us;
}

enum status lane_load(struct engine *engine, struct lane *lane, uint64_t id,
                      const struct lane_record *record)
{
    const struct limit *rate = &record->rate;
    struct index_key key = { 0, id };
    if (lane->id || !record_is_sane(record) || index_has(&engine->lanes_saved, key)) {
        return STATUS_CORRUPT;
    }
    if (index_reserve(&engine->lanes_saved, 1)) {
        return STATUS_NO_MEMORY;
    }
    lane->id = id;
    lane->saved.key = key;
    index_insert(&engine->lanes_saved, &lane->saved);
    if (!has_rate(lane, rate)) {
        // The current limits must still be applied.
        take_rate(lane, rate);
        lane->version = engine->limits_version - 1;
        list_remove(engine, lane);
        list_prepend(engine, lane);
        see_whether_lanes_count(lane->queue);
    }
    lane->level = record->level;
    lane->level_us = record->level_us;
    lane->turn = record->turn;
    lane_touch(engine, lane);
    return STATUS_OK;
}

void lanes_abandon(struct engine *engine, struct queue *queue)
{
    struct lane *next;
    for (struct lane *lane = engine->lanes_touched; lane; lane = next) {
        next = lane->touched_next;
        if (lane->queue == queue && is_nothing(engine, lane)) {
            lane_free(engine, lane);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// The line

enum status line_reserve(struct engine *engine, struct queue *queue, uint32_t domain)
{
    struct lane *lane = &queue->plain;
    if (domain != INTERN_NONE &&
        (lane_acquire(engine, queue, domain, &lane) || index_reserve(&queue->laned, 1))) {
        return STATUS_NO_MEMORY;
    }
    if (index_reserve(&lane->line, 1)) {
        return STATUS_NO_MEMORY;
    }
    return queue->lanes_count ? lane_reserve(engine, lane) : STATUS_OK;
}

void line_insert(struct engine *engine, struct job *job)
{
    struct queue *queue = job->queue;
    if (!queue->lanes_count) {
        index_insert(&queue->plain.line, &job->node);
        return;
    }
    struct lane *lane = lane_find(engine, queue, job->domain);
    if (job->domain != INTERN_NONE) {
        index_insert(&queue->laned, &job->node);
    }
    if (lane->line.count == 0 && !engine->loads) {
        forget_lateness(engine, lane);
        lane->turn = queue->fair ? queue->clock + step_of(lane) : lane->turn;
    }
    index_insert(&lane->line, &job->node);
    queue->collects = !engine->loads;
    lane_touch(engine, lane);
}

void line_remove(struct engine *engine, struct job *job)
{
    struct queue *queue = job->queue;
    if (!queue->lanes_count) {
        index_remove(&queue->plain.line, &job->node);
        return;
    }
    struct lane *lane = lane_find(engine, queue, job->domain);
    if (job->domain != INTERN_NONE) {
        index_remove(&queue->laned, &job->node);
    }
    index_remove(&lane->line, &job->node);
    lane_touch(engine, lane);
}

void line_move(struct engine *engine, struct job *job, struct index_key key)
{
    // A lane keeps its turn and its lateness when its only job moves.
    struct lane *lane = lane_find(engine, job->queue, job->domain);
    uint64_t turn = lane->turn;
    int64_t level = lane->level, level_us = lane->level_us;
    line_remove(engine, job);
    job->node.key = key;
    line_insert(engine, job);
    lane->turn = turn;
    lane->level = level;
    lane->level_us = level_us;
}

int64_t lane_tokens(const struct lane *lane, int64_t now_us)
{
    return lane->rate_count ? level_at(lane, now_us) / lane->rate_period_us : 0;
}

struct lane *lane_next(const struct queue *queue)
{
    struct index_node *node = index_first(&queue->lanes[LANE_READY]);
    return node ? lane_of_node(node) : NULL;
}

bool lane_take(struct engine *engine, struct lane *lane)
{
    struct queue *queue = lane->queue;
    lane_touch(engine, lane);
    if (lane->rate_count) {
        if (level_at(lane, engine->call_us) < lane->rate_period_us) {
            return false;
        }
        take_token(engine, lane, engine->call_us);
    }
    if (queue->fair) {
        // A lane that could not run for some time does not accumulate turns.
        queue->clock = lane->turn > queue->clock ? lane->turn : queue->clock;
        lane->turn = queue->clock + step_of(lane);
        queue_changed(engine, queue);
    }
    queue->collects = true;
    return true;
}

enum status lane_due(struct engine *engine, struct lane *lane)
{
    if (lane_reserve(engine, lane)) {
        return STATUS_NO_MEMORY;
    }
    lane_touch(engine, lane);
    engine_settle(engine);
    return STATUS_OK;
}

enum status lanes_move_due(struct engine *engine, struct queue *queue, int64_t now_us)
{
    struct index_node *node;
    for (int i = 0; i < DUE_SLICE_THINGS && (node = index_first(&queue->lanes[LANE_LIMITED])) &&
                    time_of_key(node->key) <= now_us;
         i++) {
        if (lane_due(engine, lane_of_node(node))) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

static bool has_level(const struct lane *lane)
{
    return lane->rate_count && lane->level < full_level(lane);
}

enum status lanes_reserve_shift(struct engine *engine)
{
    for (struct lane *lane = engine->lanes_first; lane; lane = lane->next) {
        if (has_level(lane) && lane_reserve(engine, lane)) {
            return STATUS_NO_MEMORY;
        }
    }
    return STATUS_OK;
}

void lanes_shift(struct engine *engine, int64_t change_us)
{
    for (struct lane *lane = engine->lanes_first; lane; lane = lane->next) {
        if (has_level(lane)) {
            int64_t level_us = lane->level_us + change_us;
            lane->level_us = level_us > 0 ? level_us : 0;
            lane_touch(engine, lane);
        }
    }
}
