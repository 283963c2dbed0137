// SPDX-License-Identifier: MIT
// Kick: failed and scheduled jobs run now.
#include "engine_test_more.h"

static size_t kick(struct world *w, double now, const char *jids)
{
    size_t kicked = 99;
    said(w, engine_kick(w->engine, at(w, now), slices_of(w, jids), &kicked, &w->error));
    return kicked;
}

static void fail_a(struct world *w)
{
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 1, "w1", "a", "g");
}

static void test_kick__a_scheduled_job_is_due(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "later", 100);
    put(w, 1, "q", "first");
    assert_int_equal(kick(w, 2, "later"), 1);
    assert_string_equal(state_of(w, "later"), "waiting");
    assert_string_equal(jobs(w, 2, LIST_WAITING, "q", 0, 9), "2: first,later");
    reload(w);
    assert_string_equal(pop(w, 3, "q", "w1", 2), "first,later");
}

static void test_kick__a_failed_job_starts_anew_in_its_queue(void **state)
{
    struct world *w = *state;
    fail_a(w);
    assert_int_equal(kick(w, 2, "a"), 1);
    assert_string_equal(state_of(w, "a"), "waiting");
    assert_int_equal(view_of(w, "a").attempts, 0);
    assert_int_equal(view_of(w, "a").remaining, 5);
    assert_string_equal(groups(w), "");
    assert_string_equal(history_of(w, "a"),
                        "0 put in q; 0 popped by w1; 1 failed by w1 as g; 2 put in q");
}

static void test_kick__others_are_refused_and_none_is_touched(void **state)
{
    struct world *w = *state;
    fail_a(w);
    put(w, 1, "q", "b");
    put_depending(w, 1, "q", "c", "b");
    refused(w, STATUS_STATE, "job b is neither failed nor scheduled: waiting");
    kick(w, 1, "a,b");
    refused(w, STATUS_STATE, "job c is neither failed nor scheduled: depends");
    kick(w, 1, "a,c");
    refused(w, STATUS_NOT_FOUND, "job d does not exist");
    kick(w, 1, "a,d");
    assert_string_equal(state_of(w, "a"), "failed");
}

static void test_kick__a_job_named_twice_is_kicked_once(void **state)
{
    struct world *w = *state;
    fail_a(w);
    put_later(w, 1, "q", "b", 9);
    assert_int_equal(kick(w, 2, "a,b,a,b"), 2);
    assert_string_equal(jobs(w, 2, LIST_WAITING, "q", 0, 9), "2: a,b");
}

static void put_locked(struct world *w, const char *jid)
{
    put_with(w, 0,
             (struct put_request){ .jid = name_of(jid),
                                   .unique = { .by = UNIQUE_BY_KEY, .key = SLICE("k") } });
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 0, "w1", jid, "g");
}

static void test_kick__of_two_that_want_a_lock_the_first_has_it(void **state)
{
    struct world *w = *state;
    put_locked(w, "a");
    put_locked(w, "b");
    assert_int_equal(kick(w, 1, "b,a"), 1);
    assert_string_equal(state_of(w, "a"), "failed");
    assert_string_equal(state_of(w, "b"), "waiting");
    refused(w, STATUS_EXISTS, "b");
    kick(w, 1, "a");
}

static void test_kick__what_it_depends_on_still_holds(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "b");
    put_depending(w, 0, "q", "a", "b");
    const struct fail_request forced = { .holder = { .jid = SLICE("a"), .worker = SLICE("joe") },
                                         .forced = true,
                                         .group = SLICE("g"),
                                         .message = SLICE("m") };
    said(w, engine_fail(w->engine, at(w, 1), &forced, &w->error));
    assert_int_equal(kick(w, 2, "a"), 1);
    assert_string_equal(state_of(w, "a"), "depends");
}

static void test_kick__by_the_clients_clock_too(void **state)
{
    struct world *w = *state;
    put_later(w, 0, "q", "later", 100);
    fail_a(w);
    assert_int_equal(kick(w, 2, "later,a"), 2);
    assert_string_equal(pop(w, 2, "q", "w1", 5), "later,a");
}

static void test_kick__fails_without_memory_and_changes_nothing(void **state)
{
    struct world *w = *state;
    fail_a(w);
    put_later(w, 1, "q", "b", 9);
    for (size_t n = 1;; n++) {
        size_t kicked;
        w->fault.calls = 0;
        w->fault.fail_at = n;
        enum status status =
            engine_kick(w->engine, at(w, 1), slices_of(w, "a,b"), &kicked, &w->error);
        w->fault.fail_at = 0;
        assert_int_equal(faults_of(w), 0);
        if (!status) {
            assert_true(n > 1);
            break;
        }
        assert_int_equal(status, STATUS_NO_MEMORY);
        assert_int_equal(kicked, 0);
        assert_string_equal(state_of(w, "a"), "failed");
        assert_string_equal(state_of(w, "b"), "scheduled");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_kick__a_scheduled_job_is_due),
        SERVER_TEST(test_kick__a_failed_job_starts_anew_in_its_queue),
        SERVER_TEST(test_kick__others_are_refused_and_none_is_touched),
        SERVER_TEST(test_kick__a_job_named_twice_is_kicked_once),
        SERVER_TEST(test_kick__of_two_that_want_a_lock_the_first_has_it),
        SERVER_TEST(test_kick__what_it_depends_on_still_holds),
        CLIENT_TEST(test_kick__by_the_clients_clock_too),
        SERVER_TEST(test_kick__fails_without_memory_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
