// SPDX-License-Identifier: MIT
// Calls that wait in this process: who is served when, and how they end.
#include "local_test.h"

#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void start_waiting(struct local_test *test, struct taker *taker, const char *queue)
{
    taker_start(taker, test->queue, queue, FORELONG);
    local_test_until_waiting(test, 1);
}

static void test_waiting__a_put_ends_it(void **state)
{
    struct local_test *test = *state;
    struct taker taker;
    start_waiting(test, &taker, "mail");
    local_test_put(test, "other", "bob");
    local_test_put(test, "mail", "ann");
    taker_expect(&taker, SLUICE_OK, "ann");
}

static void test_waiting__its_time_ends_it(void **state)
{
    struct local_test *test = *state;
    struct sluice_job *job;
    assert_int_equal(sluice_next(test->queue, "mail", 0.01, &job, &test->error), SLUICE_TIMED_OUT);
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_next(test->queue, "mail", 0.01, &job, &test->error), SLUICE_OK);
    sluice_job_free(job);
}

// How many workers listen to the queue `mail`.
static long long listeners(struct local_test *test)
{
    struct sluice_value *answer = local_test_call(test, "Q.QUEUE", "mail");
    long long count = sluice_value_integer(sluice_value_get(answer, "listeners"));
    sluice_value_free(answer);
    return count;
}

static void test_waiting__a_worker_listens_until_its_handle_is_closed(void **state)
{
    struct local_test *test = *state;
    struct sluice *other = local_test_open(test, NULL, NULL);
    struct sluice_job *job;
    assert_int_equal(sluice_next(other, "mail", 0, &job, &test->error), SLUICE_TIMED_OUT);
    assert_int_equal(listeners(test), 1);
    sluice_close(other);
    assert_int_equal(listeners(test), 0);
}

static void test_waiting__they_are_served_in_order(void **state)
{
    struct local_test *test = *state;
    static const char *const jids[] = { "ann", "bob", "eve", "joe" };
    struct taker takers[4];
    for (int i = 0; i < 4; i++) {
        taker_start(&takers[i], test->queue, "mail", FORELONG);
        local_test_until_waiting(test, i + 1);
    }
    for (int i = 0; i < 4; i++) {
        local_test_put(test, "mail", jids[i]);
    }
    for (int i = 0; i < 4; i++) {
        taker_expect(&takers[i], SLUICE_OK, jids[i]);
    }
}

static void test_waiting__a_job_that_falls_due_ends_it(void **state)
{
    struct local_test *test = *state;
    struct taker taker;
    const struct sluice_put_options put =
        SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}", .jid = "ann", .delay = 0.05);
    assert_int_equal(sluice_put(test->queue, &put, NULL, &test->error), SLUICE_OK);
    taker_start(&taker, test->queue, "mail", FORELONG);
    taker_expect(&taker, SLUICE_OK, "ann");
}

static void test_waiting__a_lost_lease_ends_it(void **state)
{
    struct local_test *test = *state;
    struct sluice_job *job;
    struct taker taker;
    local_test_do(test, "Q.CONFIG.SET", "heartbeat", "0.05");
    local_test_do(test, "Q.CONFIG.SET", "grace-period", "0");
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, NULL), SLUICE_OK);
    local_test_do(test, "Q.CONFIG.SET", "heartbeat", "60"); // for the worker that gets it then
    taker_start(&taker, test->queue, "mail", FORELONG);
    taker_expect(&taker, SLUICE_OK, "ann");
    assert_int_equal(sluice_done(job, NULL, NULL), SLUICE_STALE);
    sluice_job_free(job);
}

static void test_waiting__a_limit_that_is_free_again_ends_it(void **state)
{
    struct local_test *test = *state;
    struct sluice_job *job;
    struct taker taker;
    local_test_do(test, "Q.LIMIT.SET", "QUEUE", "mail", "CONCURRENCY", "1");
    local_test_put(test, "mail", "ann");
    local_test_put(test, "mail", "bob");
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, NULL), SLUICE_OK);
    start_waiting(test, &taker, "mail");
    assert_int_equal(sluice_done(job, NULL, NULL), SLUICE_OK);
    taker_expect(&taker, SLUICE_OK, "bob");
    sluice_job_free(job);
}

static void test_waiting__a_queue_that_goes_on_ends_it(void **state)
{
    struct local_test *test = *state;
    struct taker taker;
    local_test_do(test, "Q.PAUSE", "mail");
    local_test_put(test, "mail", "ann");
    start_waiting(test, &taker, "mail");
    local_test_do(test, "Q.UNPAUSE", "mail");
    taker_expect(&taker, SLUICE_OK, "ann");
}

// ---------------------------------------------------------------------------------------------
// For a job to finish

struct watcher {
    struct sluice *queue;
    pthread_t thread;
    struct sluice_value *value;
    enum sluice_status status;
};

static void *watch(void *context)
{
    struct watcher *watcher = context;
    watcher->status = sluice_wait(watcher->queue, "ann", FORELONG, &watcher->value, NULL);
    return NULL;
}

static void test_waiting__the_end_of_a_job_is_told(void **state)
{
    struct local_test *test = *state;
    struct sluice_job *job;
    struct watcher watcher = { .queue = test->queue };
    local_test_put(test, "mail", "ann");
    assert_int_equal(pthread_create(&watcher.thread, NULL, watch, &watcher), 0);
    local_test_until_waiting(test, 1);
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, NULL), SLUICE_OK);
    assert_int_equal(sluice_done(job, "[1]", NULL), SLUICE_OK);
    sluice_job_free(job);
    assert_int_equal(pthread_join(watcher.thread, NULL), 0);
    assert_int_equal(watcher.status, SLUICE_OK);
    assert_string_equal(sluice_value_text(sluice_value_get(watcher.value, "state"), NULL),
                        "complete");
    assert_string_equal(sluice_value_text(sluice_value_get(watcher.value, "result"), NULL), "[1]");
    sluice_value_free(watcher.value);
}

static void test_waiting__a_job_that_never_ends_is_not_waited_for_longer_than_asked(void **state)
{
    struct local_test *test = *state;
    struct sluice_value *value = NULL;
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_wait(test->queue, "ann", 0.01, &value, NULL), SLUICE_TIMED_OUT);
    sluice_value_free(value);
}

// ---------------------------------------------------------------------------------------------
// Interrupted

static struct sluice *of_signal;

static void on_signal(int number)
{
    (void)number;
    sluice_interrupt(of_signal, true);
}

static void test_waiting__a_signal_handler_can_end_it(void **state)
{
    struct local_test *test = *state;
    struct taker takers[3];
    struct sigaction before, action = { .sa_handler = on_signal };
    of_signal = test->queue;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    for (int i = 0; i < 3; i++) {
        taker_start(&takers[i], test->queue, "mail", FORELONG);
    }
    local_test_until_waiting(test, 3);
    assert_int_equal(raise(SIGUSR1), 0);
    for (int i = 0; i < 3; i++) {
        taker_expect(&takers[i], SLUICE_INTERRUPTED, NULL);
    }
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    // Until it is off again; calls that do not wait are not concerned.
    taker_start(&takers[0], test->queue, "mail", FORELONG);
    taker_expect(&takers[0], SLUICE_INTERRUPTED, NULL);
    local_test_put(test, "mail", "ann");
    sluice_interrupt(test->queue, false);
    taker_start(&takers[0], test->queue, "mail", FORELONG);
    taker_expect(&takers[0], SLUICE_OK, "ann");
}

static void test_waiting__only_the_handle_that_is_interrupted_ends(void **state)
{
    struct local_test *test = *state;
    struct sluice *second = local_test_open(test, NULL, NULL);
    struct taker mine, other;
    start_waiting(test, &mine, "mail");
    taker_start(&other, second, "mail", FORELONG);
    local_test_until_waiting(test, 2);
    sluice_interrupt(test->queue, true);
    taker_expect(&mine, SLUICE_INTERRUPTED, NULL);
    local_test_put(test, "mail", "ann");
    taker_expect(&other, SLUICE_OK, "ann");
    sluice_close(second);
}

// A put and an interrupt at the same time: the job is handed over, or still in the queue.
static void test_waiting__an_interrupt_loses_no_job(void **state)
{
    struct local_test *test = *state;
    struct sluice *second = local_test_open(test, NULL, NULL);
    for (int i = 0; i < 100; i++) {
        struct taker taker;
        struct sluice_job *job;
        start_waiting(test, &taker, "mail");
        const struct sluice_put_options put =
            SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}");
        assert_int_equal(sluice_put(second, &put, NULL, NULL), SLUICE_OK);
        sluice_interrupt(test->queue, true);
        assert_int_equal(pthread_join(taker.thread, NULL), 0);
        if (taker.status == SLUICE_OK) {
            job = taker.job;
        } else {
            assert_int_equal(taker.status, SLUICE_INTERRUPTED);
            assert_int_equal(sluice_next(second, "mail", 0, &job, NULL), SLUICE_OK);
        }
        assert_int_equal(sluice_done(job, NULL, NULL), SLUICE_OK);
        sluice_job_free(job);
        sluice_interrupt(test->queue, false);
    }
    sluice_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_waiting__##name, local_test_setup, local_test_teardown)
        TEST(a_put_ends_it),
        TEST(its_time_ends_it),
        TEST(a_worker_listens_until_its_handle_is_closed),
        TEST(they_are_served_in_order),
        TEST(a_job_that_falls_due_ends_it),
        TEST(a_lost_lease_ends_it),
        TEST(a_limit_that_is_free_again_ends_it),
        TEST(a_queue_that_goes_on_ends_it),
        TEST(the_end_of_a_job_is_told),
        TEST(a_job_that_never_ends_is_not_waited_for_longer_than_asked),
        TEST(a_signal_handler_can_end_it),
        TEST(only_the_handle_that_is_interrupted_ends),
        TEST(an_interrupt_loses_no_job),
    };
    return cmocka_run_group_tests_name("local_waiting", tests, NULL, NULL);
}
