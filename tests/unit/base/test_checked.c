// SPDX-License-Identifier: MIT
#include "base/checked.h"

#include "random.h"
#include "test.h"

enum {
    ROUNDS = 20000,
};

static void test_checked__sizes_fit_or_are_refused_and_nothing_changes(void **state)
{
    (void)state;
    static const struct {
        bool (*operation)(size_t a, size_t b, size_t *out);
        size_t a;
        size_t b;
        bool fits;
        size_t wanted;
    } cases[] = {
        { checked_size_add, 0, 0, true, 0 },
        { checked_size_add, 2, 3, true, 5 },
        { checked_size_add, SIZE_MAX, 0, true, SIZE_MAX },
        { checked_size_add, SIZE_MAX - 1, 1, true, SIZE_MAX },
        { checked_size_add, SIZE_MAX, 1, false, 0 },
        { checked_size_add, 1, SIZE_MAX, false, 0 },
        { checked_size_add, SIZE_MAX, SIZE_MAX, false, 0 },
        { checked_size_add, SIZE_MAX / 2 + 1, SIZE_MAX / 2, true, SIZE_MAX },
        { checked_size_add, SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, false, 0 },
        { checked_size_mul, 0, SIZE_MAX, true, 0 },
        { checked_size_mul, SIZE_MAX, 0, true, 0 },
        { checked_size_mul, 1, SIZE_MAX, true, SIZE_MAX },
        { checked_size_mul, 6, 7, true, 42 },
        { checked_size_mul, 2, SIZE_MAX / 2, true, SIZE_MAX - 1 },
        { checked_size_mul, 2, SIZE_MAX / 2 + 1, false, 0 },
        { checked_size_mul, SIZE_MAX, 2, false, 0 },
        { checked_size_mul, SIZE_MAX, SIZE_MAX, false, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t out = 77;
        assert_int_equal(cases[i].operation(cases[i].a, cases[i].b, &out), cases[i].fits);
        assert_int_equal(out, cases[i].fits ? cases[i].wanted : 77);
    }
}

static void test_checked__signed_results_fit_or_are_refused_and_nothing_changes(void **state)
{
    (void)state;
    static const struct {
        bool (*operation)(int64_t a, int64_t b, int64_t *out);
        int64_t a;
        int64_t b;
        bool fits;
        int64_t wanted;
    } cases[] = {
        { checked_i64_add, 2, 3, true, 5 },
        { checked_i64_add, -2, 3, true, 1 },
        { checked_i64_add, INT64_MAX, 0, true, INT64_MAX },
        { checked_i64_add, INT64_MAX, 1, false, 0 },
        { checked_i64_add, INT64_MAX, INT64_MIN, true, -1 },
        { checked_i64_add, INT64_MIN, -1, false, 0 },
        { checked_i64_add, INT64_MIN, INT64_MIN, false, 0 },
        { checked_i64_sub, 2, 3, true, -1 },
        { checked_i64_sub, INT64_MIN, 0, true, INT64_MIN },
        { checked_i64_sub, INT64_MIN, 1, false, 0 },
        { checked_i64_sub, INT64_MAX, -1, false, 0 },
        { checked_i64_sub, 0, INT64_MIN, false, 0 },
        { checked_i64_sub, -1, INT64_MIN, true, INT64_MAX },
        { checked_i64_sub, INT64_MIN, INT64_MIN, true, 0 },
        { checked_i64_mul, -6, 7, true, -42 },
        { checked_i64_mul, INT64_MIN, 1, true, INT64_MIN },
        { checked_i64_mul, INT64_MIN, -1, false, 0 },
        { checked_i64_mul, -1, INT64_MIN, false, 0 },
        { checked_i64_mul, INT64_MAX, -1, true, -INT64_MAX },
        { checked_i64_mul, INT64_MAX, 2, false, 0 },
        { checked_i64_mul, INT64_MIN / 2, 2, true, INT64_MIN },
        { checked_i64_mul, INT64_MIN / 2, -2, false, 0 },
        { checked_i64_mul, 0, INT64_MIN, true, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t out = 77;
        assert_int_equal(cases[i].operation(cases[i].a, cases[i].b, &out), cases[i].fits);
        assert_int_equal(out, cases[i].fits ? cases[i].wanted : 77);
    }
}

static void test_checked__an_operand_may_be_the_result(void **state)
{
    (void)state;
    size_t size = 20;
    assert_true(checked_size_add(size, 1, &size));
    assert_true(checked_size_mul(size, 2, &size));
    assert_int_equal(size, 42);
    int64_t value = INT64_MAX;
    assert_false(checked_i64_add(value, 1, &value));
    assert_int_equal(value, INT64_MAX);
}

// Of any size, both signs.
static int64_t random_i64(struct random *random)
{
    int64_t value = (int64_t)random_u64(random);
    return value / (INT64_C(1) << random_below(random, 63));
}

static void test_checked__agrees_with_wider_arithmetic(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t a = random_i64(&random);
        int64_t b = random_i64(&random);
        __extension__ const __int128 wanted[3] = { (__int128)a + b, (__int128)a - b,
                                                   (__int128)a * b };
        bool (*const operations[3])(
            int64_t, int64_t, int64_t *) = { checked_i64_add, checked_i64_sub, checked_i64_mul };
        for (int j = 0; j < 3; j++) {
            int64_t out = 77;
            bool fits = wanted[j] >= INT64_MIN && wanted[j] <= INT64_MAX;
            assert_int_equal(operations[j](a, b, &out), fits);
            assert_int_equal(out, fits ? (int64_t)wanted[j] : 77);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checked__sizes_fit_or_are_refused_and_nothing_changes),
        cmocka_unit_test(test_checked__signed_results_fit_or_are_refused_and_nothing_changes),
        cmocka_unit_test(test_checked__an_operand_may_be_the_result),
        cmocka_unit_test(test_checked__agrees_with_wider_arithmetic),
    };
    return cmocka_run_group_tests_name("checked", tests, NULL, NULL);
}
