// SPDX-License-Identifier: MIT
#include "engine/recurring/cron.h"

#include "base/buffer.h"
#include "base/timefmt.h"
#include "engine/engine.h"

#include "random.h"
#include "test.h"

#include <stdio.h>

enum {
    ROUNDS = 20000,
    HOUR = 3600,
    HALF_DAY = 12 * HOUR,
};

#define US INT64_C(1000000)

static const struct zone_rules utc = { 0 };

static int64_t moment(const char *text)
{
    int64_t us = 0;
    assert_int_equal(timefmt_parse(slice_from_cstr(text), &us), STATUS_OK);
    return us;
}

static struct cron parsed(const char *text)
{
    struct cron cron;
    struct error error = { 0 };
    if (cron_parse(slice_from_cstr(text), &cron, &error)) {
        fail_msg("%s: %s", text, error.detail);
    }
    return cron;
}

// The runs after a moment, and how many: "2024-03-31T01:00:00.000Z ...".
static void expect_runs(const struct zone_rules *zone, const char *text, const char *after,
                        const char *wanted)
{
    struct cron cron = parsed(text);
    struct buffer runs;
    buffer_init(&runs, &allocator_system, 10000);
    int64_t at_us = moment(after);
    while (runs.size < strlen(wanted)) {
        at_us = cron_next(&cron, zone, at_us);
        if (runs.size) {
            buffer_append(&runs, SLICE(" "));
        }
        if (at_us == INT64_MAX) {
            buffer_append(&runs, SLICE("none"));
            break;
        }
        char text_at[TIMEFMT_SIZE_MAX];
        buffer_append(&runs, slice_make(text_at, timefmt_format(at_us, text_at)));
    }
    buffer_append(&runs, slice_make("", 1));
    assert_int_equal(runs.status, STATUS_OK);
    if (strcmp(runs.data, wanted) != 0) {
        fail_msg("%s after %s runs at %s, not at %s", text, after, runs.data, wanted);
    }
    buffer_release(&runs);
}

// ---------------------------------------------------------------------------------------------
// Reading

#define ALL_SECONDS  ((UINT64_C(1) << 60) - 1)
#define ALL_HOURS    ((1U << 24) - 1)
#define ALL_DAYS     UINT32_C(0xfffffffe)
#define ALL_MONTHS   0x1ffe
#define ALL_WEEKDAYS 0x7f
#define BIT(n)       (UINT64_C(1) << (n))

static void assert_cron_equal(const char *text, const struct cron *given, const struct cron *wanted)
{
    if (given->seconds != wanted->seconds || given->minutes != wanted->minutes ||
        given->hours != wanted->hours || given->days != wanted->days ||
        given->months != wanted->months || given->weekdays != wanted->weekdays ||
        given->either_day != wanted->either_day) {
        fail_msg("%s: seconds %llx, minutes %llx, hours %x, days %x, months %x, weekdays %x, "
                 "either day %d",
                 text, (unsigned long long)given->seconds, (unsigned long long)given->minutes,
                 given->hours, given->days, given->months, given->weekdays, given->either_day);
    }
}

static void test_cron__five_fields_are_minute_to_weekday_and_six_begin_with_the_second(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct cron cron;
    } cases[] = {
        { "* * * * *", { 1, ALL_SECONDS, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false } },
        { "* * * * * *",
          { ALL_SECONDS, ALL_SECONDS, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false } },
        { "1 2 3 4 5", { 1, BIT(1), BIT(2), BIT(3), BIT(4), BIT(5), true } },
        { "59 1 2 3 4 5", { BIT(59), BIT(1), BIT(2), BIT(3), BIT(4), BIT(5), true } },
        { "59 59 23 31 12 6", { BIT(59), BIT(59), BIT(23), BIT(31), BIT(12), BIT(6), true } },
        { "0 0 0 1 1 0", { 1, 1, 1, BIT(1), BIT(1), 1, true } },
        { "\t1\t2 \t 3  4 5 ", { 1, BIT(1), BIT(2), BIT(3), BIT(4), BIT(5), true } },
        { "01 002 0003 4 5", { 1, BIT(1), BIT(2), BIT(3), BIT(4), BIT(5), true } },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        struct cron cron = parsed(cases[i].text);
        assert_cron_equal(cases[i].text, &cron, &cases[i].cron);
    }
}

static void test_cron__a_field_is_a_list_of_values_ranges_and_steps(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        uint64_t minutes;
    } cases[] = {
        { "0", BIT(0) },
        { "59", BIT(59) },
        { "1,2,5", BIT(1) | BIT(2) | BIT(5) },
        { "5,2,1,2", BIT(1) | BIT(2) | BIT(5) },
        { "3-6", BIT(3) | BIT(4) | BIT(5) | BIT(6) },
        { "3-3", BIT(3) },
        { "0-59", ALL_SECONDS },
        { "*/1", ALL_SECONDS },
        { "*/20", BIT(0) | BIT(20) | BIT(40) },
        { "*/25", BIT(0) | BIT(25) | BIT(50) },
        { "*/60", BIT(0) },
        { "10-30/10", BIT(10) | BIT(20) | BIT(30) },
        { "10-29/10", BIT(10) | BIT(20) },
        { "10-12/60", BIT(10) },
        { "50/4", BIT(50) | BIT(54) | BIT(58) },
        { "59/1", BIT(59) },
        { "1,10-12,40/15,*/30",
          BIT(1) | BIT(10) | BIT(11) | BIT(12) | BIT(40) | BIT(55) | BIT(0) | BIT(30) },
        { "*,5", ALL_SECONDS },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].field); i++) {
        char text[100];
        (void)snprintf(text, sizeof(text), "%s * * * *", cases[i].field);
        struct cron cron = parsed(text);
        assert_cron_equal(text, &cron,
                          &(struct cron){ 1, cases[i].minutes, ALL_HOURS, ALL_DAYS, ALL_MONTHS,
                                          ALL_WEEKDAYS, false });
    }
}

static void test_cron__months_and_weekdays_have_names_in_any_case(void **state)
{
    (void)state;
    static const char *const months[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec" };
    static const char *const weekdays[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };
    char text[100];
    for (unsigned i = 0; i < 12; i++) {
        (void)snprintf(text, sizeof(text), "0 0 1 %s *", months[i]);
        assert_int_equal(parsed(text).months, BIT(i + 1));
    }
    for (unsigned i = 0; i < 7; i++) {
        (void)snprintf(text, sizeof(text), "0 0 * * %s", weekdays[i]);
        assert_int_equal(parsed(text).weekdays, BIT(i));
    }
    assert_int_equal(parsed("0 0 1 JAN,Feb,mAr *").months, BIT(1) | BIT(2) | BIT(3));
    assert_int_equal(parsed("0 0 1 oct-DEC *").months, BIT(10) | BIT(11) | BIT(12));
    assert_int_equal(parsed("0 0 1 oct-12 *").months, BIT(10) | BIT(11) | BIT(12));
    assert_int_equal(parsed("0 0 1 feb-dec/5 *").months, BIT(2) | BIT(7) | BIT(12));
    assert_int_equal(parsed("0 0 1 aug/2 *").months, BIT(8) | BIT(10) | BIT(12));
    assert_int_equal(parsed("0 0 * * MON-fri").weekdays, 0x3e);
}

static void test_cron__weekdays_are_a_circle_and_sunday_is_0_and_7(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        uint64_t weekdays;
    } cases[] = {
        { "0", BIT(0) },
        { "7", BIT(0) },
        { "0,7", BIT(0) },
        { "7-7", BIT(0) },
        { "7-0", BIT(0) },
        { "sun-sun", BIT(0) },
        { "0-7", ALL_WEEKDAYS },
        { "1-7", ALL_WEEKDAYS },
        { "7-6", ALL_WEEKDAYS },
        { "1-0", ALL_WEEKDAYS },
        { "sun-sat", ALL_WEEKDAYS },
        { "5-7", BIT(5) | BIT(6) | BIT(0) },
        { "fri-sun", BIT(5) | BIT(6) | BIT(0) },
        { "fri-mon", BIT(5) | BIT(6) | BIT(0) | BIT(1) },
        { "sat-mon", BIT(6) | BIT(0) | BIT(1) },
        { "7-2", BIT(0) | BIT(1) | BIT(2) },
        { "3-2", ALL_WEEKDAYS },
        { "fri-tue/2", BIT(5) | BIT(0) | BIT(2) },
        { "sat-thu/3", BIT(6) | BIT(2) },
        { "*/2", BIT(0) | BIT(2) | BIT(4) | BIT(6) },
        { "*/7", BIT(0) },
        { "mon/2", BIT(1) | BIT(3) | BIT(5) },
        { "6/1", BIT(6) },
        { "0/3", BIT(0) | BIT(3) | BIT(6) },
        { "7/3", BIT(0) | BIT(3) | BIT(6) },
        { "0-7/7", BIT(0) },
        { "?", ALL_WEEKDAYS },
        { "?/2", BIT(0) | BIT(2) | BIT(4) | BIT(6) },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].field); i++) {
        char text[100];
        (void)snprintf(text, sizeof(text), "0 0 * * %s", cases[i].field);
        struct cron cron = parsed(text);
        assert_cron_equal(
            text, &cron,
            &(struct cron){ 1, 1, 1, ALL_DAYS, ALL_MONTHS, (uint8_t)cases[i].weekdays, false });
    }
}

static void test_cron__both_days_count_only_when_neither_begins_with_a_star(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool either_day;
    } cases[] = {
        { "0 0 * * *", false },   { "0 0 ? * ?", false },    { "0 0 1 * *", false },
        { "0 0 * * 1", false },   { "0 0 1 * ?", false },    { "0 0 ? * 1", false },
        { "0 0 */2 * 1", false }, { "0 0 1 * */2", false },  { "0 0 *,1 * 1", false },
        { "0 0 1 * 1", true },    { "0 0 1-31 * 1", true },  { "0 0 1,* * 1", true },
        { "0 0 1 * 0-6", true },  { "0 0 1 * mon,*", true }, { "0 0 1/2 * sun", true },
        { "5 0 0 1 * 1", true },  { "5 0 0 * * 1", false },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        if (parsed(cases[i].text).either_day != cases[i].either_day) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void test_cron__a_word_stands_for_five_fields(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        const char *text;
    } cases[] = {
        { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
        { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
        { "@hourly", "0 * * * *" }, { "@Daily", "0 0 * * *" },    { " @HOURLY\t", "0 * * * *" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].word); i++) {
        struct cron given = parsed(cases[i].word);
        struct cron wanted = parsed(cases[i].text);
        assert_cron_equal(cases[i].word, &given, &wanted);
    }
}

static void expect_refused(struct slice text, const char *sentence)
{
    struct cron cron;
    struct cron before;
    struct error error = { 0 };
    memset(&cron, 0x5a, sizeof(cron));
    memcpy(&before, &cron, sizeof(cron));
    assert_int_equal(cron_parse(text, &cron, &error), STATUS_INVALID);
    assert_int_equal(error.status, STATUS_INVALID);
    assert_string_equal(error.detail, sentence);
    assert_memory_equal(&cron, &before, sizeof(cron));
    assert_int_equal(cron_parse(text, &cron, NULL), STATUS_INVALID);
}

static void test_cron__refuses_all_else_names_the_field_and_nothing_changes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sentence;
    } cases[] = {
#define COUNT(n)                                                                                   \
    "a cron expression has five fields, or six with the second in front; this one has " #n
        { "", COUNT(0) },
        { " \t ", COUNT(0) },
        { "*", COUNT(1) },
        { "* * * *", COUNT(4) },
        { "* * * * * * *", COUNT(7) },
        { "* * * * * * * * *", COUNT(9) },
        { "@daily *", COUNT(2) },
#define WORD                                                                                       \
    "a cron expression that begins with @ must be @yearly, @annually, @monthly, @weekly, "         \
    "@daily, @midnight or @hourly"
        { "@", WORD },
        { "@reboot", WORD },
        { "@dailyy", WORD },
        { "60 * * * *", "cron minute: 60 is not within 0 to 59" },
        { "60 * * * * *", "cron second: 60 is not within 0 to 59" },
        { "0 60 * * * *", "cron minute: 60 is not within 0 to 59" },
        { "0 24 * * *", "cron hour: 24 is not within 0 to 23" },
        { "0 0 0 * *", "cron day of month: 0 is not within 1 to 31" },
        { "0 0 32 * *", "cron day of month: 32 is not within 1 to 31" },
        { "0 0 * 0 *", "cron month: 0 is not within 1 to 12" },
        { "0 0 * 13 *", "cron month: 13 is not within 1 to 12" },
        { "0 0 * * 8", "cron day of week: 8 is not within 0 to 7" },
        { "99999999999999999999 * * * *",
          "cron minute: 99999999999999999999 is not within 0 to 59" },
        { "1-60 * * * *", "cron minute: 60 is not within 0 to 59" },
        { "x * * * *", "cron minute: x is not a number" },
        { "+1 * * * *", "cron minute: +1 is not a number" },
        { "1.5 * * * *", "cron minute: 1.5 is not a number" },
        { "** * * * *", "cron minute: ** is not a number" },
        { "*-5 * * * *", "cron minute: * is not a number" },
        { "1-* * * * *", "cron minute: * is not a number" },
        { "jan * * * *", "cron minute: jan is not a number" },
        { "0 0 L * *", "cron day of month: L is not a number" },
        { "0 0 * foo *", "cron month: foo is neither a number nor a name from jan to dec" },
        { "0 0 * january *", "cron month: january is neither a number nor a name from jan to dec" },
        { "0 0 * ja *", "cron month: ja is neither a number nor a name from jan to dec" },
        { "0 0 * anf *", "cron month: anf is neither a number nor a name from jan to dec" },
        { "0 0 * mon *", "cron month: mon is neither a number nor a name from jan to dec" },
        { "0 0 * * jan", "cron day of week: jan is neither a number nor a name from sun to sat" },
        { "0 0 * * 5#3", "cron day of week: 5#3 is neither a number nor a name from sun to sat" },
        { "? * * * *", "cron minute: ? is only for the two day fields, and stands alone" },
        { "0 0 1-? * *", "cron day of month: ? is only for the two day fields, and stands alone" },
        { "0 0 * ? *", "cron month: ? is only for the two day fields, and stands alone" },
        { ", * * * *", "cron minute: a value is missing in ," },
        { "1,,2 * * * *", "cron minute: a value is missing in 1,,2" },
        { "1, * * * *", "cron minute: a value is missing in 1," },
        { "-5 * * * *", "cron minute: a value is missing in -5" },
        { "5- * * * *", "cron minute: a value is missing in 5-" },
        { "/5 * * * *", "cron minute: a value is missing in /5" },
        { "1,5/ * * * *", "cron minute: a step is missing in 1,5/" },
        { "*/0 * * * *", "cron minute: the step 0 is not within 1 to 60" },
        { "*/61 * * * *", "cron minute: the step 61 is not within 1 to 60" },
        { "0 */25 * * *", "cron hour: the step 25 is not within 1 to 24" },
        { "0 0 */32 * *", "cron day of month: the step 32 is not within 1 to 31" },
        { "0 0 * */13 *", "cron month: the step 13 is not within 1 to 12" },
        { "0 0 * * */8", "cron day of week: the step 8 is not within 1 to 7" },
        { "*/x * * * *", "cron minute: the step x is not a number" },
        { "*/-1 * * * *", "cron minute: the step -1 is not a number" },
        { "*/5/5 * * * *", "cron minute: the step 5/5 is not a number" },
        { "0 0 * * */mon", "cron day of week: the step mon is not a number" },
        { "1-2-3 * * * *", "cron minute: 2-3 is not a number" },
        { "5-1 * * * *", "cron minute: the range 5-1 runs backwards; only weekdays may do so" },
        { "0 22-2 * * *", "cron hour: the range 22-2 runs backwards; only weekdays may do so" },
        { "0 0 * nov-feb/2 *",
          "cron month: the range nov-feb runs backwards; only weekdays may do so" },
        { "0 0 30 2 *",
          "cron day of month: no month that is given has a day 30, so it can never run" },
        { "0 0 30,31 feb ?",
          "cron day of month: no month that is given has a day 30, so it can never run" },
        { "0 0 31 2,4,6,9,11 *",
          "cron day of month: no month that is given has a day 31, so it can never run" },
        { "0 0 30 2 */2",
          "cron day of month: no month that is given has a day 30, so it can never run" },
        { "\x01 * * * *", "cron minute: byte 1 of it is not printable ASCII" },
        { "1\n * * * *", "cron minute: byte 2 of it is not printable ASCII" },
        { "* * * m\xc3\xa4r *", "cron month: byte 2 of it is not printable ASCII" },
        { "* * * * \x7f", "cron day of week: byte 1 of it is not printable ASCII" },
        { "1x3456789012345678901234567890123456789012345 * * * *",
          "cron minute: 1x34567890123456789012345678901234567890 is not a number" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        expect_refused(slice_from_cstr(cases[i].text), cases[i].sentence);
    }
    expect_refused(SLICE_EMPTY, COUNT(0));
    expect_refused(slice_make("* * * *\0*", 9), COUNT(4));
    expect_refused(slice_make("* * * *\0 *", 10),
                   "cron month: byte 2 of it is not printable ASCII");
}

static void test_cron__a_text_may_have_255_bytes(void **state)
{
    (void)state;
    char text[256];
    struct cron cron;
    (void)snprintf(text, sizeof(text), "1 2 3 4 %247s", "5");
    text[255] = ' ';
    assert_int_equal(cron_parse(slice_make(text, 255), &cron, NULL), STATUS_OK);
    expect_refused(slice_make(text, 256),
                   "the cron expression is 256 bytes long, and at most 255 are allowed");
}

// ---------------------------------------------------------------------------------------------
// Running, without a change of the clock

static void test_cron__runs_when_all_fields_match(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *after;
        const char *runs;
    } cases[] = {
        { "* * * * *", "2024-05-05T10:00:00Z",
          "2024-05-05T10:01:00.000Z 2024-05-05T10:02:00.000Z" },
        { "* * * * *", "2024-05-05T10:00:59.999999Z", "2024-05-05T10:01:00.000Z" },
        { "* * * * *", "2024-05-05T09:59:59.999999Z", "2024-05-05T10:00:00.000Z" },
        { "* * * * *", "2024-12-31T23:59:00Z", "2025-01-01T00:00:00.000Z" },
        { "* * * * * *", "2024-02-28T23:59:58.5Z",
          "2024-02-28T23:59:59.000Z 2024-02-29T00:00:00.000Z 2024-02-29T00:00:01.000Z" },
        { "*/20 59 23 * * *", "2024-05-05T00:00:00Z",
          "2024-05-05T23:59:00.000Z 2024-05-05T23:59:20.000Z 2024-05-05T23:59:40.000Z "
          "2024-05-06T23:59:00.000Z" },
        { "*/10 * * * *", "2024-05-05T10:49:00Z",
          "2024-05-05T10:50:00.000Z 2024-05-05T11:00:00.000Z" },
        { "30 9,17 * * *", "2024-05-05T09:29:00Z",
          "2024-05-05T09:30:00.000Z 2024-05-05T17:30:00.000Z 2024-05-06T09:30:00.000Z" },
        { "0 9 * * mon-fri", "2024-05-02T09:00:00Z",
          "2024-05-03T09:00:00.000Z 2024-05-06T09:00:00.000Z" },
        { "0 0 * * fri-mon", "2024-05-02T00:00:00Z",
          "2024-05-03T00:00:00.000Z 2024-05-04T00:00:00.000Z 2024-05-05T00:00:00.000Z "
          "2024-05-06T00:00:00.000Z 2024-05-10T00:00:00.000Z" },
        { "0 0 31 * *", "2024-01-31T00:00:00Z",
          "2024-03-31T00:00:00.000Z 2024-05-31T00:00:00.000Z 2024-07-31T00:00:00.000Z "
          "2024-08-31T00:00:00.000Z 2024-10-31T00:00:00.000Z 2024-12-31T00:00:00.000Z "
          "2025-01-31T00:00:00.000Z" },
        { "0 0 1 jan,jul ?", "2024-01-01T00:00:00Z",
          "2024-07-01T00:00:00.000Z 2025-01-01T00:00:00.000Z" },
        { "@yearly", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00.000Z" },
        { "@hourly", "2024-01-01T00:00:00Z", "2024-01-01T01:00:00.000Z" },
        { "0 0 * * *", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00.000Z" },
        { "0 0 * * *", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00.000Z" },
        { "0 0 * * thu", "1960-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        expect_runs(&utc, cases[i].text, cases[i].after, cases[i].runs);
    }
}

static void test_cron__two_restricted_days_are_one_or_the_other(void **state)
{
    (void)state;
    expect_runs(&utc, "0 0 13 * fri", "2024-09-01T00:00:00Z",
                "2024-09-06T00:00:00.000Z 2024-09-13T00:00:00.000Z 2024-09-20T00:00:00.000Z "
                "2024-09-27T00:00:00.000Z 2024-10-04T00:00:00.000Z 2024-10-11T00:00:00.000Z "
                "2024-10-13T00:00:00.000Z");
    // The 30th never comes, but Mondays do.
    expect_runs(&utc, "0 0 30 2 mon", "2024-02-19T00:00:00Z",
                "2024-02-26T00:00:00.000Z 2025-02-03T00:00:00.000Z");
    // A star in front: both. Odd days that are Fridays; the 13th that is Sunday, Tuesday, ...
    expect_runs(&utc, "0 0 */2 * fri", "2024-09-01T00:00:00Z",
                "2024-09-13T00:00:00.000Z 2024-09-27T00:00:00.000Z 2024-10-11T00:00:00.000Z");
    expect_runs(&utc, "0 0 13 * */6", "2024-01-01T00:00:00Z",
                "2024-01-13T00:00:00.000Z 2024-04-13T00:00:00.000Z 2024-07-13T00:00:00.000Z "
                "2024-10-13T00:00:00.000Z");
}

static void test_cron__a_leap_day_is_found_across_a_century_without_one(void **state)
{
    (void)state;
    expect_runs(&utc, "0 0 29 2 *", "2092-03-01T00:00:00Z",
                "2096-02-29T00:00:00.000Z 2104-02-29T00:00:00.000Z 2108-02-29T00:00:00.000Z");
    expect_runs(&utc, "0 0 29 2 *", "1999-01-01T00:00:00Z",
                "2000-02-29T00:00:00.000Z 2004-02-29T00:00:00.000Z");
    // Sundays only: forty years at the end of a century.
    expect_runs(&utc, "0 0 29 2 */7", "2004-03-01T00:00:00Z",
                "2032-02-29T00:00:00.000Z 2060-02-29T00:00:00.000Z 2088-02-29T00:00:00.000Z "
                "2128-02-29T00:00:00.000Z");
}

static void test_cron__there_is_nothing_after_the_year_9999(void **state)
{
    (void)state;
    expect_runs(&utc, "* * * * *", "9999-12-31T23:58:00Z", "9999-12-31T23:59:00.000Z none");
    expect_runs(&utc, "* * * * * *", "9999-12-31T23:59:58Z", "9999-12-31T23:59:59.000Z none");
    expect_runs(&utc, "0 0 29 2 *", "9995-01-01T00:00:00Z", "9996-02-29T00:00:00.000Z none");
    expect_runs(&utc, "@yearly", "9999-01-01T00:00:00Z", "none");
    // The year 10000 has begun there, or has not.
    const struct zone_rules east = { .offset_s = 14 * HOUR }, west = { .offset_s = -12 * HOUR };
    expect_runs(&east, "@yearly", "9999-01-01T00:00:00Z", "9999-12-31T10:00:00.000Z none");
    expect_runs(&west, "@yearly", "9999-01-01T00:00:00Z", "9999-01-01T12:00:00.000Z none");

    // A transition after the end of time does not move it.
    const struct zone_transition too_late = { INT64_C(253402400000) * US, HOUR };
    const struct zone_rules zone = { 0, &too_late, 1 };
    expect_runs(&zone, "* * * * *", "9999-12-31T23:58:00Z", "9999-12-31T23:59:00.000Z none");

    struct cron cron = parsed("* * * * * *");
    assert_int_equal(cron_next(&cron, &utc, ENGINE_TIME_MAX - 1), INT64_MAX);
    assert_int_equal(cron_next(&cron, &utc, ENGINE_TIME_MAX), INT64_MAX);
    assert_int_equal(cron_next(&cron, &utc, INT64_MAX), INT64_MAX);
    assert_int_equal(cron_next(&cron, &utc, INT64_MIN), 0);
    assert_int_equal(cron_next(&cron, &utc, -1), 0);
    assert_int_equal(cron_next(&cron, &utc, 0), US);
}

static void test_cron__a_zone_without_changes_is_just_an_offset(void **state)
{
    (void)state;
    const struct zone_rules kathmandu = { .offset_s = 5 * HOUR + 45 * 60 },
                            local_mean_time = { .offset_s = -(4 * HOUR + 56 * 60 + 2) };
    expect_runs(&kathmandu, "0 9 * * mon", "2024-05-05T00:00:00Z",
                "2024-05-06T03:15:00.000Z 2024-05-13T03:15:00.000Z");
    expect_runs(&local_mean_time, "0 0 1 * *", "2024-05-05T00:00:00Z", "2024-06-01T04:56:02.000Z");
    expect_runs(&local_mean_time, "0 12 * * *", "1970-01-01T00:00:00Z", "1970-01-01T16:56:02.000Z");
    expect_runs(&local_mean_time, "0 20 * * *", "1960-01-01T00:00:00Z", "1970-01-01T00:56:02.000Z");
}

// ---------------------------------------------------------------------------------------------
// The clock is changed

// As in Berlin: at 02:00 it becomes 03:00 on 2024-03-31, at 03:00 it becomes 02:00 on 2024-10-27.
static const struct zone_transition berlin_transitions[] = {
    { 1711846800 * US, 2 * HOUR },
    { 1729990800 * US, 1 * HOUR },
    { 1743296400 * US, 2 * HOUR },
};
static const struct zone_rules berlin = { 1 * HOUR, berlin_transitions, 3 };

static void test_cron__a_time_in_a_gap_runs_once_right_after_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *runs;
    } cases[] = {
        { "30 2 * * *", "2024-03-30T01:30:00.000Z 2024-03-31T01:00:00.000Z "
                        "2024-04-01T00:30:00.000Z" },
        { "0 2 * * *", "2024-03-30T01:00:00.000Z 2024-03-31T01:00:00.000Z "
                       "2024-04-01T00:00:00.000Z" },
        { "59 59 2 * * *", "2024-03-30T01:59:59.000Z 2024-03-31T01:00:00.000Z "
                           "2024-04-01T00:59:59.000Z" },
        // Several in the gap: once.
        { "*/15 2 31 * *", "2024-03-31T01:00:00.000Z 2024-05-31T00:00:00.000Z" },
        { "* * 2 31 * *", "2024-03-31T01:00:00.000Z 2024-05-31T00:00:00.000Z" },
        // The instant itself is a run: once.
        { "*/30 2,3 31 * *", "2024-03-31T01:00:00.000Z 2024-03-31T01:30:00.000Z "
                             "2024-05-31T00:00:00.000Z" },
        { "0 3 31 * *", "2024-03-31T01:00:00.000Z 2024-05-31T01:00:00.000Z" },
        // Before and after it nothing changes.
        { "59 1 31 * *", "2024-03-31T00:59:00.000Z 2024-05-30T23:59:00.000Z" },
        { "1 3 31 * *", "2024-03-31T01:01:00.000Z 2024-05-31T01:01:00.000Z" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        expect_runs(&berlin, cases[i].text, "2024-03-30T00:00:00Z", cases[i].runs);
    }
}

static void test_cron__what_a_gap_left_out_is_run_only_by_who_has_not_passed_it(void **state)
{
    (void)state;
    expect_runs(&berlin, "30 2 * * *", "2024-03-31T00:59:59.999999Z", "2024-03-31T01:00:00.000Z");
    expect_runs(&berlin, "30 2 * * *", "2024-03-31T01:00:00Z", "2024-04-01T00:30:00.000Z");
    expect_runs(&berlin, "30 2 * * *", "2024-03-31T01:00:00.000001Z", "2024-04-01T00:30:00.000Z");
}

static void test_cron__a_time_that_comes_twice_runs_the_first_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *runs;
    } cases[] = {
        { "30 2 * * *", "2024-10-26T00:30:00.000Z 2024-10-27T00:30:00.000Z "
                        "2024-10-28T01:30:00.000Z" },
        { "0 2 * * *", "2024-10-26T00:00:00.000Z 2024-10-27T00:00:00.000Z "
                       "2024-10-28T01:00:00.000Z" },
        { "0 3 * * *", "2024-10-26T01:00:00.000Z 2024-10-27T02:00:00.000Z "
                       "2024-10-28T02:00:00.000Z" },
        { "*/30 1-3 27 * *", "2024-10-26T23:00:00.000Z 2024-10-26T23:30:00.000Z "
                             "2024-10-27T00:00:00.000Z 2024-10-27T00:30:00.000Z "
                             "2024-10-27T02:00:00.000Z 2024-10-27T02:30:00.000Z "
                             "2024-11-27T00:00:00.000Z" },
        { "59 59 2 27 * *", "2024-10-27T00:59:59.000Z 2024-11-27T01:59:59.000Z" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        expect_runs(&berlin, cases[i].text, "2024-10-25T12:00:00Z", cases[i].runs);
    }
    // Also for those who ask in the second pass, or right at its start.
    expect_runs(&berlin, "30 2 * * *", "2024-10-27T00:59:59Z", "2024-10-28T01:30:00.000Z");
    expect_runs(&berlin, "30 2 * * *", "2024-10-27T01:10:00Z", "2024-10-28T01:30:00.000Z");
}

static void test_cron__with_all_hours_it_runs_whenever_the_clock_matches(void **state)
{
    (void)state;
    expect_runs(&berlin, "*/30 * * * *", "2024-03-31T00:00:00Z",
                "2024-03-31T00:30:00.000Z 2024-03-31T01:00:00.000Z 2024-03-31T01:30:00.000Z");
    expect_runs(&berlin, "*/30 * * * *", "2024-10-27T00:00:00Z",
                "2024-10-27T00:30:00.000Z 2024-10-27T01:00:00.000Z 2024-10-27T01:30:00.000Z "
                "2024-10-27T02:00:00.000Z 2024-10-27T02:30:00.000Z");
    expect_runs(&berlin, "* * * * * *", "2024-10-27T00:59:58Z",
                "2024-10-27T00:59:59.000Z 2024-10-27T01:00:00.000Z 2024-10-27T01:00:01.000Z");
    expect_runs(&berlin, "30 0-23 * * *", "2024-10-26T23:30:00Z",
                "2024-10-27T00:30:00.000Z 2024-10-27T01:30:00.000Z 2024-10-27T02:30:00.000Z");
    // Nothing is made up for.
    expect_runs(&berlin, "30 * * * *", "2024-03-30T23:30:00Z",
                "2024-03-31T00:30:00.000Z 2024-03-31T01:30:00.000Z");
    // One hour less, and it is about the clock on the wall.
    expect_runs(&berlin, "30 0-22 * * *", "2024-03-30T23:30:00Z",
                "2024-03-31T00:30:00.000Z 2024-03-31T01:00:00.000Z 2024-03-31T01:30:00.000Z");
}

// ---------------------------------------------------------------------------------------------
// Odd zones

static void test_cron__a_shift_of_half_an_hour_is_a_gap_and_an_overlap(void **state)
{
    (void)state;
    // As on Lord Howe Island: 02:00 becomes 01:30 on 2024-04-07, 02:30 on 2024-10-06.
    static const struct zone_transition transitions[] = {
        { 1712415600 * US, 10 * HOUR + HOUR / 2 },
        { 1728142200 * US, 11 * HOUR },
    };
    const struct zone_rules zone = { 11 * HOUR, transitions, 2 };
    expect_runs(&zone, "45 1 * * *", "2024-04-06T00:00:00Z",
                "2024-04-06T14:45:00.000Z 2024-04-07T15:15:00.000Z");
    expect_runs(&zone, "15 2 * * *", "2024-10-05T00:00:00Z",
                "2024-10-05T15:30:00.000Z 2024-10-06T15:15:00.000Z");
    expect_runs(&zone, "0 * * * *", "2024-10-05T14:00:00Z",
                "2024-10-05T14:30:00.000Z 2024-10-05T16:00:00.000Z");
    expect_runs(&zone, "*/15 * * * *", "2024-04-06T14:30:00Z",
                "2024-04-06T14:45:00.000Z 2024-04-06T15:00:00.000Z 2024-04-06T15:15:00.000Z");
}

static void test_cron__a_day_left_out_is_made_up_for_when_the_next_begins(void **state)
{
    (void)state;
    // As in Samoa: after 2011-12-29 came 2011-12-31.
    static const struct zone_transition transitions[] = { { 1325239200 * US, 14 * HOUR } };
    const struct zone_rules zone = { -10 * HOUR, transitions, 1 };
    expect_runs(&zone, "0 9 * * *", "2011-12-29T00:00:00Z",
                "2011-12-29T19:00:00.000Z 2011-12-30T10:00:00.000Z 2011-12-30T19:00:00.000Z");
    expect_runs(&zone, "0 9 30 12 *", "2011-01-01T00:00:00Z",
                "2011-12-30T10:00:00.000Z 2012-12-29T19:00:00.000Z");
    expect_runs(&zone, "0 0,6,12 * * fri", "2011-12-29T00:00:00Z",
                "2011-12-30T10:00:00.000Z 2012-01-05T10:00:00.000Z");
    expect_runs(&zone, "0 0 31 12 *", "2011-01-01T00:00:00Z",
                "2011-12-30T10:00:00.000Z 2012-12-30T10:00:00.000Z");
    expect_runs(&zone, "0 * 30 12 *", "2011-01-01T00:00:00Z", "2012-12-29T10:00:00.000Z");
}

static void test_cron__a_day_that_comes_twice_runs_the_first_time(void **state)
{
    (void)state;
    static const struct zone_transition transitions[] = { { 1325239200 * US, -10 * HOUR } };
    const struct zone_rules zone = { 14 * HOUR, transitions, 1 };
    expect_runs(&zone, "0 9 * * *", "2011-12-29T00:00:00Z",
                "2011-12-29T19:00:00.000Z 2011-12-31T19:00:00.000Z");
    expect_runs(&zone, "0 9 * * *", "2011-12-30T18:00:00Z", "2011-12-31T19:00:00.000Z");
}

static void test_cron__transitions_close_together_count_each_time_once(void **state)
{
    (void)state;
    // On 2024-05-05 at 02:00 to 03:00; half an hour later, at 03:30, back to 02:30.
    static const struct zone_transition there_and_back[] = {
        { 1714874400 * US, 1 * HOUR },
        { 1714876200 * US, 0 },
    };
    const struct zone_rules zone = { 0, there_and_back, 2 };
    expect_runs(&zone, "*/15 2 5 5 *", "2024-05-05T00:00:00Z",
                "2024-05-05T02:00:00.000Z 2025-05-05T02:00:00.000Z");
    expect_runs(&zone, "*/15 3 5 5 *", "2024-05-05T00:00:00Z",
                "2024-05-05T02:00:00.000Z 2024-05-05T02:15:00.000Z 2024-05-05T03:30:00.000Z "
                "2024-05-05T03:45:00.000Z 2025-05-05T03:00:00.000Z");
    expect_runs(&zone, "15 * 5 5 *", "2024-05-05T01:00:00Z",
                "2024-05-05T01:15:00.000Z 2024-05-05T02:15:00.000Z 2024-05-05T03:15:00.000Z");

    // Back twice: 02:00 to 01:00, and again when it is 01:30, to 00:30.
    static const struct zone_transition back_twice[] = {
        { 1714874400 * US, -1 * HOUR },
        { 1714876200 * US, -2 * HOUR },
    };
    const struct zone_rules back = { 0, back_twice, 2 };
    expect_runs(&back, "*/20 0-2 5 5 *", "2024-05-04T23:59:59Z",
                "2024-05-05T00:00:00.000Z 2024-05-05T00:20:00.000Z 2024-05-05T00:40:00.000Z "
                "2024-05-05T01:00:00.000Z 2024-05-05T01:20:00.000Z 2024-05-05T01:40:00.000Z "
                "2024-05-05T04:00:00.000Z");
    // Also for those who ask when both have happened.
    expect_runs(&back, "*/20 0-2 5 5 *", "2024-05-05T02:45:00Z", "2024-05-05T04:00:00.000Z");
}

static void test_cron__transitions_that_change_nothing_are_nothing(void **state)
{
    (void)state;
    // The same offset again; two at one instant, of which the last counts; one in mid-second.
    static const struct zone_transition transitions[] = {
        { 1714874400 * US, 0 }, { 1714878000 * US, 5 * HOUR },
        { 1714878000 * US, 0 }, { 1714881600 * US + 1, -7 * HOUR },
        { 1714881601 * US, 0 },
    };
    const struct zone_rules zone = { 0, transitions, 5 };
    expect_runs(&zone, "*/30 2-4 * * *", "2024-05-05T01:30:00Z",
                "2024-05-05T02:00:00.000Z 2024-05-05T02:30:00.000Z 2024-05-05T03:00:00.000Z "
                "2024-05-05T03:30:00.000Z 2024-05-05T04:00:00.000Z 2024-05-05T04:30:00.000Z "
                "2024-05-06T02:00:00.000Z");
}

static void test_cron__a_change_may_be_odd_in_seconds(void **state)
{
    (void)state;
    // From local mean time, 56 min 2 s ahead, to one hour, as the clocks showed 2024-05-05 00:00.
    static const struct zone_transition transitions[] = { { 1714863838 * US, HOUR } };
    const struct zone_rules zone = { 56 * 60 + 2, transitions, 1 };
    expect_runs(&zone, "0 0 * * *", "2024-05-04T00:00:00Z",
                "2024-05-04T23:03:58.000Z 2024-05-05T23:00:00.000Z");
    expect_runs(&zone, "* * * * *", "2024-05-04T23:02:00Z",
                "2024-05-04T23:02:58.000Z 2024-05-04T23:04:00.000Z");
}

// ---------------------------------------------------------------------------------------------

// A caller that asks between two runs is told the second.
static void test_cron__asking_more_often_gives_the_same_runs(void **state)
{
    (void)state;
    static const char *const texts[] = { "30 2 * * *", "*/7 1-3 * * *",   "*/10 * * * *",
                                         "0 0 29 2 *", "0 9 * * mon-fri", "15 2 27 10 fri",
                                         "7 * * * * *" };
    struct random random;
    random_init(&random);
    for (int round = 0; round < ROUNDS; round++) {
        struct zone_transition transitions[6];
        struct zone_rules zone = { 0, transitions, random_below(&random, 7) };
        int64_t at_s = 1700000000;
        for (size_t i = 0; i < zone.count; i++) {
            at_s += (int64_t)random_below(&random, i % 2 ? 4 * HOUR : 100 * 24 * HOUR);
            transitions[i].at_us = at_s * US;
            transitions[i].offset_s =
                (int32_t)random_below(&random, 2 * (uint64_t)HALF_DAY) - HALF_DAY;
        }
        struct cron cron = parsed(texts[random_below(&random, sizeof(texts) / sizeof(texts[0]))]);
        int64_t after_us = 1699990000 * US + (int64_t)random_below(&random, 30000000 * US);
        int64_t next_us = cron_next(&cron, &zone, after_us);
        assert_true(next_us > after_us && next_us % US == 0);
        int64_t between_us =
            after_us + (int64_t)random_below(&random, (uint64_t)(next_us - after_us));
        assert_int_equal(cron_next(&cron, &zone, between_us), next_us);
        assert_true(cron_next(&cron, &zone, next_us) > next_us);
    }
}

// Transitions in no order, offsets of years: no host should, but nothing breaks.
static void test_cron__whatever_a_zone_says_runs_go_forwards(void **state)
{
    (void)state;
    static const char *const texts[] = { "30 2 * * *", "*/10 * * * *", "0 0 29 2 *" };
    static const int64_t ends[] = { INT64_MIN, INT64_MAX, 0, -1 };
    struct random random;
    random_init(&random);
    for (int round = 0; round < ROUNDS; round++) {
        struct zone_transition transitions[5];
        struct zone_rules zone = { (int32_t)random_u64(&random), transitions, 5 };
        for (size_t i = 0; i < zone.count; i++) {
            uint64_t kind = random_below(&random, 8);
            transitions[i].at_us =
                kind < 4 ? ends[kind] : (int64_t)random_below(&random, ENGINE_TIME_MAX);
            transitions[i].offset_s = kind == 5 ? INT32_MIN : (int32_t)random_u64(&random);
        }
        struct cron cron = parsed(texts[random_below(&random, sizeof(texts) / sizeof(texts[0]))]);
        int64_t at_us = (int64_t)random_below(&random, ENGINE_TIME_MAX);
        for (int i = 0; i < 5 && at_us != INT64_MAX; i++) {
            int64_t next_us = cron_next(&cron, &zone, at_us);
            assert_true(next_us > at_us);
            assert_true(next_us <= ENGINE_TIME_MAX || next_us == INT64_MAX);
            at_us = next_us;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_cron__five_fields_are_minute_to_weekday_and_six_begin_with_the_second),
        cmocka_unit_test(test_cron__a_field_is_a_list_of_values_ranges_and_steps),
        cmocka_unit_test(test_cron__months_and_weekdays_have_names_in_any_case),
        cmocka_unit_test(test_cron__weekdays_are_a_circle_and_sunday_is_0_and_7),
        cmocka_unit_test(test_cron__both_days_count_only_when_neither_begins_with_a_star),
        cmocka_unit_test(test_cron__a_word_stands_for_five_fields),
        cmocka_unit_test(test_cron__refuses_all_else_names_the_field_and_nothing_changes),
        cmocka_unit_test(test_cron__a_text_may_have_255_bytes),
        cmocka_unit_test(test_cron__runs_when_all_fields_match),
        cmocka_unit_test(test_cron__two_restricted_days_are_one_or_the_other),
        cmocka_unit_test(test_cron__a_leap_day_is_found_across_a_century_without_one),
        cmocka_unit_test(test_cron__there_is_nothing_after_the_year_9999),
        cmocka_unit_test(test_cron__a_zone_without_changes_is_just_an_offset),
        cmocka_unit_test(test_cron__a_time_in_a_gap_runs_once_right_after_it),
        cmocka_unit_test(test_cron__what_a_gap_left_out_is_run_only_by_who_has_not_passed_it),
        cmocka_unit_test(test_cron__a_time_that_comes_twice_runs_the_first_time),
        cmocka_unit_test(test_cron__with_all_hours_it_runs_whenever_the_clock_matches),
        cmocka_unit_test(test_cron__a_shift_of_half_an_hour_is_a_gap_and_an_overlap),
        cmocka_unit_test(test_cron__a_day_left_out_is_made_up_for_when_the_next_begins),
        cmocka_unit_test(test_cron__a_day_that_comes_twice_runs_the_first_time),
        cmocka_unit_test(test_cron__transitions_close_together_count_each_time_once),
        cmocka_unit_test(test_cron__transitions_that_change_nothing_are_nothing),
        cmocka_unit_test(test_cron__a_change_may_be_odd_in_seconds),
        cmocka_unit_test(test_cron__asking_more_often_gives_the_same_runs),
        cmocka_unit_test(test_cron__whatever_a_zone_says_runs_go_forwards),
    };
    return cmocka_run_group_tests_name("cron", tests, NULL, NULL);
}
