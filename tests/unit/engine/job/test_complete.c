// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include <stdio.h>

#define HOLDER(jid_text)                                                                           \
    {                                                                                              \
        .jid = SLICE(jid_text), .worker = SLICE("w1")                                              \
    }

// A tracked job that w1 holds.
static void lease(struct world *w, double now, const char *jid)
{
    put(w, now, "q", jid);
    track(w, now, jid);
    assert_string_equal(pop(w, now, "q", "w1", 1), jid);
    forget_events(w);
}

// A job that went through the queue all at once.
static void do_one(struct world *w, double now, const char *jid)
{
    put(w, now, "q", jid);
    assert_string_equal(pop(w, now, "q", "w1", 1), jid);
    complete(w, now, "w1", jid);
}

static void test_complete__a_job_is_done(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    assert_string_equal(complete_with(w, 8, (struct complete_request){ .holder = HOLDER("a") }),
                        "complete");
    expect_events(w, "tracker: completed a; log: completed a in q by w1");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 8 done");
    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_COMPLETE);
    assert_slice_equal(view.queue, "q");
    assert_slice_equal(view.worker, "");
    assert_int_equal(view.token, 0);
    assert_int_equal(view.time_us, us(8));
    assert_string_equal(queue_of(w, 8, "q"), "listeners 1");
    assert_string_equal(jobs(w, 8, LIST_COMPLETE, NULL, 0, 9), "1: a");
    assert_int_equal(stats_of(w, "q", 8).run.count, 1);
    assert_true(stats_of(w, "q", 8).run.mean == 8);
    refused(w, STATUS_STATE, "a is not running: complete");
    complete(w, 8, "w1", "a");
}

static void test_complete__keeps_the_result_and_the_new_data(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    complete_with(w, 1,
                  (struct complete_request){
                      .holder = HOLDER("a"), .data = SLICE("[2]"), .result = SLICE("\"yes\"") });
    assert_slice_equal(view_of(w, "a").data, "[2]");
    assert_slice_equal(view_of(w, "a").result, "\"yes\"");
}

static void test_complete__in_another_queue_than_the_jobs_is_refused(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    struct complete_request request = { .holder = HOLDER("a") };
    request.holder.queue = SLICE("r");
    refused(w, STATUS_STALE, "a is running in another queue: q");
    complete_with(w, 0, request);
    request.holder.queue = SLICE("q");
    assert_string_equal(complete_with(w, 0, request), "complete");
}

static void test_complete__with_a_next_queue_goes_on_there(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    assert_string_equal(
        complete_with(w, 2, (struct complete_request){ .holder = HOLDER("a"), .next = SLICE("r") }),
        "waiting");
    expect_events(w, "tracker: completed a; log: advanced a in q by w1 to r");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 popped by w1; 2 done; 2 put in r");
    assert_slice_equal(view_of(w, "a").queue, "r");
    assert_string_equal(queues(w), "q,r");
    assert_string_equal(jobs(w, 2, LIST_COMPLETE, NULL, 0, 9), "0: ");
    assert_string_equal(pop(w, 3, "r", "w1", 1), "a");
    assert_true(stats_of(w, "q", 0).run.mean == 2);
    assert_true(stats_of(w, "r", 0).wait.mean == 1);
}

static void test_complete__with_a_next_queue_does_not_release_the_dependents(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    put_depending(w, 0, "q", "b", "a");
    complete_with(w, 1, (struct complete_request){ .holder = HOLDER("a"), .next = SLICE("r") });
    assert_string_equal(state_of(w, "b"), "depends");
    pop(w, 2, "r", "w1", 1);
    complete(w, 3, "w1", "a");
    assert_string_equal(state_of(w, "b"), "waiting");
}

static void test_complete__with_a_next_queue_and_a_delay_is_scheduled(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    assert_string_equal(complete_with(w, 2,
                                      (struct complete_request){ .holder = HOLDER("a"),
                                                                 .next = SLICE("r"),
                                                                 .has_delay = true,
                                                                 .delay_us = us(10) }),
                        "scheduled");
    assert_int_equal(view_of(w, "a").scheduled_us, us(12));
    assert_string_equal(queue_of(w, 2, "r"), "scheduled 1");
    lease(w, 2, "b");
    assert_string_equal(complete_with(w, 2,
                                      (struct complete_request){ .holder = HOLDER("b"),
                                                                 .next = SLICE("r"),
                                                                 .has_delay = true }),
                        "waiting");
}

static void test_complete__with_a_next_queue_and_dependencies_waits_for_them(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    put(w, 0, "q", "b");
    assert_string_equal(complete_with(w, 1,
                                      (struct complete_request){ .holder = HOLDER("a"),
                                                                 .next = SLICE("r"),
                                                                 .has_depends = true,
                                                                 .depends = slices_of(w, "b,x") }),
                        "depends");
    assert_string_equal(dependencies_of(w, "a"), "b");
    assert_string_equal(queue_of(w, 1, "r"), "depends 1");
    pop(w, 2, "q", "w1", 1);
    complete(w, 3, "w1", "b");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_slice_equal(view_of(w, "a").queue, "r");
}

static void test_complete__a_circle_is_refused(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    put_depending(w, 0, "q", "b", "a");
    struct complete_request request = {
        .holder = HOLDER("a"), .next = SLICE("r"), .has_depends = true, .depends = slices_of(w, "b")
    };
    refused(w, STATUS_INVALID, "a cannot depend on b");
    complete_with(w, 0, request);
    request.depends = slices_of(w, "a");
    refused(w, STATUS_INVALID, "a cannot depend on itself");
    complete_with(w, 0, request);
}

static void test_complete__a_delay_or_dependencies_without_a_next_queue_are_refused(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    refused(w, STATUS_INVALID, "delay");
    complete_with(
        w, 0,
        (struct complete_request){ .holder = HOLDER("a"), .has_delay = true, .delay_us = us(1) });
    refused(w, STATUS_INVALID, "depends");
    complete_with(w, 0,
                  (struct complete_request){
                      .holder = HOLDER("a"), .has_depends = true, .depends = slices_of(w, "b") });
}

static void test_complete__starts_the_retries_anew_and_forgets_the_failure(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    retry_with(w, 1,
               (struct retry_request){ .holder = HOLDER("a"),
                                       .has_failure = true,
                                       .group = SLICE("bad"),
                                       .message = SLICE("words") });
    assert_slice_equal(view_of(w, "a").failure_group, "bad");
    pop(w, 2, "q", "w1", 1);
    assert_int_equal(view_of(w, "a").remaining, 4);
    complete_with(w, 3, (struct complete_request){ .holder = HOLDER("a"), .next = SLICE("r") });
    assert_int_equal(view_of(w, "a").remaining, 5);
    assert_slice_equal(view_of(w, "a").failure_group, "");
    assert_slice_equal(view_of(w, "a").failure_message, "");
}

static void test_complete__the_newest_are_listed_first(void **state)
{
    struct world *w = *state;
    do_one(w, 1, "a");
    do_one(w, 2, "b");
    do_one(w, 3, "c");
    assert_string_equal(jobs(w, 4, LIST_COMPLETE, NULL, 0, 9), "3: c,b,a");
    assert_string_equal(jobs(w, 4, LIST_COMPLETE, NULL, 1, 1), "3: b");
    assert_string_equal(jobs(w, 4, LIST_COMPLETE, NULL, 3, 1), "3: ");
}

// A job that went through a queue: it fails in `group`, or is done.
static void finish_in(struct world *w, double now, const char *queue, const char *jid,
                      const char *group)
{
    put(w, now, queue, jid);
    assert_string_equal(pop(w, now, queue, "w1", 1), jid);
    if (group) {
        fail_job(w, now, "w1", jid, group);
    } else {
        complete(w, now, "w1", jid);
    }
}

static void test_complete__finished_jobs_are_listed_by_the_queue_they_finished_in(void **state)
{
    struct world *w = *state;
    finish_in(w, 1, "q", "a", NULL);
    finish_in(w, 2, "r", "b", NULL);
    finish_in(w, 3, "q", "c", NULL);
    finish_in(w, 4, "q", "d", "one");
    finish_in(w, 5, "r", "e", "one");
    finish_in(w, 6, "q", "f", "two");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(jobs(w, 7, LIST_COMPLETE, "q", 0, 9), "2: c,a");
        assert_string_equal(jobs(w, 7, LIST_COMPLETE, "q", 1, 9), "2: a");
        assert_string_equal(jobs(w, 7, LIST_COMPLETE, "r", 0, 9), "1: b");
        assert_string_equal(jobs(w, 7, LIST_COMPLETE, NULL, 0, 9), "3: c,b,a");
        assert_string_equal(jobs(w, 7, LIST_FAILED, "q", 0, 9), "2: f,d");
        assert_string_equal(jobs(w, 7, LIST_FAILED, "r", 0, 9), "1: e");
        assert_string_equal(jobs(w, 7, LIST_FAILED, NULL, 0, 9), "3: f,e,d");
        assert_string_equal(jobs(w, 7, LIST_FAILED, "nowhere", 0, 9), "0: ");
        assert_slice_equal(view_of(w, "b").queue, "r");
        reload(w);
    }
    // They leave these lists as they leave the others.
    put(w, 8, "r", "a");
    unfail(w, 8, "r", "one", 1);
    delete_job(w, 8, "f");
    delete_job(w, 8, "b");
    assert_string_equal(jobs(w, 8, LIST_COMPLETE, "q", 0, 9), "1: c");
    assert_string_equal(jobs(w, 8, LIST_COMPLETE, "r", 0, 9), "0: ");
    assert_string_equal(jobs(w, 8, LIST_FAILED, "q", 0, 9), "0: ");
    assert_string_equal(jobs(w, 8, LIST_FAILED, NULL, 0, 9), "1: e");
}

static void test_complete__running_jobs_are_listed_without_a_queue(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "r", "b");
    put(w, 0, "q", "c");
    pop(w, 1, "r", "w1", 1);
    pop(w, 2, "q", "w2", 2);
    // By when they were popped, whatever a heartbeat does to their leases.
    heartbeat(w, 3, "w1", "b");
    assert_string_equal(jobs(w, 4, LIST_RUNNING, NULL, 0, 9), "3: b,a,c");
    reload(w);
    assert_string_equal(jobs(w, 4, LIST_RUNNING, NULL, 1, 1), "3: a");
    complete(w, 5, "w2", "a");
    assert_string_equal(jobs(w, 5, LIST_RUNNING, NULL, 0, 9), "2: b,c");
    refused(w, STATUS_INVALID, "queue");
    jobs(w, 5, LIST_WAITING, NULL, 0, 9);
}

static void test_complete__a_complete_job_counts_for_no_quota_and_keeps_its_queue(void **state)
{
    struct world *w = *state;
    set(w, "q-max-jobs", "1");
    finish_in(w, 0, "q", "a", NULL);
    said(w, engine_forget(w->engine, at(w, 1), slices_of(w, "q"), &w->error));
    finish_in(w, 2, "q", "b", NULL);
    put(w, 3, "q", "a");
    refused(w, STATUS_TOO_LARGE, "queue q has 1 jobs and may have 1");
    put(w, 3, "q", "b");
    said(w, engine_update_data(w->engine, at(w, 4), SLICE("b"), SLICE("[1,2,3]"), &w->error));
    cancel(w, 5, "a");
    put(w, 6, "q", "b");
    assert_int_equal(faults_of(w), 0);
}

static void test_complete__more_than_so_many_are_not_kept(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "2");
    do_one(w, 1, "a");
    do_one(w, 2, "b");
    do_one(w, 3, "c");
    assert_string_equal(state_of(w, "a"), "none");
    assert_string_equal(jobs(w, 4, LIST_COMPLETE, NULL, 0, 9), "2: c,b");
    set(w, "jobs-history-count", "0");
    do_one(w, 5, "d");
    assert_string_equal(jobs(w, 5, LIST_COMPLETE, NULL, 0, 9), "0: ");
    assert_string_equal(state_of(w, "d"), "none");
}

static void test_complete__what_is_too_old_is_not_kept(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history", "100");
    do_one(w, 0, "a");
    do_one(w, 50, "b");
    do_one(w, 99, "c");
    assert_string_equal(jobs(w, 99, LIST_COMPLETE, NULL, 0, 9), "3: c,b,a");
    do_one(w, 120, "d");
    assert_string_equal(jobs(w, 120, LIST_COMPLETE, NULL, 0, 9), "3: d,c,b");
    if (w->clock == ENGINE_CLOCK_CLIENT) {
        // Only a completion sweeps.
        assert_string_equal(jobs(w, 1000, LIST_COMPLETE, NULL, 0, 9), "3: d,c,b");
        return;
    }
    assert_true(tick(w, 149) == 150);
    assert_string_equal(jobs(w, 149, LIST_COMPLETE, NULL, 0, 9), "3: d,c,b");
    assert_true(tick(w, 150) == 199);
    assert_string_equal(state_of(w, "b"), "none");
    assert_true(tick(w, 219) == 220);
    assert_string_equal(jobs(w, 219, LIST_COMPLETE, "q", 0, 9), "1: d");
    assert_true(tick(w, 220) == -1);
    assert_string_equal(jobs(w, 220, LIST_COMPLETE, NULL, 0, 9), "0: ");
}

// What happens by itself does not depend on who looked when: at 99.5 one recurring job finds the
// jid of its first run free, since the job of that jid was swept at 99; the other one does not.
static void test_complete__jobs_are_swept_in_the_order_of_what_is_due(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history", "95");
    do_one(w, 4, "a-1");
    do_one(w, 5, "b-1");
    for (int i = 0; i < 2; i++) {
        recur_with(w, 10,
                   (struct recur_request){ .queue = SLICE("q"),
                                           .jid = i ? SLICE("b") : SLICE("a"),
                                           .klass = SLICE("k"),
                                           .interval_us = us(10000),
                                           .offset_us = us(89.5) });
    }
    tick(w, 1000);
    assert_string_equal(jobs(w, 1000, LIST_WAITING, "q", 0, 9), "2: a-1,b-2");
    assert_string_equal(jobs(w, 1000, LIST_COMPLETE, NULL, 0, 9), "0: ");
}

static void test_complete__at_most_a_hundred_are_swept_at_once(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 250; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%d", i);
        do_one(w, i, jid);
    }
    set(w, "jobs-history-count", "1");
    if (w->clock == ENGINE_CLOCK_SERVER) {
        // There it is due at once, and the next call does a slice of what is due.
        assert_string_equal(jobs(w, 300, LIST_COMPLETE, NULL, 0, 9), "1: j249");
        return;
    }
    do_one(w, 300, "x");
    assert_string_equal(jobs(w, 300, LIST_COMPLETE, NULL, 0, 1), "151: x");
    do_one(w, 301, "y");
    assert_string_equal(jobs(w, 301, LIST_COMPLETE, NULL, 0, 1), "52: y");
    do_one(w, 302, "z");
    assert_string_equal(jobs(w, 302, LIST_COMPLETE, NULL, 0, 9), "1: z");
}

static void test_complete__a_swept_job_takes_its_tags_along(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history-count", "0");
    put(w, 0, "q", "a");
    tag(w, 0, "a", "red");
    pop(w, 0, "q", "w1", 1);
    complete(w, 0, "w1", "a");
    assert_string_equal(tagged(w, "red", 0, 9), "0: ");
}

static void note(struct world *w, double now, const char *message)
{
    const struct log_request request = { .jid = SLICE("a"), .message = name_of(message) };
    said(w, engine_log(w->engine, at(w, now), &request, &w->error));
}

static void test_complete__the_history_keeps_its_first_entry_and_the_newest(void **state)
{
    struct world *w = *state;
    set(w, "max-job-history", "4");
    put(w, 0, "q", "a");
    note(w, 1, "one");
    note(w, 2, "two");
    note(w, 3, "three");
    assert_string_equal(history_of(w, "a"), "0 put in q; 1 one; 2 two; 3 three");
    note(w, 4, "four");
    assert_string_equal(history_of(w, "a"), "0 put in q; 2 two; 3 three; 4 four");
    set(w, "max-job-history", "2");
    note(w, 5, "five");
    assert_string_equal(history_of(w, "a"), "0 put in q; 5 five");
}

static void test_complete__the_history_keeps_a_hundred_by_default_and_all_with_zero(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    for (int i = 0; i < 300; i++) {
        note(w, i, "note");
    }
    assert_int_equal(view_of(w, "a").history_count, 100);
    set(w, "max-job-history", "0");
    for (int i = 0; i < 300; i++) {
        note(w, 300 + i, "note");
    }
    assert_int_equal(view_of(w, "a").history_count, 400);
}

static void test_complete__a_log_entry_has_data_and_may_be_the_holders(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    const struct log_request request = { .jid = SLICE("a"),
                                         .message = SLICE("half way"),
                                         .data = SLICE("{\"at\":50}"),
                                         .worker = SLICE("w1"),
                                         .token = view_of(w, "a").token };
    said(w, engine_log(w->engine, at(w, 5), &request, &w->error));
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 5 half way with {\"at\":50}");
    const struct log_request gone = { .jid = SLICE("b"), .message = SLICE("x") };
    refused(w, STATUS_NOT_FOUND, "b does not exist");
    said(w, engine_log(w->engine, us(5), &gone, &w->error));
}

static void test_complete__delete_is_for_finished_jobs(void **state)
{
    struct world *w = *state;
    do_one(w, 0, "a");
    lease(w, 0, "b");
    refused(w, STATUS_STATE, "b is running");
    said(w, engine_delete(w->engine, 0, SLICE("b"), &w->error));
    fail_job(w, 1, "w1", "b", "bad");
    forget_events(w);
    said(w, engine_delete(w->engine, at(w, 2), SLICE("a"), &w->error));
    said(w, engine_delete(w->engine, at(w, 2), SLICE("b"), &w->error));
    expect_events(w, "");
    assert_string_equal(state_of(w, "a"), "none");
    assert_string_equal(state_of(w, "b"), "none");
    assert_string_equal(groups(w), "");
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    said(w, engine_delete(w->engine, us(2), SLICE("a"), &w->error));
}

static void test_complete__delete_of_a_failed_job_that_others_wait_for_is_refused(void **state)
{
    struct world *w = *state;
    lease(w, 0, "a");
    put_depending(w, 0, "q", "b", "a");
    fail_job(w, 1, "w1", "a", "bad");
    refused(w, STATUS_STATE, "a is a dependency of b");
    said(w, engine_delete(w->engine, us(1), SLICE("a"), &w->error));
}

static void test_complete__update_data_replaces_it_in_any_state(void **state)
{
    struct world *w = *state;
    do_one(w, 0, "a");
    put_later(w, 0, "q", "b", 10);
    said(w, engine_update_data(w->engine, at(w, 1), SLICE("a"), SLICE("[1]"), &w->error));
    said(w, engine_update_data(w->engine, at(w, 1), SLICE("b"), SLICE("[2]"), &w->error));
    assert_slice_equal(view_of(w, "a").data, "[1]");
    assert_slice_equal(view_of(w, "b").data, "[2]");
    refused(w, STATUS_NOT_FOUND, "c does not exist");
    said(w, engine_update_data(w->engine, us(1), SLICE("c"), SLICE("[3]"), &w->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_complete__a_job_is_done),
        CLIENT_TEST(test_complete__a_job_is_done),
        SERVER_TEST(test_complete__keeps_the_result_and_the_new_data),
        SERVER_TEST(test_complete__in_another_queue_than_the_jobs_is_refused),
        SERVER_TEST(test_complete__with_a_next_queue_goes_on_there),
        SERVER_TEST(test_complete__with_a_next_queue_does_not_release_the_dependents),
        SERVER_TEST(test_complete__with_a_next_queue_and_a_delay_is_scheduled),
        SERVER_TEST(test_complete__with_a_next_queue_and_dependencies_waits_for_them),
        SERVER_TEST(test_complete__a_circle_is_refused),
        SERVER_TEST(test_complete__a_delay_or_dependencies_without_a_next_queue_are_refused),
        SERVER_TEST(test_complete__starts_the_retries_anew_and_forgets_the_failure),
        SERVER_TEST(test_complete__the_newest_are_listed_first),
        SERVER_TEST(test_complete__finished_jobs_are_listed_by_the_queue_they_finished_in),
        CLIENT_TEST(test_complete__finished_jobs_are_listed_by_the_queue_they_finished_in),
        SERVER_TEST(test_complete__running_jobs_are_listed_without_a_queue),
        CLIENT_TEST(test_complete__running_jobs_are_listed_without_a_queue),
        SERVER_TEST(test_complete__a_complete_job_counts_for_no_quota_and_keeps_its_queue),
        SERVER_TEST(test_complete__more_than_so_many_are_not_kept),
        SERVER_TEST(test_complete__what_is_too_old_is_not_kept),
        CLIENT_TEST(test_complete__what_is_too_old_is_not_kept),
        SERVER_TEST(test_complete__jobs_are_swept_in_the_order_of_what_is_due),
        SERVER_TEST(test_complete__at_most_a_hundred_are_swept_at_once),
        CLIENT_TEST(test_complete__at_most_a_hundred_are_swept_at_once),
        SERVER_TEST(test_complete__a_swept_job_takes_its_tags_along),
        SERVER_TEST(test_complete__the_history_keeps_its_first_entry_and_the_newest),
        SERVER_TEST(test_complete__the_history_keeps_a_hundred_by_default_and_all_with_zero),
        SERVER_TEST(test_complete__a_log_entry_has_data_and_may_be_the_holders),
        SERVER_TEST(test_complete__delete_is_for_finished_jobs),
        SERVER_TEST(test_complete__delete_of_a_failed_job_that_others_wait_for_is_refused),
        SERVER_TEST(test_complete__update_data_replaces_it_in_any_state),
    };
    return cmocka_run_group_tests_name("complete", tests, NULL, NULL);
}
