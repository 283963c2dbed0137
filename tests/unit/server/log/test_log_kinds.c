// SPDX-License-Identifier: MIT
#include "server/log/log_kinds.h"

#include "test.h"

#include <stdio.h>

#define SECOND ((int64_t)1000000)

static struct log_kinds kinds;
static const struct log_rate ten = { .rate = 10, .burst = 20 };

static int set_up(void **state)
{
    (void)state;
    memset(&kinds, 0, sizeof(kinds));
    return 0;
}

static int admitted(struct log_kind *kind, int lines, int64_t now_us)
{
    int count = 0;
    for (int i = 0; i < lines; i++) {
        count += log_kind_admit(kind, &ten, now_us);
    }
    return count;
}

static void test_log_kinds__a_burst_and_then_the_rate(void **state)
{
    (void)state;
    struct log_kind *kind = log_kinds_find(&kinds, "a");
    assert_int_equal(admitted(kind, 100, 5 * SECOND), 20);
    assert_int_equal(kind->suppressed, 80);
    assert_int_equal(admitted(kind, 100, 5 * SECOND + SECOND / 10), 1);
    assert_int_equal(admitted(kind, 100, 6 * SECOND), 9);
    assert_int_equal(admitted(kind, 100, 60 * SECOND), 20);
    assert_int_equal(kind->suppressed_total, 400 - 50);
}

static void test_log_kinds__each_kind_has_its_own_rate(void **state)
{
    (void)state;
    char same[] = "a";
    assert_int_equal(admitted(log_kinds_find(&kinds, "a"), 100, SECOND), 20);
    assert_int_equal(admitted(log_kinds_find(&kinds, "b"), 100, SECOND), 20);
    assert_int_equal(admitted(log_kinds_find(&kinds, same), 100, SECOND), 0);
}

static void test_log_kinds__without_a_rate_all_are_admitted(void **state)
{
    (void)state;
    const struct log_rate none = { 0, 1 };
    struct log_kind *kind = log_kinds_find(&kinds, "a");
    for (int i = 0; i < 1000; i++) {
        assert_true(log_kind_admit(kind, &none, SECOND));
    }
    assert_int_equal(log_kind_due_us(kind), INT64_MAX);
}

static void test_log_kinds__what_was_suppressed_is_due_a_second_after_the_first(void **state)
{
    (void)state;
    struct log_kind *kind = log_kinds_find(&kinds, "a");
    assert_int_equal(admitted(kind, 20, SECOND), 20);
    assert_int_equal(log_kind_due_us(kind), INT64_MAX);
    assert_int_equal(admitted(kind, 1, SECOND + 1), 0);
    assert_int_equal(admitted(kind, 1, SECOND + 2), 0);
    assert_int_equal(log_kind_due_us(kind), SECOND + 1 + LOG_SUMMARY_US);
}

static void test_log_kinds__kinds_without_room_share_one(void **state)
{
    (void)state;
    static char names[LOG_KINDS_MAX + 10][16];
    for (int i = 0; i < LOG_KINDS_MAX + 10; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "kind %d", i);
        struct log_kind *kind = log_kinds_find(&kinds, names[i]);
        assert_ptr_equal(log_kinds_find(&kinds, names[i]), kind);
        assert_string_equal(kind->what, i < LOG_KINDS_MAX - 1 ? names[i] : "other");
    }
    assert_int_equal(kinds.count, LOG_KINDS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_log_kinds__a_burst_and_then_the_rate, set_up),
        cmocka_unit_test_setup(test_log_kinds__each_kind_has_its_own_rate, set_up),
        cmocka_unit_test_setup(test_log_kinds__without_a_rate_all_are_admitted, set_up),
        cmocka_unit_test_setup(test_log_kinds__what_was_suppressed_is_due_a_second_after_the_first,
                               set_up),
        cmocka_unit_test_setup(test_log_kinds__kinds_without_room_share_one, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
