// SPDX-License-Identifier: MIT
#include "server/log/log_line.h"

#include "random.h"
#include "test.h"

#include <stdio.h>

static const struct log_head plain = { .level = LOG_LEVEL_INFO, .journal = true, .what = "w" };

static void expect_shown(struct slice value, const char *wanted)
{
    char line[LOG_LINE_MAX], whole[LOG_LINE_MAX + 16];
    const struct log_pair pairs[] = { LOG_TEXT("n", value) };
    size_t size = log_line_format(line, &plain, pairs, 1);
    (void)snprintf(whole, sizeof(whole), "<6>w n=%s\n", wanted);
    assert_int_equal(size, strlen(whole));
    assert_memory_equal(line, whole, size);
}

static void test_log_line__a_value_is_quoted_and_escaped_when_it_has_to_be(void **state)
{
    (void)state;
    // Not as strings, whose end such characters would hide from a reader.
    static const char override[] = { '\xe2', '\x80', '\xae' }; // RIGHT-TO-LEFT
    static const char isolate[] = { '\xe2', '\x81', '\xa6' };  // LEFT-TO-RIGHT
    static const struct {
        struct slice value;
        const char *wanted;
    } rows[] = {
        { { "127.0.0.1:7711", 14 }, "127.0.0.1:7711" },
        { { "grün", 5 }, "grün" },
        { { "", 0 }, "\"\"" },
        { { NULL, 0 }, "\"\"" },
        { { "two words", 9 }, "\"two words\"" },
        { { "a=b", 3 }, "\"a=b\"" },
        { { "a\"b", 3 }, "\"a\\\"b\"" },
        { { "a\\b", 3 }, "\"a\\\\b\"" },
        { { "a\nb", 3 }, "\"a\\nb\"" },
        { { "a\r\n\tb", 5 }, "\"a\\r\\n\\tb\"" },
        { { "a\0b", 3 }, "\"a\\x00b\"" },
        { { "\x1b[2J", 4 }, "\"\\x1B[2J\"" },
        { { "\x7f", 1 }, "\"\\x7F\"" },
        { { "\xc2\x9b"
            "2J",
            4 },
          "\"\\xC2\\x9B2J\"" },                           // CSI in one character
        { { "\xe2\x80\xa8", 3 }, "\"\\xE2\\x80\\xA8\"" }, // LINE SEPARATOR
        { { override, 3 }, "\"\\xE2\\x80\\xAE\"" },
        { { isolate, 3 }, "\"\\xE2\\x81\\xA6\"" },
        { { "\xff\xc3", 2 }, "\"\\xFF\\xC3\"" },          // not UTF-8
        { { "\xed\xa0\x80", 3 }, "\"\\xED\\xA0\\x80\"" }, // a surrogate
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].wanted); i++) {
        expect_shown(rows[i].value, rows[i].wanted);
    }
}

static void test_log_line__a_line_has_its_time_level_and_pairs_in_order(void **state)
{
    (void)state;
    char line[LOG_LINE_MAX];
    const struct log_head head = {
        .level = LOG_LEVEL_WARNING, .now_us = 1500000, .what = "some thing", .suppressed = 7
    };
    const struct log_pair pairs[] = { LOG_NUMBER("count", (size_t)3), LOG_NO_PAIRS,
                                      LOG_NUMBER("least", -1), LOG_SECONDS("seconds", 1250000),
                                      LOG_STRING("reason", "disk full") };
    size_t size = log_line_format(line, &head, pairs, sizeof(pairs) / sizeof(pairs[0]));
    static const char wanted[] = "1970-01-01T00:00:01.500Z warning some thing count=3 least=-1 "
                                 "seconds=1.2 reason=\"disk full\" suppressed=7\n";
    assert_int_equal(size, sizeof(wanted) - 1);
    assert_memory_equal(line, wanted, size);
}

static void test_log_line__a_long_value_is_cut_and_its_quotes_are_closed(void **state)
{
    (void)state;
    char line[LOG_LINE_MAX];
    static char text[5000];
    static const char fills[] = { 'a', '"', '\n', '\xff' };
    for (size_t fill = 0; fill < sizeof(fills); fill++) {
        memset(text, fills[fill], sizeof(text));
        const struct log_pair pairs[] = { LOG_TEXT("n", slice_make(text, sizeof(text))),
                                          LOG_STRING("after", "it") };
        size_t size = log_line_format(line, &plain, pairs, 2);
        struct slice whole = slice_make(line, size);
        assert_true(size <= LOG_VALUE_MAX + 32);
        assert_true(size > LOG_VALUE_MAX - 32);
        assert_true(slice_ends_with(whole, SLICE("...\" after=it\n")));
    }
}

// Whatever the values are: one line, no control character, and the size is within its limit.
static void test_log_line__no_value_can_break_a_line(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int round = 0; round < 20000; round++) {
        char line[LOG_LINE_MAX];
        char bytes[4][1200];
        struct log_pair pairs[4];
        for (size_t i = 0; i < 4; i++) {
            size_t size = random_below(&random, sizeof(bytes[i]));
            for (size_t at = 0; at < size; at++) {
                bytes[i][at] = (char)random_below(&random, 256);
            }
            pairs[i] = LOG_TEXT("name", slice_make(bytes[i], size));
        }
        size_t size = log_line_format(line, &plain, pairs, 4);
        assert_true(size > 0 && size <= LOG_LINE_MAX);
        assert_int_equal(line[size - 1], '\n');
        for (size_t at = 0; at < size - 1; at++) {
            assert_true((unsigned char)line[at] >= ' ' && line[at] != 0x7f);
        }
    }
}

static void test_log_line__pairs_that_do_not_fit_are_left_out_and_that_is_shown(void **state)
{
    (void)state;
    char line[LOG_LINE_MAX];
    static char text[590];
    memset(text, 'a', sizeof(text));
    struct log_pair pairs[5];
    for (size_t i = 0; i < 5; i++) {
        pairs[i] = LOG_TEXT("name", slice_make(text, sizeof(text)));
    }
    size_t size = log_line_format(line, &plain, pairs, 5);
    assert_true(size <= LOG_LINE_MAX);
    assert_true(slice_ends_with(slice_make(line, size), SLICE(" ...\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_line__a_value_is_quoted_and_escaped_when_it_has_to_be),
        cmocka_unit_test(test_log_line__a_line_has_its_time_level_and_pairs_in_order),
        cmocka_unit_test(test_log_line__a_long_value_is_cut_and_its_quotes_are_closed),
        cmocka_unit_test(test_log_line__no_value_can_break_a_line),
        cmocka_unit_test(test_log_line__pairs_that_do_not_fit_are_left_out_and_that_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
