// SPDX-License-Identifier: MIT
#include "host/zones/tzrule.h"

#include "base/timefmt.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

static int64_t moment(const char *text)
{
    int64_t us;
    assert_int_equal(timefmt_parse(slice_from_cstr(text), &us), STATUS_OK);
    return us / 1000000;
}

static enum status parse(const char *text, struct tzrule *out)
{
    // A copy without a zero behind it, so that reading too far shows.
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size); // NOLINT(bugprone-not-null-terminated-result): no zero is the point
    enum status status = tzrule_parse(slice_make(copy, size), out);
    free(copy);
    return status;
}

static void test_tzrule__summer_begins_and_ends_when_the_rule_says(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        int year;
        const char *start, *end;
    } cases[] = {
        { "CET-1CEST,M3.5.0,M10.5.0/3", 2024, "2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z" },
        { "EST5EDT,M3.2.0,M11.1.0", 2024, "2024-03-10T07:00:00Z", "2024-11-03T06:00:00Z" },
        { "AEST-10AEDT,M10.1.0,M4.1.0/3", 2024, "2024-10-05T16:00:00Z", "2024-04-06T16:00:00Z" },
        { "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2024, "2024-10-05T15:30:00Z",
          "2024-04-06T15:00:00Z" },
        { "IST-2IDT,M3.4.4/26,M10.5.0", 2024, "2024-03-29T00:00:00Z", "2024-10-26T23:00:00Z" },
        { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2024, "2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z" },
        { "AAA0BBB,J60/0,J365", 2024, "2024-03-01T00:00:00Z", "2024-12-31T01:00:00Z" },
        { "AAA0BBB,J59/0,60", 2024, "2024-02-28T00:00:00Z", "2024-03-01T01:00:00Z" },
        { "AAA0BBB,J60/0,59", 2023, "2023-03-01T00:00:00Z", "2023-03-01T01:00:00Z" },
        { "AAA0BBB,0/0,365/1:02:03", 2023, "2023-01-01T00:00:00Z", "2024-01-01T00:02:03Z" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].rule); i++) {
        struct tzrule rule;
        assert_int_equal(parse(cases[i].rule, &rule), STATUS_OK);
        assert_true(rule.has_summer);
        assert_int_equal(tzrule_start(&rule, cases[i].year), moment(cases[i].start));
        assert_int_equal(tzrule_end(&rule, cases[i].year), moment(cases[i].end));
    }
}

static void test_tzrule__offsets_are_to_the_east(void **state)
{
    (void)state;
    struct tzrule rule;
    assert_int_equal(parse("<+0545>-5:45", &rule), STATUS_OK);
    assert_false(rule.has_summer);
    assert_int_equal(rule.standard_s, 5 * 3600 + 45 * 60);
    assert_int_equal(parse("IST-1GMT0,M10.5.0,M3.5.0/1", &rule), STATUS_OK);
    assert_int_equal(rule.standard_s, 3600);
    assert_int_equal(rule.summer_s, 0);
    assert_int_equal(parse("NST+3:30:15", &rule), STATUS_OK);
    assert_int_equal(rule.standard_s, -(3 * 3600 + 30 * 60 + 15));
}

static void test_tzrule__malformed_ones_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "CET",
        "CE-1",
        "<>-1",
        "<+01-1",
        "CET-",
        "CET-25",
        "CET-1:60",
        "CET-1:",
        "CET-1CEST",
        "CET-1CEST,",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,",
        "CET-1CEST,M3.5.0,M10.5.0/",
        "CET-1CEST,M3.5.0,M10.5.0/168",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M0.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,M3.5,M10.5.0",
        "CET-1CEST,J0,J5",
        "CET-1CEST,J366,J5",
        "CET-1CEST,366,5",
        "CET-1CEST,M3.5.0,M10.5.0 ",
        "CET-99999999999999999999",
        ":Europe/Berlin",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i]); i++) {
        struct tzrule rule;
        if (parse(cases[i], &rule) != STATUS_INVALID) {
            fail_msg("'%s' is taken for a rule", cases[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tzrule__summer_begins_and_ends_when_the_rule_says),
        cmocka_unit_test(test_tzrule__offsets_are_to_the_east),
        cmocka_unit_test(test_tzrule__malformed_ones_are_refused),
    };
    return cmocka_run_group_tests_name("tzrule", tests, NULL, NULL);
}
