// SPDX-License-Identifier: MIT
#include "server/push/rules/judge.h"

#include "test.h"

#include <curl/curl.h>

#define SECOND  INT64_C(1000000)
#define NOW     (INT64_C(784111777) * SECOND) // Sun, 06 Nov 1994 08:49:37 GMT
#define LONGEST (INT64_C(7) * 86400 * SECOND)

static const struct push_rules strict = { .fail_4xx = true, .free_attempts = 100 };
static const struct push_rules mild = { .free_attempts = 100 };

static void test_push_judge__retry_after_is_seconds_or_a_date(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int64_t wanted;
    } rows[] = {
        { "0", 0 },
        { "1", SECOND },
        { "120", 120 * SECOND },
        { "604800", LONGEST },
        { "604801", LONGEST },
        { "18446744073709551615", LONGEST },
        { "99999999999999999999999999", LONGEST },
        { "Sun, 06 Nov 1994 08:49:47 GMT", 10 * SECOND },
        { "Sunday, 06-Nov-94 08:50:37 GMT", 60 * SECOND },
        { "Sun, 06 Nov 1994 08:49:37 GMT", 0 },
        { "Sun, 06 Nov 1994 08:00:00 GMT", 0 },
        { "Fri, 01 Jan 2100 00:00:00 GMT", LONGEST },
        { "", -1 },
        { "-1", -1 },
        { "soon", -1 },
        { "1.5 hours and a very long story that no header should ever have to tell", -1 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].value); i++) {
        int64_t given = push_retry_after(slice_from_cstr(rows[i].value), NOW);
        if (given != rows[i].wanted) {
            fail_msg("'%s' is %lld and not %lld", rows[i].value, (long long)given,
                     (long long)rows[i].wanted);
        }
    }
}

static void test_push_judge__what_each_status_means(void **state)
{
    (void)state;
    static const struct {
        long status;
        int64_t retry_after_us;
        bool fail_4xx;
        enum push_verdict verdict;
        enum push_health health;
        const char *group;
    } rows[] = {
        { 200, -1, true, PUSH_COMPLETE, PUSH_WELL, "" },
        { 204, -1, true, PUSH_COMPLETE, PUSH_WELL, "" },
        { 299, 5, true, PUSH_COMPLETE, PUSH_WELL, "" },
        { 202, -1, true, PUSH_ACCEPTED, PUSH_WELL, "" },
        { 301, -1, true, PUSH_RETRY, PUSH_ILL, "push:301" },
        { 304, 5, true, PUSH_RETRY, PUSH_ILL, "push:304" },
        { 400, -1, false, PUSH_RETRY, PUSH_WELL, "push:400" },
        { 400, -1, true, PUSH_FAIL, PUSH_WELL, "push:400" },
        { 404, 5, true, PUSH_FAIL, PUSH_WELL, "push:404" },
        { 408, -1, true, PUSH_RETRY, PUSH_WELL, "push:408" },
        { 425, -1, true, PUSH_RETRY, PUSH_WELL, "push:425" },
        { 429, -1, true, PUSH_RETRY, PUSH_WELL, "push:429" },
        { 429, 5, true, PUSH_LATER, PUSH_UNKNOWN, "push:429" },
        { 429, 5 * SECOND, true, PUSH_LATER, PUSH_UNKNOWN, "push:429" },
        { 429, 0, false, PUSH_LATER, PUSH_UNKNOWN, "push:429" },
        { 500, 5, true, PUSH_RETRY, PUSH_ILL, "push:500" },
        { 503, -1, true, PUSH_RETRY, PUSH_ILL, "push:503" },
        { 503, 5, true, PUSH_LATER, PUSH_UNKNOWN, "push:503" },
        { 999, -1, true, PUSH_RETRY, PUSH_ILL, "push:999" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].group); i++) {
        const struct push_answer answer = { .curl = CURLE_OK,
                                            .status = rows[i].status,
                                            .retry_after_us = rows[i].retry_after_us };
        const struct push_rules rules = { rows[i].fail_4xx, 100 };
        struct push_judgement judgement = push_judge(&answer, &rules, 1);
        assert_int_equal(judgement.verdict, rows[i].verdict);
        assert_int_equal(judgement.health, rows[i].health);
        assert_string_equal(judgement.group, rows[i].group);
        // What costs nothing is not asked for again at once.
        int64_t least_us = rows[i].retry_after_us > SECOND ? rows[i].retry_after_us : SECOND;
        int64_t delay_us = rows[i].verdict == PUSH_LATER ? least_us : 0;
        assert_int_equal(judgement.delay_us, delay_us);
    }
}

// Also when the status that came before was a good one.
static void test_push_judge__what_is_no_answer_is_tried_again(void **state)
{
    (void)state;
    static const struct {
        CURLcode code;
        const char *group;
    } rows[] = {
        { CURLE_OPERATION_TIMEDOUT, "push:timeout" },
        { CURLE_COULDNT_CONNECT, "push:unreachable" },
        { CURLE_COULDNT_RESOLVE_HOST, "push:unreachable" },
        { CURLE_PEER_FAILED_VERIFICATION, "push:tls" },
        { CURLE_SSL_CONNECT_ERROR, "push:tls" },
        { CURLE_PARTIAL_FILE, "push:broken" },
        { CURLE_RECV_ERROR, "push:broken" },
        { CURLE_HTTP2_STREAM, "push:broken" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].group); i++) {
        const struct push_answer answer = { .curl = (int)rows[i].code,
                                            .status = 200,
                                            .retry_after_us = -1 };
        struct push_judgement judgement = push_judge(&answer, &strict, 1);
        assert_int_equal(judgement.verdict, PUSH_RETRY);
        assert_int_equal(judgement.health, PUSH_ILL);
        assert_string_equal(judgement.group, rows[i].group);
    }
}

static void
test_push_judge__a_too_large_answer_is_tried_again_unless_its_status_says_more(void **state)
{
    (void)state;
    static const struct {
        long status;
        enum push_verdict verdict;
        const char *group;
    } rows[] = {
        { 0, PUSH_RETRY, "push:too-large" },   { 100, PUSH_RETRY, "push:too-large" },
        { 200, PUSH_RETRY, "push:too-large" }, { 202, PUSH_RETRY, "push:too-large" },
        { 400, PUSH_FAIL, "push:400" },        { 500, PUSH_RETRY, "push:500" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].group); i++) {
        const struct push_answer answer = { .curl = CURLE_WRITE_ERROR,
                                            .status = rows[i].status,
                                            .retry_after_us = -1,
                                            .too_large = true };
        struct push_judgement judgement = push_judge(&answer, &strict, 1);
        assert_int_equal(judgement.verdict, rows[i].verdict);
        assert_string_equal(judgement.group, rows[i].group);
    }
}

static void test_push_judge__an_address_that_was_refused_costs_no_retry(void **state)
{
    (void)state;
    const struct push_answer answer = { .curl = CURLE_COULDNT_CONNECT, .refused = true };
    struct push_judgement judgement = push_judge(&answer, &mild, 101);
    assert_int_equal(judgement.verdict, PUSH_LATER);
    assert_string_equal(judgement.group, "push:refused");
}

static void test_push_judge__retry_after_costs_a_retry_after_the_free_attempts(void **state)
{
    (void)state;
    const struct push_answer answer = { .curl = CURLE_OK,
                                        .status = 429,
                                        .retry_after_us = 5 * SECOND };
    const struct push_rules none = { 0 };
    struct push_judgement judgement = push_judge(&answer, &mild, 100);
    assert_int_equal(judgement.verdict, PUSH_LATER);
    judgement = push_judge(&answer, &mild, 101);
    assert_int_equal(judgement.verdict, PUSH_RETRY);
    assert_int_equal(judgement.delay_us, 5 * SECOND);
    assert_string_equal(judgement.group, "push:429");
    assert_int_equal(push_judge(&answer, &none, 1).verdict, PUSH_RETRY);
}

static void test_push_judge__what_fails_on_this_side_is_nobodys_fault(void **state)
{
    (void)state;
    const struct push_answer answer = { .curl = CURLE_COULDNT_CONNECT, .starved = true };
    struct push_judgement judgement = push_judge(&answer, &mild, 1);
    assert_int_equal(judgement.verdict, PUSH_LATER);
    assert_int_equal(judgement.health, PUSH_UNKNOWN);
    assert_true(judgement.delay_us > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_judge__retry_after_is_seconds_or_a_date),
        cmocka_unit_test(test_push_judge__what_each_status_means),
        cmocka_unit_test(test_push_judge__what_is_no_answer_is_tried_again),
        cmocka_unit_test(
            test_push_judge__a_too_large_answer_is_tried_again_unless_its_status_says_more),
        cmocka_unit_test(test_push_judge__an_address_that_was_refused_costs_no_retry),
        cmocka_unit_test(test_push_judge__retry_after_costs_a_retry_after_the_free_attempts),
        cmocka_unit_test(test_push_judge__what_fails_on_this_side_is_nobodys_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
