// SPDX-License-Identifier: MIT
// How long a run may last, and by when a job must be started.
#include "engine_test.h"

static const struct holder w1_holds_a = { .jid = { "a", 1 }, .worker = { "w1", 2 } };

// The options of a job whose runs last `seconds` at most; below 0: no limit.
static struct job_options longest(double seconds)
{
    return (struct job_options){ .timeout_us = us(seconds) };
}

// ---------------------------------------------------------------------------------------------
// Timeout

static void test_deadline__no_heartbeat_reaches_beyond_the_end_of_the_run(void **state)
{
    struct world *w = *state;
    put_options(w, 0, "a", longest(100));
    pop(w, 10, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").expires_us, us(70));
    assert_int_equal(view_of(w, "a").run_ends_us, us(110));
    assert_true(heartbeat(w, 40, "w1", "a") == 100);
    assert_true(heartbeat(w, 60, "w1", "a") == 110);
    assert_true(heartbeat(w, 109.999999, "w1", "a") == 110);
    reload(w);
    tick(w, 110); // with the server clock its grace begins
    refused(w, STATUS_STALE, "job a has reached its run timeout");
    heartbeat(w, 110, "w1", "a");
    assert_int_equal(view_of(w, "a").expires_us, us(110));
}

static void test_deadline__a_short_run_ends_with_its_first_lease(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_options(w, 0, "a", longest(5));
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").expires_us, us(5));
    assert_string_equal(pop(w, 4.999999, "q", "w2", 1), "");
    assert_string_equal(pop(w, 5, "q", "w2", 1), "a");
    assert_int_equal(view_of(w, "a").remaining, 4);
    assert_int_equal(view_of(w, "a").crashes, 1);
    // Each run has its own end.
    assert_int_equal(view_of(w, "a").run_ends_us, us(10));
}

static void test_deadline__the_grace_follows_the_end_of_the_run(void **state)
{
    struct world *w = *state;
    put_options(w, 0, "a", longest(20));
    put_options(w, 0, "b", longest(20));
    pop(w, 0, "q", "w1", 2);
    assert_string_equal(pop(w, 20, "q", "w2", 9), "");
    assert_true(view_of(w, "a").grace);
    refused(w, STATUS_STALE, "job a has reached its run timeout");
    heartbeat(w, 20, "w1", "a");
    // The holder may still finish, but the grace is the last that there is.
    complete(w, 29, "w1", "b");
    assert_string_equal(pop(w, 29.999999, "q", "w2", 1), "");
    assert_string_equal(pop(w, 30, "q", "w2", 1), "a");
}

static void test_deadline__without_a_timeout_a_run_may_go_on(void **state)
{
    struct world *w = *state;
    policy_set(w, 0, POLICY_KLASS, "k", longest(5));
    put_options(w, 0, "a", longest(-1));
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").run_ends_us, 0);
    assert_true(heartbeat(w, 50, "w1", "a") == 110);
    // One that lies beyond all time is none.
    put_options(w, 51, "b", (struct job_options){ .timeout_us = ENGINE_TIME_MAX });
    pop(w, 51, "q", "w1", 1);
    assert_int_equal(view_of(w, "b").run_ends_us, 0);
}

// ---------------------------------------------------------------------------------------------
// Deadline

static struct put_request with_deadline(const char *jid, double deadline)
{
    return (struct put_request){ .jid = name_of(jid),
                                 .has_deadline = true,
                                 .deadline_us = us(deadline) };
}

static void test_deadline__what_is_not_started_by_its_deadline_fails(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "first");
    struct put_request waiting = with_deadline("waiting", 50);
    struct put_request scheduled = with_deadline("scheduled", 50);
    struct put_request depends = with_deadline("depends", 50);
    waiting.has_priority = true;
    waiting.priority = 5;
    scheduled.delay_us = us(50);
    depends.depends = slices_of(w, "first");
    put_with(w, 0, waiting);
    put_with(w, 0, scheduled);
    put_with(w, 0, depends);
    track(w, 0, "waiting");
    assert_false(wait_for(w, 0, "waiting", 3));
    assert_int_equal(view_of(w, "waiting").deadline_us, us(50));
    forget_events(w);
    assert_string_equal(pop(w, 49.999999, "q", "w1", 1), "first");
    assert_string_equal(state_of(w, "waiting"), "waiting");
    if (w->clock == ENGINE_CLOCK_SERVER) {
        assert_true(tick(w, 49.999999) == 50);
    }
    assert_string_equal(pop(w, 50, "q", "w1", 9), "");
    assert_string_equal(state_of(w, "waiting"), "failed");
    assert_string_equal(state_of(w, "scheduled"), "failed");
    assert_string_equal(state_of(w, "depends"), "failed");
    expect_events(
        w, "tracker: failed waiting; "
           "log: failed waiting in q as expired saying Job was not started by its deadline; "
           "waiter 3: finished waiting as expired saying Job was not started by its deadline "
           "state failed; "
           "log: failed scheduled in q as expired saying Job was not started by its "
           "deadline; "
           "log: failed depends in q as expired saying Job was not started by its deadline");
    assert_int_equal(w->event_us, us(50));
    assert_string_equal(history_of(w, "waiting"), "0 put in q; 50 failed as expired");
    assert_slice_equal(view_of(w, "waiting").failure_message,
                       "Job was not started by its deadline");
    assert_slice_equal(view_of(w, "waiting").failure_worker, "");
    assert_int_equal(view_of(w, "waiting").remaining, 5);
    assert_string_equal(groups(w), "expired 3");
    assert_int_equal(stats_of(w, "q", 50).failures, 3);
    assert_int_equal(stats_of(w, "q", 50).failed, 3);
    assert_int_equal(stats_of(w, "q", 50).retries, 0);
    reload(w);
}

static void test_deadline__with_the_server_clock_it_is_dated_by_the_deadline(void **state)
{
    struct world *w = *state;
    put_with(w, 0, with_deadline("a", 50));
    tick(w, 90);
    assert_string_equal(history_of(w, "a"), "0 put in q; 50 failed as expired");
}

static void test_deadline__with_the_client_clock_only_a_pop_from_the_queue_looks(void **state)
{
    struct world *w = *state;
    put_with(w, 0, with_deadline("a", 50));
    put_with(w, 0, with_deadline("b", 60));
    put_with(w, 0, with_deadline("c", 600));
    put(w, 0, "r", "other");
    tick(w, 90);
    assert_string_equal(pop(w, 90, "r", "w1", 9), "other");
    assert_string_equal(queue_of(w, 90, "q"), "waiting 3");
    assert_string_equal(peek(w, 90, "q", 9), "a,b,c");
    // All of them, however few are asked for; and they take no other entry's place.
    assert_string_equal(pop(w, 90, "q", "w1", 1), "c");
    assert_string_equal(history_of(w, "a"), "0 put in q; 90 failed as expired");
    assert_string_equal(history_of(w, "b"), "0 put in q; 90 failed as expired");
}

static void test_deadline__the_pop_ends_a_deadline(void **state)
{
    struct world *w = *state;
    put_with(w, 0, with_deadline("a", 50));
    assert_string_equal(pop(w, 49.999999, "q", "w1", 1), "a");
    assert_int_equal(view_of(w, "a").deadline_us, 0);
    reload(w);
    retry(w, 51, "w1", "a");
    assert_string_equal(pop(w, 80, "q", "w1", 1), "a");
    time_out(w, 81, "a");
    assert_string_equal(pop(w, 82, "q", "w1", 1), "a");
}

static void test_deadline__a_put_keeps_replaces_or_removes_a_deadline(void **state)
{
    struct world *w = *state;
    put_with(w, 0, with_deadline("a", 50));
    put(w, 1, "r", "a");
    assert_int_equal(view_of(w, "a").deadline_us, us(50));
    put_with(w, 2, with_deadline("a", 30));
    assert_int_equal(view_of(w, "a").deadline_us, us(30));
    put_with(w, 3, (struct put_request){ .jid = SLICE("a"), .has_deadline = true });
    assert_int_equal(view_of(w, "a").deadline_us, 0);
    (void)pop(w, 60, "other", "w1", 1);
    assert_string_equal(pop(w, 60, "q", "w1", 1), "a");
    // Completing into the next queue is no put: it has started.
    complete_with(w, 61, (struct complete_request){ .holder = w1_holds_a, .next = SLICE("next") });
    assert_int_equal(view_of(w, "a").deadline_us, 0);
}

static void test_deadline__a_deadline_that_has_passed_goes_with_the_next_put_or_unfail(void **state)
{
    struct world *w = *state;
    put_with(w, 0, with_deadline("a", 10));
    put_with(w, 0, with_deadline("b", 10));
    (void)pop(w, 10, "q", "w1", 1);
    assert_string_equal(groups(w), "expired 2");
    put(w, 11, "q", "a");
    assert_int_equal(view_of(w, "a").deadline_us, 0);
    assert_int_equal(unfail(w, 12, "q", "expired", 9), 1);
    assert_int_equal(view_of(w, "b").deadline_us, 0);
    assert_string_equal(pop(w, 13, "q", "w1", 9), "a,b");
    assert_int_equal(stats_of(w, "q", 10).failed, 0);
    // One that is still to come stays.
    put_with(w, 20, with_deadline("c", 100));
    pop(w, 21, "q", "w1", 1);
    fail_job(w, 22, "w1", "c", "bad");
    unfail(w, 23, "q", "bad", 1);
    assert_int_equal(view_of(w, "c").deadline_us, 0); // it has started
    put_with(w, 24, with_deadline("c", 100));
    put(w, 25, "q", "c");
    assert_int_equal(view_of(w, "c").deadline_us, us(100));
}

static void test_deadline__with_the_client_clock_a_put_may_find_the_deadline_passed(void **state)
{
    struct world *w = *state;
    put_with(w, 0, with_deadline("a", 10));
    put(w, 10, "q", "a");
    assert_int_equal(view_of(w, "a").deadline_us, 0);
    assert_string_equal(pop(w, 20, "q", "w1", 1), "a");
}

static void test_deadline__a_dependency_that_completes_in_time_is_in_time(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "first");
    struct put_request request = with_deadline("a", 50);
    request.depends = slices_of(w, "first");
    request.delay_us = us(20);
    put_with(w, 0, request);
    pop(w, 1, "q", "w1", 1);
    complete(w, 2, "w1", "first");
    assert_string_equal(state_of(w, "a"), "scheduled");
    assert_string_equal(pop(w, 30, "q", "w1", 1), "a");
}

static void test_deadline__an_expired_job_frees_its_lane_and_waits_in_none(void **state)
{
    struct world *w = *state;
    limit_set(w, 0, NULL, "d", concurrency(1));
    put_in(w, 0, "d", "a");
    struct put_request request = with_deadline("b", 50);
    request.has_domain = true;
    request.domain = SLICE("d");
    put_with(w, 0, request);
    pop(w, 0, "q", "w1", 9);
    complete(w, 40, "w1", "a");
    (void)pop(w, 50, "q", "w1", 0);
    (void)pop(w, 50, "q", "w1", 1);
    assert_string_equal(state_of(w, "b"), "failed");
    assert_int_equal(lane_count(w), 0);
}

static void test_deadline__a_deadline_that_is_not_to_come_is_refused(void **state)
{
    struct world *w = *state;
    const char *sentence = "deadline must lie in the future, and not beyond the year 9999";
    static const double deadlines[] = { 100, 99, -1, 253402300800.0 };
    put(w, 100, "q", "first");
    for (size_t i = 0; TEST_ROW(i, deadlines); i++) {
        refused(w, STATUS_INVALID, sentence);
        put_with(w, 100, with_deadline("a", deadlines[i]));
        assert_string_equal(w->error.detail, sentence);
    }
    put_with(w, 100, with_deadline("a", 100.000001));
    assert_string_equal(pop(w, 100, "q", "w1", 9), "first,a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_deadline__no_heartbeat_reaches_beyond_the_end_of_the_run),
        CLIENT_TEST(test_deadline__no_heartbeat_reaches_beyond_the_end_of_the_run),
        SERVER_TEST(test_deadline__a_short_run_ends_with_its_first_lease),
        CLIENT_TEST(test_deadline__a_short_run_ends_with_its_first_lease),
        SERVER_TEST(test_deadline__the_grace_follows_the_end_of_the_run),
        CLIENT_TEST(test_deadline__the_grace_follows_the_end_of_the_run),
        SERVER_TEST(test_deadline__without_a_timeout_a_run_may_go_on),
        SERVER_TEST(test_deadline__what_is_not_started_by_its_deadline_fails),
        CLIENT_TEST(test_deadline__what_is_not_started_by_its_deadline_fails),
        SERVER_TEST(test_deadline__with_the_server_clock_it_is_dated_by_the_deadline),
        CLIENT_TEST(test_deadline__with_the_client_clock_only_a_pop_from_the_queue_looks),
        SERVER_TEST(test_deadline__the_pop_ends_a_deadline),
        CLIENT_TEST(test_deadline__the_pop_ends_a_deadline),
        SERVER_TEST(test_deadline__a_put_keeps_replaces_or_removes_a_deadline),
        SERVER_TEST(test_deadline__a_deadline_that_has_passed_goes_with_the_next_put_or_unfail),
        CLIENT_TEST(test_deadline__a_deadline_that_has_passed_goes_with_the_next_put_or_unfail),
        CLIENT_TEST(test_deadline__with_the_client_clock_a_put_may_find_the_deadline_passed),
        SERVER_TEST(test_deadline__a_dependency_that_completes_in_time_is_in_time),
        SERVER_TEST(test_deadline__an_expired_job_frees_its_lane_and_waits_in_none),
        CLIENT_TEST(test_deadline__an_expired_job_frees_its_lane_and_waits_in_none),
        SERVER_TEST(test_deadline__a_deadline_that_is_not_to_come_is_refused),
        CLIENT_TEST(test_deadline__a_deadline_that_is_not_to_come_is_refused),
    };
    return cmocka_run_group_tests_name("deadline", tests, NULL, NULL);
}
