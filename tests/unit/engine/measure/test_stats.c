// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include <math.h>
#include <stdio.h>

static void about(double given, double wanted)
{
    assert_true(fabs(given - wanted) < 1e-9 * (1 + fabs(wanted)));
}

// A job that waits and runs for so long, from `now` on; its own queue's clock is the client's.
static void pass(struct world *w, double now, double wait, double run)
{
    put(w, now, "q", "job");
    pop(w, now + wait, "q", "w1", 1);
    complete(w, now + wait + run, "w1", "job");
}

static void test_stats__a_queue_without_any_has_zeros(void **state)
{
    struct world *w = *state;
    struct stats_view view = stats_of(w, "q", 0);
    assert_int_equal(view.retries + view.lost_leases + view.failed + view.failures, 0);
    assert_int_equal(view.wait.count, 0);
    about(view.wait.mean, 0);
    about(view.wait.std, 0);
    for (size_t i = 0; i < STATS_BUCKETS; i++) {
        assert_int_equal(view.wait.histogram[i] + view.run.histogram[i], 0);
    }
}

static void test_stats__mean_and_standard_deviation_are_those_of_the_sample(void **state)
{
    struct world *w = *state;
    static const double waits[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
    for (size_t i = 0; i < 8; i++) {
        pass(w, 100 * (double)i, waits[i], waits[i] / 2);
    }
    struct stats_view view = stats_of(w, "q", 0);
    assert_int_equal(view.wait.count, 8);
    about(view.wait.mean, 5);
    about(view.wait.std, sqrt(32.0 / 7));
    assert_int_equal(view.run.count, 8);
    about(view.run.mean, 2.5);
    about(view.run.std, sqrt(8.0 / 7));
}

static void test_stats__one_value_has_no_deviation(void **state)
{
    struct world *w = *state;
    pass(w, 0, 1.5, 0.25);
    about(stats_of(w, "q", 0).wait.mean, 1.5);
    about(stats_of(w, "q", 0).wait.std, 0);
    about(stats_of(w, "q", 0).run.mean, 0.25);
}

static void test_stats__each_time_falls_into_its_bucket(void **state)
{
    struct world *w = *state;
    static const struct {
        double seconds;
        size_t bucket;
    } cases[] = {
        { 0, 0 },         { 0.999999, 0 },  { 1, 1 },         { 59.999999, 59 },
        { 60, 60 },       { 119.5, 60 },    { 120, 61 },      { 3599.999999, 118 },
        { 3600, 119 },    { 7199, 119 },    { 7200, 120 },    { 86399, 141 },
        { DAY, 142 },     { 2 * DAY, 143 }, { 5 * DAY, 146 }, { 6 * DAY - 1, 146 },
        { 6 * DAY, 147 },
    };
    enum {
        CASES = sizeof(cases) / sizeof(cases[0])
    };
    uint64_t wanted[STATS_BUCKETS] = { 0 };
    // All are popped on one day, and all are done on another, a hundred days later.
    const double popped = 100 * DAY + 10, done = 200 * DAY + 10;
    set(w, "heartbeat", "100000000");
    set(w, "stats-history", "1000");
    set(w, "histogram-history", "1000");
    for (size_t i = 0; i < CASES; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "j%zu", i);
        put(w, popped - cases[i].seconds, "q", jid);
        assert_string_equal(pop(w, popped, "q", "w1", 1), jid);
        retry(w, done, "w1", jid);
        assert_string_equal(pop(w, done - cases[i].seconds, "q", "w1", 1), jid);
        complete(w, done, "w1", jid);
        wanted[cases[i].bucket]++;
        struct stats_view before = stats_of(w, "q", popped), after = stats_of(w, "q", done);
        assert_int_equal(before.wait.count, i + 1);
        assert_memory_equal(before.wait.histogram, wanted, sizeof(wanted));
        assert_int_equal(after.run.count, i + 1);
        assert_memory_equal(after.run.histogram, wanted, sizeof(wanted));
    }
}

static void test_stats__wait_counts_from_the_last_move(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 40, "q", "a");
    pop(w, 50, "q", "w1", 1);
    about(stats_of(w, "q", 0).wait.mean, 10);
}

static void test_stats__wait_after_a_retry_counts_from_the_pop_before_it(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 10, "q", "w1", 1);
    retry(w, 20, "w1", "a");
    pop(w, 40, "q", "w1", 1);
    about(stats_of(w, "q", 0).wait.mean, 20);
    about(stats_of(w, "q", 0).wait.std, sqrt(200));
}

static void test_stats__days_are_apart(void **state)
{
    struct world *w = *state;
    pass(w, 10, 5, 5);
    put(w, DAY - 10, "q", "late");
    pop(w, DAY - 1, "q", "w1", 1);
    complete(w, DAY + 1, "w1", "late");
    assert_int_equal(stats_of(w, "q", 0).wait.count, 2);
    assert_int_equal(stats_of(w, "q", DAY - 1).run.count, 1);
    assert_int_equal(stats_of(w, "q", DAY).wait.count, 0);
    assert_int_equal(stats_of(w, "q", DAY).run.count, 1);
    about(stats_of(w, "q", 2 * DAY - 1).run.mean, 2);
    assert_int_equal(stats_of(w, "q", 2 * DAY).run.count, 0);
    assert_int_equal(stats_of(w, "r", 0).wait.count, 0);
}

static void test_stats__failures_and_lost_leases_are_counted(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    pop(w, 0, "q", "w1", 2);
    fail_job(w, 1, "w1", "a", "bad");
    pop(w, 61, "q", "w1", 1);
    struct stats_view view = stats_of(w, "q", 0);
    assert_int_equal(view.failed, 1);
    assert_int_equal(view.failures, 1);
    assert_int_equal(view.lost_leases, 1);
    assert_int_equal(view.retries, 0);
    assert_int_equal(view.wait.count, 3);
    assert_int_equal(view.run.count, 0);
}

static void test_stats__retries_are_counted_apart_from_lost_leases(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    retry(w, 1, "w1", "a");
    pop(w, 2, "q", "w1", 1);
    int32_t remaining;
    const struct retry_request moved = { .holder = { .jid = SLICE("a"), .worker = SLICE("w1") },
                                         .to = SLICE("r") };
    said(w, engine_retry(w->engine, us(3), &moved, &remaining, &w->error));
    assert_int_equal(stats_of(w, "q", 0).retries, 1);
    assert_int_equal(stats_of(w, "q", 0).lost_leases, 0);
    assert_int_equal(stats_of(w, "r", 0).retries, 1);
    // It was not the job's fault, so no retry is counted.
    pop(w, 4, "r", "w1", 1);
    const struct retry_request excused = { .holder = moved.holder, .uncounted = true };
    said(w, engine_retry(w->engine, us(5), &excused, &remaining, &w->error));
    assert_int_equal(stats_of(w, "r", 0).retries, 1);
}

static void test_stats__old_days_are_forgotten_and_their_histograms_sooner(void **state)
{
    struct world *w = *state;
    pass(w, 0, 3, 3);
    pass(w, 4 * DAY, 3, 3);
    pass(w, 6 * DAY, 3, 3);
    assert_int_equal(stats_of(w, "q", 0).wait.histogram[3], 1);
    pass(w, 7 * DAY, 3, 3);
    assert_int_equal(stats_of(w, "q", 0).wait.histogram[3], 0);
    assert_int_equal(stats_of(w, "q", 0).wait.count, 1);
    about(stats_of(w, "q", 0).wait.mean, 3);
    assert_int_equal(stats_of(w, "q", 4 * DAY).wait.histogram[3], 1);
    pass(w, 29 * DAY, 3, 3);
    assert_int_equal(stats_of(w, "q", 0).wait.count, 1);
    pass(w, 30 * DAY, 3, 3);
    assert_int_equal(stats_of(w, "q", 0).wait.count, 0);
    assert_int_equal(stats_of(w, "q", 4 * DAY).wait.count, 1);
}

static void test_stats__what_is_kept_can_be_set(void **state)
{
    struct world *w = *state;
    set(w, "stats-history", "4");
    set(w, "histogram-history", "2");
    pass(w, 0, 3, 3);
    pass(w, 3 * DAY, 3, 3);
    assert_int_equal(stats_of(w, "q", 0).run.count, 1);
    assert_int_equal(stats_of(w, "q", 0).run.histogram[3], 0);
    pass(w, 6 * DAY, 3, 3);
    assert_int_equal(stats_of(w, "q", 0).run.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_stats__a_queue_without_any_has_zeros),
        SERVER_TEST(test_stats__mean_and_standard_deviation_are_those_of_the_sample),
        SERVER_TEST(test_stats__one_value_has_no_deviation),
        CLIENT_TEST(test_stats__each_time_falls_into_its_bucket),
        SERVER_TEST(test_stats__wait_counts_from_the_last_move),
        SERVER_TEST(test_stats__wait_after_a_retry_counts_from_the_pop_before_it),
        CLIENT_TEST(test_stats__wait_after_a_retry_counts_from_the_pop_before_it),
        SERVER_TEST(test_stats__days_are_apart),
        SERVER_TEST(test_stats__failures_and_lost_leases_are_counted),
        SERVER_TEST(test_stats__retries_are_counted_apart_from_lost_leases),
        CLIENT_TEST(test_stats__failures_and_lost_leases_are_counted),
        SERVER_TEST(test_stats__old_days_are_forgotten_and_their_histograms_sooner),
        SERVER_TEST(test_stats__what_is_kept_can_be_set),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
