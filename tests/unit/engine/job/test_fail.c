// SPDX-License-Identifier: MIT
#include "engine_test.h"

static void lease(struct world *w, double now, const char *jid)
{
    put(w, now, "q", jid);
    assert_string_equal(pop(w, now, "q", "w1", 1), jid);
}

// A job that failed right away.
static void break_one(struct world *w, double now, const char *jid, const char *group)
{
    lease(w, now, jid);
    fail_job(w, now, "w1", jid, group);
}

static struct retry_request retry_of(const char *jid)
{
    return (struct retry_request){ .holder = { .jid = name_of(jid), .worker = SLICE("w1") } };
}

static void test_fail__a_job_is_kept_with_its_failure(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    track(w, 0, "a");
    forget_events(w);
    fail_job(w, 5, "w1", "a", "bad");
    expect_events(w, "log+tracker: failed a in q by w1 as bad saying it broke");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 5 failed by w1 as bad");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_FAILED);
    assert_slice_equal(view.failure_group, "bad");
    assert_slice_equal(view.failure_message, "it broke");
    assert_slice_equal(view.failure_worker, "w1");
    assert_int_equal(view.failure_when_us, us(5));
    assert_int_equal(view.token, 0);
    assert_slice_equal(view.worker, "");
    assert_int_equal(stats_of(w, "q", 5).failed, 1);
    assert_int_equal(stats_of(w, "q", 5).failures, 1);
    assert_string_equal(queue_of(w, 5, "q"), "listeners 1");
    assert_string_equal(held(w, 5, "w1", false), "0: ");
    refused(w, STATUS_STATE, "a is not running: failed");
    fail_job(w, 5, "w1", "a", "bad");
}

static void test_fail__may_bring_new_data(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    const struct fail_request request = { .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                                          .group = SLICE("bad"),
                                          .message = SLICE("m"),
                                          .data = SLICE("[1]") };
    said(w, engine_fail(w->engine, at(w, 1), &request, &w->error));
    assert_slice_equal(view_of(w, "a").data, "[1]");
}

static void test_fail__groups_stand_in_the_order_in_which_they_came_to_be(void **state)
{
    struct world *w = *state;
    break_one(w, 0, "a", "zeta");
    break_one(w, 1, "b", "alpha");
    break_one(w, 2, "c", "zeta");
    assert_string_equal(groups(w), "zeta 2,alpha 1");
    put(w, 3, "q", "a");
    put(w, 3, "q", "c");
    assert_string_equal(groups(w), "alpha 1");
    cancel(w, 3, "a,c");
    break_one(w, 4, "d", "zeta");
    assert_string_equal(groups(w), "alpha 1,zeta 1");
}

static void test_fail__the_newest_failure_of_a_group_is_listed_first(void **state)
{
    struct world *w = *state;
    break_one(w, 0, "a", "bad");
    break_one(w, 1, "b", "bad");
    break_one(w, 2, "c", "bad");
    assert_string_equal(failed(w, "bad", 0, 9), "3: c,b,a");
    assert_string_equal(failed(w, "bad", 1, 1), "3: b");
    assert_string_equal(failed(w, "bad", 2, 9), "3: a");
    assert_string_equal(failed(w, "bad", 3, 9), "3: ");
    assert_string_equal(failed(w, "good", 0, 9), "0: ");
}

static void test_fail__retry_puts_the_job_back_in_line(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    track(w, 0, "a");
    forget_events(w);
    assert_int_equal(retry(w, 1, "w1", "a"), 4);
    expect_events(w, "");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_int_equal(view_of(w, "a").remaining, 4);
    assert_int_equal(view_of(w, "a").retries, 5);
    assert_int_equal(view_of(w, "a").crashes, 0);
    assert_slice_equal(view_of(w, "a").worker, "");
    assert_slice_equal(view_of(w, "a").failure_group, "");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 1 retried by w1");
    assert_string_equal(held(w, 1, "w1", false), "0: ");
    assert_string_equal(pop(w, 2, "q", "w2", 1), "a");
}

static void test_fail__retry_after_a_delay(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    struct retry_request request = retry_of("a");
    request.has_delay = true;
    request.delay_us = us(10);
    assert_int_equal(retry_with(w, 5, request), 4);
    assert_string_equal(state_of(w, "a"), "scheduled");
    assert_int_equal(view_of(w, "a").scheduled_us, us(15));
    assert_string_equal(pop(w, 15, "q", "w1", 1), "a");
}

static void test_fail__retry_in_another_queue_moves_the_job(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    struct retry_request request = retry_of("a");
    request.to = SLICE("r");
    assert_int_equal(retry_with(w, 1, request), 4);
    assert_slice_equal(view_of(w, "a").queue, "r");
    assert_string_equal(queue_of(w, 1, "q"), "listeners 1");
    assert_string_equal(queue_of(w, 1, "r"), "waiting 1");
    assert_string_equal(pop(w, 2, "r", "w1", 1), "a");
}

static void test_fail__retry_keeps_the_words_given(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    struct retry_request request = retry_of("a");
    request.has_failure = true;
    request.group = SLICE("slow");
    request.message = SLICE("try again");
    retry_with(w, 3, request);
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_WAITING);
    assert_slice_equal(view.failure_group, "slow");
    assert_slice_equal(view.failure_message, "try again");
    assert_int_equal(view.failure_when_us, us(3));
    assert_string_equal(groups(w), "");
    assert_int_equal(stats_of(w, "q", 0).failed, 0);
}

static void test_fail__the_last_retry_is_a_failure(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 0 });
    track(w, 0, "a");
    pop(w, 0, "q", "w1", 1);
    forget_events(w);
    struct retry_request request = retry_of("a");
    request.to = SLICE("r");
    request.has_delay = true;
    request.delay_us = us(100);
    assert_int_equal(retry_with(w, 1, request), -1);
    expect_events(w, "tracker: failed a");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_FAILED);
    assert_int_equal(view.remaining, -1);
    assert_slice_equal(view.queue, "r");
    assert_slice_equal(view.failure_group, "failed-retries-r");
    assert_slice_equal(view.failure_message, "Job exhausted retries in queue \"q\"");
    assert_slice_equal(view.failure_worker, "");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 1 failed as failed-retries-r");
    assert_int_equal(stats_of(w, "r", 0).failed, 1);
    assert_int_equal(stats_of(w, "r", 0).failures, 1);
    assert_int_equal(stats_of(w, "q", 0).failed, 0);
    assert_string_equal(failed(w, "failed-retries-r", 0, 9), "1: a");
}

static void test_fail__the_last_retry_fails_with_the_words_given(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 0 });
    pop(w, 0, "q", "w1", 1);
    struct retry_request request = retry_of("a");
    request.has_failure = true;
    request.group = SLICE("slow");
    request.message = SLICE("never again");
    assert_int_equal(retry_with(w, 1, request), -1);
    assert_slice_equal(view_of(w, "a").failure_group, "slow");
    assert_slice_equal(view_of(w, "a").failure_message, "never again");
    assert_slice_equal(view_of(w, "a").failure_worker, "w1");
    assert_string_equal(groups(w), "slow 1");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 1 failed as slow");
}

static void test_fail__unfail_brings_the_first_failures_back(void **state)
{
    struct world *w = *state;
    break_one(w, 0, "a", "bad");
    break_one(w, 1, "b", "bad");
    break_one(w, 2, "c", "bad");
    break_one(w, 3, "d", "other");
    forget_events(w);
    assert_int_equal(unfail(w, 10, "r", "bad", 2), 2);
    expect_events(w, "");
    assert_string_equal(jobs(w, 10, LIST_WAITING, "r", 0, 9), "2: a,b");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 0 failed by w1 as bad; 10 put in r");
    assert_slice_equal(view_of(w, "a").queue, "r");
    assert_int_equal(view_of(w, "a").remaining, 5);
    assert_slice_equal(view_of(w, "a").failure_group, "bad");
    assert_slice_equal(view_of(w, "a").failure_message, "it broke");
    assert_int_equal(stats_of(w, "q", 0).failed, 2);
    assert_int_equal(stats_of(w, "q", 0).failures, 4);
    assert_string_equal(groups(w), "bad 1,other 1");
    assert_string_equal(queues(w), "q,r");
    assert_int_equal(unfail(w, 11, "r", "bad", 9), 1);
    assert_int_equal(unfail(w, 11, "r", "bad", 9), 0);
    assert_int_equal(unfail(w, 11, "r", "unknown", 9), 0);
    assert_string_equal(groups(w), "other 1");
}

static void test_fail__unfail_moves_a_bounded_number_at_a_time(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < UNFAIL_MAX + 2; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        break_one(w, 0, jid, "bad");
    }
    assert_int_equal(unfail(w, 1, "r", "bad", SIZE_MAX), UNFAIL_MAX);
    assert_string_equal(groups(w), "bad 2");
    assert_int_equal(unfail(w, 1, "r", "bad", SIZE_MAX), 2);
}

static void test_fail__unfail_resets_the_retries_that_were_exhausted(void **state)
{
    struct world *w = *state;
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .has_retries = true, .retries = 0 });
    pop(w, 0, "q", "w1", 1);
    assert_int_equal(retry(w, 1, "w1", "a"), -1);
    assert_int_equal(unfail(w, 2, "q", "failed-retries-q", 1), 1);
    assert_int_equal(view_of(w, "a").remaining, 0);
    assert_string_equal(pop(w, 3, "q", "w1", 1), "a");
}

static void test_fail__a_failure_is_taken_back_on_the_day_it_was_counted(void **state)
{
    struct world *w = *state;
    break_one(w, 10, "a", "bad");
    break_one(w, 10, "b", "bad");
    break_one(w, 10, "c", "bad");
    assert_int_equal(unfail(w, DAY + 10, "q", "bad", 1), 1);
    cancel(w, DAY + 10, "b");
    put(w, DAY + 10, "q", "c");
    assert_int_equal(stats_of(w, "q", 0).failed, 0);
    assert_int_equal(stats_of(w, "q", 0).failures, 3);
    assert_int_equal(stats_of(w, "q", DAY).failed, 0);
}

static void test_fail__a_worker_named_by_the_jobs_own_view_is_named_in_the_end(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    said(w, engine_worker_deregister(w->engine, at(w, 0), slices_of(w, "w1"), &w->error));
    // The worker goes with its last lease, and its name is borrowed from it.
    struct job_view view = view_of(w, "a");
    const struct fail_request request = { .holder = { .jid = view.jid, .worker = view.worker },
                                          .group = SLICE("group"),
                                          .message = SLICE("message") };
    said(w, engine_fail(w->engine, at(w, 1), &request, &w->error));
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 1 failed by w1 as group");
}

static void force(struct world *w, double now, const char *jid)
{
    const struct fail_request request = { .holder = { .jid = name_of(jid), .worker = SLICE("ops") },
                                          .forced = true,
                                          .group = SLICE("bad"),
                                          .message = SLICE("no") };
    said(w, engine_fail(w->engine, at(w, now), &request, &w->error));
}

static void test_fail__an_operator_fails_a_job_in_any_state(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "done");
    put(w, 0, "q", "runs");
    put(w, 0, "q", "lost");
    put(w, 0, "q", "waits");
    put_later(w, 0, "q", "late", 100);
    put_depending(w, 0, "q", "hangs", "waits");
    assert_string_equal(pop(w, 1, "q", "w1", 3), "done,runs,lost");
    complete(w, 1, "w1", "done");
    time_out(w, 1, "lost");
    forget_events(w);
    static const char *const jids[] = { "hangs", "done", "runs", "lost", "waits", "late" };
    for (size_t i = 0; TEST_ROW_NAMED(i, jids, jids[i]); i++) {
        force(w, 2, jids[i]);
        assert_string_equal(state_of(w, jids[i]), "failed");
        assert_slice_equal(view_of(w, jids[i]).failure_worker, "ops");
        assert_int_equal(faults_of(w), 0);
    }
    expect_events(w, "log: failed hangs in q by ops as bad saying no; "
                     "log: failed done in q by ops as bad saying no; "
                     "worker+log: lock_lost runs by w1; log: failed runs in q by ops as bad saying "
                     "no; log: failed lost in q by ops as bad saying no; log: failed waits in q by "
                     "ops as bad saying no; log: failed late in q by ops as bad saying no");
    assert_string_equal(failed(w, "bad", 0, 10), "6: late,waits,lost,runs,done,hangs");
    assert_int_equal(stats_of(w, "q", 2).failed, 6);
    // The holder is refused.
    refused(w, STATUS_STATE, "runs is not running: failed");
    complete(w, 2, "w1", "runs");
    refused(w, STATUS_STATE, "cannot be failed: it is failed already");
    force(w, 2, "runs");
    refused(w, STATUS_NOT_FOUND, "nothing");
    force(w, 2, "nothing");
    // It still depends on the other.
    assert_int_equal(unfail(w, 4, "q", "bad", 1), 1);
    assert_string_equal(state_of(w, "hangs"), "depends");
}

static void test_fail__a_complete_job_that_is_failed_loses_its_result(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    (void)complete_with(w, 1,
                        (struct complete_request){
                            .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                            .result = SLICE("7"),
                        });
    assert_slice_equal(view_of(w, "a").result, "7");
    force(w, 2, "a");
    assert_slice_equal(view_of(w, "a").result, "");
    assert_int_equal(unfail(w, 3, "q", "bad", 1), 1);
    assert_string_equal(pop(w, 3, "q", "w1", 1), "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_fail__a_job_is_kept_with_its_failure),
        CLIENT_TEST(test_fail__a_job_is_kept_with_its_failure),
        SERVER_TEST(test_fail__may_bring_new_data),
        SERVER_TEST(test_fail__groups_stand_in_the_order_in_which_they_came_to_be),
        SERVER_TEST(test_fail__the_newest_failure_of_a_group_is_listed_first),
        SERVER_TEST(test_fail__retry_puts_the_job_back_in_line),
        CLIENT_TEST(test_fail__retry_puts_the_job_back_in_line),
        SERVER_TEST(test_fail__retry_after_a_delay),
        CLIENT_TEST(test_fail__retry_after_a_delay),
        SERVER_TEST(test_fail__retry_in_another_queue_moves_the_job),
        SERVER_TEST(test_fail__retry_keeps_the_words_given),
        SERVER_TEST(test_fail__the_last_retry_is_a_failure),
        CLIENT_TEST(test_fail__the_last_retry_is_a_failure),
        SERVER_TEST(test_fail__the_last_retry_fails_with_the_words_given),
        SERVER_TEST(test_fail__unfail_brings_the_first_failures_back),
        SERVER_TEST(test_fail__unfail_moves_a_bounded_number_at_a_time),
        SERVER_TEST(test_fail__unfail_resets_the_retries_that_were_exhausted),
        SERVER_TEST(test_fail__a_failure_is_taken_back_on_the_day_it_was_counted),
        SERVER_TEST(test_fail__an_operator_fails_a_job_in_any_state),
        CLIENT_TEST(test_fail__an_operator_fails_a_job_in_any_state),
        SERVER_TEST(test_fail__a_complete_job_that_is_failed_loses_its_result),
        SERVER_TEST(test_fail__a_worker_named_by_the_jobs_own_view_is_named_in_the_end),
    };
    return cmocka_run_group_tests_name("fail", tests, NULL, NULL);
}
