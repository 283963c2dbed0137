// SPDX-License-Identifier: MIT
#include "engine_test.h"

// q holds a, tracked, which w1 popped at second 0.
static void lease_a(struct world *w)
{
    put(w, 0, "q", "a");
    track(w, 0, "a");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    forget_events(w);
}

static void test_lease__a_heartbeat_renews_it(void **state)
{
    struct world *w = *state;
    lease_a(w);
    uint64_t token = view_of(w, "a").token;
    assert_true(heartbeat(w, 50, "w1", "a") == 110);
    assert_int_equal(view_of(w, "a").expires_us, us(110));
    assert_int_equal(view_of(w, "a").token, token);
    assert_string_equal(pop(w, 109, "q", "w2", 1), "");
    complete(w, 109, "w1", "a");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 109 done");
}

static void test_lease__a_heartbeat_may_bring_new_data(void **state)
{
    struct world *w = *state;
    lease_a(w);
    const struct heartbeat_request request = {
        .holder = { .jid = SLICE("a"), .worker = SLICE("w1") }, .data = SLICE("[1]")
    };
    int64_t expires_us;
    said(w, engine_heartbeat(w->engine, at(w, 1), &request, &expires_us, &w->error));
    assert_slice_equal(view_of(w, "a").data, "[1]");
    heartbeat(w, 2, "w1", "a");
    assert_slice_equal(view_of(w, "a").data, "[1]");
}

static void test_lease__lasts_as_long_as_the_queue_says(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat", "20");
    set(w, "heartbeat-q", "30");
    set(w, "q-heartbeat", "0.5");
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").expires_us, us(0.5));
    unset(w, "q-heartbeat");
    assert_true(heartbeat(w, 0.25, "w1", "a") == 30.25);
    unset(w, "heartbeat-q");
    assert_true(heartbeat(w, 0.25, "w1", "a") == 20.25);
    unset(w, "heartbeat");
    assert_true(heartbeat(w, 0.25, "w1", "a") == 60.25);
}

static struct job_options lease_of(double seconds)
{
    return (struct job_options){ .lease_us = us(seconds) };
}

// w1 pops a of q, with a lease of that length if it is not 0. For how long it is leased.
static double pop_for(struct world *w, double now, double lease)
{
    const struct slice queue = SLICE("q");
    assert_string_equal(pop_with(w, now,
                                 (struct pop_request){ .worker = SLICE("w1"),
                                                       .queues = { &queue, 1 },
                                                       .count = 1,
                                                       .lease_us = us(lease) }),
                        "a");
    return (double)view_of(w, "a").expires_us / US - now;
}

static void
test_lease__the_taking_counts_before_the_job_before_policies_before_heartbeats(void **state)
{
    struct world *w = *state;
    const struct job_options own = lease_of(30);
    put(w, 0, "q", "a");
    assert_true(pop_for(w, 0, 0) == 60);
    time_out(w, 0, "a");
    set(w, "q-heartbeat", "50");
    assert_true(pop_for(w, 0, 0) == 50);
    time_out(w, 0, "a");
    policy_set(w, 0, POLICY_QUEUE, "q", lease_of(45));
    assert_true(pop_for(w, 0, 0) == 45);
    time_out(w, 0, "a");
    policy_set(w, 0, POLICY_KLASS, "k", lease_of(40));
    assert_true(pop_for(w, 0, 0) == 40);
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .options = &own });
    assert_true(pop_for(w, 0, 0) == 30);
    time_out(w, 0, "a");
    assert_true(pop_for(w, 0, 20) == 20);
}

static void test_lease__a_job_may_want_the_heartbeat_of_its_queue_whatever_its_policy(void **state)
{
    struct world *w = *state;
    const struct job_options none = { .lease_us = -7 };
    policy_set(w, 0, POLICY_KLASS, "k", lease_of(40));
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .options = &none });
    assert_true(pop_for(w, 0, 0) == 60);
}

static void test_lease__its_own_length_is_kept_for_later_heartbeats(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    assert_true(pop_for(w, 0, 20) == 20);
    assert_int_equal(view_of(w, "a").lease_us, us(20));
    assert_true(heartbeat(w, 10, "w1", "a") == 30);
    reload(w);
    assert_true(heartbeat(w, 20, "w1", "a") == 40);
    assert_true(heartbeat_for(w, 30, "w1", "a", 100) == 130);
    reload(w);
    assert_true(heartbeat(w, 100, "w1", "a") == 200);
    // From now on as the job and its queue say.
    policy_set(w, 100, POLICY_QUEUE, "q", lease_of(45));
    assert_true(heartbeat_for(w, 100, "w1", "a", 0) == 145);
    assert_true(heartbeat(w, 101, "w1", "a") == 146);
    reload(w);
    assert_int_equal(view_of(w, "a").lease_us, 0);
    // The next lease is another one.
    tick(w, 160);
    assert_true(pop_for(w, 160, 0) == 45);
}

static void test_lease__another_worker_waits_for_as_long_as_the_lease_lasts(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_true(pop_for(w, 0, 1000) == 1000);
    assert_string_equal(pop(w, 0, "q", "w2", 1), "b");
    assert_string_equal(pop(w, 71, "q", "w3", 2), "b");
    complete(w, 71, "w3", "b");
    assert_string_equal(pop(w, 1009, "q", "w3", 1), "");
    assert_string_equal(pop(w, 1011, "q", "w3", 1), "a");
}

static void test_lease__none_reaches_beyond_the_end_of_the_run(void **state)
{
    struct world *w = *state;
    const struct job_options options = { .timeout_us = us(25), .lease_us = us(20) };
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .options = &options });
    assert_true(pop_for(w, 0, 0) == 20);
    assert_true(heartbeat(w, 10, "w1", "a") == 25);
    assert_true(heartbeat_for(w, 11, "w1", "a", 100) == 25);
}

static void test_lease__its_length_has_bounds(void **state)
{
    struct world *w = *state;
    static const int64_t bad[] = { -1, 1, LEASE_US_MIN - 1, LEASE_US_MAX + 1, INT64_MAX };
    const struct slice queue = SLICE("q");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct pop_request popping = {
            .worker = SLICE("w1"), .queues = { &queue, 1 }, .count = 1, .lease_us = bad[i]
        };
        const struct take_request taking = { .worker = SLICE("w1"),
                                             .jid = SLICE("b"),
                                             .lease_us = bad[i] };
        const struct heartbeat_request beat = { .holder = { .jid = SLICE("a"),
                                                            .worker = SLICE("w1") },
                                                .has_lease = true,
                                                .lease_us = bad[i] };
        const struct job_options options = { .lease_us = bad[i] };
        const struct job *job;
        int64_t expires_us;
        static const char words[] = "lease must be between 0.001 and 3162240000 seconds, or 0";
        refused(w, STATUS_INVALID, words);
        pop_with(w, 0, popping);
        refused(w, STATUS_INVALID, words);
        said(w, engine_take(w->engine, at(w, 0), &taking, &job, &w->error));
        refused(w, STATUS_INVALID, words);
        said(w, engine_heartbeat(w->engine, at(w, 0), &beat, &expires_us, &w->error));
        if (bad[i] > 0) { // below 0 it says that there is none
            refused(w, STATUS_INVALID, words);
            put_with(w, 0, (struct put_request){ .jid = SLICE("c"), .options = &options });
        }
    }
    assert_true(heartbeat_for(w, 0, "w1", "a", 0.001) == 0.001);
    assert_true(heartbeat_for(w, 0, "w1", "a", 3162240000) == 3162240000);
}

static void test_lease__running_out_starts_the_grace(void **state)
{
    struct world *w = *state;
    lease_a(w);
    tick(w, 59);
    expect_events(w, "");
    tick(w, 63);
    expect_events(w, "tracker: stalled a; worker+log: lock_lost a by w1");
    assert_int_equal(w->event_us, us(60));
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_RUNNING);
    assert_true(view.grace);
    assert_slice_equal(view.worker, "w1");
    assert_int_equal(view.remaining, 5);
    assert_int_equal(view.crashes, 0);
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 60 timed-out");
    assert_int_equal(stats_of(w, "q", 60).lost_leases, 1);
    assert_string_equal(queue_of(w, 63, "q"), "running 1, expired 1, listeners 1");
    assert_string_equal(jobs(w, 63, LIST_EXPIRED, "q", 0, 9), "1: a");
    assert_string_equal(jobs(w, 63, LIST_UNEXPIRED, "q", 0, 9), "0: ");
    assert_string_equal(pop(w, 69, "q", "w2", 1), "");
}

static void test_lease__is_lost_when_the_grace_is_over(void **state)
{
    struct world *w = *state;
    lease_a(w);
    tick(w, 60);
    forget_events(w);
    tick(w, 75);
    expect_events(w, "");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_STALLED);
    assert_false(view.grace);
    assert_slice_equal(view.worker, "");
    assert_int_equal(view.token, 0);
    assert_int_equal(view.expires_us, 0);
    assert_int_equal(view.remaining, 4);
    assert_int_equal(view.crashes, 1);
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 60 timed-out");
    assert_int_equal(stats_of(w, "q", 60).lost_leases, 1);
    assert_string_equal(queue_of(w, 75, "q"), "stalled 1, listeners 1");
    refused(w, STATUS_STATE, "a is not running: stalled");
    complete(w, 75, "w1", "a");
    assert_string_equal(pop(w, 76, "q", "w2", 1), "a");
    refused(w, STATUS_STALE, "another worker: w2");
    complete(w, 76, "w1", "a");
}

static void test_lease__in_its_grace_the_holder_may_still_do_all(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    put(w, 0, "q", "d");
    pop(w, 0, "q", "w1", 4);
    tick(w, 65);
    complete(w, 65, "w1", "a");
    fail_job(w, 65, "w1", "b", "bad");
    assert_int_equal(retry(w, 65, "w1", "c"), 4);
    assert_true(heartbeat(w, 65, "w1", "d") == 125);
    assert_string_equal(state_of(w, "a"), "complete");
    assert_string_equal(state_of(w, "b"), "failed");
    assert_string_equal(state_of(w, "c"), "waiting");
    assert_string_equal(state_of(w, "d"), "running");
}

static void test_lease__a_heartbeat_ends_the_grace_and_the_next_one_begins_anew(void **state)
{
    struct world *w = *state;
    lease_a(w);
    tick(w, 65);
    heartbeat(w, 66, "w1", "a");
    assert_false(view_of(w, "a").grace);
    assert_string_equal(queue_of(w, 66, "q"), "running 1, listeners 1");
    forget_events(w);
    tick(w, 126);
    expect_events(w, "tracker: stalled a; worker+log: lock_lost a by w1");
    assert_true(view_of(w, "a").grace);
    tick(w, 135.9);
    assert_string_equal(state_of(w, "a"), "running");
    tick(w, 136);
    assert_string_equal(state_of(w, "a"), "stalled");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 60 timed-out; 126 timed-out");
    assert_int_equal(view_of(w, "a").remaining, 4);
    assert_int_equal(stats_of(w, "q", 0).lost_leases, 2);
}

static void test_lease__without_a_grace_it_is_lost_at_once(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    lease_a(w);
    assert_string_equal(pop(w, 60, "q", "w2", 1), "a");
    expect_events(w, "tracker: stalled a; worker+log: lock_lost a by w1; tracker: popped a");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 60 timed-out; 60 popped by w2");
    assert_int_equal(view_of(w, "a").remaining, 4);
    assert_int_equal(view_of(w, "a").crashes, 1);
    assert_int_equal(stats_of(w, "q", 60).lost_leases, 1);
}

static void test_lease__a_grace_of_zero_is_none(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    lease_a(w);
    assert_string_equal(pop(w, 60, "q", "w2", 1), "a");
}

static void test_lease__with_the_client_clock_a_negative_grace_is_none(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "-1");
    lease_a(w);
    assert_string_equal(pop(w, 60, "q", "w2", 1), "a");
}

static void test_lease__the_last_retry_lost_is_a_failure(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 0 });
    track(w, 0, "a");
    pop(w, 0, "q", "w1", 1);
    tick(w, 60);
    forget_events(w);
    tick(w, 80);
    expect_events(w, "tracker: failed a; log: failed a in q by w1 as failed-retries-q "
                     "saying Job exhausted retries in queue \"q\"");
    assert_int_equal(w->event_us, us(70));
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_FAILED);
    assert_int_equal(view.remaining, -1);
    assert_int_equal(view.crashes, 1);
    assert_slice_equal(view.failure_group, "failed-retries-q");
    assert_slice_equal(view.failure_message, "Job exhausted retries in queue \"q\"");
    assert_slice_equal(view.failure_worker, "");
    assert_int_equal(view.failure_when_us, us(70));
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 60 timed-out; "
                                            "70 failed as failed-retries-q");
    assert_int_equal(stats_of(w, "q", 0).failed, 1);
    assert_int_equal(stats_of(w, "q", 0).failures, 1);
    assert_string_equal(groups(w), "failed-retries-q 1");
    assert_string_equal(held(w, 80, "w1", true), "0: ");
}

static void test_lease__each_loss_costs_a_retry_until_none_are_left(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 2 });
    for (int i = 0; i < 3; i++) {
        assert_string_equal(pop(w, i * 60, "q", "w1", 1), "a");
        assert_int_equal(view_of(w, "a").remaining, 2 - i);
    }
    assert_string_equal(pop(w, 180, "q", "w1", 1), "");
    assert_string_equal(state_of(w, "a"), "failed");
    assert_int_equal(view_of(w, "a").crashes, 3);
}

static void test_lease__with_the_client_clock_only_pop_sees_that_it_ran_out(void **state)
{
    struct world *w = *state;
    lease_a(w);
    assert_true(tick(w, 200) == -1);
    assert_string_equal(peek(w, 200, "q", 1), "a");
    assert_string_equal(queue_of(w, 200, "q"), "running 1, expired 1, listeners 1");
    assert_string_equal(jobs(w, 200, LIST_EXPIRED, "q", 0, 9), "1: a");
    expect_events(w, "");
    assert_false(view_of(w, "a").grace);

    // The first pop starts the grace, which lasts until 210.
    assert_string_equal(pop(w, 200, "q", "w2", 1), "");
    expect_events(w, "tracker: stalled a; worker+log: lock_lost a by w1");
    assert_true(view_of(w, "a").grace);
    assert_string_equal(pop(w, 209, "q", "w2", 1), "");
    assert_string_equal(state_of(w, "a"), "running");
    assert_int_equal(view_of(w, "a").remaining, 5);
    assert_string_equal(pop(w, 210, "q", "w2", 1), "a");
    assert_int_equal(view_of(w, "a").remaining, 4);
    expect_events(w, "tracker: popped a");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 200 timed-out; 210 popped by w2");
}

static void test_lease__with_the_client_clock_a_pop_looks_at_no_more_than_it_asks_for(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    pop(w, 2, "q", "w1", 1);
    pop(w, 1, "q", "w1", 1);
    pop(w, 0, "q", "w1", 1);
    assert_string_equal(pop(w, 100, "q", "w2", 2), "c,b");
    assert_string_equal(state_of(w, "a"), "running");
    assert_slice_equal(view_of(w, "a").worker, "w1");
}

static void test_lease__with_the_client_clock_a_grace_does_not_take_anothers_place(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    assert_string_equal(pop(w, 100, "q", "w2", 1), "b");
    assert_true(view_of(w, "a").grace);
}

static void test_lease__with_the_client_clock_the_holder_may_come_late(void **state)
{
    struct world *w = *state;
    lease_a(w);
    assert_true(heartbeat(w, 500, "w1", "a") == 560);
    complete(w, 900, "w1", "a");
}

static void test_lease__with_the_client_clock_a_negative_heartbeat_has_run_out_at_once(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat", "-10");
    set(w, "grace-period", "0");
    put(w, 0, "q", "a");
    assert_string_equal(pop(w, 5, "q", "w1", 1), "a");
    assert_int_equal(view_of(w, "a").expires_us, us(-5));
    assert_string_equal(pop(w, 5, "q", "w2", 1), "a");
    assert_slice_equal(view_of(w, "a").worker, "w2");
}

static void test_lease__only_the_holder_may_use_it(void **state)
{
    struct world *w = *state;
    lease_a(w);
    refused(w, STATUS_STALE, "a has been given to another worker: w1");
    complete(w, 0, "w2", "a");
    refused(w, STATUS_STALE, "another worker");
    fail_job(w, 0, "w2", "a", "bad");
    refused(w, STATUS_STALE, "another worker");
    retry(w, 0, "w2", "a");
    refused(w, STATUS_STALE, "another worker");
    heartbeat(w, 0, "w2", "a");
    const struct holder other = { .jid = SLICE("a"), .worker = SLICE("w2") };
    refused(w, STATUS_STALE, "another worker");
    said(w, engine_start(w->engine, 0, &other, 7, &w->error));
    const struct log_request note = { .jid = SLICE("a"),
                                      .message = SLICE("note"),
                                      .worker = SLICE("w2") };
    refused(w, STATUS_STALE, "another worker");
    said(w, engine_log(w->engine, 0, &note, &w->error));
    expect_events(w, "");
}

static void test_lease__only_the_newest_token_may_use_it(void **state)
{
    struct world *w = *state;
    lease_a(w);
    struct holder old = { .jid = SLICE("a"),
                          .worker = SLICE("w1"),
                          .token = view_of(w, "a").token };
    time_out(w, 1, "a");
    pop(w, 2, "q", "w1", 1);

    refused(w, STATUS_STALE, "token");
    complete_with(w, 2, (struct complete_request){ .holder = old });
    refused(w, STATUS_STALE, "token");
    retry_with(w, 2, (struct retry_request){ .holder = old });
    const struct fail_request failure = { .holder = old,
                                          .group = SLICE("bad"),
                                          .message = SLICE("m") };
    refused(w, STATUS_STALE, "token");
    said(w, engine_fail(w->engine, us(2), &failure, &w->error));
    const struct heartbeat_request beat = { .holder = old };
    int64_t expires_us;
    refused(w, STATUS_STALE, "token");
    said(w, engine_heartbeat(w->engine, us(2), &beat, &expires_us, &w->error));
    refused(w, STATUS_STALE, "token");
    said(w, engine_start(w->engine, us(2), &old, 7, &w->error));
    const struct log_request note = {
        .jid = SLICE("a"), .message = SLICE("note"), .worker = SLICE("w1"), .token = old.token
    };
    refused(w, STATUS_STALE, "token");
    said(w, engine_log(w->engine, us(2), &note, &w->error));

    old.token = view_of(w, "a").token;
    assert_string_equal(complete_with(w, 3, (struct complete_request){ .holder = old }),
                        "complete");
}

static void test_lease__no_job_and_a_job_that_is_not_running_are_different_errors(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    heartbeat(w, 0, "w1", "a");
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    time_out(w, 0, "a");
    put(w, 0, "q", "a");
    refused(w, STATUS_STATE, "a is not running: waiting");
    heartbeat(w, 0, "w1", "a");
    refused(w, STATUS_STATE, "a is not running: waiting");
    retry(w, 0, "w1", "a");
    refused(w, STATUS_STATE, "a is not running: waiting");
    fail_job(w, 0, "w1", "a", "bad");
}

static void test_lease__start_notes_the_process(void **state)
{
    struct world *w = *state;
    lease_a(w);
    const struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1") };
    refused(w, STATUS_INVALID, "pid");
    said(w, engine_start(w->engine, 0, &holder, -1, &w->error));
    said(w, engine_start(w->engine, at(w, 1), &holder, 4242, &w->error));
    assert_true(view_of(w, "a").started);
    assert_int_equal(view_of(w, "a").pid, 4242);
    assert_int_equal(view_of(w, "a").expires_us, us(60));
    // The next holder has not started.
    retry(w, 2, "w1", "a");
    assert_false(view_of(w, "a").started);
    pop(w, 3, "q", "w1", 1);
    assert_false(view_of(w, "a").started);
    assert_int_equal(view_of(w, "a").pid, 0);
}

static void test_lease__timeout_takes_it_away_at_no_cost(void **state)
{
    struct world *w = *state;
    lease_a(w);
    time_out(w, 5, "a");
    expect_events(w, "worker+log: lock_lost a by w1");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_STALLED);
    assert_int_equal(view.remaining, 5);
    assert_int_equal(view.crashes, 0);
    assert_int_equal(view.token, 0);
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 5 timed-out");
    assert_int_equal(stats_of(w, "q", 5).lost_leases, 0);
    assert_string_equal(queue_of(w, 5, "q"), "stalled 1, listeners 1");
    assert_string_equal(held(w, 5, "w1", false), "0: ");
}

static void test_lease__a_holder_returns_it_at_no_cost(void **state)
{
    struct world *w = *state;
    lease_a(w);
    struct holder holder = { .jid = SLICE("a"), .worker = SLICE("w1"), .token = 9 };
    refused(w, STATUS_STALE, "token 9 ");
    said(w, engine_return(w->engine, at(w, 0), &holder, &w->error));
    assert_int_equal(view_of(w, "a").state, JOB_RUNNING);
    holder.token = view_of(w, "a").token;
    said(w, engine_return(w->engine, at(w, 5), &holder, &w->error));
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_STALLED);
    assert_int_equal(view.remaining, 5);
    assert_int_equal(view.crashes, 0);
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 5 timed-out");
    put(w, 5, "q", "b");
    assert_string_equal(pop(w, 6, "q", "w2", 1), "a");
    holder.token = 9;
    refused(w, STATUS_STALE, "another worker: w2");
    said(w, engine_return(w->engine, at(w, 6), &holder, &w->error));
}

static void test_lease__timeout_is_for_all_or_for_none(void **state)
{
    struct world *w = *state;
    lease_a(w);
    put(w, 0, "q", "b");
    refused(w, STATUS_STATE, "b is not running: waiting");
    time_out(w, 0, "a,b");
    refused(w, STATUS_NOT_FOUND, "c does not exist");
    time_out(w, 0, "a,c");
    pop(w, 1, "q", "w2", 1);
    time_out(w, 2, "a,b,a");
    assert_string_equal(pop(w, 3, "q", "w3", 9), "a,b");
}

static void test_lease__the_host_is_told_of_every_end_and_of_nothing_else(void **state)
{
    struct world *w = *state;
    const char *const jids[] = { "a", "b", "c", "d", "e", "f" };
    for (size_t i = 0; i < 6; i++) {
        put(w, 0, "q", jids[i]);
    }
    assert_string_equal(pop(w, 0, "q", "w", 6), "a,b,c,d,e,f");
    expect_ended(w, "");
    complete(w, 0, "w", "a");
    fail_job(w, 0, "w", "b", "group");
    retry(w, 0, "w", "c");
    expect_ended(w, "a,b,c");
    cancel(w, 0, "d");
    put_later(w, 0, "q", "e", 3600);
    time_out(w, 0, "f");
    expect_ended(w, "d,e,f");
    assert_string_equal(pop(w, 1, "q", "w", 9), "f,c");
    tick(w, 62); // in grace
    expect_ended(w, "");
    heartbeat(w, 62, "w", "c");
    tick(w, 72);
    expect_ended(w, "f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_lease__a_heartbeat_renews_it),
        CLIENT_TEST(test_lease__a_heartbeat_renews_it),
        SERVER_TEST(test_lease__a_heartbeat_may_bring_new_data),
        SERVER_TEST(test_lease__lasts_as_long_as_the_queue_says),
        SERVER_TEST(test_lease__the_taking_counts_before_the_job_before_policies_before_heartbeats),
        SERVER_TEST(test_lease__a_job_may_want_the_heartbeat_of_its_queue_whatever_its_policy),
        SERVER_TEST(test_lease__its_own_length_is_kept_for_later_heartbeats),
        SERVER_TEST(test_lease__another_worker_waits_for_as_long_as_the_lease_lasts),
        SERVER_TEST(test_lease__none_reaches_beyond_the_end_of_the_run),
        SERVER_TEST(test_lease__its_length_has_bounds),
        SERVER_TEST(test_lease__running_out_starts_the_grace),
        SERVER_TEST(test_lease__is_lost_when_the_grace_is_over),
        SERVER_TEST(test_lease__in_its_grace_the_holder_may_still_do_all),
        SERVER_TEST(test_lease__a_heartbeat_ends_the_grace_and_the_next_one_begins_anew),
        SERVER_TEST(test_lease__without_a_grace_it_is_lost_at_once),
        CLIENT_TEST(test_lease__without_a_grace_it_is_lost_at_once),
        SERVER_TEST(test_lease__a_grace_of_zero_is_none),
        CLIENT_TEST(test_lease__a_grace_of_zero_is_none),
        CLIENT_TEST(test_lease__with_the_client_clock_a_negative_grace_is_none),
        SERVER_TEST(test_lease__the_last_retry_lost_is_a_failure),
        SERVER_TEST(test_lease__each_loss_costs_a_retry_until_none_are_left),
        CLIENT_TEST(test_lease__each_loss_costs_a_retry_until_none_are_left),
        CLIENT_TEST(test_lease__with_the_client_clock_only_pop_sees_that_it_ran_out),
        CLIENT_TEST(test_lease__with_the_client_clock_a_pop_looks_at_no_more_than_it_asks_for),
        CLIENT_TEST(test_lease__with_the_client_clock_a_grace_does_not_take_anothers_place),
        CLIENT_TEST(test_lease__with_the_client_clock_the_holder_may_come_late),
        CLIENT_TEST(test_lease__with_the_client_clock_a_negative_heartbeat_has_run_out_at_once),
        SERVER_TEST(test_lease__only_the_holder_may_use_it),
        CLIENT_TEST(test_lease__only_the_holder_may_use_it),
        SERVER_TEST(test_lease__only_the_newest_token_may_use_it),
        SERVER_TEST(test_lease__no_job_and_a_job_that_is_not_running_are_different_errors),
        SERVER_TEST(test_lease__start_notes_the_process),
        SERVER_TEST(test_lease__timeout_takes_it_away_at_no_cost),
        CLIENT_TEST(test_lease__timeout_takes_it_away_at_no_cost),
        SERVER_TEST(test_lease__a_holder_returns_it_at_no_cost),
        SERVER_TEST(test_lease__timeout_is_for_all_or_for_none),
        SERVER_TEST(test_lease__the_host_is_told_of_every_end_and_of_nothing_else),
    };
    return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
