// SPDX-License-Identifier: MIT
#include "base/meter.h"

#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 20000,
};

static const int64_t second_us = 1000000;

// Rates are one division of whole numbers, so they are compared exactly.
static void assert_counts(const struct meter *meter, int64_t now_us, uint64_t count_1s,
                          uint64_t count_1m, uint64_t count_15m)
{
    struct meter before;
    memcpy(&before, meter, sizeof(before));
    struct meter_rates rates;
    meter_read(meter, now_us, &rates);
    assert_true(rates.per_second_1s == (double)count_1s);
    assert_true(rates.per_second_1m == (double)count_1m / 60);
    assert_true(rates.per_second_15m == (double)count_15m / 900);
    assert_memory_equal(meter, &before, sizeof(before));
}

static void test_meter__an_empty_one_reads_zero(void **state)
{
    (void)state;
    const struct meter meter = { 0 };
    assert_counts(&meter, 0, 0, 0, 0);
    assert_counts(&meter, 1, 0, 0, 0);
    assert_counts(&meter, INT64_C(1700000000000000), 0, 0, 0);
    assert_counts(&meter, INT64_MAX, 0, 0, 0);
}

static void test_meter__a_count_enters_and_leaves_each_window_in_time(void **state)
{
    (void)state;
    // Second 100 is in the span from 90 to 104.
    struct meter meter = { 0 };
    meter_add(&meter, 100 * second_us + 7, 5);
    static const struct {
        int64_t now_us;
        uint64_t count_1s;
        uint64_t count_1m;
        uint64_t count_15m;
    } cases[] = {
        { INT64_C(0), 0, 0, 0 },          { INT64_C(100000007), 0, 0, 0 },
        { INT64_C(100999999), 0, 0, 0 },  { INT64_C(101000000), 5, 5, 0 },
        { INT64_C(101999999), 5, 5, 0 },  { INT64_C(102000000), 0, 5, 0 },
        { INT64_C(104999999), 0, 5, 0 },  { INT64_C(105000000), 0, 5, 5 },
        { INT64_C(160999999), 0, 5, 5 },  { INT64_C(161000000), 0, 0, 5 },
        { INT64_C(1004999999), 0, 0, 5 }, { INT64_C(1005000000), 0, 0, 0 },
        { INT64_MAX, 0, 0, 0 },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_counts(&meter, cases[i].now_us, cases[i].count_1s, cases[i].count_1m,
                      cases[i].count_15m);
        // The same when the meter itself has come that far.
        struct meter later = meter;
        meter_add(&later, cases[i].now_us, 0);
        assert_counts(&later, cases[i].now_us, cases[i].count_1s, cases[i].count_1m,
                      cases[i].count_15m);
    }
}

static void test_meter__time_zero_is_a_time(void **state)
{
    (void)state;
    struct meter meter = { 0 };
    meter_add(&meter, 0, 1);
    meter_add(&meter, 1, 1);
    meter_add(&meter, second_us - 1, 1);
    assert_counts(&meter, second_us - 1, 0, 0, 0);
    assert_counts(&meter, second_us, 3, 3, 0);
    assert_counts(&meter, 15 * second_us, 0, 3, 3);
}

static void test_meter__a_steady_rate_reads_as_itself(void **state)
{
    (void)state;
    struct meter meter = { 0 };
    const int64_t start_us = INT64_C(1700000000123456);
    int64_t now_us = start_us;
    for (; now_us < start_us + 920 * second_us; now_us += second_us / 4) {
        meter_add(&meter, now_us, 3);
    }
    assert_counts(&meter, now_us, 12, 720, 10800);
}

static void test_meter__an_earlier_count_goes_to_the_newest_second(void **state)
{
    (void)state;
    struct meter meter = { 0 };
    meter_add(&meter, 200 * second_us, 1);
    meter_add(&meter, 150 * second_us, 10);
    meter_add(&meter, 0, 100);
    assert_counts(&meter, 0, 0, 0, 0);
    assert_counts(&meter, 201 * second_us, 111, 111, 0);
    assert_counts(&meter, 210 * second_us, 0, 111, 111);
}

static void test_meter__an_earlier_reading_is_one_at_the_newest_second(void **state)
{
    (void)state;
    struct meter meter = { 0 };
    meter_add(&meter, 194 * second_us, 2);
    meter_add(&meter, 195 * second_us, 1);
    assert_counts(&meter, 195 * second_us, 2, 2, 2);
    assert_counts(&meter, 194 * second_us, 2, 2, 2);
    assert_counts(&meter, 0, 2, 2, 2);
}

static void test_meter__the_last_time_there_is_can_be_counted_at(void **state)
{
    (void)state;
    struct meter meter = { 0 };
    meter_add(&meter, INT64_MAX - second_us, 4);
    meter_add(&meter, INT64_MAX, 1);
    meter_add(&meter, INT64_MAX - 1, 1);
    meter_add(&meter, INT64_MAX, 1);
    assert_counts(&meter, INT64_MAX, 4, 4, 0);
    assert_int_equal(meter.seconds.newest, 3);
}

static void test_meter__a_second_that_overflows_harms_no_other(void **state)
{
    (void)state;
    struct meter meter = { 0 };
    for (int64_t second = 0; second < 60; second++) {
        meter_add(&meter, second * second_us, UINT32_MAX);
    }
    meter_add(&meter, 59 * second_us, 8);
    struct meter_rates rates;
    meter_read(&meter, 60 * second_us, &rates);
    assert_true(rates.per_second_1s == 7);
    assert_true(rates.per_second_1m == (double)(59 * (uint64_t)UINT32_MAX + 7) / 60);
    assert_counts(&meter, 2000 * second_us, 0, 0, 0);
}

// The plain model: all that was counted, in the order of the seconds it was counted in.
struct list {
    struct {
        int64_t second;
        uint32_t count;
    } events[EVENTS];
    size_t count;
    int64_t newest; // second
};

static void list_add(struct list *list, int64_t now_us, uint32_t count)
{
    int64_t second = now_us / second_us;
    list->newest = second > list->newest ? second : list->newest;
    list->events[list->count].second = list->newest;
    list->events[list->count].count = count;
    list->count++;
}

// Of the seconds in [from, to).
static uint64_t list_sum(const struct list *list, int64_t from, int64_t to)
{
    uint64_t sum = 0;
    for (size_t i = list->count; i > 0 && list->events[i - 1].second >= from; i--) {
        sum += list->events[i - 1].second < to ? list->events[i - 1].count : 0;
    }
    return sum;
}

static void compare(const struct meter *meter, const struct list *list, int64_t now_us)
{
    int64_t second = now_us / second_us;
    second = second > list->newest ? second : list->newest;
    int64_t span = second - second % 15;
    assert_counts(meter, now_us, list_sum(list, second - 1, second),
                  list_sum(list, second - 60, second), list_sum(list, span - 900, span));
}

// How far time goes from one event to the next.
static int64_t random_step_us(struct random *random, uint64_t pace_us)
{
    switch (random_below(random, 200)) {
    case 0: // a silence around a minute
        return (int64_t)random_below(random, (uint64_t)(130 * second_us));
    case 1: // one around fifteen
        return (int64_t)(random_below(random, 40) + 880) * second_us;
    case 2: // a very long one
        return (int64_t)random_below(random, (uint64_t)(100000 * second_us));
    case 3: // back a little
        return -(int64_t)random_below(random, (uint64_t)(3 * second_us));
    case 4: // back a lot, and forth again with the next silence
        return -(int64_t)random_below(random, (uint64_t)(300 * second_us));
    default:
        return (int64_t)random_below(random, pace_us);
    }
}

static void run_against_list(struct random *random, int64_t now_us, uint64_t pace_us)
{
    struct list *list = calloc(1, sizeof(*list));
    assert_non_null(list);
    struct meter meter = { 0 };
    while (list->count < EVENTS) {
        int64_t step_us = random_step_us(random, pace_us);
        now_us = now_us + step_us > 0 ? now_us + step_us : 0;
        uint32_t count = 1 + (uint32_t)random_below(random, 5);
        meter_add(&meter, now_us, count);
        list_add(list, now_us, count);
        if (random_below(random, 4) == 0) {
            int64_t other_us = now_us + random_step_us(random, (uint64_t)(20 * second_us));
            compare(&meter, list, now_us);
            compare(&meter, list, other_us > 0 ? other_us : 0);
        }
    }
    free(list);
}

static void test_meter__agrees_with_a_list_of_all_events(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    static const uint64_t paces_us[] = { 200000, 2000000, 10000000, 50000000 };
    for (size_t i = 0; TEST_ROW(i, paces_us); i++) {
        run_against_list(&random, 0, paces_us[i]);
        run_against_list(&random, (int64_t)random_below(&random, INT64_MAX / 2), paces_us[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meter__an_empty_one_reads_zero),
        cmocka_unit_test(test_meter__a_count_enters_and_leaves_each_window_in_time),
        cmocka_unit_test(test_meter__time_zero_is_a_time),
        cmocka_unit_test(test_meter__a_steady_rate_reads_as_itself),
        cmocka_unit_test(test_meter__an_earlier_count_goes_to_the_newest_second),
        cmocka_unit_test(test_meter__an_earlier_reading_is_one_at_the_newest_second),
        cmocka_unit_test(test_meter__the_last_time_there_is_can_be_counted_at),
        cmocka_unit_test(test_meter__a_second_that_overflows_harms_no_other),
        cmocka_unit_test(test_meter__agrees_with_a_list_of_all_events),
    };
    return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
