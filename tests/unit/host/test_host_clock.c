// SPDX-License-Identifier: MIT
#include "host/host_clock.h"

#include "test.h"

#define SECOND INT64_C(1000000)
#define HOUR   (3600 * SECOND)
#define WALL   (INT64_C(1800000000) * SECOND) // the wall clock when the monotonic one is at 0

// A clock that starts with both readings in step, then is compared every second.
struct world {
    struct host_clock clock;
    int64_t now_us; // monotonic
};

static struct world start(void)
{
    struct world w = { .now_us = 0 };
    host_clock_init(&w.clock, (struct clock_reading){ WALL, 0 });
    return w;
}

// Goes on for so long, with the wall clock so far off. Gives the last news other than none, and
// asserts that the host's time never goes back without being told.
static struct clock_news go_on(struct world *w, int64_t for_us, int64_t off_us)
{
    struct clock_news last = { CLOCK_STEADY, 0 };
    for (int64_t end_us = w->now_us + for_us; w->now_us < end_us;) {
        int64_t before_us = host_clock_time(&w->clock, w->now_us);
        w->now_us += SECOND;
        struct clock_news news = host_clock_compare(
            &w->clock, (struct clock_reading){ WALL + w->now_us + off_us, w->now_us });
        int64_t after_us = host_clock_time(&w->clock, w->now_us);
        assert_true(after_us > before_us || news.change == CLOCK_FOLLOWED);
        last = news.change == CLOCK_STEADY ? last : news;
    }
    return last;
}

// How far the host's time is ahead of where it would be had no clock been set.
static int64_t ahead(const struct world *w)
{
    return host_clock_time(&w->clock, w->now_us) - (WALL + w->now_us);
}

static void expect(struct clock_news news, enum clock_change change, int64_t step_us)
{
    assert_int_equal(news.change, change);
    assert_int_equal(news.step_us, step_us);
}

static void test_host_clock__a_step_that_is_taken_back_soon_has_no_effect(void **state)
{
    (void)state;
    static const int64_t steps[] = { 2 * SECOND, HOUR, -HOUR, -2 * SECOND,
                                     INT64_C(50) * 8766 * HOUR };
    for (size_t i = 0; TEST_ROW(i, steps); i++) {
        struct world w = start();
        expect(go_on(&w, 10 * SECOND, steps[i]), CLOCK_STEPPED, steps[i]);
        assert_int_equal(ahead(&w), 0);
        expect(go_on(&w, 19 * SECOND, steps[i]), CLOCK_STEADY, 0);
        expect(go_on(&w, SECOND, 0), CLOCK_RETURNED, steps[i]);
        expect(go_on(&w, HOUR, 0), CLOCK_STEADY, 0);
        assert_int_equal(ahead(&w), 0);
        assert_int_equal(w.clock.steps, 1);
        assert_int_equal(w.clock.returned, 1);
        assert_int_equal(w.clock.followed, 0);
    }
}

static void test_host_clock__a_step_that_lasts_is_followed_within_a_minute(void **state)
{
    (void)state;
    static const int64_t steps[] = { 2 * SECOND, HOUR, -HOUR, -2 * SECOND,
                                     INT64_C(50) * 8766 * HOUR };
    for (size_t i = 0; TEST_ROW(i, steps); i++) {
        struct world w = start();
        expect(go_on(&w, 30 * SECOND, steps[i]), CLOCK_STEPPED, steps[i]);
        assert_int_equal(ahead(&w), 0);
        expect(go_on(&w, 2 * SECOND, steps[i]), CLOCK_FOLLOWED, steps[i]);
        assert_int_equal(ahead(&w), steps[i]);
        assert_int_equal(w.clock.difference_us, 0);
        expect(go_on(&w, 60 * SECOND, 0), CLOCK_FOLLOWED, -steps[i]);
        assert_int_equal(ahead(&w), 0);
    }
}

static void test_host_clock__of_a_step_as_much_is_followed_as_has_lasted(void **state)
{
    (void)state;
    struct world w = start();
    expect(go_on(&w, 20 * SECOND, HOUR), CLOCK_STEPPED, HOUR);
    expect(go_on(&w, 12 * SECOND, 24 * HOUR), CLOCK_STEPPED, 23 * HOUR);
    assert_int_equal(ahead(&w), HOUR);
    expect(go_on(&w, 60 * SECOND, HOUR), CLOCK_RETURNED, 23 * HOUR);
    assert_int_equal(ahead(&w), HOUR);
    // A step to the other side waits anew.
    w = start();
    expect(go_on(&w, 29 * SECOND, HOUR), CLOCK_STEPPED, HOUR);
    expect(go_on(&w, 29 * SECOND, -HOUR), CLOCK_STEPPED, -HOUR);
    assert_int_equal(ahead(&w), 0);
}

static void test_host_clock__drift_is_made_up_for_bit_by_bit(void **state)
{
    (void)state;
    static const int64_t drifts[] = { SECOND, -SECOND, 1, -1, SECOND / 3 };
    for (size_t i = 0; TEST_ROW(i, drifts); i++) {
        struct world w = start();
        expect(go_on(&w, SECOND, drifts[i]), CLOCK_STEADY, 0);
        assert_in_range(ahead(&w) + SECOND / 16, 0, SECOND / 8);
        expect(go_on(&w, 16 * SECOND, drifts[i]), CLOCK_STEADY, 0);
        assert_int_equal(ahead(&w), drifts[i]);
    }
    // A wall clock that is slewed by a twentieth of the time is followed.
    struct world w = start();
    int64_t off_us = 0;
    while (off_us < HOUR) {
        off_us += SECOND / 20;
        expect(go_on(&w, SECOND, off_us), CLOCK_STEADY, 0);
    }
    assert_in_range(ahead(&w), HOUR - SECOND, HOUR);
}

static void test_host_clock__a_wall_clock_that_runs_too_fast_is_followed_in_steps(void **state)
{
    (void)state;
    struct world w = start();
    int64_t off_us = 0;
    for (int i = 0; i < 600; i++) {
        off_us += SECOND;
        (void)go_on(&w, SECOND, off_us);
        assert_in_range(off_us - ahead(&w), 0, 62 * SECOND);
    }
}

static void test_host_clock__time_passes_while_nothing_is_compared(void **state)
{
    (void)state;
    // As after a suspend: both clocks went on.
    struct world w = start();
    w.now_us += 8 * HOUR;
    expect(go_on(&w, SECOND, 0), CLOCK_STEADY, 0);
    assert_int_equal(ahead(&w), 0);
    // Clocks were set meanwhile: that waits from when it is seen.
    w.now_us += HOUR;
    expect(go_on(&w, SECOND, HOUR), CLOCK_STEPPED, HOUR);
    assert_int_equal(ahead(&w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_clock__a_step_that_is_taken_back_soon_has_no_effect),
        cmocka_unit_test(test_host_clock__a_step_that_lasts_is_followed_within_a_minute),
        cmocka_unit_test(test_host_clock__of_a_step_as_much_is_followed_as_has_lasted),
        cmocka_unit_test(test_host_clock__drift_is_made_up_for_bit_by_bit),
        cmocka_unit_test(test_host_clock__a_wall_clock_that_runs_too_fast_is_followed_in_steps),
        cmocka_unit_test(test_host_clock__time_passes_while_nothing_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
