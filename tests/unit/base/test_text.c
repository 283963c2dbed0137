// SPDX-License-Identifier: MIT
#include "base/text.h"

#include "test.h"

static void test_text__is_utf8_without_control_characters(void **state)
{
    (void)state;
    static const struct {
        struct slice bytes;
        bool plain;
    } cases[] = {
        { { "", 0 }, true },
        { { "a b~", 4 }, true },
        { { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xb3", 9 }, true },
        { { "\xc2\xa0", 2 }, true },
        { { "a\0b", 3 }, false },
        { { "\x1f", 1 }, false },
        { { "a\n", 2 }, false },
        { { "\x7f", 1 }, false },
        { { "\xc2\x80", 2 }, false },
        { { "\xc2\x9f", 2 }, false },
        { { "\xff", 1 }, false },
        { { "\xe2\x82", 2 }, false },
        { { "\xc0\x80", 2 }, false },         // a zero, too long
        { { "\xed\xa0\x80", 3 }, false },     // half of a surrogate pair
        { { "\xf4\x90\x80\x80", 4 }, false }, // beyond U+10FFFF
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_int_equal(text_is_plain(cases[i].bytes), cases[i].plain);
    }
}

// At each place of a text, and of its parts of eight.
static void test_text__each_byte_is_looked_at_wherever_it_stands(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        for (size_t place = 0; place < 20; place++) {
            char text[] = "abcdefgh~ !ABCDEFGHI";
            text[place] = (char)byte;
            assert_int_equal(text_is_plain(slice_make(text, 20)), byte >= ' ' && byte < 0x7f);
        }
    }
}

static void test_text__a_character_has_its_size(void **state)
{
    (void)state;
    assert_int_equal(text_character(SLICE("ab")), 1);
    assert_int_equal(text_character(SLICE("\xc3\xa4x")), 2);
    assert_int_equal(text_character(SLICE("\xf0\x9f\x90\xb3")), 4);
    assert_int_equal(text_character(SLICE("\tx")), 0);
    assert_int_equal(text_character(SLICE_EMPTY), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__is_utf8_without_control_characters),
        cmocka_unit_test(test_text__each_byte_is_looked_at_wherever_it_stands),
        cmocka_unit_test(test_text__a_character_has_its_size),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
