// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include <stdio.h>

static const char *all_options(struct world *w)
{
    struct slice option, value;
    buffer_clear(&w->text);
    for (size_t i = 0; engine_config_at(w->engine, i, &option, &value); i++) {
        buffer_printf(&w->text, "%s%.*s=%.*s", i ? " " : "", SLICE_PRINT(option),
                      SLICE_PRINT(value));
    }
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void do_one(struct world *w, double now, const char *jid)
{
    put(w, now, "q", jid);
    pop(w, now, "q", "w1", 1);
    complete(w, now, "w1", jid);
}

static void test_config__an_option_has_what_was_set_else_its_default_else_nothing(void **state)
{
    struct world *w = *state;
    assert_string_equal(config(w, "heartbeat"), "60");
    assert_string_equal(config(w, "grace-period"), "10");
    assert_string_equal(config(w, "jobs-history"), "604800");
    assert_string_equal(config(w, "jobs-history-count"), "50000");
    assert_string_equal(config(w, "stats-history"), "30");
    assert_string_equal(config(w, "histogram-history"), "7");
    assert_string_equal(config(w, "max-worker-age"), "86400");
    assert_string_equal(config(w, "max-job-history"), "100");
    assert_string_equal(config(w, "colour"), "");
    assert_false(engine_config_is_set(w->engine, SLICE("heartbeat")));
    set(w, "heartbeat", "5.50");
    set(w, "colour", "red");
    assert_true(engine_config_is_set(w->engine, SLICE("heartbeat")));
    assert_true(engine_config_is_set(w->engine, SLICE("colour")));
    assert_string_equal(config(w, "heartbeat"), "5.50");
    assert_string_equal(config(w, "colour"), "red");
    unset(w, "heartbeat");
    unset(w, "colour");
    unset(w, "colour");
    assert_false(engine_config_is_set(w->engine, SLICE("heartbeat")));
    assert_string_equal(config(w, "heartbeat"), "60");
    assert_string_equal(config(w, "colour"), "");
    expect_events(w, "log: config_set option heartbeat value 5.50; "
                     "log: config_set option colour value red; "
                     "log: config_unset option heartbeat; "
                     "log: config_unset option colour; log: config_unset option colour");
}

static void test_config__all_options_are_listed_by_name(void **state)
{
    struct world *w = *state;
    const char *const defaults =
        "grace-period=10 heartbeat=60 histogram-history=7 "
        "jobs-history=604800 jobs-history-count=50000 "
        "jobs-history-jids=500000 "
        "max-bytes=0 max-dependency-search=10000 max-dependents=10000 max-depends=10000 "
        "max-job-history=100 max-job-log=100 max-jobs=0 max-limit-patterns=100 "
        "max-promise-bytes=0 max-queues=0 "
        "max-recurring=0 max-tags=100 max-worker-age=86400 min-interval=0 "
        "missed-after=60 rate-catch-up=0.25 request-history=86400 "
        "request-history-count=100000 stats-history=30";
    assert_string_equal(all_options(w), defaults);
    set(w, "aardvark", "1");
    set(w, "zebra", "2");
    set(w, "heartbeat", "20");
    set(w, "heartbeat-q", "30");
    assert_string_equal(
        all_options(w),
        "aardvark=1 grace-period=10 heartbeat=20 heartbeat-q=30 "
        "histogram-history=7 jobs-history=604800 jobs-history-count=50000 "
        "jobs-history-jids=500000 "
        "max-bytes=0 max-dependency-search=10000 max-dependents=10000 max-depends=10000 "
        "max-job-history=100 max-job-log=100 max-jobs=0 max-limit-patterns=100 "
        "max-promise-bytes=0 max-queues=0 "
        "max-recurring=0 max-tags=100 max-worker-age=86400 min-interval=0 "
        "missed-after=60 rate-catch-up=0.25 request-history=86400 "
        "request-history-count=100000 stats-history=30 zebra=2");
    unset(w, "aardvark");
    unset(w, "zebra");
    unset(w, "heartbeat");
    unset(w, "heartbeat-q");
    assert_string_equal(all_options(w), defaults);
}

static void test_config__bad_values_are_refused_and_change_nothing(void **state)
{
    struct world *w = *state;
    static const char *const options[] = {
        "heartbeat",         "grace-period",   "jobs-history",       "jobs-history-count",
        "stats-history",     "max-worker-age", "max-tags",           "histogram-history",
        "max-job-history",   "max-depends",    "q-heartbeat",        "heartbeat-q",
        "q-max-concurrency", "max-dependents", "max-limit-patterns", "max-jobs",
        "max-bytes",         "max-queues",     "max-recurring",      "min-interval",
        "q-max-jobs",        "q-max-bytes",    "rate-catch-up",
    };
    static const char *const values[] = {
        "", "abc", "1s", " 1", "1 ", "0x10", "nan", "inf", "1e999", "--1", "999999999999999999",
    };
    put(w, 0, "q", "a");
    for (size_t i = 0; TEST_ROW_NAMED(i, options, options[i]); i++) {
        for (size_t j = 0; TEST_ROW_NAMED(j, values, values[j]); j++) {
            refused(w, STATUS_INVALID, options[i]);
            set(w, options[i], values[j]);
        }
    }
    refused(w, STATUS_INVALID, "option rate-catch-up must lie between 0 and 60 seconds, not 60.1");
    set(w, "rate-catch-up", "60.1");
    refused(w, STATUS_INVALID, "option rate-catch-up must lie between 0 and 60 seconds, not -1");
    set(w, "rate-catch-up", "-1");
    expect_events(w, "log: put a in q");
}

// Every option with a meaning, and the least value that it may have with the server clock.
static const struct {
    const char *option, *least, *below;
} ranges[] = {
    { "heartbeat", "0.001", "0" },       { "q-heartbeat", "0.001", "-1" },
    { "heartbeat-q", "0.001", "0" },     { "grace-period", "0", "-0.1" },
    { "jobs-history", "0", "-1" },       { "jobs-history-count", "-1", "-2" },
    { "stats-history", "0", "-1" },      { "histogram-history", "0", "-1" },
    { "max-worker-age", "1", "0.9" },    { "max-job-history", "0", "-1" },
    { "max-job-log", "0", "-1" },        { "max-tags", "0", "-1" },
    { "max-depends", "0", "-1" },        { "max-dependents", "0", "-1" },
    { "max-limit-patterns", "0", "-1" }, { "max-dependency-search", "0", "-1" },
    { "max-jobs", "0", "-1" },           { "max-bytes", "0", "-1" },
    { "max-queues", "0", "-1" },         { "max-recurring", "0", "-1" },
    { "min-interval", "0", "-1" },       { "missed-after", "0", "-1" },
    { "q-max-concurrency", "0", "-1" },  { "q-fair", "0", "-1" },
    { "q-max-jobs", "0", "-1" },         { "q-max-bytes", "0", "-1" },
};

static void test_config__with_the_server_clock_options_have_a_least_value(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, ranges, ranges[i].option); i++) {
        char sentence[100];
        (void)snprintf(sentence, sizeof(sentence), "option %s must lie between %s and 253402300799",
                       ranges[i].option, ranges[i].least);
        set(w, ranges[i].option, ranges[i].least);
        refused(w, STATUS_INVALID, sentence);
        set(w, ranges[i].option, ranges[i].below);
        refused(w, STATUS_INVALID, sentence);
        set(w, ranges[i].option, "253402300801");
        assert_string_equal(config(w, ranges[i].option), ranges[i].least);
    }
}

static void test_config__with_the_client_clock_options_may_be_any_number(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, ranges, ranges[i].option); i++) {
        set(w, ranges[i].option, ranges[i].below);
        assert_string_equal(config(w, ranges[i].option), ranges[i].below);
    }
}

static void test_config__heartbeat_acts_on_queues_that_are_there_and_on_new_ones(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    set(w, "heartbeat", "7");
    put(w, 0, "r", "b");
    pop(w, 0, "q", "w1", 1);
    pop(w, 0, "r", "w1", 1);
    assert_int_equal(view_of(w, "a").expires_us, us(7));
    assert_int_equal(view_of(w, "b").expires_us, us(7));
    // What was leased before keeps its end.
    set(w, "heartbeat", "100");
    assert_int_equal(view_of(w, "a").expires_us, us(7));
    assert_true(heartbeat(w, 1, "w1", "a") == 101);
}

static void test_config__a_queues_own_heartbeat_goes_before_the_general_one(void **state)
{
    struct world *w = *state;
    set(w, "heartbeat-q", "30");
    put(w, 0, "q", "a");
    put(w, 0, "r", "b");
    pop(w, 0, "q", "w1", 1);
    pop(w, 0, "r", "w1", 1);
    assert_int_equal(view_of(w, "a").expires_us, us(30));
    assert_int_equal(view_of(w, "b").expires_us, us(60));
    set(w, "q-heartbeat", "40");
    assert_true(heartbeat(w, 0, "w1", "a") == 40);
    set(w, "heartbeat", "50");
    assert_true(heartbeat(w, 0, "w1", "a") == 40);
    assert_true(heartbeat(w, 0, "w1", "b") == 50);
}

static void test_config__grace_period_acts(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "2.5");
    put(w, 0, "q", "a");
    pop(w, 0, "q", "w1", 1);
    tick(w, 62.4);
    assert_string_equal(state_of(w, "a"), "running");
    tick(w, 62.5);
    assert_string_equal(state_of(w, "a"), "stalled");
}

static void test_config__jobs_history_acts(void **state)
{
    struct world *w = *state;
    set(w, "jobs-history", "5");
    do_one(w, 0, "a");
    do_one(w, 10, "b");
    assert_string_equal(state_of(w, "a"), "none");
    assert_string_equal(state_of(w, "b"), "complete");
    set(w, "jobs-history-count", "1");
    do_one(w, 11, "c");
    assert_string_equal(state_of(w, "b"), "none");
}

static void test_config__stats_and_histogram_history_act(void **state)
{
    struct world *w = *state;
    set(w, "stats-history", "3");
    set(w, "histogram-history", "1");
    do_one(w, 0, "a");
    do_one(w, 2 * DAY, "a");
    assert_int_equal(stats_of(w, "q", 0).wait.count, 1);
    assert_int_equal(stats_of(w, "q", 0).wait.histogram[0], 0);
    do_one(w, 5 * DAY, "a");
    assert_int_equal(stats_of(w, "q", 0).wait.count, 0);
}

static void test_config__max_worker_age_acts(void **state)
{
    struct world *w = *state;
    set(w, "max-worker-age", "3");
    pop(w, 0, "q", "w1", 1);
    assert_string_equal(workers(w, 2), "w1 0/0");
    assert_string_equal(workers(w, 4), "");
}

static void test_config__max_job_history_acts(void **state)
{
    struct world *w = *state;
    set(w, "max-job-history", "2");
    do_one(w, 0, "a");
    assert_string_equal(history_of(w, "a"), "0 put in q; 0 done");
}

static void test_config__max_tags_acts(void **state)
{
    struct world *w = *state;
    set(w, "max-tags", "2");
    put(w, 0, "q", "a");
    refused(w, STATUS_TOO_LARGE, "tags");
    tag(w, 0, "a", "x,y,z");
    tag(w, 0, "a", "x,y");
    refused(w, STATUS_TOO_LARGE, "3 tags; max-tags allows 2");
    tag(w, 0, "a", "z");
    refused(w, STATUS_TOO_LARGE, "tags");
    put_with(
        w, 0,
        (struct put_request){ .jid = SLICE("b"), .has_tags = true, .tags = slices_of(w, "x,y,z") });
    refused(w, STATUS_TOO_LARGE, "tags");
    recur_with(w, 0,
               (struct recur_request){ .queue = SLICE("q"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(1),
                                       .tags = slices_of(w, "x,y,z") });
    recur(w, 0, "q", "r", 1000);
    tick(w, 0);
    refused(w, STATUS_TOO_LARGE, "tags");
    said(w, engine_recur_tag(w->engine, 0, SLICE("r"), slices_of(w, "x,y,z"), &w->error));
}

static void test_config__max_depends_acts(void **state)
{
    struct world *w = *state;
    set(w, "max-depends", "2");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    refused(w, STATUS_TOO_LARGE, "dependencies");
    put_depending(w, 0, "q", "d", "a,b,c");
    put_depending(w, 0, "q", "d", "a,b");
    assert_string_equal(state_of(w, "d"), "depends");
}

static void test_config__max_concurrency_acts(void **state)
{
    struct world *w = *state;
    set(w, "q-max-concurrency", "1");
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "a");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "");
    unset(w, "q-max-concurrency");
    assert_string_equal(pop(w, 0, "q", "w1", 9), "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_config__an_option_has_what_was_set_else_its_default_else_nothing),
        SERVER_TEST(test_config__all_options_are_listed_by_name),
        SERVER_TEST(test_config__bad_values_are_refused_and_change_nothing),
        SERVER_TEST(test_config__with_the_server_clock_options_have_a_least_value),
        CLIENT_TEST(test_config__with_the_client_clock_options_may_be_any_number),
        SERVER_TEST(test_config__heartbeat_acts_on_queues_that_are_there_and_on_new_ones),
        CLIENT_TEST(test_config__heartbeat_acts_on_queues_that_are_there_and_on_new_ones),
        SERVER_TEST(test_config__a_queues_own_heartbeat_goes_before_the_general_one),
        SERVER_TEST(test_config__grace_period_acts),
        SERVER_TEST(test_config__jobs_history_acts),
        SERVER_TEST(test_config__stats_and_histogram_history_act),
        SERVER_TEST(test_config__max_worker_age_acts),
        SERVER_TEST(test_config__max_job_history_acts),
        SERVER_TEST(test_config__max_tags_acts),
        SERVER_TEST(test_config__max_depends_acts),
        SERVER_TEST(test_config__max_concurrency_acts),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
