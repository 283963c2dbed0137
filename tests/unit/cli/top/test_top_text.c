// SPDX-License-Identifier: MIT
// Times, numbers and addresses in little room.
#include "cli/core/cli.h"
#include "cli/core/url.h"
#include "cli/top/top_time.h"

#include "test.h"

#include <string.h>

static void test_top_text__lengths_of_time_have_at_most_six_columns(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {
        { -3, "0s" },       { 0, "0s" },           { 0.9, "0s" },       { 59.9, "59s" },
        { 60, "1m00s" },    { 3599, "59m59s" },    { 3600, "1h00m" },   { 86399, "23h59m" },
        { 86400, "1d00h" }, { 8639999, "99d23h" }, { 8640000, "100d" }, { 1e300, "0s" },
        { 1e9, "11574d" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        assert_string_equal(brief_length(rows[i].seconds).text, rows[i].text);
        assert_true(strlen(rows[i].text) <= 6);
    }
}

static void test_top_text__counts_fit_into_their_columns(void **state)
{
    (void)state;
    assert_string_equal(brief_count(0, 5).text, "0");
    assert_string_equal(brief_count(99999, 5).text, "99999");
    assert_string_equal(brief_count(100000, 5).text, "100k");
    assert_string_equal(brief_count(12345, 4).text, "12.3k");
    assert_string_equal(brief_count(999499, 5).text, "999k");
    assert_string_equal(brief_count(999999, 5).text, "1.0M");
    assert_string_equal(brief_count(10000000, 5).text, "10.0M");
    assert_string_equal(brief_count(10000000, 9).text, "10000000");
    assert_string_equal(brief_count(INT64_MAX, 5).text, "9.2E");
    assert_string_equal(brief_rate(0).text, "0");
    assert_string_equal(brief_rate(0.25).text, "0.25");
    assert_string_equal(brief_rate(12.34).text, "12.3");
    assert_string_equal(brief_rate(3).text, "3");
    assert_string_equal(brief_rate(1234.5).text, "1234");
    assert_string_equal(brief_rate(12345).text, "12.3k");
}

static void test_top_text__the_time_of_the_day_is_in_utc(void **state)
{
    (void)state;
    assert_string_equal(brief_clock(1784000045).text, "03:34:05");
}

static void test_top_text__an_address_is_shown_without_what_is_secret(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "sluice://host:7711/app", "sluice://host:7711" },
        { "sluice://host", "sluice://host" },
        { "sluices://ann:secret@host:7711/app", "sluices://ann@host:7711" },
        { "redis://:secret@host", "redis://host" },
        { "redis://ann:se:cr@et@host/app", "redis://ann@host" },
        { "redis://ann@host/a@b", "redis://ann@host" },
        { "file:/var/jobs?ns=app", "file:/var/jobs" },
        { "file:///var/jobs?ns=app", "file:///var/jobs" },
        { "unix:/run/app.sock?ns=app&user=ann", "unix:/run/app.sock" },
        { "unix:///run/app.sock?ns=app", "unix:///run/app.sock" },
    };
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        assert_string_equal(url_to_show(rows[i][0]), rows[i][1]);
    }
    tool_free_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_text__lengths_of_time_have_at_most_six_columns),
        cmocka_unit_test(test_top_text__counts_fit_into_their_columns),
        cmocka_unit_test(test_top_text__the_time_of_the_day_is_in_utc),
        cmocka_unit_test(test_top_text__an_address_is_shown_without_what_is_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
