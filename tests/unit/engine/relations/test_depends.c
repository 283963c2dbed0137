// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include <stdio.h>
#include <sys/resource.h>

enum {
    CHAIN = 1000000,
    STACK_SIZE_BYTES = 256 * 1024,
};

static void on(struct world *w, double now, const char *jid, const char *depends)
{
    said(w, engine_depends_on(w->engine, at(w, now), name_of(jid), slices_of(w, depends),
                              MISSING_COMPLETE, &w->error));
}

static void off(struct world *w, double now, const char *jid, const char *depends)
{
    said(w,
         engine_depends_off(w->engine, at(w, now), name_of(jid), slices_of(w, depends), &w->error));
}

static void off_all(struct world *w, double now, const char *jid)
{
    said(w, engine_depends_off_all(w->engine, at(w, now), name_of(jid), &w->error));
}

static void finish(struct world *w, double now, const char *queue, const char *jid)
{
    assert_string_equal(pop(w, now, queue, "w1", 1), jid);
    complete(w, now, "w1", jid);
}

static void test_depends__the_last_dependency_done_releases_a_job(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_depending(w, 0, "r", "c", "a,b");
    finish(w, 1, "q", "a");
    assert_string_equal(state_of(w, "c"), "depends");
    assert_string_equal(dependencies_of(w, "c"), "b");
    finish(w, 2, "q", "b");
    assert_string_equal(state_of(w, "c"), "waiting");
    assert_string_equal(dependencies_of(w, "c"), "");
    assert_string_equal(dependents_of(w, "b"), "");
    assert_string_equal(history_of(w, "c"), "0 put in r");
    assert_string_equal(pop(w, 3, "r", "w1", 1), "c");
}

static void test_depends__dependents_are_released_in_the_order_in_which_they_came(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_depending(w, 0, "r", "z", "a");
    put_depending(w, 0, "r", "m", "a");
    put_depending(w, 0, "r", "b", "a");
    assert_string_equal(dependents_of(w, "a"), "z,m,b");
    finish(w, 1, "q", "a");
    assert_string_equal(jobs(w, 1, LIST_WAITING, "r", 0, 9), "3: z,m,b");
}

static void test_depends__a_failed_dependency_keeps_them_waiting(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_depending(w, 0, "r", "b", "a");
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 1, "w1", "a", "bad");
    assert_string_equal(state_of(w, "b"), "depends");
    assert_string_equal(dependencies_of(w, "b"), "a");
}

static void test_depends__on_adds_to_those_there_are(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_depending(w, 0, "r", "c", "a");
    on(w, 1, "c", "b,gone,a,b");
    assert_string_equal(dependencies_of(w, "c"), "a,b");
    finish(w, 2, "q", "a");
    assert_string_equal(state_of(w, "c"), "depends");
}

static void test_depends__only_a_job_that_depends_can_be_changed(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    refused(w, STATUS_STATE, "b is not in the depends state: waiting");
    on(w, 0, "b", "a");
    refused(w, STATUS_STATE, "b is not in the depends state");
    off(w, 0, "b", "a");
    refused(w, STATUS_STATE, "b is not in the depends state");
    off_all(w, 0, "b");
    refused(w, STATUS_NOT_FOUND, "c does not exist");
    on(w, 0, "c", "a");
    refused(w, STATUS_NOT_FOUND, "c does not exist");
    off(w, 0, "c", "a");
    refused(w, STATUS_NOT_FOUND, "c does not exist");
    off_all(w, 0, "c");
}

static void test_depends__off_of_the_last_one_puts_the_job_in_line(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_depending(w, 0, "r", "c", "a,b");
    off(w, 1, "c", "b,other");
    assert_string_equal(state_of(w, "c"), "depends");
    assert_string_equal(dependents_of(w, "b"), "");
    off(w, 2, "c", "a");
    assert_string_equal(state_of(w, "c"), "waiting");
    assert_string_equal(queue_of(w, 2, "r"), "waiting 1");
}

static void test_depends__off_of_all_puts_the_job_in_line(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_depending(w, 0, "r", "c", "a,b");
    off_all(w, 1, "c");
    assert_string_equal(state_of(w, "c"), "waiting");
    assert_string_equal(dependents_of(w, "a"), "");
    assert_string_equal(dependents_of(w, "b"), "");
}

static void test_depends__off_schedules_when_a_delay_is_still_to_come(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_with(w, 0,
             (struct put_request){
                 .jid = SLICE("b"), .delay_us = us(50), .depends = slices_of(w, "a") });
    put_with(
        w, 0,
        (struct put_request){ .jid = SLICE("c"), .delay_us = us(5), .depends = slices_of(w, "a") });
    off(w, 10, "b", "a");
    off_all(w, 10, "c");
    assert_string_equal(state_of(w, "b"), "scheduled");
    assert_int_equal(view_of(w, "b").scheduled_us, us(50));
    assert_string_equal(state_of(w, "c"), "waiting");
}

static void test_depends__circles_are_refused(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_INVALID, "a cannot depend on itself");
    put_depending(w, 0, "q", "a", "a");
    put(w, 0, "q", "a");
    put_depending(w, 0, "q", "b", "a");
    put_depending(w, 0, "q", "c", "b");
    put_depending(w, 0, "q", "d", "a,c");
    refused(w, STATUS_INVALID, "a cannot depend on");
    put_depending(w, 0, "q", "a", "b,a");
    refused(w, STATUS_INVALID, "a cannot depend on b");
    put_depending(w, 0, "q", "a", "b");
    refused(w, STATUS_INVALID, "a cannot depend on d");
    put_depending(w, 0, "q", "a", "d");
    refused(w, STATUS_INVALID, "b cannot depend on d");
    on(w, 0, "b", "d");
    refused(w, STATUS_INVALID, "b cannot depend on itself");
    on(w, 0, "b", "b");
    on(w, 0, "d", "b");
    assert_string_equal(dependencies_of(w, "d"), "a,c,b");
}

static void test_depends__a_put_that_turns_a_dependency_round_is_no_circle(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "x");
    put_depending(w, 0, "q", "b", "a");
    put_depending(w, 0, "q", "b", "x");
    put_depending(w, 0, "q", "a", "b");
    assert_string_equal(dependencies_of(w, "a"), "b");
}

static void chain_jid(char jid[16], int i)
{
    (void)snprintf(jid, 16, "%d", i);
}

// Recursion over a chain of a million jobs would need more than this.
static void limit_stack(struct rlimit *old)
{
    assert_int_equal(getrlimit(RLIMIT_STACK, old), 0);
    const struct rlimit small = { STACK_SIZE_BYTES, old->rlim_max };
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
}

static void test_depends__a_chain_of_a_million_jobs_needs_no_stack(void **state)
{
    struct world *w = *state;
    struct rlimit old;
    limit_stack(&old);
    char jid[16], before[16];
    put(w, 0, "q", "0");
    for (int i = 1; i < CHAIN; i++) {
        chain_jid(jid, i);
        chain_jid(before, i - 1);
        const struct slice depends = name_of(before);
        const struct put_request request = { .queue = SLICE("q"),
                                             .jid = name_of(jid),
                                             .klass = SLICE("k"),
                                             .data = SLICE("{}"),
                                             .depends = { &depends, 1 } };
        const struct job *job;
        if (engine_put(w->engine, 0, &request, &job, &w->error)) {
            said(w, w->error.status);
        }
        buffer_clear(&w->events);
    }
    chain_jid(jid, CHAIN - 1);
    const struct slice last = name_of(jid);
    const struct put_request circle = { .queue = SLICE("q"),
                                        .jid = SLICE("0"),
                                        .klass = SLICE("k"),
                                        .data = SLICE("{}"),
                                        .depends = { &last, 1 } };
    const struct job *job;
    assert_int_equal(engine_put(w->engine, 0, &circle, &job, &w->error), STATUS_TOO_LARGE);
    said(w, engine_config_set(w->engine, 0, SLICE("max-dependency-search"), SLICE("2000000"),
                              &w->error));
    assert_int_equal(engine_put(w->engine, 0, &circle, &job, &w->error), STATUS_INVALID);
    finish(w, 1, "q", "0");
    assert_string_equal(state_of(w, "1"), "waiting");
    assert_string_equal(state_of(w, "2"), "depends");
    // Freeing them needs none either.
    world_free(w);
    *state = world_new(ENGINE_CLOCK_SERVER, 1);
    assert_int_equal(setrlimit(RLIMIT_STACK, &old), 0);
}

static void test_depends__cancel_removes_a_job_in_any_state_but_complete(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "done");
    finish(w, 0, "q", "done");
    put(w, 0, "q", "failed");
    pop(w, 0, "q", "w1", 1);
    fail_job(w, 0, "w1", "failed", "bad");
    put(w, 0, "q", "running");
    track(w, 0, "running");
    pop(w, 0, "q", "w1", 1);
    put(w, 0, "q", "waiting");
    track(w, 0, "waiting");
    put_later(w, 0, "q", "scheduled", 10);
    put_depending(w, 0, "r", "depends", "waiting");
    forget_events(w);
    assert_int_equal(cancel(w, 1, "done,gone,failed,running,scheduled,depends"), 4);
    expect_events(w, "log: canceled failed in q; worker+log+tracker: canceled running in q by w1; "
                     "log: canceled scheduled in q; log: canceled depends in r");
    assert_int_equal(cancel(w, 1, "waiting"), 1);
    expect_events(w, "log+tracker: canceled waiting in q");
    assert_string_equal(state_of(w, "done"), "complete");
    assert_string_equal(state_of(w, "running"), "none");
    assert_string_equal(queue_of(w, 1, "q"), "listeners 1");
    assert_int_equal(stats_of(w, "q", 0).failed, 0);
    assert_string_equal(groups(w), "");
    assert_string_equal(tracked(w), "(running),(waiting)");
    assert_string_equal(held(w, 1, "w1", false), "0: ");
    refused(w, STATUS_NOT_FOUND, "running does not exist");
    complete(w, 1, "w1", "running");
}

static void test_depends__cancel_of_a_dependency_needs_its_dependents_named_too(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_depending(w, 0, "q", "b", "a");
    put_depending(w, 0, "q", "c", "a,b");
    refused(w, STATUS_STATE, "a is a dependency of b");
    cancel(w, 0, "a");
    refused(w, STATUS_STATE, "a is a dependency of c");
    cancel(w, 0, "a,b");
    refused(w, STATUS_STATE, "b is a dependency of c");
    cancel(w, 0, "b");
    assert_int_equal(cancel(w, 1, "c"), 1);
    assert_string_equal(dependents_of(w, "a"), "b");
    assert_int_equal(cancel(w, 2, "a,b,a"), 2);
    assert_string_equal(queue_of(w, 2, "q"), "");
}

static void test_depends__a_job_has_so_many_dependents_at_most(void **state)
{
    struct world *w = *state;
    said(w, engine_config_set(w->engine, 0, SLICE("max-dependents"), SLICE("2"), &w->error));
    put(w, 1, "q", "a");
    put_depending(w, 1, "q", "b", "a");
    put_depending(w, 1, "q", "c", "a");
    refused(w, STATUS_TOO_LARGE, "2 jobs depend on a; max-dependents allows 2");
    put_depending(w, 1, "q", "d", "a");
    // One that depends on it already may say so again.
    put_depending(w, 1, "q", "c", "a");
    cancel(w, 1, "b");
    put_depending(w, 1, "q", "d", "a");
    assert_string_equal(dependents_of(w, "a"), "c,d");
}

static void test_depends__many_dependencies_named_anew_are_compared_once(void **state)
{
    struct world *w = *state;
    enum {
        MANY = 5000
    };
    struct slice *jids = test_malloc(MANY * sizeof(*jids));
    char(*texts)[16] = test_malloc(MANY * sizeof(*texts));
    for (int i = 0; i < MANY; i++) {
        chain_jid(texts[i], i);
        jids[i] = name_of(texts[i]);
        put(w, 1, "q", texts[i]);
        buffer_clear(&w->events);
    }
    struct put_request request = { .queue = SLICE("q"),
                                   .jid = SLICE("all"),
                                   .klass = SLICE("k"),
                                   .data = SLICE("{}"),
                                   .depends = { jids, MANY } };
    const struct job *job;
    for (int i = 0; i < 3; i++) {
        uint64_t steps = engine_steps(w->engine);
        said(w, engine_put(w->engine, us(1), &request, &job, &w->error));
        assert_true(engine_steps(w->engine) - steps < (uint64_t)8 * MANY);
        request.depends.count = MANY - (size_t)i * 100;
    }
    assert_int_equal(view_of(w, "all").dependency_count, MANY - 100);
    uint64_t steps = engine_steps(w->engine);
    said(w, engine_depends_off(w->engine, us(1), SLICE("all"), (struct slices){ jids, MANY - 101 },
                               &w->error));
    assert_true(engine_steps(w->engine) - steps < (uint64_t)8 * MANY);
    assert_int_equal(view_of(w, "all").dependency_count, 1);
    test_free(jids);
    test_free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_depends__a_job_has_so_many_dependents_at_most),
        SERVER_TEST(test_depends__many_dependencies_named_anew_are_compared_once),
        SERVER_TEST(test_depends__the_last_dependency_done_releases_a_job),
        CLIENT_TEST(test_depends__the_last_dependency_done_releases_a_job),
        SERVER_TEST(test_depends__dependents_are_released_in_the_order_in_which_they_came),
        SERVER_TEST(test_depends__a_failed_dependency_keeps_them_waiting),
        SERVER_TEST(test_depends__on_adds_to_those_there_are),
        SERVER_TEST(test_depends__only_a_job_that_depends_can_be_changed),
        SERVER_TEST(test_depends__off_of_the_last_one_puts_the_job_in_line),
        SERVER_TEST(test_depends__off_of_all_puts_the_job_in_line),
        SERVER_TEST(test_depends__off_schedules_when_a_delay_is_still_to_come),
        CLIENT_TEST(test_depends__off_schedules_when_a_delay_is_still_to_come),
        SERVER_TEST(test_depends__circles_are_refused),
        SERVER_TEST(test_depends__a_put_that_turns_a_dependency_round_is_no_circle),
        SERVER_TEST(test_depends__a_chain_of_a_million_jobs_needs_no_stack),
        SERVER_TEST(test_depends__cancel_removes_a_job_in_any_state_but_complete),
        SERVER_TEST(test_depends__cancel_of_a_dependency_needs_its_dependents_named_too),
    };
    return cmocka_run_group_tests_name("depends", tests, NULL, NULL);
}
