// SPDX-License-Identifier: MIT
// A queue in this process while the machine's clock is set. The process calls the clocks here: what
// was set, and time that passes without being waited for.
#include "local_test.h"

#include "test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600
#define WAIT 31 // longer than a step has to last, in seconds

static atomic_int_fast64_t wall_s, passed_s;

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int clock_gettime(clockid_t clock, struct timespec *out)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, out);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)) {
        out->tv_sec += passed_s;
        out->tv_sec += clock == CLOCK_REALTIME ? wall_s : 0;
    }
    return failed;
}

static void logged(void *context, enum sluice_log_level level, const char *sentence)
{
    (void)context;
    (void)level;
    print_message("# %s\n", sentence);
}

static void open_queue(struct local_test *test)
{
    const struct sluice_open_options options = SLUICE_OPEN(.log = logged);
    assert_int_equal(sluice_open(test->url, &options, &test->queue, &test->error), SLUICE_OK);
}

static int setup(void **state)
{
    wall_s = passed_s = 0;
    return local_test_setup(state);
}

static double clock_says(struct local_test *test, const char *name)
{
    struct sluice_value *clock = local_test_call(test, "Q.CLOCK");
    const struct sluice_value *value = sluice_value_get(clock, name);
    double number = sluice_value_type(value) == SLUICE_BOOLEAN ? (double)sluice_value_boolean(value)
                                                               : sluice_value_number(value);
    sluice_value_free(clock);
    return number;
}

// Waits until Q.CLOCK says so, within a minute. The queue's thread looks every second while there
// is something to come.
static void until_clock(struct local_test *test, const char *name, double low, double high)
{
    double said;
    do {
        (void)usleep(5000);
        said = clock_says(test, name);
    } while (said < low || said > high);
}

// How far the queue's time is ahead of where it would be had no clock been set.
static double ahead(struct local_test *test)
{
    struct timespec now;
    double said = clock_says(test, "host_time");
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return said - ((double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)wall_s);
}

static void put_later(struct local_test *test, const char *jid, double delay)
{
    const struct sluice_put_options put =
        SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}", .jid = jid, .delay = delay);
    assert_int_equal(sluice_put(test->queue, &put, NULL, &test->error), SLUICE_OK);
}

static void expect_next(struct local_test *test, const char *jid)
{
    struct sluice_job *job;
    assert_int_equal(sluice_next(test->queue, "mail", FORELONG, &job, &test->error), SLUICE_OK);
    assert_string_equal(sluice_job_jid(job), jid);
    assert_int_equal(sluice_done(job, NULL, &test->error), SLUICE_OK);
    sluice_job_free(job);
}

static void expect_none(struct local_test *test)
{
    struct sluice_job *job;
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, &test->error), SLUICE_TIMED_OUT);
}

// A delay of ten minutes ends after ten minutes.
static void expect_time_passes(struct local_test *test)
{
    put_later(test, "late", 600);
    expect_none(test);
    passed_s += 601;
    expect_next(test, "late");
}

static void test_local_clock__a_step_that_is_taken_back_has_no_effect(void **state)
{
    struct local_test *test = *state;
    static const int64_t steps[] = { HOUR, -HOUR };
    for (size_t i = 0; TEST_ROW(i, steps); i++) {
        put_later(test, "before", 600);
        wall_s = steps[i];
        until_clock(test, "step_pending", 1, 1);
        assert_true(fabs(ahead(test)) < 60);
        expect_none(test);
        wall_s = 0;
        until_clock(test, "step_pending", 0, 0);
        assert_true(fabs(ahead(test)) < 60);
        passed_s += 601;
        expect_next(test, "before");
    }
    expect_time_passes(test);
}

static void test_local_clock__a_lasting_step_is_followed(void **state)
{
    struct local_test *test = *state;
    static const int64_t steps[] = { HOUR, 0, -HOUR };
    for (size_t i = 0; TEST_ROW(i, steps); i++) {
        put_later(test, "far", 30 * HOUR); // so that the queue's thread looks
        wall_s = steps[i];
        until_clock(test, "step_pending", 1, 1);
        passed_s += WAIT;
        until_clock(test, "step_pending", 0, 0);
        assert_true(fabs(ahead(test) - (double)steps[i]) < 60);
        expect_time_passes(test);
    }
}

static void test_local_clock__a_kept_lease_outlives_steps(void **state)
{
    struct local_test *test = *state;
    static const int64_t steps[] = { HOUR, 0, -HOUR, 0 };
    struct sluice_job *job;
    local_test_put(test, "mail", "kept");
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, &test->error), SLUICE_OK);
    for (size_t i = 0; TEST_ROW(i, steps); i++) {
        wall_s = steps[i];
        until_clock(test, "step_pending", 1, 1);
        for (int part = 0; part < WAIT; part += 10) {
            passed_s += 10; // of a lease of 60
            assert_int_equal(sluice_heartbeat(job, NULL, &test->error), SLUICE_OK);
        }
        until_clock(test, "step_pending", 0, 0);
        assert_true(fabs(ahead(test) - (double)steps[i]) < 60);
        assert_int_equal(sluice_heartbeat(job, NULL, &test->error), SLUICE_OK);
    }
    assert_int_equal(sluice_done(job, NULL, &test->error), SLUICE_OK);
    sluice_job_free(job);
}

static void test_local_clock__a_queue_that_was_stored_ahead_goes_on(void **state)
{
    struct local_test *test = *state;
    sluice_close(test->queue);
    wall_s = HOUR;
    open_queue(test);
    local_test_put(test, "mail", "wrong");
    sluice_close(test->queue);
    wall_s = 0;
    open_queue(test);
    assert_true(clock_says(test, "ahead") > HOUR - 60);
    expect_next(test, "wrong");
    passed_s += WAIT;
    until_clock(test, "ahead", 0, 0);
    expect_time_passes(test);
    local_test_reopen(test);
    assert_true(clock_says(test, "ahead") == 0);
}

static void test_local_clock__a_queue_that_was_stored_ahead_is_repaired_at_once(void **state)
{
    struct local_test *test = *state;
    sluice_close(test->queue);
    wall_s = HOUR;
    open_queue(test);
    local_test_put(test, "mail", "wrong");
    sluice_close(test->queue);
    wall_s = 0;
    open_queue(test);
    assert_true(clock_says(test, "ahead") > HOUR - 60);
    local_test_do(test, "Q.CLOCK.REPAIR");
    assert_true(clock_says(test, "ahead") == 0);
    expect_next(test, "wrong");
    expect_time_passes(test);
}

int main(void)
{
#define LOCAL_TEST(test) cmocka_unit_test_setup_teardown(test, setup, local_test_teardown)
    const struct CMUnitTest tests[] = {
        LOCAL_TEST(test_local_clock__a_step_that_is_taken_back_has_no_effect),
        LOCAL_TEST(test_local_clock__a_lasting_step_is_followed),
        LOCAL_TEST(test_local_clock__a_kept_lease_outlives_steps),
        LOCAL_TEST(test_local_clock__a_queue_that_was_stored_ahead_goes_on),
        LOCAL_TEST(test_local_clock__a_queue_that_was_stored_ahead_is_repaired_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
