// SPDX-License-Identifier: MIT
#include "cli/top/keys.h"

#include "test.h"

#include <string.h>

static void assert_keys(const char *bytes, const int *wanted)
{
    struct keys keys = { 0 };
    keys_add(&keys, bytes, strlen(bytes));
    for (; *wanted; wanted++) {
        assert_int_equal(keys_next(&keys, true), *wanted);
    }
    assert_int_equal(keys_next(&keys, true), KEY_NONE);
    assert_int_equal(keys.count, 0);
}

#define ASSERT_KEYS(bytes, ...) assert_keys(bytes, (const int[]){ __VA_ARGS__, 0 })

static void test_keys__letters_and_sequences(void **state)
{
    (void)state;
    ASSERT_KEYS("jq", 'j', 'q');
    ASSERT_KEYS("\033[A\033[B\033OC\033OD", KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT);
    ASSERT_KEYS("\033[5~\033[6~\033[H\033[F\033[1~\033[4~", KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
                KEY_END, KEY_HOME, KEY_END);
    ASSERT_KEYS("\t\033[Z\r\n\177\b", KEY_TAB, KEY_BACK_TAB, KEY_ENTER, KEY_ENTER, KEY_BACKSPACE,
                KEY_BACKSPACE);
    ASSERT_KEYS("\033", KEY_ESCAPE);
    ASSERT_KEYS("\033q", KEY_ESCAPE, 'q');
    ASSERT_KEYS("\033\033[A", KEY_ESCAPE, KEY_UP);
}

static void test_keys__sequences_that_mean_nothing_are_passed_over_whole(void **state)
{
    (void)state;
    ASSERT_KEYS("\033[1;5Pc\033[200~y\033[?62;4cj", 'c', 'y', 'j');
    ASSERT_KEYS("x\033[1;5;", 'x');
}

static void test_keys__a_sequence_may_come_in_pieces(void **state)
{
    (void)state;
    struct keys keys = { 0 };
    keys_add(&keys, "\033", 1);
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
    keys_add(&keys, "[", 1);
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
    keys_add(&keys, "Bj", 2);
    assert_int_equal(keys_next(&keys, false), KEY_DOWN);
    assert_int_equal(keys_next(&keys, false), 'j');
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
}

static void test_keys__more_than_there_is_room_for_does_no_harm(void **state)
{
    (void)state;
    struct keys keys = { 0 };
    char many[300];
    memset(many, '1', sizeof(many));
    many[0] = '\033';
    many[1] = '[';
    keys_add(&keys, many, sizeof(many));
    keys_add(&keys, many, sizeof(many));
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
    assert_int_equal(keys_next(&keys, true), KEY_NONE);
    keys_add(&keys, "k", 1);
    assert_int_equal(keys_next(&keys, false), 'k');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys__letters_and_sequences),
        cmocka_unit_test(test_keys__sequences_that_mean_nothing_are_passed_over_whole),
        cmocka_unit_test(test_keys__a_sequence_may_come_in_pieces),
        cmocka_unit_test(test_keys__more_than_there_is_room_for_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
