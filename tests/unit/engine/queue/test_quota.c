// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include "engine/queue/quota.h"

static void allow(struct world *w, struct quotas quotas)
{
    engine_set_quotas(w->engine, &quotas);
}

static void put_data(struct world *w, const char *queue, const char *jid, const char *data)
{
    put_with(w, 1,
             (struct put_request){ .queue = slice_from_cstr(queue),
                                   .jid = slice_from_cstr(jid),
                                   .data = slice_from_cstr(data) });
}

static void test_quota__jobs_count_until_they_are_complete_or_gone(void **state)
{
    struct world *w = *state;
    allow(w, (struct quotas){ .jobs = 2 });
    put(w, 1, "q", "a");
    put(w, 1, "r", "b");
    refused(w, STATUS_TOO_LARGE, "has 2 jobs that are not complete and may have 2");
    put(w, 1, "q", "c");
    put(w, 1, "r", "a"); // it is counted already
    assert_string_equal(pop(w, 1, "r", "w", 1), "a");
    refused(w, STATUS_TOO_LARGE, "option max-jobs");
    put(w, 1, "q", "c");
    complete(w, 1, "w", "a");
    put(w, 1, "q", "c");
    refused(w, STATUS_TOO_LARGE, "max-jobs");
    put(w, 1, "q", "a"); // complete, so it would count again
    assert_int_equal(cancel(w, 1, "b"), 1);
    put(w, 1, "q", "a");
    assert_int_equal(faults_of(w), 0);
}

static void test_quota__bytes_are_those_of_the_data_as_it_is_now(void **state)
{
    struct world *w = *state;
    allow(w, (struct quotas){ .bytes = 10 });
    put_data(w, "q", "a", "123456");
    refused(w, STATUS_TOO_LARGE, "has 6 bytes of jobs that are not complete and may have 10");
    put_data(w, "q", "b", "12345");
    put_data(w, "q", "b", "1234");
    refused(w, STATUS_TOO_LARGE, "max-bytes");
    put_data(w, "q", "a", "1234567");
    put_data(w, "q", "a", "1");
    put_data(w, "q", "a", "123456");
    reload(w);
    allow(w, (struct quotas){ .bytes = 10 });
    refused(w, STATUS_TOO_LARGE, "has 10 bytes");
    put_data(w, "q", "c", "1");
    assert_int_equal(cancel(w, 1, "b"), 1);
    put_data(w, "q", "c", "1");
    assert_int_equal(faults_of(w), 0);
}

static void test_quota__a_queue_that_is_full_is_named(void **state)
{
    struct world *w = *state;
    allow(w, (struct quotas){ .queue_jobs = 2, .queue_bytes = 6 });
    put_data(w, "mail", "a", "1");
    put_data(w, "mail", "b", "1");
    refused(w, STATUS_TOO_LARGE, "queue mail has 2 jobs and may have 2");
    put_data(w, "mail", "c", "1");
    put_data(w, "web", "c", "123456");
    refused(w, STATUS_TOO_LARGE, "queue web has 6 bytes of jobs and may have 6");
    put_data(w, "web", "d", "1");
    refused(w, STATUS_TOO_LARGE, "raise the option mail-max-jobs");
    put_data(w, "mail", "c", "1"); // it would move there
    put_data(w, "films", "a", "1");
    put_data(w, "mail", "d", "1");
    assert_int_equal(faults_of(w), 0);
}

static void test_quota__options_of_the_namespace_take_precedence(void **state)
{
    struct world *w = *state;
    allow(w, (struct quotas){ .jobs = 1, .queue_jobs = 1 });
    put(w, 1, "q", "a");
    refused(w, STATUS_TOO_LARGE, "may have 1");
    put(w, 1, "q", "b");
    set(w, "max-jobs", "3");
    refused(w, STATUS_TOO_LARGE, "queue q has 1 jobs");
    put(w, 1, "q", "b");
    set(w, "q-max-jobs", "2");
    put(w, 1, "q", "b");
    refused(w, STATUS_TOO_LARGE, "queue q has 2 jobs and may have 2");
    put(w, 1, "q", "c");
    put(w, 1, "r", "c");
    refused(w, STATUS_TOO_LARGE, "may have 3");
    put(w, 1, "s", "d");
    unset(w, "max-jobs");
    refused(w, STATUS_TOO_LARGE, "may have 1");
    put(w, 1, "s", "d");
}

static void
test_quota__what_is_there_when_a_limit_is_lowered_stays_and_can_be_worked_off(void **state)
{
    struct world *w = *state;
    put(w, 1, "q", "a");
    put(w, 1, "q", "b");
    put(w, 1, "q", "c");
    allow(w, (struct quotas){ .jobs = 1, .queue_jobs = 1 });
    assert_string_equal(pop(w, 1, "q", "w", 1), "a");
    // To a queue that has many, too: the job was accepted once.
    assert_string_equal(complete_with(w, 1,
                                      (struct complete_request){
                                          .holder = { .jid = SLICE("a"), .worker = SLICE("w") },
                                          .next = SLICE("q") }),
                        "waiting");
    assert_int_equal(cancel(w, 1, "a,b"), 2);
    refused(w, STATUS_TOO_LARGE, "may have 1");
    put(w, 1, "r", "d");
    assert_int_equal(faults_of(w), 0);
}

static void test_quota__queues_and_recurring_jobs_have_limits_of_their_own(void **state)
{
    struct world *w = *state;
    allow(w, (struct quotas){ .queues = 2, .recurring = 1, .interval_us = us(1) });
    put(w, 1, "q", "a");
    put(w, 1, "r", "b");
    refused(w, STATUS_TOO_LARGE, "has 2 queues and may have 2");
    put(w, 1, "s", "c");
    refused(w, STATUS_INVALID, "must be at least 1000000 us");
    recur(w, 1, "q", "often", 0.5);
    recur(w, 1, "q", "hourly", 3600);
    recur(w, 1, "q", "hourly", 1800);
    refused(w, STATUS_TOO_LARGE, "has 1 recurring jobs and may have 1");
    recur(w, 1, "q", "daily", 86400);
}

static void test_quota__a_recurring_job_whose_queue_is_full_misses_its_run(void **state)
{
    struct world *w = *state;
    allow(w, (struct quotas){ .queue_jobs = 1 });
    recur(w, 0, "q", "every", 10);
    tick(w, 25); // the runs at 10 and at 20 found the first one there
    assert_string_equal(pop(w, 25, "q", "w", 9), "every-1");
    complete(w, 25, "w", "every-1");
    assert_string_equal(pop(w, 29, "q", "w", 9), "");
    tick(w, 30);
    const char *jid = pop(w, 30, "q", "w", 9);
    assert_true(slice_starts_with(slice_from_cstr(jid), SLICE("every-")));
    assert_int_equal(faults_of(w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_quota__jobs_count_until_they_are_complete_or_gone),
        CLIENT_TEST(test_quota__jobs_count_until_they_are_complete_or_gone),
        SERVER_TEST(test_quota__bytes_are_those_of_the_data_as_it_is_now),
        SERVER_TEST(test_quota__a_queue_that_is_full_is_named),
        SERVER_TEST(test_quota__options_of_the_namespace_take_precedence),
        SERVER_TEST(test_quota__what_is_there_when_a_limit_is_lowered_stays_and_can_be_worked_off),
        SERVER_TEST(test_quota__queues_and_recurring_jobs_have_limits_of_their_own),
        SERVER_TEST(test_quota__a_recurring_job_whose_queue_is_full_misses_its_run),
    };
    return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
