// SPDX-License-Identifier: MIT
// What a running job reports and leaves: progress, checkpoints, log lines, results; and those who
// wait for its end.
#include "engine_test.h"

#include <stdio.h>
#include <string.h>

static const struct holder w1_holds_a = { .jid = { "a", 1 }, .worker = { "w1", 2 } };

// w1 has popped a, which is tracked, at second 0.
static void run_a(struct world *w)
{
    put(w, 0, "q", "a");
    track(w, 0, "a");
    assert_string_equal(pop(w, 0, "q", "w1", 1), "a");
    forget_events(w);
}

// ---------------------------------------------------------------------------------------------
// Progress

static void test_progress__is_told_to_the_tracker_and_kept(void **state)
{
    struct world *w = *state;
    run_a(w);
    assert_int_equal(view_of(w, "a").progress_ppm, -1);
    progress(w, 1, "w1", "a", 0, NULL);
    expect_events(w, "tracker: progress a at 0");
    assert_int_equal(view_of(w, "a").progress_ppm, 0);
    progress(w, 2, "w1", "a", 250000, "a quarter");
    expect_events(w, "tracker: progress a at 250000 saying a quarter");
    assert_int_equal(w->event_us, us(2));
    assert_slice_equal(view_of(w, "a").progress_message, "a quarter");
    reload(w);
    assert_slice_equal(view_of(w, "a").progress_message, "a quarter");
    // It may go back, and say nothing.
    progress(w, 3, "w1", "a", 100, NULL);
    assert_int_equal(view_of(w, "a").progress_ppm, 100);
    assert_slice_equal(view_of(w, "a").progress_message, "");
    progress(w, 4, "w1", "a", 1000000, "done");
    // It is no heartbeat and no entry of the history.
    assert_int_equal(view_of(w, "a").expires_us, us(60));
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1");
}

static void test_progress__of_a_job_that_is_not_tracked_is_told_to_nobody(void **state)
{
    struct world *w = *state;
    run_a(w);
    untrack(w, 0, "a");
    forget_events(w);
    progress(w, 1, "w1", "a", 5, "five");
    expect_events(w, "");
    assert_int_equal(view_of(w, "a").progress_ppm, 5);
}

static void test_progress__belongs_to_a_run(void **state)
{
    struct world *w = *state;
    run_a(w);
    progress(w, 1, "w1", "a", 500000, "half");
    retry(w, 2, "w1", "a");
    // Who looks now sees how far it came.
    assert_int_equal(view_of(w, "a").progress_ppm, 500000);
    pop(w, 3, "q", "w2", 1);
    assert_int_equal(view_of(w, "a").progress_ppm, -1);
    assert_slice_equal(view_of(w, "a").progress_message, "");
    progress(w, 4, "w2", "a", 700000, NULL);
    complete(w, 5, "w2", "a");
    assert_int_equal(view_of(w, "a").progress_ppm, 700000);
    put(w, 6, "q", "a");
    assert_int_equal(view_of(w, "a").progress_ppm, -1);
    reload(w);
}

static void test_progress__only_the_holder_may_report(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "job a does not exist");
    progress(w, 0, "w1", "a", 1, NULL);
    put(w, 0, "q", "a");
    refused(w, STATUS_STATE, "job a is not running: waiting");
    progress(w, 0, "w1", "a", 1, NULL);
    refused(w, STATUS_STATE, "job a is not running: waiting");
    checkpoint(w, 0, "w1", "a", "here");
    refused(w, STATUS_STATE, "job a is not running: waiting");
    log_line(w, 0, "w1", "a", "line");
    pop(w, 0, "q", "w1", 1);
    refused(w, STATUS_STALE, "job a has been given to another worker: w1");
    progress(w, 0, "w2", "a", 1, NULL);
    refused(w, STATUS_STALE, "job a has been given to another worker: w1");
    checkpoint(w, 0, "w2", "a", "here");
    refused(w, STATUS_STALE, "job a has been given to another worker: w1");
    log_line(w, 0, "w2", "a", "line");
    struct holder old = w1_holds_a;
    old.token = view_of(w, "a").token + 1;
    refused(w, STATUS_STALE, "the token");
    said(w, engine_progress(w->engine, 0, &old, 1, SLICE_EMPTY, &w->error));
    refused(w, STATUS_STALE, "the token");
    said(w, engine_checkpoint(w->engine, 0, &old, SLICE("x"), &w->error));
    refused(w, STATUS_STALE, "the token");
    said(w, engine_log_line(w->engine, 0, &old, SLICE("x"), &w->error));
    old.token = 0;
    old.queue = SLICE("r");
    refused(w, STATUS_STALE, "job a is running in another queue: q");
    said(w, engine_progress(w->engine, 0, &old, 1, SLICE_EMPTY, &w->error));
}

static void test_progress__must_lie_between_0_and_1(void **state)
{
    struct world *w = *state;
    run_a(w);
    static const int32_t parts[] = { -1, 1000001, INT32_MIN, INT32_MAX };
    for (size_t i = 0; TEST_ROW(i, parts); i++) {
        refused(w, STATUS_INVALID, "progress must lie between 0 and 1");
        progress(w, 0, "w1", "a", parts[i], NULL);
    }
    expect_events(w, "");
}

// ---------------------------------------------------------------------------------------------
// Checkpoints

static void test_progress__a_checkpoint_is_handed_to_the_next_run(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    run_a(w);
    checkpoint(w, 1, "w1", "a", "{\"row\":10}");
    checkpoint(w, 2, "w1", "a", "{\"row\":20}");
    expect_events(w, "");
    retry(w, 3, "w1", "a");
    pop(w, 4, "q", "w1", 1);
    assert_slice_equal(view_of(w, "a").checkpoint, "{\"row\":20}");
    checkpoint(w, 5, "w1", "a", "{\"row\":30}");
    reload(w);
    assert_string_equal(pop(w, 64, "q", "w2", 1), "a"); // a lost lease
    assert_slice_equal(view_of(w, "a").checkpoint, "{\"row\":30}");
    time_out(w, 65, "a");
    pop(w, 65, "q", "w1", 1);
    assert_slice_equal(view_of(w, "a").checkpoint, "{\"row\":30}");
    // Also after a failure.
    fail_job(w, 66, "w1", "a", "bad");
    unfail(w, 67, "q", "bad", 1);
    pop(w, 67, "q", "w1", 1);
    assert_slice_equal(view_of(w, "a").checkpoint, "{\"row\":30}");
    checkpoint(w, 68, "w1", "a", NULL);
    assert_slice_equal(view_of(w, "a").checkpoint, "");
}

static void test_progress__completing_and_put_forget_the_checkpoint(void **state)
{
    struct world *w = *state;
    run_a(w);
    checkpoint(w, 1, "w1", "a", "here");
    complete_with(w, 2, (struct complete_request){ .holder = w1_holds_a, .next = SLICE("r") });
    assert_slice_equal(view_of(w, "a").checkpoint, "");
    pop(w, 3, "r", "w1", 1);
    checkpoint(w, 3, "w1", "a", "here");
    complete(w, 4, "w1", "a");
    assert_slice_equal(view_of(w, "a").checkpoint, "");
    put(w, 5, "q", "a");
    pop(w, 5, "q", "w1", 1);
    checkpoint(w, 6, "w1", "a", "here");
    put(w, 7, "q", "a");
    assert_slice_equal(view_of(w, "a").checkpoint, "");
    reload(w);
}

// ---------------------------------------------------------------------------------------------
// The log of a job

static void test_progress__log_lines_stay_with_the_job(void **state)
{
    struct world *w = *state;
    run_a(w);
    assert_string_equal(log_of(w, "a"), "");
    log_line(w, 1, "w1", "a", "one");
    log_line(w, 2.5, "w1", "a", "two");
    expect_events(w, "");
    retry(w, 3, "w1", "a");
    pop(w, 4, "q", "w2", 1);
    log_line(w, 5, "w2", "a", "three");
    assert_string_equal(log_of(w, "a"), "1 one; 2.5 two; 5 three");
    complete_with(w, 6,
                  (struct complete_request){ .holder = { SLICE("a"), SLICE("w2"), .token = 0 },
                                             .next = SLICE("r") });
    pop(w, 7, "r", "w1", 1);
    log_line(w, 8, "w1", "a", "four");
    fail_job(w, 9, "w1", "a", "bad");
    reload(w);
    assert_string_equal(log_of(w, "a"), "1 one; 2.5 two; 5 three; 8 four");
    // They are no part of the history.
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 3 retried by w1; 4 popped by w2; 6 done; "
                        "6 put in r; 7 popped by w1; 9 failed by w1 as bad");
    put(w, 10, "q", "a");
    assert_string_equal(log_of(w, "a"), "");
}

static void test_progress__the_newest_log_lines_are_kept(void **state)
{
    struct world *w = *state;
    run_a(w);
    for (int i = 1; i <= 102; i++) {
        char line[16];
        (void)snprintf(line, sizeof(line), "line %d", i);
        log_line(w, 1, "w1", "a", line);
    }
    assert_int_equal(view_of(w, "a").log_count, 100);
    assert_memory_equal(log_of(w, "a"), "1 line 3; 1 line 4;", 19);
    set(w, "max-job-log", "2");
    // A lower limit counts with the next line.
    assert_int_equal(view_of(w, "a").log_count, 100);
    log_line(w, 2, "w1", "a", "next");
    assert_string_equal(log_of(w, "a"), "1 line 102; 2 next");
    set(w, "max-job-log", "1");
    log_line(w, 3, "w1", "a", "last");
    assert_string_equal(log_of(w, "a"), "3 last");
    set(w, "max-job-log", "0");
    log_line(w, 4, "w1", "a", "none");
    assert_string_equal(log_of(w, "a"), "");
    reload(w);
    set(w, "max-job-log", "5");
    log_line(w, 5, "w1", "a", "again");
    assert_string_equal(log_of(w, "a"), "5 again");
}

static void test_progress__a_long_log_line_is_cut(void **state)
{
    struct world *w = *state;
    run_a(w);
    static char line[5000];
    memset(line, 'x', sizeof(line) - 1);
    log_line(w, 1, "w1", "a", line);
    struct log_view view;
    size_t position = 0;
    assert_true(job_log_next(engine_get(w->engine, SLICE("a")), &position, &view));
    assert_int_equal(view.line.size, 4096);
    line[4096] = '\0';
    log_line(w, 1, "w1", "a", line);
    assert_true(job_log_next(engine_get(w->engine, SLICE("a")), &position, &view));
    assert_int_equal(view.line.size, 4096);
    assert_false(job_log_next(engine_get(w->engine, SLICE("a")), &position, &view));
    refused(w, STATUS_INVALID, "a line of a log must not be empty");
    log_line(w, 1, "w1", "a", "");
    // Any bytes will do.
    said(w, engine_log_line(w->engine, at(w, 1), &w1_holds_a, SLICE("a\0b\n\xff"), &w->error));
    assert_true(job_log_next(engine_get(w->engine, SLICE("a")), &position, &view));
    assert_int_equal(view.line.size, 5);
    reload(w);
}

// ---------------------------------------------------------------------------------------------
// Results

static void put_with_ttl(struct world *w, double now, const char *jid, double ttl)
{
    put_with(w, now,
             (struct put_request){
                 .jid = name_of(jid),
                 .options = &(struct job_options){ .result_ttl_us = ttl < 0 ? -1 : us(ttl) } });
}

static void complete_as(struct world *w, double now, const char *jid, const char *result)
{
    assert_string_equal(complete_with(w, now,
                                      (struct complete_request){
                                          .holder = { .jid = name_of(jid), .worker = SLICE("w1") },
                                          .result = name_of(result) }),
                        "complete");
}

static void test_progress__a_result_is_kept_with_the_job_unless_it_has_a_time(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    complete_as(w, 1, "a", "\"for good\"");
    assert_slice_equal(view_of(w, "a").result, "\"for good\"");
    assert_int_equal(view_of(w, "a").result_until_us, 0);
    assert_true(tick(w, 100000) == kept_until(w, 1));
    assert_slice_equal(view_of(w, "a").result, "\"for good\"");
    put(w, 100000, "q", "a");
    assert_slice_equal(view_of(w, "a").result, "");
}

static void test_progress__with_the_server_clock_a_result_is_dropped_in_time(void **state)
{
    struct world *w = *state;
    put_with_ttl(w, 0, "a", 50);
    put_with_ttl(w, 0, "b", 30);
    put_with_ttl(w, 0, "c", -1);
    policy_set(w, 0, POLICY_QUEUE, "q", (struct job_options){ .result_ttl_us = us(40) });
    put(w, 0, "q", "d");
    pop(w, 0, "q", "w1", 9);
    complete_as(w, 10, "a", "1");
    complete_as(w, 10, "b", "2");
    complete_as(w, 10, "c", "3");
    complete_as(w, 10, "d", "4");
    assert_int_equal(view_of(w, "a").result_until_us, us(60));
    assert_int_equal(view_of(w, "c").result_until_us, 0);
    assert_int_equal(view_of(w, "d").result_until_us, us(50));
    reload(w);
    assert_true(tick(w, 11) == 40);
    assert_true(tick(w, 39.999999) == 40);
    assert_slice_equal(view_of(w, "b").result, "2");
    forget_events(w);
    assert_true(tick(w, 40) == 50);
    assert_slice_equal(view_of(w, "b").result, "");
    assert_int_equal(view_of(w, "b").result_until_us, 0);
    assert_string_equal(state_of(w, "b"), "complete");
    expect_events(w, "");
    reload(w);
    assert_true(tick(w, 50) == 60);
    assert_slice_equal(view_of(w, "d").result, "");
    // One that was put again has no result that could be dropped.
    put(w, 51, "q", "a");
    assert_true(tick(w, 51) == kept_until(w, 10));
    assert_slice_equal(view_of(w, "c").result, "3");
}

static void
test_progress__with_the_client_clock_a_completion_drops_the_results_of_others(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 150; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put_with_ttl(w, 0, jid, 10 + (double)i / 1000);
    }
    put(w, 0, "q", "last");
    put(w, 0, "q", "very last");
    pop(w, 0, "q", "w1", 200);
    for (int i = 0; i < 150; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        complete_as(w, 1, jid, "1");
    }
    tick(w, 50);
    assert_slice_equal(view_of(w, "j0").result, "1");
    complete(w, 50, "w1", "last");
    assert_slice_equal(view_of(w, "j0").result, "");
    assert_slice_equal(view_of(w, "j99").result, "");
    assert_slice_equal(view_of(w, "j100").result, "1");
    complete(w, 50, "w1", "very last");
    assert_slice_equal(view_of(w, "j149").result, "");
}

static void test_progress__many_results_are_dropped_in_slices(void **state)
{
    struct world *w = *state;
    enum {
        MANY = 1500,
    };
    for (int i = 0; i < MANY; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        put_with_ttl(w, 0, jid, 10);
    }
    (void)pop(w, 0, "q", "w1", MANY);
    for (int i = 0; i < MANY; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        complete_as(w, 1, jid, "1");
    }
    assert_true(tick(w, 11) == 11);
    assert_true(tick(w, 11) == kept_until(w, 1));
    assert_slice_equal(view_of(w, "j1499").result, "");
}

static void test_progress__a_time_without_a_result_is_nothing(void **state)
{
    struct world *w = *state;
    put_with_ttl(w, 0, "a", 50);
    pop(w, 0, "q", "w1", 1);
    complete(w, 1, "w1", "a");
    assert_int_equal(view_of(w, "a").result_until_us, 0);
    assert_true(tick(w, 1) == kept_until(w, 1));
    put(w, 2, "q", "a");
    pop(w, 2, "q", "w1", 1);
    complete_as(w, 3, "a", "1");
    delete_job(w, 4, "a");
    assert_true(tick(w, 4) == -1);
}

// ---------------------------------------------------------------------------------------------
// Waiters

static void test_progress__waiters_are_told_in_the_order_in_which_they_came(void **state)
{
    struct world *w = *state;
    run_a(w);
    assert_false(wait_for(w, 1, "a", 30));
    assert_false(wait_for(w, 1, "a", 10));
    assert_false(wait_for(w, 2, "a", 20));
    complete(w, 3, "w1", "a");
    expect_events(w, "tracker: completed a; log: completed a in q by w1; "
                     "waiter 30: finished a state complete; "
                     "waiter 10: finished a state complete; "
                     "waiter 20: finished a state complete");
    assert_int_equal(w->event_us, us(3));
    // Once, and they may wait again.
    put(w, 4, "q", "a");
    forget_events(w);
    pop(w, 4, "q", "w1", 1);
    assert_false(wait_for(w, 4, "a", 10));
    forget_events(w);
    fail_job(w, 5, "w1", "a", "bad");
    expect_events(w, "log+tracker: failed a in q by w1 as bad saying it broke; "
                     "waiter 10: finished a as bad saying it broke state failed");
}

static void test_progress__a_waiter_comes_after_the_dependents(void **state)
{
    struct world *w = *state;
    run_a(w);
    put_depending(w, 0, "q", "child", "a");
    assert_false(wait_for(w, 1, "a", 1));
    assert_false(wait_for(w, 1, "child", 2));
    forget_events(w);
    complete(w, 3, "w1", "a");
    expect_events(w, "tracker: completed a; log: completed a in q by w1; "
                     "waiter 1: finished a state complete");
    assert_int_equal(cancel(w, 4, "child"), 1);
    expect_events(w, "log: canceled child in q; waiter 2: finished child state canceled");
}

static void test_progress__what_is_not_an_end_is_not_told(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    run_a(w);
    untrack(w, 0, "a");
    assert_false(wait_for(w, 0, "a", 1));
    forget_events(w);
    retry(w, 1, "w1", "a");
    pop(w, 1, "q", "w1", 1);
    time_out(w, 2, "a");
    pop(w, 3, "q", "w1", 1);
    complete_with(w, 4, (struct complete_request){ .holder = w1_holds_a, .next = SLICE("r") });
    put(w, 5, "q", "a");
    pop(w, 5, "q", "w1", 1);
    pop(w, 65, "q", "w1", 1);
    expect_events(
        w, "worker+log: lock_lost a by w1; log: advanced a in q by w1 to r; log: put a in q; "
           "worker+log: lock_lost a by w1");
    assert_int_equal(cancel(w, 66, "a"), 1);
    expect_events(w, "worker+log: canceled a in q by w1; waiter 1: finished a state canceled");
}

static void test_progress__a_failure_of_its_own_is_told(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_with(w, 0, (struct put_request){ .jid = SLICE("lost"), .has_retries = true });
    put_with(w, 0, (struct put_request){ .jid = SLICE("retried"), .has_retries = true });
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("follows"),
                 .depends = slices_of(w, "lost"),
                 .options = &(struct job_options){ .dependency_policy = DEPENDENCY_FAIL } });
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("goes"),
                 .depends = slices_of(w, "lost"),
                 .options = &(struct job_options){ .dependency_policy = DEPENDENCY_CANCEL } });
    pop(w, 0, "q", "w1", 2);
    assert_false(wait_for(w, 0, "lost", 1));
    assert_false(wait_for(w, 0, "retried", 2));
    assert_false(wait_for(w, 0, "follows", 3));
    assert_false(wait_for(w, 0, "goes", 4));
    forget_events(w);
    retry_with(w, 1,
               (struct retry_request){ .holder = { SLICE("retried"), SLICE("w1"), .token = 0 } });
    expect_events(w,
                  "waiter 2: finished retried as failed-retries-q saying Job exhausted retries in "
                  "queue \"q\" state failed");
    tick(w, 60);
    expect_events(
        w, "worker+log: lock_lost lost by w1; "
           "log: failed lost in q by w1 as failed-retries-q saying Job exhausted retries in "
           "queue \"q\"; "
           "waiter 1: finished lost as failed-retries-q saying Job exhausted retries in queue "
           "\"q\" state failed; "
           "log: failed follows in q as dependency-failed saying Job lost failed, and this "
           "one depends on it; "
           "waiter 3: finished follows as dependency-failed saying Job lost failed, and this one "
           "depends on it state failed; "
           "log: canceled goes in q; "
           "waiter 4: finished goes state canceled");
}

static void test_progress__who_asks_late_is_told_at_once(void **state)
{
    struct world *w = *state;
    run_a(w);
    complete(w, 1, "w1", "a");
    put(w, 1, "q", "b");
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 1, "w1", "b", "bad");
    forget_events(w);
    assert_true(wait_for(w, 2, "a", 1));
    assert_true(wait_for(w, 2, "b", 1));
    // It does not wait, then.
    put(w, 3, "q", "c");
    assert_false(wait_for(w, 3, "c", 1));
    delete_job(w, 4, "a");
    forget_events(w);
    cancel(w, 4, "c");
    expect_events(w, "log: canceled c in q; waiter 1: finished c state canceled");
}

static void test_progress__a_waiter_waits_for_one_job(void **state)
{
    struct world *w = *state;
    run_a(w);
    put(w, 0, "q", "b");
    assert_false(wait_for(w, 0, "a", 7));
    refused(w, STATUS_INVALID, "waiter 7 waits for a job already");
    wait_for(w, 0, "a", 7);
    refused(w, STATUS_INVALID, "waiter 7 waits for a job already");
    wait_for(w, 0, "b", 7);
    refused(w, STATUS_NOT_FOUND, "job c does not exist");
    wait_for(w, 0, "c", 8);
    refused(w, STATUS_INVALID, "jid must not be empty");
    wait_for(w, 0, NULL, 8);
    assert_false(wait_for(w, 0, "b", 0));
    assert_false(wait_for(w, 0, "b", UINT64_MAX));
    forget_events(w);
    cancel(w, 1, "b");
    expect_events(w, "log: canceled b in q; waiter 0: finished b state canceled; "
                     "waiter 18446744073709551615: finished b state canceled");
}

static void test_progress__a_waiter_may_go(void **state)
{
    struct world *w = *state;
    run_a(w);
    for (uint64_t waiter = 1; waiter <= 5; waiter++) {
        assert_false(wait_for(w, 0, "a", waiter));
    }
    engine_wait_end(w->engine, 1);
    engine_wait_end(w->engine, 3);
    engine_wait_end(w->engine, 5);
    engine_wait_end(w->engine, 5);
    engine_wait_end(w->engine, 99);
    complete(w, 1, "w1", "a");
    expect_events(w, "tracker: completed a; log: completed a in q by w1; "
                     "waiter 2: finished a state complete; waiter 4: finished a state complete");
    engine_wait_end(w->engine, 2);
    put(w, 2, "q", "b");
    assert_false(wait_for(w, 2, "b", 3));
}

static void test_progress__waiters_are_not_saved(void **state)
{
    struct world *w = *state;
    run_a(w);
    struct buffer before, after;
    buffer_init(&before, &allocator_system, SIZE_MAX - 1);
    buffer_init(&after, &allocator_system, SIZE_MAX - 1);
    save(w, &before);
    assert_false(wait_for(w, 0, "a", 1));
    save(w, &after);
    assert_true(slice_equal(buffer_slice(&before), buffer_slice(&after)));
    buffer_release(&before);
    buffer_release(&after);
    reload(w);
    complete(w, 1, "w1", "a");
    expect_events(w, "tracker: completed a; log: completed a in q by w1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_progress__is_told_to_the_tracker_and_kept),
        CLIENT_TEST(test_progress__is_told_to_the_tracker_and_kept),
        SERVER_TEST(test_progress__of_a_job_that_is_not_tracked_is_told_to_nobody),
        SERVER_TEST(test_progress__belongs_to_a_run),
        SERVER_TEST(test_progress__only_the_holder_may_report),
        CLIENT_TEST(test_progress__only_the_holder_may_report),
        SERVER_TEST(test_progress__must_lie_between_0_and_1),
        SERVER_TEST(test_progress__a_checkpoint_is_handed_to_the_next_run),
        CLIENT_TEST(test_progress__a_checkpoint_is_handed_to_the_next_run),
        SERVER_TEST(test_progress__completing_and_put_forget_the_checkpoint),
        SERVER_TEST(test_progress__log_lines_stay_with_the_job),
        SERVER_TEST(test_progress__the_newest_log_lines_are_kept),
        SERVER_TEST(test_progress__a_long_log_line_is_cut),
        SERVER_TEST(test_progress__a_result_is_kept_with_the_job_unless_it_has_a_time),
        CLIENT_TEST(test_progress__a_result_is_kept_with_the_job_unless_it_has_a_time),
        SERVER_TEST(test_progress__with_the_server_clock_a_result_is_dropped_in_time),
        CLIENT_TEST(test_progress__with_the_client_clock_a_completion_drops_the_results_of_others),
        SERVER_TEST(test_progress__many_results_are_dropped_in_slices),
        SERVER_TEST(test_progress__a_time_without_a_result_is_nothing),
        CLIENT_TEST(test_progress__a_time_without_a_result_is_nothing),
        SERVER_TEST(test_progress__waiters_are_told_in_the_order_in_which_they_came),
        CLIENT_TEST(test_progress__waiters_are_told_in_the_order_in_which_they_came),
        SERVER_TEST(test_progress__a_waiter_comes_after_the_dependents),
        SERVER_TEST(test_progress__what_is_not_an_end_is_not_told),
        CLIENT_TEST(test_progress__what_is_not_an_end_is_not_told),
        SERVER_TEST(test_progress__a_failure_of_its_own_is_told),
        SERVER_TEST(test_progress__who_asks_late_is_told_at_once),
        SERVER_TEST(test_progress__a_waiter_waits_for_one_job),
        SERVER_TEST(test_progress__a_waiter_may_go),
        SERVER_TEST(test_progress__waiters_are_not_saved),
    };
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
