// SPDX-License-Identifier: MIT
#include "base/slice.h"

#include "test.h"

#include <stdio.h>

static void test_slice__a_literal_keeps_its_zero_bytes(void **state)
{
    (void)state;
    struct slice slice = SLICE("a\0b");
    assert_int_equal(slice.size, 3);
    assert_int_equal(slice.data[2], 'b');
    assert_int_equal(SLICE("").size, 0);
    assert_int_equal(SLICE_EMPTY.size, 0);
    assert_int_equal(slice_from_cstr("queue").size, 5);
}

static void test_slice__equal_compares_size_and_bytes(void **state)
{
    (void)state;
    assert_true(slice_equal(SLICE("abc"), slice_from_cstr("abc")));
    assert_true(slice_equal(SLICE_EMPTY, SLICE_EMPTY));
    assert_true(slice_equal(SLICE_EMPTY, SLICE("")));
    assert_true(slice_equal(SLICE("a\0b"), SLICE("a\0b")));
    assert_false(slice_equal(SLICE("a\0b"), SLICE("a\0c")));
    assert_false(slice_equal(SLICE("abc"), SLICE("abd")));
    assert_false(slice_equal(SLICE("abc"), SLICE("ab")));
    assert_false(slice_equal(SLICE_EMPTY, SLICE("a")));
}

static void test_slice__compare_is_the_order_of_bytes_with_the_prefix_first(void **state)
{
    (void)state;
    const struct slice in_order[] = {
        SLICE_EMPTY, SLICE("\0"), SLICE("\0\0"), SLICE("A"),    SLICE("a"),    SLICE("a\0"),
        SLICE("aa"), SLICE("ab"), SLICE("\x7f"), SLICE("\x80"), SLICE("\xff"),
    };
    const size_t count = sizeof(in_order) / sizeof(in_order[0]);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int order = slice_compare(in_order[i], in_order[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            assert_int_equal(slice_equal(in_order[i], in_order[j]), i == j);
        }
    }
    assert_int_equal(slice_compare(SLICE_EMPTY, SLICE("")), 0);
}

static void test_slice__starts_and_ends_with(void **state)
{
    (void)state;
    static const struct {
        const char *whole;
        const char *part;
        bool starts;
        bool ends;
    } cases[] = {
        { "", "", true, true },       { "a", "", true, true },
        { "", "a", false, false },    { "abc", "abc", true, true },
        { "abc", "ab", true, false }, { "abc", "bc", false, true },
        { "abc", "b", false, false }, { "abc", "abcd", false, false },
        { "abab", "ab", true, true }, { "bc", "abc", false, false },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].whole); i++) {
        struct slice whole = slice_from_cstr(cases[i].whole);
        struct slice part = slice_from_cstr(cases[i].part);
        assert_int_equal(slice_starts_with(whole, part), cases[i].starts);
        assert_int_equal(slice_ends_with(whole, part), cases[i].ends);
    }
    assert_true(slice_starts_with(SLICE_EMPTY, SLICE_EMPTY));
    assert_true(slice_ends_with(SLICE_EMPTY, SLICE_EMPTY));
    assert_true(slice_ends_with(SLICE("a"), SLICE_EMPTY));
    assert_false(slice_ends_with(SLICE_EMPTY, SLICE("a")));
}

static void test_slice__sub_is_cut_to_what_is_there(void **state)
{
    (void)state;
    static const struct {
        size_t start;
        size_t size;
        const char *wanted;
    } cases[] = {
        { 0, 5, "queue" },
        { 0, 6, "queue" },
        { 0, SIZE_MAX, "queue" },
        { 0, 0, "" },
        { 1, 2, "ue" },
        { 3, 2, "ue" },
        { 3, 3, "ue" },
        { 4, SIZE_MAX, "e" },
        { 5, 0, "" },
        { 5, 1, "" },
        { 6, 1, "" },
        { SIZE_MAX, 1, "" },
        { SIZE_MAX, SIZE_MAX, "" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].wanted); i++) {
        assert_slice_equal(slice_sub(SLICE("queue"), cases[i].start, cases[i].size),
                           cases[i].wanted);
        assert_int_equal(slice_sub(SLICE_EMPTY, cases[i].start, cases[i].size).size, 0);
    }
}

static void test_slice__prints_its_own_bytes_and_no_more(void **state)
{
    (void)state;
    char text[32];
    struct slice part = slice_make("queues", 5);
    assert_int_equal(snprintf(text, sizeof(text), "<%.*s>", SLICE_PRINT(part)), 7);
    assert_string_equal(text, "<queue>");
    assert_int_equal(snprintf(text, sizeof(text), "<%.*s>", SLICE_PRINT(SLICE_EMPTY)), 2);
    assert_string_equal(text, "<>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice__a_literal_keeps_its_zero_bytes),
        cmocka_unit_test(test_slice__equal_compares_size_and_bytes),
        cmocka_unit_test(test_slice__compare_is_the_order_of_bytes_with_the_prefix_first),
        cmocka_unit_test(test_slice__starts_and_ends_with),
        cmocka_unit_test(test_slice__sub_is_cut_to_what_is_there),
        cmocka_unit_test(test_slice__prints_its_own_bytes_and_no_more),
    };
    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
