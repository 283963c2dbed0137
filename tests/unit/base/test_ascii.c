// SPDX-License-Identifier: MIT
#include "base/ascii.h"

#include "test.h"

static void test_ascii__only_letters_have_a_case(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        bool capital = i >= 'A' && i <= 'Z', small = i >= 'a' && i <= 'z';
        assert_int_equal(ascii_lower(c), capital ? (char)(i + 32) : c);
        assert_int_equal(ascii_upper(c), small ? (char)(i - 32) : c);
    }
}

static void test_ascii__hexadecimal_digits_have_values(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    for (int i = 0; i < 256; i++) {
        const char *found = i ? strchr(digits, i) : NULL;
        assert_int_equal(ascii_hex_digit((char)i), found ? (int)((found - digits) % 16) : -1);
    }
}

static void test_ascii__texts_are_equal_but_for_the_case(void **state)
{
    (void)state;
    assert_true(ascii_equal(SLICE("Q.Put"), SLICE("q.PUT")));
    assert_true(ascii_equal(SLICE_EMPTY, SLICE("")));
    assert_false(ascii_equal(SLICE("put"), SLICE("pu")));
    assert_false(ascii_equal(SLICE("put"), SLICE("pur")));
    assert_false(ascii_equal(SLICE("[put"), SLICE("{put"))); // 32 apart, and no letters
    assert_false(ascii_equal(SLICE("\xc4"), SLICE("\xe4"))); // letters in other sets
    assert_false(ascii_equal(SLICE("a\0b"), SLICE("a\0c")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii__only_letters_have_a_case),
        cmocka_unit_test(test_ascii__hexadecimal_digits_have_values),
        cmocka_unit_test(test_ascii__texts_are_equal_but_for_the_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
