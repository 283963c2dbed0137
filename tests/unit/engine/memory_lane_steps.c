// SPDX-License-Identifier: MIT
#include "memory_steps.h"

enum {
    LIST_SIZE = 16,
};

// Lanes: jobs of the queue "lanes" in the domains x and y, and without one.

static enum status limit_rate(struct world *w, int64_t now_us)
{
    const struct limit limit = rate(1, 2, 3);
    return engine_limit_set(w->engine, now_us, SLICE("lanes"), SLICE("x"), &limit, &w->error);
}

static enum status limit_again(struct world *w, int64_t now_us)
{
    const struct limit limit = rate(1, 3, 2);
    return engine_limit_set(w->engine, now_us, SLICE("lanes"), SLICE("x"), &limit, &w->error);
}

static enum status limit_pattern(struct world *w, int64_t now_us)
{
    const struct limit limit = concurrency(2);
    return engine_limit_set(w->engine, now_us, SLICE_EMPTY, SLICE("y*"), &limit, &w->error);
}

static enum status limit_all_lanes(struct world *w, int64_t now_us)
{
    struct limit limit = concurrency(3);
    limit.has_weight = true;
    limit.weight = 2;
    return engine_limit_set(w->engine, now_us, SLICE("lanes"), SLICE_EMPTY, &limit, &w->error);
}

static enum status unlimit_x(struct world *w, int64_t now_us)
{
    return engine_limit_unset(w->engine, now_us, SLICE("lanes"), SLICE("x"), &w->error);
}

static enum status unlimit_queue(struct world *w, int64_t now_us)
{
    return engine_limit_unset(w->engine, now_us, SLICE("lanes"), SLICE_EMPTY, &w->error);
}

static const struct job_options all_options = {
    .backoff = { .kind = BACKOFF_LIST,
                 .list_count = 2,
                 .list_us = { INT64_C(20000000), INT64_C(30000000) } },
    .timeout_us = INT64_C(40000000),
    .result_ttl_us = INT64_C(5000000),
    .crashes_max = 4,
    .dependency_policy = DEPENDENCY_HOLD,
};

static enum status policy_of_klass(struct world *w, int64_t now_us)
{
    return engine_policy_set(w->engine, now_us, POLICY_KLASS, SLICE("klass"), &all_options,
                             &w->error);
}

static enum status policy_of_queue(struct world *w, int64_t now_us)
{
    const struct job_options options = { .crashes_max = 9 };
    return engine_policy_set(w->engine, now_us, POLICY_QUEUE, SLICE("lanes"), &options, &w->error);
}

static enum status no_policy(struct world *w, int64_t now_us)
{
    const struct job_options options = { 0 };
    return engine_policy_set(w->engine, now_us, POLICY_KLASS, SLICE("klass"), &options, &w->error);
}

static struct put_request into_lane(const char *jid, const char *domain)
{
    return (struct put_request){
        .queue = SLICE("lanes"), .jid = name_of(jid), .has_domain = true, .domain = name_of(domain)
    };
}

static enum status put_x1(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("x1", "x");
    request.options = &all_options;
    request.has_deadline = true;
    request.deadline_us = us(500);
    request.unique = (struct unique_request){ .by = UNIQUE_BY_KEY, .key = SLICE("a key") };
    request.has_tags = true;
    request.tags = slices_of(w, "red,laned");
    return memory_put(w, now_us, request);
}

static enum status put_x2(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("x2", "x");
    request.unique = (struct unique_request){ .by = UNIQUE_BY_CONTENTS,
                                              .until = UNIQUE_FOR_TIME,
                                              .for_us = us(1000) };
    return memory_put(w, now_us, request);
}

static enum status put_y1(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us, into_lane("y1", "y"));
}

static enum status put_y2(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us, into_lane("y2", "y"));
}

static enum status put_y3_later(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("y3", "y");
    request.delay_us = us(1);
    request.has_deadline = true;
    request.deadline_us = us(400);
    return memory_put(w, now_us, request);
}

static enum status put_plain(struct world *w, int64_t now_us)
{
    return memory_put(w, now_us, into_lane("plain1", NULL));
}

static enum status put_to_another_lane(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("plain1", "z");
    request.has_deadline = true;
    request.deadline_us = us(450);
    return memory_put(w, now_us, request);
}

static enum status put_the_same(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("nobody", "nowhere");
    request.queue = SLICE("nowhere");
    request.unique = (struct unique_request){ .by = UNIQUE_BY_KEY, .key = SLICE("a key") };
    return memory_put(w, now_us, request);
}

static enum status replace_x2(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("x3", "x");
    request.unique =
        (struct unique_request){ .by = UNIQUE_BY_CONTENTS, .conflict = UNIQUE_REPLACE };
    return memory_put(w, now_us, request);
}

static enum status pop_lanes(struct world *w, int64_t now_us)
{
    const struct slices queues = slices_of(w, "lanes");
    const struct pop_request request = { .worker = SLICE("w1"), .queues = queues, .count = 5 };
    const struct job *jobs[5];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status progress_x1(struct world *w, int64_t now_us)
{
    const struct holder holder = memory_holder("x1");
    return engine_progress(w->engine, now_us, &holder, 1000, SLICE("a part"), &w->error);
}

static enum status checkpoint_y1(struct world *w, int64_t now_us)
{
    const struct holder holder = memory_holder("y1");
    return engine_checkpoint(w->engine, now_us, &holder, SLICE("{\"at\":7}"), &w->error);
}

static enum status log_line_y2(struct world *w, int64_t now_us)
{
    const struct holder holder = memory_holder("y2");
    return engine_log_line(w->engine, now_us, &holder, SLICE("a line of some length"), &w->error);
}

static enum status wait_for_y2(struct world *w, int64_t now_us)
{
    bool finished;
    return engine_wait(w->engine, now_us, SLICE("y2"), 1, &finished, &w->error);
}

static enum status retry_x1(struct world *w, int64_t now_us)
{
    const struct retry_request request = { .holder = memory_holder("x1"), .seed = 3 };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status fail_y1(struct world *w, int64_t now_us)
{
    const struct fail_request request = { .holder = memory_holder("y1"),
                                          .group = SLICE("lane group"),
                                          .message = SLICE("message") };
    return engine_fail(w->engine, now_us, &request, &w->error);
}

static enum status complete_y2(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = memory_holder("y2"),
                                              .result = SLICE("\"a result\"") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status complete_lane_on(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = memory_holder("y1"),
                                              .next = SLICE("lanes next") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status unfail_y1(struct world *w, int64_t now_us)
{
    size_t moved;
    return engine_unfail(w->engine, now_us, SLICE("lanes"), SLICE("lane group"), 5, &moved,
                         &w->error);
}

static enum status timeout_x3(struct world *w, int64_t now_us)
{
    return engine_timeout(w->engine, now_us, slices_of(w, "x3"), &w->error);
}

static enum status fair_on(struct world *w, int64_t now_us)
{
    return engine_config_set(w->engine, now_us, SLICE("lanes-fair"), SLICE("1"), &w->error);
}

static enum status fair_off(struct world *w, int64_t now_us)
{
    return engine_config_unset(w->engine, now_us, SLICE("lanes-fair"), &w->error);
}

static enum status priority_in_lane(struct world *w, int64_t now_us)
{
    return engine_priority(w->engine, now_us, SLICE("x2"), 5, &w->error);
}

static enum status peek_lanes(struct world *w, int64_t now_us)
{
    const struct job *jobs[LIST_SIZE];
    size_t found;
    return engine_peek(w->engine, now_us, SLICE("lanes"), LIST_SIZE, jobs, &found, &w->error);
}

static enum status cancel_lane(struct world *w, int64_t now_us)
{
    size_t canceled;
    return engine_cancel(w->engine, now_us, slices_of(w, "x1,y3,plain1,gone"), &canceled, NULL,
                         &w->error);
}

static enum status put_for_time(struct world *w, int64_t now_us, const char *jid,
                                enum unique_conflict conflict)
{
    struct slice gone;
    return memory_put(w, now_us,
                      (struct put_request){ .queue = SLICE("time"),
                                            .jid = name_of(jid),
                                            .gone = &gone,
                                            .unique = { .by = UNIQUE_BY_KEY,
                                                        .key = SLICE("for a time"),
                                                        .until = UNIQUE_FOR_TIME,
                                                        .for_us = us(1000),
                                                        .conflict = conflict } });
}

static enum status put_t1(struct world *w, int64_t now_us)
{
    return put_for_time(w, now_us, "t1", UNIQUE_REFUSE);
}

static enum status put_t2_existing(struct world *w, int64_t now_us)
{
    return put_for_time(w, now_us, "t2", UNIQUE_EXISTING);
}

static enum status put_t2_replace(struct world *w, int64_t now_us)
{
    return put_for_time(w, now_us, "t2", UNIQUE_REPLACE);
}

static enum status cancel_t1(struct world *w, int64_t now_us)
{
    size_t canceled;
    return engine_cancel(w->engine, now_us, slices_of(w, "t1"), &canceled, NULL, &w->error);
}

const struct step memory_script_of_lanes[] = {
    { "put with a lock for a time", 0, put_t1, STAYS },
    { "cancel a job with a lock for a time", 0, cancel_t1, STAYS },
    { "put what a canceled job has locked", 0, put_t2_existing, STAYS },
    { "replace a canceled job", 0, put_t2_replace, STAYS },
    { "put into a lane, with everything", 0, put_x1, STAYS },
    { "limit a lane", 0, limit_rate, STAYS },
    { "limit by a pattern", 0, limit_pattern, STAYS },
    { "put by contents", 0, put_x2, STAYS },
    { "put into another lane", 0, put_y1, STAYS },
    { "put into a lane that is there", 0, put_y2, STAYS },
    { "put into a lane, later", 0, put_y3_later, STAYS },
    { "put into the default lane", 0, put_plain, STAYS },
    { "put what is there already", 0, put_the_same, STAYS },
    { "priority in a lane", 0, priority_in_lane, STAYS },
    { "replace a job", 1, replace_x2, STAYS },
    { "put by contents again", 1, put_x2, STAYS },
    { "put a job into another lane", 1, put_to_another_lane, STAYS },
    { "limit a queue", 2, limit_all_lanes, STAYS },
    { "limit a lane anew", 2, limit_again, STAYS },
    { "policy of a klass", 2, policy_of_klass, STAYS },
    { "policy of a queue", 2, policy_of_queue, STAYS },
    { "make it fair", 2, fair_on, STAYS },
    { "peek into lanes", 2, peek_lanes, LOOKS },
    { "pop from lanes", 3, pop_lanes, POPS },
    { "progress", 4, progress_x1, STAYS },
    { "checkpoint", 4, checkpoint_y1, STAYS },
    { "wait", 4, wait_for_y2, STAYS },
    { "pop from lanes", 9, pop_lanes, POPS },
    { "pop from lanes", 15, pop_lanes, POPS },
    { "retry as the backoff says", 16, retry_x1, STAYS },
    { "fail in a lane", 16, fail_y1, STAYS },
    { "pop from lanes", 17, pop_lanes, POPS },
    { "log line", 17, log_line_y2, STAYS },
    { "unfail into a lane", 17, unfail_y1, STAYS },
    { "timeout in a lane", 18, timeout_x3, STAYS },
    { "no policy", 18, no_policy, STAYS },
    { "make it unfair", 18, fair_off, STAYS },
    { "complete in a lane", 19, complete_y2, STAYS },
    { "pop from lanes", 20, pop_lanes, POPS },
    { "complete into a lane of the next queue", 21, complete_lane_on, STAYS },
    { "the limit of a lane goes", 21, unlimit_x, STAYS },
    { "pop from lanes", 40, pop_lanes, POPS },
    { "cancel in lanes", 41, cancel_lane, STAYS },
    { "the limit of a queue goes", 41, unlimit_queue, STAYS },
    { "pop when leases in lanes have run out", 110, pop_lanes, POPS },
    { "pop when leases in lanes were lost", 200, pop_lanes, POPS },
    { NULL, 0, NULL, STAYS },
};
