// SPDX-License-Identifier: MIT
#include "base/checked.h"

#include "test.h"

#include <stdint.h>

static void test_checked__sizes_fit_or_are_refused_and_nothing_changes(void **state)
{
    (void)state;
    static const struct {
        size_t a, b;
        bool fits;
        size_t wanted;
    } cases[] = {
        { 0, SIZE_MAX, true, 0 },
        { SIZE_MAX, 0, true, 0 },
        { 1, SIZE_MAX, true, SIZE_MAX },
        { 6, 7, true, 42 },
        { 2, SIZE_MAX / 2, true, SIZE_MAX - 1 },
        { 2, SIZE_MAX / 2 + 1, false, 0 },
        { SIZE_MAX, 2, false, 0 },
        { SIZE_MAX, SIZE_MAX, false, 0 },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        size_t out = 77;
        assert_int_equal(checked_size_mul(cases[i].a, cases[i].b, &out), cases[i].fits);
        assert_int_equal(out, cases[i].fits ? cases[i].wanted : 77);
    }
}

static void test_checked__an_operand_may_be_the_result(void **state)
{
    (void)state;
    size_t size = 21;
    assert_true(checked_size_mul(size, 2, &size));
    assert_int_equal(size, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checked__sizes_fit_or_are_refused_and_nothing_changes),
        cmocka_unit_test(test_checked__an_operand_may_be_the_result),
    };
    return cmocka_run_group_tests_name("checked", tests, NULL, NULL);
}
