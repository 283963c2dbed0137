// SPDX-License-Identifier: MIT
#include "base/histogram.h"

#include "random.h"
#include "test.h"

#include <stdlib.h>

enum {
    VALUES = 3000,
};

// Where the last bucket begins.
static const int64_t last_begins = INT64_C(7) << 42;

static int64_t bucket_begins(size_t bucket)
{
    return bucket == 0 ? 0 : histogram_bound(bucket - 1) + 1;
}

static void test_histogram__values_fall_into_their_buckets(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        size_t bucket;
        int64_t bound;
    } cases[] = {
        { INT64_MIN, 0, 0 },
        { -1, 0, 0 },
        { 0, 0, 0 },
        { 1, 1, 1 },
        { 2, 2, 2 },
        { 3, 3, 3 },
        { 4, 4, 4 },
        { 5, 5, 5 },
        { 6, 6, 6 },
        { 7, 7, 7 },
        { 8, 8, 9 },
        { 9, 8, 9 },
        { 10, 9, 11 },
        { 11, 9, 11 },
        { 12, 10, 13 },
        { 14, 11, 15 },
        { 15, 11, 15 },
        { 16, 12, 19 },
        { 19, 12, 19 },
        { 20, 13, 23 },
        { 31, 15, 31 },
        { 32, 16, 39 },
        { 1000, 35, 1023 },
        { 1023, 35, 1023 },
        { 1024, 36, 1279 },
        { 1000000, 75, 1048575 },
        { (INT64_C(6) << 42) - 1, 173, (INT64_C(6) << 42) - 1 },
        { INT64_C(6) << 42, 174, (INT64_C(7) << 42) - 1 },
        { (INT64_C(7) << 42) - 1, 174, (INT64_C(7) << 42) - 1 },
        { INT64_C(7) << 42, 175, INT64_MAX },
        { INT64_C(1) << 45, 175, INT64_MAX },
        { INT64_MAX, 175, INT64_MAX },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_int_equal(histogram_bucket(cases[i].value), cases[i].bucket);
        assert_int_equal(histogram_bound(cases[i].bucket), cases[i].bound);
    }
}

static void test_histogram__each_power_of_two_begins_four_buckets(void **state)
{
    (void)state;
    for (unsigned power = 2; power < 44; power++) {
        int64_t value = INT64_C(1) << power;
        size_t bucket = 4 * ((size_t)power - 1);
        assert_int_equal(histogram_bucket(value - 1), bucket - 1);
        assert_int_equal(histogram_bound(bucket - 1), value - 1);
        for (int64_t quarter = 0; quarter < 4; quarter++) {
            int64_t begins = value + quarter * (value / 4);
            assert_int_equal(histogram_bucket(begins), bucket + (size_t)quarter);
            assert_int_equal(bucket_begins(bucket + (size_t)quarter), begins);
        }
    }
    for (unsigned power = 45; power < 63; power++) {
        assert_int_equal(histogram_bucket(INT64_C(1) << power), HISTOGRAM_BUCKETS - 1);
    }
}

static void test_histogram__buckets_follow_each_other_and_are_narrow(void **state)
{
    (void)state;
    for (size_t bucket = 0; bucket + 1 < HISTOGRAM_BUCKETS; bucket++) {
        int64_t begins = bucket_begins(bucket);
        int64_t bound = histogram_bound(bucket);
        assert_true(begins <= bound);
        assert_true(bound - begins <= begins / 4);
        assert_int_equal(histogram_bucket(begins), bucket);
        assert_int_equal(histogram_bucket(bound), bucket);
        assert_int_equal(histogram_bucket(bound + 1), bucket + 1);
    }
    assert_int_equal(bucket_begins(HISTOGRAM_BUCKETS - 1), last_begins);
}

static void test_histogram__an_empty_one_has_zero_quantiles(void **state)
{
    (void)state;
    const struct histogram histogram = { 0 };
    assert_int_equal(histogram_quantile(&histogram, 0), 0);
    assert_int_equal(histogram_quantile(&histogram, 500), 0);
    assert_int_equal(histogram_quantile(&histogram, 1000), 0);
}

static void test_histogram__one_value_is_every_quantile(void **state)
{
    (void)state;
    static const int64_t values[] = { 0, 1, 7, 8, 1000, INT64_C(1) << 44, INT64_MAX };
    for (size_t i = 0; TEST_ROW(i, values); i++) {
        struct histogram histogram = { 0 };
        histogram_add(&histogram, values[i]);
        for (unsigned per_mille = 0; per_mille <= 1001; per_mille++) {
            assert_int_equal(histogram_quantile(&histogram, per_mille), values[i]);
        }
    }
}

static void test_histogram__a_value_below_zero_counts_as_zero(void **state)
{
    (void)state;
    struct histogram histogram = { 0 };
    histogram_add(&histogram, -5);
    histogram_add(&histogram, INT64_MIN);
    assert_int_equal(histogram.count, 2);
    assert_int_equal(histogram.buckets[0], 2);
    assert_int_equal(histogram.sum, 0);
    assert_int_equal(histogram.max, 0);
}

static void test_histogram__a_rank_does_not_overflow(void **state)
{
    (void)state;
    struct histogram histogram = { .count = UINT64_MAX, .max = 10 };
    histogram.buckets[5] = UINT64_MAX / 2 + 1;
    histogram.buckets[9] = UINT64_MAX / 2;
    assert_int_equal(histogram_quantile(&histogram, 0), 5);
    assert_int_equal(histogram_quantile(&histogram, 500), 5);
    assert_int_equal(histogram_quantile(&histogram, 501), 10);
    assert_int_equal(histogram_quantile(&histogram, 1000), 10);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void compare_with_sorted(const struct histogram *histogram, const int64_t *sorted,
                                size_t count)
{
    for (unsigned per_mille = 0; per_mille <= 1000; per_mille++) {
        // The first position that has enough values up to it.
        size_t rank = 1;
        while (rank * 1000 < count * per_mille) {
            rank++;
        }
        int64_t wanted = sorted[rank - 1];
        int64_t given = histogram_quantile(histogram, per_mille);
        assert_true(given >= wanted);
        assert_true(given <= sorted[count - 1]);
        assert_true(given - wanted <= wanted / 4 || wanted >= last_begins);
    }
    assert_int_equal(histogram_quantile(histogram, 1000), sorted[count - 1]);
}

static void test_histogram__quantiles_are_near_those_of_the_sorted_values(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    static int64_t sorted[VALUES];
    for (int round = 0; round < 60; round++) {
        struct histogram histogram = { 0 };
        size_t count = 1 + random_below(&random, round % 2 ? VALUES : 20);
        // From values that all have a bucket of their own to values of every size.
        unsigned bits = 1 + (unsigned)random_below(&random, 63);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            unsigned size = 1 + (unsigned)random_below(&random, bits);
            sorted[i] = (int64_t)(random_u64(&random) >> (64 - size));
            sum += (uint64_t)sorted[i];
            histogram_add(&histogram, sorted[i]);
        }
        qsort(sorted, count, sizeof(sorted[0]), compare_i64);
        assert_int_equal(histogram.count, count);
        assert_true(histogram.sum == sum);
        assert_int_equal(histogram.max, sorted[count - 1]);
        compare_with_sorted(&histogram, sorted, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram__values_fall_into_their_buckets),
        cmocka_unit_test(test_histogram__each_power_of_two_begins_four_buckets),
        cmocka_unit_test(test_histogram__buckets_follow_each_other_and_are_narrow),
        cmocka_unit_test(test_histogram__an_empty_one_has_zero_quantiles),
        cmocka_unit_test(test_histogram__one_value_is_every_quantile),
        cmocka_unit_test(test_histogram__a_value_below_zero_counts_as_zero),
        cmocka_unit_test(test_histogram__a_rank_does_not_overflow),
        cmocka_unit_test(test_histogram__quantiles_are_near_those_of_the_sorted_values),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
