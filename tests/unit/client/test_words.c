// SPDX-License-Identifier: MIT
#include "client/words.h"

#include "test.h"

#include <math.h>
#include <stdio.h>

#include <sluice/sluice.h>

static void assert_words(struct words *words, const char *const *wanted)
{
    assert_false(words->failed);
    size_t count = 0;
    for (; wanted[count]; count++) {
        assert_true(count < words->count);
        assert_slice_equal(words->items[count], wanted[count]);
    }
    assert_int_equal(words->count, count);
    words_release(words);
    assert_int_equal(words->count, 0);
}

#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void test_words__stand_in_the_order_they_came(void **state)
{
    (void)state;
    struct words words;
    words_init(&words);
    words_text(&words, "Q.PUT");
    words_add(&words, SLICE(""));
    words_integer(&words, INT64_MIN);
    words_seconds(&words, 1.5);
    assert_words(&words, WORDS("Q.PUT", "", "-9223372036854775808", "1.5"));
}

static void test_words__lengths_of_time_are_exact_to_a_microsecond(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } times[] = {
        { 0, "0" },
        { 60, "60" },
        { 0.1, "0.1" },
        { 1e-6, "0.000001" },
        { 4e-7, "0.000001" }, // not nothing
        { -2.5, "-2.5" },
        { 1784000060.123456, "1784000060.123456" },
        { 8e12, "8000000000000" },
        // Refused by the command, in its own words.
        { 1e300, "1e+300" },
        { INFINITY, "inf" },
        { NAN, "nan" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, times, times[i].text); i++) {
        struct words words;
        words_init(&words);
        words_seconds(&words, times[i].seconds);
        assert_words(&words, WORDS(times[i].text));
    }
}

static void test_words__options_with_their_defaults_are_not_said(void **state)
{
    (void)state;
    struct words words;
    words_init(&words);
    words_text(&words, "x");
    words_option(&words, "A", NULL);
    words_option_integer(&words, "B", 0);
    words_option_seconds(&words, "C", 0);
    words_options(&words, "D", NULL);
    words_options(&words, "E", (const char *const[]){ NULL });
    assert_words(&words, WORDS("x"));
}

static void test_words__options_that_are_given_are_said(void **state)
{
    (void)state;
    struct words words;
    words_init(&words);
    words_option(&words, "A", "");
    words_option_integer(&words, "B", -3);
    words_option_seconds(&words, "C", -0.5);
    words_options(&words, "D", WORDS("one", "two"));
    words_option_integer(&words, "E", SLUICE_ZERO);
    words_option_integer(&words, "F", SLUICE_NONE);
    words_option_seconds(&words, "G", (double)SLUICE_ZERO);
    words_option_seconds(&words, "H", (double)SLUICE_NONE);
    words_option_seconds(&words, "I", 1e-9); // too short to be written, but not nothing
    assert_words(&words, WORDS("A", "", "B", "-3", "C", "-0.5", "D", "one", "D", "two", "E", "0",
                               "F", "0", "G", "0", "H", "0", "I", "0.000001"));
}

static void test_words__numbers_stay_where_they_are_however_many_come(void **state)
{
    (void)state;
    enum {
        COUNT = 10000,
    };
    struct words words;
    words_init(&words);
    for (int i = 0; i < COUNT; i++) {
        words_integer(&words, i);
    }
    assert_false(words.failed);
    assert_int_equal(words.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%d", i);
        assert_slice_equal(words.items[i], text);
    }
    words_release(&words);
}

static void test_words__can_be_put_in_place_copied_and_taken(void **state)
{
    (void)state;
    struct words words, other;
    char text[] = "copied";
    words_init(&words);
    words_init(&other);
    words_integer(&words, 7);
    words_add(&other, words.items[0]);
    words_integer(&other, 0);
    words_copy(&other, slice_from_cstr(text));
    text[0] = 'X';
    words_set_integer(&other, 1, 42);
    words_take(&words, &other);
    assert_int_equal(other.count, 0);
    assert_words(&words, WORDS("7", "42", "copied"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__stand_in_the_order_they_came),
        cmocka_unit_test(test_words__lengths_of_time_are_exact_to_a_microsecond),
        cmocka_unit_test(test_words__options_with_their_defaults_are_not_said),
        cmocka_unit_test(test_words__options_that_are_given_are_said),
        cmocka_unit_test(test_words__numbers_stay_where_they_are_however_many_come),
        cmocka_unit_test(test_words__can_be_put_in_place_copied_and_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
