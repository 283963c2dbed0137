// SPDX-License-Identifier: MIT
#include "cli/work/lines.h"

#include "cli/core/cli.h"
#include "test.h"

#include <string.h>

static void assert_next(struct work_lines *lines, const char *wanted, bool wanted_whole)
{
    char *line;
    size_t size;
    bool whole;
    assert_true(work_lines_next(lines, &line, &size, &whole));
    assert_string_equal(line, wanted);
    assert_int_equal(size, strlen(wanted));
    assert_int_equal(whole, wanted_whole);
}

static void assert_none(struct work_lines *lines)
{
    char *line;
    size_t size;
    assert_false(work_lines_next(lines, &line, &size, NULL));
}

static void add(struct work_lines *lines, const char *text)
{
    work_lines_add(lines, text, strlen(text));
}

static void test_lines__come_out_whole_however_they_came_in(void **state)
{
    (void)state;
    struct work_lines lines = { .maximum = 100 };
    assert_none(&lines);
    add(&lines, "one\ntw");
    assert_next(&lines, "one", true);
    assert_none(&lines);
    add(&lines, "o\r\n\nthree");
    assert_next(&lines, "two", true);
    assert_next(&lines, "", true);
    assert_none(&lines);
    char *rest;
    size_t size;
    assert_true(work_lines_rest(&lines, &rest, &size));
    assert_string_equal(rest, "three");
    assert_false(work_lines_rest(&lines, &rest, &size));
    work_lines_clear(&lines);
}

static void test_lines__byte_by_byte_they_are_the_same(void **state)
{
    (void)state;
    struct work_lines lines = { .maximum = 5 };
    const char *text = "ab\nabcde\nabcdefg\n\nx\n";
    const char *wanted[] = { "ab", "abcde", "abcde", "fg", "", "x" };
    size_t seen = 0;
    for (const char *at = text; *at; at++) {
        char *line;
        size_t size;
        work_lines_add(&lines, at, 1);
        while (work_lines_next(&lines, &line, &size, NULL)) {
            assert_string_equal(line, wanted[seen++]);
        }
    }
    assert_int_equal(seen, 6);
    work_lines_clear(&lines);
}

static void test_lines__one_that_is_too_long_comes_in_pieces(void **state)
{
    (void)state;
    struct work_lines lines = { .maximum = 4 };
    add(&lines, "abcdefghij\nkl\n");
    assert_next(&lines, "abcd", false);
    assert_next(&lines, "efgh", false);
    assert_next(&lines, "ij", true);
    assert_next(&lines, "kl", true);
    assert_none(&lines);
    work_lines_clear(&lines);
}

static void test_lines__those_that_speak_to_the_worker(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum work_line_kind kind;
        double fraction;
        const char *text;
    } rows[] = {
        { "", WORK_LINE_TEXT, 0, "" },
        { "text", WORK_LINE_TEXT, 0, "text" },
        { " ::log x", WORK_LINE_TEXT, 0, " ::log x" },
        { "::progress 0.5 half done", WORK_LINE_PROGRESS, 0.5, "half done" },
        { "::progress 1", WORK_LINE_PROGRESS, 1, "" },
        { "::progress 25% now", WORK_LINE_PROGRESS, 0.25, "now" },
        { "::progress 1.5", WORK_LINE_TEXT, 0, "::progress 1.5" },
        { "::progress -1", WORK_LINE_TEXT, 0, "::progress -1" },
        { "::progress nan", WORK_LINE_TEXT, 0, "::progress nan" },
        { "::progress", WORK_LINE_TEXT, 0, "::progress" },
        { "::progress 0.5x", WORK_LINE_TEXT, 0, "::progress 0.5x" },
        { "::progressive 0.5", WORK_LINE_TEXT, 0, "::progressive 0.5" },
        { "::log a line", WORK_LINE_LOG, 0, "a line" },
        { "::log", WORK_LINE_TEXT, 0, "::log" },
        { "::checkpoint page 4", WORK_LINE_CHECKPOINT, 0, "page 4" },
        { "::checkpoint", WORK_LINE_CHECKPOINT, 0, "" },
        { "::other", WORK_LINE_TEXT, 0, "::other" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].line); i++) {
        struct work_line line = work_line_parse(rows[i].line);
        assert_int_equal(line.kind, rows[i].kind);
        assert_string_equal(line.text, rows[i].text);
        if (line.kind == WORK_LINE_PROGRESS) {
            assert_true(line.fraction == rows[i].fraction);
        }
    }
}

static void assert_tail(const struct work_tail *tail, const char *wanted)
{
    char *text = work_tail_text(tail);
    assert_string_equal(text, wanted);
    tool_free(text);
}

static void test_tail__keeps_the_last_whole_lines(void **state)
{
    (void)state;
    struct work_tail tail = { .maximum = 10 };
    assert_tail(&tail, "");
    work_tail_add(&tail, "one", 3);
    assert_tail(&tail, "one");
    work_tail_add(&tail, "two", 3);
    assert_tail(&tail, "one\ntwo");
    work_tail_add(&tail, "three", 5);
    assert_tail(&tail, "two\nthree");
    work_tail_add(&tail, "a line that is longer", 21);
    assert_tail(&tail, " is longer");
    work_tail_clear(&tail);
    assert_tail(&tail, "");
}

static void test_tail__is_never_longer_than_its_maximum(void **state)
{
    (void)state;
    for (size_t maximum = 1; maximum < 40; maximum++) {
        struct work_tail tail = { .maximum = maximum };
        for (size_t i = 0; i < 100; i++) {
            work_tail_add(&tail, "abcdefghijklmnopqrstuvwxyz", i % 27);
            char *text = work_tail_text(&tail);
            assert_true(strlen(text) <= maximum);
            tool_free(text);
        }
        work_tail_clear(&tail);
    }
}

static void test_utf8__what_is_not_becomes_the_replacement_character(void **state)
{
    (void)state;
    char *text = work_utf8("a\0b\xC3\xA9\xE2\x82", 7);
    assert_string_equal(text, "a\xEF\xBF\xBD"
                              "b\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
    tool_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines__come_out_whole_however_they_came_in),
        cmocka_unit_test(test_lines__byte_by_byte_they_are_the_same),
        cmocka_unit_test(test_lines__one_that_is_too_long_comes_in_pieces),
        cmocka_unit_test(test_lines__those_that_speak_to_the_worker),
        cmocka_unit_test(test_tail__keeps_the_last_whole_lines),
        cmocka_unit_test(test_tail__is_never_longer_than_its_maximum),
        cmocka_unit_test(test_utf8__what_is_not_becomes_the_replacement_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
