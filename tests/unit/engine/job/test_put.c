// SPDX-License-Identifier: MIT
#include "engine_test.h"

static void test_put__a_new_job_waits_in_its_queue(void **state)
{
    struct world *w = *state;
    put(w, 3, "mail", "a");
    expect_events(w, "log: put a in mail");
    assert_string_equal(history_of(w, "a"), "3 put in mail");
    assert_string_equal(queues(w), "mail");
    assert_string_equal(queue_of(w, 3, "mail"), "waiting 1");

    struct job_view view = view_of(w, "a");
    assert_int_equal(view.state, JOB_WAITING);
    assert_slice_equal(view.jid, "a");
    assert_slice_equal(view.klass, "k");
    assert_slice_equal(view.data, "{}");
    assert_slice_equal(view.queue, "mail");
    assert_slice_equal(view.worker, "");
    assert_slice_equal(view.result, "");
    assert_slice_equal(view.spawned_from, "");
    assert_slice_equal(view.failure_group, "");
    assert_int_equal(view.priority, 0);
    assert_int_equal(view.retries, 5);
    assert_int_equal(view.remaining, 5);
    assert_int_equal(view.crashes, 0);
    assert_int_equal(view.token, 0);
    assert_int_equal(view.expires_us, 0);
    assert_int_equal(view.scheduled_us, 0);
    assert_int_equal(view.time_us, us(3));
    assert_false(view.tracked);
}

static void test_put__keeps_all_that_is_given(void **state)
{
    struct world *w = *state;
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("a"),
                                   .klass = SLICE("Mailer"),
                                   .data = SLICE("{\"to\":7}"),
                                   .has_priority = true,
                                   .priority = -3,
                                   .has_retries = true,
                                   .retries = 0,
                                   .has_tags = true,
                                   .tags = slices_of(w, "red,green,red") });
    struct job_view view = view_of(w, "a");
    assert_slice_equal(view.klass, "Mailer");
    assert_slice_equal(view.data, "{\"to\":7}");
    assert_int_equal(view.priority, -3);
    assert_int_equal(view.retries, 0);
    assert_int_equal(view.remaining, 0);
    assert_string_equal(tags_of(w, "a"), "red,green");
}

static void test_put__every_job_has_a_number_of_its_own(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    uint64_t a = view_of(w, "a").id, b = view_of(w, "b").id;
    assert_true(a < b);
    put(w, 1, "q", "a");
    assert_int_equal(view_of(w, "a").id, a);
    cancel(w, 2, "b");
    put(w, 3, "q", "b");
    assert_true(view_of(w, "b").id > b);
}

static void test_put__a_number_for_a_name_is_free_and_never_given_twice(void **state)
{
    struct world *w = *state;
    assert_int_equal(engine_next_number(w->engine), 1);
    assert_int_equal(engine_next_number(w->engine), 1);
    put(w, 0, "q", "1");
    assert_int_equal(engine_next_number(w->engine), 2);
    // Names that others chose are passed over, also for good.
    put(w, 0, "q", "3");
    put(w, 0, "q", "4");
    assert_int_equal(engine_next_number(w->engine), 5);
    cancel(w, 1, "3,4");
    assert_int_equal(engine_next_number(w->engine), 5);
    put(w, 1, "q", "5");
    cancel(w, 1, "5");
    reload(w);
    assert_int_equal(engine_next_number(w->engine), 6);
}

static void test_put__with_a_delay_it_is_scheduled(void **state)
{
    struct world *w = *state;
    put_later(w, 10, "q", "a", 5.5);
    assert_string_equal(state_of(w, "a"), "scheduled");
    assert_int_equal(view_of(w, "a").scheduled_us, us(15.5));
    assert_string_equal(queue_of(w, 10, "q"), "scheduled 1");
    assert_string_equal(pop(w, 15.4, "q", "w1", 1), "");
    assert_string_equal(pop(w, 15.5, "q", "w1", 1), "a");
    assert_int_equal(view_of(w, "a").scheduled_us, 0);
}

static void test_put__a_delay_of_zero_or_less_is_none(void **state)
{
    struct world *w = *state;
    put_later(w, 10, "q", "a", 0);
    put_later(w, 10, "q", "b", -5);
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_string_equal(state_of(w, "b"), "waiting");
}

static void test_put__again_moves_the_job_and_starts_its_retries_anew(void **state)
{
    struct world *w = *state;
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("a"),
                                   .klass = SLICE("Old"),
                                   .has_priority = true,
                                   .priority = 7,
                                   .has_retries = true,
                                   .retries = 2,
                                   .has_tags = true,
                                   .tags = slices_of(w, "red") });
    pop(w, 1, "q", "w1", 1);
    assert_int_equal(retry(w, 2, "w1", "a"), 1);
    put_with(
        w, 3,
        (struct put_request){
            .queue = SLICE("r"), .jid = SLICE("a"), .klass = SLICE("New"), .data = SLICE("[1]") });
    struct job_view view = view_of(w, "a");
    assert_slice_equal(view.queue, "r");
    assert_slice_equal(view.klass, "New");
    assert_slice_equal(view.data, "[1]");
    assert_int_equal(view.priority, 7);
    assert_int_equal(view.retries, 2);
    assert_int_equal(view.remaining, 2);
    assert_string_equal(tags_of(w, "a"), "red");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 1 popped by w1; 2 retried by w1; 3 put in r");
    assert_string_equal(queue_of(w, 3, "q"), "listeners 1");
    assert_string_equal(queue_of(w, 3, "r"), "waiting 1");
}

static void test_put__again_replaces_what_is_given(void **state)
{
    struct world *w = *state;
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("a"), .has_tags = true, .tags = slices_of(w, "red,blue") });
    put_with(w, 1,
             (struct put_request){ .jid = SLICE("a"),
                                   .has_priority = true,
                                   .priority = 4,
                                   .has_retries = true,
                                   .retries = 9,
                                   .has_tags = true,
                                   .tags = slices_of(w, "green") });
    assert_int_equal(view_of(w, "a").priority, 4);
    assert_int_equal(view_of(w, "a").retries, 9);
    assert_int_equal(view_of(w, "a").remaining, 9);
    assert_string_equal(tags_of(w, "a"), "green");
    assert_string_equal(tagged(w, "red", 0, 9), "0: ");
    put_with(w, 2, (struct put_request){ .jid = SLICE("a"), .has_tags = true });
    assert_string_equal(tags_of(w, "a"), "");
}

static void test_put__of_a_leased_job_tells_the_holder(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    track(w, 0, "a");
    pop(w, 1, "q", "w1", 1);
    forget_events(w);
    put(w, 2, "r", "a");
    expect_events(w, "log: put a in r; worker+log: lock_lost a by w1; tracker: put a");
    assert_int_equal(view_of(w, "a").token, 0);
    assert_slice_equal(view_of(w, "a").worker, "");
    assert_string_equal(held(w, 2, "w1", false), "0: ");

    refused(w, STATUS_STATE, "a is not running");
    complete(w, 2, "w1", "a");
}

static void test_put__by_the_holder_tells_nobody_of_a_lost_lease(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    forget_events(w);
    put_with(w, 2, (struct put_request){ .jid = SLICE("a"), .worker = SLICE("w1") });
    expect_events(w, "log: put a in q");
    assert_string_equal(state_of(w, "a"), "waiting");
}

static void test_put__of_a_failed_job_takes_the_count_back_where_it_failed(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 2, "w1", "a", "bad");
    assert_int_equal(stats_of(w, "q", 2).failed, 1);
    put(w, 3, "r", "a");
    assert_string_equal(groups(w), "");
    assert_int_equal(stats_of(w, "q", 2).failed, 0);
    assert_int_equal(stats_of(w, "q", 2).failures, 1);
    assert_int_equal(stats_of(w, "r", 2).failed, 0);
}

static void test_put__of_a_failed_job_keeps_the_words_until_it_completes(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    fail_job(w, 2, "w1", "a", "bad");
    put(w, 3, "q", "a");
    pop(w, 4, "q", "w1", 1);
    assert_slice_equal(view_of(w, "a").failure_group, "bad");
    assert_slice_equal(view_of(w, "a").failure_worker, "w1");
    assert_int_equal(view_of(w, "a").failure_when_us, us(2));
    reload(w);
    assert_slice_equal(view_of(w, "a").failure_group, "bad");
    complete(w, 5, "w1", "a");
    assert_slice_equal(view_of(w, "a").failure_group, "");
}

static void test_put__of_a_complete_job_forgets_its_result(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 1, "q", "w1", 1);
    complete_with(w, 2,
                  (struct complete_request){ .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                                             .result = SLICE("42") });
    assert_slice_equal(view_of(w, "a").result, "42");
    put(w, 3, "q", "a");
    assert_slice_equal(view_of(w, "a").result, "");
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_string_equal(jobs(w, 3, LIST_COMPLETE, NULL, 0, 9), "0: ");
}

static void test_put__crashes_start_anew(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    pop(w, 60, "q", "w2", 1);
    assert_int_equal(view_of(w, "a").crashes, 1);
    assert_int_equal(view_of(w, "a").remaining, 4);
    put(w, 61, "q", "a");
    assert_int_equal(view_of(w, "a").crashes, 0);
    assert_int_equal(view_of(w, "a").remaining, 5);
}

static void test_put__requeue_wants_a_job_that_exists(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    put_with(w, 0, (struct put_request){ .jid = SLICE("a"), .must_exist = true });
    assert_string_equal(queues(w), "");
    put(w, 0, "q", "a");
    put_with(w, 0,
             (struct put_request){ .queue = SLICE("r"), .jid = SLICE("a"), .must_exist = true });
    assert_slice_equal(view_of(w, "a").queue, "r");
}

static void test_put__a_tracked_jid_is_tracked_from_the_start(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    track(w, 0, "a");
    cancel(w, 1, "a");
    forget_events(w);
    put(w, 2, "q", "a");
    expect_events(w, "log: put a in q; tracker: put a");
    assert_true(view_of(w, "a").tracked);
}

static void test_put__dependencies_make_it_wait_for_them(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_depending(w, 1, "q", "c", "a,b,gone,a");
    assert_string_equal(state_of(w, "c"), "depends");
    assert_string_equal(dependencies_of(w, "c"), "a,b");
    assert_string_equal(dependents_of(w, "a"), "c");
    assert_string_equal(queue_of(w, 1, "q"), "waiting 2, depends 1");
}

static void test_put__dependencies_that_are_done_or_gone_do_not_count(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    complete(w, 1, "w1", "a");
    put_depending(w, 2, "q", "b", "a,gone");
    assert_string_equal(state_of(w, "b"), "waiting");
    assert_string_equal(dependencies_of(w, "b"), "");
}

static void
test_put__dependencies_given_replace_those_it_had_and_none_given_keeps_them(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    put_depending(w, 1, "q", "d", "a,b");
    put(w, 2, "r", "d");
    assert_string_equal(state_of(w, "d"), "depends");
    assert_string_equal(dependencies_of(w, "d"), "a,b");
    put_depending(w, 3, "r", "d", "c,b");
    assert_string_equal(dependencies_of(w, "d"), "b,c");
    assert_string_equal(dependents_of(w, "a"), "");
    put_depending(w, 4, "r", "d", "gone");
    assert_string_equal(dependencies_of(w, "d"), "");
    assert_string_equal(state_of(w, "d"), "waiting");
}

static void test_put__dependents_stay(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_depending(w, 0, "q", "b", "a");
    put(w, 1, "r", "a");
    assert_string_equal(dependents_of(w, "a"), "b");
    pop(w, 2, "r", "w1", 1);
    complete(w, 3, "w1", "a");
    assert_string_equal(state_of(w, "b"), "waiting");
}

static void test_put__a_delay_counts_from_the_put_once_the_dependencies_are_done(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    for (int i = 0; i < 2; i++) {
        put_with(w, 0,
                 (struct put_request){ .queue = SLICE("r"),
                                       .jid = i ? SLICE("late") : SLICE("soon"),
                                       .delay_us = us(i ? 100 : 5),
                                       .depends = slices_of(w, "a") });
    }
    assert_string_equal(state_of(w, "soon"), "depends");
    assert_int_equal(view_of(w, "late").scheduled_us, us(100));
    pop(w, 1, "q", "w1", 1);
    complete(w, 10, "w1", "a");
    assert_string_equal(state_of(w, "soon"), "waiting");
    assert_string_equal(state_of(w, "late"), "scheduled");
    assert_int_equal(view_of(w, "late").scheduled_us, us(100));
}

static void test_put__a_scheduled_job_keeps_its_time_when_no_delay_is_given(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "a", 100);
    struct put_request again = { .jid = SLICE("a"), .queue = SLICE("r"), .keeps_time = true };
    put_with(w, 10, again);
    assert_string_equal(state_of(w, "a"), "scheduled");
    assert_int_equal(view_of(w, "a").scheduled_us, us(100));
    assert_string_equal(history_of(w, "a"), "0 put in q; 10 put in r");
    // With a dependency too.
    put(w, 11, "q", "b");
    again.depends = slices_of(w, "b");
    put_with(w, 12, again);
    put_with(w, 13, again);
    assert_int_equal(view_of(w, "a").scheduled_us, us(100));
    // A delay that is given counts, as does the lack of one when it is not to be kept.
    again.delay_us = us(5);
    put_with(w, 14, again);
    assert_int_equal(view_of(w, "a").scheduled_us, us(19));
    cancel(w, 14, "a,b");
    put_later(w, 15, "q", "a", 100);
    put(w, 16, "q", "a");
    assert_string_equal(state_of(w, "a"), "waiting");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_put__a_scheduled_job_keeps_its_time_when_no_delay_is_given),
        CLIENT_TEST(test_put__a_scheduled_job_keeps_its_time_when_no_delay_is_given),
        SERVER_TEST(test_put__a_new_job_waits_in_its_queue),
        CLIENT_TEST(test_put__a_new_job_waits_in_its_queue),
        SERVER_TEST(test_put__keeps_all_that_is_given),
        SERVER_TEST(test_put__every_job_has_a_number_of_its_own),
        SERVER_TEST(test_put__a_number_for_a_name_is_free_and_never_given_twice),
        SERVER_TEST(test_put__with_a_delay_it_is_scheduled),
        CLIENT_TEST(test_put__with_a_delay_it_is_scheduled),
        SERVER_TEST(test_put__a_delay_of_zero_or_less_is_none),
        SERVER_TEST(test_put__again_moves_the_job_and_starts_its_retries_anew),
        SERVER_TEST(test_put__again_replaces_what_is_given),
        SERVER_TEST(test_put__of_a_leased_job_tells_the_holder),
        CLIENT_TEST(test_put__of_a_leased_job_tells_the_holder),
        SERVER_TEST(test_put__by_the_holder_tells_nobody_of_a_lost_lease),
        SERVER_TEST(test_put__of_a_failed_job_takes_the_count_back_where_it_failed),
        SERVER_TEST(test_put__of_a_failed_job_keeps_the_words_until_it_completes),
        SERVER_TEST(test_put__of_a_complete_job_forgets_its_result),
        SERVER_TEST(test_put__crashes_start_anew),
        CLIENT_TEST(test_put__crashes_start_anew),
        SERVER_TEST(test_put__requeue_wants_a_job_that_exists),
        SERVER_TEST(test_put__a_tracked_jid_is_tracked_from_the_start),
        SERVER_TEST(test_put__dependencies_make_it_wait_for_them),
        SERVER_TEST(test_put__dependencies_that_are_done_or_gone_do_not_count),
        SERVER_TEST(test_put__dependencies_given_replace_those_it_had_and_none_given_keeps_them),
        SERVER_TEST(test_put__dependents_stay),
        SERVER_TEST(test_put__a_delay_counts_from_the_put_once_the_dependencies_are_done),
        CLIENT_TEST(test_put__a_delay_counts_from_the_put_once_the_dependencies_are_done),
    };
    return cmocka_run_group_tests_name("put", tests, NULL, NULL);
}
