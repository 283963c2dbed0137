// SPDX-License-Identifier: MIT
#include "cli/core/moment.h"

#include "test.h"

#include <math.h>

static void test_moment__is_read_as_seconds_or_a_date_in_utc(void **state)
{
    static const struct {
        const char *text;
        double moment;
    } good[] = {
        { "0", 0 },
        { "1784000000.5", 1784000000.5 },
        { "1970-01-02", 86400 },
        { "2030-01-31T12:00", 1896091200 },
        { "2030-01-31 12:00:30", 1896091230 },
        { "2030-01-31T12:00:00Z", 1896091200 },
        { "2030-01-31T12:00:00.25Z", 1896091200.25 },
        { "2028-02-29", 1835395200 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double moment = -1;
        assert_true(moment_parse(good[i].text, &moment));
        assert_true(fabs(moment - good[i].moment) < 1e-6);
    }
}

static void test_moment__what_is_none_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "soon",
        "-5",
        "1.2.3",
        "2030-13-01",
        "2030-02-30",
        "2030-01-31T",
        "2030-01-31T25:00",
        "2030-01-31X",
        "2029-02-29",
        "2030-01-31T12:00:00+02:00",
        "2030-01-31T12:00:",
        "2030-01-31T12:00:99",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double moment;
        assert_false(moment_parse(bad[i], &moment));
    }
}

static void test_moment__is_written_in_utc_and_from_now(void **state)
{
    (void)state;
    char text[MOMENT_SIZE];
    moment_format(1896091230.9, text);
    assert_string_equal(text, "2030-01-31 12:00:30Z");
    moment_relative(100, 100.9, text);
    assert_string_equal(text, "now");
    moment_relative(100, 300, text);
    assert_string_equal(text, "3m20s ago");
    moment_relative(7300, 100, text);
    assert_string_equal(text, "in 2h");
}

static void test_moment__lengths_have_two_units_at_most(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } lengths[] = {
        { 0, "0s" },        { 0.00025, "250us" }, { 0.0205, "20.5ms" }, { 1.5, "1.5s" },
        { 42, "42s" },      { 60, "1m" },         { 200, "3m20s" },     { 7500, "2h5m" },
        { 273600, "3d4h" }, { 86400, "1d" },      { 86460, "1d" },      { -5, "-5s" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char text[MOMENT_SIZE];
        length_format(lengths[i].seconds, text);
        assert_string_equal(text, lengths[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moment__is_read_as_seconds_or_a_date_in_utc),
        cmocka_unit_test(test_moment__what_is_none_is_refused),
        cmocka_unit_test(test_moment__is_written_in_utc_and_from_now),
        cmocka_unit_test(test_moment__lengths_have_two_units_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
