// SPDX-License-Identifier: MIT
#include "engine_test.h"

static void test_track__tells_whether_anything_changed_and_tells_the_tracker_anyway(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    forget_events(w);
    assert_true(track(w, 1, "a"));
    assert_false(track(w, 2, "a"));
    expect_events(w, "tracker: track a; tracker: track a");
    assert_true(view_of(w, "a").tracked);
    assert_true(untrack(w, 3, "a"));
    assert_false(untrack(w, 4, "a"));
    expect_events(w, "tracker: untrack a; tracker: untrack a");
    assert_false(view_of(w, "a").tracked);
}

static void test_track__of_a_job_that_does_not_exist_is_refused(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    track(w, 0, "a");
    expect_events(w, "");
}

static void test_track__jids_stand_in_the_order_in_which_they_were_tracked(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    track(w, 1, "c");
    track(w, 2, "a");
    track(w, 3, "b");
    track(w, 4, "c");
    assert_string_equal(tracked(w), "c,a,b");
    untrack(w, 5, "c");
    assert_string_equal(tracked(w), "a,b");
    track(w, 6, "c");
    assert_string_equal(tracked(w), "a,b,c");
}

static void test_track__a_jid_stays_on_the_list_when_its_job_is_gone(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    track(w, 0, "a");
    cancel(w, 1, "a");
    assert_string_equal(tracked(w), "(a)");
    put(w, 2, "q", "a");
    assert_string_equal(tracked(w), "a");
    cancel(w, 3, "a");
    assert_true(untrack(w, 4, "a"));
    assert_string_equal(tracked(w), "");
}

static void test_track__the_tracker_hears_the_whole_life_of_a_job(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "r", "quiet");
    track(w, 0, "a");
    forget_events(w);
    pop(w, 1, "q", "w1", 1);
    tick(w, 61);
    heartbeat(w, 62, "w1", "a");
    retry(w, 63, "w1", "a");
    pop(w, 64, "q", "w1", 1);
    fail_job(w, 65, "w1", "a", "bad");
    put(w, 66, "q", "a");
    put(w, 66, "r", "quiet");
    pop(w, 67, "q", "w1", 1);
    complete(w, 68, "w1", "a");
    expect_events(w, "tracker: popped a; "
                     "tracker: stalled a; worker+log: lock_lost a by w1; "
                     "tracker: popped a; "
                     "log+tracker: failed a in q by w1 as bad saying it broke; "
                     "log: put a in q; tracker: put a; "
                     "log: put quiet in r; "
                     "tracker: popped a; "
                     "tracker: completed a; log: completed a in q by w1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_track__tells_whether_anything_changed_and_tells_the_tracker_anyway),
        CLIENT_TEST(test_track__tells_whether_anything_changed_and_tells_the_tracker_anyway),
        SERVER_TEST(test_track__of_a_job_that_does_not_exist_is_refused),
        SERVER_TEST(test_track__jids_stand_in_the_order_in_which_they_were_tracked),
        SERVER_TEST(test_track__a_jid_stays_on_the_list_when_its_job_is_gone),
        SERVER_TEST(test_track__the_tracker_hears_the_whole_life_of_a_job),
    };
    return cmocka_run_group_tests_name("track", tests, NULL, NULL);
}
