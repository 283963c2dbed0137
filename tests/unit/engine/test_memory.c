// SPDX-License-Identifier: MIT
// Every call with its first, second, third ... allocation failing. The script is a list of steps,
// each of which is one call. For each step a fresh engine takes the steps before it, and then the
// step with one allocation failing: it must say so, must leave every byte as it was, and must work
// the next time.
#include "engine_test.h"

#include <stdio.h>
#include <string.h>

enum {
    LIST_SIZE = 16,
    MANY = 70,
};

struct step {
    const char *name;
    double now;
    enum status (*call)(struct world *w, int64_t now_us);
    enum {
        STAYS, // a failure changes nothing
        POPS,  // hands out what it can; a failed one has seen the worker and done what was due
        LOOKS, // with the client clock a failed one may have moved a part of what is due
    } kind;
};

static struct holder w1_holds(const char *jid)
{
    return (struct holder){ .jid = name_of(jid), .worker = SLICE("w1") };
}

static enum status put_one(struct world *w, int64_t now_us, struct put_request request)
{
    const struct job *job;
    request.klass = SLICE("klass");
    request.data = SLICE("{\"data\":1}");
    return engine_put(w->engine, now_us, &request, &job, &w->error);
}

static enum status put_a(struct world *w, int64_t now_us)
{
    return put_one(w, now_us,
                   (struct put_request){ .queue = SLICE("q"),
                                         .jid = SLICE("a"),
                                         .has_tags = true,
                                         .tags = slices_of(w, "red,green,red") });
}

static enum status put_later_b(struct world *w, int64_t now_us)
{
    return put_one(
        w, now_us,
        (struct put_request){ .queue = SLICE("q"), .jid = SLICE("b"), .delay_us = us(5) });
}

static enum status put_depending_c(struct world *w, int64_t now_us)
{
    return put_one(w, now_us,
                   (struct put_request){ .queue = SLICE("r"),
                                         .jid = SLICE("c"),
                                         .depends = slices_of(w, "a,b"),
                                         .has_tags = true,
                                         .tags = slices_of(w, "red,blue") });
}

static enum status put_many(struct world *w, int64_t now_us)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < MANY && !status; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "many%d", i);
        w->fault.fail_at = 0; // failing each of these tells nothing new
        status =
            put_one(w, now_us, (struct put_request){ .queue = SLICE("many"), .jid = name_of(jid) });
    }
    return status;
}

static enum status put_again_c(struct world *w, int64_t now_us)
{
    return put_one(w, now_us,
                   (struct put_request){ .queue = SLICE("s"),
                                         .jid = SLICE("c"),
                                         .depends = slices_of(w, "b,many1,many2"),
                                         .has_tags = true,
                                         .tags = slices_of(w, "red,pink") });
}

static enum status track_a(struct world *w, int64_t now_us)
{
    bool changed;
    return engine_track(w->engine, now_us, SLICE("a"), &changed, &w->error);
}

static enum status untrack_a(struct world *w, int64_t now_us)
{
    bool changed;
    return engine_untrack(w->engine, now_us, SLICE("a"), &changed, &w->error);
}

static enum status pop_some(struct world *w, int64_t now_us)
{
    const struct slices queues = slices_of(w, "q,empty,many");
    const struct pop_request request = { .worker = SLICE("w1"), .queues = queues, .count = 4 };
    const struct job *jobs[4];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status pop_a_again(struct world *w, int64_t now_us)
{
    const struct pop_request request = { .worker = SLICE("w1"),
                                         .queues = slices_of(w, "q"),
                                         .count = 1 };
    const struct job *jobs[1];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status pop_in_turn(struct world *w, int64_t now_us)
{
    const struct slices queues = slices_of(w, "many,q,r,rec");
    const struct pop_request request = {
        .worker = SLICE("w2"), .queues = queues, .order = POP_ROUND_ROBIN, .count = 6
    };
    const struct job *jobs[6];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status pop_the_best(struct world *w, int64_t now_us)
{
    const struct pop_request request = { .worker = SLICE("w2"),
                                         .queues = slices_of(w, "many,q,r,rec,none"),
                                         .order = POP_BEST,
                                         .count = 2,
                                         .lease_us = us(70) };
    const struct job *jobs[2];
    size_t popped;
    return engine_pop(w->engine, now_us, &request, jobs, &popped, &w->error);
}

static enum status peek_q(struct world *w, int64_t now_us)
{
    const struct job *jobs[LIST_SIZE];
    size_t found;
    return engine_peek(w->engine, now_us, SLICE("q"), LIST_SIZE, jobs, &found, &w->error);
}

static enum status heartbeat_a(struct world *w, int64_t now_us)
{
    const struct heartbeat_request request = { .holder = w1_holds("a"),
                                               .data = SLICE("{\"more\":[1,2,3]}"),
                                               .has_lease = true,
                                               .lease_us = us(5) };
    int64_t expires_us;
    return engine_heartbeat(w->engine, now_us, &request, &expires_us, &w->error);
}

static enum status start_a(struct world *w, int64_t now_us)
{
    const struct holder holder = w1_holds("a");
    return engine_start(w->engine, now_us, &holder, 99, &w->error);
}

static enum status log_a(struct world *w, int64_t now_us)
{
    const struct log_request request = { .jid = SLICE("a"),
                                         .message = SLICE("a message of some length"),
                                         .data = SLICE("{\"with\":\"data\"}"),
                                         .worker = SLICE("w1") };
    return engine_log(w->engine, now_us, &request, &w->error);
}

static enum status update_data_b(struct world *w, int64_t now_us)
{
    return engine_update_data(w->engine, now_us, SLICE("b"), SLICE("[\"new\"]"), &w->error);
}

static enum status priority_b(struct world *w, int64_t now_us)
{
    return engine_priority(w->engine, now_us, SLICE("b"), 3, &w->error);
}

static enum status priority_in_line(struct world *w, int64_t now_us)
{
    return engine_priority(w->engine, now_us, SLICE("many60"), -3, &w->error);
}

static enum status depends_on_c(struct world *w, int64_t now_us)
{
    return engine_depends_on(w->engine, now_us, SLICE("c"), slices_of(w, "many50,many51"),
                             MISSING_COMPLETE, &w->error);
}

static enum status depends_off_c(struct world *w, int64_t now_us)
{
    return engine_depends_off(w->engine, now_us, SLICE("c"), slices_of(w, "many50"), &w->error);
}

static enum status depends_off_all_c(struct world *w, int64_t now_us)
{
    return engine_depends_off_all(w->engine, now_us, SLICE("c"), &w->error);
}

static enum status tag_a(struct world *w, int64_t now_us)
{
    const struct job *job;
    return engine_tag_add(w->engine, now_us, SLICE("a"), slices_of(w, "one,two,red"), &job,
                          &w->error);
}

static enum status untag_a(struct world *w, int64_t now_us)
{
    const struct job *job;
    return engine_tag_remove(w->engine, now_us, SLICE("a"), slices_of(w, "one,green"), &job,
                             &w->error);
}

static enum status return_a(struct world *w, int64_t now_us)
{
    const struct holder holder = w1_holds("a");
    return engine_return(w->engine, now_us, &holder, &w->error);
}

static enum status timeout_many(struct world *w, int64_t now_us)
{
    return engine_timeout(w->engine, now_us, slices_of(w, "many0,many1"), &w->error);
}

static enum status fail_a(struct world *w, int64_t now_us)
{
    const struct fail_request request = { .holder = w1_holds("a"),
                                          .group = SLICE("group"),
                                          .message = SLICE("message"),
                                          .data = SLICE("[0]") };
    return engine_fail(w->engine, now_us, &request, &w->error);
}

static enum status unfail_group(struct world *w, int64_t now_us)
{
    size_t moved;
    return engine_unfail(w->engine, now_us, SLICE("unfailed"), SLICE("group"), 5, &moved,
                         &w->error);
}

static enum status retry_many2(struct world *w, int64_t now_us)
{
    const struct retry_request request = { .holder = w1_holds("many2"),
                                           .to = SLICE("retried"),
                                           .has_delay = true,
                                           .delay_us = us(50),
                                           .has_failure = true,
                                           .group = SLICE("slow"),
                                           .message = SLICE("again") };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status put_last_try(struct world *w, int64_t now_us)
{
    return put_one(w, now_us,
                   (struct put_request){ .queue = SLICE("q"),
                                         .jid = SLICE("last"),
                                         .has_priority = true,
                                         .priority = -9,
                                         .has_retries = true,
                                         .retries = 0 });
}

static enum status retry_last(struct world *w, int64_t now_us)
{
    const struct retry_request request = { .holder = w1_holds("last"), .to = SLICE("retried") };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status complete_with_result(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = w1_holds("a"),
                                              .data = SLICE("[1]"),
                                              .result = SLICE("\"a result\"") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status complete_on(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = w1_holds("b"),
                                              .next = SLICE("next"),
                                              .has_delay = true,
                                              .delay_us = us(3),
                                              .has_depends = true,
                                              .depends = slices_of(w, "many40,many41") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status cancel_some(struct world *w, int64_t now_us)
{
    size_t canceled;
    return engine_cancel(w->engine, now_us, slices_of(w, "many30,many31,gone"), &canceled, NULL,
                         &w->error);
}

static enum status delete_a(struct world *w, int64_t now_us)
{
    return engine_delete(w->engine, now_us, SLICE("a"), &w->error);
}

static enum status recur_r(struct world *w, int64_t now_us)
{
    const struct recur_request request = { .queue = SLICE("rec"),
                                           .jid = SLICE("r"),
                                           .klass = SLICE("recurring klass"),
                                           .data = SLICE("[5]"),
                                           .interval_us = us(40),
                                           .offset_us = us(1),
                                           .tags = slices_of(w, "red,round") };
    return engine_recur(w->engine, now_us, &request, &w->error);
}

static enum status recur_update_r(struct world *w, int64_t now_us)
{
    const struct recur_update request = { .jid = SLICE("r"),
                                          .has_priority = true,
                                          .has_interval = true,
                                          .interval_us = us(35),
                                          .has_data = true,
                                          .data = SLICE("[6]"),
                                          .has_klass = true,
                                          .klass = SLICE("other klass"),
                                          .has_queue = true,
                                          .queue = SLICE("rec2") };
    return engine_recur_update(w->engine, now_us, &request, &w->error);
}

static enum status recur_tag_r(struct world *w, int64_t now_us)
{
    return engine_recur_tag(w->engine, now_us, SLICE("r"), slices_of(w, "x,y"), &w->error);
}

static enum status recur_untag_r(struct world *w, int64_t now_us)
{
    return engine_recur_untag(w->engine, now_us, SLICE("r"), slices_of(w, "x,red"), &w->error);
}

static enum status unrecur_r(struct world *w, int64_t now_us)
{
    return engine_unrecur(w->engine, now_us, SLICE("r"), &w->error);
}

static enum status queue_counts(struct world *w, int64_t now_us)
{
    struct queue_view view;
    return engine_queue(w->engine, now_us, SLICE("q"), &view, &w->error);
}

static enum status queue_list(struct world *w, int64_t now_us)
{
    const struct job *jobs[LIST_SIZE];
    struct page page = { .count = LIST_SIZE, .jobs = jobs };
    return engine_jobs(w->engine, now_us, LIST_SCHEDULED, SLICE("q"), &page, &w->error);
}

static enum status pause_some(struct world *w, int64_t now_us)
{
    return engine_pause(w->engine, now_us, slices_of(w, "paused1,s,paused2"), &w->error);
}

static enum status unpause_some(struct world *w, int64_t now_us)
{
    return engine_unpause(w->engine, now_us, slices_of(w, "paused1,s"), &w->error);
}

static enum status forget_some(struct world *w, int64_t now_us)
{
    return engine_forget(w->engine, now_us, slices_of(w, "s,many"), &w->error);
}

static enum status config_set(struct world *w, int64_t now_us)
{
    return engine_config_set(w->engine, now_us, SLICE("q-heartbeat"), SLICE("300"), &w->error);
}

static enum status config_replace(struct world *w, int64_t now_us)
{
    return engine_config_set(w->engine, now_us, SLICE("q-heartbeat"), SLICE("301.5"), &w->error);
}

static enum status config_unset(struct world *w, int64_t now_us)
{
    return engine_config_unset(w->engine, now_us, SLICE("q-heartbeat"), &w->error);
}

static enum status prune(struct world *w, int64_t now_us)
{
    return engine_workers_prune(w->engine, now_us, &w->error);
}

static enum status offline_w1(struct world *w, int64_t now_us)
{
    return engine_worker_offline(w->engine, now_us, SLICE("w1"), &w->error);
}

static enum status deregister_w1(struct world *w, int64_t now_us)
{
    return engine_worker_deregister(w->engine, now_us, slices_of(w, "w1,w9"), &w->error);
}

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
    return put_one(w, now_us, request);
}

static enum status put_x2(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("x2", "x");
    request.unique = (struct unique_request){ .by = UNIQUE_BY_CONTENTS,
                                              .until = UNIQUE_FOR_TIME,
                                              .for_us = us(1000) };
    return put_one(w, now_us, request);
}

static enum status put_y1(struct world *w, int64_t now_us)
{
    return put_one(w, now_us, into_lane("y1", "y"));
}

static enum status put_y2(struct world *w, int64_t now_us)
{
    return put_one(w, now_us, into_lane("y2", "y"));
}

static enum status put_y3_later(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("y3", "y");
    request.delay_us = us(1);
    request.has_deadline = true;
    request.deadline_us = us(400);
    return put_one(w, now_us, request);
}

static enum status put_plain(struct world *w, int64_t now_us)
{
    return put_one(w, now_us, into_lane("plain1", NULL));
}

static enum status put_to_another_lane(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("plain1", "z");
    request.has_deadline = true;
    request.deadline_us = us(450);
    return put_one(w, now_us, request);
}

static enum status put_the_same(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("nobody", "nowhere");
    request.queue = SLICE("nowhere");
    request.unique = (struct unique_request){ .by = UNIQUE_BY_KEY, .key = SLICE("a key") };
    return put_one(w, now_us, request);
}

static enum status replace_x2(struct world *w, int64_t now_us)
{
    struct put_request request = into_lane("x3", "x");
    request.unique =
        (struct unique_request){ .by = UNIQUE_BY_CONTENTS, .conflict = UNIQUE_REPLACE };
    return put_one(w, now_us, request);
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
    const struct holder holder = w1_holds("x1");
    return engine_progress(w->engine, now_us, &holder, 1000, SLICE("a part"), &w->error);
}

static enum status checkpoint_y1(struct world *w, int64_t now_us)
{
    const struct holder holder = w1_holds("y1");
    return engine_checkpoint(w->engine, now_us, &holder, SLICE("{\"at\":7}"), &w->error);
}

static enum status log_line_y2(struct world *w, int64_t now_us)
{
    const struct holder holder = w1_holds("y2");
    return engine_log_line(w->engine, now_us, &holder, SLICE("a line of some length"), &w->error);
}

static enum status wait_for_y2(struct world *w, int64_t now_us)
{
    bool finished;
    return engine_wait(w->engine, now_us, SLICE("y2"), 1, &finished, &w->error);
}

static enum status retry_x1(struct world *w, int64_t now_us)
{
    const struct retry_request request = { .holder = w1_holds("x1"), .seed = 3 };
    int32_t remaining;
    return engine_retry(w->engine, now_us, &request, &remaining, &w->error);
}

static enum status fail_y1(struct world *w, int64_t now_us)
{
    const struct fail_request request = { .holder = w1_holds("y1"),
                                          .group = SLICE("lane group"),
                                          .message = SLICE("message") };
    return engine_fail(w->engine, now_us, &request, &w->error);
}

static enum status complete_y2(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = w1_holds("y2"),
                                              .result = SLICE("\"a result\"") };
    enum job_state state;
    return engine_complete(w->engine, now_us, &request, &state, &w->error);
}

static enum status complete_lane_on(struct world *w, int64_t now_us)
{
    const struct complete_request request = { .holder = w1_holds("y1"),
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

// What only looks, and cannot fail.
static enum status look_around(struct world *w, int64_t now_us)
{
    const struct engine *engine = w->engine;
    const struct job *jobs[LIST_SIZE];
    const struct recurring *recurring[LIST_SIZE];
    struct page page = { .count = LIST_SIZE, .jobs = jobs };
    struct slice name, value;
    struct count_view count;
    struct worker_view worker;
    struct stats_view stats;
    const struct job *job;
    size_t found;
    w->fault.fail_at = 1;
    assert_false(engine_failure_group(engine, 99, &count));
    engine_failed(engine, SLICE("group"), &page);
    engine_tagged(engine, SLICE("red"), &page);
    (void)engine_tag_top(engine, 0, &count);
    (void)engine_tracked(engine, 0, &name, &job);
    assert_true(engine_queue_name(engine, 0, &name));
    assert_true(engine_length(engine, SLICE("many")) > 0);
    engine_stats(engine, SLICE("q"), now_us, &stats);
    (void)engine_recurring(engine, SLICE("rec"), 0, LIST_SIZE, recurring, &found);
    (void)engine_worker(engine, now_us, 0, &worker);
    engine_worker_jobs(engine, now_us, SLICE("w1"), false, &page);
    assert_slice_equal(engine_config_get(engine, SLICE("heartbeat")), "60");
    assert_true(engine_config_at(engine, 0, &name, &value));
    (void)history_of(w, "c");
    (void)tags_of(w, "c");
    (void)dependencies_of(w, "c");
    (void)dependents_of(w, "b");
    assert_false(w->fault.failed);
    w->fault.fail_at = 0;
    return STATUS_OK;
}

static enum status put_for_time(struct world *w, int64_t now_us, const char *jid,
                                enum unique_conflict conflict)
{
    struct slice gone;
    return put_one(w, now_us,
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

static const struct step script[] = {
    { "put with tags", 0, put_a, STAYS },
    { "put with a delay", 0, put_later_b, STAYS },
    { "put with dependencies", 0, put_depending_c, STAYS },
    { "put many", 0, put_many, STAYS },
    { "put a job again", 0, put_again_c, STAYS },
    { "put a job with its last retry", 0, put_last_try, STAYS },
    { "track", 0, track_a, STAYS },
    { "pop", 1, pop_some, POPS },
    { "pop", 6, pop_some, POPS },
    { "heartbeat", 7, heartbeat_a, STAYS },
    { "start", 7, start_a, STAYS },
    { "log", 7, log_a, STAYS },
    { "update data", 7, update_data_b, STAYS },
    { "priority of a running job", 7, priority_b, STAYS },
    { "priority of a job in line", 7, priority_in_line, STAYS },
    { "depends on", 7, depends_on_c, STAYS },
    { "depends off", 7, depends_off_c, STAYS },
    { "tag", 7, tag_a, STAYS },
    { "untag", 7, untag_a, STAYS },
    { "set", 7, config_set, STAYS },
    { "set again", 7, config_replace, STAYS },
    { "unset", 7, config_unset, STAYS },
    { "recur", 8, recur_r, STAYS },
    { "look around", 8, look_around, STAYS },
    { "recur update", 8, recur_update_r, STAYS },
    { "recur tag", 8, recur_tag_r, STAYS },
    { "recur untag", 8, recur_untag_r, STAYS },
    { "retry with a delay", 9, retry_many2, STAYS },
    { "the last retry", 9, retry_last, STAYS },
    { "return", 9, return_a, STAYS },
    { "pop what was returned", 9, pop_a_again, POPS },
    { "timeout", 10, timeout_many, STAYS },
    { "fail", 11, fail_a, STAYS },
    { "unfail", 12, unfail_group, STAYS },
    { "put again", 12, put_a, STAYS },
    { "pop", 13, pop_some, POPS },
    { "pop in turn", 13, pop_in_turn, POPS },
    { "complete into the next queue", 14, complete_on, STAYS },
    { "complete", 14, complete_with_result, STAYS },
    { "depends off all", 14, depends_off_all_c, STAYS },
    { "cancel", 15, cancel_some, STAYS },
    { "untrack", 15, untrack_a, STAYS },
    { "delete", 15, delete_a, STAYS },
    { "put later", 15, put_later_b, STAYS },
    { "peek", 20, peek_q, LOOKS },
    { "put later", 20, put_later_b, STAYS },
    { "count", 25, queue_counts, LOOKS },
    { "put later", 25, put_later_b, STAYS },
    { "list", 30, queue_list, LOOKS },
    { "pause", 30, pause_some, STAYS },
    { "unpause", 30, unpause_some, STAYS },
    { "forget", 30, forget_some, STAYS },
    { "offline", 30, offline_w1, STAYS },
    { "pop in turn", 50, pop_in_turn, POPS },
    { "pop when leases have run out", 95, pop_in_turn, POPS },
    { "pop when leases were lost", 200, pop_in_turn, POPS },
    { "pop the best", 200, pop_the_best, POPS },
    { "deregister", 200, deregister_w1, STAYS },
    { "prune", 90000, prune, STAYS },
    { "unrecur", 90000, unrecur_r, STAYS },
    { NULL, 0, NULL, STAYS },
};

static const struct step script_of_lanes[] = {
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

// With the server clock all that is due has happened before the step, and is not what fails.
static void settle(struct world *w, const struct step *step)
{
    while (engine_tick(w->engine, us(step->now)) == us(step->now)) {
    }
}

static void run(struct world *w, const struct step *step)
{
    settle(w, step);
    enum status status = step->call(w, us(step->now));
    if (status) {
        print_error("%s at %g: %s\n", step->name, step->now, error_sentence(&w->error));
    }
    assert_int_equal(status, STATUS_OK);
}

static struct world *world_before(enum engine_clock clock, const struct step *steps, size_t step)
{
    struct world *w = world_new(clock, 1);
    for (size_t i = 0; i < step; i++) {
        run(w, &steps[i]);
    }
    settle(w, &steps[step]);
    return w;
}

static bool same_bytes(const struct world *w, const struct buffer *before)
{
    struct buffer after;
    buffer_init(&after, &allocator_system, SIZE_MAX - 1);
    save_but_series(w, &after);
    bool same = slice_equal(buffer_slice(&after), buffer_slice(before));
    buffer_release(&after);
    return same;
}

// The newest token that any job of the script has: a pop that hands out nothing gives no new one.
static uint64_t newest_token(const struct world *w)
{
    static const char *const queues[] = {
        "q", "r", "s", "many", "rec", "rec2", "unfailed", "lanes"
    };
    uint64_t newest = 0;
    for (size_t i = 0; i < 2 * sizeof(queues) / sizeof(queues[0]); i++) {
        const struct job *jobs[256];
        struct page page = { .count = 256, .jobs = jobs };
        assert_int_equal(engine_jobs(w->engine, us(w->now), i % 2 ? LIST_RUNNING : LIST_STALLED,
                                     name_of(queues[i / 2]), &page, NULL),
                         STATUS_OK);
        for (size_t j = 0; j < page.found; j++) {
            struct job_view view;
            job_view(w->engine, jobs[j], &view);
            newest = view.token > newest ? view.token : newest;
        }
    }
    return newest;
}

static void note_states(const struct world *w, struct buffer *out)
{
    static const char *const others[] = { "a",  "b",  "c",  "last", "r-1", "r-2", "r-3",
                                          "x1", "x2", "x3", "y1",   "y2",  "y3",  "plain1" };
    buffer_clear(out);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        buffer_printf(out, "%s ", state_of(w, others[i]));
    }
    for (int i = 0; i < MANY; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "many%d", i);
        buffer_printf(out, "%s ", state_of(w, jid));
    }
}

// Runs a step with its n-th allocation failing; false when it makes fewer than that. Counts what is
// not as it should be.
static bool fail_nth(enum engine_clock clock, const struct step *steps, size_t index, size_t n,
                     const struct buffer *clean, size_t *broken)
{
    const struct step *step = &steps[index];
    struct world *w = world_before(clock, steps, index);
    w->now = step->now;
    const bool may_move =
        step->kind == POPS || (step->kind == LOOKS && clock == ENGINE_CLOCK_CLIENT);
    struct buffer before, states, states_after;
    buffer_init(&before, &allocator_system, SIZE_MAX - 1);
    buffer_init(&states, &allocator_system, SIZE_MAX - 1);
    buffer_init(&states_after, &allocator_system, SIZE_MAX - 1);
    save_but_series(w, &before);
    note_states(w, &states);
    uint64_t token = newest_token(w);
    size_t events = w->events.size;
    w->fault.calls = 0;
    w->fault.failed = false;
    w->fault.fail_at = n;
    enum status status = step->call(w, us(step->now));
    bool reached = w->fault.failed;
    w->fault.fail_at = 0;
    w->fault.failed = false;
    bool right = !status || (reached && status == STATUS_NO_MEMORY);
    bool same = !status || may_move || (same_bytes(w, &before) && w->events.size == events);
    bool given = status == STATUS_NO_MEMORY && newest_token(w) > token;
    note_states(w, &states_after);
    // With the client clock a pop may have done what was due before it failed.
    bool stayed = !status || clock == ENGINE_CLOCK_CLIENT ||
                  slice_equal(buffer_slice(&states), buffer_slice(&states_after));
    size_t unsound = faults_of(w);
    bool again = !status || step->call(w, us(step->now)) == STATUS_OK;
    bool as_clean = may_move || same_bytes(w, clean);
    if (!right || !same || !stayed || given || unsound || !again || !as_clean) {
        print_error("%s at %g, allocation %zu: %s%s%s%s%s%s\n", step->name, step->now, n,
                    right ? "" : " wrong status", same && stayed ? "" : " changed something",
                    given ? " handed out a job" : "", unsound ? " broke an invariant" : "",
                    again ? "" : " fails again", as_clean ? "" : " ends otherwise");
        ++*broken;
    }
    buffer_release(&before);
    buffer_release(&states);
    buffer_release(&states_after);
    world_free(w);
    return reached;
}

static void fail_each(enum engine_clock clock, const struct step *steps)
{
    size_t broken = 0;
    for (size_t i = 0; steps[i].name; i++) {
        struct world *w = world_before(clock, steps, i);
        run(w, &steps[i]);
        struct buffer clean;
        buffer_init(&clean, &allocator_system, SIZE_MAX - 1);
        save_but_series(w, &clean);
        world_free(w);
        for (size_t n = 1; fail_nth(clock, steps, i, n, &clean, &broken); n++) {
        }
        buffer_release(&clean);
    }
    assert_int_equal(broken, 0);
}

static void test_memory__a_call_that_cannot_get_it_changes_nothing(void **state)
{
    (void)state;
    fail_each(ENGINE_CLOCK_SERVER, script);
    fail_each(ENGINE_CLOCK_SERVER, script_of_lanes);
}

static void
test_memory__a_call_that_cannot_get_it_changes_nothing_with_the_client_clock(void **state)
{
    (void)state;
    fail_each(ENGINE_CLOCK_CLIENT, script);
    fail_each(ENGINE_CLOCK_CLIENT, script_of_lanes);
}

// A world in which much is due at once.
static struct world *world_with_dues(void)
{
    struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
    recur_with(w, 0,
               (struct recur_request){ .queue = SLICE("rec"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(40),
                                       .offset_us = us(20),
                                       .tags = slices_of(w, "red,blue") });
    put_with(w, 0, (struct put_request){ .jid = SLICE("last"), .has_retries = true });
    put(w, 0, "q", "a");
    track(w, 0, "a");
    put_later(w, 0, "q", "b", 30);
    pop(w, 0, "q", "w1", 2);
    // A lane that may run again, one that is busy, a result to be dropped, and a deadline with what
    // follows from it.
    limit_set(w, 0, NULL, "x", rate(1, 10, 1));
    limit_set(w, 0, NULL, "y", concurrency(1));
    policy_set(w, 0, POLICY_QUEUE, "lanes", (struct job_options){ .result_ttl_us = us(25) });
    static const char *const jids[] = { "x1", "x2", "y1", "y2", "done" };
    for (size_t i = 0; i < sizeof(jids) / sizeof(jids[0]); i++) {
        const char domain[] = { jids[i][0], '\0' };
        put_with(
            w, 0,
            (struct put_request){ .queue = SLICE("lanes"),
                                  .jid = name_of(jids[i]),
                                  .has_domain = true,
                                  .domain = name_of(domain),
                                  .has_deadline = i % 2,
                                  .deadline_us = us(50),
                                  .unique = { .by = UNIQUE_BY_KEY, .key = name_of(jids[i]) } });
    }
    put_with(w, 0,
             (struct put_request){
                 .queue = SLICE("lanes"),
                 .jid = SLICE("follows"),
                 .depends = slices_of(w, "y2"),
                 .options = &(struct job_options){ .dependency_policy = DEPENDENCY_FAIL } });
    assert_string_equal(pop(w, 0, "lanes", "w1", 9), "x1,y1,done");
    complete_with(w, 0,
                  (struct complete_request){ .holder = { SLICE("done"), SLICE("w1"), .token = 0 },
                                             .result = SLICE("1") });
    return w;
}

static void test_memory__a_tick_that_cannot_get_it_goes_on_the_next_time(void **state)
{
    (void)state;
    struct world *clean = world_with_dues();
    assert_true(tick(clean, 99) == 100);
    struct buffer wanted;
    buffer_init(&wanted, &allocator_system, SIZE_MAX - 1);
    save_but_series(clean, &wanted);
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        struct world *w = world_with_dues();
        w->fault.calls = 0;
        w->fault.fail_at = n;
        double next = tick(w, 99);
        reached = w->fault.failed;
        w->fault.fail_at = 0;
        assert_int_equal(faults_of(w), 0);
        // It wants to be called again at once, unless it could do without.
        assert_true(next == 100 || (reached && next == 99));
        assert_true(tick(w, 99) == 100);
        assert_true(same_bytes(w, &wanted));
        buffer_append_char(&clean->events, '\0');
        expect_events(w, clean->events.data);
        buffer_truncate(&clean->events, clean->events.size - 1);
        world_free(w);
    }
    buffer_release(&wanted);
    world_free(clean);
}

static void test_memory__an_engine_that_cannot_get_it_is_not_made(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        const struct engine_options options = { .allocator = &fault.allocator };
        struct engine *engine = NULL;
        enum status status = engine_new(&options, &engine);
        FAULT_ALLOC_EXPECT(&fault, status);
        if (!status) {
            engine_free(engine);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__a_call_that_cannot_get_it_changes_nothing),
        cmocka_unit_test(
            test_memory__a_call_that_cannot_get_it_changes_nothing_with_the_client_clock),
        cmocka_unit_test(test_memory__a_tick_that_cannot_get_it_goes_on_the_next_time),
        cmocka_unit_test(test_memory__an_engine_that_cannot_get_it_is_not_made),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
