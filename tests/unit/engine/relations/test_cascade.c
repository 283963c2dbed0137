// SPDX-License-Identifier: MIT
// What becomes of jobs that depend on one that fails, and of the counts of a batch's members.
#include "engine_test_more.h"

#include <stdio.h>

enum {
    CHAIN = 100000,
    SLICE_JOBS = 1000,
};

static struct put_request depending(struct world *w, const char *queue, const char *jid,
                                    const char *depends, enum dependency_policy policy)
{
    return (struct put_request){ .queue = name_of(queue),
                                 .jid = name_of(jid),
                                 .depends = slices_of(w, depends),
                                 .options = options_with(policy) };
}

static void put_policy(struct world *w, double now, const char *jid, const char *depends,
                       enum dependency_policy policy)
{
    put_with(w, now, depending(w, "r", jid, depends, policy));
}

static void put_once(struct world *w, double now, const char *jid)
{
    put_with(w, now, (struct put_request){ .jid = name_of(jid), .has_retries = true });
}

static void start_and_fail(struct world *w, double now, const char *jid)
{
    assert_string_equal(pop(w, now, "q", "w1", 1), jid);
    fail_job(w, now, "w1", jid, "bad");
}

static void finish(struct world *w, double now, const char *queue, const char *jid)
{
    assert_string_equal(pop(w, now, queue, "w1", 1), jid);
    complete(w, now, "w1", jid);
}

static const char *members(struct world *w, const char *jid)
{
    struct job_view view = view_of(w, jid);
    buffer_clear(&w->text);
    buffer_printf(&w->text, "%zu done, %zu failed", view.members_done, view.members_failed);
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

// ---------------------------------------------------------------------------------------------
// Each way to fail

static void fails_by_its_holder(struct world *w)
{
    put(w, 0, "q", "a");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
}

static void then_fail(struct world *w)
{
    fail_job(w, 2, "w1", "a", "bad");
}

static void has_no_retries(struct world *w)
{
    put_once(w, 0, "a");
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
}

static void then_retry(struct world *w)
{
    assert_int_equal(retry(w, 2, "w1", "a"), -1);
}

static void has_a_crash_budget(struct world *w)
{
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("a"),
                                   .options = &(struct job_options){ .crashes_max = 1 } });
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a");
}

static void has_a_deadline(struct world *w)
{
    put_with(
        w, 0,
        (struct put_request){ .jid = SLICE("a"), .has_deadline = true, .deadline_us = us(9.25) });
}

static void then_wait(struct world *w)
{
    tick(w, 1000);
}

struct way {
    const char *what;
    void (*before)(struct world *w);
    void (*then)(struct world *w);
    const char *group;
    const char *fails_at;
    double when;
};

// A lease of 60 seconds from 1 on, and 10 seconds of grace.
static const struct way ways[] = {
    { "fail", fails_by_its_holder, then_fail, "bad", "2", 2 },
    { "retry", has_no_retries, then_retry, "failed-retries-q", "2", 2 },
    { "lost lease", has_no_retries, then_wait, "failed-retries-q", "71", 71 },
    { "crashes", has_a_crash_budget, then_wait, "failed-crashes-q", "71", 71 },
    { "deadline", has_a_deadline, then_wait, "expired", "9.25", 9.25 },
};

static void test_cascade__each_policy_holds_however_the_dependency_failed(void **state)
{
    for (size_t i = 0; TEST_ROW_NAMED(i, ways, ways[i].what); i++) {
        const struct way *way = &ways[i];
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        way->before(w);
        put_policy(w, 1, "unset", "a", DEPENDENCY_UNSET);
        put_policy(w, 1, "hold", "a", DEPENDENCY_HOLD);
        put_policy(w, 1, "cancel", "a", DEPENDENCY_CANCEL);
        put_policy(w, 1, "fail", "a", DEPENDENCY_FAIL);
        put_policy(w, 1, "run", "a", DEPENDENCY_RUN);
        way->then(w);

        assert_string_equal(state_of(w, "a"), "failed");
        assert_slice_equal(view_of(w, "a").failure_group, way->group);
        assert_string_equal(state_of(w, "unset"), "depends");
        assert_string_equal(state_of(w, "hold"), "depends");
        assert_string_equal(state_of(w, "cancel"), "none");
        assert_string_equal(state_of(w, "fail"), "failed");
        assert_string_equal(state_of(w, "run"), "waiting");
        assert_string_equal(dependents_of(w, "a"), "unset,hold,fail");
        assert_string_equal(dependencies_of(w, "run"), "");

        struct job_view view = view_of(w, "fail");
        assert_slice_equal(view.failure_group, "dependency-failed");
        assert_slice_equal(view.failure_message, "Job a failed, and this one depends on it");
        assert_slice_equal(view.failure_worker, "");
        assert_int_equal(view.failure_when_us, us(way->when));
        char history[64];
        (void)snprintf(history, sizeof(history), "1 put in r; %s failed as dependency-failed",
                       way->fails_at);
        assert_string_equal(history_of(w, "fail"), history);
        assert_int_equal(stats_of(w, "r", 0).failures, 1);
        assert_int_equal(stats_of(w, "r", 0).failed, 1);

        // It came into the line when the other failed.
        put(w, w->now, "r", "later");
        assert_string_equal(pop(w, w->now, "r", "w2", 9), "run,later");
        assert_true(stats_of(w, "r", 0).wait.count == 2);
        world_free(w);
    }
    (void)state;
}

static void test_cascade__tells_what_happened_in_order(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "c", "a", DEPENDENCY_CANCEL);
    put_policy(w, 0, "f", "a", DEPENDENCY_FAIL);
    put_policy(w, 0, "r", "a", DEPENDENCY_RUN);
    track(w, 0, "f");
    track(w, 0, "c");
    pop(w, 1, "q", "w1", 1);
    forget_events(w);
    fail_job(w, 1, "w1", "a", "bad");
    expect_events(w, "log: failed a in q by w1 as bad saying it broke; "
                     "log+tracker: canceled c in r; tracker: failed f; "
                     "log: failed f in r as dependency-failed saying "
                     "Job a failed, and this one depends on it");
}

static void test_cascade__events_are_dated_by_when_the_dependency_failed(void **state)
{
    struct world *w = *state;
    has_a_deadline(w);
    put_policy(w, 1, "c", "a", DEPENDENCY_CANCEL);
    forget_events(w);
    tick(w, 50);
    assert_int_equal(w->event_us, us(9.25));
    expect_events(w, "log: failed a in q as expired saying Job was not started by its deadline; "
                     "log: canceled c in r");
}

static void test_cascade__what_fails_first_comes_first_and_what_fails_by_it_behind(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "x", "a", DEPENDENCY_FAIL);
    put_policy(w, 0, "xx", "x", DEPENDENCY_FAIL);
    put_policy(w, 0, "y", "a", DEPENDENCY_FAIL);
    put_policy(w, 0, "yy", "y", DEPENDENCY_FAIL);
    put_policy(w, 0, "z", "xx,a", DEPENDENCY_FAIL);
    start_and_fail(w, 1, "a");
    // The newest failure first: x, y and z fail by a; then xx by x; then yy by y.
    assert_string_equal(failed(w, "dependency-failed", 0, 9), "5: yy,xx,z,y,x");
    assert_slice_equal(view_of(w, "z").failure_message, "Job a failed, and this one depends on it");
    assert_slice_equal(view_of(w, "xx").failure_message,
                       "Job x failed, and this one depends on it");
}

static void test_cascade__what_follows_from_a_failure_comes_before_what_is_due_next(void **state)
{
    struct world *w = *state;
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("a"), .has_deadline = true, .deadline_us = us(9) });
    put_with(w, 0,
             (struct put_request){ .jid = SLICE("b"), .has_deadline = true, .deadline_us = us(8) });
    put_later(w, 0, "r", "due", 8.5);
    put_policy(w, 0, "after a", "a", DEPENDENCY_RUN);
    put_policy(w, 0, "after b", "b", DEPENDENCY_RUN);
    tick(w, 100);
    assert_string_equal(jobs(w, 100, LIST_WAITING, "r", 0, 9), "3: after b,due,after a");
}

static void
test_cascade__a_job_is_dealt_with_by_the_first_of_its_dependencies_that_fails(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_policy(w, 0, "f", "a,b", DEPENDENCY_FAIL);
    put_policy(w, 0, "r", "a,b", DEPENDENCY_RUN);
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "f"), "failed");
    assert_string_equal(state_of(w, "r"), "depends");
    assert_string_equal(dependencies_of(w, "r"), "b");
    start_and_fail(w, 2, "b");
    assert_string_equal(state_of(w, "r"), "waiting");
    assert_string_equal(members(w, "r"), "0 done, 2 failed");
    assert_string_equal(history_of(w, "f"), "0 put in r; 1 failed as dependency-failed");
}

static void test_cascade__run_schedules_when_a_delay_is_still_to_come(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    struct put_request request = depending(w, "r", "r", "a", DEPENDENCY_RUN);
    request.delay_us = us(50);
    put_with(w, 0, request);
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "r"), "scheduled");
    assert_int_equal(view_of(w, "r").scheduled_us, us(50));
}

static void test_cascade__cancel_of_a_job_with_dependents_fails_it_instead(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "b", "a", DEPENDENCY_CANCEL);
    put_policy(w, 0, "c", "b", DEPENDENCY_CANCEL);
    put_policy(w, 0, "d", "b", DEPENDENCY_HOLD);
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "b"), "failed");
    assert_slice_equal(view_of(w, "b").failure_group, "dependency-failed");
    assert_string_equal(state_of(w, "c"), "none");
    assert_string_equal(state_of(w, "d"), "depends");
    assert_string_equal(dependents_of(w, "b"), "d");
}

static void test_cascade__a_waiting_job_is_not_touched(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "f", "a", DEPENDENCY_FAIL);
    said(w, engine_depends_off_all(w->engine, at(w, 0), SLICE("f"), &w->error));
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "f"), "waiting");
}

// ---------------------------------------------------------------------------------------------
// A dependency that has failed already

static void test_cascade__a_failed_dependency_named_in_a_put_counts_at_the_next_call(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    start_and_fail(w, 1, "a");
    put_policy(w, 5, "f", "a", DEPENDENCY_FAIL);
    put_policy(w, 5, "h", "a", DEPENDENCY_HOLD);
    tick(w, 9);
    assert_string_equal(state_of(w, "f"), "failed");
    assert_string_equal(history_of(w, "f"), "5 put in r; 5 failed as dependency-failed");
    assert_string_equal(state_of(w, "h"), "depends");
    assert_string_equal(members(w, "h"), "0 done, 1 failed");
    put_policy(w, 10, "c", "a", DEPENDENCY_CANCEL);
    put_policy(w, 10, "r", "a", DEPENDENCY_RUN);
    assert_string_equal(state_of(w, "c"), "none");
    assert_string_equal(pop(w, 11, "r", "w1", 9), "r");
}

static void test_cascade__put_again_with_a_failed_dependency_it_fails_again(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "f", "a", DEPENDENCY_FAIL);
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "f"), "failed");
    // Naming none keeps those it had.
    put_policy(w, 5, "f", "a", DEPENDENCY_UNSET);
    tick(w, 6);
    assert_string_equal(history_of(w, "f"),
                        "0 put in r; 1 failed as dependency-failed; 5 put in r; "
                        "5 failed as dependency-failed");
    put_with(w, 7, (struct put_request){ .queue = SLICE("r"), .jid = SLICE("f") });
    tick(w, 8);
    assert_string_equal(state_of(w, "f"), "failed");
    assert_int_equal(view_of(w, "f").failure_when_us, us(7));
}

static void test_cascade__a_failed_dependency_named_by_depends_on_counts_at_once(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_policy(w, 0, "f", "b", DEPENDENCY_FAIL);
    start_and_fail(w, 1, "a");
    said(w, engine_depends_on(w->engine, at(w, 5), SLICE("f"), slices_of(w, "a"), MISSING_COMPLETE,
                              &w->error));
    assert_string_equal(state_of(w, "f"), "failed");
    assert_string_equal(history_of(w, "f"), "0 put in r; 1 failed as dependency-failed");
}

static void
test_cascade__a_failed_dependency_named_in_a_completion_counts_at_the_next_call(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    start_and_fail(w, 1, "a");
    struct put_request request = depending(w, "r", "f", "gone", DEPENDENCY_FAIL);
    put_with(w, 2, request);
    assert_string_equal(pop(w, 2, "r", "w1", 1), "f");
    assert_string_equal(complete_with(w, 3,
                                      (struct complete_request){
                                          .holder = { .jid = SLICE("f"), .worker = SLICE("w1") },
                                          .next = SLICE("s"),
                                          .has_depends = true,
                                          .depends = slices_of(w, "a") }),
                        "depends");
    tick(w, 4);
    assert_string_equal(history_of(w, "f"), "2 put in r; 2 popped by w1; 3 done; 3 put in s; "
                                            "3 failed as dependency-failed");
}

static void test_cascade__unfailed_before_the_next_call_it_does_no_harm(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "h", "a", DEPENDENCY_HOLD);
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "h"), "depends");
    assert_int_equal(unfail(w, 2, "q", "bad", 9), 1);
    finish(w, 3, "q", "a");
    assert_string_equal(state_of(w, "h"), "waiting");
    assert_string_equal(members(w, "h"), "1 done, 0 failed");
}

static void test_cascade__with_the_client_clock_a_pop_deals_with_it_at_the_next_call(void **state)
{
    struct world *w = *state;
    set(w, "grace-period", "0");
    put_once(w, 0, "a");
    pop(w, 0, "q", "w1", 1);
    put_policy(w, 0, "f", "a", DEPENDENCY_FAIL);
    put_policy(w, 0, "r", "a", DEPENDENCY_RUN);
    assert_string_equal(pop(w, 100, "q", "w2", 1), "");
    assert_string_equal(state_of(w, "a"), "failed");
    tick(w, 50);
    assert_string_equal(state_of(w, "f"), "failed");
    assert_int_equal(view_of(w, "f").failure_when_us, us(100));
    assert_string_equal(pop(w, 100, "r", "w2", 9), "r");
}

// ---------------------------------------------------------------------------------------------
// Policies of klasses and queues

static void test_cascade__own_policy_then_the_klass_s_then_the_queue_s(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    dependency_policy(w, POLICY_QUEUE, "r", DEPENDENCY_RUN);
    dependency_policy(w, POLICY_KLASS, "strict", DEPENDENCY_FAIL);
    put_policy(w, 0, "queue", "a", DEPENDENCY_UNSET);
    struct put_request request = depending(w, "r", "klass", "a", DEPENDENCY_UNSET);
    request.klass = SLICE("strict");
    put_with(w, 0, request);
    request = depending(w, "r", "own", "a", DEPENDENCY_CANCEL);
    request.klass = SLICE("strict");
    put_with(w, 0, request);
    request = depending(w, "s", "none", "a", DEPENDENCY_UNSET);
    put_with(w, 0, request);
    request = depending(w, "r", "holds", "a", DEPENDENCY_HOLD);
    put_with(w, 0, request);
    start_and_fail(w, 1, "a");
    assert_string_equal(state_of(w, "queue"), "waiting");
    assert_string_equal(state_of(w, "klass"), "failed");
    assert_string_equal(state_of(w, "own"), "none");
    assert_string_equal(state_of(w, "none"), "depends");
    assert_string_equal(state_of(w, "holds"), "depends");
}

static void test_cascade__the_policy_that_holds_when_it_fails_counts(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put_policy(w, 0, "early", "a", DEPENDENCY_UNSET);
    put_policy(w, 0, "late", "b", DEPENDENCY_UNSET);
    start_and_fail(w, 1, "a");
    dependency_policy(w, POLICY_QUEUE, "r", DEPENDENCY_FAIL);
    start_and_fail(w, 2, "b");
    assert_string_equal(state_of(w, "late"), "failed");
    assert_string_equal(state_of(w, "early"), "depends");
    dependency_policy(w, POLICY_QUEUE, "r", DEPENDENCY_UNSET);
    struct policy_view view;
    assert_false(engine_policy_at(w->engine, 0, &view));
}

// What was held back before the policy came is held back after a restart too.
static void test_cascade__a_restart_decides_nothing_anew(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put_policy(w, 0, "early", "a", DEPENDENCY_UNSET);
    start_and_fail(w, 1, "a");
    dependency_policy(w, POLICY_QUEUE, "r", DEPENDENCY_FAIL);
    tick(w, 2);
    const char *before = state_of(w, "early");
    reload(w);
    tick(w, 3);
    assert_string_equal(state_of(w, "early"), before);
}

// ---------------------------------------------------------------------------------------------
// Many

static void put_chain(struct world *w, size_t count, enum dependency_policy policy)
{
    put(w, 0, "q", numbered("j", 0));
    for (size_t i = 1; i < count; i++) {
        put_policy(w, 0, numbered("j", i), numbered("j", i - 1), policy);
        forget_events(w);
    }
}

static void test_cascade__a_long_chain_fails_in_slices_and_needs_no_stack(void **state)
{
    struct world *w = *state;
    struct rlimit old;
    stack_limit(&old);
    put_chain(w, CHAIN, DEPENDENCY_FAIL);
    start_and_fail(w, 1, "j0");
    size_t done = 1 + SLICE_JOBS;
    assert_int_equal(count_of(w, NULL, JOB_FAILED), done);
    // Between two slices the others go on with their work.
    put(w, 1, "s", "other");
    done += SLICE_JOBS;
    assert_int_equal(count_of(w, NULL, JOB_FAILED), done);
    // Of the calls of one instant only the first does a slice.
    assert_string_equal(pop(w, 1, "s", "w2", 1), "other");
    assert_int_equal(count_of(w, NULL, JOB_FAILED), done);
    while (done < CHAIN) {
        forget_events(w);
        done += SLICE_JOBS;
        done = done < CHAIN ? done : CHAIN;
        assert_true(tick(w, 2) == (done < CHAIN ? 2 : 61)); // 61: the lease of the other one
        assert_int_equal(count_of(w, NULL, JOB_FAILED), done);
    }
    assert_int_equal(view_of(w, numbered("j", CHAIN - 1)).failure_when_us, us(1));
    stack_restore(&old);
}

static void test_cascade__a_long_chain_saved_in_the_middle_goes_on(void **state)
{
    struct world *w = *state;
    put_chain(w, 3500, DEPENDENCY_CANCEL);
    start_and_fail(w, 1, "j0");
    assert_int_equal(count_of(w, NULL, JOB_FAILED), 1 + SLICE_JOBS);
    reload(w);
    while (tick(w, 2) == 2) {
        reload(w);
    }
    // Those that others depend on fail first. With the last one all are canceled.
    assert_int_equal(count_of(w, NULL, JOB_FAILED), 1);
    assert_int_equal(count_all(w, NULL), 1);
    assert_string_equal(state_of(w, "j0"), "failed");
}

static void test_cascade__many_dependents_of_one_are_dealt_with_in_slices(void **state)
{
    static const enum dependency_policy policies[] = { DEPENDENCY_CANCEL, DEPENDENCY_FAIL,
                                                       DEPENDENCY_RUN };
    for (size_t p = 0; p < 3; p++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        put(w, 0, "q", "a");
        for (size_t i = 0; i < 4500; i++) {
            put_policy(w, 0, numbered("j", i), "a", policies[p]);
            forget_events(w);
        }
        start_and_fail(w, 1, "a");
        for (size_t left = 3500; left > 0; left = left > SLICE_JOBS ? left - SLICE_JOBS : 0) {
            assert_int_equal(count_of(w, "r", JOB_DEPENDS), left);
            tick(w, 1);
        }
        assert_int_equal(count_of(w, "r", JOB_DEPENDS), 0);
        world_free(w);
    }
    (void)state;
}

static void test_cascade__without_memory_it_is_put_off_and_done_later(void **state)
{
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
        put(w, 0, "q", "a");
        put_policy(w, 0, "c", "a", DEPENDENCY_CANCEL);
        put_policy(w, 0, "f", "a", DEPENDENCY_FAIL);
        put_policy(w, 0, "ff", "f", DEPENDENCY_FAIL);
        put_policy(w, 0, "r", "a", DEPENDENCY_RUN);
        pop(w, 1, "q", "w1", 1);
        w->fault.calls = 0;
        w->fault.failed = false;
        w->fault.fail_at = n;
        const struct fail_request request = { .holder = { .jid = SLICE("a"),
                                                          .worker = SLICE("w1") },
                                              .group = SLICE("bad"),
                                              .message = SLICE("it broke") };
        enum status status = engine_fail(w->engine, us(1), &request, &w->error);
        reached = w->fault.failed;
        w->fault.fail_at = 0;
        if (status) {
            assert_int_equal(status, STATUS_NO_MEMORY);
            assert_string_equal(state_of(w, "a"), "running");
            assert_string_equal(state_of(w, "f"), "depends");
            fail_job(w, 1, "w1", "a", "bad");
        }
        assert_int_equal(faults_of(w), 0);
        tick(w, 2);
        assert_string_equal(state_of(w, "a"), "failed");
        assert_string_equal(state_of(w, "c"), "none");
        assert_string_equal(history_of(w, "f"), "0 put in r; 1 failed as dependency-failed");
        assert_string_equal(history_of(w, "ff"), "0 put in r; 1 failed as dependency-failed");
        assert_string_equal(state_of(w, "r"), "waiting");
        world_free(w);
    }
    (void)state;
}

// ---------------------------------------------------------------------------------------------
// Members of a batch

static void test_cascade__a_batch_counts_its_members_done_and_failed(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 6);
    put_depending(w, 0, "r", "batch", "j0,j1,j2,j3,j4,j5");
    assert_string_equal(members(w, "batch"), "0 done, 0 failed");
    finish(w, 1, "q", "j0");
    finish(w, 1, "q", "j1");
    start_and_fail(w, 2, "j2");
    start_and_fail(w, 2, "j3");
    assert_string_equal(members(w, "batch"), "2 done, 2 failed");
    reload(w);
    assert_string_equal(members(w, "batch"), "2 done, 2 failed");
    assert_int_equal(unfail(w, 3, "q", "bad", 1), 1);
    assert_string_equal(members(w, "batch"), "2 done, 1 failed");
    finish(w, 4, "q", "j4");
    finish(w, 4, "q", "j5");
    finish(w, 4, "q", "j2");
    assert_string_equal(members(w, "batch"), "5 done, 1 failed");
    assert_string_equal(state_of(w, "batch"), "depends");
    unfail(w, 5, "q", "bad", 1);
    reload(w);
    finish(w, 6, "q", "j3");
    assert_string_equal(members(w, "batch"), "6 done, 0 failed");
    assert_string_equal(state_of(w, "batch"), "waiting");
    reload(w);
    assert_string_equal(members(w, "batch"), "6 done, 0 failed");
}

static void test_cascade__a_batch_that_runs_anyway_remembers_who_failed(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 4);
    put_policy(w, 0, "batch", "j0,j1,j2,j3", DEPENDENCY_RUN);
    finish(w, 1, "q", "j0");
    start_and_fail(w, 1, "j1");
    assert_string_equal(members(w, "batch"), "1 done, 1 failed");
    assert_string_equal(dependencies_of(w, "batch"), "j2,j3");
    // It was dropped: that it is unfailed now changes nothing.
    unfail(w, 2, "q", "bad", 1);
    assert_string_equal(members(w, "batch"), "1 done, 1 failed");
    reload(w);
    assert_string_equal(members(w, "batch"), "1 done, 1 failed");
    start_and_fail(w, 3, "j2");
    finish(w, 3, "q", "j3");
    assert_string_equal(state_of(w, "batch"), "waiting");
    assert_string_equal(members(w, "batch"), "2 done, 2 failed");
    assert_string_equal(pop(w, 4, "r", "w2", 1), "batch");
    assert_string_equal(members(w, "batch"), "2 done, 2 failed");
    put_policy(w, 5, "batch", "gone", DEPENDENCY_UNSET);
    assert_string_equal(members(w, "batch"), "0 done, 0 failed");
}

static void test_cascade__members_that_are_taken_off_do_not_count(void **state)
{
    struct world *w = *state;
    put_many(w, 0, "q", 3);
    put_depending(w, 0, "r", "batch", "j0,j1,j2");
    start_and_fail(w, 1, "j0");
    assert_string_equal(members(w, "batch"), "0 done, 1 failed");
    said(w, engine_depends_off(w->engine, at(w, 2), SLICE("batch"), slices_of(w, "j0"), &w->error));
    assert_string_equal(members(w, "batch"), "0 done, 0 failed");
    assert_int_equal(cancel(w, 2, "j0"), 1);
    start_and_fail(w, 3, "j1");
    put(w, 4, "q", "j1");
    assert_string_equal(members(w, "batch"), "0 done, 0 failed");
}

static void test_cascade__a_large_batch_survives_random_ends_of_its_members(void **state)
{
    struct world *w = *state;
    enum {
        MEMBERS = 300
    };
    struct slice names[MEMBERS];
    static char texts[MEMBERS][8];
    for (size_t i = 0; i < MEMBERS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "m%zu", i);
        names[i] = slice_from_cstr(texts[i]);
        put(w, 0, "q", texts[i]);
    }
    put_with(w, 0,
             (struct put_request){
                 .queue = SLICE("r"), .jid = SLICE("batch"), .depends = { names, MEMBERS } });
    size_t done = 0, failures = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_string_equal(pop(w, 1, "q", "w1", 1), texts[i]);
        if (i % 3 == 0) {
            fail_job(w, 1, "w1", texts[i], i % 2 ? "odd" : "even");
            failures++;
        } else {
            complete(w, 1, "w1", texts[i]);
            done++;
        }
        forget_events(w);
        struct job_view view = view_of(w, "batch");
        assert_int_equal(view.members_done, done);
        assert_int_equal(view.members_failed, failures);
    }
    reload(w);
    size_t again = unfail(w, 2, "q", "odd", MEMBERS);
    assert_int_equal(again, 50);
    struct job_view view = view_of(w, "batch");
    assert_int_equal(view.members_done, 200);
    assert_int_equal(view.members_failed, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cascade__each_policy_holds_however_the_dependency_failed),
        SERVER_TEST(test_cascade__tells_what_happened_in_order),
        CLIENT_TEST(test_cascade__tells_what_happened_in_order),
        SERVER_TEST(test_cascade__events_are_dated_by_when_the_dependency_failed),
        SERVER_TEST(test_cascade__what_fails_first_comes_first_and_what_fails_by_it_behind),
        CLIENT_TEST(test_cascade__what_fails_first_comes_first_and_what_fails_by_it_behind),
        SERVER_TEST(test_cascade__what_follows_from_a_failure_comes_before_what_is_due_next),
        SERVER_TEST(test_cascade__a_job_is_dealt_with_by_the_first_of_its_dependencies_that_fails),
        SERVER_TEST(test_cascade__run_schedules_when_a_delay_is_still_to_come),
        SERVER_TEST(test_cascade__cancel_of_a_job_with_dependents_fails_it_instead),
        CLIENT_TEST(test_cascade__cancel_of_a_job_with_dependents_fails_it_instead),
        SERVER_TEST(test_cascade__a_waiting_job_is_not_touched),
        SERVER_TEST(test_cascade__a_failed_dependency_named_in_a_put_counts_at_the_next_call),
        CLIENT_TEST(test_cascade__a_failed_dependency_named_in_a_put_counts_at_the_next_call),
        SERVER_TEST(test_cascade__put_again_with_a_failed_dependency_it_fails_again),
        SERVER_TEST(test_cascade__a_failed_dependency_named_by_depends_on_counts_at_once),
        SERVER_TEST(
            test_cascade__a_failed_dependency_named_in_a_completion_counts_at_the_next_call),
        SERVER_TEST(test_cascade__unfailed_before_the_next_call_it_does_no_harm),
        CLIENT_TEST(test_cascade__with_the_client_clock_a_pop_deals_with_it_at_the_next_call),
        SERVER_TEST(test_cascade__own_policy_then_the_klass_s_then_the_queue_s),
        SERVER_TEST(test_cascade__the_policy_that_holds_when_it_fails_counts),
        SERVER_TEST(test_cascade__a_restart_decides_nothing_anew),
        SERVER_TEST(test_cascade__a_long_chain_fails_in_slices_and_needs_no_stack),
        SERVER_TEST(test_cascade__a_long_chain_saved_in_the_middle_goes_on),
        cmocka_unit_test(test_cascade__many_dependents_of_one_are_dealt_with_in_slices),
        cmocka_unit_test(test_cascade__without_memory_it_is_put_off_and_done_later),
        SERVER_TEST(test_cascade__a_batch_counts_its_members_done_and_failed),
        SERVER_TEST(test_cascade__a_batch_that_runs_anyway_remembers_who_failed),
        SERVER_TEST(test_cascade__members_that_are_taken_off_do_not_count),
        SERVER_TEST(test_cascade__a_large_batch_survives_random_ends_of_its_members),
    };
    return cmocka_run_group_tests_name("cascade", tests, NULL, NULL);
}
