// SPDX-License-Identifier: MIT
// A lane hands out its jobs in order, the n-th one when its bucket has had n tokens, and at most as
// many at a time as its concurrency allows. So the time of a job follows from its own lane. For
// each other lane it is computed how many of its jobs are popped before that time, and, at the same
// instant, how many come first by their keys or by turns. This is exact without visiting the jobs
// themselves.
#include "engine/explain/foresee.h"

#include "engine/job/job.h"
#include "engine/lanes/lane.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

enum {
    STEPS_MAX = 10000, // per answer
};

struct view {
    struct engine *engine;
    int64_t now_us;
    const struct foresee_request *request;
    const struct queue *queue;
    const struct lane *lane; // its own
    size_t position;         // there
    int64_t when_us;         // when its lane hands it out
};

// How many of the first `count` jobs of a lane have a token at a time.
static size_t ready_by(const struct view *view, const struct lane *lane, int64_t time_us,
                       size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool ready = lane_ready_us(view->engine, lane, view->now_us, middle) <= time_us;
        low = ready ? middle + 1 : low;
        high = ready ? high : middle;
    }
    return low;
}

// How many waiting jobs a lane can hand out.
static size_t available(const struct lane *lane)
{
    size_t room = lane_room(lane);
    return lane->line.count < room ? lane->line.count : room;
}

static void look_at_own_lane(struct view *view)
{
    const struct foresee_request *request = view->request;
    size_t before = index_rank(&view->lane->line, request->key);
    size_t gone = ready_by(view, view->lane, request->from_us - 1, available(view->lane));
    view->position = before > gone ? before : gone;
    int64_t ready_us = lane_ready_us(view->engine, view->lane, view->now_us, view->position);
    view->when_us = ready_us > request->from_us ? ready_us : request->from_us;
}

// Whether a lane of a fair queue is served for the n-th time, from 0 on, before the job is handed
// out, all at the same instant.
static bool has_earlier_turn(const struct view *view, const struct lane *lane, size_t served)
{
    uint64_t turn = lane_turn(lane, served), own = lane_turn(view->lane, view->position);
    return turn < own ||
           (turn == own && job_of_node(index_at(&lane->line, served))->id < view->request->job->id);
}

static size_t turns_before(const struct view *view, const struct lane *lane, size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool earlier = has_earlier_turn(view, lane, middle);
        low = earlier ? middle + 1 : low;
        high = earlier ? high : middle;
    }
    return low;
}

// How many jobs another lane hands out before this one.
static size_t handed_out_before(const struct view *view, const struct lane *lane)
{
    size_t count = available(lane);
    size_t earlier = ready_by(view, lane, view->when_us - 1, count);
    if (view->queue->fair && view->when_us > view->now_us) {
        return earlier;
    }
    size_t by_then = ready_by(view, lane, view->when_us, count);
    size_t before = view->queue->fair ? turns_before(view, lane, by_then)
                                      : index_rank(&lane->line, view->request->key);
    before = before < by_then ? before : by_then;
    return before > earlier ? before : earlier;
}

// Whether this lane, and all lanes behind it in their index, hand out nothing before this one.
static bool is_behind(const struct view *view, enum lane_place place, const struct lane *lane)
{
    if (place == LANE_LIMITED) {
        return time_of_key(lane->node.key) > view->when_us;
    }
    if (view->when_us > view->now_us) {
        return false;
    }
    return view->queue->fair ? lane->node.key.high > lane_turn(view->lane, view->position)
                             : !index_key_less(lane->node.key, view->request->key);
}

static void look_at_others(const struct view *view, struct foresight *out)
{
    static const enum lane_place places[] = { LANE_READY, LANE_LIMITED };
    const struct queue *queue = view->queue;
    if (!queue->lanes_count && view->lane != &queue->plain) {
        out->behind += handed_out_before(view, &queue->plain); // it is in no index yet
        return;
    }
    uint64_t start = view->engine->pool.steps;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct index_cursor cursor = index_cursor_at(&queue->lanes[places[i]], 0);
        struct index_node *node;
        while ((node = index_cursor_next(&cursor)) &&
               !is_behind(view, places[i], lane_of_node(node))) {
            if (view->engine->pool.steps - start > STEPS_MAX) {
                out->at_least = true;
                return;
            }
            if (lane_of_node(node) != view->lane) {
                out->behind += handed_out_before(view, lane_of_node(node));
            }
        }
    }
}

// A job at its deadline fails instead of being popped.
static bool expires_by(const struct job *job, int64_t time_us)
{
    const struct job_rare *rare = job_rare(job);
    return rare && rare->deadline_us && rare->deadline_us <= time_us;
}

// Whether it is handed out at all, apart from its deadline.
static bool comes(const struct view *view, const struct foresight *out)
{
    const struct queue *queue = view->queue;
    size_t freed = view->request->lease_ends;
    size_t in_lane = view->lane->running - freed + view->position;
    size_t in_queue = queue_running(view->engine, queue, view->now_us) - freed + out->behind;
    return !queue->paused &&
           (view->lane->concurrency <= 0 || in_lane < (size_t)view->lane->concurrency) &&
           (queue->concurrency_max <= 0 || in_queue < (size_t)queue->concurrency_max);
}

void foresee(struct engine *engine, int64_t now_us, const struct foresee_request *request,
             struct foresight *out)
{
    struct queue *queue = request->job->queue;
    *out = (struct foresight){ .when_us = INT64_MAX };
    if (request->from_us == INT64_MAX) {
        out->expires = expires_by(request->job, INT64_MAX);
        return;
    }
    struct lane imagined;
    struct view view = {
        .engine = engine,
        .now_us = now_us,
        .request = request,
        .queue = queue,
        .lane = lane_find(engine, queue, request->job->domain),
    };
    if (!view.lane) {
        lane_imagine(engine, &imagined, queue, request->job->domain);
        view.lane = &imagined;
    }
    look_at_own_lane(&view);
    out->behind = view.position;
    if (!request->lane_only) {
        look_at_others(&view, out);
    }
    out->expires = expires_by(request->job, view.when_us);
    if (!out->expires && comes(&view, out)) {
        out->when_us = view.when_us;
    }
}
