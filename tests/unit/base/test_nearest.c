// SPDX-License-Identifier: MIT
#include "base/nearest.h"

#include "test.h"

#include <stdint.h>

static void test_nearest__a_distance_counts_changes_insertions_and_removals(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {
        { "", "", 0 },
        { "", "abc", 3 },
        { "abc", "", 3 },
        { "same", "same", 0 },
        { "Q.PUT", "q.put", 0 },
        { "kitten", "sitting", 3 },
        { "sunday", "saturday", 3 },
        { "ab", "ba", 2 },
        { "abc", "xyz", 3 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].a); i++) {
        struct slice a = slice_from_cstr(cases[i].a), b = slice_from_cstr(cases[i].b);
        assert_int_equal(edit_distance(a, b), cases[i].distance);
        assert_int_equal(edit_distance(b, a), cases[i].distance);
    }
}

static void test_nearest__long_words_are_not_compared(void **state)
{
    (void)state;
    char word[65];
    memset(word, 'x', sizeof(word));
    struct slice longest = slice_make(word, 64), longer = slice_make(word, 65);
    assert_int_equal(edit_distance(longest, SLICE_EMPTY), 64);
    assert_true(edit_distance(longer, SLICE("x")) == SIZE_MAX);
    assert_true(edit_distance(SLICE("x"), longer) == SIZE_MAX);
    struct nearest nearest = nearest_to(longer);
    nearest_offer(&nearest, longest);
    assert_int_equal(nearest.name.size, 0);
}

static struct slice nearest_of(const char *word)
{
    struct nearest nearest = nearest_to(slice_from_cstr(word));
    nearest_offer(&nearest, SLICE("heartbeat"));
    nearest_offer(&nearest, SLICE("max-jobs"));
    nearest_offer(&nearest, SLICE("max-tags"));
    nearest_offer(&nearest, SLICE("on"));
    return nearest.name;
}

static void test_nearest__a_name_must_be_near_enough(void **state)
{
    (void)state;
    assert_true(slice_equal(nearest_of("hartbeat"), SLICE("heartbeat")));
    assert_true(slice_equal(nearest_of("hrtbet"), SLICE("heartbeat")));
    assert_int_equal(nearest_of("hrtbe").size, 0); // four bytes away
    assert_true(slice_equal(nearest_of("max-job"), SLICE("max-jobs")));
    assert_true(slice_equal(nearest_of("max-xxxs"), SLICE("max-jobs"))); // the first of two
    assert_true(slice_equal(nearest_of("of"), SLICE("on")));
    assert_int_equal(nearest_of("xy").size, 0); // more than half of it
    assert_int_equal(nearest_of("").size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest__a_distance_counts_changes_insertions_and_removals),
        cmocka_unit_test(test_nearest__long_words_are_not_compared),
        cmocka_unit_test(test_nearest__a_name_must_be_near_enough),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
