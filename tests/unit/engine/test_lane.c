// SPDX-License-Identifier: MIT
// Lanes of a queue and what limits them.
#include "engine/limit.h"

#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_many_in(struct world *w, double now, const char *domain, int count)
{
    for (int i = 1; i <= count; i++) {
        char jid[32];
        (void)snprintf(jid, sizeof(jid), "%s%d", domain, i);
        put_in(w, now, domain, jid);
    }
}

static void put_prior_in(struct world *w, double now, const char *domain, const char *jid,
                         int32_t priority)
{
    put_with(w, now,
             (struct put_request){ .jid = name_of(jid),
                                   .has_domain = true,
                                   .domain = name_of(domain),
                                   .has_priority = true,
                                   .priority = priority });
}

// ---------------------------------------------------------------------------------------------
// The order

static void test_lane__without_limits_lanes_change_nothing_in_the_order(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "a1");
    put_in(w, 1, "b", "b1");
    put_in(w, 2, "a", "a2");
    put(w, 3, "q", "plain");
    put_in(w, 4, "b", "b2");
    put_prior_in(w, 5, "b", "urgent", -1);
    put_prior_in(w, 6, "a", "idle", 1);
    assert_string_equal(peek(w, 7, "q", 9), "urgent,a1,b1,a2,plain,b2,idle");
    assert_string_equal(pop(w, 7, "q", "w1", 2), "urgent,a1");
    assert_string_equal(pop(w, 7, "q", "w1", 1), "b1");
    assert_string_equal(pop(w, 7, "q", "w1", 9), "a2,plain,b2,idle");
    assert_slice_equal(view_of(w, "urgent").domain, "b");
    assert_slice_equal(view_of(w, "plain").domain, "");
}

static void test_lane__a_lost_lease_is_first_among_all_lanes(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_in(w, 0, "a", "a1");
    pop(w, 0, "q", "w1", 1);
    put_prior_in(w, 1, "b", "b1", -100);
    put_in(w, 2, "a", "a2");
    assert_string_equal(peek(w, 60, "q", 9), "a1,b1,a2");
    assert_string_equal(pop(w, 60, "q", "w1", 9), "a1,b1,a2");
}

static void test_lane__a_changed_priority_counts_among_all_lanes(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "a1");
    put_in(w, 1, "b", "b1");
    put_in(w, 2, "b", "b2");
    put(w, 3, "q", "c");
    said(w, engine_priority(w->engine, at(w, 4), SLICE("b2"), -1, &w->error));
    said(w, engine_priority(w->engine, at(w, 4), SLICE("c"), -1, &w->error));
    assert_string_equal(pop(w, 4, "q", "w1", 9), "b2,c,a1,b1");
}

static void test_lane__a_job_keeps_its_domain_until_a_put_gives_another(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "j");
    put(w, 1, "r", "j");
    assert_slice_equal(view_of(w, "j").domain, "a");
    assert_string_equal(lane_of(w, 1, "r", "a"), "waiting 1");
    assert_string_equal(lane_of(w, 1, "q", "a"), "");
    put_in(w, 2, "b", "j");
    assert_string_equal(lane_of(w, 2, "q", "b"), "waiting 1");
    put_in(w, 3, NULL, "j");
    assert_slice_equal(view_of(w, "j").domain, "");
    assert_string_equal(lane_of(w, 3, "q", NULL), "waiting 1");
    assert_int_equal(lane_count(w), 0);
}

static void test_lane__the_domain_goes_on_with_the_job_into_the_next_queue(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "r", "a", concurrency(1));
    put_in(w, 0, "a", "a1");
    put_in(w, 0, "a", "a2");
    pop(w, 0, "q", "w1", 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(
            complete_with(w, 1,
                          (struct complete_request){
                              .holder = { .jid = name_of(i ? "a2" : "a1"), .worker = SLICE("w1") },
                              .next = SLICE("r") }),
            "waiting");
    }
    assert_string_equal(lane_of(w, 1, "r", "a"), "waiting 2, concurrency 1");
    assert_string_equal(pop(w, 2, "r", "w1", 2), "a1");
}

// ---------------------------------------------------------------------------------------------
// Rate

static void test_lane__a_rate_is_kept_to_the_microsecond(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(3, 1, 2));
    put_many_in(w, 0, "a", 6);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2");
    assert_string_equal(lane_of(w, 0, "q", "a"),
                        "waiting 4, running 2, rate 3/1 burst 2, ready 0.333334");
    assert_string_equal(pop(w, 0.333333, "q", "w1", 9), "");
    assert_string_equal(pop(w, 0.333334, "q", "w1", 9), "a3");
    assert_string_equal(pop(w, 0.666666, "q", "w1", 9), "");
    assert_string_equal(pop(w, 0.666667, "q", "w1", 9), "a4");
    assert_string_equal(pop(w, 0.999999, "q", "w1", 9), "");
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a5");
}

static void test_lane__what_was_not_used_is_saved_up_to_the_burst(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 1, 3));
    limit_set(w, 0, NULL, "b", rate(1, 1, 0));
    put_many_in(w, 0, "a", 9);
    put_many_in(w, 0, "b", 9);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2,a3,b1");
    assert_string_equal(pop(w, 2.5, "q", "w1", 9), "a4,a5,b2");
    assert_string_equal(pop(w, 40, "q", "w1", 9), "a6,a7,a8,b3");
    assert_string_equal(limits(w), "/a: rate 1/1 burst 3; /b: rate 1/1 burst 1");
}

static void test_lane__the_tick_wants_to_be_called_when_the_first_lane_may_run(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    limit_set(w, 0, NULL, "b", rate(1, 4, 1));
    limit_set(w, 0, "r", "c", rate(3, 20.000001, 1));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "b", 4);
    for (int i = 1; i <= 3; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "c%d", i);
        put_with(w, 0,
                 (struct put_request){ .queue = SLICE("r"),
                                       .jid = name_of(jid),
                                       .has_domain = true,
                                       .domain = SLICE("c") });
    }
    // Nothing to wait for while all may run.
    assert_true(tick(w, 0) == -1);
    assert_string_equal(pop_queues(w, 0, "q,r", POP_ORDERED, 9), "a1,b1,c1");
    assert_true(tick(w, 0) == 4);
    assert_true(tick(w, 3.999999) == 4);
    assert_string_equal(pop_queues(w, 3.999999, "q,r", POP_ORDERED, 9), "");
    // A third of 20.000001 seconds, and not a microsecond less.
    assert_true(tick(w, 4) == 6.666667);
    assert_string_equal(pop_queues(w, 4, "q,r", POP_ORDERED, 9), "b2");
    assert_true(tick(w, 4) == 6.666667);
    assert_string_equal(pop_queues(w, 6.666666, "q,r", POP_ORDERED, 9), "");
    assert_string_equal(pop_queues(w, 6.666667, "q,r", POP_ORDERED, 9), "c2");
    assert_true(tick(w, 7) == 8);
    assert_string_equal(pop_queues(w, 8, "q,r", POP_ORDERED, 9), "b3");
    assert_true(tick(w, 8) == 10);
    assert_string_equal(pop_queues(w, 10, "q,r", POP_ORDERED, 9), "a2");
    assert_true(tick(w, 10) == 12);
}

static void test_lane__a_lane_that_may_run_and_is_not_asked_wakes_nobody_again(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 0, "a", 3);
    pop(w, 0, "q", "w1", 1);
    said(w, engine_pause(w->engine, at(w, 1), slices_of(w, "q"), &w->error));
    assert_true(tick(w, 1) == 10);
    assert_true(tick(w, 10) == 60); // the lease
    assert_string_equal(pop(w, 11, "q", "w1", 1), "");
    assert_true(tick(w, 11) == 60);
    said(w, engine_unpause(w->engine, at(w, 12), slices_of(w, "q"), &w->error));
    assert_string_equal(pop(w, 12, "q", "w1", 9), "a2");
}

static void test_lane__an_empty_lane_is_not_waited_for(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 0, "a", 2);
    pop(w, 0, "q", "w1", 1);
    assert_true(tick(w, 0) == 10);
    cancel(w, 1, "a2");
    assert_true(tick(w, 1) == 60);
    put_in(w, 2, "a", "a3");
    assert_true(tick(w, 2) == 10);
    complete(w, 3, "w1", "a1");
    assert_true(tick(w, 3) == 10);
    assert_true(tick(w, 10) == -1);
}

static void
test_lane__with_the_client_clock_time_that_goes_back_brings_and_takes_nothing(void **state)
{
    struct world *w = *state;
    limit_set(w, 100, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 100, "a", 5);
    assert_string_equal(pop(w, 100, "q", "w1", 9), "a1");
    assert_string_equal(pop(w, 50, "q", "w1", 9), "");
    assert_string_equal(pop(w, 109.999999, "q", "w1", 9), "");
    assert_string_equal(pop(w, 110, "q", "w1", 9), "a2");
    // A bucket that is full has no time: it counts from when the first token is taken.
    limit_set(w, 110, NULL, "b", rate(1, 10, 2));
    put_in(w, 110, "b", "b1");
    assert_string_equal(pop(w, 20, "q", "w1", 9), "b1");
    put_in(w, 20, "b", "b2");
    put_in(w, 20, "b", "b3");
    assert_string_equal(pop(w, 20, "q", "w1", 9), "b2");
    assert_string_equal(pop(w, 29, "q", "w1", 9), "");
    assert_string_equal(peek(w, 29, "q", 9), "b3,a3,a4,a5");
    assert_true(tick(w, 29) == -1);
    assert_string_equal(pop(w, 30, "q", "w1", 9), "b3");
}

static void
test_lane__a_lane_that_was_ready_is_asked_again_when_the_clock_has_gone_back(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_many_in(w, 0, "a", 3);
    put(w, 0, "q", "plain");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a1");
    // A pop of none sees at 10 that the lane may run. At 5 it may not.
    assert_string_equal(pop(w, 10, "q", "w1", 1), "a2");
    assert_string_equal(pop(w, 5, "q", "w1", 1), "plain");
    assert_string_equal(pop(w, 19, "q", "w1", 1), "");
    assert_string_equal(pop(w, 20, "q", "w1", 1), "a3");
}

// ---------------------------------------------------------------------------------------------
// Concurrency

static void by_complete(struct world *w, double now)
{
    complete(w, now, "w1", "a1");
}

static void by_going_on(struct world *w, double now)
{
    complete_with(w, now,
                  (struct complete_request){ .holder = { SLICE("a1"), SLICE("w1"), .token = 0 },
                                             .next = SLICE("other") });
}

static void by_fail(struct world *w, double now)
{
    fail_job(w, now, "w1", "a1", "bad");
}

static void by_retry(struct world *w, double now)
{
    assert_int_equal(retry(w, now, "w1", "a1"), 4);
}

static void by_late_retry(struct world *w, double now)
{
    retry_with(w, now,
               (struct retry_request){ .holder = { SLICE("a1"), SLICE("w1"), .token = 0 },
                                       .has_delay = true,
                                       .delay_us = us(100) });
}

static void by_retry_elsewhere(struct world *w, double now)
{
    retry_with(w, now,
               (struct retry_request){ .holder = { SLICE("a1"), SLICE("w1"), .token = 0 },
                                       .to = SLICE("other") });
}

static void by_cancel(struct world *w, double now)
{
    assert_int_equal(cancel(w, now, "a1"), 1);
}

static void by_put(struct world *w, double now)
{
    put(w, now, "q", "a1");
}

static void by_put_elsewhere(struct world *w, double now)
{
    put(w, now, "other", "a1");
}

static void by_put_into_another_lane(struct world *w, double now)
{
    put_in(w, now, "b", "a1");
}

static void by_timeout(struct world *w, double now)
{
    time_out(w, now, "a1");
}

static void by_lost_lease(struct world *w, double now)
{
    // It ran out at 60; with the client clock this pop finds out.
    assert_string_equal(pop(w, 60, "q", "w2", 9), "");
    assert_string_equal(pop(w, 69, "q", "w2", 9), "");
    assert_true(now >= 70);
}

static void by_unknown_worker(struct world *w, double now)
{
    said(w, engine_worker_deregister(w->engine, at(w, now), slices_of(w, "w1"), &w->error));
    time_out(w, now, "a1");
}

static void test_lane__concurrency_is_given_back_however_a_lease_ends(void **state)
{
    struct world *given = *state;
    static const struct {
        const char *name;
        void (*act)(struct world *w, double now);
        const char *next; // what can be popped then
        double now;
    } ends[] = {
        { "complete", by_complete, "a2", 50 },
        { "complete into the next queue", by_going_on, "a2", 50 },
        { "fail", by_fail, "a2", 50 },
        { "retry", by_retry, "a2", 50 },
        { "retry with a delay", by_late_retry, "a2", 50 },
        { "retry in another queue", by_retry_elsewhere, "a2", 50 },
        { "cancel", by_cancel, "a2", 50 },
        { "put", by_put, "a2", 50 },
        { "put into another queue", by_put_elsewhere, "a2", 50 },
        { "put into another lane", by_put_into_another_lane, "a2,a1", 50 },
        { "timeout", by_timeout, "a1", 50 },
        { "lost lease", by_lost_lease, "a1", 70 },
        { "worker deregistered", by_unknown_worker, "a1", 50 },
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct world *w = world_new(given->clock, 1);
        limit_set(w, 0, "q", "a", concurrency(1));
        put_many_in(w, 0, "a", 3);
        assert_string_equal(pop(w, 0, "q", "w1", 9), "a1");
        assert_string_equal(lane_of(w, 0, "q", "a"), "waiting 2, running 1, concurrency 1, busy");
        assert_string_equal(pop(w, 5, "q", "w2", 9), "");
        double now = ends[i].now;
        ends[i].act(w, now);
        const char *popped = pop(w, now, "q", "w2", 9);
        if (strcmp(popped, ends[i].next) != 0) {
            print_error("after %s: %s\n", ends[i].name, popped);
        }
        assert_string_equal(popped, ends[i].next);
        assert_string_equal(pop(w, now, "q", "w3", 9), "");
        assert_int_equal(faults_of(w), 0);
        reload(w);
        assert_string_equal(pop(w, now, "q", "w3", 9), "");
        world_free(w);
    }
}

static void test_lane__a_lease_in_its_grace_counts(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", concurrency(2));
    put_many_in(w, 0, "a", 3);
    pop(w, 0, "q", "w1", 1);
    pop(w, 30, "q", "w2", 1);
    assert_string_equal(pop(w, 65, "q", "w3", 9), "");
    assert_true(view_of(w, "a1").grace);
    assert_string_equal(lane_of(w, 65, "q", "a"), "waiting 1, running 2, concurrency 2, busy");
    // The holder is back in time.
    complete(w, 66, "w1", "a1");
    assert_string_equal(pop(w, 66, "q", "w3", 9), "a3");
}

static void test_lane__a_stale_holder_releases_nothing_a_second_time(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_many_in(w, 0, "a", 3);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1");
    assert_string_equal(pop(w, 60, "q", "w2", 9), "a1");
    refused(w, STATUS_STALE, "job a1 has been given to another worker: w2");
    complete(w, 60, "w1", "a1");
    refused(w, STATUS_STALE, "another worker");
    fail_job(w, 60, "w1", "a1", "bad");
    refused(w, STATUS_STALE, "another worker");
    retry(w, 60, "w1", "a1");
    assert_string_equal(lane_of(w, 60, "q", "a"), "waiting 2, running 1, concurrency 1, busy");
    assert_string_equal(pop(w, 60, "q", "w3", 9), "");
    complete(w, 61, "w2", "a1");
    refused(w, STATUS_STATE, "job a1 is not running: complete");
    complete(w, 61, "w2", "a1");
    assert_string_equal(pop(w, 61, "q", "w3", 9), "a2");
    refused(w, STATUS_STATE, "job a1 is not running: complete");
    complete(w, 61, "w1", "a1");
    assert_string_equal(pop(w, 61, "q", "w3", 9), "");
}

static void test_lane__concurrency_is_of_a_lane_and_not_of_a_domain(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_in(w, 0, "a", "q1");
    put_in(w, 0, "a", "q2");
    put_with(
        w, 0,
        (struct put_request){
            .queue = SLICE("r"), .jid = SLICE("r1"), .has_domain = true, .domain = SLICE("a") });
    assert_string_equal(pop_queues(w, 1, "q,r", POP_ORDERED, 9), "q1,r1");
}

static void test_lane__the_concurrency_of_the_queue_counts_too(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "3");
    limit_set(w, 0, NULL, "*", concurrency(2));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "b", 3);
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a1,a2,b1");
    complete(w, 2, "w1", "a1");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a3");
    complete(w, 3, "w1", "b1");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "b2");
}

static void test_lane__rate_and_concurrency_both_hold(void **state)
{
    struct world *w = *state;
    struct limit both = rate(1, 1, 2);
    both.has_concurrency = true;
    both.concurrency = 3;
    limit_set(w, 0, NULL, "a", both);
    put_many_in(w, 0, "a", 9);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2");
    assert_string_equal(pop(w, 5, "q", "w1", 9), "a3");
    // Nothing happens by itself while it is busy.
    assert_string_equal(lane_of(w, 5, "q", "a"),
                        "waiting 6, running 3, rate 1/1 burst 2, concurrency 3, busy");
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 5) == 60);
    }
    complete(w, 5.25, "w1", "a1");
    complete(w, 5.25, "w1", "a2");
    complete(w, 5.25, "w1", "a3");
    assert_string_equal(pop(w, 5.25, "q", "w1", 9), "a4");
    assert_string_equal(lane_of(w, 5.25, "q", "a"),
                        "waiting 5, running 1, rate 1/1 burst 2, concurrency 3, ready 6");
    assert_string_equal(pop(w, 6, "q", "w1", 9), "a5");
}

static void test_lane__a_stalled_lane_does_not_hold_up_the_others(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "slow", concurrency(1));
    put_many_in(w, 0, "slow", 50);
    put_in(w, 1, "other", "late");
    assert_string_equal(pop(w, 2, "q", "w1", 5), "slow1,late");
    put(w, 3, "q", "plain");
    assert_string_equal(pop(w, 3, "q", "w1", 5), "plain");
}

static void test_lane__queues_in_turn_pass_over_lanes_that_may_not_run(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, "q", NULL, concurrency(2));
    put(w, 0, "q", "q1");
    put(w, 0, "q", "q2");
    put(w, 0, "q", "q3");
    put(w, 0, "r", "r1");
    put(w, 0, "r", "r2");
    put(w, 0, "r", "r3");
    assert_string_equal(pop_queues(w, 1, "q,r", POP_ROUND_ROBIN, 9), "q1,r1,q2,r2,r3");
}

// ---------------------------------------------------------------------------------------------
// Which limit holds

static void test_lane__the_most_specific_limit_holds(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *queue, *domain;
        const char *here; // what then holds for the domain user.42 in the queue q
    } steps[] = {
        { NULL, NULL, "concurrency 1" },         { "q", NULL, "concurrency 2" },
        { NULL, "*", "concurrency 3" },          { NULL, "u*", "concurrency 4" },
        { NULL, "u*4*2", "concurrency 5" },      { "q", "*", "concurrency 6" },
        { "q", "*2", "concurrency 7" },          { "q", "user.*", "concurrency 8" },
        { NULL, "user.42", "concurrency 9" },    { "q", "user.42", "concurrency 10" },
        { "r", "user.42", "concurrency 10" },    { NULL, "other", "concurrency 10" },
        { "q", "user.4", "concurrency 10" },     { "q", "user.421", "concurrency 10" },
        { "q", "*user.42*x", "concurrency 10" },
    };
    const size_t count = sizeof(steps) / sizeof(steps[0]);
    put_in(w, 0, "user.42", "j");
    char expected[64];
    for (size_t i = 0; i < count; i++) {
        limit_set(w, 0, steps[i].queue, steps[i].domain, concurrency((int64_t)i + 1));
        (void)snprintf(expected, sizeof(expected), "waiting 1, %s", steps[i].here);
        assert_string_equal(lane_of(w, 0, "q", "user.42"), expected);
    }
    assert_string_equal(lane_of(w, 0, "q", "user.43"), "concurrency 8");
    assert_string_equal(lane_of(w, 0, "q", "group.2"), "concurrency 7");
    assert_string_equal(lane_of(w, 0, "q", "group.3"), "concurrency 6");
    assert_string_equal(lane_of(w, 0, "q", NULL), "concurrency 2");
    assert_string_equal(lane_of(w, 0, "s", "user.42"), "concurrency 9");
    assert_string_equal(lane_of(w, 0, "s", "us4er2"), "concurrency 5");
    assert_string_equal(lane_of(w, 0, "s", "user"), "concurrency 4");
    assert_string_equal(lane_of(w, 0, "s", "group"), "concurrency 3");
    assert_string_equal(lane_of(w, 0, "s", NULL), "concurrency 1");
    reload(w);
    for (size_t i = count; i-- > 1;) {
        limit_unset(w, 0, steps[i].queue, steps[i].domain);
        (void)snprintf(expected, sizeof(expected), "waiting 1, %s", steps[i - 1].here);
        assert_string_equal(lane_of(w, 0, "q", "user.42"), expected);
    }
    limit_unset(w, 0, NULL, NULL);
    assert_string_equal(lane_of(w, 0, "q", "user.42"), "waiting 1");
    assert_string_equal(limits(w), "");
}

static void test_lane__among_equal_patterns_the_smaller_one_holds(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a*", concurrency(1));
    limit_set(w, 0, NULL, "*a", concurrency(2));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 2");
    limit_set(w, 0, NULL, "*a*", concurrency(3));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 2");
    limit_set(w, 0, NULL, "**a", concurrency(4));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 4");
    limit_set(w, 0, NULL, "a*a", concurrency(5));
    assert_string_equal(lane_of(w, 0, "q", "aa"), "concurrency 5");
}

static void test_lane__for_each_of_rate_concurrency_and_weight_another_limit_may_hold(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, NULL, weight(7));
    struct limit both = concurrency(4);
    both.has_rate = true; // as many as there are
    limit_set(w, 0, "q", NULL, both);
    limit_set(w, 0, NULL, "a*", rate(1, 2, 3));
    assert_string_equal(lane_of(w, 0, "q", "ab"), "rate 1/2 burst 3, concurrency 4, weight 7");
    assert_string_equal(lane_of(w, 0, "q", "b"), "concurrency 4, weight 7");
    assert_string_equal(lane_of(w, 0, "r", "ab"), "rate 1/2 burst 3, weight 7");
    // To say that there is no limit is to say something.
    limit_set(w, 0, "q", "ab", concurrency(0));
    assert_string_equal(lane_of(w, 0, "q", "ab"), "rate 1/2 burst 3, weight 7");
    limit_set(w, 0, NULL, "ab", rate(0, 0, 0));
    assert_string_equal(lane_of(w, 0, "q", "ab"), "weight 7");
    assert_string_equal(lane_of(w, 0, "r", "ab"), "weight 7");
    assert_string_equal(limits(w), "/: weight 7; q/: rate 0, concurrency 4; /a*: rate 1/2 burst 3; "
                                   "q/ab: concurrency 0; /ab: rate 0");
    // A new one takes the place of the old one, and says only what it says.
    limit_set(w, 0, "q", NULL, weight(2));
    assert_string_equal(limits(w), "/: weight 7; q/: weight 2; /a*: rate 1/2 burst 3; "
                                   "q/ab: concurrency 0; /ab: rate 0");
    assert_string_equal(lane_of(w, 0, "q", "b"), "weight 2");
}

static void test_lane__patterns(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *pattern, *domain;
        bool matches;
    } cases[] = {
        { "*", "a", true },          { "*", "anything at all", true },
        { "**", "a", true },         { "a*", "a", true },
        { "a*", "ab", true },        { "a*", "ba", false },
        { "*a", "a", true },         { "*a", "ba", true },
        { "*a", "aab", false },      { "*a", "aaba", true },
        { "a*b", "ab", true },       { "a*b", "axxb", true },
        { "a*b", "abab", true },     { "a*b", "a", false },
        { "a*b", "b", false },       { "a*b", "abc", false },
        { "a*a", "a", false },       { "a*a", "aa", true },
        { "*a*b*c*", "abc", true },  { "*a*b*c*", "xaxbxcx", true },
        { "*a*b*c*", "acb", false }, { "a**b", "ab", true },
        { "*ab*ab", "abab", true },  { "*ab*ab", "aab", false },
        { "*aab", "aaab", true },    { "a.*", "a", false },
        { "a.*", "a.", true },       { "a?", "ab", false },
        { "[ab]*", "a", false },     { "A*", "a", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        // A pattern without a star would be a domain.
        bool pattern = strchr(cases[i].pattern, '*') != NULL;
        assert_true(pattern || !cases[i].matches);
        limit_set(w, 0, NULL, cases[i].pattern, concurrency(9));
        const char *lane = lane_of(w, 0, "q", cases[i].domain);
        if (strcmp(lane, cases[i].matches ? "concurrency 9" : "") != 0) {
            print_error("%s and %s: %s\n", cases[i].pattern, cases[i].domain, lane);
        }
        assert_string_equal(lane, cases[i].matches ? "concurrency 9" : "");
        limit_unset(w, 0, NULL, cases[i].pattern);
    }
    // The default lane has no domain, so that no pattern matches it.
    limit_set(w, 0, "q", "*", concurrency(1));
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(lane_of(w, 0, "q", NULL), "waiting 2");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a,b");
}

static void test_lane__the_limit_of_a_queue_holds_for_its_default_lane_and_each_other(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "r", "c");
    put(w, 0, "r", "d");
    put_in(w, 0, "x", "x1");
    put_in(w, 0, "x", "x2");
    limit_set(w, 0, "q", NULL, rate(1, 10, 1));
    assert_string_equal(pop_queues(w, 0, "q,r", POP_ORDERED, 9), "a,x1,c,d");
    assert_string_equal(lane_of(w, 0, "q", NULL),
                        "waiting 1, running 1, rate 1/10 burst 1, ready 10");
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 0) == 10);
    }
    assert_string_equal(pop(w, 9, "q", "w1", 9), "");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "b,x2");
    limit_unset(w, 10, "q", NULL);
    put(w, 10, "q", "e");
    put_in(w, 10, "x", "x3");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "e,x3");
}

static void test_lane__one_domain_may_be_without_the_limit_of_all(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, NULL, rate(1, 100, 1));
    limit_set(w, 0, NULL, "vip", rate(0, 0, 0));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "vip", 3);
    assert_string_equal(lane_of(w, 0, "q", "vip"), "waiting 3");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,vip1,vip2,vip3");
}

// ---------------------------------------------------------------------------------------------
// Limits that change

static void test_lane__a_changed_rate_keeps_whole_tokens_up_to_the_new_burst(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat", "1000");
    limit_set(w, 0, NULL, "a", rate(1, 1, 5));
    put_many_in(w, 0, "a", 30);
    assert_string_equal(pop(w, 0, "q", "w1", 2), "a1,a2");
    // Three and a half are there; two of them are kept.
    limit_set(w, 0.5, NULL, "a", rate(1, 10, 2));
    assert_string_equal(pop(w, 0.5, "q", "w1", 9), "a3,a4");
    assert_string_equal(lane_of(w, 0.5, "q", "a"),
                        "waiting 26, running 4, rate 1/10 burst 2, ready 10.5");
    // The same once more changes nothing.
    limit_set(w, 4, NULL, "a", rate(1, 10, 2));
    limit_set(w, 4, NULL, NULL, rate(9, 9, 9));
    limit_set(w, 4, NULL, "a*", rate(9, 9, 9));
    limit_set(w, 4, "q", "a", concurrency(100));
    limit_set(w, 4, NULL, "a", rate(1, 10, 2));
    assert_string_equal(lane_of(w, 4, "q", "a"),
                        "waiting 26, running 4, rate 1/10 burst 2, concurrency 100, ready 10.5");
    // Half a token is dropped, and the time counts from then.
    limit_set(w, 5.5, NULL, "a", rate(2, 10, 9));
    assert_string_equal(lane_of(w, 5.5, "q", "a"),
                        "waiting 26, running 4, rate 2/10 burst 9, concurrency 100, ready 10.5");
    assert_string_equal(pop(w, 10.5, "q", "w1", 9), "a5");
    assert_string_equal(pop(w, 25.6, "q", "w1", 9), "a6,a7,a8");
    // Not limited at all it has no bucket; limited once more the bucket is full.
    limit_set(w, 26, NULL, "a", rate(0, 0, 0));
    assert_string_equal(pop(w, 26, "q", "w1", 2), "a9,a10");
    limit_set(w, 27, NULL, "a", rate(1, 1000, 3));
    assert_string_equal(pop(w, 27, "q", "w1", 9), "a11,a12,a13");
    // Another limit that holds for the lane is a change too.
    limit_set(w, 127, "q", "a", rate(1, 50, 1));
    assert_string_equal(lane_of(w, 127, "q", "a"),
                        "waiting 17, running 13, rate 1/50 burst 1, ready 177");
}

static void test_lane__without_its_limit_a_lane_runs_at_once(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 1000, 1));
    limit_set(w, 0, "q", "b", concurrency(1));
    put_many_in(w, 0, "a", 3);
    put_many_in(w, 0, "b", 3);
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a1,b1");
    limit_unset(w, 2, NULL, "a");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a2,a3");
    limit_unset(w, 3, "q", "b");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "b2,b3");
    assert_string_equal(limits(w), "");
    // Nothing happens when there is none.
    limit_unset(w, 3, "q", "b");
    limit_unset(w, 3, NULL, NULL);
}

static void test_lane__a_lower_concurrency_takes_no_lease_away(void **state)
{
    struct world *w = *state;
    put_many_in(w, 0, "a", 6);
    pop(w, 0, "q", "w1", 3);
    limit_set(w, 1, NULL, "a", concurrency(2));
    assert_string_equal(lane_of(w, 1, "q", "a"), "waiting 3, running 3, concurrency 2, busy");
    complete(w, 2, "w1", "a1");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "");
    complete(w, 2, "w1", "a2");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a4");
    limit_set(w, 3, NULL, "a", concurrency(3));
    assert_string_equal(pop(w, 3, "q", "w1", 9), "a5");
}

static void test_lane__a_limit_that_comes_while_all_is_plain_counts_at_once(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    limit_set(w, 1, NULL, NULL, concurrency(2));
    assert_string_equal(pop(w, 1, "q", "w1", 9), "b");
    complete(w, 2, "w1", "a");
    assert_string_equal(pop(w, 2, "q", "w1", 9), "c");
    limit_unset(w, 3, NULL, NULL);
    put(w, 3, "q", "d");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "d");
}

static void test_lane__limits_and_buckets_survive_being_saved(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(3, 1, 2));
    limit_set(w, 0, "q", "b*", concurrency(1));
    limit_set(w, 0, "q", NULL, rate(1, 4, 1));
    put_many_in(w, 0, "a", 6);
    put_many_in(w, 0, "b", 3);
    put(w, 0, "q", "plain");
    put(w, 0, "q", "plain2");
    reload(w);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a1,a2,b1,plain");
    reload(w);
    assert_string_equal(limits(w),
                        "/a: rate 3/1 burst 2; q/b*: concurrency 1; q/: rate 1/4 burst 1");
    assert_string_equal(pop(w, 0.333333, "q", "w1", 9), "");
    reload(w);
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 0.333333) == 0.333334);
    }
    assert_string_equal(pop(w, 0.333334, "q", "w1", 9), "a3");
    reload(w);
    assert_string_equal(pop(w, 0.666666, "q", "w1", 9), "");
    assert_string_equal(pop(w, 0.666667, "q", "w1", 9), "a4");
    complete(w, 1, "w1", "b1");
    reload(w);
    assert_string_equal(pop(w, 3.999999, "q", "w1", 9), "a5,a6");
    assert_string_equal(pop(w, 4, "q", "w1", 9), "b2,plain2");
}

// ---------------------------------------------------------------------------------------------
// Lists

enum {
    LISTED = 90,
};

struct listed {
    char jid[16];
    int32_t priority;
    int64_t time;
    int id;
};

static int by_line(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return a->id - b->id;
}

static void test_lane__every_page_of_a_list_is_a_part_of_the_whole_line(void **state)
{
    struct world *w = *state;
    static struct listed line[LISTED];
    struct random random;
    random_init(&random);
    int64_t now = 0;
    // None of this shows in a list.
    limit_set(w, 0, NULL, NULL, rate(1, 1000, 1));
    limit_set(w, 0, NULL, "lane1", concurrency(1));
    for (int i = 0; i < LISTED; i++) {
        struct listed *job = &line[i];
        (void)snprintf(job->jid, sizeof(job->jid), "j%d", i);
        char domain[16] = "";
        if (random_below(&random, 3)) {
            (void)snprintf(domain, sizeof(domain), "lane%d", (int)random_below(&random, 6));
        }
        job->priority = (int32_t)random_below(&random, 4) - 2;
        job->time = now += (int64_t)random_below(&random, 2);
        job->id = i;
        put_prior_in(w, (double)now, domain, job->jid, job->priority);
    }
    qsort(line, LISTED, sizeof(line[0]), by_line);
    char count[32];
    (void)snprintf(count, sizeof(count), "waiting %d", LISTED);
    assert_string_equal(queue_of(w, (double)now, "q"), count);
    assert_int_equal(engine_length(w->engine, SLICE("q")), LISTED);
    struct buffer expected;
    buffer_init(&expected, &allocator_system, SIZE_MAX - 1);
    for (size_t offset = 0; offset <= LISTED + 1; offset++) {
        for (size_t size = 0; size <= LISTED; size += 1 + size / 2) {
            buffer_clear(&expected);
            buffer_printf(&expected, "%d: ", LISTED);
            for (size_t i = offset; i < offset + size && i < LISTED; i++) {
                buffer_printf(&expected, "%s%s", i > offset ? "," : "", line[i].jid);
            }
            buffer_append_char(&expected, '\0');
            assert_string_equal(jobs(w, (double)now, LIST_WAITING, "q", offset, size),
                                expected.data);
        }
    }
    // And peek is the first page.
    buffer_clear(&expected);
    for (size_t i = 0; i < LISTED; i++) {
        buffer_printf(&expected, "%s%s", i ? "," : "", line[i].jid);
    }
    buffer_append_char(&expected, '\0');
    assert_string_equal(peek(w, (double)now, "q", LISTED), expected.data);
    // Without limits that is what comes out.
    limit_unset(w, (double)now, NULL, NULL);
    limit_unset(w, (double)now, NULL, "lane1");
    assert_string_equal(pop(w, (double)now, "q", "w1", LISTED), expected.data);
    buffer_release(&expected);
}

static void test_lane__peek_and_lists_show_what_may_not_run(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_many_in(w, 0, "a", 3);
    put(w, 1, "q", "plain");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a1");
    assert_string_equal(peek(w, 1, "q", 9), "a2,a3,plain");
    assert_string_equal(jobs(w, 1, LIST_WAITING, "q", 0, 9), "3: a2,a3,plain");
    assert_string_equal(jobs(w, 1, LIST_RUNNING, "q", 0, 9), "1: a1");
    assert_string_equal(queue_of(w, 1, "q"), "waiting 3, running 1, listeners 1");
    assert_string_equal(pop(w, 1, "q", "w1", 9), "plain");
    assert_string_equal(peek(w, 1, "q", 9), "a2,a3");
}

// ---------------------------------------------------------------------------------------------
// Lanes come and go

static void test_lane__a_lane_with_nothing_is_forgotten(void **state)
{
    struct world *w = *state;
    put_in(w, 0, "a", "a1");
    put_in(w, 0, "b", "b1");
    assert_int_equal(lane_count(w), 2);
    cancel(w, 0, "a1");
    assert_int_equal(lane_count(w), 1);
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(lane_count(w), 1);
    complete(w, 1, "w1", "b1");
    assert_int_equal(lane_count(w), 0);
    // A job that waits for its time or for others is in no lane.
    put_with(
        w, 1,
        (struct put_request){
            .jid = SLICE("later"), .has_domain = true, .domain = SLICE("c"), .delay_us = us(5) });
    put_with(w, 1,
             (struct put_request){ .jid = SLICE("depends"),
                                   .has_domain = true,
                                   .domain = SLICE("d"),
                                   .depends = slices_of(w, "later") });
    assert_int_equal(lane_count(w), 0);
    assert_string_equal(pop(w, 6, "q", "w1", 9), "later");
    assert_int_equal(lane_count(w), 1);
    complete(w, 6, "w1", "later");
    assert_int_equal(lane_count(w), 1);
    assert_string_equal(pop(w, 6, "q", "w1", 9), "depends");
    fail_job(w, 6, "w1", "depends", "bad");
    assert_int_equal(lane_count(w), 0);
    assert_int_equal(unfail(w, 7, "q", "bad", 1), 1);
    assert_int_equal(lane_count(w), 1);
    cancel(w, 7, "depends");
    assert_int_equal(lane_count(w), 0);
}

static void test_lane__a_call_that_is_refused_makes_no_lane(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "plain");
    refused(w, STATUS_NOT_FOUND, "job j does not exist");
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("j"), .has_domain = true, .domain = SLICE("a"), .must_exist = true });
    char long_name[ENGINE_NAME_SIZE_MAX + 1];
    memset(long_name, 'x', sizeof(long_name));
    struct slice tag = slice_make(long_name, sizeof(long_name));
    refused(w, STATUS_INVALID, "tag is 256 bytes long, and at most 255 are allowed");
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("j"),
                                   .has_domain = true,
                                   .domain = SLICE("a"),
                                   .has_tags = true,
                                   .tags = { &tag, 1 } });
    assert_int_equal(lane_count(w), 0);
}

static void test_lane__a_lane_rests_until_it_has_got_back_what_its_rate_allows(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 2));
    put_many_in(w, 0, "a", 2);
    pop(w, 0, "q", "w1", 9);
    complete(w, 1, "w1", "a1");
    complete(w, 1, "w1", "a2");
    assert_int_equal(lane_count(w), 1);
    reload(w);
    assert_int_equal(lane_count(w), 1);
    // It has not forgotten what was taken.
    put_in(w, 10, "a", "a3");
    put_in(w, 10, "a", "a4");
    assert_string_equal(pop(w, 10, "q", "w1", 9), "a3");
    cancel(w, 11, "a3,a4");
    assert_int_equal(lane_count(w), 1);
    put_in(w, 29, "b", "b1");
    assert_int_equal(lane_count(w), 2);
    // Full again at 30: the next who touches a lane of the queue finds nothing worth keeping.
    put_in(w, 30, "b", "b2");
    assert_int_equal(lane_count(w), 1);
}

static void
test_lane__a_lane_that_has_rested_long_enough_makes_no_difference_when_saved(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "a", rate(1, 10, 1));
    put_in(w, 0, "a", "a1");
    pop(w, 0, "q", "w1", 9);
    complete(w, 1, "w1", "a1");
    tick(w, 9);
    reload(w);
    tick(w, 50);
    reload(w);
    put(w, 51, "r", "elsewhere");
    reload(w);
}

static void test_lane__thousands_of_domains_leave_nothing_behind(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "*", rate(1, 1, 1));
    char domain[16];
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(domain, sizeof(domain), "d%d", i);
        double now = i * 0.01;
        put_in(w, now, domain, domain);
        assert_string_equal(pop(w, now, "q", "w1", 1), domain);
        complete(w, now, "w1", domain);
        // Those of the last second, and a few that nobody looked at.
        assert_true(lane_count(w) <= 110);
    }
    for (int i = 0; i < 100; i++) {
        put_in(w, 40 + i, "last", "last");
    }
    assert_int_equal(lane_count(w), 1);
}

// More lanes than a change of limits reaches at once: each has a job in line and one that runs.
static void put_in_very_many(struct world *w, int count)
{
    limit_set(w, 0, NULL, "*", rate(1, 1000, 1000000));
    for (int i = 0; i < 2 * count; i++) {
        char domain[16], jid[24];
        (void)snprintf(domain, sizeof(domain), "d%d", i % count);
        (void)snprintf(jid, sizeof(jid), "%s-%d", domain, i / count);
        put_in(w, 0, domain, jid);
    }
    for (int left = count; left > 0; left -= 4000) {
        (void)pop(w, 0, "q", "w1", left < 4000 ? (size_t)left : 4000);
    }
    forget_events(w);
}

static void test_lane__new_limits_reach_more_lanes_than_one_call_can_change(void **state)
{
    struct world *w = *state;
    put_in_very_many(w, 11500);
    limit_set(w, 1, NULL, "*", concurrency(1));
    assert_string_equal(lane_of(w, 1, "q", "d0"), "waiting 1, running 1, concurrency 1, busy");
    // Each call that follows brings a part of the rest into line.
    for (int i = 0; i < 3; i++) {
        tick(w, 2);
    }
    assert_string_equal(pop(w, 2, "q", "w1", 4000), "");
    limit_unset(w, 3, NULL, "*");
    for (int i = 0; i < 3; i++) {
        tick(w, 3);
    }
    (void)pop(w, 3, "q", "w1", 4000);
    assert_string_equal(queue_of(w, 3, "q"), "waiting 7500, running 15500, listeners 1");
}

static void test_lane__limits_that_have_not_reached_all_lanes_yet_can_be_saved(void **state)
{
    struct world *w = *state;
    put_in_very_many(w, 10100);
    limit_set(w, 1, NULL, "*", rate(1, 1, 1));
    reload(w);
    limit_unset(w, 2, NULL, "*");
    reload(w);
}

// ---------------------------------------------------------------------------------------------
// Bad input

static void refuse_limit(struct world *w, const char *queue, const char *domain, struct limit limit,
                         const char *words)
{
    refused(w, STATUS_INVALID, words);
    limit_set(w, 0, queue, domain, limit);
    assert_string_equal(w->error.detail, words);
}

static void test_lane__limits_that_make_no_sense_are_refused(void **state)
{
    struct world *w = *state;
    char long_name[ENGINE_NAME_SIZE_MAX + 2];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    refuse_limit(w, "q", "a", (struct limit){ 0 },
                 "a limit must say something of rate, concurrency or weight");
    refuse_limit(w, long_name, "a", concurrency(1),
                 "queue is 256 bytes long, and at most 255 are allowed");
    refuse_limit(w, "q", long_name, concurrency(1),
                 "domain is 256 bytes long, and at most 255 are allowed");
    refuse_limit(w, "q", "a", concurrency(-1), "concurrency must not be negative");
    refuse_limit(w, "q", "a", weight(0), "weight must lie between 1 and 1000");
    refuse_limit(w, "q", "a", weight(1001), "weight must lie between 1 and 1000");
    refuse_limit(w, "q", "a", rate(-1, 1, 1), "rate must lie between 0 and 1000000000");
    refuse_limit(w, "q", "a", rate(1000000001, 1, 1), "rate must lie between 0 and 1000000000");
    refuse_limit(w, "q", "a", rate(1, 0, 1),
                 "the period of a rate must lie between a microsecond and 366 days");
    refuse_limit(w, "q", "a", rate(1, -1, 1),
                 "the period of a rate must lie between a microsecond and 366 days");
    refuse_limit(w, "q", "a", rate(1, 366.0 * DAY + 0.001, 1),
                 "the period of a rate must lie between a microsecond and 366 days");
    refuse_limit(w, "q", "a", rate(1, 1, -1), "burst must not be negative, and -1 is too large");
    refuse_limit(w, "q", "a", rate(1, 366.0 * DAY, 1000000),
                 "burst must not be negative, and 1000000 is too large");
    refused(w, STATUS_INVALID, "queue is 256 bytes long, and at most 255 are allowed");
    limit_unset(w, 0, long_name, NULL);
    refused(w, STATUS_INVALID, "domain is 256 bytes long, and at most 255 are allowed");
    limit_unset(w, 0, NULL, long_name);
    long_name[ENGINE_NAME_SIZE_MAX] = '\0';
    limit_set(w, 0, long_name, long_name, weight(1000));
    limit_unset(w, 0, long_name, long_name);
    assert_string_equal(limits(w), "");
}

static void test_lane__the_largest_and_the_smallest_rates_work(void **state)
{
    struct world *w = *state;
    const int64_t most = INT64_MAX / 4;
    struct limit large = {
        .has_rate = true, .rate_count = 1000000000, .rate_period_us = 1, .burst = most
    };
    limit_set(w, 0, NULL, "large", large);
    limit_set(w, 0, NULL, "small", rate(1, 366.0 * DAY, 1));
    limit_set(w, 0, NULL, "long", rate(1, 366.0 * DAY, 72000));
    put_many_in(w, 0, "large", 4);
    put_many_in(w, 0, "small", 2);
    put_many_in(w, 0, "long", 2);
    assert_string_equal(pop(w, 0, "q", "w1", 9), "large1,large2,large3,large4,small1,long1,long2");
    assert_string_equal(lane_of(w, 0, "q", "small"),
                        "waiting 1, running 1, rate 1/31622400 burst 1, ready 31622400");
    cancel(w, 1, "large1,large2,large3,large4,small1,long1,long2");
    assert_string_equal(pop(w, 366.0 * DAY - 0.000001, "q", "w1", 9), "");
    assert_string_equal(pop(w, 366.0 * DAY, "q", "w1", 9), "small2");
    put_in(w, 366.0 * DAY, "long", "long9");
    put_in(w, 366.0 * DAY, "large", "large9");
    cancel(w, 366.0 * DAY, "small2");
    reload(w);
    assert_string_equal(pop(w, (double)(ENGINE_TIME_MAX / US), "q", "w1", 9), "long9,large9");
}

// ---------------------------------------------------------------------------------------------
// An hour

enum {
    DOMAINS = 31,  // the last one has no limit
    WORKERS = 140, // jobs that run at a time
    BACKLOG = 3,   // jobs of each domain in line at any time
};

#define HOUR_US (INT64_C(3600) * US)

struct traffic {
    char domain[8];
    int64_t count, period_us, burst, concurrency;
    int64_t duration_max_us;
    int64_t started, running, made;
    int64_t last_us;    // when one was started last
    int64_t gap_max_us; // the longest time without a start
};

struct run {
    int64_t ends_us;
    size_t domain;
    char jid[24];
};

struct hour {
    struct world *w;
    struct random random;
    struct traffic traffic[DOMAINS];
    struct run runs[WORKERS]; // a heap by ends_us
    size_t running;
    int64_t now_us;
    size_t in_vain; // called by the tick for nothing
};

static void hour_put(struct hour *h, size_t d)
{
    struct traffic *t = &h->traffic[d];
    char jid[24];
    (void)snprintf(jid, sizeof(jid), "%s-%lld", t->domain, (long long)++t->made);
    const struct put_request request = { .queue = SLICE("q"),
                                         .jid = name_of(jid),
                                         .klass = SLICE("k"),
                                         .data = SLICE("{}"),
                                         .has_domain = true,
                                         .domain = name_of(t->domain) };
    const struct job *job;
    said(h->w, engine_put(h->w->engine, h->now_us, &request, &job, &h->w->error));
}

static void swap_runs(struct run *a, struct run *b)
{
    struct run kept = *a;
    *a = *b;
    *b = kept;
}

static void hour_begin(struct hour *h, size_t d, const char *jid)
{
    struct traffic *t = &h->traffic[d];
    t->started++;
    t->running++;
    assert_true(t->concurrency == 0 || t->running <= t->concurrency);
    assert_true(t->count == 0 ||
                t->started <= t->burst + h->now_us / t->period_us * t->count +
                                  h->now_us % t->period_us * t->count / t->period_us);
    int64_t gap_us = h->now_us - t->last_us;
    t->gap_max_us = gap_us > t->gap_max_us ? gap_us : t->gap_max_us;
    t->last_us = h->now_us;
    assert_true(h->running < WORKERS);
    size_t at = h->running++;
    struct run *run = &h->runs[at];
    run->domain = d;
    run->ends_us = h->now_us + 1 + (int64_t)random_below(&h->random, (uint64_t)t->duration_max_us);
    (void)snprintf(run->jid, sizeof(run->jid), "%s", jid);
    for (; at > 0 && h->runs[at].ends_us < h->runs[(at - 1) / 2].ends_us; at = (at - 1) / 2) {
        swap_runs(&h->runs[at], &h->runs[(at - 1) / 2]);
    }
}

static void hour_complete_first(struct hour *h)
{
    struct run *first = &h->runs[0];
    const struct complete_request request = { .holder = { .jid = name_of(first->jid),
                                                          .worker = SLICE("w1") } };
    enum job_state state;
    said(h->w, engine_complete(h->w->engine, h->now_us, &request, &state, &h->w->error));
    h->traffic[first->domain].running--;
    *first = h->runs[--h->running];
    for (size_t at = 0, child; (child = 2 * at + 1) < h->running; at = child) {
        child += child + 1 < h->running && h->runs[child + 1].ends_us < h->runs[child].ends_us;
        if (h->runs[at].ends_us <= h->runs[child].ends_us) {
            break;
        }
        swap_runs(&h->runs[at], &h->runs[child]);
    }
}

// Takes all that may run, as far as there are workers; and puts as many jobs back into line.
static size_t hour_pop(struct hour *h)
{
    const struct slice queue = SLICE("q");
    size_t total = 0, popped = 1;
    while (popped > 0 && h->running < WORKERS) {
        const struct job *found[WORKERS];
        const struct pop_request request = { .worker = SLICE("w1"),
                                             .queues = { &queue, 1 },
                                             .count = WORKERS - h->running };
        said(h->w, engine_pop(h->w->engine, h->now_us, &request, found, &popped, &h->w->error));
        size_t domains[WORKERS];
        for (size_t i = 0; i < popped; i++) {
            struct job_view view;
            job_view(h->w->engine, found[i], &view);
            char jid[24];
            (void)snprintf(jid, sizeof(jid), "%.*s", SLICE_PRINT(view.jid));
            domains[i] = (size_t)strtoul(jid + 1, NULL, 10);
            hour_begin(h, domains[i], jid);
        }
        for (size_t i = 0; i < popped; i++) {
            hour_put(h, domains[i]);
        }
        total += popped;
    }
    return total;
}

// Who may run does, as long as there are workers.
static void expect_nobody_waits(const struct hour *h)
{
    for (size_t d = 0; h->running < WORKERS && d < DOMAINS; d++) {
        struct lane_view view;
        engine_lane(h->w->engine, h->now_us, SLICE("q"), name_of(h->traffic[d].domain), &view);
        assert_true(view.ready_us > h->now_us);
        assert_int_equal(view.running, h->traffic[d].running);
        assert_true(view.waiting >= BACKLOG);
    }
}

static void hour_prepare(struct hour *h)
{
    // Runs in so many milliseconds, and the burst.
    static const int64_t rates[DOMAINS - 1][3] = {
        { 1, 5000, 1 },    { 1, 4000, 1 },  { 3, 10000, 2 },  { 1, 3000, 2 },   { 2, 5000, 1 },
        { 1, 2000, 1 },    { 7, 11000, 5 }, { 3, 4000, 2 },   { 1, 1000, 2 },   { 13, 10000, 3 },
        { 3, 2000, 10 },   { 2, 1000, 3 },  { 60, 29000, 4 }, { 5, 2000, 3 },   { 3, 1000, 5 },
        { 10, 3000, 4 },   { 7, 2000, 5 },  { 4, 1000, 6 },   { 9, 2000, 6 },   { 5, 1000, 7 },
        { 100, 19000, 8 }, { 6, 1000, 8 },  { 7, 1000, 5 },   { 15, 2000, 9 },  { 8, 1000, 9 },
        { 9, 1000, 7 },    { 1, 100, 10 },  { 13, 1000, 10 }, { 20, 1000, 20 }, { 50, 1000, 30 },
    };
    random_init(&h->random);
    for (size_t d = 0; d < DOMAINS; d++) {
        struct traffic *t = &h->traffic[d];
        (void)snprintf(t->domain, sizeof(t->domain), "d%zu", d);
        t->duration_max_us = INT64_C(2) * US;
        if (d < DOMAINS - 1) {
            t->count = rates[d][0];
            t->period_us = rates[d][1] * 1000;
            t->burst = rates[d][2];
            t->concurrency = 1 + (int64_t)d % 7;
            // As many at a time as the concurrency allows, even if each takes the longest time.
            t->duration_max_us = t->period_us * t->concurrency * 8 / (t->count * 10);
            struct limit limit = { .has_rate = true,
                                   .rate_count = t->count,
                                   .rate_period_us = t->period_us,
                                   .burst = t->burst,
                                   .has_concurrency = true,
                                   .concurrency = t->concurrency };
            limit_set(h->w, 0, d % 2 ? "q" : NULL, t->domain, limit);
        }
        for (int i = 0; i < BACKLOG; i++) {
            hour_put(h, d);
        }
    }
}

static void test_lane__an_hour_in_which_all_domains_always_have_jobs(void **state)
{
    static struct hour hour;
    struct hour *h = &hour;
    *h = (struct hour){ .w = *state };
    set(h->w, "heartbeat", "86400");
    set(h->w, "jobs-history-count", "10");
    hour_prepare(h);
    hour_pop(h);
    for (size_t steps = 0;; steps++) {
        forget_events(h->w);
        int64_t tick_us = engine_tick(h->w->engine, h->now_us);
        int64_t done_us = h->running ? h->runs[0].ends_us : INT64_MAX;
        assert_true(tick_us > h->now_us);
        h->now_us = tick_us < done_us ? tick_us : done_us;
        if (h->now_us >= HOUR_US) {
            break;
        }
        while (h->running && h->runs[0].ends_us <= h->now_us) {
            hour_complete_first(h);
        }
        bool may = h->running < WORKERS;
        h->in_vain += hour_pop(h) == 0 && may && tick_us < done_us;
        if (steps % 1000 == 0) {
            expect_nobody_waits(h);
        }
    }
    // The tick never calls for nothing.
    assert_int_equal(h->in_vain, 0);
    for (size_t d = 0; d < DOMAINS; d++) {
        const struct traffic *t = &h->traffic[d];
        if (t->count == 0) {
            assert_true(t->started > 10000);
            assert_true(t->gap_max_us < US);
            continue;
        }
        double allowed = (double)t->count * 3600e6 / (double)t->period_us;
        if ((double)t->started < allowed * 0.99 ||
            (double)t->started > allowed + (double)t->burst) {
            print_error("%s ran %lld times, and may %g times\n", t->domain, (long long)t->started,
                        allowed);
        }
        assert_true((double)t->started >= allowed * 0.99);
        assert_true((double)t->started <= allowed + (double)t->burst);
        // Nobody waits much longer than its own limits make it.
        int64_t bound_us = t->period_us / t->count + t->duration_max_us + US;
        if (t->gap_max_us > bound_us) {
            print_error("%s did not run for %lld us\n", t->domain, (long long)t->gap_max_us);
        }
        assert_true(t->gap_max_us <= bound_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_lane__without_limits_lanes_change_nothing_in_the_order),
        CLIENT_TEST(test_lane__without_limits_lanes_change_nothing_in_the_order),
        SERVER_TEST(test_lane__a_lost_lease_is_first_among_all_lanes),
        CLIENT_TEST(test_lane__a_lost_lease_is_first_among_all_lanes),
        SERVER_TEST(test_lane__a_changed_priority_counts_among_all_lanes),
        SERVER_TEST(test_lane__a_job_keeps_its_domain_until_a_put_gives_another),
        SERVER_TEST(test_lane__the_domain_goes_on_with_the_job_into_the_next_queue),
        SERVER_TEST(test_lane__a_rate_is_kept_to_the_microsecond),
        CLIENT_TEST(test_lane__a_rate_is_kept_to_the_microsecond),
        SERVER_TEST(test_lane__what_was_not_used_is_saved_up_to_the_burst),
        CLIENT_TEST(test_lane__what_was_not_used_is_saved_up_to_the_burst),
        SERVER_TEST(test_lane__the_tick_wants_to_be_called_when_the_first_lane_may_run),
        SERVER_TEST(test_lane__a_lane_that_may_run_and_is_not_asked_wakes_nobody_again),
        SERVER_TEST(test_lane__an_empty_lane_is_not_waited_for),
        CLIENT_TEST(test_lane__with_the_client_clock_time_that_goes_back_brings_and_takes_nothing),
        CLIENT_TEST(test_lane__a_lane_that_was_ready_is_asked_again_when_the_clock_has_gone_back),
        SERVER_TEST(test_lane__concurrency_is_given_back_however_a_lease_ends),
        CLIENT_TEST(test_lane__concurrency_is_given_back_however_a_lease_ends),
        SERVER_TEST(test_lane__a_lease_in_its_grace_counts),
        CLIENT_TEST(test_lane__a_lease_in_its_grace_counts),
        SERVER_TEST(test_lane__a_stale_holder_releases_nothing_a_second_time),
        CLIENT_TEST(test_lane__a_stale_holder_releases_nothing_a_second_time),
        SERVER_TEST(test_lane__concurrency_is_of_a_lane_and_not_of_a_domain),
        SERVER_TEST(test_lane__the_concurrency_of_the_queue_counts_too),
        SERVER_TEST(test_lane__rate_and_concurrency_both_hold),
        CLIENT_TEST(test_lane__rate_and_concurrency_both_hold),
        SERVER_TEST(test_lane__a_stalled_lane_does_not_hold_up_the_others),
        SERVER_TEST(test_lane__queues_in_turn_pass_over_lanes_that_may_not_run),
        CLIENT_TEST(test_lane__queues_in_turn_pass_over_lanes_that_may_not_run),
        SERVER_TEST(test_lane__the_most_specific_limit_holds),
        SERVER_TEST(test_lane__among_equal_patterns_the_smaller_one_holds),
        SERVER_TEST(test_lane__for_each_of_rate_concurrency_and_weight_another_limit_may_hold),
        SERVER_TEST(test_lane__patterns),
        SERVER_TEST(test_lane__the_limit_of_a_queue_holds_for_its_default_lane_and_each_other),
        CLIENT_TEST(test_lane__the_limit_of_a_queue_holds_for_its_default_lane_and_each_other),
        SERVER_TEST(test_lane__one_domain_may_be_without_the_limit_of_all),
        SERVER_TEST(test_lane__a_changed_rate_keeps_whole_tokens_up_to_the_new_burst),
        CLIENT_TEST(test_lane__a_changed_rate_keeps_whole_tokens_up_to_the_new_burst),
        SERVER_TEST(test_lane__without_its_limit_a_lane_runs_at_once),
        CLIENT_TEST(test_lane__without_its_limit_a_lane_runs_at_once),
        SERVER_TEST(test_lane__a_lower_concurrency_takes_no_lease_away),
        SERVER_TEST(test_lane__a_limit_that_comes_while_all_is_plain_counts_at_once),
        CLIENT_TEST(test_lane__a_limit_that_comes_while_all_is_plain_counts_at_once),
        SERVER_TEST(test_lane__limits_and_buckets_survive_being_saved),
        CLIENT_TEST(test_lane__limits_and_buckets_survive_being_saved),
        SERVER_TEST(test_lane__every_page_of_a_list_is_a_part_of_the_whole_line),
        CLIENT_TEST(test_lane__every_page_of_a_list_is_a_part_of_the_whole_line),
        SERVER_TEST(test_lane__peek_and_lists_show_what_may_not_run),
        CLIENT_TEST(test_lane__peek_and_lists_show_what_may_not_run),
        SERVER_TEST(test_lane__a_lane_with_nothing_is_forgotten),
        CLIENT_TEST(test_lane__a_lane_with_nothing_is_forgotten),
        SERVER_TEST(test_lane__a_call_that_is_refused_makes_no_lane),
        SERVER_TEST(test_lane__a_lane_rests_until_it_has_got_back_what_its_rate_allows),
        CLIENT_TEST(test_lane__a_lane_rests_until_it_has_got_back_what_its_rate_allows),
        SERVER_TEST(test_lane__a_lane_that_has_rested_long_enough_makes_no_difference_when_saved),
        CLIENT_TEST(test_lane__a_lane_that_has_rested_long_enough_makes_no_difference_when_saved),
        SERVER_TEST(test_lane__thousands_of_domains_leave_nothing_behind),
        SERVER_TEST(test_lane__new_limits_reach_more_lanes_than_one_call_can_change),
        SERVER_TEST(test_lane__limits_that_have_not_reached_all_lanes_yet_can_be_saved),
        SERVER_TEST(test_lane__limits_that_make_no_sense_are_refused),
        SERVER_TEST(test_lane__the_largest_and_the_smallest_rates_work),
        CLIENT_TEST(test_lane__the_largest_and_the_smallest_rates_work),
        SERVER_TEST(test_lane__an_hour_in_which_all_domains_always_have_jobs),
    };
    return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
