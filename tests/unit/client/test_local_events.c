// SPDX-License-Identifier: MIT
// Events in this process.
#include "local_test.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sluice_events *listen_to(struct local_test *test, const char *channel)
{
    struct sluice_events *events;
    if (sluice_listen(test->queue, channel, &events, &test->error)) {
        fail_msg("%s", test->error.message);
    }
    return events;
}

// The next event has both of these in it.
static void expect_event(struct sluice_events *events, const char *kind, const char *part)
{
    const char *json;
    struct sluice_error error;
    if (sluice_events_next(events, FORELONG, &json, &error)) {
        fail_msg("%s", error.message);
    }
    char wanted[64];
    (void)snprintf(wanted, sizeof(wanted), "{\"event\":\"%s\"", kind);
    if (strncmp(json, wanted, strlen(wanted)) != 0 || !strstr(json, part)) {
        fail_msg("no %s with %s: %s", kind, part, json);
    }
}

static void expect_nothing(struct sluice_events *events)
{
    const char *json = "";
    enum sluice_status status = sluice_events_next(events, 0, &json, NULL);
    if (status != SLUICE_TIMED_OUT) {
        fail_msg("%s %s", sluice_status_name(status), json);
    }
}

static void take_and_settle(struct local_test *test)
{
    struct sluice_job *job;
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, &test->error), SLUICE_OK);
    assert_int_equal(sluice_done(job, NULL, &test->error), SLUICE_OK);
    sluice_job_free(job);
}

static void test_events__the_log_has_all_of_a_namespace(void **state)
{
    struct local_test *test = *state;
    struct sluice *other = local_test_open(test, "other", NULL);
    const struct sluice_put_options put =
        SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}", .jid = "eve");
    local_test_put(test, "mail", "before");
    struct sluice_events *events = listen_to(test, "log");
    expect_nothing(events);
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_put(other, &put, NULL, NULL), SLUICE_OK);
    take_and_settle(test);
    expect_event(events, "put", "\"jid\":\"ann\",\"queue\":\"mail\"");
    expect_event(events, "completed", "\"jid\":\"before\"");
    expect_nothing(events);
    sluice_events_free(events);
    sluice_close(other);
}

static void test_events__tracked_jobs_have_a_channel(void **state)
{
    struct local_test *test = *state;
    struct sluice_events *events = listen_to(test, "tracked");
    local_test_put(test, "mail", "ann");
    local_test_put(test, "mail", "bob");
    local_test_do(test, "Q.TRACK", "ann");
    take_and_settle(test);
    take_and_settle(test);
    expect_event(events, "track", "\"jid\":\"ann\"");
    expect_event(events, "popped", "\"jid\":\"ann\"");
    expect_event(events, "completed", "\"jid\":\"ann\"");
    expect_nothing(events);
    sluice_events_free(events);
}

static void test_events__a_worker_hears_of_its_jobs(void **state)
{
    struct local_test *test = *state;
    char channel[SLUICE_NAME_SIZE + 8];
    struct sluice_job *job;
    (void)snprintf(channel, sizeof(channel), "worker:%s", sluice_worker(test->queue));
    struct sluice_events *events = listen_to(test, channel);
    struct sluice_events *others = listen_to(test, "worker:somebody");
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, NULL), SLUICE_OK);
    assert_int_equal(sluice_cancel(test->queue, "ann", &test->error), SLUICE_OK);
    expect_event(events, "canceled", "\"jid\":\"ann\"");
    expect_nothing(events);
    expect_nothing(others);
    sluice_job_free(job);
    sluice_events_free(others);
    sluice_events_free(events);
}

static void test_events__a_channel_is_one_of_three(void **state)
{
    struct local_test *test = *state;
    struct sluice_events *events;
    static const char *const bad[] = { "", "logs", "worker:", "LOG" };
    for (size_t i = 0; TEST_ROW_NAMED(i, bad, bad[i]); i++) {
        assert_int_equal(sluice_listen(test->queue, bad[i], &events, &test->error), SLUICE_INVALID);
    }
}

static void *hear(void *context)
{
    const char *json;
    static enum sluice_status status;
    status = sluice_events_next(context, FORELONG, &json, NULL);
    return &status;
}

static enum sluice_status ending(pthread_t thread)
{
    void *status;
    assert_int_equal(pthread_join(thread, &status), 0);
    return *(enum sluice_status *)status;
}

static void test_events__who_waits_is_woken_or_interrupted(void **state)
{
    struct local_test *test = *state;
    struct sluice_events *events = listen_to(test, "log");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, hear, events), 0);
    local_test_put(test, "mail", "ann");
    assert_int_equal(ending(thread), SLUICE_OK);
    assert_int_equal(pthread_create(&thread, NULL, hear, events), 0);
    sluice_interrupt(test->queue, true);
    assert_int_equal(ending(thread), SLUICE_INTERRUPTED);
    sluice_interrupt(test->queue, false);
    local_test_put(test, "mail", "bob");
    expect_event(events, "put", "\"jid\":\"bob\"");
    sluice_events_free(events);
}

static void put_many(struct local_test *test, size_t count)
{
    struct sluice_put_options *puts = calloc(count, sizeof(*puts));
    for (size_t i = 0; i < count; i++) {
        puts[i] = SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}");
    }
    assert_int_equal(sluice_put_many(test->queue, puts, count, NULL, &test->error), SLUICE_OK);
    free(puts);
}

static void test_events__who_is_too_slow_hears_of_a_gap(void **state)
{
    struct local_test *test = *state;
    struct sluice_events *events = listen_to(test, "log");
    for (int i = 0; i < 70; i++) {
        put_many(test, 1000);
    }
    const char *json = "";
    size_t count = 0;
    while (!strstr(json, "\"gap\"")) {
        assert_int_equal(sluice_events_next(events, 0, &json, NULL), SLUICE_OK);
        count++;
    }
    assert_true(count > 1 && count < 70000); // it heard what there was room for, in order
    expect_nothing(events);
    local_test_put(test, "mail", "ann");
    expect_event(events, "put", "\"jid\":\"ann\"");
    expect_nothing(events);
    sluice_events_free(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_events__##name, local_test_setup, local_test_teardown)
        TEST(the_log_has_all_of_a_namespace),    TEST(tracked_jobs_have_a_channel),
        TEST(a_worker_hears_of_its_jobs),        TEST(a_channel_is_one_of_three),
        TEST(who_waits_is_woken_or_interrupted), TEST(who_is_too_slow_hears_of_a_gap),
    };
    return cmocka_run_group_tests_name("local_events", tests, NULL, NULL);
}
