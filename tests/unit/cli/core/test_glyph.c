// SPDX-License-Identifier: MIT
#include "cli/core/glyph.h"

#include "test.h"

#include <string.h>

static void test_glyph__text_that_may_be_shown_comes_out_as_it_is(void **state)
{
    (void)state;
    const char *text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
    assert_int_equal(glyph_next(&text), 'a');
    assert_int_equal(glyph_next(&text), 0xE4);
    assert_int_equal(glyph_next(&text), 0x20AC);
    assert_int_equal(glyph_next(&text), 0x1F600);
    assert_int_equal(glyph_next(&text), 0);
    assert_int_equal(glyph_next(&text), 0);
}

static void test_glyph__what_a_terminal_would_act_upon_is_odd(void **state)
{
    (void)state;
    static const char right_to_left[] = { '\xE2', '\x80', '\xAE', 0 };
    static const char isolate[] = { '\xE2', '\x81', '\xA6', 0 };
    static const char *const texts[] = {
        "\x1B",         "\x07",  "\n", "\r", "\t", "\x7F", "\x01",
        "\xC2\x9B", // a control sequence introducer in one character
        "\xC2\x85", // next line
        right_to_left,  isolate,
        "\xE2\x80\xA8", // line separator
        "\xEF\xBF\xBF", // no character
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        const char *text = texts[i];
        assert_int_equal(glyph_next(&text), GLYPH_ODD);
        assert_int_equal(*text, 0);
    }
}

static void test_glyph__broken_utf8_is_odd_and_the_text_goes_on(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\xFFz",             // never a byte of UTF-8
        "\x80z",             // a byte that should follow another
        "\xC3z",             // cut off
        "\xE2\x82z",         // cut off later
        "\xC0\xAFz",         // longer than need be
        "\xE0\x80\xAFz",     // the same
        "\xED\xA0\x80z",     // half of a pair
        "\xF4\x90\x80\x80z", // beyond the last character
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        const char *text = texts[i];
        uint32_t glyph = glyph_next(&text);
        assert_int_equal(glyph, GLYPH_ODD);
        while (glyph == GLYPH_ODD) {
            glyph = glyph_next(&text);
        }
        assert_int_equal(glyph, 'z');
    }
    const char *end = "\xE2\x82";
    assert_int_equal(glyph_next(&end), GLYPH_ODD);
    assert_int_equal(glyph_next(&end), 0);
}

static void test_glyph__widths(void **state)
{
    (void)state;
    assert_int_equal(glyph_text_width(""), 0);
    assert_int_equal(glyph_text_width("mail"), 4);
    assert_int_equal(glyph_text_width("\xE6\x97\xA5\xE6\x9C\xAC"), 4);     // two wide ones
    assert_int_equal(glyph_text_width("e\xCC\x81"), 1);                    // with an accent
    assert_int_equal(glyph_text_width("\xF0\x9F\x98\x80\xEF\xB8\x8F"), 2); // as a picture
    assert_int_equal(glyph_text_width("\xC3\xA4\xE2\x96\x88"), 2);
    assert_int_equal(glyph_text_width("\x1B[31m"), 5);
}

static void test_glyph__every_character_is_encoded_as_it_was_read(void **state)
{
    (void)state;
    for (uint32_t glyph = ' '; glyph < 0x20000; glyph++) {
        char bytes[GLYPH_SIZE + 1] = "";
        size_t size = glyph_encode(glyph, bytes);
        const char *at = bytes;
        uint32_t read = glyph_next(&at);
        assert_true(read == glyph || read == GLYPH_ODD);
        assert_true(read != glyph || at == bytes + size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glyph__text_that_may_be_shown_comes_out_as_it_is),
        cmocka_unit_test(test_glyph__what_a_terminal_would_act_upon_is_odd),
        cmocka_unit_test(test_glyph__broken_utf8_is_odd_and_the_text_goes_on),
        cmocka_unit_test(test_glyph__widths),
        cmocka_unit_test(test_glyph__every_character_is_encoded_as_it_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
