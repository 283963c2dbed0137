// SPDX-License-Identifier: MIT
// Recurring jobs: what becomes of runs that were missed, and of runs that overlap.
#include "recurring_test.h"

#include <string.h>

enum {
    HOUR = 3600,
};

// ---------------------------------------------------------------------------------------------
// Runs that were missed

struct missed {
    const char *what;
    enum recur_missed missed;
    int64_t backlog;
    double now;       // when a caller looks; the run of hour 0 was made in time
    const char *made; // hours, or tens of seconds, of the runs made then
    double next;
};

// Hourly, with missed-after at 60 seconds.
static const struct missed hourly[] = {
    { "all, in time", RECUR_MISSED_ALL, 0, 3600, "3600", 7200 },
    { "all, late", RECUR_MISSED_ALL, 0, 18600, "3600,7200,10800,14400,18000", 21600 },
    { "all, on the dot", RECUR_MISSED_ALL, 0, 10800, "3600,7200,10800", 14400 },
    { "the last two", RECUR_MISSED_ALL, 2, 18600, "14400,18000", 21600 },
    { "the last one", RECUR_MISSED_ALL, 1, 18600, "18000", 21600 },
    { "as many as there are", RECUR_MISSED_ALL, 5, 18600, "3600,7200,10800,14400,18000", 21600 },
    { "more than there are", RECUR_MISSED_ALL, 1000, 18600, "3600,7200,10800,14400,18000", 21600 },
    { "one, in time", RECUR_MISSED_ONE, 0, 3660, "3600", 7200 },
    { "one, one missed", RECUR_MISSED_ONE, 0, 3661, "3600", 7200 },
    { "one, five missed", RECUR_MISSED_ONE, 0, 18600, "18000", 21600 },
    { "one, the last is not missed", RECUR_MISSED_ONE, 0, 18000, "18000", 21600 },
    { "one, with a backlog", RECUR_MISSED_ONE, 3, 18600, "18000", 21600 },
    { "skip, in time", RECUR_MISSED_SKIP, 0, 3660, "3600", 7200 },
    { "skip, missed", RECUR_MISSED_SKIP, 0, 3660.000001, "", 7200 },
    { "skip, five missed", RECUR_MISSED_SKIP, 0, 18600, "", 21600 },
    { "skip, the last is not missed", RECUR_MISSED_SKIP, 0, 18060, "18000", 21600 },
};

// Every ten seconds.
static const struct missed often[] = {
    { "all, late", RECUR_MISSED_ALL, 0, 45, "10,20,30,40", 50 },
    { "the last three", RECUR_MISSED_ALL, 3, 105, "80,90,100", 110 },
    { "one, not late enough", RECUR_MISSED_ONE, 0, 70, "10,20,30,40,50,60,70", 80 },
    { "one, late", RECUR_MISSED_ONE, 0, 70.5, "70", 80 },
    { "one, on the dot", RECUR_MISSED_ONE, 0, 200, "200", 210 },
    { "skip, not late enough", RECUR_MISSED_SKIP, 0, 70, "10,20,30,40,50,60,70", 80 },
    { "skip, one of them", RECUR_MISSED_SKIP, 0, 71, "20,30,40,50,60,70", 80 },
    { "skip, most", RECUR_MISSED_SKIP, 0, 1000, "940,950,960,970,980,990,1000", 1010 },
    { "skip, between", RECUR_MISSED_SKIP, 0, 1005, "950,960,970,980,990,1000", 1010 },
};

static void check_missed(enum engine_clock clock, struct recur_request request,
                         const struct missed *missed)
{
    struct world *w = world_new(clock, 1);
    set(w, "heartbeat", "100000");
    request.missed = missed->missed;
    request.backlog = missed->backlog;
    recur_with(w, 0, request);
    assert_string_equal(pop(w, 0, "q", "w1", 1), "r-1");
    const char *made = made_by(w, missed->now);
    if (strcmp(made, missed->made) != 0) {
        print_error("%s:\n", missed->what);
    }
    assert_string_equal(made, missed->made);
    assert_true(next_of(w) == missed->next);
    world_free(w);
}

static void test_recurring_missed__missed_runs_by_cron(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, hourly, hourly[i].what); i++) {
        check_missed(ENGINE_CLOCK_SERVER, by("0 * * * *"), &hourly[i]);
        check_missed(ENGINE_CLOCK_CLIENT, by("0 * * * *"), &hourly[i]);
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, often, often[i].what); i++) {
        check_missed(ENGINE_CLOCK_SERVER, by("*/10 * * * * *"), &often[i]);
        check_missed(ENGINE_CLOCK_CLIENT, by("*/10 * * * * *"), &often[i]);
    }
}

static void test_recurring_missed__missed_runs_by_interval(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, hourly, hourly[i].what); i++) {
        // By interval a backlog of n allows a run that is exactly n intervals late.
        bool on_the_dot = hourly[i].backlog > 0 && hourly[i].missed == RECUR_MISSED_ALL;
        if (!on_the_dot) {
            check_missed(ENGINE_CLOCK_SERVER, every(HOUR, RECUR_MISSED_ALL, 0), &hourly[i]);
            check_missed(ENGINE_CLOCK_CLIENT, every(HOUR, RECUR_MISSED_ALL, 0), &hourly[i]);
        }
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, often, often[i].what); i++) {
        check_missed(ENGINE_CLOCK_SERVER, every(10, RECUR_MISSED_ALL, 0), &often[i]);
        check_missed(ENGINE_CLOCK_CLIENT, every(10, RECUR_MISSED_ALL, 0), &often[i]);
    }
}

static void test_recurring_missed__missed_after_says_how_late_is_too_late(void **state)
{
    struct world *w = *state;
    struct recur_request request = by("*/10 * * * * *");
    request.missed = RECUR_MISSED_SKIP;
    set(w, "missed-after", "0");
    recur_with(w, 1, request);
    assert_string_equal(made_by(w, 100), "100");
    assert_string_equal(made_by(w, 119), "100");
    assert_string_equal(made_by(w, 130), "100,130");
    set(w, "missed-after", "25");
    assert_string_equal(made_by(w, 175), "100,130,150,160,170");
}

static void test_recurring_missed__a_long_absence_costs_no_more_than_what_is_made(void **state)
{
    struct world *w = *state;
    struct recur_request request = by("* * * * * *");
    request.missed = RECUR_MISSED_ONE;
    recur_with(w, 1, request);
    assert_string_equal(made_by(w, 300000000), "300000000");
    request.missed = RECUR_MISSED_SKIP;
    request.jid = SLICE("s");
    recur_with(w, 300000000.5, request);
    cancel(w, 300000000.5, "r-1");
    set(w, "missed-after", "1");
    assert_string_equal(made_by(w, 600000000), "599999999,600000000,600000000");
}

static void test_recurring_missed__a_large_backlog_is_made_up_for_in_slices(void **state)
{
    struct world *w = *state;
    struct recur_request request = by("* * * * * *");
    request.backlog = 5000;
    recur_with(w, 0, request);
    tick(w, 0);
    assert_int_equal(count_all(w, "q"), 1);
    // Of 20,000 runs the last 5,000, a thousand in each call.
    for (size_t made = 1001; made < 5001; made += 1000) {
        assert_true(tick(w, 20000) == 20000);
        assert_int_equal(count_all(w, "q"), made);
    }
    assert_true(tick(w, 20000) >= 20000);
    assert_true(tick(w, 20000) == 20001);
    assert_int_equal(count_all(w, "q"), 5001);
    assert_int_equal(view_of(w, "r-2").created_us, us(15001));
}

static void
test_recurring_missed__a_backlog_counts_what_falls_due_while_it_is_made_up_for(void **state)
{
    struct world *w = *state;
    struct recur_request request = by("* * * * * *");
    request.backlog = 1500;
    recur_with(w, 1, request);
    // From 8,501 on they are made, until a thousand are.
    tick(w, 10000);
    assert_true(next_of(w) == 9501);
    tick(w, 10010);
    assert_true(next_of(w) == 10011);
    tick(w, 20000);
    assert_true(next_of(w) == 19501);
    // 2,000 are due by now, and 500 of them are left out.
    tick(w, 21500);
    assert_true(next_of(w) == 21001);
    reload(w);
    tick(w, 21500);
    assert_true(next_of(w) == 21501);
    assert_int_equal(recurring_of(w, "r").count, 1000 + 510 + 1000 + 1500);
    tick(w, 50000000);
    assert_true(next_of(w) == 49999501);
}

// ---------------------------------------------------------------------------------------------
// Runs that overlap

static void test_recurring_missed__overlap_skip_makes_none_while_the_last_one_lives(void **state)
{
    struct world *w = *state;
    struct recur_request request = every(10, RECUR_MISSED_ALL, 0);
    request.overlap = RECUR_OVERLAP_SKIP;
    recur_with(w, 0, request);
    assert_string_equal(made_by(w, 0), "0");
    assert_string_equal(made_by(w, 25), "0");
    assert_int_equal(recurring_of(w, "r").count, 1);
    assert_true(next_of(w) == 30);
    assert_string_equal(pop(w, 26, "q", "w1", 9), "r-1");
    assert_string_equal(pop(w, 31, "q", "w1", 9), "");
    complete(w, 32, "w1", "r-1");
    assert_string_equal(pop(w, 41, "q", "w1", 9), "r-2");
    fail_job(w, 42, "w1", "r-2", "bad");
    assert_string_equal(pop(w, 50, "q", "w1", 9), "r-3");
    assert_int_equal(cancel(w, 51, "r-3"), 1);
    assert_string_equal(pop(w, 60, "q", "w1", 9), "r-4");
    assert_int_equal(retry(w, 61, "w1", "r-4"), 4);
    assert_string_equal(pop(w, 70, "q", "w1", 9), "r-4");
    assert_int_equal(recurring_of(w, "r").count, 4);
}

static void test_recurring_missed__overlap_skip_counts_for_cron_and_late_runs_too(void **state)
{
    struct world *w = *state;
    struct recur_request request = by("0 * * * *");
    request.overlap = RECUR_OVERLAP_SKIP;
    recur_with(w, 0, request);
    // Of the six that are due the first is made, and the others overlap with it.
    assert_string_equal(made_by(w, 5 * HOUR), "0");
    assert_true(next_of(w) == 6 * HOUR);
    request.overlap = RECUR_OVERLAP_ALLOW;
    recur_with(w, 5.5 * HOUR, request);
    assert_string_equal(made_by(w, 7 * HOUR), "0,21600,25200");
}

static void test_recurring_missed__overlap_looks_at_the_job_made_last_and_at_no_other(void **state)
{
    struct world *w = *state;
    struct recur_request request = every(10, RECUR_MISSED_ALL, 0);
    request.overlap = RECUR_OVERLAP_SKIP;
    put(w, 0, "other", "r-1");
    recur_with(w, 0, request);
    assert_string_equal(made_by(w, 15), "0");
    assert_int_equal(recurring_of(w, "r").count, 2);
    assert_string_equal(pop(w, 16, "q", "w1", 1), "r-2");
    complete(w, 16, "w1", "r-2");
    assert_string_equal(made_by(w, 20), "20");
    assert_string_equal(state_of(w, "r-3"), "waiting");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recurring_missed__missed_runs_by_cron),
        cmocka_unit_test(test_recurring_missed__missed_runs_by_interval),
        SERVER_TEST(test_recurring_missed__missed_after_says_how_late_is_too_late),
        CLIENT_TEST(test_recurring_missed__missed_after_says_how_late_is_too_late),
        SERVER_TEST(test_recurring_missed__a_long_absence_costs_no_more_than_what_is_made),
        SERVER_TEST(test_recurring_missed__a_large_backlog_is_made_up_for_in_slices),
        SERVER_TEST(test_recurring_missed__a_backlog_counts_what_falls_due_while_it_is_made_up_for),
        SERVER_TEST(test_recurring_missed__overlap_skip_makes_none_while_the_last_one_lives),
        CLIENT_TEST(test_recurring_missed__overlap_skip_makes_none_while_the_last_one_lives),
        SERVER_TEST(test_recurring_missed__overlap_skip_counts_for_cron_and_late_runs_too),
        CLIENT_TEST(test_recurring_missed__overlap_skip_counts_for_cron_and_late_runs_too),
        SERVER_TEST(test_recurring_missed__overlap_looks_at_the_job_made_last_and_at_no_other),
    };
    return cmocka_run_group_tests_name("recurring_missed", tests, NULL, NULL);
}
