// SPDX-License-Identifier: MIT
// The engine checks every name at its border, whatever its caller has checked before.
#include "name_calls.h"

#include "base/text.h"
#include "engine/lanes/limit.h"
#include "engine/lanes/watch.h"
#include "engine/measure/metrics.h"
#include "engine/state.h"

#include <string.h>

enum {
    LONGEST = 65536,
};

static const size_t too_long[] = { 256, 511, 512, 600, 4096, LONGEST };

static char long_name[LONGEST];

static int fill(void **state)
{
    (void)state;
    memset(long_name, 'x', sizeof(long_name));
    return 0;
}

// With a limit and a policy, so that looking for one compares keys.
static void prepare(struct world *w)
{
    const struct limit limit = concurrency(1);
    const struct job_options options = { .crashes_max = 3 };
    name_calls_prepare(w);
    said(w, engine_limit_set(w->engine, at(w, 100), SLICE("q"), SLICE("x*"), &limit, &w->error));
    said(w,
         engine_policy_set(w->engine, at(w, 100), POLICY_KLASS, SLICE("x"), &options, &w->error));
    forget_events(w);
}

static void test_names__longer_than_255_bytes_are_refused_by_every_call(void **state)
{
    struct world *w = *state;
    prepare(w);
    for (size_t i = 0; i < name_calls_count; i++) {
        for (size_t n = 0; TEST_ROW(n, too_long); n++) {
            char words[128];
            (void)snprintf(words, sizeof(words),
                           "%s is %zu bytes long, and at most 255 are allowed",
                           name_calls[i].argument, too_long[n]);
            refused(w, STATUS_INVALID, words);
            said(w, name_calls[i].call(w, at(w, 100), slice_make(long_name, too_long[n])));
        }
    }
    expect_events(w, "");
}

// Each in a world of its own, for the call may change it.
static void expect_each_by(enum engine_clock clock, struct slice name, bool empty)
{
    bool text = text_is_plain(name) || clock == ENGINE_CLOCK_CLIENT;
    for (size_t i = 0; i < name_calls_count; i++) {
        struct world *w = world_new(clock, 1);
        prepare(w);
        enum status expected = empty ? name_calls[i].empty : name_calls[i].legal;
        if (!text && name_calls[i].is_new) {
            expected = STATUS_INVALID;
        }
        if (expected) {
            refused(w, expected, expected == STATUS_INVALID ? name_calls[i].argument : "");
        }
        said(w, name_calls[i].call(w, at(w, 100), name));
        world_free(w);
    }
}

static void expect_each(struct slice name, bool empty)
{
    expect_each_by(ENGINE_CLOCK_SERVER, name, empty);
}

static void test_names__empty_ones_are_refused_or_mean_that_none_is_given(void **state)
{
    (void)state;
    expect_each(SLICE_EMPTY, true);
    expect_each(slice_make("", 0), true);
}

static void test_names__of_1_and_of_255_bytes_are_taken(void **state)
{
    (void)state;
    expect_each(slice_make(long_name, 1), false);
    expect_each(slice_make(long_name, ENGINE_NAME_SIZE_MAX), false);
}

static const struct slice not_text[] = {
    { "a\0b\xff\n,", 6 }, { "a\n", 2 },  { "\0", 1 },       { "\x1b[2J", 4 },
    { "\x7f", 1 },        { "\xff", 1 }, { "\xc2\x85", 2 }, { "\xe2\x82", 2 },
};

static void test_names__that_are_new_are_text(void **state)
{
    (void)state;
    expect_each(SLICE("\xc3\xa4 \"\\/\xf0\x9f\x90\xb3\xc2\xa0"), false);
    for (size_t i = 0; TEST_ROW(i, not_text); i++) {
        expect_each(not_text[i], false);
    }
}

static void test_names__of_any_bytes_can_be_new_with_the_clients_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < name_calls_count; i++) {
        struct world *w = world_new(ENGINE_CLOCK_CLIENT, 1);
        prepare(w);
        enum status status = name_calls[i].call(w, at(w, 100), not_text[0]);
        assert_false(status == STATUS_INVALID && name_calls[i].is_new);
        world_free(w);
    }
}

// As earlier versions stored them, with the server's clock.
static void test_names__of_any_bytes_that_are_there_can_be_used(void **state)
{
    struct world *w = *state;
    const char *odd = "odd\n\xff";
    put_with(w, 100, (struct put_request){ .queue = name_of(odd), .jid = name_of(odd) });
    recur(w, 100, odd, "recurring\x1b", 3600);
    policy_set(w, 100, POLICY_QUEUE, odd, (struct job_options){ .crashes_max = 3 });
    limit_set(w, 100, odd, "lane\x1b", concurrency(1));
    w->clock = w->engine->clock = ENGINE_CLOCK_SERVER;
    reload(w);
    assert_string_equal(pop(w, 101, odd, "w1", 1), odd);
    tag(w, 101, odd, odd);
    fail_job(w, 101, "w1", odd, odd);
    put_with(w, 101, (struct put_request){ .queue = name_of(odd), .jid = SLICE("new") });
    refused(w, STATUS_INVALID, "jid must be UTF-8 without control characters");
    put(w, 101, odd, "odder\xff");
    policy_set(w, 101, POLICY_QUEUE, odd, (struct job_options){ .crashes_max = 4 });
    limit_set(w, 101, odd, NULL, concurrency(2));
    assert_int_equal(cancel(w, 101, odd), 1);
    reload(w);
}

// The calls that have no status to refuse it with.
static void expect_nothing_found(struct world *w, struct slice name)
{
    struct page page = { .count = 0 };
    struct stats_view stats;
    size_t found = 1;
    struct priority_view priorities[1];
    const struct count_filter filter = { .queue = name };
    assert_null(engine_get(w->engine, name));
    assert_null(engine_next(w->engine, name));
    assert_null(engine_recurring_get(w->engine, name));
    assert_int_equal(engine_recurring(w->engine, name, 0, 0, NULL, &found), 0);
    assert_int_equal(found, 0);
    assert_int_equal(engine_length(w->engine, name), 0);
    engine_failed(w->engine, name, &page);
    assert_int_equal(page.total, 0);
    engine_tagged(w->engine, name, &page);
    assert_int_equal(page.total, 0);
    engine_worker_jobs(w->engine, us(100), name, LIST_RUNNING, &page);
    assert_int_equal(page.total, 0);
    engine_stats(w->engine, name, us(100), &stats);
    assert_int_equal(stats.wait.count, 0);
    assert_int_equal(engine_config_get(w->engine, name).size, 0);
    assert_false(engine_config_is_set(w->engine, name));
    assert_false(engine_is_ready(w->engine, name));
    engine_unwatch(w->engine, name);
    if (name.size) { // otherwise it is left out, and all are meant
        assert_null(engine_metrics(w->engine, name));
        assert_int_equal(engine_count(w->engine, &filter), 0);
        assert_int_equal(engine_priorities(w->engine, name, INT32_MIN, priorities, 1), 0);
    }
}

static void test_names__that_cannot_be_are_not_found(void **state)
{
    struct world *w = *state;
    prepare(w);
    expect_nothing_found(w, SLICE_EMPTY);
    for (size_t n = 0; TEST_ROW(n, too_long); n++) {
        expect_nothing_found(w, slice_make(long_name, too_long[n]));
        assert_int_equal(engine_watch(w->engine, slice_make(long_name, too_long[n])),
                         STATUS_INVALID);
    }
    assert_int_equal(engine_watch(w->engine, SLICE_EMPTY), STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_names__longer_than_255_bytes_are_refused_by_every_call),
        CLIENT_TEST(test_names__longer_than_255_bytes_are_refused_by_every_call),
        cmocka_unit_test(test_names__empty_ones_are_refused_or_mean_that_none_is_given),
        cmocka_unit_test(test_names__of_1_and_of_255_bytes_are_taken),
        cmocka_unit_test(test_names__that_are_new_are_text),
        cmocka_unit_test(test_names__of_any_bytes_can_be_new_with_the_clients_clock),
        CLIENT_TEST(test_names__of_any_bytes_that_are_there_can_be_used),
        SERVER_TEST(test_names__that_cannot_be_are_not_found),
    };
    return cmocka_run_group_tests_name("names", tests, fill, NULL);
}
