// SPDX-License-Identifier: MIT
#include "base/timefmt.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

enum {
    ROUNDS = 50000,
};

#define YEAR_0000_US  INT64_C(-62167219200000000)
#define YEAR_10000_US INT64_C(253402300800000000)
#define US_PER_DAY    INT64_C(86400000000)

static void test_timefmt__prints_milliseconds_or_microseconds_as_needed(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 1, "1970-01-01T00:00:00.000001Z" },
        { 1000, "1970-01-01T00:00:00.001Z" },
        { 999999, "1970-01-01T00:00:00.999999Z" },
        { -1, "1969-12-31T23:59:59.999999Z" },
        { -1000, "1969-12-31T23:59:59.999Z" },
        { -1000000, "1969-12-31T23:59:59.000Z" },
        { 1278612143347000, "2010-07-08T18:02:23.347Z" },
        { 1278612143347269, "2010-07-08T18:02:23.347269Z" },
        { 951782400000000, "2000-02-29T00:00:00.000Z" },
        { 951868799999999, "2000-02-29T23:59:59.999999Z" },
        { 4107542400000000, "2100-03-01T00:00:00.000Z" },
        { 4107542399999000, "2100-02-28T23:59:59.999Z" },
        { 2147483648000000, "2038-01-19T03:14:08.000Z" },
        { YEAR_0000_US, "0000-01-01T00:00:00.000Z" },
        { YEAR_0000_US - 1, "-000001-12-31T23:59:59.999999Z" },
        { YEAR_10000_US - 1, "9999-12-31T23:59:59.999999Z" },
        { YEAR_10000_US, "+010000-01-01T00:00:00.000Z" },
        { INT64_MAX, "+294247-01-10T04:00:54.775807Z" },
        { INT64_MIN, "-290308-12-21T19:59:05.224192Z" },
    };
    char text[TIMEFMT_SIZE_MAX];
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        assert_slice_equal(slice_make(text, timefmt_format(cases[i].us, text)), cases[i].text);
    }
}

static void test_timefmt__parses_what_rfc_3339_allows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "1970-01-01t00:00:00z", 0 },
        { "1970-01-01 00:00:00Z", 0 },
        { "1970-01-01T00:00:00.0Z", 0 },
        { "1970-01-01T00:00:00+00:00", 0 },
        { "1970-01-01T00:00:00-00:00", 0 },
        { "2010-07-08T18:02:23.347Z", 1278612143347000 },
        { "2010-07-08T18:02:23.3Z", 1278612143300000 },
        { "2010-07-08T18:02:23.347269Z", 1278612143347269 },
        { "2010-07-08T18:02:23.3472699Z", 1278612143347269 },
        { "2010-07-08T18:02:23.347269999999999999999999999999Z", 1278612143347269 },
        { "2010-07-08T20:02:23.347+02:00", 1278612143347000 },
        { "2010-07-08T10:32:23.347-07:30", 1278612143347000 },
        { "2010-07-09T17:01:23.347+22:59", 1278612143347000 },
        { "1969-12-31T23:59:59.9999999Z", -1 },
        // The examples of RFC 3339, section 5.8.
        { "1985-04-12T23:20:50.52Z", 482196050520000 },
        { "1996-12-19T16:39:57-08:00", 851042397000000 },
        { "1990-12-31T23:59:60Z", 662688000000000 },
        { "1990-12-31T15:59:60-08:00", 662688000000000 },
        { "1937-01-01T12:00:27.87+00:20", -1041337172130000 },
        { "1990-12-31T23:59:60.999Z", 662688000000000 },
        { "2000-02-29T00:00:00Z", 951782400000000 },
        { "2024-02-29T00:00:00Z", 1709164800000000 },
        { "0000-01-01T00:00:00Z", YEAR_0000_US },
        { "0000-02-29T00:00:00Z", YEAR_0000_US + 59 * US_PER_DAY },
        { "0000-01-01T23:59:00+23:59", YEAR_0000_US },
        { "9999-12-31T23:59:59.999999Z", YEAR_10000_US - 1 },
        { "9999-12-31T00:00:59.999999-23:59", YEAR_10000_US - 1 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        int64_t us = 77;
        assert_int_equal(timefmt_parse(slice_from_cstr(cases[i].text), &us), STATUS_OK);
        assert_int_equal(us, cases[i].us);
    }
}

static void test_timefmt__refuses_all_else_and_nothing_changes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
    } cases[] = {
        { "", STATUS_INVALID },
        { "Z", STATUS_INVALID },
        { "2010", STATUS_INVALID },
        { "2010-07-08", STATUS_INVALID },
        { "2010-07-08T18:02:23", STATUS_INVALID },
        { "2010-07-08T18:02Z", STATUS_INVALID },
        { "2010-07-08T18:02:23.Z", STATUS_INVALID },
        { "2010-07-08T18:02:23,5Z", STATUS_INVALID },
        { "2010-07-08T18:02:23.5.5Z", STATUS_INVALID },
        { "2010-07-08T18:02:23.5", STATUS_INVALID },
        { "2010-07-08T18:02:23ZZ", STATUS_INVALID },
        { "2010-07-08T18:02:23Z ", STATUS_INVALID },
        { " 2010-07-08T18:02:23Z", STATUS_INVALID },
        { "2010-07-08  18:02:23Z", STATUS_INVALID },
        { "2010-07-08_18:02:23Z", STATUS_INVALID },
        { "20100708T180223Z", STATUS_INVALID },
        { "2010/07/08T18:02:23Z", STATUS_INVALID },
        { "2010-7-8T18:02:23Z", STATUS_INVALID },
        { "10-07-08T18:02:23Z", STATUS_INVALID },
        { "12010-07-08T18:02:23Z", STATUS_INVALID },
        { "+012010-07-08T18:02:23Z", STATUS_INVALID },
        { "-2010-07-08T18:02:23Z", STATUS_INVALID },
        { "201a-07-08T18:02:23Z", STATUS_INVALID },
        { "2010-00-08T18:02:23Z", STATUS_INVALID },
        { "2010-13-08T18:02:23Z", STATUS_INVALID },
        { "2010-07-00T18:02:23Z", STATUS_INVALID },
        { "2010-07-32T18:02:23Z", STATUS_INVALID },
        { "2010-06-31T18:02:23Z", STATUS_INVALID },
        { "2010-02-29T18:02:23Z", STATUS_INVALID },
        { "1900-02-29T18:02:23Z", STATUS_INVALID },
        { "2000-02-30T18:02:23Z", STATUS_INVALID },
        { "2010-07-08T24:00:00Z", STATUS_INVALID },
        { "2010-07-08T18:60:23Z", STATUS_INVALID },
        { "2010-07-08T18:02:61Z", STATUS_INVALID },
        { "2010-07-08T18:02:60Z", STATUS_INVALID },
        { "2010-07-08T23:59:60+01:00", STATUS_INVALID },
        { "2010-07-08T18:02:23+", STATUS_INVALID },
        { "2010-07-08T18:02:23+02", STATUS_INVALID },
        { "2010-07-08T18:02:23+0200", STATUS_INVALID },
        { "2010-07-08T18:02:23+02:0", STATUS_INVALID },
        { "2010-07-08T18:02:23+02:000", STATUS_INVALID },
        { "2010-07-08T18:02:23+24:00", STATUS_INVALID },
        { "2010-07-08T18:02:23+02:60", STATUS_INVALID },
        { "2010-07-08T18:02:23+-2:00", STATUS_INVALID },
        { "2010-07-08T18:02:23Z+02:00", STATUS_INVALID },
        { "2010-07-08T18:02:23 +02:00", STATUS_INVALID },
        { "2010-07-08T18:02:23UTC", STATUS_INVALID },
        { "0000-01-01T00:00:00+00:01", STATUS_TOO_LARGE },
        { "9999-12-31T23:59:59-00:01", STATUS_TOO_LARGE },
        { "9999-12-31T23:59:60Z", STATUS_TOO_LARGE },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        int64_t us = 77;
        assert_int_equal(timefmt_parse(slice_from_cstr(cases[i].text), &us), cases[i].status);
        assert_int_equal(us, 77);
    }
}

static void test_timefmt__every_shorter_text_and_every_zero_byte_is_refused(void **state)
{
    (void)state;
    char text[] = "2010-07-08T18:02:23.347+02:00";
    const size_t size = sizeof(text) - 1;
    int64_t us;
    assert_int_equal(timefmt_parse(SLICE_EMPTY, &us), STATUS_INVALID);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(timefmt_parse(slice_make(text, i), &us), STATUS_INVALID);
        char kept = text[i];
        text[i] = '\0';
        assert_int_equal(timefmt_parse(slice_make(text, size), &us), STATUS_INVALID);
        text[i] = kept;
    }
    assert_int_equal(timefmt_parse(slice_make(text, size), &us), STATUS_OK);
    assert_int_equal(timefmt_parse(slice_make(text, size + 1), &us), STATUS_INVALID);
}

// From day to day by hand, over more than one whole cycle of the calendar.
static void test_timefmt__days_and_dates_agree_day_by_day(void **state)
{
    (void)state;
    int64_t year = -401;
    unsigned month = 1;
    unsigned day = 1;
    int64_t days = timefmt_days_from_civil(year, month, day);
    while (year < 2401) {
        assert_int_equal(timefmt_days_from_civil(year, month, day), days);
        int64_t year_again;
        unsigned month_again;
        unsigned day_again;
        timefmt_civil_from_days(days, &year_again, &month_again, &day_again);
        assert_int_equal(year_again, year);
        assert_int_equal(month_again, month);
        assert_int_equal(day_again, day);

        days++;
        day++;
        if (day > timefmt_days_in_month(year, month)) {
            day = 1;
            month++;
        }
        if (month > 12) {
            month = 1;
            year++;
        }
    }
    assert_int_equal(timefmt_days_from_civil(1970, 1, 1), 0);
    assert_int_equal(timefmt_days_from_civil(2000, 3, 1), 11017);
}

static void test_timefmt__february_has_a_day_more_in_leap_years(void **state)
{
    (void)state;
    static const struct {
        int64_t year;
        unsigned days;
    } cases[] = {
        { 2023, 28 }, { 2024, 29 }, { 1900, 28 }, { 2000, 29 }, { 2100, 28 },
        { 0, 29 },    { -1, 28 },   { -4, 29 },   { -100, 28 }, { -400, 29 },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_int_equal(timefmt_days_in_month(cases[i].year, 2), cases[i].days);
        assert_int_equal(timefmt_days_from_civil(cases[i].year, 3, 1) -
                             timefmt_days_from_civil(cases[i].year, 2, 1),
                         cases[i].days);
    }
    unsigned all = 0;
    for (unsigned month = 1; month <= 12; month++) {
        all += timefmt_days_in_month(2023, month);
    }
    assert_int_equal(all, 365);
}

static void test_timefmt__a_day_past_the_end_of_its_month_runs_into_the_next(void **state)
{
    (void)state;
    assert_int_equal(timefmt_days_from_civil(2023, 2, 31), timefmt_days_from_civil(2023, 3, 3));
    assert_int_equal(timefmt_days_from_civil(2023, 4, 31), timefmt_days_from_civil(2023, 5, 1));
}

static void test_timefmt__far_years_are_exact(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t days = (int64_t)random_below(&random, 2000000000001) - 1000000000000;
        int64_t year;
        unsigned month;
        unsigned day;
        timefmt_civil_from_days(days, &year, &month, &day);
        assert_in_range(month, 1, 12);
        assert_in_range(day, 1, timefmt_days_in_month(year, month));
        assert_int_equal(timefmt_days_from_civil(year, month, day), days);
    }
}

static void test_timefmt__moments_survive_being_printed(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    char text[TIMEFMT_SIZE_MAX];
    for (int i = 0; i < ROUNDS; i++) {
        int64_t us =
            YEAR_0000_US + (int64_t)random_below(&random, (uint64_t)(YEAR_10000_US - YEAR_0000_US));
        if (random_below(&random, 2)) {
            us -= us % 1000;
        }
        size_t size = timefmt_format(us, text);
        assert_int_equal(size, us % 1000 ? 27 : 24);
        int64_t again;
        assert_int_equal(timefmt_parse(slice_make(text, size), &again), STATUS_OK);
        assert_int_equal(again, us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timefmt__prints_milliseconds_or_microseconds_as_needed),
        cmocka_unit_test(test_timefmt__parses_what_rfc_3339_allows),
        cmocka_unit_test(test_timefmt__refuses_all_else_and_nothing_changes),
        cmocka_unit_test(test_timefmt__every_shorter_text_and_every_zero_byte_is_refused),
        cmocka_unit_test(test_timefmt__days_and_dates_agree_day_by_day),
        cmocka_unit_test(test_timefmt__february_has_a_day_more_in_leap_years),
        cmocka_unit_test(test_timefmt__a_day_past_the_end_of_its_month_runs_into_the_next),
        cmocka_unit_test(test_timefmt__far_years_are_exact),
        cmocka_unit_test(test_timefmt__moments_survive_being_printed),
    };
    return cmocka_run_group_tests_name("timefmt", tests, NULL, NULL);
}
